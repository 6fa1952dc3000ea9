"""
---
title: Rows of a table
summary: A line cut at its bars, but not at those inside code or math.
---
# Rows of a table

A bar parts two cells, unless it is escaped with a backslash or stands in a code span or in math, where bars are
common. A cell is a span of the text without the blanks around it, so that a translator can be handed a single cell
and a fault can be reported at its column.
"""

from __future__ import annotations

from itertools import pairwise

from site_builder.blocks.atoms import MATHS, AtomKind, atoms
from site_builder.blocks.cursor import BLANKS
from site_builder.lazy import regex

_BAR = regex(r"\\.|\|")


def cells(text: str, start: int, end: int) -> tuple[tuple[int, int], ...]:
    r"""
    Where the cells of the row `text[start:end]` stand. `\|` is no bar, nor is one in a code span or
    in math.
    """
    line = text[start:end]
    whole = [atom for atom in atoms(line) if atom.kind is AtomKind.CODE or atom.kind in MATHS]
    bars: list[int] = []
    position = 0
    for atom_start, atom_end in [*((atom.start, atom.end) for atom in whole), (len(line), len(line))]:
        bars += (mark.start() for mark in _BAR.finditer(line, position, atom_start) if mark[0] == "|")
        position = atom_end
    first = 0 if bars and not line[: bars[0]].strip(BLANKS) else None
    cuts = [-1, *bars, len(line)]
    if first is not None:
        del cuts[0]
    if len(cuts) > 2 and not line[cuts[-2] + 1 :].strip(BLANKS):
        del cuts[-1]
    return tuple(_trimmed(line, left + 1, right, start) for left, right in pairwise(cuts))


def _trimmed(line: str, left: int, right: int, offset: int) -> tuple[int, int]:
    while left < right and line[left] in BLANKS:
        left += 1
    while right > left and line[right - 1] in BLANKS:
        right -= 1
    return offset + left, offset + right


def alignments(rule: str) -> tuple[str, ...]:
    """How each column is set, from the line under the header."""
    names = {(True, True): "center", (True, False): "left", (False, True): "right", (False, False): ""}
    columns = (column.strip(BLANKS) for column in rule.strip(BLANKS).strip("|").split("|"))
    return tuple(names[column.startswith(":"), column.endswith(":")] for column in columns)
