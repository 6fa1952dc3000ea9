"""
---
title: Words of links
summary: A link without words can be neither seen nor heard.
---
# Words of links

Markdown lets the brackets of a link be empty, and HTML lets a link hold nothing but an icon. A picture with a
description counts as words, and so does a label for screen readers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from site_builder.errors import Diagnostic
from site_builder.lazy import regex
from site_builder.lint.reading import Piece, has_words
from site_builder.model import Page

# `hooks[](value)` is code that somebody forgot to mark as such.
_MARKDOWN = regex(r"(?<![!\w\])])\[\s*\](?:\(\s*[^\s)]|\[[^\]])")
_HTML = regex(r"(<a\s[^>]*\bhref\b[^>]*>)(.*?)</a\s*>", re.DOTALL | re.IGNORECASE)


def faults(page: Page, found: Sequence[Piece]) -> Iterator[Diagnostic]:
    for piece in found:
        empty = [link.start() for link in _MARKDOWN.finditer(piece.text)]
        empty += [link.start() for link in _HTML.finditer(piece.text) if not has_words(link[1] + link[2])]
        for at in empty:
            hint = "write between its brackets where it leads"
            yield Diagnostic.at(piece.position(at), "link-empty", "this link has no words", hint)
