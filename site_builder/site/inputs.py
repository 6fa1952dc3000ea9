"""
---
title: Files that cannot be read
summary: One file may be unreadable, a link that leads nowhere, or no file at all; the others are built all the same.
---
# Files that cannot be read

A folder of sources changes while it is read. Each of these accidents costs one page or one picture and gives one
diagnostic. A file that has vanished since it was found is no fault: it was deleted.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from site_builder.discover import Asset, Found
from site_builder.errors import Diagnostic
from site_builder.model import SourceFile

HINT = "make it readable, or leave it out with `exclude` in [tool.site_builder]"


def content(file: str, status: os.stat_result | None = None) -> bytes:
    """
    The file's bytes. `status` is what the disk says of it, where that has been asked already.

    Raises:
        FileNotFoundError: it is gone.
        OSError: it is there and cannot be read.
    """
    # To make a path object of each name takes longer than to ask the disk.
    try:
        mode = (status or os.stat(file)).st_mode  # noqa: PTH116
    except FileNotFoundError:
        if os.path.islink(file):  # noqa: PTH114
            raise OSError(f"the link {Path(file).name} leads to no file") from None
        raise
    if not stat.S_ISREG(mode):
        # A pipe would keep us waiting for ever.
        raise OSError("it is no regular file")
    with open(file, "rb", buffering=0) as stream:  # noqa: PTH123
        return stream.readall()


def size(source: SourceFile) -> int:
    """Of the file, as far as anybody can tell."""
    try:
        return Path(source.file).stat().st_size
    except OSError:
        return 0


def unreadable(path: str, error: OSError) -> Diagnostic:
    reason = (error.strerror or "").lower() or str(error)
    return Diagnostic(path, 1, 1, "unreadable", f"this file cannot be read: {reason}", HINT)


def nameable(found: Found) -> tuple[Found, tuple[Diagnostic, ...]]:
    """Without the files whose names are not Unicode: no address can be made from such a name."""
    faults = tuple(
        Diagnostic(
            shown.encode("utf-8", "backslashreplace").decode(),
            1,
            1,
            "unreadable",
            "the name of this file is not UTF-8",
            "rename it",
        )
        for url, shown in (
            *((source.url, source.path) for source in found.sources),
            *((asset.url, asset.file) for asset in found.assets),
        )
        if not _unicode(url)
    )
    sources = tuple(source for source in found.sources if _unicode(source.url) and _unicode(source.path))
    assets = tuple(asset for asset in found.assets if _unicode(asset.url))
    return found._replace(sources=sources, assets=assets), faults


def taken(asset: Asset, root: Path) -> Diagnostic:
    """What is said of an image that lies where the site has a file of its own, which stays."""
    message = f"the site has a file of its own at {asset.url}"
    return Diagnostic(_shown(asset, root), 1, 1, "url-conflict", message, "rename the image or its folder")


def unreadable_image(asset: Asset, root: Path, error: OSError) -> Diagnostic:
    return unreadable(_shown(asset, root), error)


def _shown(asset: Asset, root: Path) -> str:
    path = Path(asset.file)
    return (path.relative_to(root) if path.is_relative_to(root) else path).as_posix()


def _unicode(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)
