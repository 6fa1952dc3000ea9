"""
---
title: Pieces of prose
summary: The text of each block with everything blotted out that only looks like markup.
---
# Pieces of prose

A check wants to see images, links, headings and tags where the page has some, and not where code or a formula looks
like one. So code, math and escaped characters are blotted out first, each character by a letter: what is left keeps
its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from site_builder import blocks
from site_builder.blocks import Atom, AtomKind, BlockKind
from site_builder.lazy import regex
from site_builder.model import Kind, Page, Position, Prose
from site_builder.prose.context import Passage

_KEPT = (AtomKind.TAG, AtomKind.UNCLOSED)
_UNREAD = regex(r"<!--.*?-->|<(script|style|pre)\b[^>]*>.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_TAG = regex(r"<[^<>]*>")
_WORDS = regex(
    r"""\s(?:alt|title|aria-label)\s*=\s*(?:"[^"]*[^"\s][^"]*"|'[^']*[^'\s][^']*'|[^\s"'>]+)""", re.I
)


@dataclass(frozen=True)
class Piece:
    """One block. `level` is that of a heading, else zero; in `text` stand only words and markup."""

    text: str
    level: int
    prose: Prose
    passage: Passage

    def position(self, at: int) -> Position:
        """Where the n-th character of the text stands in the file."""
        return self.prose.position(self.passage.offset(at))


def pieces(page: Page) -> Iterator[Piece]:
    """Every block of the page that can hold markup, in the order of the file."""
    shown = (one.prose for one in page.sections if one.shown and one.kind is not Kind.MODULE)
    for prose in (page.intro, *shown):
        for block in blocks.split(prose.text) if prose else ():
            passage = Passage(block, prose.text)
            if block.kind is BlockKind.HTML:
                yield Piece(_UNREAD.sub(_spaces, passage.text), 0, prose, passage)
            elif block.translatable:
                text = _blotted(passage.text, blocks.atoms(passage.text))
                yield Piece(text, block.level if block.kind is BlockKind.HEADING else 0, prose, passage)


def has_words(markup: str) -> bool:
    """
    Whether anything of it can be read aloud.

    >>> has_words("<b>scores</b>"), has_words('<img alt="scores">'), has_words('<img src="a.svg" alt=""> ')
    (True, True, False)
    """
    return bool(_TAG.sub("", markup).strip()) or any(_WORDS.search(tag) for tag in _TAG.findall(markup))


def _blotted(text: str, atoms: Iterable[Atom]) -> str:
    parts: list[str] = []
    at = 0
    for atom in atoms:
        if atom.kind not in _KEPT and atom.start >= at:
            parts += (text[at : atom.start], "x" * (atom.end - atom.start))
            at = atom.end
    return "".join((*parts, text[at:]))


def _spaces(found: re.Match[str]) -> str:
    return " " * len(found[0])
