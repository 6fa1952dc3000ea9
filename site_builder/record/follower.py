"""
---
title: Following one frame
summary: From statement to statement of one call, noting what each wrote when the next begins.
---
# Following one frame

When a statement begins, the one before it has ended, and what it wrote stands in the frame. A statement that
raised wrote nothing.

Python calls this between any two lines of the author's code, so it is quick or it is not done. And it must never
raise: the author's code would be blamed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import FrameType
from typing import Any

from site_builder.record.codes import ITERATION, RETURN, SUSPENSION, Code
from site_builder.record.model import MODULE
from site_builder.record.notes import ROUNDS_AT_MOST, STEPS_AT_MOST, Calls, Notes, Shots, Walked
from site_builder.record.objects import ABSENT, attributes, member
from site_builder.record.outline import Outline
from site_builder.record.targets import Target

Tracing = Callable[[FrameType, str, Any], Any]
Constructed = Callable[[object, FrameType], None]


class Shared:
    """What all followers of one run have in common. `example` is whose turn it is."""

    def __init__(self, outline: Outline) -> None:
        self.outline = outline
        self.notes = Notes(outline)
        self.example = MODULE
        self.constructed: Constructed | None = None
        self.compound = [hasattr(line.node, "body") for line in outline.lines]
        self.loops = [isinstance(line.node, ast.While) for line in outline.lines]
        self.deletes = [isinstance(line.node, ast.Delete) for line in outline.lines]
        self.cautious = [any(target.maybe for target in line.targets) for line in outline.lines]

    def follow(self, code: Code, frame: FrameType) -> Tracing:
        """What follows a frame that begins."""
        if code.crowded:
            frame.f_trace_opcodes = True
        if not code.traced:
            return Follower(self, code).follow
        calls = self.notes.calls.get(code.ordinal)
        if calls is None:
            calls = self.notes.calls[code.ordinal] = Calls()
        if not calls.begin(self.example):
            return Counting(self, code).follow
        follower = Follower(self, code)
        # What cannot be looked at is no call that anything is told of.
        with suppress(Exception):
            follower.begin(frame, calls)
        return follower.follow

    def begins(self, code: Code, index: int, at: int, to: int) -> bool:
        """Whether a compound statement that is come to runs once more, or only goes on after one of those in it."""
        # A `while True` has no test that would be come to again.
        if index in code.firsts and not self.loops[to]:
            return True
        return self.outline.part_of(at, to) is None


class Counting:
    """Follows a frame that is not looked at: its statements are counted."""

    __slots__ = ("at", "code", "follow", "shared")

    def __init__(self, shared: Shared, code: Code) -> None:
        self.shared = shared
        self.code = code
        self.at = MODULE
        self.follow: Tracing = self._follow

    def _follow(self, frame: FrameType, event: str, arg: Any) -> Any:
        follow = self.follow
        try:
            code = self.code
            index = frame.f_lasti >> 1
            if event == "return":
                if code.operations[index] not in SUSPENSION:
                    self.follow = _followed
            elif event == ("opcode" if code.crowded else "line"):
                at, to = self.at, code.places[index]
                if to >= 0 and (to != at or index in code.firsts):
                    self.at = to
                    shared = self.shared
                    if at < 0 or not shared.compound[to] or shared.begins(code, index, at, to):
                        shared.notes.ran(to)
        except Exception:
            return follow
        return follow


class Follower:
    """Follows one frame."""

    __slots__ = (
        "argument_values",
        "arguments",
        "at",
        "before",
        "call",
        "code",
        "counts",
        "cut",
        "failed",
        "follow",
        "lacking",
        "notes",
        "owned",
        "raised",
        "seen",
        "shared",
        "steps",
        "walked",
        "writes",
    )

    seen: set[tuple[int, int, int]]
    counts: dict[tuple[int, int], int]
    writes: list[tuple[int, int, int]]
    lacking: set[tuple[int, int]]
    arguments: tuple[tuple[str, int], ...]
    argument_values: Shots
    before: dict[str, Any]
    walked: list[tuple[int, Shots]] | None
    owned: str

    def __init__(self, shared: Shared, code: Code) -> None:
        self.shared = shared
        self.notes = shared.notes
        self.code = code
        self.follow: Tracing = self._follow
        self.at = MODULE
        self.failed = False
        self.raised = ""
        self.steps: list[tuple[int, Shots]] | None = None
        self.cut = False
        self.call: Calls | None = None

    def begin(self, frame: FrameType, calls: Calls) -> None:
        """A call, whose arguments have their values."""
        shared, code, values = self.shared, self.code, self.notes.values
        names = frame.f_locals
        self.owned = ""
        if code.owned:
            owner = names.get(code.owned)
            # Of a class method, or of `__new__`: the class says nothing that its name does not.
            if code.owned == "self" or issubclass(type(owner), type):
                self.owned = code.owned
            if code.initial and shared.constructed is not None:
                shared.constructed(owner, frame)
        told = [name for name in code.parameters if name != self.owned and name in names]
        self.arguments = tuple((name, values.number(names[name])) for name in told)
        self.seen, self.counts, self.writes, self.lacking = set(), {}, [], set()
        if calls.walk is None and not calls.walking:
            self.argument_values = [(name, values.copy(names[name])) for name in told]
            calls.walking = True
            self.steps = []
        # Only now: of a call that could not be looked at, nothing is told.
        self.call = calls

    def _follow(self, frame: FrameType, event: str, arg: Any) -> Any:
        at = self.at
        try:
            if event == "line" or event == "opcode":
                self._come(frame, event)
            elif event == "return":
                self._return(frame, arg)
            elif event == "exception" and self.code.operations[frame.f_lasti >> 1] not in ITERATION:
                self.failed = True
                self.raised = arg[0].__qualname__
        except Exception:
            # An object that nobody foresaw, or no room left on the stack.
            self._lost(at)
            return self.follow
        return self.follow

    def _come(self, frame: FrameType, event: str) -> None:
        code = self.code
        index = frame.f_lasti >> 1
        to = code.places[index]
        at = self.at
        # Where instructions are told one by one, that a line begins is told twice.
        if to < 0 or (to == at and index not in code.firsts) or (code.crowded and event == "line"):
            return
        shared, notes = self.shared, self.notes
        # Before anything that might go wrong.
        self.at = to
        if at < 0 or not shared.compound[to] or shared.begins(code, index, at, to):
            notes.ran(to)
        if self.failed:
            self.failed = False
        elif at >= 0:
            if self.steps is not None or notes.looked[at]:
                self._leave(frame, at, to)
            elif notes.targets[at]:
                self._lost(at)
        if at >= 0 and shared.deletes[at]:
            # What was seen of the frame is kept with it. Looked at again, it lets go of what is deleted.
            _ = frame.f_locals
        if shared.cautious[to]:
            names = frame.f_locals
            self.before = {target.path[0]: names.get(target.path[0], ABSENT) for target in notes.targets[to]}

    def _return(self, frame: FrameType, result: Any) -> None:
        operation = self.code.operations[frame.f_lasti >> 1]
        if operation in SUSPENSION:
            return
        # It refers to itself no longer, so that it need not be found by the collector.
        self.follow = _followed
        at = self.at
        if at >= 0 and not self.failed:
            if self.steps is not None or self.notes.looked[at]:
                self._leave(frame, at, MODULE)
            elif self.notes.targets[at]:
                self._lost(at)
        if self.call is not None:
            self._end(frame, self.call, result, "" if operation in RETURN else self.raised)

    def _leave(self, frame: FrameType, at: int, to: int) -> None:
        """The statement `at` has ended, and `to` is next: note what was written."""
        notes, steps = self.notes, self.steps
        shots: Shots = []
        if notes.looked[at]:
            names = frame.f_locals
            for number, target in enumerate(notes.targets[at]):
                if target.part is not None and self.shared.outline.part_of(to, at) != target.part:
                    continue
                place = (at, number)
                if steps is None and place in notes.overflow and self._enough(place):
                    if self.call is not None:
                        self.lacking.add(place)
                    continue
                value = self._value(frame, names, target)
                if value is ABSENT:
                    continue
                if steps is None:
                    self._note(place, notes.values.number(value))
                else:
                    shot = notes.values.copy(value)
                    self._note(place, shot[0])
                    shots.append((target.name, shot))
        if steps is not None:
            steps.append((at, shots))
            if len(steps) == STEPS_AT_MOST:
                # Those that follow are looked at as in any other call.
                self.cut = True
                self.walked, self.steps = steps, None

    def _enough(self, place: tuple[int, int]) -> bool:
        return self.call is None or self.counts.get(place, 0) >= ROUNDS_AT_MOST

    def _value(self, frame: FrameType, names: Mapping[str, Any], target: Target) -> Any:
        path = target.path
        name = path[0]
        value = names.get(name, ABSENT)
        if value is ABSENT and name not in self.code.local:
            value = frame.f_globals.get(name, ABSENT)
        if target.maybe and value is self.before.get(name, ABSENT):
            # It was not come to.
            return ABSENT
        for name in path[1:]:
            if value is ABSENT:
                break
            value = member(value, name)
        return value

    def _note(self, place: tuple[int, int], value: int) -> None:
        if self.call is None:
            self.notes.wrote(place, value)
            return
        write = (*place, value)
        if write in self.seen:
            return
        self.seen.add(write)
        self.notes.wrote(place, value)
        count = self.counts.get(place, 0)
        if count < ROUNDS_AT_MOST and len(self.writes) < STEPS_AT_MOST:
            self.counts[place] = count + 1
            self.writes.append(write)
        else:
            self.lacking.add(place)

    def _lost(self, at: int) -> None:
        """What this statement gave to names in this call is not looked at."""
        if self.call is not None and at >= 0:
            self.lacking.update((at, number) for number in range(len(self.notes.targets[at])))

    def _end(self, frame: FrameType, call: Calls, result: Any, raised: str) -> None:
        values = self.notes.values
        self.call = None
        told = None if raised else values.number(result)
        lacking: tuple[str, ...] = ()
        if self.lacking:
            targets = self.notes.targets
            lacking = tuple(sorted({targets[at][number].name for at, number in self.lacking}))
        look = self.arguments, told, raised, tuple(self.writes), self._owner(frame), lacking
        call.note(look, self.shared.example)
        steps = self.walked if self.cut else self.steps
        if steps is not None:
            call.walking = False
            if not raised:
                shot = values.copy(result)
                call.walk = Walked(self.argument_values, steps, shot, self.shared.example, self.cut)

    def _owner(self, frame: FrameType) -> tuple[tuple[str, int], ...]:
        if self.owned != "self":
            return ()
        numbers = [
            (f"self.{name}", value)
            for name, value in attributes(frame.f_locals.get("self")).items()
            if type(value) is int
        ]
        numbers.sort()
        return tuple((name, self.notes.values.number(value)) for name, value in numbers)


def _followed(frame: FrameType, event: str, arg: Any) -> None:
    """What follows a frame that has ended."""
