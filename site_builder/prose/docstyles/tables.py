"""
---
title: Tables
summary: Grid tables and simple tables of reStructuredText, as Markdown tables where Markdown can hold them.
---
# Tables

A Markdown table has one line a row, one heading row and no spanning cells. What does not fit stays a drawing in
monospace, which is what its author drew.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from site_builder.lazy import regex
from site_builder.prose.docstyles.context import State
from site_builder.prose.docstyles.shapes import Block, Kind, fence, width

__all__ = ["grid", "markdown", "simple"]

_GRID_RULE = regex(r"\+(?:[-=]+\+)+\s*$")
_SIMPLE_RULE = regex(r"={2,}(?: +={2,})+\s*$")
_SPAN_RULE = regex(r"-{2,}(?: +-{2,})*\s*$")
_DELIMITER = regex(r"\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
_BLOCK_IN_CELL = regex(r"[-*+•] |\d+\. |\.\. |>>> ")

Row = list[list[str]]


def grid(state: State, at: int) -> int | None:
    """A table drawn with `+---+` and `|`."""
    if not _GRID_RULE.match(state.lines[at]):
        return None
    end = at
    while end < len(state.lines) and state.lines[end].startswith(("+", "|")):
        end += 1
    lines = [line.rstrip() for line in state.lines[at:end]]
    state.add(_written(_grid_rows(lines), state) or fence(lines))
    return end


def _grid_rows(lines: Sequence[str]) -> tuple[Row, list[Row]] | None:
    edges = [index for index, sign in enumerate(lines[0]) if sign == "+"]
    head: Row = []
    rows: list[Row] = []
    row: Row = [[] for _ in edges[1:]]
    for line in lines[1:]:
        if len(line) != len(lines[0]) or any(line[edge] not in "+|" for edge in edges):
            return None
        if _GRID_RULE.match(line):
            if [index for index, sign in enumerate(line) if sign == "+"] != edges:
                return None
            if "=" in line:
                if rows or head:
                    return None
                head = row
            else:
                rows.append(row)
            row = [[] for _ in edges[1:]]
            continue
        for cell, (start, end) in zip(row, itertools.pairwise(edges), strict=True):
            cell.append(line[start + 1 : end].strip())
    if any(any(cell) for cell in row):
        return None
    return (head, rows) if head else None


def simple(state: State, at: int) -> int | None:
    """A table of columns under `====  ====`."""
    if not _SIMPLE_RULE.match(state.lines[at]):
        return None
    rules = [at]
    end = at + 1
    while end < len(state.lines):
        if _SIMPLE_RULE.match(state.lines[end]):
            rules.append(end)
            after = state.lines[end + 1] if end + 1 < len(state.lines) else ""
            if len(rules) == 3 or not after.strip():
                break
        end += 1
    if len(rules) < 2:
        return None
    end = rules[-1] + 1
    lines = [line.rstrip() for line in state.lines[at:end]]
    state.add(_written(_simple_rows(lines, [rule - at for rule in rules]), state) or fence(lines))
    return end


def _simple_rows(lines: Sequence[str], rules: Sequence[int]) -> tuple[Row, list[Row]] | None:
    if len(rules) != 3:
        return None
    starts = [match.start() for match in re.finditer(r"=+", lines[0])]
    bounds = list(zip(starts, [*starts[1:], None], strict=True))
    parts: list[list[Row]] = [[], []]
    for part, (first, last) in zip(parts, itertools.pairwise(rules), strict=True):
        for line in lines[first + 1 : last]:
            if _SPAN_RULE.match(line) or any(start and line[start - 1 : start].strip() for start in starts):
                return None
            cells = [line[start:end].strip() for start, end in bounds]
            if not any(cells):
                continue
            if cells[0] or not part:
                part.append([[cell] for cell in cells])
            else:
                for cell, text in zip(part[-1], cells, strict=True):
                    cell.append(text)
    head = parts[0]
    if not head:
        return None
    merged: Row = [[line for row in head for line in row[column]] for column in range(len(starts))]
    return merged, parts[1]


def _written(table: tuple[Row, list[Row]] | None, state: State) -> Block | None:
    if table is None or not table[1]:
        return None
    head, rows = table
    lines = []
    for row in [head, *rows]:
        cells = []
        for cell in row:
            if any(_BLOCK_IN_CELL.match(line) for line in cell) or "" in _trimmed(cell):
                return None
            text = state.context.inline(" ".join(line for line in cell if line))
            if "|" in text:
                if "`" in text or "$" in text:
                    return None
                text = text.replace("|", "\\|")
            cells.append(text or " ")
        lines.append(f"| {' | '.join(cells)} |")
    lines.insert(1, "|" + " --- |" * len(head))
    return Block(Kind.OTHER, "\n".join(lines))


def _trimmed(cell: Sequence[str]) -> list[str]:
    start, end = 0, len(cell)
    while start < end and not cell[start]:
        start += 1
    while end > start and not cell[end - 1]:
        end -= 1
    return list(cell[start:end])


def markdown(state: State, at: int) -> int | None:
    """A table that is Markdown's already: it stays as it is, but for its cells' text."""
    lines = state.lines
    if (
        "|" not in lines[at]
        or at + 1 >= len(lines)
        or "|" not in lines[at + 1]
        or not _DELIMITER.match(lines[at + 1])
    ):
        return None
    end = at
    while end < len(lines) and lines[end].strip() and "|" in lines[end] and not width(lines[end]):
        end += 1
    written = [
        lines[at + 1].rstrip() if row == at + 1 else _cells(lines[row], state) for row in range(at, end)
    ]
    state.add(Block(Kind.OTHER, "\n".join(written)))
    return end


def _cells(line: str, state: State) -> str:
    # A bar in a code span does not end a cell, so a row is read as a whole.
    return state.context.inline(line)
