"""
---
title: Images
summary: Whoever does not see one reads its words.
---
# Images

An empty `alt` in HTML is a word of its own: this image only decorates. Markdown has no way to say so, since
`![](…)` is what one writes who has not thought of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from site_builder.errors import Diagnostic
from site_builder.lazy import regex
from site_builder.lint.reading import Piece
from site_builder.model import Page

_MARKDOWN = regex(r"!\[\s*\](?:\(\s*[^\s)]|\[[^\]])")
_HTML = regex(r"<img(?=[\s/>])(?![^>]*\salt(?=[\s=/>]))[^>]*>", re.IGNORECASE)


def faults(page: Page, found: Sequence[Piece]) -> Iterator[Diagnostic]:
    for piece in found:
        for image in _MARKDOWN.finditer(piece.text):
            hint = "write between the brackets what is to be seen"
            yield Diagnostic.at(piece.position(image.start()), "image-alt", "this image has no words", hint)
        for image in _HTML.finditer(piece.text):
            hint = 'say in `alt="…"` what is to be seen; alt="" if it only decorates'
            yield Diagnostic.at(
                piece.position(image.start()), "image-alt", "this image has no alt text", hint
            )
