"""
---
title: The tracer
summary: Follows every statement of one file, and lets all others run.
---
# The tracer

`sys.settrace` says when a line begins. Which statement that is, the instruction's own position tells: so two
statements on one line are two, and one statement on five lines is one. The *names* that it writes come from the
syntax tree, their values from the [frame](follower.html). Comparing the variables before and after would miss
`s = s / d`, where only the numbers change.

Python asks about every call of every function, and most are not the page's: those must be known by a glance.
"""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from types import CodeType, FrameType
from typing import Any

from site_builder.record.codes import Code
from site_builder.record.follower import Shared, Tracing
from site_builder.record.model import MODULE
from site_builder.record.outline import Outline


class Tracer:
    """
    Follows the code of `file`. `shared.constructed` is told of every `__init__`; with `strangers` also of those in
    other files, which a class of the page may inherit.
    """

    def __init__(self, outline: Outline, file: str, strangers: bool = True) -> None:
        self.outline = outline
        self.file = file
        self.shared = Shared(outline)
        self.notes = self.shared.notes
        self.trace = self._glance(strangers)
        self._codes: dict[int, Code | None] = {}
        self._alike: dict[tuple[int, str, bytes, bytes], Code] = {}
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
                self.notes.able.update(place for place in self._code(code, ordinal).places if place >= 0)

    # ---- what Python calls

    def _glance(self, strangers: bool) -> Tracing:
        file = self.file
        constructor = "__init__" if strangers else ""

        def trace(frame: FrameType, event: str, arg: Any) -> Any:
            code = frame.f_code
            if code.co_filename != file:
                if code.co_name == constructor:
                    self._constructed(frame, code)
                return None
            return self._follower(frame, code)

        return trace

    def _follower(self, frame: FrameType, code: CodeType) -> Tracing | None:
        try:
            known = self._codes[id(code)]
        except KeyError:
            known = self._learn(code)
        if known is None:
            return None
        # A generator that goes on has its follower already.
        return frame.f_trace or self.shared.follow(known, frame)

    def _constructed(self, frame: FrameType, code: CodeType) -> None:
        constructed = self.shared.constructed
        if constructed is not None and code.co_argcount:
            with suppress(Exception):
                constructed(frame.f_locals.get(code.co_varnames[0]), frame)

    def _learn(self, code: CodeType) -> Code | None:
        ordinal = self._ordinal(code)
        known = None if ordinal is None else self._code(code, ordinal)
        self._codes[id(code)] = known
        # While the code lives, no other has its identity.
        self._kept.append(code)
        return known

    def _code(self, code: CodeType, ordinal: int) -> Code:
        """The same for code that was compiled from the same place once more."""
        look = (code.co_firstlineno, code.co_name, code.co_code, code.co_linetable)
        known = self._alike.get(look)
        if known is None:
            known = self._alike[look] = Code(code, ordinal, self.outline)
        return known

    def _ordinal(self, code: CodeType) -> int | None:
        if code.co_name == "<module>":
            return MODULE
        return self.outline.definitions.get((code.co_firstlineno, code.co_name))
