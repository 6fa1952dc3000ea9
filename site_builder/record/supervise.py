"""
---
title: The process that watches
summary: Gives each page a process of its own, and sees to it that none of it is left.
---
# The process that watches

A page's examples may start processes, and those may leave their group and their parent. On Linux whoever loses
its parent comes to the nearest *subreaper* among its ancestors. That is what this process is, between the builder
and the examples: everything below it is the examples', and when they are through, it ends all of that.

It imports what is large and common, such as torch, once, and forks a copy of itself for each page. It must
therefore stay a process with a single thread.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from site_builder.record import arrays, modules, processes, values, worker

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_POLL_SECONDS = 0.05
_KILLING_SECONDS = 10
_LINUX = sys.platform.startswith("linux")


@dataclass(frozen=True)
class Outcome:
    """
    How a worker ended: `done`, `exit`, `signal`, `time`, `memory`. `left`: other processes were
    still there; `lines` are what the worker said.
    """

    end: str
    status: int
    left: bool
    lines: list[dict[str, Any]]


_OWN: list[int] = []
"""Descriptors that are ours alone: a fork that kept them open would keep the builder waiting."""


class OrphanedError(Exception):
    """The builder is gone."""


def main() -> None:
    """Reads one line of JSON, answers with one line for each page."""
    request = json.loads(sys.stdin.buffer.readline())
    answers = os.dup(1)
    _OWN.append(answers)
    os.dup2(os.open(os.devnull, os.O_RDWR), 1)
    if _LINUX:
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    arrays.enter()
    values.extend()
    # If its own death comes first, the builder does not wait: this is how it reaches the examples.
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        for index, (loads, fields) in enumerate(request):
            _load(loads)
            job = worker.Job(**fields)
            outcome = watch(job)
            answer: dict[str, Any] = {
                "index": index,
                "outcome": asdict(outcome),
                "flops": [],
                "counted": True,
            }
            if outcome.end == "done" and outcome.lines and outcome.lines[-1].get("count"):
                counted = watch(worker.Job(**{**fields, "counting": True, "traced": False}))
                found = [line["flops"] for line in counted.lines if "flops" in line]
                changed = any("changed" in line for line in counted.lines)
                answer["flops"] = found[-1] if found and not changed else []
                answer["counted"] = not changed and counted.end not in ("time", "memory", "signal")
            _write(answers, json.dumps(answer).encode() + b"\n")
    except (OrphanedError, BrokenPipeError):
        # Nobody else will.
        home = Path.cwd()
        if home.name.startswith("examples-"):
            end_all(0)
            shutil.rmtree(home, ignore_errors=True)
    finally:
        end_all(0)


def _load(names: Sequence[str]) -> None:
    """Import what the next page needs of what is large, for it and for all that follow."""
    if not _LINUX or all(name in sys.modules for name in names):
        return
    for name in names:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    with contextlib.suppress(Exception):
        modules.prepare()
    # What is here now stays: no collector need look at it in any of the forks.
    gc.freeze()


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _stop(*_: object) -> None:
    raise OrphanedError


def watch(job: worker.Job) -> Outcome:
    """Run one job in a process of its own, to its end or to that of its limits."""
    folder = tempfile.mkdtemp(prefix="examples-")
    home, answer = Path(folder, "home"), Path(folder, "answer")
    home.mkdir()
    process = 0
    try:
        process = _started(job, str(home), str(answer))
        end, status = _wait(process, job)
        left = end_all(process)
        lines = _lines(answer)
        if end == "done" and not (lines and ("record" in lines[-1] or job.counting)):
            end = "exit"
        return Outcome(end, status, left, lines)
    finally:
        end_all(process)
        shutil.rmtree(folder, ignore_errors=True)


def _lines(answer: Path) -> list[dict[str, Any]]:
    """What the worker said; its last line may be torn."""
    found = []
    with contextlib.suppress(OSError, ValueError):
        for line in answer.read_bytes().splitlines():
            found.append(json.loads(line))
    return found


def _started(job: worker.Job, home: str, answer: str) -> int:
    if not hasattr(os, "fork") or not _LINUX:
        command = [sys.executable, "-m", "site_builder.record.supervise", "--worker"]
        started = subprocess.Popen(command, start_new_session=True, stdin=subprocess.PIPE)
        assert started.stdin is not None
        with started.stdin as asked, contextlib.suppress(OSError):
            asked.write(json.dumps([asdict(job), home, answer]).encode())
        return started.pid
    process = os.fork()
    if process:
        return process
    try:
        for descriptor in _OWN:
            os.close(descriptor)
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.setsid()
        work(job, home, answer)
    finally:
        # Neither exit handlers nor threads of the author's are waited for.
        os._exit(1)


def work(job: worker.Job, home: str, answer: str) -> None:
    try:
        worker.run(job, home, answer)
    except BaseException as error:
        worker.Answer(answer).say(broken="".join(traceback.format_exception(error)))
        os._exit(1)
    os._exit(0)


def _wait(process: int, job: worker.Job) -> tuple[str, int]:
    deadline = time.monotonic() + job.seconds
    with _handle(process) as handle:
        while True:
            _pause(handle)
            found, status = os.waitpid(process, os.WNOHANG)
            if found:
                code = os.waitstatus_to_exitcode(status)
                return ("done" if code == 0 else "signal" if code < 0 else "exit"), abs(code)
            if time.monotonic() > deadline:
                return "time", 0
            if _memory() > job.megabytes << 20:
                return "memory", 0


@contextlib.contextmanager
def _handle(process: int) -> Iterator[int | None]:
    """Something to select on that is ready when the process has ended."""
    handle = None
    if hasattr(os, "pidfd_open"):
        with contextlib.suppress(OSError):
            handle = os.pidfd_open(process)
    try:
        yield handle
    finally:
        if handle is not None:
            os.close(handle)


def _pause(handle: int | None) -> None:
    """Waits a moment, or until the process ends; raises if the builder is gone."""
    if sys.platform == "win32":
        time.sleep(_POLL_SECONDS)
        return
    ready, _, _ = select.select([0, *([] if handle is None else [handle])], [], [], _POLL_SECONDS)
    if 0 in ready and not os.read(0, 1):
        raise OrphanedError


def _memory() -> int:
    """The bytes that the examples hold, without what a fork of us has from the beginning."""
    if not _LINUX:
        return 0
    own = processes.resident(os.getpid())
    return sum(max(processes.resident(one) - own, 0) for one in processes.descendants(os.getpid()))


def end_all(process: int) -> bool:
    """End everything below this process. Says whether anything but the worker itself was there."""
    if not _LINUX:
        if process and hasattr(os, "killpg"):
            with contextlib.suppress(OSError):
                os.killpg(process, signal.SIGKILL)
        return False
    left = False
    deadline = time.monotonic() + _KILLING_SECONDS
    while time.monotonic() < deadline:
        below = processes.below(os.getpid(), processes.parents())
        if not below:
            break
        # None may start others while we look for them.
        for sign in (signal.SIGSTOP, signal.SIGKILL):
            for one in below:
                if sign == signal.SIGSTOP:
                    left = left or (one != process and processes.is_authors(one))
                with contextlib.suppress(OSError):
                    os.kill(one, sign)
        _reap()
    _reap()
    return left


def _reap() -> None:
    with contextlib.suppress(OSError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    time.sleep(0.002)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        fields, home, answer = json.load(sys.stdin.buffer)
        arrays.enter()
        values.extend()
        work(worker.Job(**fields), home, answer)
    main()
