"""
---
title: Headings
summary: They are the contents of the page, and no level of them is left out.
---
# Headings

The title is the first level. All others are taken in the order of the file, across docstrings and comments, as they
stand on the page. To go up any number of levels ends a part and is fine; to go down more than one skips a level.

Two headings of one name are no fault: each has an anchor of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from site_builder.errors import Diagnostic
from site_builder.lazy import regex
from site_builder.lint.reading import Piece, has_words
from site_builder.model import Page, Position

_HTML = regex(r"<h([1-6])(?=[\s>])[^>]*>(.*?)</h\1\s*>", re.DOTALL | re.IGNORECASE)


def faults(page: Page, found: Sequence[Piece]) -> Iterator[Diagnostic]:
    last = 1
    for level, markup, place in _headings(found):
        if not has_words(markup):
            yield Diagnostic.at(
                place, "heading-empty", "this heading has no words", "write them, or remove it"
            )
        elif level > last + 1:
            yield Diagnostic.at(
                place,
                "heading-skip",
                f"this heading is of level {level}, and the one before it of level {last}",
                f"make it level {last + 1}, with {'#' * (last + 1)}",
            )
        last = level


def _headings(found: Sequence[Piece]) -> Iterator[tuple[int, str, Position]]:
    """Level, markup and place of every heading, be it Markdown or HTML."""
    for piece in found:
        if piece.level:
            yield piece.level, piece.text, piece.position(0)
        elif "<h" in piece.text.lower():
            for heading in _HTML.finditer(piece.text):
                yield int(heading[1]), heading[2], piece.position(heading.start())
