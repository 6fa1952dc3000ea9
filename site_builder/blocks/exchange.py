"""
---
title: Exchanging blocks
summary: What a translator is given, and how it comes back.
---
# Exchanging blocks

A translator sees one block at a time, without the markers that make it a list item or a quotation.
What comes back is put between the same markers, however many lines it has. Every character keeps its
origin: a fault in a translation is reported in the catalogue, one beside it in the source.

    >>> from site_builder.model import Position, Prose, ProseLine
    >>> prose = Prose((ProseLine("* one", "page.md", 1, 1), ProseLine("* two", "page.md", 2, 1)))
    >>> translatable(prose)
    ((0, 'one'), (1, 'two'))
    >>> german = replace(prose, {1: (ProseLine("zwei", "de.po", 7, 9), ProseLine("Teile", "de.po", 8, 2))})
    >>> print(german.text)
    * one
    * zwei
      Teile
    >>> german.position(german.text.index("Teile")) == Position("de.po", 8, 2)
    True
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from site_builder.blocks import starts
from site_builder.blocks.atoms import MATHS, AtomKind, atoms
from site_builder.blocks.cursor import BLANKS
from site_builder.blocks.model import ONE_LINE, Block, BlockKind
from site_builder.blocks.splitter import outline
from site_builder.lazy import regex
from site_builder.model import BlockMark, BlockState, Position, Prose, ProseLine

_SILENT = MATHS | {AtomKind.CODE, AtomKind.TAG, AtomKind.AUTOLINK}
_LETTER = regex(r"[^\W\d_]")
_TERM = regex(r":[ \t]")
_TABLE_RULE = regex(rf"(?=.*\|){starts.TABLE_RULE.pattern}")
_BEGINNINGS = (
    *(starts.EXAMPLE, starts.HEADING, starts.UNDERLINE, starts.FENCE, starts.RULE, starts.BULLET),
    *(starts.NUMBER, starts.QUOTE, starts.FOOTNOTE, starts.REFERENCE, starts.HTML_BLOCK),
    *(starts.HTML_VERBATIM, _TERM, _TABLE_RULE),
)


@dataclass(frozen=True)
class Exchanged(Prose):
    """
    Prose whose lines come from more than one file. `origins` says where the characters from an offset
    on were typed; `marks` has the offset of every block of which there is something to tell.
    """

    origins: tuple[tuple[int, Position], ...] = ()
    marks: tuple[tuple[int, BlockMark], ...] = ()

    def position(self, offset: int) -> Position:
        index = bisect_right(self.origins, offset, key=lambda origin: origin[0]) - 1
        start, place = self.origins[max(index, 0)]
        return Position(place.path, place.line, place.column + offset - start)

    def is_from(self, path: str) -> bool:
        # A line may begin in one file and go on in another.
        return super().is_from(path) and all(place.path == path for _, place in self.origins)


def translatable(prose: Prose) -> tuple[tuple[int, str], ...]:
    """
    Number and text of every block that has words to translate. The numbers count all blocks that are
    written for people, so also those left out here because they hold only code, math or figures.
    """
    text = prose.text
    found = ((number, block.text(text)) for number, block in enumerate(_written(text)))
    return tuple((number, words) for number, words in found if _has_words(words))


def replace(
    prose: Prose, texts: Mapping[int, Sequence[ProseLine]], told: Mapping[int, BlockMark] | None = None
) -> Prose:
    """
    The prose with other lines in the blocks of those numbers. `told` says why others stay as they are, and
    what else there is to tell. A block given back unchanged leaves the text as it is; one given back empty stays.
    """
    if not prose.lines:
        return prose
    splice = _Splice(prose)
    marks: list[tuple[int, BlockMark]] = []
    for number, block in enumerate(_written(prose.text)):
        splice.source(block.start)
        if told and number in told:
            marks.append((splice.length, told[number]))
        if any(line.text.strip() for line in texts.get(number, ())):
            splice.other(block, texts[number])
    splice.source(len(prose.text))
    return splice.made(tuple(marks))


def _written(text: str) -> Iterator[Block]:
    return (block for block in outline(text).leaves() if block.translatable)


def _has_words(text: str) -> bool:
    at = 0
    for atom in atoms(text):
        if atom.kind in _SILENT:
            if _LETTER.search(text, at, atom.start):
                return True
            at = atom.end
    return bool(_LETTER.search(text, at))


class _Splice:
    """Text put together from stretches of the source and of translations, with the origin of each."""

    def __init__(self, prose: Prose):
        self.prose, self.text = prose, prose.text
        self.at = self.length = 0
        self.parts: list[str] = []
        self.origins: list[tuple[int, Position]] = []
        # Where the text from that offset on was typed in a raw string, or in none.
        self.raw: list[tuple[int, bool]] = []

    def add(self, text: str, place: Position, raw: bool = True) -> None:
        if text:
            self.origins.append((self.length, place))
            self.raw.append((self.length, raw))
            self.parts.append(text)
            self.length += len(text)

    def source(self, end: int) -> None:
        """Take the source up to there."""
        while self.at < end:
            stop = self.text.find("\n", self.at, end) + 1 or end
            raw = self.prose.lines[self.prose.line_at(self.at)].raw
            self.add(self.text[self.at : stop], self.prose.position(self.at), raw)
            self.at = stop

    def other(self, block: Block, lines: Sequence[ProseLine]) -> None:
        """Put the lines where the block stands."""
        if [line.text for line in lines] == block.text(self.text).split("\n"):
            for (start, end), line in zip(block.spans, lines, strict=True):
                self.source(start)
                self.add(line.text, _place(line, 0), line.raw)
                self.at = end
        else:
            self.changed(block, lines)
        self.at = block.end

    def changed(self, block: Block, lines: Sequence[ProseLine]) -> None:
        between = ""
        for line in lines:
            text = line.text.lstrip(BLANKS)
            if not text:
                continue
            if block.kind in ONE_LINE:
                text = text.rstrip(BLANKS)
            offset = line.text.index(text)
            self.add(between, _place(line, offset - len(between)), line.raw)
            for start, end, escape in _defused(block, text):
                self.add("\\" * escape, _place(line, offset + start), line.raw)
                self.add(text[start:end], _place(line, offset + start), line.raw)
            between = " " if block.kind in ONE_LINE else f"\n{block.prefix}"

    def made(self, marks: tuple[tuple[int, BlockMark], ...]) -> Exchanged:
        origins = tuple(self.origins)
        places = Exchanged(origins=origins)
        lines: list[ProseLine] = []
        start = 0
        for text in "".join(self.parts).split("\n"):
            place = places.position(start) if origins else self.prose.position(0)
            end = start + len(text) + 1
            lines.append(
                ProseLine(text, place.path, place.line, max(place.column, 1), self.is_raw(start, end))
            )
            start = end
        by_line = Prose(tuple(lines))
        left = (BlockState.MISSING, BlockState.STALE)
        states = tuple((by_line.line_at(offset), mark.state) for offset, mark in marks if mark.state in left)
        return Exchanged(tuple(lines), states, origins or ((0, self.prose.position(0)),), marks)

    def is_raw(self, start: int, end: int) -> bool:
        """Of a line that is partly a translation: whether the translation is; nothing else there is news."""
        first = max(bisect_right(self.raw, start, key=lambda entry: entry[0]) - 1, 0)
        last = bisect_right(self.raw, end - 1, key=lambda entry: entry[0])
        return any(raw for _, raw in self.raw[first:last]) or first == last


def _place(line: ProseLine, offset: int) -> Position:
    return Position(line.path, line.line, line.column + offset)


def _defused(block: Block, text: str) -> Iterator[tuple[int, int, bool]]:
    """
    Stretches of the text, and whether a backslash must precede them, lest the stretch make another block
    of it: a translated paragraph may well begin with `2.`, and a bar would cut a cell in two.
    """
    at, escape = 0, False
    for offset in _dangers(block, text):
        yield at, offset, escape
        at, escape = offset, True
    yield at, len(text), escape


def _dangers(block: Block, text: str) -> Iterator[int]:
    if block.kind is BlockKind.CELL:
        whole = [atom for atom in atoms(text) if atom.kind is not AtomKind.TAG]
        for bar in re.finditer(r"\|", text):
            if not any(atom.start <= bar.start() < atom.end for atom in whole):
                yield bar.start()
    elif block.kind is not BlockKind.HEADING and any(start.match(text) for start in _BEGINNINGS):
        yield len(text) - len(text.lstrip("0123456789"))
