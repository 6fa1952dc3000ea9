"""
---
title: Where templates and assets are found
summary: Inside the installed package first, else beside it, as in a checkout.
---
# Where templates and assets are found

A wheel carries `templates/` and `static/` inside the package. In a checkout, and so in an editable install,
they stand beside it, where authors and designers look for them.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from site_builder.errors import SiteError

_PACKAGE = Path(__file__).resolve().parent


def files_below(folder: Path) -> dict[str, str]:
    """
    All files in it by their names from there, in order; what a linked folder holds belongs to it, as for templates that
    include each other.
    """
    found: dict[str, str] = {}
    seen: set[tuple[int, int]] = set()
    waiting = [(str(folder), "")]
    while waiting:
        inner, below = waiting.pop()
        try:
            status = os.stat(inner)  # noqa: PTH116
            if (status.st_dev, status.st_ino) in seen:
                # A link that leads back.
                continue
            with os.scandir(inner) as entries:
                there = list(entries)
        except OSError:
            # It was there a moment ago.
            continue
        seen.add((status.st_dev, status.st_ino))
        folders = []
        for entry in there:
            # A link in a circle is neither a folder nor a file.
            with suppress(OSError):
                if entry.is_dir():
                    folders.append((entry.path, f"{below}{entry.name}/"))
                elif entry.is_file():
                    found[f"{below}{entry.name}"] = entry.path
        waiting += reversed(folders)
    return dict(sorted(found.items()))


def resource_root(name: str) -> Path:
    """The folder called `name` (`templates` or `static`); `SiteError` where an installation has lost it."""
    for parent in (_PACKAGE, _PACKAGE.parent):
        if (parent / name).is_dir():
            return parent / name
    raise SiteError(f"The builder's own folder {name!r} is missing", hint="install annotated-nn again")
