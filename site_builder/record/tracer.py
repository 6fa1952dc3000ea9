"""
---
title: The tracer
summary: Follows every statement of one file, and notes what it wrote.
---
# The tracer

`sys.settrace` says when a line begins. Which statement that is, the instruction's own position tells: so two
statements on one line are two, and one statement on five lines is one. When the next statement begins, the last
has ended, and what it wrote stands in the frame. The *names* come from the syntax tree. Comparing the variables
before and after would miss `s = s / d`, where only the numbers change.

All of this happens between any two lines of the author's code, so it is quick or it is not done: a value is told
by a number, the same for all values of which the same is told, and what has been seen often enough is only
counted.
"""

from __future__ import annotations

import dis
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from types import CodeType, FrameType
from typing import Any, NamedTuple

from site_builder.record.model import (
    MODULE,
    Call,
    Function,
    Named,
    Statement,
    Step,
    Walk,
    Write,
)
from site_builder.record.outline import Outline, Target
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
EXAMPLES_AT_MOST = 8

Tracing = Callable[[FrameType, str, Any], Any]
Constructed = Callable[[object, FrameType], None]

_ITERATION = frozenset(dis.opmap[name] for name in ("FOR_ITER", "SEND", "END_ASYNC_FOR") if name in dis.opmap)
_SUSPENSION = frozenset(dis.opmap[name] for name in ("YIELD_VALUE",) if name in dis.opmap)
_RETURN = frozenset(dis.opmap[name] for name in ("RETURN_VALUE", "RETURN_CONST") if name in dis.opmap)
_ABSENT = object()


class Code:
    """What is known of one code object of the page: which statement each of its instructions belongs to."""

    __slots__ = ("crowded", "firsts", "operations", "ordinal", "owned", "parameters", "places", "traced")

    def __init__(self, code: CodeType, ordinal: int, outline: Outline) -> None:
        self.ordinal = ordinal
        self.places: list[int] = []
        first: dict[int, int] = {}
        found: dict[tuple[int, int], int] = {}
        for index, (line, _, column, _) in enumerate(code.co_positions()):
            place = MODULE
            if line is not None and column is not None:
                known = found.get((line, column))
                if known is None:
                    known = outline.locate(line, column)
                    # What belongs to the definition itself, such as the beginning of its frame, is no statement of it.
                    if known != MODULE and outline.lines[known].scope != ordinal:
                        known = MODULE
                    found[line, column] = known
                place = known
            self.places.append(place)
            if place != MODULE:
                first.setdefault(place, index)
        self.firsts = frozenset(first.values())
        self.operations = code.co_code[::2]
        lines = [outline.lines[place].start[0] for place in first]
        # Where statements share a line, only single instructions tell when one ends.
        self.crowded = len(set(lines)) < len(lines)
        self.traced = bool(code.co_flags & 0x0002)
        parameters = code.co_argcount + code.co_kwonlyargcount
        parameters += bool(code.co_flags & 0x0004) + bool(code.co_flags & 0x0008)
        self.parameters = code.co_varnames[:parameters] if self.traced else ()
        self.owned = self.parameters[0] if self.parameters and outline.is_method(ordinal) else ""


_Shots = list[tuple[str, Shot]]


class _Walked(NamedTuple):
    """A walk that is still to be told."""

    arguments: _Shots
    steps: list[tuple[int, _Shots]]
    result: Shot
    example: int
    cut: bool


class _Calls:
    """The calls of one function, by what they looked like."""

    __slots__ = ("known", "more", "times", "walk", "walking")

    def __init__(self) -> None:
        self.times = 0
        self.known: dict[tuple[Any, ...], tuple[list[int], list[int]]] = {}
        self.more = False
        self.walk: _Walked | None = None
        self.walking = False


class Tracer:
    """Follows the code of `file`. `example` is whose turn it is; `constructed` is told of every `__init__`."""

    def __init__(self, outline: Outline, file: str, constructed: Constructed | None = None) -> None:
        self.outline = outline
        self.file = file
        self.values = Values()
        self.example = MODULE
        self.constructed = constructed
        self.runs = [0] * len(outline.lines)
        self.able: set[int] = set()
        self.targets: list[tuple[Target, ...]] = [line.targets for line in outline.lines]
        self.looked = [bool(line.targets) for line in outline.lines]
        """Whether what the statement writes is still looked at."""
        self.compound = [hasattr(line.node, "body") for line in outline.lines]
        self.writes: dict[tuple[int, int], dict[int, None]] = {}
        self.overflow: set[tuple[int, int]] = set()
        self.calls: dict[int, _Calls] = {}
        self._codes: dict[int, Code | str | None] = {}
        self._kept: list[CodeType] = []

    # ---- on and off

    def start(self) -> None:
        threading.settrace(self.trace)
        sys.settrace(self.trace)

    def stop(self) -> None:
        sys.settrace(None)
        threading.settrace(None)

    def survey(self, code: CodeType) -> None:
        """Find all statements that have instructions: only those can run."""
        waiting = [code]
        while waiting:
            code = waiting.pop()
            waiting.extend(constant for constant in code.co_consts if isinstance(constant, CodeType))
            ordinal = self._ordinal(code)
            if ordinal is not None:
                self.able.update(place for place in Code(code, ordinal, self.outline).places if place >= 0)

    # ---- what Python calls

    def trace(self, frame: FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        known = self._codes.get(id(code), _ABSENT)
        if known is _ABSENT:
            known = self._learn(code)
        if known is None:
            return None
        if isinstance(known, Code):
            # A generator that goes on has its follower already.
            return frame.f_trace or _Follower(self, known, frame).follow
        if self.constructed is not None:
            self.constructed(frame.f_locals.get(code.co_varnames[0]), frame)
        return None

    def _learn(self, code: CodeType) -> Code | str | None:
        known: Code | str | None = None
        if code.co_filename == self.file:
            ordinal = self._ordinal(code)
            known = None if ordinal is None else Code(code, ordinal, self.outline)
        elif code.co_name == "__init__" and code.co_argcount:
            known = "constructor"
        self._codes[id(code)] = known
        # While the code lives, no other has its identity.
        self._kept.append(code)
        return known

    def _ordinal(self, code: CodeType) -> int | None:
        if code.co_name == "<module>":
            return MODULE
        return self.outline.definitions.get((code.co_firstlineno, code.co_name))

    # ---- what was found

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
                more = (ordinal, number) in self.overflow or self.runs[ordinal] > LOOKS_AT_MOST
                told.append(Write(target.name, tuple(self.values.known[value] for value in seen), more))
        return tuple(told)

    def functions(self) -> tuple[Function, ...]:
        return tuple(
            Function(
                ordinal,
                self.outline.names[ordinal],
                calls.times,
                tuple(self._call(ordinal, look, seen) for look, seen in calls.known.items()),
                calls.more,
                self._walk(ordinal, calls.walk) if calls.walk else None,
            )
            for ordinal, calls in sorted(self.calls.items())
        )

    def _walk(self, ordinal: int, walked: _Walked) -> Walk:
        return Walk(
            ordinal,
            self._shown(walked.arguments),
            tuple(Step(place, self._shown(shots)) for place, shots in walked.steps),
            self.values.told(walked.result),
            walked.example,
            walked.cut,
        )

    def _shown(self, shots: _Shots) -> tuple[Named, ...]:
        return tuple(Named(name, self.values.told(shot)) for name, shot in shots)

    def _call(self, ordinal: int, look: tuple[Any, ...], seen: tuple[list[int], list[int]]) -> Call:
        arguments, result, raised, writes, owner = look
        times, examples = seen
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
        )

    def named(self, pairs: Sequence[tuple[str, int]]) -> tuple[Named, ...]:
        return tuple(Named(name, self.values.known[value]) for name, value in pairs)

    def arguments(self, frame: FrameType, names: Sequence[str], skipped: str) -> tuple[tuple[str, int], ...]:
        values = frame.f_locals
        return tuple(
            (name, self.values.number(values[name])) for name in names if name != skipped and name in values
        )


class _Follower:
    """Follows one frame."""

    __slots__ = (
        "argument_values",
        "arguments",
        "at",
        "call",
        "code",
        "counts",
        "cut",
        "failed",
        "follow",
        "owned",
        "raised",
        "seen",
        "steps",
        "tracer",
        "walked",
        "writes",
    )

    def __init__(self, tracer: Tracer, code: Code, frame: FrameType) -> None:
        self.tracer = tracer
        self.code = code
        self.follow: Tracing = self._follow
        self.at = MODULE
        self.failed = False
        self.raised = ""
        self.arguments: tuple[tuple[str, int], ...] = ()
        self.argument_values: _Shots = []
        self.seen: set[tuple[int, int, int]] = set()
        self.counts: dict[tuple[int, int], int] = {}
        self.writes: list[tuple[int, int, int]] = []
        self.steps: list[tuple[int, _Shots]] | None = None
        self.walked: list[tuple[int, _Shots]] | None = None
        self.cut = False
        self.call: _Calls | None = None
        self.owned: str = ""
        if code.crowded:
            frame.f_trace_opcodes = True
        if code.traced:
            calls = tracer.calls.get(code.ordinal)
            if calls is None:
                calls = tracer.calls[code.ordinal] = _Calls()
            calls.times += 1
            if calls.times <= LOOKS_AT_MOST:
                self._begin(frame, calls)

    def _begin(self, frame: FrameType, calls: _Calls) -> None:
        self.call = calls
        tracer, code = self.tracer, self.code
        values = frame.f_locals
        if code.owned:
            owner = values.get(code.owned)
            if isinstance(owner, type):
                # A class method, or `__new__`: the class says nothing that its name does not.
                self.owned = code.owned
            elif code.owned == "self":
                self.owned = code.owned
                if frame.f_code.co_name == "__init__" and tracer.constructed is not None:
                    tracer.constructed(owner, frame)
        self.arguments = tracer.arguments(frame, code.parameters, self.owned)
        if calls.walk is None and not calls.walking:
            calls.walking = True
            self.steps = []
            self.argument_values = [
                (name, tracer.values.copy(values[name]))
                for name in code.parameters
                if name != self.owned and name in values
            ]

    def _follow(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event in ("line", "opcode"):
            code = self.code
            index = frame.f_lasti >> 1
            to = code.places[index]
            at = self.at
            # Where instructions are told one by one, that a line begins is told twice.
            if to < 0 or (to == at and index not in code.firsts) or (code.crowded and event == "line"):
                return self.follow
            tracer = self.tracer
            if self.failed:
                self.failed = False
            elif at >= 0 and (self.steps is not None or tracer.looked[at]):
                self._leave(frame, at, to)
            self.at = to
            if at < 0 or not tracer.compound[to] or tracer.outline.part_of(at, to) is None:
                runs = tracer.runs[to] = tracer.runs[to] + 1
                if runs > LOOKS_AT_MOST:
                    tracer.looked[to] = False
        elif event == "return":
            operation = self.code.operations[frame.f_lasti >> 1]
            if operation in _SUSPENSION:
                return self.follow
            ended = operation in _RETURN
            if ended and self.at >= 0 and not self.failed:
                self._leave(frame, self.at, MODULE)
            if self.call is not None:
                self._end(frame, arg, "" if ended else self.raised)
            # It refers to itself no longer, so that it need not be found by the collector.
            self.follow = _followed
        elif event == "exception" and self.code.operations[frame.f_lasti >> 1] not in _ITERATION:
            self.failed = True
            self.raised = arg[0].__qualname__
        return self.follow

    def _leave(self, frame: FrameType, at: int, to: int) -> None:
        """The statement `at` has ended, and `to` is next: note what was written."""
        tracer = self.tracer
        steps = self.steps
        shots: _Shots = []
        targets = tracer.targets[at]
        if tracer.looked[at]:
            values: Mapping[str, Any] | None = None
            for number, target in enumerate(targets):
                if target.part is not None and tracer.outline.part_of(to, at) != target.part:
                    continue
                place = (at, number)
                if steps is None and place in tracer.overflow and self.counts.get(place, 0) >= ROUNDS_AT_MOST:
                    continue
                if values is None:
                    values = frame.f_locals
                path = target.path
                value = values.get(path[0], _ABSENT)
                if value is _ABSENT:
                    value = frame.f_globals.get(path[0], _ABSENT)
                for name in path[1:]:
                    try:
                        value = getattr(value, name, _ABSENT)
                    except Exception:
                        value = _ABSENT
                if value is _ABSENT:
                    continue
                if steps is None:
                    self._note(place, tracer.values.number(value))
                else:
                    shot = tracer.values.copy(value)
                    self._note(place, shot[0])
                    shots.append((target.name, shot))
        if steps is not None:
            steps.append((at, shots))
            if len(steps) == STEPS_AT_MOST:
                # Those that follow are looked at as in any other call.
                self.cut = True
                self.walked, self.steps = steps, None

    def _note(self, place: tuple[int, int], value: int) -> None:
        write = (*place, value)
        if write in self.seen:
            return
        self.seen.add(write)
        tracer = self.tracer
        known = tracer.writes.get(place)
        if known is None:
            known = tracer.writes[place] = {}
        if value not in known:
            if len(known) < VALUES_AT_MOST:
                known[value] = None
            else:
                tracer.overflow.add(place)
        if self.call is not None:
            count = self.counts.get(place, 0)
            if count < ROUNDS_AT_MOST and len(self.writes) < STEPS_AT_MOST:
                self.counts[place] = count + 1
                self.writes.append(write)

    def _end(self, frame: FrameType, result: Any, raised: str) -> None:
        tracer, call = self.tracer, self.call
        assert call is not None
        self.call = None
        told = None if raised or not self.code.traced else tracer.values.number(result)
        look = (self.arguments, told, raised, tuple(self.writes), self._owner(frame))
        key = tuple(look)
        seen = call.known.get(key)
        if seen is None:
            if len(call.known) >= CALLS_AT_MOST:
                call.more = True
            else:
                seen = call.known[key] = ([0], [])
        if seen is not None:
            seen[0][0] += 1
            if tracer.example not in seen[1] and len(seen[1]) < EXAMPLES_AT_MOST:
                seen[1].append(tracer.example)
        steps = self.walked if self.cut else self.steps
        if steps is not None:
            call.walking = False
            if not raised:
                call.walk = _Walked(
                    self.argument_values,
                    steps,
                    tracer.values.copy(result),
                    tracer.example,
                    self.cut,
                )

    def _owner(self, frame: FrameType) -> tuple[tuple[str, int], ...]:
        if self.owned != "self":
            return ()
        members = getattr(frame.f_locals.get("self"), "__dict__", None)
        if not isinstance(members, dict):
            return ()
        return tuple(
            (f"self.{name}", self.tracer.values.number(value))
            for name, value in sorted(members.items())
            if type(value) is int
        )


def _followed(frame: FrameType, event: str, arg: Any) -> None:
    """What follows a frame that has ended."""
