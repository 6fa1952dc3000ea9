"""
---
title: The code side
summary: A file's lines, highlighted once, with each name leading to its definition.
---
# The code side

A file is highlighted as a whole and shown in pieces, a section at a time. To each line come the links of its
names, the marks of its symbols, the shapes that were recorded for it, and a sign where no example ran it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain

from markupsafe import Markup

from site_builder import highlight
from site_builder.lazy import regex
from site_builder.model import Page, Section
from site_builder.weave.evidence import Margin
from site_builder.weave.signs import Signs
from site_builder.weave.site import Site

_NAME = regex(r"[^\W\d]\w*")
_NO_NAMES = frozenset("gckm")


class Code:
    """The lines of one page as HTML."""

    def __init__(
        self,
        page: Page,
        lang: str,
        site: Site,
        margin: Margin,
        tokens: Sequence[Sequence[highlight.Token]],
        signs: Signs,
    ):
        self.margin, self.signs = margin, signs
        self.lines = page.lines
        self.tokens = tokens
        self.links: dict[int, dict[int, tuple[int, str, str]]] = {}

        @cache
        def place(name: str) -> tuple[str, str] | None:
            """Where a name leads, and what that is called."""
            target = site.resolve(name)
            # A name that leads to the page it stands on leads nowhere.
            if target is None or (target.url, target.anchor) == (page.url, ""):
                return None
            address = site.href(page.url, target.url, lang, target.anchor)
            return f"#{address.partition('#')[2]}" if target.url == page.url else address, target.title

        for line, column, end, name in page.references:
            if found := place(name):
                self.links.setdefault(line, {})[column] = end, *found

    def html(self, section: Section) -> Markup:
        return Markup("".join([self.line(number) for number in section.code]))

    def line(self, number: int) -> str:
        margin, links = self.margin, self.links.get(number, {})
        cold = margin.words.get("cold", "cold") if margin.is_cold(number) else ""
        return highlight.line_html(
            number,
            self.tokens[number - 1],
            links,
            signs=self.signs.line(number),
            tail=margin.tail(number),
            cold=cold,
        )

    def names(self, section: Section) -> Iterator[str]:
        """The identifiers of the section's code, each once, for search."""
        tokens = dict.fromkeys(chain.from_iterable([self.tokens[number - 1] for number in section.code]))
        texts = " ".join([text for cls, text in tokens if cls not in _NO_NAMES])
        yield from dict.fromkeys(_NAME.findall(texts))
