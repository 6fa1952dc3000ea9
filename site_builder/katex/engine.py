"""
---
title: KaTeX without a browser
summary: One JavaScript context in a thread of its own, with limits on time, memory and depth.
---
# KaTeX without a browser

KaTeX is a JavaScript library; QuickJS is a JavaScript engine small enough to live inside of Python. What it
asks for in return is care:

* A context belongs to one thread; two in it at once crash the process. So it has a thread of its own, and
  callers queue.
* Nested math needs a deep stack, more than some systems give a thread. Ours asks for enough of it.
* A fork would copy the context without its thread. So the thread ends before a fork, and starts again when
  needed, in parent and child alike.

Requests and answers are JSON, so that another engine can stand in.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from site_builder.cache import digest
from site_builder.resources import resource_root

if TYPE_CHECKING:
    from _quickjs import Context

CPU_SECONDS = 10
MEMORY = 256 << 20
JS_STACK = 4 << 20
THREAD_STACK = 16 << 20

SCRIPTS = ("engine.js", "elements.js", "markup.js", "marks.js")
"""What lies around KaTeX here, in the order in which it is loaded."""

_CONSOLE = "globalThis.console = {log() {}, info() {}, warn() {}, error() {}};"

_Job = tuple[str, str, "SimpleQueue[str | Exception]"]


class LimitError(Exception):
    """A call that took too much: `depth`, `time` or `memory`."""

    def __init__(self, what: str):
        super().__init__(what)
        self.what = what


@cache
def _scripts() -> tuple[str, ...]:
    """What a new context loads, in order."""
    return (
        _CONSOLE,
        (resource_root("static") / "vendor" / "katex" / "katex.min.js").read_text(encoding="utf-8"),
        *(Path(__file__).with_name(name).read_text(encoding="utf-8") for name in SCRIPTS),
    )


@cache
def fingerprint() -> bytes:
    """Differs wherever the scripts or the limits do: an answer is only as good as what it came from."""
    return digest(*_scripts(), f"{JS_STACK}")


class Engine:
    """Calls JavaScript functions by name, from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def call(self, function: str, request: Mapping[str, Any]) -> Any:
        """What the function of `engine.js` or `marks.js` answers; raises `LimitError` if it takes too much."""
        reply: SimpleQueue[str | Exception] = SimpleQueue()
        with self._lock:
            if self._thread is None:
                self._thread = self._started()
            self._jobs.put((function, json.dumps(request), reply))
        answer = reply.get()
        if isinstance(answer, Exception):
            raise answer
        return json.loads(answer)

    def _started(self) -> threading.Thread:
        thread = threading.Thread(target=self._work, name="katex", daemon=True)
        before = threading.stack_size(THREAD_STACK)
        try:
            thread.start()
        finally:
            threading.stack_size(before)
        return thread

    def _work(self) -> None:
        context: Context | None = None
        while job := self._jobs.get():
            function, request, reply = job
            try:
                context = context or _context()
                reply.put(context.get(function)(request))
            except Exception as error:
                # Whatever KaTeX was doing is unfinished: what it left behind is not worth guessing at.
                context = None
                # Its traceback holds on to the context, which must end in this thread.
                reply.put(_limit(error).with_traceback(None))

    def pause(self) -> None:
        """End the thread and let nobody start another until `resume`."""
        self._lock.acquire()
        if self._thread is not None:
            self._jobs.put(None)
            self._thread.join()
            self._thread = None

    def resume(self) -> None:
        self._lock.release()


def _context() -> Context:
    # Not the public module: it starts a thread pool of its own on import, which we would never use.
    from _quickjs import Context

    context = Context()
    context.set_max_stack_size(JS_STACK)
    context.set_memory_limit(MEMORY)
    for script in _scripts():
        context.eval(script)
    context.set_time_limit(CPU_SECONDS)
    return context


def _limit(error: Exception) -> Exception:
    from _quickjs import JSException, StackOverflow

    if isinstance(error, StackOverflow):
        return LimitError("depth")
    if isinstance(error, JSException) and "interrupted" in str(error):
        return LimitError("time")
    # With no memory left for an error, JavaScript throws nothing at all.
    if isinstance(error, JSException) and ("out of memory" in str(error) or str(error).strip() == "null"):
        return LimitError("memory")
    return error


ENGINE = Engine()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=ENGINE.pause, after_in_parent=ENGINE.resume, after_in_child=ENGINE.resume)
