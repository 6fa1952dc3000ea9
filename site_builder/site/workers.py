"""
---
title: Workers
summary: The same function over many pages, in one process or several, with equal results.
---
# Workers

Results come back in the order of the tasks, whoever did them. What all tasks share is handed to each process once, and
a forked process has it already.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")

FEW = 8
"""Below this many tasks a second process costs more than it saves."""

_shared: Any = None


def default_jobs() -> int:
    """As many processes as there are processors for us."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def spread(
    function: Callable[[Any, Task], Result],
    tasks: Sequence[Task],
    shared: Any,
    jobs: int,
    progress: Callable[[int, int], None] | None = None,
) -> list[Result]:
    """`function(shared, task)` for every task, in order."""
    results: list[Result] = []
    if jobs < 2 or len(tasks) < FEW:
        for task in tasks:
            results.append(function(shared, task))
            if progress:
                progress(len(results), len(tasks))
        return results
    method = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
    with ProcessPoolExecutor(
        jobs, multiprocessing.get_context(method), initializer=_adopt, initargs=(shared,)
    ) as pool:
        chunk = max(1, min(16, len(tasks) // (jobs * 4)))
        for result in pool.map(_call, [(function, task) for task in tasks], chunksize=chunk):
            results.append(result)
            if progress:
                progress(len(results), len(tasks))
    return results


def _adopt(shared: Any) -> None:
    global _shared
    # What the parent has is not ours to collect, and pages are trees that end by themselves.
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    _shared = shared


def _call(job: tuple[Callable[[Any, Any], Any], Any]) -> Any:
    function, task = job
    return function(_shared, task)
