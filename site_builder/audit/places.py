"""
---
title: Where it was typed
summary: A finished page says that a link is wrong; the author wants the line of the source.
---
# Where it was typed

A link to a page changes its form on the way to the site, so what is looked for is the address, then the name of the
file in it. What is found in none of these forms was made by a template.
"""

from __future__ import annotations

import posixpath
import re
from urllib.parse import unquote, urlsplit

from site_builder.model import Page, Position

_GOES_ON = r"(?![\w/%&=+~-]|\.\w)"
"""What would make a longer address of the one that was found."""


def typed(page: Page, address: str, *, exact: bool = False) -> Position | None:
    """Where in its source the page asks for the address, `exact` or in some form."""
    parts = urlsplit(address)
    forms = [address, unquote(address)]
    if not exact:
        forms += [f"#{parts.fragment}"] if parts.fragment else []
        forms += [posixpath.basename(unquote(parts.path))]
    for form in dict.fromkeys(filter(None, forms)):
        pattern = re.compile(rf"(?<![\w-]){re.escape(form)}{_GOES_ON}")
        for number, line in enumerate(page.lines, 1):
            if form in line and (found := pattern.search(line)):
                return Position(page.source.path, number, found.start() + 1)
    return None


def made(url: str, text: str, offset: int) -> Position:
    """Where in a finished file something stands."""
    return Position(url, text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))
