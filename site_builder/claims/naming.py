"""
---
title: Names for axes
summary: Each recorded shape with the names that its sizes have in the call that it comes from.
---
# Names for axes

What a claim says of a shape, it is called by. Else a size is called by the one name that has this number in the same
call: among the names that claims have bound, then among the integers of the frame, then among those of `self`. A
number that two names could mean stays a number, and so does 1, which means nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from site_builder.claims.axes import Axis
from site_builder.claims.frames import ENTRY, Event
from site_builder.claims.judging import Judgement
from site_builder.claims.model import ELLIPSIS, RETURN, VARIES, Claim, Shape
from site_builder.claims.solving import Solution, aligned
from site_builder.record.model import Record, Value


@dataclass(frozen=True)
class Size:
    """One axis in one call: its number, and what it is called there."""

    number: int
    label: str


@dataclass(frozen=True)
class Reading:
    """
    A shape in one call. `known` are the names that had a number there, `form` is the claim by which it was read,
    where that has a `...` or an `or`.
    """

    sizes: tuple[Size, ...]
    known: tuple[tuple[str, int], ...] = ()
    form: tuple[str, ...] = ()

    @staticmethod
    def of(value: Value) -> Reading:
        return Reading(tuple(Size(number, str(number)) for number in value.shape or ()))


@dataclass(frozen=True)
class Readings:
    """How each place (an argument, a result, a name that a statement writes) was read, value by value."""

    places: dict[Hashable, dict[Value, list[Reading]]] = field(default_factory=dict)

    def add(self, place: Hashable, value: Value, reading: Reading) -> None:
        self.places.setdefault(place, {}).setdefault(value, []).append(reading)

    def shape(self, place: Hashable, name: str, values: Iterable[Value], more: bool) -> Shape | None:
        known = self.places.get(place, {})
        # What only refused calls had, nobody needs to see, unless there is nothing else.
        shown = [value for value in values if value.shape is not None]
        shown = [value for value in shown if value in known] or shown
        if not shown:
            return None
        readings = [reading for value in shown for reading in known.get(value, [Reading.of(value)])]
        sizes = tuple(dict.fromkeys(value.shape for value in shown if value.shape is not None))
        return Shape(name, merged(readings), sizes, tuple(shown), more)


def shapes(
    record: Record, judgement: Judgement
) -> tuple[Mapping[int, tuple[Shape, ...]], Mapping[int, tuple[Shape, ...]], Mapping[int, Shape]]:
    """By statement, and the arguments and the result by function."""
    readings = Readings()
    for solutions in judgement.solutions.values():
        for solution in solutions:
            _read(readings, solution)
    statements: dict[int, tuple[Shape, ...]] = {}
    for one in record.statements:
        made = [
            readings.shape(("write", one.ordinal, write.name), write.name, write.values, write.more)
            for write in one.writes
        ]
        if any(made):
            statements[one.ordinal] = tuple(shape for shape in made if shape)
    arguments: dict[int, tuple[Shape, ...]] = {}
    results: dict[int, Shape] = {}
    for function in record.functions:
        given: dict[str, dict[Value, None]] = {}
        for call in function.calls:
            for argument in call.arguments:
                given.setdefault(argument.name, {})[argument.value] = None
        made = [
            readings.shape(("entry", function.ordinal, name), name, values, function.more)
            for name, values in given.items()
        ]
        if any(made):
            arguments[function.ordinal] = tuple(shape for shape in made if shape)
        ends = dict.fromkeys(call.result for call in function.calls if call.result is not None)
        if result := readings.shape(("result", function.ordinal), RETURN, ends, function.more):
            results[function.ordinal] = result
    return statements, arguments, results


def merged(readings: Iterable[Reading]) -> tuple[str, ...]:
    """
    One reading of several: a name counts where it has the right number in all of them.

    >>> model = Size(15, "d_model")
    >>> first = Reading((Size(2, "2"), model), (("seq_len", 2), ("batch_size", 2)))
    >>> second = Reading((Size(7, "seq_len"), model), (("seq_len", 7), ("batch_size", 2)))
    >>> merged([first, second])
    ('seq_len', 'd_model')
    >>> merged([first, Reading((model,))])
    ('...', 'd_model')
    """
    distinct = list(dict.fromkeys(readings))
    forms = {reading.form for reading in distinct}
    form = forms.pop() if len(forms) == 1 else ()
    rank = min(len(reading.sizes) for reading in distinct)
    if all(len(reading.sizes) == rank for reading in distinct):
        axes = tuple(_axis(distinct, place) for place in range(rank))
        return form if form and VARIES in axes else axes
    if form:
        return form
    common: tuple[str, ...] = ()
    for place in range(1, rank + 1):
        axis = _axis(distinct, -place)
        if axis == VARIES:
            break
        common = (axis, *common)
    return (ELLIPSIS, *common)


def _axis(readings: Sequence[Reading], place: int) -> str:
    sizes = [reading.sizes[place] for reading in readings]
    labels = dict.fromkeys(size.label for size in sizes)
    if len(labels) == 1:
        return sizes[0].label
    numbers = {size.number for size in sizes}
    one_number = len(numbers) == 1
    others = (name for reading in readings for name, _ in reading.known)
    for names in (labels, dict.fromkeys(others)):
        fitting = [name for name in names if _fits(name, readings, place, one_number)]
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            break
    return str(numbers.pop()) if one_number else VARIES


def _fits(name: str, readings: Sequence[Reading], place: int, one_number: bool) -> bool:
    """Whether an axis has this name: by its number in every call, or by being the same where the name is unknown."""
    if name.isdecimal():
        return False
    for reading in readings:
        size, known = reading.sizes[place], dict(reading.known)
        if size.label != name and not (known[name] == size.number if name in known else one_number):
            return False
    return True


def _read(readings: Readings, solution: Solution) -> None:
    frame = solution.frame
    teller = _Teller(solution)
    for argument in frame.arguments:
        place = ("entry", frame.function, argument.name)
        teller.tell(readings, place, argument.value, argument.name, ENTRY)
    for event in frame.events:
        place = ("write", event.ordinal, event.name)
        teller.tell(readings, place, event.value, event.name, event.time, event)
    if frame.result is not None:
        teller.tell(readings, ("result", frame.function), frame.result, RETURN, frame.end)


class _Teller:
    """Calls the axes of one frame by their names."""

    def __init__(self, solution: Solution) -> None:
        self.solution = solution
        self.claims: dict[tuple[str, int], list[tuple[Claim, tuple[Axis, ...]]]] = {}
        for number, item in enumerate(solution.items):
            if (chosen := solution.way.chosen.get(number)) is not None:
                name = item.event.name if item.event else chosen[0].name
                self.claims.setdefault((name, item.time), []).append(chosen)
        frame = solution.frame
        self.steady = {n: told[0].value for n, told in frame.numbers.items() if not frame.changes(n)}
        self.changing = [name for name in frame.numbers if frame.changes(name)]
        self.owner = {name: n for name, n in frame.owner.items() if name not in frame.numbers}

    def tell(
        self,
        readings: Readings,
        place: Hashable,
        value: Value,
        name: str,
        time: int,
        event: Event | None = None,
    ) -> None:
        shape = value.shape
        if shape is None:
            return
        claimed: dict[int, str] = {}
        form: tuple[str, ...] = ()
        for claim, axes in self.claims.get((name, time), ()):
            claimed |= {at: axis.text for axis, at, _ in aligned(axes, shape) or ()}
            form = tuple(axis.text for axis in claim.axes)
            if axes == claim.axes and ELLIPSIS not in form:
                form = ()
        bound, local = self.bound(event, time), self.local(event, time)
        tiers = (bound, local, self.owner)
        sizes = tuple(
            Size(number, claimed.get(at) or _called(number, tiers)) for at, number in enumerate(shape)
        )
        known = tuple(sorted((self.owner | local | bound).items()))
        readings.add(place, value, Reading(sizes, known, form))

    def local(self, event: Event | None, time: int) -> dict[str, int]:
        """The integers of the frame at that moment."""
        frame = self.solution.frame
        found = {name: frame.candidates(name, time, event) for name in self.changing}
        return self.steady | {name: numbers[0] for name, numbers in found.items() if len(numbers) == 1}

    def bound(self, event: Event | None, time: int) -> dict[str, int]:
        """The names that claims have bound, with their numbers at that moment."""
        solution = self.solution
        return {
            variable.name: number
            for variable, number in solution.way.numbers.items()
            if solution.names.variable(variable.name, event, time) == variable
        }


def _called(number: int, tiers: Iterable[Mapping[str, int]]) -> str:
    """By the first of the tiers that has a name for it, if that is the only one. 0 and 1 mean too little."""
    for tier in tiers if number > 1 else ():
        names = [name for name, other in tier.items() if other == number]
        if names:
            return names[0] if len(names) == 1 else str(number)
    return str(number)
