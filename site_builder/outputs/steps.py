"""
---
title: Step through
summary: Recorded calls, statement by statement, as one script a page that is loaded when a reader opens it.
---
# Step through

The file is a script for the reason that the [search index](search.html) is one. It is the same in all languages:
only names, numbers and lines stand in it. Which line a statement stands on is looked up now, since a record knows
statements by their ordinals alone.

A file has a budget. What would exceed it loses first the numbers of its larger tensors, which become statistics,
then the late steps of long walks, and at last whole walks. A walk says whether it was `cut`; numbers that are missing
show by the statistics in their place.
"""

from __future__ import annotations

import ast
import gzip
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from site_builder.claims import Checked, Shape
from site_builder.claims.model import ELLIPSIS
from site_builder.model import Page
from site_builder.weave.walks import FEWEST, offered

if TYPE_CHECKING:
    from site_builder.record import Outline, Record
    from site_builder.record.model import Named, Step, Value, Walk

LIMIT = 60_000
"""Bytes of a file, gzipped."""
EXAMPLE = 200
"""Characters of the example that is shown where a walk begins."""

_USUAL = ("torch.Tensor", "numpy.ndarray", "NoneType", "int", "float", "bool", "str")
"""Types that the value itself shows."""

Row = dict[str, Any]


class Budget(NamedTuple):
    """The most numbers of one tensor, steps of one walk, and walks of one file."""

    numbers: int
    steps: int
    walks: int


def url_of(page_url: str) -> str:
    return f"steps/{page_url.removesuffix('.html')}.js"


def script(page: Page, record: Record, checked: Checked | None = None, limit: int = LIMIT) -> bytes | None:
    """The file of one page within its budget; `None` where there is nothing to walk through."""
    walks = [walk for _, walk in offered(record)]
    if not walks:
        return None
    # Imported late, as what reads statements is below too: most pages have none of it.
    from site_builder.record import outline_of

    teller = _Teller(record, outline_of(page), checked or Checked())
    data = b""
    for budget in _budgets(walks):
        body = json.dumps(teller.told(walks, budget), ensure_ascii=True, separators=(",", ":"))
        data = f"stepThrough({body});\n".encode("ascii")
        if len(gzip.compress(data, 9, mtime=0)) <= limit:
            break
    return data


def _budgets(walks: list[Walk]) -> Iterator[Budget]:
    """From everything to nothing. The last fits into any limit worth the name."""
    everything = Budget(
        max((len(value.data) for walk in walks for value in _values(walk)), default=0),
        max(len(walk.steps) for walk in walks),
        len(walks),
    )
    yield everything
    budget = everything
    for numbers, steps in ((32, 200), (8, 200), (8, 100), (8, 50), (1, 50), (1, 25), (1, 10), (1, FEWEST)):
        smaller = budget._replace(numbers=min(numbers, budget.numbers), steps=min(steps, budget.steps))
        if smaller != budget:
            yield smaller
        budget = smaller
    while budget.walks:
        budget = budget._replace(walks=budget.walks * 3 // 4)
        yield budget


def _values(walk: Walk) -> Iterator[Value]:
    named = (*walk.arguments, *(written for step in walk.steps for written in step.writes))
    yield from (one.value for one in named)
    if walk.result:
        yield walk.result


class _Table:
    """Values by number, equal ones once."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.numbers: dict[str, int] = {}

    def enter(self, row: Row) -> int:
        key = json.dumps(row)
        if key not in self.numbers:
            self.numbers[key] = len(self.rows)
            self.rows.append(row)
        return self.numbers[key]


class _Teller:
    """Tells the walks of one page."""

    def __init__(self, record: Record, outline: Outline, checked: Checked) -> None:
        self.outline, self.checked = outline, checked
        self.names = {function.ordinal: function.name for function in record.functions}
        self.examples = record.examples

    def told(self, walks: list[Walk], budget: Budget) -> Row:
        table = _Table()
        shown = [self.walk(walk, budget, table) for walk in walks[: budget.walks]]
        return _filled(walks=shown, values=table.rows)

    def walk(self, walk: Walk, budget: Budget, table: _Table) -> Row:
        steps = walk.steps[: budget.steps]
        arguments = self.checked.arguments.get(walk.function, ())
        rounds = _rounds(self.outline, walk.steps)
        return _filled(
            function=walk.function,
            call=self.call(walk),
            name=self.names[walk.function],
            lines=self.outline.head(walk.function),
            arguments=_named(walk.arguments, arguments, budget, table),
            steps=[self.step(step, lap, budget, table) for step, lap in zip(steps, rounds, strict=False)],
            result=self.result(walk, budget, table),
            cut=1 if walk.cut or len(steps) < len(walk.steps) else None,
        )

    def call(self, walk: Walk) -> str:
        """The example that led to it, in one line."""
        if not 0 <= walk.example < len(self.examples):
            return ""
        source = " ".join(self.examples[walk.example].source.split())
        return source if len(source) <= EXAMPLE else source[: EXAMPLE - 1] + "…"

    def step(self, step: Step, lap: str, budget: Budget, table: _Table) -> list[Any]:
        shapes = self.checked.shapes.get(step.ordinal, ())
        return [
            *self.outline.head(step.ordinal),
            lap,
            _named(step.writes, shapes, budget, table),
        ]

    def result(self, walk: Walk, budget: Budget, table: _Table) -> int | None:
        """A `None` that no `return` gave is none of the author's results."""
        last = self.outline.lines[walk.steps[-1].ordinal].node
        if walk.result is None or (walk.result.type == "NoneType" and not isinstance(last, ast.Return)):
            return None
        axes = _axes(walk.result, self.checked.results.get(walk.function))
        return _entered(walk.result, axes, budget, table)


def _named(
    found: Iterable[Named], shapes: Iterable[Shape], budget: Budget, table: _Table
) -> list[tuple[str, int]]:
    known = {shape.name: shape for shape in shapes}
    return [
        (one.name, _entered(one.value, _axes(one.value, known.get(one.name)), budget, table)) for one in found
    ]


def _axes(value: Value, shape: Shape | None) -> list[str]:
    """The names of the axes, empty for an axis without one; nothing where none has."""
    if shape is None or value.shape is None:
        return []
    names = [axis if any(letter.isalpha() for letter in axis) else "" for axis in shape.axes]
    missing = len(value.shape) - len(names)
    if shape.axes[:1] == (ELLIPSIS,):
        # Only the last axes are known: calls differ in how many come before.
        names, missing = [*([""] * (missing + 1)), *names[1:]], 0
    return names if any(names) and not missing else []


def _entered(value: Value, axes: list[str], budget: Budget, table: _Table) -> int:
    if len(value.data) > budget.numbers:
        value = replace(value, data=(), stats=_measured(value.data))
    row = _filled(
        kind=value.kind,
        type="" if value.type in _USUAL else value.type.rpartition(".")[2],
        axes=axes,
        dtype=value.dtype,
        device="" if value.device == "cpu" else value.device,
        text=value.text,
        size=value.size,
        names=list(value.names),
        items=[_entered(item, [], budget, table) for item in value.items],
        data=" ".join(value.data),
        stats=" ".join(value.stats),
    )
    if value.shape is not None:
        row["shape"] = list(value.shape)
    return table.enter(row)


def _measured(data: tuple[str, ...]) -> tuple[str, ...]:
    from site_builder.record.values import statistics

    return statistics([float(number) for number in data])


def _filled(**fields: Any) -> Row:
    """Only what says something. Zero does: it may be a place in the table."""
    return {name: found for name, found in fields.items() if found not in (None, "", [])}


def _rounds(outline: Outline, steps: tuple[Step, ...]) -> Iterator[str]:
    """
    Of each step, the round of the loops around it, `3` or `2.1`; of a loop's own head the round that now begins,
    and `end` where none does.
    """
    from site_builder.record.targets import BODY

    laps: dict[int, int] = {}
    for place, step in enumerate(steps):
        around = outline.loops(step.ordinal)
        if around and around[-1] == step.ordinal:
            before = steps[place - 1].ordinal if place else -1
            again = before == step.ordinal or outline.part_of(before, step.ordinal) == BODY
            laps[step.ordinal] = laps.get(step.ordinal, 0) + 1 if again else 1
            after = steps[place + 1].ordinal if place + 1 < len(steps) else None
            if after is not None and outline.part_of(after, step.ordinal) != BODY:
                yield "end"
                continue
        yield ".".join(str(laps.get(loop, 1)) for loop in around)
