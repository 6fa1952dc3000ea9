"""
---
title: What was seen
summary: The notes of a run, by statement and by call, and the part of a record that they make.
---
# What was seen

Values are noted by their numbers. What has been seen often enough, in enough ways, is only counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from site_builder.record.model import MODULE, Call, Function, Named, Statement, Step, Walk, Write
from site_builder.record.outline import Outline
from site_builder.record.targets import Target
from site_builder.record.values import Shot, Values

VALUES_AT_MOST = 12
"""Distinct values of one name at one statement."""
CALLS_AT_MOST = 16
"""Ways in which one function is called."""
STEPS_AT_MOST = 200
"""Statements of a walk, and writes of a call."""
ROUNDS_AT_MOST = 4
"""Distinct values of one name at one statement within one call."""
LOOKS_AT_MOST = 5000
"""Runs of one statement, or calls of one function, after which only counting goes on."""
LOOKS_IF_VARIED = 64
"""The same where they differ in more ways than are told."""
ALIKE_AT_MOST = 16
"""After so many calls in a row of one example that looked like others before, only every eighth is looked at."""
EXAMPLES_AT_MOST = 8

Shots = list[tuple[str, Shot]]


class Walked(NamedTuple):
    """A walk that is still to be told."""

    arguments: Shots
    steps: list[tuple[int, Shots]]
    result: Shot
    example: int
    cut: bool


Look = tuple[
    tuple[tuple[str, int], ...],
    int | None,
    str,
    tuple[tuple[int, int, int], ...],
    tuple[tuple[str, int], ...],
    tuple[str, ...],
]
"""What a call looked like: arguments, result, exception, writes, whole numbers of its owner, names that lack some."""


class Calls:
    """The calls of one function, by what they looked like: how often, and in which examples."""

    __slots__ = ("alike", "example", "known", "last", "more", "times", "walk", "walking")

    def __init__(self) -> None:
        self.times = 0
        self.known: dict[Look, tuple[list[int], list[int]]] = {}
        self.more = False
        self.walk: Walked | None = None
        self.walking = False
        self.alike = 0
        self.example = MODULE
        self.last: list[int] | None = None

    def begin(self, example: int) -> bool:
        """One more call. Says whether it is looked at; else it counts as one like the last that was."""
        self.times += 1
        if example != self.example:
            self.example, self.alike = example, 0
        if self.looked and (self.alike < ALIKE_AT_MOST or self.times % 8 == 0):
            return True
        if self.looked and self.last is not None:
            self.last[0] += 1
        return False

    @property
    def looked(self) -> bool:
        """Whether one more call is still looked at."""
        return self.times <= (LOOKS_IF_VARIED if self.more else LOOKS_AT_MOST)

    def note(self, look: Look, example: int) -> None:
        seen = self.known.get(look)
        if seen is None:
            if len(self.known) >= CALLS_AT_MOST:
                self.more = True
                self.last = None
                return
            seen = self.known[look] = ([0], [])
            self.alike = 0
        else:
            self.alike += 1
        self.last = seen[0]
        seen[0][0] += 1
        if example not in seen[1] and len(seen[1]) < EXAMPLES_AT_MOST:
            seen[1].append(example)


class Notes:
    """All that is noted in one process. `looked`: whether what a statement writes is still looked at."""

    def __init__(self, outline: Outline) -> None:
        self.outline = outline
        self.values = Values()
        self.runs = [0] * len(outline.lines)
        self.able: set[int] = set()
        self.targets: list[tuple[Target, ...]] = [line.targets for line in outline.lines]
        self.looked = [bool(line.targets) for line in outline.lines]
        self.writes: dict[tuple[int, int], dict[int, None]] = {}
        self.overflow: set[tuple[int, int]] = set()
        self.calls: dict[int, Calls] = {}

    def ran(self, ordinal: int) -> None:
        runs = self.runs[ordinal] = self.runs[ordinal] + 1
        if runs % LOOKS_IF_VARIED == 0 and self.looked[ordinal]:
            full = runs >= LOOKS_AT_MOST or all(
                (ordinal, number) in self.overflow for number in range(len(self.targets[ordinal]))
            )
            if full:
                self.looked[ordinal] = False

    def wrote(self, place: tuple[int, int], value: int) -> None:
        known = self.writes.get(place)
        if known is None:
            known = self.writes[place] = {}
        if value not in known:
            if len(known) < VALUES_AT_MOST:
                known[value] = None
            else:
                self.overflow.add(place)

    # ---- as parts of a record; a thread that an example left may still be adding to it

    def statements(self) -> tuple[Statement, ...]:
        return tuple(
            Statement(ordinal, runs, self._writes(ordinal), self.outline.in_function(ordinal))
            for ordinal, runs in enumerate(self.runs)
            if ordinal in self.able
        )

    def _writes(self, ordinal: int) -> tuple[Write, ...]:
        told = []
        for number, target in enumerate(self.targets[ordinal]):
            seen = self.writes.get((ordinal, number))
            if seen:
                more = (ordinal, number) in self.overflow or not self.looked[ordinal]
                told.append(Write(target.name, tuple(self.values.known[value] for value in list(seen)), more))
        return tuple(told)

    def functions(self) -> tuple[Function, ...]:
        return tuple(
            Function(
                ordinal,
                self.outline.names[ordinal],
                calls.times,
                tuple(self._call(ordinal, look, *seen) for look, seen in list(calls.known.items())),
                calls.more or not calls.looked,
                self._walk(ordinal, calls.walk) if calls.walk else None,
            )
            for ordinal, calls in sorted(self.calls.items())
        )

    def _walk(self, ordinal: int, walked: Walked) -> Walk:
        return Walk(
            ordinal,
            self._shown(walked.arguments),
            tuple(Step(place, self._shown(shots)) for place, shots in walked.steps),
            self.values.told(walked.result),
            walked.example,
            walked.cut,
        )

    def _shown(self, shots: Shots) -> tuple[Named, ...]:
        return tuple(Named(name, self.values.told(shot)) for name, shot in shots)

    def _call(self, ordinal: int, look: Look, times: list[int], examples: list[int]) -> Call:
        arguments, result, raised, writes, owner, lacking = look
        return Call(
            ordinal,
            self.named(arguments),
            None if result is None else self.values.known[result],
            raised,
            tuple(
                Step(place, (Named(self.targets[place][number].name, self.values.known[value]),))
                for place, number, value in writes
            ),
            self.named(owner),
            tuple(examples),
            times[0],
            lacking,
        )

    def named(self, pairs: Sequence[tuple[str, Any]]) -> tuple[Named, ...]:
        return tuple(Named(name, self.values.known[value]) for name, value in pairs)
