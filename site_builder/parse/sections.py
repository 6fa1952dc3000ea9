"""
---
title: Cutting a file into sections
summary: Where notes and code are divided, so that every line lands in exactly one section.
---
# Cutting a file into sections

Everything from one start to the next is a section, so the sections are a partition of the file by
construction. What remains to be said of each is which of its lines are shown as code, and what it is called.

A line is hidden from code if it is a comment, or belongs to a docstring that has its lines to itself.
"""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Sequence, Set
from functools import cached_property
from typing import NamedTuple

from site_builder.model import Definition, Kind, Prose, ProseLine, Section
from site_builder.parse import anchors, comments, docstrings, starts
from site_builder.parse.starts import Start
from site_builder.parse.structure import Opening, Structure, name_column, survey
from site_builder.parse.text import indentation, is_blank, trim


class Cut(NamedTuple):
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
    documented = [(opening, docstrings.find(opening.node, lines, path)) for opening in found.openings]
    ordered = starts.find(lines, path, remarks, module, documented)

    written = {number for run in remarks.runs for number in range(run.start, run.end)}
    hidden = set(written)
    for docstring in (module, *(docstring for _, docstring in documented)):
        if docstring and docstring.alone:
            hidden.update(range(docstring.start, docstring.end + 1))
    surroundings = _Surroundings(lines, found, written)
    ends = [*(start.line for start in ordered[1:]), len(lines) + 1]
    sections = []
    for start, end in zip(ordered, ends, strict=True):
        shown = _trim(lines, [number for number in range(start.line, end) if number not in hidden])
        scope, anchor = _identity(start, shown, lines, found, remarks, surroundings)
        sections.append(Section(start.kind, start.line, end, _join(start.prose), shown, scope, anchor))
    named = anchors.unique(sections)
    return Cut(named, _definitions(lines, ordered, named, found), module.prose if module else ())


def _identity(
    start: Start,
    shown: Sequence[int],
    lines: Sequence[str],
    found: Structure,
    remarks: comments.Comments,
    surroundings: _Surroundings,
) -> tuple[str, str]:
    """The scope of a section, and its anchor without a counter."""
    if start.opening:
        return start.opening.name, start.opening.name
    if start.kind is Kind.MODULE and not shown:
        return "", ""
    # The first line of code that is neither blank nor a pragma says what the section is about.
    first = next((n for n in shown if n not in remarks.pragmas and not is_blank(lines[n - 1])), 0)
    if first:
        scope = surroundings.of_code(first)
        suffix = anchors.suffix(lines[first - 1], found.statements.get(first), first in found.continued)
    else:
        scope = surroundings.of_note(start.line)
        suffix = anchors.PRAGMA if shown else anchors.NOTE
    return scope, f"{scope or anchors.MODULE}:{suffix}"


def _trim(lines: Sequence[str], numbers: Sequence[int]) -> tuple[int, ...]:
    """Without blank lines at both ends."""
    start, end = 0, len(numbers)
    while start < end and is_blank(lines[numbers[start] - 1]):
        start += 1
    while end > start and is_blank(lines[numbers[end - 1] - 1]):
        end -= 1
    return tuple(numbers[start:end])


def _join(pieces: Sequence[tuple[ProseLine, ...]]) -> Prose:
    """One prose from several, as paragraphs of their own."""
    joined: list[ProseLine] = []
    for piece in map(trim, pieces):
        if joined and piece:
            last = joined[-1]
            joined.append(ProseLine("", last.path, last.line, last.column + len(last.text), last.raw))
        joined.extend(piece)
    return Prose(tuple(joined))


class _Surroundings:
    """Which definition a line lies in."""

    def __init__(self, lines: Sequence[str], found: Structure, written: Set[int]):
        self._lines, self._written = lines, written
        self._openings = found.openings
        self._starts = [opening.start for opening in found.openings]

    @cached_property
    def _code(self) -> list[int]:
        """The lines that hold code, which few files need."""
        return [n for n, line in enumerate(self._lines, 1) if n not in self._written and not is_blank(line)]

    def of_code(self, number: int) -> str:
        """The qualified name of the innermost definition that holds a line of code; empty outside of all."""
        opening = self._innermost(number)
        return opening.name if opening else ""

    def of_note(self, number: int) -> str:
        """
        The same of a comment with no code to stand beside. Between two lines of one definition it belongs
        there; at the end of one, its indentation tells.
        """
        index = bisect_left(self._code, number)
        if index == 0:
            return ""
        following = self._code[index] if index < len(self._code) else len(self._lines) + 1
        opening = self._innermost(self._code[index - 1])
        column = indentation(self._lines[number - 1])
        while opening and following > opening.end and column <= opening.indent:
            opening = opening.parent
        return opening.name if opening else ""

    def _innermost(self, number: int) -> Opening | None:
        index = bisect_right(self._starts, number) - 1
        opening = self._openings[index] if index >= 0 else None
        while opening and number > opening.end:
            opening = opening.parent
        return opening


def _definitions(
    lines: Sequence[str], ordered: Sequence[Start], sections: Sequence[Section], found: Structure
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
