"""
---
title: What recording costs
summary: The time that examples take, looked at and not.
---
# What recording costs

Only the benchmarks ask for this. Runs alternate, one without the tracer and one with it, so that a machine that
slows down slows both. Of several rounds the least counts: it is the one that was disturbed least.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from site_builder.model import Page
from site_builder.record.crew import run, task
from site_builder.record.keys import LOADED
from site_builder.record.limits import Limits


def timed(pages: Sequence[Page], limits: Limits, rounds: int) -> Iterator[tuple[Page, float, float]]:
    """
    For each page with examples the seconds of a processor that they take, without the tracer and with it: the
    least of so many rounds, taken in turns.
    """
    tasks = [
        task(page, limits, LOADED, traced=traced)
        for page in pages
        if any(">>>" in line for line in page.lines)
        for _ in range(rounds)
        for traced in (False, True)
    ]
    took: list[tuple[float, float]] = []
    plain = 0.0
    for done in run(tasks, 1):
        if done.place % 2 == 0:
            plain = done.seconds
            continue
        took.append((plain, done.seconds))
        if len(took) == rounds:
            yield tasks[done.place].page, min(one for one, _ in took), min(other for _, other in took)
            took = []
