"""
---
title: The code side
summary: A file's lines, highlighted once, with each name leading to its definition.
---
# The code side
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from markupsafe import Markup

from site_builder import highlight
from site_builder.index import Index, href
from site_builder.model import Page, Section

_NAME = re.compile(r"[^\W\d]\w*")


class Code:
    """The lines of one page as HTML."""

    def __init__(self, page: Page, index: Index):
        self.lines = page.lines
        self.tokens = highlight.python(page.lines)
        self.links: dict[int, dict[int, tuple[int, str, str]]] = {}
        for reference in page.references:
            target = index.resolve(reference.target)
            # A name that leads to the page it stands on leads nowhere.
            if target is None or (target.url, target.anchor) == (page.url, ""):
                continue
            place = href(page.url, target.url, target.anchor)
            self.links.setdefault(reference.line, {})[reference.column] = (
                reference.end_column,
                f"#{place.partition('#')[2]}" if target.url == page.url else place,
                target.title,
            )

    def html(self, section: Section) -> Markup:
        return Markup("").join(
            Markup(highlight.line_html(number, self.tokens[number - 1], self.links.get(number, {})))
            for number in section.code
        )

    def names(self, section: Section) -> Iterator[str]:
        """The identifiers of the section's code, for search."""
        for number in section.code:
            for token in self.tokens[number - 1]:
                if token.cls not in ("g", "c", "k", "m"):
                    yield from _NAME.findall(token.text)
