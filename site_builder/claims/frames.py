"""
---
title: Frames
summary: A recorded call as claims look at it, with the numbers that its names had, and when.
---
# Frames

One call is one frame. The record tells it in one of two ways. The *walk* of a function is one call from the first
statement to the last, so that it is known which round of a loop each value belongs to. Other calls tell a value
only where a statement gives it for the first time. Then two values are taken for those of one round only if there is
no other possibility.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from site_builder.record.model import MODULE, Call, Function, Named, Statement, Step, Value, Walk
from site_builder.record.outline import Outline

ENTRY = -1
"""The time at which arguments have their values."""
Round = tuple[object, ...]


@dataclass(frozen=True)
class Event:
    """A statement gave a value to a name. `rounds` has, for each loop around it, which round it was in."""

    time: int
    ordinal: int
    name: str
    value: Value
    loops: tuple[int, ...] = ()
    rounds: Round = ()


class Number(NamedTuple):
    """A whole number that a name had."""

    time: int
    value: int
    event: Event | None = None


@dataclass(frozen=True)
class Frame:
    """
    `returned` is the statement that gave the result, where that is known, `owner` the numbers of `self`, `example`
    the place in the record of one that made the call. `exact`: everything that happened is told, in order. Names that
    are `lacking` may have had other values too.
    """

    function: int
    arguments: tuple[Named, ...] = ()
    events: tuple[Event, ...] = ()
    result: Value | None = None
    returned: int | None = None
    owner: Mapping[str, int] = field(default_factory=dict)
    example: int = MODULE
    exact: bool = False
    lacking: frozenset[str] = frozenset()

    @cached_property
    def end(self) -> int:
        return self.events[-1].time + 1 if self.events else 0

    @cached_property
    def numbers(self) -> dict[str, list[Number]]:
        """What names had as whole numbers, in order."""
        found: dict[str, list[Number]] = {}
        for one in self.arguments:
            if (number := whole(one.value)) is not None:
                found.setdefault(one.name, []).append(Number(ENTRY, number))
        for event in self.events:
            if (number := whole(event.value)) is not None and "." not in event.name:
                found.setdefault(event.name, []).append(Number(event.time, number, event))
        return found

    def changes(self, name: str) -> bool:
        """Whether it has several numbers in this call, or may have."""
        return name in self.lacking or len({number.value for number in self.numbers.get(name, ())}) > 1

    def candidates(
        self, name: str, time: int, event: Event | None = None, beside: Collection[int] = ()
    ) -> tuple[int, ...]:
        """
        The numbers that an integer of this name may have at that time: of the frame, else of `self`; none if
        there is no such integer, or if it cannot be known. Statements `beside` the claim may assign it before or after
        what is claimed.
        """
        told = self.numbers.get(name)
        if not told:
            return (self.owner[name],) if name in self.owner else ()
        if time == ENTRY and told[0].time == ENTRY:
            return (told[0].value,)
        if name in self.lacking:
            return ()
        values = tuple(dict.fromkeys(number.value for number in told))
        if len(values) == 1:
            return values
        if not self.exact and any(number.event and number.event.loops for number in told):
            return _last_told(told, time, event) or values
        if event is None:
            return values
        earlier = [number.value for number in told if number.time <= time]
        near = [
            number.value
            for number in told
            if number.event and number.event.ordinal in beside and _same_round(number.event, event)
        ]
        return tuple(dict.fromkeys((*earlier[-1:], *near))) or values


def _last_told(told: Iterable[Number], time: int, event: Event | None) -> tuple[int, ...]:
    """
    The number that was told last in the same round, if one was. What was told in an earlier round need not be the
    last: a number that comes again is not told again.
    """
    if event is None or not event.rounds:
        return ()
    here = [one.value for one in told if one.event and one.time <= time and one.event.rounds == event.rounds]
    return tuple(here[-1:])


def _same_round(one: Event, other: Event) -> bool:
    depth = min(len(one.rounds), len(other.rounds))
    return one.rounds[:depth] == other.rounds[:depth]


def whole(value: Value) -> int | None:
    if value.kind == "scalar" and re.fullmatch(r"-?\d{1,15}", value.text):
        return int(value.text)
    return None


def of_function(outline: Outline, function: Function) -> Iterator[Frame]:
    """The frames of calls that returned, the walk first: what is handed in to be refused, no claim speaks of."""
    walk, same = function.walk, None
    if walk is not None:
        alike = list(_alike(walk, function.calls))
        yield _walked(outline, walk, alike[0] if len({call.owner for call in alike}) == 1 else None)
        same = alike[0] if len(alike) == 1 and not walk.cut else None
    for call in function.calls:
        if not call.raised and call is not same:
            yield _called(outline, call)


def of_fields(scope: int, value: Value) -> Frame:
    """The members of a named tuple, as if the class had assigned them."""
    members = zip(value.names, value.items, strict=False)
    return Frame(scope, events=tuple(Event(n, scope, name, item) for n, (name, item) in enumerate(members)))


def of_scope(outline: Outline, statements: Iterable[Statement], scope: int) -> Frame:
    """The statements of the module, or of a class, that are run once."""
    told = sorted(statements, key=lambda one: outline.lines[one.ordinal].start)
    writes = [(one.ordinal, write) for one in told for write in one.writes]
    steps = [
        Step(ordinal, (Named(write.name, value),)) for ordinal, write in writes for value in write.values
    ]
    lacking = frozenset(write.name for _, write in writes if write.more)
    return Frame(scope, events=tuple(_apart(outline, steps)), lacking=lacking)


def _alike(walk: Walk, calls: Iterable[Call]) -> Iterator[Call]:
    """The calls of which one is the walk."""
    plain = tuple(Named(one.name, _plain(one.value)) for one in walk.arguments)
    result = _plain(walk.result) if walk.result else None
    for call in calls:
        if not call.raised and (call.arguments, call.result) == (plain, result):
            yield call


def _plain(value: Value) -> Value:
    return replace(value, data=(), stats=())


def _owner(call: Call | None, outline: Outline, events: Iterable[Event]) -> dict[str, int]:
    """The numbers of `self`, without those that this very call may have changed."""
    if call is None:
        return {}
    found: dict[str, int] = {}
    for one in call.owner:
        number = whole(one.value)
        written = {whole(event.value) for event in events if event.name == one.name}
        name = outline.names.get(call.function, "").rpartition(".")[2]
        stays = written <= {number} if name == "__init__" else not written
        if number is not None and stays:
            found[one.name.removeprefix("self.")] = number
    return found


def _walked(outline: Outline, walk: Walk, call: Call | None) -> Frame:
    rounds: dict[int, int] = {}
    events: list[Event] = []
    for time, step in enumerate(walk.steps):
        path = outline.loops(step.ordinal)
        if path and path[-1] == step.ordinal:
            rounds[step.ordinal] = time
        here = tuple(rounds.get(loop, 0) for loop in path)
        events += [Event(time, step.ordinal, one.name, _plain(one.value), path, here) for one in step.writes]
    last = walk.steps[-1].ordinal if walk.steps and not walk.cut else MODULE
    returned = last if last != MODULE and isinstance(outline.lines[last].node, ast.Return) else None
    owner = _owner(call, outline, events)
    arguments = tuple(Named(one.name, _plain(one.value)) for one in walk.arguments)
    # Between where a walk is cut and its result, anything may have changed.
    result = _plain(walk.result) if walk.result and not walk.cut else None
    return Frame(walk.function, arguments, tuple(events), result, returned, owner, walk.example, exact=True)


def _called(outline: Outline, call: Call) -> Frame:
    events = tuple(_apart(outline, call.writes))
    returns = [n for n in outline.returns(call.function) if getattr(outline.lines[n].node, "value", None)]
    returned = returns[0] if len(returns) == 1 else None
    lacking = frozenset(call.lacking)
    owner = {
        name: number
        for name, number in _owner(call, outline, events).items()
        if lacking.isdisjoint((name, f"self.{name}"))
    }
    example = call.examples[0] if call.examples else MODULE
    return Frame(
        call.function, call.arguments, events, call.result, returned, owner, example, lacking=lacking
    )


def _apart(outline: Outline, steps: Iterable[Step]) -> Iterator[Event]:
    """
    What was told once: in loops, statements of one block that follow each other are of one round, if nothing can
    leave it between them.
    """
    at: dict[tuple[int, int], tuple[tuple[int, int], set[tuple[int, str]], int]] = {}
    for time, step in enumerate(steps):
        line = outline.lines[step.ordinal]
        path = outline.loops(step.ordinal)
        for one in step.writes:
            here: Round = ()
            if path:
                block = (step.ordinal, 0) if path[-1] == step.ordinal else (line.parent, line.part)
                last, seen, number = at.get(block, ((0, 0), set(), 0))
                again = line.start < last or (step.ordinal, one.name) in seen
                if again or path[-1] in outline.unsteady:
                    seen, number = set(), time + 1
                seen.add((step.ordinal, one.name))
                at[block] = (line.start, seen, number)
                here = tuple((*block, number) for _ in path)
            yield Event(time, step.ordinal, one.name, one.value, path, here)
