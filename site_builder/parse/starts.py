"""
---
title: Where sections start
summary: At comments, at headers of classes and functions, and after docstrings.
---
# Where sections start

Only starts are decided: a section goes on to the next one. A start also carries its prose, which need not lie
below it line by line. A comment among the decorators and the docstring under a long header both belong beside
the first decorator.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from site_builder.model import Kind, ProseLine
from site_builder.parse import comments
from site_builder.parse.docstrings import Docstring
from site_builder.parse.structure import Opening
from site_builder.parse.text import is_blank


class Start:
    """What begins at a line."""

    def __init__(
        self, line: int, kind: Kind, opening: Opening | None = None, *prose: tuple[ProseLine, ...]
    ) -> None:
        self.line, self.kind, self.opening, self.prose = line, kind, opening, [*prose]


def find(
    lines: Sequence[str],
    path: str,
    remarks: comments.Comments,
    module: Docstring | None,
    documented: Sequence[tuple[Opening, Docstring | None]],
) -> list[Start]:
    """
    The starts of all sections of a file, in order; the first is at line 1. `module` is the docstring of the
    module, `documented` are its classes and functions with theirs.
    """
    heads, others = _comments(lines, path, remarks, [opening for opening, _ in documented])
    starts: dict[int, Start] = {}
    for docstring in (module, *(docstring for _, docstring in documented)):
        if docstring and (number := _next_solid(lines, docstring.end + 1)):
            starts[number] = Start(number, Kind.CODE)
    if module:
        starts[module.start] = Start(module.start, Kind.MODULE)
    for head, (_, docstring) in zip(heads, documented, strict=True):
        if docstring:
            head.prose.append(docstring.prose)
    starts.update((start.line, start) for start in (*others, *heads))

    ordered = sorted(starts.values(), key=lambda start: start.line)
    if not ordered or not all(map(is_blank, lines[: ordered[0].line - 1])):
        ordered.insert(0, Start(1, Kind.CODE))
    ordered[0].line = 1
    return ordered


def _next_solid(lines: Sequence[str], number: int) -> int:
    """The first line from `number` on that is not blank; nought without one."""
    while number <= len(lines):
        if not is_blank(lines[number - 1]):
            return number
        number += 1
    return 0


def _comments(
    lines: Sequence[str], path: str, remarks: comments.Comments, openings: Sequence[Opening]
) -> tuple[list[Start], list[Start]]:
    """
    The starts of all classes and functions, with the comments that touch them or stand among their
    decorators; and those of all other runs of comments. Pragmas do not come between.
    """
    heads = [Start(opening.start, opening.kind, opening) for opening in openings]
    at = {head.line: head for head in heads}
    first_lines = [opening.start for opening in openings]
    others = []
    for run in remarks.runs:
        said = comments.prose(lines, run, path)
        index = bisect_right(first_lines, run.start) - 1
        if index >= 0 and _among_decorators(openings[index], run.start):
            heads[index].prose.append(said)
            continue
        number = run.end
        while number in remarks.pragmas:
            number += 1
        if number in at:
            at[number].prose.append(said)
            at[number].line = run.start
        else:
            # A run of nothing but `#` separates, and says nothing.
            kind = Kind.COMMENT if any(line.text for line in said) else Kind.CODE
            others.append(Start(run.start, kind, None, said))
    for head in heads:
        while head.line - 1 in remarks.pragmas:
            head.line -= 1
    return heads, others


def _among_decorators(opening: Opening, number: int) -> bool:
    """Whether a line stands between the decorators and the header, and not inside one of them."""
    if not opening.start < number < opening.line:
        return False
    decorators = opening.node.decorator_list
    index = bisect_left(decorators, number, key=lambda decorator: decorator.lineno) - 1
    return index < 0 or number > (decorators[index].end_lineno or 0)
