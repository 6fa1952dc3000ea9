"""
---
title: Blank lines and indentation
summary: What counts as nothing, and how much of a line is only its distance from the margin.
---
# Blank lines and indentation

Prose loses the indentation that all its lines share, but no character of a line may move: a position in the
prose must lead to the same character of the file. So a line is cut at its beginning, and a tab is never
rewritten as spaces.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from site_builder.model import ProseLine

BLANK = " \t\f\r\n"
"""What a line may hold and still be blank. A no-break space, say, is text."""

_INDENT = " \t\f"


class Extent(NamedTuple):
    """A stretch of source: its first line and column, its last line and the column after it. Columns from nought."""

    line: int
    column: int
    last_line: int
    end_column: int


def rows(lines: Sequence[str], extent: Extent) -> list[str]:
    """The source of an extent, line by line, without terminators."""
    found = [unterminated(line) for line in lines[extent.line - 1 : extent.last_line]]
    found[-1] = found[-1][: extent.end_column]
    found[0] = found[0][extent.column :]
    return found


def is_blank(text: str) -> bool:
    return not text.strip(BLANK)


def unterminated(line: str) -> str:
    """A line without its terminator."""
    return line.rstrip("\r\n")


def indentation(text: str) -> int:
    """How many characters of indentation a line begins with."""
    return len(text) - len(text.lstrip(_INDENT))


def width(text: str) -> int:
    """How many columns of indentation. A tab leads to the next multiple of eight, as Python counts."""
    return len(text[: indentation(text)].replace("\f", "").expandtabs(8))


def within(text: str, margin: int) -> int:
    """How many characters of indentation fit into `margin` columns. A tab that reaches beyond it stays."""
    columns = 0
    for index, character in enumerate(text):
        if character == "\t":
            columns += 8 - columns % 8
        elif character == " ":
            columns += 1
        elif character != "\f":
            return index
        if columns > margin:
            return index
    return len(text)


def trim(lines: Sequence[ProseLine]) -> tuple[ProseLine, ...]:
    """Without the blank lines at both ends."""
    start, end = 0, len(lines)
    while start < end and is_blank(lines[start].text):
        start += 1
    while end > start and is_blank(lines[end - 1].text):
        end -= 1
    return tuple(lines[start:end])
