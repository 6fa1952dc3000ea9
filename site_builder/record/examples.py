"""
---
title: Running examples
summary: Prompt after prompt, as doctest does, with what really came out.
---
# Running examples

The loop is doctest's own but for two things: what really came out is kept, and the tracer is on only while an
example runs. Output is compared by doctest's checker under the configured options, so that a build and `pytest
--doctest-modules` agree.
"""

from __future__ import annotations
import __future__

import contextlib
import doctest
import io
import linecache
import sys
import traceback
from collections.abc import Callable
from types import ModuleType, TracebackType
from typing import Any

from site_builder.record import faults
from site_builder.record.model import MODULE, Example, Fault
from site_builder.record.neutral import neutral
from site_builder.record.outline import Docstring, Outline

ERROR_AT_MOST = 2000


class Capture(io.StringIO):
    """What is printed, up to a limit; what comes after it is dropped."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.left = limit
        self.cut = False

    def write(self, text: str) -> int:
        if len(text) > self.left:
            self.cut = True
        if self.left:
            super().write(text[: self.left])
            self.left -= min(self.left, len(text))
        return len(text)


class Runner:
    """
    Runs the examples of a module. `start` and `stop` are called around each, the tracer is on only in between; `tell`
    is told each fault as soon as it is known, `attempts` gathers what the sandbox forbade.
    """

    def __init__(
        self,
        module: ModuleType,
        outline: Outline,
        file: str,
        *,
        options: int,
        output: int,
        megabytes: int,
        seed: Callable[[], None],
        start: Callable[[], None],
        stop: Callable[[], None],
        attempts: list[str],
        tell: Callable[[Fault], None],
    ) -> None:
        self.module = module
        self.outline = outline
        self.file = file
        self.options = options
        self.output = output
        self.megabytes = megabytes
        self.seed = seed
        self.start = start
        self.stop = stop
        self.attempts = attempts
        self.checker = doctest.OutputChecker()
        self.tell = tell

    def run(self, docstring: Docstring, first: int, each: Callable[[int, Example | None], None]) -> None:
        """Tells `each` of an example before, with `None`, and after. `first` is the index of the first."""
        self.seed()
        names = {**vars(self.module)}
        names.setdefault("__name__", "__main__")
        flags = _future(names)
        broken = False
        for number, example in enumerate(docstring.examples):
            options = self._options(example)
            if options & doctest.SKIP:
                each(first + number, None)
                each(first + number, _told(docstring, number, example, passed=True, ran=False))
                continue
            each(first + number, None)
            self.attempts.clear()
            got, cut, error = self._execute(docstring, number, example, names, flags)
            message = "" if error is None else traceback.format_exception_only(error)[-1]
            passed = not cut and self._passes(example, got, error, message, options)
            fault = self._fault(first + number, example, got, cut, error, message, passed)
            # After the first accident, names that are missing are no news.
            if fault and not (broken and isinstance(error, NameError)):
                self.tell(fault)
            broken = broken or (error is not None and not passed)
            told = _told(
                docstring,
                number,
                example,
                passed=passed and not fault,
                output=neutral(got),
                error=neutral(message.strip())[:ERROR_AT_MOST],
                cut=cut,
                raised_at=None if error is None else raised_at(error.__traceback__, self.outline, self.file),
            )
            # The frames of a traceback hold on to everything in them.
            del error
            each(first + number, told)

    def _options(self, example: doctest.Example) -> int:
        options = self.options
        for flag, wanted in example.options.items():
            options = options | flag if wanted else options & ~flag
        return options

    def _execute(
        self, docstring: Docstring, number: int, example: doctest.Example, names: dict[str, Any], flags: int
    ) -> tuple[str, bool, BaseException | None]:
        name = f"<doctest {self.module.__name__}{docstring.scope and '.'}{docstring.scope}[{number}]>"
        lines = example.source.splitlines(keepends=True)
        # Whoever asks for an example's source, as `inspect` does, finds it here.
        linecache.cache[name] = (len(example.source), None, lines, name)
        capture = Capture(self.output)
        error: BaseException | None = None
        before = sys.displayhook
        sys.displayhook = sys.__displayhook__
        with contextlib.redirect_stdout(capture):
            try:
                code = compile(example.source, name, "single", flags, True)
                try:
                    self.start()
                    exec(code, names)
                finally:
                    self.stop()
            except BaseException as caught:
                error = caught
        sys.displayhook = before
        return capture.getvalue(), capture.cut, error

    def _passes(
        self, example: doctest.Example, got: str, error: BaseException | None, message: str, options: int
    ) -> bool:
        if error is None:
            return self.checker.check_output(example.want, got, options)
        if example.exc_msg is None:
            return False
        if self.checker.check_output(example.exc_msg, message, options):
            return True
        return bool(options & doctest.IGNORE_EXCEPTION_DETAIL) and self.checker.check_output(
            _kind(example.exc_msg), _kind(message), options
        )

    def _fault(
        self,
        index: int,
        example: doctest.Example,
        got: str,
        cut: bool,
        error: BaseException | None,
        message: str,
        passed: bool,
    ) -> Fault | None:
        if self.attempts:
            return faults.network(index, self.attempts[0])
        if cut:
            return faults.output(index, self.output)
        if passed:
            return None
        if error is None:
            return faults.differs(index, neutral(got), example.want)
        if isinstance(error, MemoryError) or "can't allocate memory" in message:
            return faults.memory(index, self.megabytes)
        return faults.raised(index, message, example.exc_msg or "")


def unrun(docstring: Docstring) -> list[Example]:
    """The examples of a docstring to which it did not come."""
    return [
        _told(docstring, number, example, passed=False, ran=False)
        for number, example in enumerate(docstring.examples)
    ]


def raised_at(trace: TracebackType | None, outline: Outline, file: str) -> int | None:
    """The statement of the page that raised: the innermost of its frames."""
    found = None
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == file:
            places = list(code.co_positions())
            line, _, column, _ = places[trace.tb_lasti >> 1]
            if line is not None:
                ordinal = outline.locate(line, column or 0)
                found = ordinal if ordinal != MODULE else found
        trace = trace.tb_next
    return found


def _told(
    docstring: Docstring,
    number: int,
    example: doctest.Example,
    *,
    passed: bool,
    ran: bool = True,
    output: str = "",
    error: str = "",
    cut: bool = False,
    raised_at: int | None = None,
) -> Example:
    return Example(
        docstring.owner,
        number,
        example.source,
        example.want,
        output,
        error,
        passed,
        ran,
        cut,
        raised_at,
    )


def _future(names: dict[str, Any]) -> int:
    """The `__future__` of the module holds for its examples too."""
    flags = 0
    for name in __future__.all_feature_names:
        feature = getattr(__future__, name)
        if names.get(name) is feature:
            flags |= int(getattr(feature, "compiler_flag", 0))
    return flags


def _kind(message: str) -> str:
    """`ValueError` of `some.module.ValueError: what it is about`."""
    return message.partition("\n")[0].partition(":")[0].strip().rpartition(".")[2]
