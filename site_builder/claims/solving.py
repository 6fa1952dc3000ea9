"""
---
title: What the names mean
summary: Claims of one frame, taken together, give their names numbers, or contradict the record.
---
# What the names mean

Claims are taken in the order in which the code made the values. Each may bind names, and every later one is held
against these. Where a claim has alternatives, or a name several possible numbers, all ways are followed that are
still open. A claim that closes the last of them is false, and is left out of what follows: so one fault makes one
message.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from site_builder.claims.axes import Axis, variants
from site_builder.claims.frames import ENTRY, Event, Frame
from site_builder.claims.model import Claim
from site_builder.claims.subjects import Group

WAYS_AT_MOST = 64

Scopes = Mapping[str, tuple[int, ...]]
"""For names that claims first mention within loops, these loops."""


@dataclass(frozen=True)
class Variable:
    """
    A name, and where it means one number: in the whole frame, in one round of the loop that binds it (`loops`), in
    what follows that loop (no `round`), or, where the code itself changes the number, at one moment.
    """

    name: str
    loops: tuple[int, ...] = ()
    round: Hashable = None
    moment: int | None = None


@dataclass(frozen=True)
class Item:
    """A recorded shape that claims speak of; without an `event` it is that of an argument or a result."""

    group: Group
    shape: tuple[int, ...]
    time: int = ENTRY
    event: Event | None = None


@dataclass(frozen=True)
class Equation:
    axis: Axis
    variables: Mapping[str, Variable]
    size: int


@dataclass(frozen=True)
class Way:
    """One reading of the claims so far. `chosen` is the alternative taken for each item, by its place, and its axes."""

    numbers: Mapping[Variable, int] = field(default_factory=dict)
    open: tuple[Equation, ...] = ()
    chosen: Mapping[int, tuple[Claim, tuple[Axis, ...]]] = field(default_factory=dict)
    proven: frozenset[Claim] = frozenset()

    def settled(self) -> Way | None:
        """With every number that follows from the equations; none if they contradict each other."""
        numbers, waiting = dict(self.numbers), self.open
        while True:
            left: list[Equation] = []
            found = False
            for equation in waiting:
                known = {name: numbers[key] for name, key in equation.variables.items() if key in numbers}
                solved = equation.axis.solved(equation.size, known)
                if solved is None:
                    return None
                for name, number in solved.items():
                    numbers[equation.variables[name]] = number
                    found = True
                if len(known) + len(solved) < len(equation.variables):
                    left.append(equation)
            waiting = tuple(left)
            if not found:
                return replace(self, numbers=numbers, open=waiting)

    def took(self, place: int, claim: Claim, axes: tuple[Axis, ...]) -> Way:
        return replace(self, chosen={**self.chosen, place: (claim, axes)}, proven=self.proven | {claim})


@dataclass(frozen=True)
class Names:
    """What the names of claims mean in one frame."""

    frame: Frame
    scopes: Scopes

    def variable(self, name: str, event: Event | None, time: int) -> Variable:
        if self.frame.changes(name):
            return Variable(name, moment=time)
        loops = self.scopes.get(name, ())
        if not loops:
            return Variable(name)
        inside = event is not None and event.loops[: len(loops)] == loops
        return Variable(name, loops, event.rounds[len(loops) - 1] if event and inside else None)

    def possible(self, variable: Variable, item: Item, way: Way) -> tuple[int, ...]:
        """The numbers among which a name has its own; none: it may be any."""
        name, loops = variable.name, variable.loops
        numbers = self.frame.candidates(name, item.time, item.event, item.group.statements)
        if numbers or not loops or variable.round is not None:
            return numbers
        # What a loop has bound keeps one of its numbers when the loop has ended.
        after = [
            number for other, number in way.numbers.items() if (other.name, other.loops) == (name, loops)
        ]
        return tuple(dict.fromkeys(after))

    def taken(self, way: Way, item: Item, claimed: tuple[Axis, ...]) -> Iterator[Way]:
        """The ways on which the item has these axes as well."""
        pairs = aligned(claimed, item.shape)
        if pairs is None:
            return
        names = sorted({name for axis, _, _ in pairs for name in axis.names})
        variables = {name: self.variable(name, item.event, item.time) for name in names}
        equations = tuple(
            Equation(axis, {name: variables[name] for name in sorted(axis.names)}, size)
            for axis, _, size in pairs
        )
        choices: list[dict[Variable, int]] = [dict(way.numbers)]
        for variable in variables.values():
            if variable not in way.numbers and (numbers := self.possible(variable, item, way)):
                choices = [{**choice, variable: number} for choice in choices for number in numbers]
        for choice in choices[:WAYS_AT_MOST]:
            settled = replace(way, numbers=choice, open=(*way.open, *equations)).settled()
            if settled is not None:
                yield settled

    def known(self, way: Way, item: Item) -> dict[str, tuple[int, ...]]:
        """The numbers that the names in an item's claims have, or may have."""
        found: dict[str, tuple[int, ...]] = {}
        axes = (axis for claim in item.group.claims for axis in claim.axes if not axis.is_ellipsis)
        for name in dict.fromkeys(name for axis in axes for name in sorted(axis.names)):
            variable = self.variable(name, item.event, item.time)
            if variable in way.numbers:
                found[name] = (way.numbers[variable],)
            elif numbers := self.possible(variable, item, way):
                found[name] = numbers
        return found


@dataclass(frozen=True)
class Failure:
    """An item of which no claim can be true, and what was known by then of the names in its claims."""

    frame: Frame
    item: Item
    numbers: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class Solution:
    """The first way that is open in the end; `proven` are the claims that are true on any of them."""

    names: Names
    items: tuple[Item, ...]
    way: Way
    proven: frozenset[Claim]
    failures: tuple[Failure, ...]

    @property
    def frame(self) -> Frame:
        return self.names.frame


def solve(frame: Frame, items: Iterable[Item], scopes: Scopes) -> Solution:
    names = Names(frame, scopes)
    ways = [Way()]
    failures: list[Failure] = []
    told = tuple(items)
    for place, item in enumerate(told):
        following: dict[Hashable, Way] = {}
        for way in ways:
            for claim in item.group.claims:
                for axes in variants(claim.axes):
                    for taken in names.taken(way, item, axes):
                        _keep(following, taken.took(place, claim, axes))
        if following:
            ways = list(following.values())[:WAYS_AT_MOST]
        else:
            failures.append(Failure(frame, item, names.known(ways[0], item)))
    proven = frozenset[Claim]().union(*(way.proven for way in ways))
    return Solution(names, told, ways[0], proven, tuple(failures))


def aligned(axes: tuple[Axis, ...], shape: tuple[int, ...]) -> list[tuple[Axis, int, int]] | None:
    """Each axis of the claim but `...`, with its place in the shape and its size; none if they do not fit."""
    spread = next((place for place, axis in enumerate(axes) if axis.is_ellipsis), None)
    if spread is None:
        fits = len(axes) == len(shape)
        return list(zip(axes, range(len(shape)), shape, strict=True)) if fits else None
    if len(shape) < len(axes) - 1:
        return None
    after = len(axes) - spread - 1
    places = [*range(spread), *range(len(shape) - after, len(shape))]
    named = (*axes[:spread], *axes[spread + 1 :])
    return [(axis, place, shape[place]) for axis, place in zip(named, places, strict=True)]


def _keep(ways: dict[Hashable, Way], way: Way) -> None:
    """Ways that know the same are one; what either proved is proven."""
    key = (frozenset(way.numbers.items()), tuple((one.axis, one.size) for one in way.open))
    known = ways.setdefault(key, way)
    ways[key] = replace(known, proven=known.proven | way.proven)
