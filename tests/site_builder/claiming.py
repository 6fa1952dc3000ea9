"""Claims of a tiny package, checked against what its examples really did."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from site_builder.claims import Checked, Shape, check
from site_builder.claims.coverage import Coverage, coverage
from site_builder.model import Page
from site_builder.record import Outline, Record, outline_of
from tests.site_builder.recording import pages, record, write


@dataclass(frozen=True)
class Judged:
    """One page, its record and its claims, looked at by the names of its definitions."""

    page: Page
    record: Record | None
    checked: Checked

    @property
    def outline(self) -> Outline:
        return outline_of(self.page)

    @property
    def coverage(self) -> Coverage:
        return coverage(self.page, self.record)

    def verdicts(self, scope: str = "") -> dict[str, str]:
        """Every claim in that function or class, and what became of it."""
        return {
            judged.claim.text: str(judged.verdict)
            for judged in self.checked.claims
            if self._scope(judged.claim.section) == scope
        }

    def faults(self, scope: str = "") -> list[str]:
        """`code message` of what is wrong within its lines."""
        return [
            f"{found.code} {found.message}"
            for found in self.checked.diagnostics
            if found.line in self._lines(scope)
        ]

    def axes(self, line: str) -> dict[str, str]:
        """What the statement that begins like this wrote: names, and the names of their axes."""
        return {shape.name: " ".join(shape.axes) for shape in self.shapes(line)}

    def shapes(self, line: str) -> tuple[Shape, ...]:
        found = [
            shapes
            for ordinal, shapes in self.checked.shapes.items()
            if self.page.lines[self.outline.lines[ordinal].node.lineno - 1].strip().startswith(line)
        ]
        assert len(found) == 1, (line, found)
        return found[0]

    def arguments(self, scope: str) -> dict[str, str]:
        return {s.name: " ".join(s.axes) for s in self.checked.arguments.get(self._ordinal(scope), ())}

    def result(self, scope: str) -> str:
        return " ".join(self.checked.results[self._ordinal(scope)].axes)

    def _scope(self, section: int) -> str:
        return self.page.sections[section].scope if section >= 0 else ""

    def _ordinal(self, scope: str) -> int:
        return next(ordinal for ordinal, name in self.outline.names.items() if name == scope)

    def _lines(self, scope: str) -> range:
        line = self.outline.lines[self._ordinal(scope)]
        return range(line.start[0], line.end[0] + 1)


def judged(folder: Path, source: str, *, run: bool = True) -> Judged:
    """The module `pkg.m` with this source."""
    write(folder, m=source)
    found = record(folder, "m").records.get("m.html") if run else None
    page = next(page for page in pages(folder) if page.url == "m.html")
    return Judged(page, found, check(page, found))


def numbers(text: str) -> Iterator[list[int]]:
    """The shapes in a message."""
    for found in re.finditer(r"\[(\d+(?:, \d+)*)\]", text):
        yield [int(number) for number in found[1].split(", ")]
