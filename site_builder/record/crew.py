"""
---
title: The processes that run pages
summary: Each has its share of the pages; what they answer becomes records.
---
# The processes that run pages

Every page is run in a process of its own, which a [process that watches](supervise.html) forks. Of those there are
as many as pages may run at once.
"""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from site_builder import parse
from site_builder.model import Page
from site_builder.record import sandbox
from site_builder.record.examples import unrun
from site_builder.record.limits import Limits
from site_builder.record.model import MODULE, Example, Fault, Record
from site_builder.record.outline import Outline
from site_builder.record.worker import LEFT, LEFT_HINT, Job, with_flops

PRELOADED = ("numpy.random", "torch")
"""Imported once for all pages that a process watches, if any of them imports it."""


@dataclass(frozen=True)
class Task:
    """A page to run, and how."""

    page: Page
    outline: Outline
    job: Job


def outline_of(page: Page) -> Outline:
    return Outline.of(parse.encode(page))


def task(page: Page, limits: Limits, *, traced: bool = True) -> Task:
    """The page and what may be spent on it."""
    file = Path(page.source.file).absolute()
    parts = page.source.module.split(".")
    inner = file.parent if page.source.is_package else file.with_suffix("")
    root = ""
    if list(inner.parts[-len(parts) :]) == parts:
        root = str(inner.parents[len(parts) - 1])
    job = Job(
        page.source.module,
        str(file),
        root,
        limits.seconds,
        limits.megabytes,
        limits.output,
        limits.flags,
        traced,
    )
    return Task(page, outline_of(page), job)


Done = tuple[int, Record, float]
"""The place of a task, its record, and how many seconds of a processor the examples took."""


def run(tasks: Sequence[Task], jobs: int) -> Iterator[Done]:
    """The records as they come. Whoever stops asking ends the processes too."""
    shares = [range(first, len(tasks), jobs) for first in range(min(jobs, len(tasks)))]
    answers: queue.SimpleQueue[Done | None] = queue.SimpleQueue()
    crew = [_Watched(tasks, share, answers) for share in shares]
    try:
        working = len(crew)
        while working:
            answer = answers.get()
            if answer is None:
                working -= 1
            else:
                yield answer
    finally:
        for member in crew:
            member.end()


class _Watched:
    """One process that watches, and the thread that listens to it."""

    def __init__(
        self, tasks: Sequence[Task], share: Sequence[int], answers: queue.SimpleQueue[Done | None]
    ) -> None:
        self.tasks = tasks
        self.share = share
        self.answers = answers
        self.home = tempfile.TemporaryDirectory(prefix="examples-", ignore_cleanup_errors=True)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "site_builder.record.supervise"],
            cwd=self.home.name,
            env=sandbox.environment(self.home.name),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.thread = threading.Thread(target=self._listen, daemon=True)
        self.thread.start()

    def end(self) -> None:
        """When its input closes, it knows that we are gone, and ends all that it has started."""
        assert self.process.stdin is not None
        with suppress(OSError):
            self.process.stdin.close()
        self.thread.join()
        self.process.wait()
        self.home.cleanup()

    def _listen(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        waiting = list(self.share)
        try:
            with suppress(OSError, ValueError):
                self.process.stdin.write(json.dumps(self._request()).encode() + b"\n")
                self.process.stdin.flush()
            with self.process.stdout, self.process.stderr:
                for line in self.process.stdout:
                    answer = json.loads(line)
                    place = self.share[answer["index"]]
                    waiting.remove(place)
                    took = sum(said.get("seconds", 0.0) for said in answer["outcome"]["lines"])
                    self.answers.put((place, composed(self.tasks[place], answer), took))
                said = self.process.stderr.read().decode("utf-8", "replace").strip()
            for place in waiting:
                reason = said.rpartition("\n")[2] or "its process ended"
                self.answers.put((place, _broken(self.tasks[place], reason), 0.0))
        finally:
            self.answers.put(None)

    def _request(self) -> dict[str, Any]:
        pages = [self.tasks[place].page for place in self.share]
        imports = [line for page in pages for line in page.lines if "import" in line]
        names = {name.partition(".")[0] for page in pages for name in page.imports}
        preload = [
            name
            for name in PRELOADED
            if (top := name.partition(".")[0]) in names or any(top in line for line in imports)
        ]
        return {"preload": preload, "jobs": [asdict(self.tasks[place].job) for place in self.share]}


def _broken(task: Task, reason: str) -> Record:
    return _failed(task, Fault("record-failed", f"the recorder failed: {reason}", lasting=False))


def composed(task: Task, answer: dict[str, Any]) -> Record:
    """The record that an answer stands for, be it whole or what is left of a broken one."""
    outcome = answer["outcome"]
    lines: list[dict[str, Any]] = outcome["lines"]
    whole = next((line["record"] for line in reversed(lines) if "record" in line), None)
    if outcome["end"] == "done" and whole is not None:
        record = with_flops(Record.from_bytes(whole.encode()), answer["flops"])
        if outcome["left"] and not any(fault.code == "example-process" for fault in record.faults):
            record = replace(
                record,
                faults=(*record.faults, Fault("example-process", LEFT.replace("this", "an"), LEFT_HINT)),
            )
        return record
    broken = next((line["broken"] for line in lines if "broken" in line), "")
    if broken:
        return _broken(task, broken.strip().rpartition("\n")[2])
    at = next((line["at"] for line in reversed(lines) if "at" in line), MODULE)
    told = [Example(**line["example"]) for line in lines if "example" in line]
    return _failed(task, _end(outcome, at, task.job), told)


def _end(outcome: dict[str, Any], at: int, job: Job) -> Fault:
    what = "importing this module" if at == MODULE else "this example"
    status = outcome["status"]
    kinds = {
        "time": (
            "example-time",
            f"{what} had not ended when the page's {job.seconds} seconds were over",
            "make it smaller",
            False,
        ),
        "memory": (
            "example-memory",
            f"{what} needs more memory than the {job.megabytes} MB that examples may have",
            "make it smaller",
            False,
        ),
        "signal": ("example-exit", f"{what} ended its process by signal {status}", "correct it", False),
        "exit": (
            "example-exit",
            f"{what} ended its process, with status {status}",
            "let examples end by themselves",
            True,
        ),
    }
    code, message, hint, lasting = kinds[outcome["end"]]
    return Fault(code, message, hint, example=None if at == MODULE else at, lasting=lasting)


def _failed(task: Task, fault: Fault, told: Sequence[Example] = ()) -> Record:
    """What is known of a page whose process did not come to its end."""
    known = {(example.owner, example.number): example for example in told}
    examples = [
        known.get((example.owner, example.number), example)
        for docstring in task.outline.docstrings
        for example in unrun(docstring)
    ]
    return Record(task.job.module, tuple(examples), faults=(fault,))
