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
import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from site_builder.cache import close_all

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
    weight: Callable[[Task], int] = lambda _: 1,
) -> list[Result]:
    """
    `function(shared, task)` for every task, in order. Of several processes each takes the heaviest task that is left,
    so that none has a long one to finish alone.
    """
    if jobs < 2 or len(tasks) < FEW:
        results: list[Result] = []
        for task in tasks:
            results.append(function(shared, task))
            if progress:
                progress(len(results), len(tasks))
        return results
    # Imported late: who changes one page has nothing to share.
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    order = sorted(range(len(tasks)), key=lambda number: -weight(tasks[number]))
    # An ordinary one is done here: what it loads and compiles, the others have from the fork.
    first = order.pop(len(order) // 2)
    found = {first: function(shared, tasks[first])}
    method = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
    with ProcessPoolExecutor(
        jobs, multiprocessing.get_context(method), initializer=_adopt, initargs=(shared,)
    ) as pool:
        chunk = max(1, min(8, len(tasks) // (jobs * 16)))
        done = pool.map(_call, [(function, tasks[number]) for number in order], chunksize=chunk)
        for number, result in zip(order, done, strict=True):
            found[number] = result
            if progress:
                progress(len(found), len(tasks))
    return [found[number] for number in range(len(tasks))]


def _adopt(shared: Any) -> None:
    global _shared
    from multiprocessing.util import Finalize

    # What the parent has is not ours to collect.
    gc.freeze()
    # A worker ends without a word, and what it has used of the store is to be noted.
    Finalize(None, close_all, exitpriority=10)
    _shared = shared


def _call(job: tuple[Callable[[Any, Any], Any], Any]) -> Any:
    function, task = job
    return function(_shared, task)
