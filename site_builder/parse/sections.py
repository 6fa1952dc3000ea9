"""
---
title: Cutting a file into sections
summary: Where notes and code are divided, so that every line lands in exactly one section.
---
# Cutting a file into sections

A section starts at a run of comments, at the first decorator or header of a class or function, and after a
docstring. Everything up to the next start belongs to it, so the sections are a partition of the file by
construction. What remains to be said of each is which of its lines are shown as code and what its prose is:
prose may come from lines of a *later* section, as when a header is cut by a comment and the docstring below
still belongs beside the `def`.
"""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from site_builder.model import Definition, Kind, Prose, ProseLine, Section
from site_builder.parse import anchors, comments, docstrings
from site_builder.parse.structure import Opening, Structure, name_column, survey


@dataclass(slots=True)
class _Start:
    """What begins at a line."""

    line: int
    kind: Kind
    opening: Opening | None = None
    prose: list[tuple[ProseLine, ...]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Cut:
    """A file in pieces. `docstring` is the module's, which is the page's to show and no section's."""

    sections: tuple[Section, ...]
    definitions: tuple[Definition, ...] = ()
    docstring: tuple[ProseLine, ...] = ()


def plain(lines: Sequence[str]) -> Cut:
    """The file as one piece of code, for one that Python cannot read."""
    if not lines:
        return Cut(())
    shown = _trim(lines, range(1, len(lines) + 1))
    anchor = f"{anchors.MODULE}:{anchors.CODE if shown else anchors.NOTE}"
    return Cut((Section(Kind.CODE, 1, len(lines) + 1, Prose(), shown, "", anchor),))


def cut(tree: ast.Module, lines: Sequence[str], path: str) -> Cut:
    """The sections of a module."""
    if not lines:
        return Cut(())
    found = survey(tree, lines)
    remarks = comments.find(lines, found.strings)
    module = docstrings.find(tree, lines, path)
    below = [docstrings.find(opening.node, lines, path) for opening in found.openings]

    starts: dict[int, _Start] = {}
    for docstring in (module, *below):
        if docstring:
            _start_after(docstring, lines, starts)
    if module:
        starts[module.start] = _Start(module.start, Kind.MODULE)
    heads = _heads(found.openings, remarks, lines, path, starts)
    for head, docstring in zip(heads, below, strict=True):
        if docstring:
            head.prose.append(docstring.prose)
        starts[head.line] = head
    ordered = sorted(starts.values(), key=lambda start: start.line)
    if not ordered or _solid(lines, range(1, ordered[0].line)):
        ordered.insert(0, _Start(1, Kind.CODE))
    ordered[0].line = 1

    written = {number for run in remarks.runs for number in range(run.start, run.end)}
    hidden = written.union(
        *(
            range(docstring.start, docstring.end + 1)
            for docstring in (module, *below)
            if docstring and docstring.alone
        )
    )
    places = _Places(
        found, [number for number in _solid(lines, range(1, len(lines) + 1)) if number not in written]
    )
    sections = []
    for start, end in zip(ordered, [*(start.line for start in ordered[1:]), len(lines) + 1], strict=True):
        shown = _trim(lines, [number for number in range(start.line, end) if number not in hidden])
        first = next((number for number in shown if number not in remarks.pragmas), 0)
        scope = start.opening.name if start.opening else places.scope(first, start.line, lines)
        if start.opening:
            anchor = scope
        elif start.kind is Kind.MODULE and not shown:
            anchor = ""
        else:
            if first:
                name = anchors.suffix(lines[first - 1], found.statements.get(first), first in found.continued)
            else:
                name = anchors.PRAGMA if shown else anchors.NOTE
            anchor = f"{scope or anchors.MODULE}:{name}"
        prose = _join([docstrings.trim(piece) for piece in start.prose])
        sections.append(Section(start.kind, start.line, end, prose, shown, scope, anchor))
    named = anchors.unique(sections)
    return Cut(named, _definitions(lines, ordered, named, found), module.prose if module else ())


def _solid(lines: Sequence[str], numbers: Sequence[int]) -> list[int]:
    return [number for number in numbers if lines[number - 1].strip(comments.BLANK)]


def _trim(lines: Sequence[str], numbers: Sequence[int]) -> tuple[int, ...]:
    """Without blank lines at both ends."""
    start, end = 0, len(numbers)
    while start < end and not lines[numbers[start] - 1].strip(comments.BLANK):
        start += 1
    while end > start and not lines[numbers[end - 1] - 1].strip(comments.BLANK):
        end -= 1
    return tuple(numbers[start:end])


def _start_after(docstring: docstrings.Docstring, lines: Sequence[str], starts: dict[int, _Start]) -> None:
    """Start a section at the first line below a docstring that is not blank."""
    for number in range(docstring.end + 1, len(lines) + 1):
        if lines[number - 1].strip(comments.BLANK):
            starts[number] = _Start(number, Kind.CODE)
            return


def _heads(
    openings: Sequence[Opening],
    remarks: comments.Comments,
    lines: Sequence[str],
    path: str,
    starts: dict[int, _Start],
) -> list[_Start]:
    """
    The starts of all classes and functions, with the comments that touch them or stand among their
    decorators. Every other run of comments becomes a start of its own.
    """
    heads = [_Start(opening.start, opening.kind, opening) for opening in openings]
    at = {head.line: head for head in heads}
    lowest = [opening.start for opening in openings]
    for run in remarks.runs:
        said = comments.prose(lines, run, path)
        index = bisect_right(lowest, run.start) - 1
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
            starts[run.start] = _Start(run.start, kind, None, [said])
    for head in heads:
        while head.line - 1 in remarks.pragmas:
            head.line -= 1
    return heads


def _among_decorators(opening: Opening, number: int) -> bool:
    """Whether a line stands between the decorators and the header, and not inside one of them."""
    return opening.start < number < opening.line and not any(
        decorator.lineno < number <= (decorator.end_lineno or 0) for decorator in opening.node.decorator_list
    )


def _join(pieces: Sequence[tuple[ProseLine, ...]]) -> Prose:
    """One prose from several, as paragraphs of their own."""
    joined: list[ProseLine] = []
    for piece in pieces:
        if joined and piece:
            last = joined[-1]
            joined.append(ProseLine("", last.path, last.line, last.column + len(last.text), last.raw))
        joined.extend(piece)
    return Prose(tuple(joined))


class _Places:
    """Which definition a line lies in."""

    def __init__(self, found: Structure, solid: list[int]):
        self._openings = found.openings
        self._starts = [opening.start for opening in found.openings]
        self._solid = solid

    def _innermost(self, number: int) -> Opening | None:
        index = bisect_right(self._starts, number) - 1
        opening = self._openings[index] if index >= 0 else None
        while opening and number > opening.end:
            opening = opening.parent
        return opening

    def scope(self, first: int, start: int, lines: Sequence[str]) -> str:
        """
        The qualified name of the definition round a section whose first line of code is `first`. Without code
        it is the one that the section's indentation, and the code before and after it, say.
        """
        if first:
            opening = self._innermost(first)
            return opening.name if opening else ""
        index = bisect_left(self._solid, start)
        if index == 0:
            return ""
        following = self._solid[index] if index < len(self._solid) else len(lines) + 1
        indent = len(lines[start - 1]) - len(lines[start - 1].lstrip(comments.BLANK))
        opening = self._innermost(self._solid[index - 1])
        while opening and following > opening.end and indent <= opening.indent:
            opening = opening.parent
        return opening.name if opening else ""


def _definitions(
    lines: Sequence[str], ordered: Sequence[_Start], sections: Sequence[Section], found: Structure
) -> tuple[Definition, ...]:
    """Everything that the module defines, with the section that shows it."""
    definitions = [
        Definition(
            start.opening.name,
            start.opening.kind.value,
            start.opening.line,
            name_column(start.opening, lines),
            section.anchor,
        )
        for start, section in zip(ordered, sections, strict=True)
        if start.opening
    ]
    begins = [section.start for section in sections]
    for name, (line, column) in found.names.items():
        section = sections[bisect_right(begins, line) - 1]
        definitions.append(Definition(name, "data", line, column, section.anchor))
    return tuple(sorted(definitions, key=lambda definition: (definition.line, definition.column)))
