r"""
---
title: What a machine must not touch
summary: Math, code, links and tags leave a text as numbered placeholders, and come back as they were.
---
# What a machine must not touch

A service that translates sees no formula and no code: each is an empty element with a number. The words of a link, or
those in place of a picture, are translated, so they stand inside an element.

    >>> text = protect("See [the `add` function](sums.html) for $a < b$.")
    >>> text.shown
    'See <g id="1">the <x id="2"/> function</g> for <x id="3"/>.'
    >>> text.restored('<x id="3"/> は<g id="1"><x id="2"/> 関数</g>を参照。')
    '$a < b$ は[`add` 関数](sums.html)を参照。'

An answer that lost one, or has one twice, is told so in the words in which it was asked.

    >>> text.restored('<g id="1"><x id="2"/> 関数</g>')
    Traceback (most recent call last):
    ValueError: <x id="3"/> is missing
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from site_builder.blocks import AtomKind, atoms
from site_builder.lazy import regex

_LINK = regex(r"!?\[(?!\^)|\](?:\((?:[^()\\\n]|\\.|\([^()]*\))*\)|\[[^\]]*\])|\[\^[^\]]+\]")
_TITLE = regex(r"""(\s+["'])([^"']+)(["']\s*\))$""")
_NAMED = regex(r"\{\w*\}|%\(\w+\)\w|%%")
_MARK = regex(r'<x id="(\d+)"\s*/>|<x id="(\d+)"\s*>\s*</x>|<g id="(\d+)"\s*>|(</g>)')
_SOFT = regex(r"(?<!\\)(?<!  )\n")
_KEPT = frozenset(AtomKind) - {AtomKind.ESCAPE, AtomKind.ENTITY}


@dataclass(frozen=True)
class Protected:
    """A text as it is `shown` to a service; `held` is what stands behind each number: what opens, and what closes."""

    shown: str
    held: Mapping[int, tuple[str, str]]

    def restored(self, answer: str) -> str:
        """
        The answer with everything put back.

        Raises:
            ValueError: a placeholder is missing, there twice, unknown, or not closed. The message is for the service.
        """
        parts: list[str] = []
        used: list[int] = []
        open_now: list[int] = []
        at = 0
        for mark in _MARK.finditer(answer):
            parts.append(answer[at : mark.start()])
            at = mark.end()
            if mark[4]:
                if not open_now:
                    raise ValueError("</g> stands without its beginning")
                parts.append(self.held[open_now.pop()][1])
                continue
            number = int(mark[1] or mark[2] or mark[3])
            opening, closing = self.held.get(number, ("", ""))
            if bool(mark[3]) != bool(closing) or not opening:
                raise ValueError(f"{mark[0]} is not in the text")
            used.append(number)
            parts.append(opening)
            if closing:
                open_now.append(number)
        parts.append(answer[at:])
        if open_now:
            raise ValueError(f"{self.name(open_now[0])} is not closed by </g>")
        for number in self.held:
            if used.count(number) != 1:
                what = (
                    "is missing" if number not in used else f"is there {used.count(number)} times, not once"
                )
                raise ValueError(f"{self.name(number)} {what}")
        return "".join(parts)

    def name(self, number: int) -> str:
        return f'<g id="{number}">' if self.held[number][1] else f'<x id="{number}"/>'


def protect(text: str, *, placeholders: bool = False) -> Protected:
    """The text on one line, as far as the author did not break it, with all that must stay as it is taken out."""
    text = _SOFT.sub(" ", text)
    held: dict[int, tuple[str, str]] = {}
    parts: list[str] = []
    at = 0
    for piece in sorted(_pieces(text, placeholders), key=lambda piece: piece.start):
        if piece.start < at:
            continue
        parts.append(text[at : piece.start])
        at = piece.end
        if piece.ends:
            parts.append("</g>")
            continue
        number = len(held) + 1
        held[number] = text[piece.start : piece.end], piece.closing
        parts.append(f'<g id="{number}">' if piece.closing else f'<x id="{number}"/>')
    parts.append(text[at:])
    return Protected("".join(parts), held)


@dataclass(frozen=True, slots=True)
class _Piece:
    """Something to take out; `closing` is what ends the words that follow it, and `ends` such an end."""

    start: int
    end: int
    closing: str = ""
    ends: bool = False


def _pieces(text: str, placeholders: bool) -> Iterator[_Piece]:
    found = atoms(text)
    kept = [_Piece(atom.start, atom.end) for atom in found if atom.kind in _KEPT]
    yield from kept
    if placeholders:
        yield from (_Piece(*mark.span()) for mark in _NAMED.finditer(text))
    silent = {atom.start + 1 for atom in found if atom.kind is AtomKind.ESCAPE}
    silent.update(at for piece in kept for at in range(piece.start, piece.end))
    waiting: list[re.Match[str]] = []
    for mark in _LINK.finditer(text):
        if mark.start() in silent:
            continue
        if mark[0].startswith("[^"):
            yield _Piece(*mark.span())
        elif not mark[0].startswith("]"):
            waiting.append(mark)
        elif waiting:
            yield from _link(waiting.pop(), mark)


def _link(opening: re.Match[str], closing: re.Match[str]) -> Iterator[_Piece]:
    """What a bracket opens and what closes it; a title is words too, so it stands in an element of its own."""
    if title := _TITLE.search(closing[0]):
        middle = closing.start() + title.start()
        yield _Piece(*opening.span(), closing=closing[0][: title.start()])
        yield _Piece(closing.start(), middle, ends=True)
        yield _Piece(middle, middle + len(title[1]), closing=title[3])
        yield _Piece(closing.end() - len(title[3]), closing.end(), ends=True)
    else:
        yield _Piece(*opening.span(), closing=closing[0])
        yield _Piece(*closing.span(), ends=True)
