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
from pathlib import Path

from site_builder.errors import SiteError

_PACKAGE = Path(__file__).resolve().parent


def files_below(folder: Path) -> dict[str, str]:
    """
    All files in it by their names from there, in order; what a linked folder holds belongs to it, as for templates that
    include each other.
    """
    top = str(folder)
    found: dict[str, str] = {}
    seen: set[tuple[int, int]] = set()
    for inner, folders, names in os.walk(top, followlinks=True):
        try:
            status = os.stat(inner)  # noqa: PTH116
        except OSError:
            # It was there a moment ago.
            continue
        if (status.st_dev, status.st_ino) in seen:
            # A link that leads back.
            folders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        below = inner[len(top) :].lstrip(os.sep).replace(os.sep, "/")
        found |= {f"{below}/{name}" if below else name: f"{inner}{os.sep}{name}" for name in names}
    return {name: found[name] for name in sorted(found) if os.path.isfile(found[name])}  # noqa: PTH113


def resource_root(name: str) -> Path:
    """The folder called `name` (`templates` or `static`); `SiteError` where an installation has lost it."""
    for parent in (_PACKAGE, _PACKAGE.parent):
        if (parent / name).is_dir():
            return parent / name
    raise SiteError(f"The builder's own folder {name!r} is missing", hint="install annotated-nn again")
