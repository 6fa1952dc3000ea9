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
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any

from site_builder.model import Page
from site_builder.record import faults, sandbox
from site_builder.record.examples import unrun
from site_builder.record.limits import Limits
from site_builder.record.model import MODULE, Example, Fault, Record
from site_builder.record.outline import Outline, outline_of
from site_builder.record.sources import Read, import_root
from site_builder.record.worker import Job, with_flops


@dataclass(frozen=True)
class Task:
    """A page to run, and how. `loads` are those of `keys.LOADED` that it needs, imported before it has its process."""

    page: Page
    outline: Outline
    job: Job
    loads: tuple[str, ...] = ()


@dataclass(frozen=True)
class Done:
    """
    A task by its place, its record, and how many seconds of a processor the examples took. `lasting`: another run
    of the same state would give the same.
    """

    place: int
    record: Record
    seconds: float = 0.0
    lasting: bool = True


LISTENING = 0.05
"""Seconds after which it is asked again whether there is something better to do."""


def task(
    page: Page,
    limits: Limits,
    loads: tuple[str, ...] = (),
    read: Read | None = None,
    *,
    traced: bool = True,
) -> Task:
    """The page and what may be spent on it. Files that were `read` must not have changed."""
    file = Path(page.source.file).absolute()
    root = import_root(page.source._replace(file=str(file)))
    job = Job(
        page.source.module,
        str(file),
        root,
        limits.seconds,
        limits.megabytes,
        limits.output,
        limits.flags,
        read or {},
        traced,
    )
    return Task(page, outline_of(page), job, loads)


def run(tasks: Sequence[Task], jobs: int, interrupted: Callable[[], bool] | None = None) -> Iterator[Done]:
    """
    The records as they come. Whoever stops asking ends the processes too, and so does `interrupted` when it is true.
    """
    shares = [range(first, len(tasks), jobs) for first in range(min(jobs, len(tasks)))]
    answers: queue.SimpleQueue[Done | None] = queue.SimpleQueue()
    crew = [_Watched(tasks, share, answers) for share in shares]
    try:
        working = len(crew)
        while working:
            if interrupted and interrupted():
                return
            try:
                answer = answers.get(timeout=LISTENING if interrupted else None)
            except queue.Empty:
                continue
            if answer is None:
                working -= 1
            else:
                yield answer
    finally:
        for member in crew:
            member.end()


class _Watched:
    """A process that watches, the thread that listens to it, and the next such process if that one is lost."""

    def __init__(
        self, tasks: Sequence[Task], share: Sequence[int], answers: queue.SimpleQueue[Done | None]
    ) -> None:
        self.tasks = tasks
        # What needs little comes first, so that no page finds more loaded than it needs, whoever runs beside it.
        self.waiting = sorted(share, key=lambda place: len(tasks[place].loads))
        self.answers = answers
        self.home = tempfile.TemporaryDirectory(prefix="examples-", ignore_cleanup_errors=True)
        self.lock = threading.Lock()
        self.process: subprocess.Popen[bytes] | None = None
        self.ending = False
        self.thread = threading.Thread(target=self._listen, daemon=True)
        self.thread.start()

    def end(self) -> None:
        """When its input closes, it knows that we are gone, and ends all that it has started."""
        with self.lock:
            self.ending = True
            if self.process is not None:
                assert self.process.stdin is not None
                with suppress(OSError):
                    self.process.stdin.close()
        self.thread.join()
        self.home.cleanup()

    def _listen(self) -> None:
        try:
            while self.waiting and not self.ending:
                reason = self._hear()
                if self.waiting and not self.ending:
                    lost = self.waiting.pop(0)
                    record = _failed(self.tasks[lost], faults.recorder(reason))
                    self.answers.put(Done(lost, record, lasting=False))
        finally:
            self.answers.put(None)

    def _hear(self) -> str:
        """What one process answers, until it ends. Gives the last that it said."""
        with tempfile.TemporaryFile() as said:
            with self.lock:
                if self.ending:
                    return ""
                try:
                    process = self.process = self._start(said)
                except OSError as error:
                    return str(error)
            assert process.stdin is not None
            assert process.stdout is not None
            places = list(self.waiting)
            with process.stdout:
                with suppress(OSError, ValueError):
                    process.stdin.write(json.dumps(self._request(places)).encode() + b"\n")
                    process.stdin.flush()
                for line in process.stdout:
                    with suppress(ValueError):
                        answer = json.loads(line)
                        place = places[answer["index"]]
                        self.waiting.remove(place)
                        self.answers.put(_done(place, self.tasks[place], answer))
            with self.lock, suppress(OSError):
                process.stdin.close()
            process.wait()
            said.seek(0)
            told = said.read().decode("utf-8", "replace").strip()
        return told.rpartition("\n")[2] or "its process ended"

    def _start(self, said: IO[bytes]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "site_builder.record.supervise"],
            cwd=self.home.name,
            env=sandbox.environment(self.home.name),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
        )

    def _request(self, places: Sequence[int]) -> list[Any]:
        return [[self.tasks[place].loads, asdict(self.tasks[place].job)] for place in places]


def _done(place: int, task: Task, answer: dict[str, Any]) -> Done:
    seconds = sum(said.get("seconds", 0.0) for said in answer["outcome"]["lines"])
    record = composed(task, answer)
    lasting = answer["counted"] and all(fault.lasting for fault in record.faults)
    return Done(place, record, seconds, lasting)


def composed(task: Task, answer: dict[str, Any]) -> Record:
    """The record that an answer stands for, be it whole or what is left of a broken one."""
    outcome = answer["outcome"]
    lines: list[dict[str, Any]] = outcome["lines"]
    if (changed := _first(lines, "changed")) is not None:
        return _failed(task, faults.changed(changed, changed == task.job.module))
    whole = _first(reversed(lines), "record")
    if outcome["end"] == "done" and whole is not None:
        record = with_flops(Record.from_bytes(whole.encode()), answer["flops"])
        if outcome["left"] and not any(fault.code == "example-process" for fault in record.faults):
            record = replace(record, faults=(*record.faults, faults.process(None)))
        return record
    if broken := _first(lines, "broken"):
        return _failed(task, faults.recorder(broken.strip().rpartition("\n")[2]))
    at = _first(reversed(lines), "at")
    return _failed(task, _end(outcome, None if at == MODULE else at, task.job), lines)


def _first(lines: Iterable[dict[str, Any]], what: str) -> Any:
    return next((line[what] for line in lines if what in line), None)


def _end(outcome: dict[str, Any], example: int | None, job: Job) -> Fault:
    match outcome["end"]:
        case "time":
            return faults.time(example, job.seconds)
        case "memory":
            return faults.memory(example, job.megabytes, ends=True)
        case "signal":
            return faults.signal(example, outcome["status"])
    return faults.status(example, outcome["status"])


def _failed(task: Task, fault: Fault, lines: Sequence[dict[str, Any]] = ()) -> Record:
    """
    What is known of a page whose process did not come to its end: what came of the examples before, what was wrong
    with them, and how many are left. The process has counted only what it came to, the record has all.
    """
    every = [one for docstring in task.outline.docstrings for one in unrun(docstring)]
    places = {(one.owner, one.number): place for place, one in enumerate(every)}
    moved: dict[int | None, int] = {}
    first, owner = 0, MODULE
    known: list[Fault] = []
    for line in lines:
        if "first" in line:
            first, owner = line["first"], line["owner"]
        elif line.get("at", MODULE) != MODULE:
            moved[line["at"]] = places[owner, line["at"] - first]
        elif "example" in line:
            example = Example(**line["example"])
            every[places[example.owner, example.number]] = example
        elif "fault" in line:
            known.append(Fault(**line["fault"]))
    place = moved.get(fault.example)
    lost = 0
    if place is not None:
        # It ran, though nobody knows what came of it.
        every[place] = replace(every[place], ran=True, passed=False)
        lost = sum(not one.ran for one in every[place + 1 :])
    said = [replace(one, example=moved.get(one.example)) for one in (*known, faults.before(fault, lost))]
    return Record(task.job.module, tuple(every), faults=tuple(said))
