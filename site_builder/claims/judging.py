"""
---
title: Judging
summary: The claims of a page against everything that was recorded of it.
---
# Judging

Every frame in which a claim has something to speak of must agree with it. One that does makes it proven, one that
does not makes it false, wherever else it was true.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from site_builder.claims import frames
from site_builder.claims.frames import Frame
from site_builder.claims.model import Claim, Judged, Verdict
from site_builder.claims.solving import Failure, Item, Scopes, Solution, solve
from site_builder.claims.subjects import Group, Topics
from site_builder.record.model import MODULE, Record, Statement, Value
from site_builder.record.outline import Outline


@dataclass
class Judgement:
    """What came out: the solutions by the function or scope that they are of."""

    solutions: dict[int, list[Solution]] = field(default_factory=dict)
    proven: set[Claim] = field(default_factory=set)
    failures: list[Failure] = field(default_factory=list)

    def add(self, solution: Solution) -> None:
        self.solutions.setdefault(solution.frame.function, []).append(solution)
        self.proven |= solution.proven
        self.failures += solution.failures

    def verdicts(self, claims: Iterable[Claim]) -> Iterator[Judged]:
        false = {claim for failure in self.failures for claim in failure.item.group.claims}
        for claim in claims:
            found = Verdict.PROVEN if claim in self.proven else Verdict.UNCHECKED
            yield Judged(claim, Verdict.FALSE if claim in false else found)

    def faults(self) -> Iterator[Failure]:
        """One for each group of claims: the first."""
        told: set[Group] = set()
        for failure in self.failures:
            if failure.item.group not in told:
                told.add(failure.item.group)
                yield failure

    def frames(self) -> Iterator[Frame]:
        return (solution.frame for solutions in self.solutions.values() for solution in solutions)


def judge(outline: Outline, record: Record, topics: Topics) -> Judgement:
    found = Judgement()
    notes: dict[int, set[int]] = {}
    for ordinal in (*topics.writes, *topics.returns):
        notes.setdefault(outline.lines[ordinal].scope, set()).add(ordinal)
    for function in record.functions:
        scopes = _scopes(outline, topics, function.ordinal, notes)
        for frame in frames.of_function(outline, function):
            found.add(solve(frame, _items(frame, topics), scopes))
    statements: dict[int, list[Statement]] = {}
    for statement in record.statements:
        statements.setdefault(outline.lines[statement.ordinal].scope, []).append(statement)
    classes = [n for n in outline.names if isinstance(outline.lines[n].node, ast.ClassDef)]
    for scope in (MODULE, *classes):
        frame = frames.of_scope(outline, statements.get(scope, ()), scope)
        found.add(solve(frame, _items(frame, topics), _scopes(outline, topics, scope, notes)))
    values = list(dict.fromkeys(value for frame in found.frames() for value in _values(frame)))
    for scope in topics.fields:
        kind = f"{record.module}.{outline.names[scope]}"
        for value in values:
            if value.type == kind and value.names:
                frame = frames.of_fields(scope, value)
                found.add(solve(frame, _members(frame, topics), {}))
    for item in _untold(record, found, topics):
        found.add(solve(Frame(MODULE), (item,), {}))
    return found


# ---- what there is to judge


def shape_of(value: Value, path: tuple[str, ...] = ()) -> tuple[int, ...] | None:
    """
    The shape that claims speak of: of a plain number that of no axes, of a list of plain values its length, of
    other sequences that of the first member that has one. `path` leads to members by their names.
    """
    for name in path:
        place = value.names.index(name) if name in value.names else len(value.items)
        if place >= len(value.items):
            return None
        value = value.items[place]
    if value.shape is not None:
        return value.shape
    if value.kind == "scalar" and (value.dtype or value.type in ("int", "float", "bool", "complex")):
        return ()
    if value.kind == "sequence" and value.items:
        if all(item.kind == "scalar" and item.text != "None" for item in value.items):
            return (value.size or 0,)
        return next((item.shape for item in value.items if item.shape is not None), None)
    return None


def _items(frame: Frame, topics: Topics) -> Iterator[Item]:
    """In the order in which the values came to be."""
    entry = topics.entry.get(frame.function, {})
    for argument in frame.arguments:
        for group in entry.get(argument.name, ()):
            if (shape := shape_of(argument.value, group.path)) is not None:
                yield Item(group, shape)
    for event in frame.events:
        for group in topics.writes.get(event.ordinal, {}).get(event.name, ()):
            if (shape := shape_of(event.value)) is not None:
                yield Item(group, shape, event.time, event)
    if frame.result is None:
        return
    beside = topics.returns.get(frame.returned, ()) if frame.returned is not None else ()
    for group in (*topics.results.get(frame.function, ()), *beside):
        if (shape := shape_of(frame.result, group.path)) is not None:
            yield Item(group, shape, frame.end)


def _members(frame: Frame, topics: Topics) -> Iterator[Item]:
    for event in frame.events:
        group = topics.fields[frame.function].get(event.name)
        if group and (shape := shape_of(event.value)) is not None:
            yield Item(group, shape, event.time, event)


def _values(frame: Frame) -> Iterator[Value]:
    """Every value of the frame, and the members of each."""
    waiting = [one.value for one in frame.arguments]
    waiting += [event.value for event in frame.events]
    waiting += [frame.result] if frame.result else []
    while waiting:
        value = waiting.pop()
        yield value
        waiting.extend(value.items)


def _untold(record: Record, found: Judgement, topics: Topics) -> Iterator[Item]:
    """
    Values of statements of which no frame tells, because there were too many: each is judged on its own. What calls
    that raised had is left out; where some of these may be untold too, so is all.
    """
    told = {(event.ordinal, event.name, event.value) for frame in found.frames() for event in frame.events}
    for function in record.functions:
        for call in function.calls:
            if call.raised:
                told |= {(step.ordinal, one.name, one.value) for step in call.writes for one in step.writes}
    if any(function.more and any(call.raised for call in function.calls) for function in record.functions):
        return
    for statement in record.statements:
        groups = topics.writes.get(statement.ordinal, {})
        for write in statement.writes if groups else ():
            for value in write.values:
                if (statement.ordinal, write.name, value) in told or (shape := shape_of(value)) is None:
                    continue
                yield from (Item(group, shape) for group in groups.get(write.name, ()))


def _scopes(outline: Outline, topics: Topics, scope: int, notes: Mapping[int, Iterable[int]]) -> Scopes:
    """
    A docstring mentions its names before any loop; comments mention theirs where they stand. `notes` are the
    statements beside comments with claims, by scope.
    """
    docstring = [*topics.results.get(scope, ())]
    docstring += [group for groups in topics.entry.get(scope, {}).values() for group in groups]
    found: dict[str, tuple[int, ...]] = {name: () for group in docstring for name in _names(group)}
    for ordinal in sorted(notes.get(scope, ()), key=lambda n: outline.lines[n].start):
        groups = [group for beside in topics.writes.get(ordinal, {}).values() for group in beside]
        for group in (*groups, *topics.returns.get(ordinal, ())):
            for name in _names(group):
                found.setdefault(name, outline.loops(ordinal))
    return found


def _names(group: Group) -> Iterator[str]:
    for claim in group.claims:
        for axis in claim.axes:
            if not axis.is_ellipsis:
                yield from sorted(axis.names)
