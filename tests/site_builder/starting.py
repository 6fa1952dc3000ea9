"""
The command in a process of its own, without the time that a new one takes to import everything.

Python needs 0.4 s to import the builder, and the builder 0.1 s to make a tiny site. So a process that has imported it
is forked for each command. The fork runs `python -m site_builder` from its first line to its last, with its own
arguments, folder, environment and output; nothing that one command has done is there for the next. Only the seed of
hashes, and what Python itself reads from the environment when it starts, stay as they were.

As a program, this is the process that is forked: a line of JSON for each command comes in, its exit status goes out.
"""

from __future__ import annotations

import atexit
import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
from functools import cache
from importlib import import_module
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
TIMEOUT = 300


def environment(more: dict[str, str] | None = None) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(REPOSITORY), **(more or {})}


def site_builder(
    *arguments: str, cwd: Path, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """`python -m site_builder` as a user runs it; from the very start where a variable could matter to Python."""
    if env is None and hasattr(os, "fork"):
        return _forked(arguments, cwd)
    return subprocess.run(
        [sys.executable, "-m", "site_builder", *arguments],
        cwd=cwd,
        env=environment(env),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=TIMEOUT,
        check=False,
    )


def _forked(arguments: tuple[str, ...], cwd: Path) -> subprocess.CompletedProcess[str]:
    process = _importer(os.getpid())
    assert process.stdin
    assert process.stdout
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        request = json.dumps([arguments, str(cwd), environment(), str(out), str(err)])
        print(request, file=process.stdin, flush=True)
        status = int(process.stdout.readline())
        return subprocess.CompletedProcess(arguments, status, out.read_text("utf-8"), err.read_text("utf-8"))


@cache
def _importer(_: int) -> subprocess.Popen[str]:
    """The process that is forked. It ends when the one that asks does, and so closes the pipe."""
    process = subprocess.Popen(
        [sys.executable, __file__],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    atexit.register(process.communicate)
    return process


def serve() -> None:
    for name in import_module("site_builder.cli").NAMES:
        import_module(f"site_builder.cli.{name}")
    import_module("site_builder.site.line")  # which a build imports only where it has something to do
    while line := sys.stdin.readline():
        if child := os.fork():
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        else:
            become(*json.loads(line))
            runpy.run_module("site_builder", run_name="__main__", alter_sys=True)
            return


def become(arguments: list[str], cwd: str, variables: dict[str, str], out: str, err: str) -> None:
    """All that tells one new process from another."""
    signal.alarm(TIMEOUT)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(variables)
    sys.path[0] = cwd
    sys.argv[1:] = arguments
    for stream, file, way in ((0, os.devnull, os.O_RDONLY), (1, out, os.O_WRONLY), (2, err, os.O_WRONLY)):
        os.dup2(os.open(file, way | os.O_CREAT), stream)


if __name__ == "__main__":
    serve()
