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

from pathlib import Path

from site_builder.errors import SiteError

_PACKAGE = Path(__file__).resolve().parent


def resource_root(name: str) -> Path:
    """The folder called `name` (`templates` or `static`); `SiteError` where an installation has lost it."""
    for parent in (_PACKAGE, _PACKAGE.parent):
        if (parent / name).is_dir():
            return parent / name
    raise SiteError(f"The builder's own folder {name!r} is missing", hint="install annotated-nn again")
