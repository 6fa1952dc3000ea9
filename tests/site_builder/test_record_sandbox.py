"""What examples may not do, and that nothing of it is left."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from site_builder.record import Limits, Recorded
from tests.site_builder.recording import record, write

LIMITS = Limits(seconds=60, megabytes=300)
SHORT = Limits(seconds=2, megabytes=300)

PAGES = {
    "forever": (">>> 1\n1\n>>> while True: pass\n>>> 2\n2", 2, "example-time this example had not ended"),
    "eater": (
        ">>> x = []\n>>> while True: x.append(bytes(10**7))",
        2,
        "example-memory this example needs more memory than the 300 MB",
    ),
    "eaters": (
        ">>> import subprocess, sys\n>>> code = \"x = b'x' * 2 * 10**8; import time; time.sleep(9)\"\n"
        ">>> eaters = [subprocess.Popen([sys.executable, '-c', code]) for _ in range(3)]\n"
        ">>> _ = [eater.wait() for eater in eaters]",
        4,
        "example-memory this example needs more memory than the 300 MB",
    ),
    "socket": (
        '>>> import socket\n>>> s = socket.create_connection(("example.com", 80))\n>>> s.close()',
        2,
        "example-network examples run without a network, and this one looks up example.com",
    ),
    "server": (
        '>>> import socket\n>>> s = socket.socket()\n>>> s.bind(("127.0.0.1", 0))',
        3,
        "example-network examples run without a network, and this one listens on 127.0.0.1:0",
    ),
    "quiet": (
        '>>> import urllib.request\n>>> try: urllib.request.urlopen("http://1.2.3.4")\n... except OSError: pass',
        2,
        "example-network examples run without a network, and this one looks up 1.2.3.4",
    ),
    "ends": (
        ">>> 1\n1\n>>> import os; os._exit(3)\n>>> 2\n2",
        2,
        "example-exit this example ended its process, with status 3",
    ),
    "crash": (
        ">>> import os\n>>> os.abort()",
        2,
        "example-exit this example ended its process by signal 6",
    ),
    "kills": (
        ">>> import os\n>>> os.kill(os.getpid(), 9)",
        2,
        "example-exit this example ended its process by signal 9",
    ),
    "shared": (
        ">>> import mmap\n>>> shared = mmap.mmap(-1, 10**9)\n>>> for at in range(0, 10**9, 4096): shared[at] = 1",
        3,
        "example-memory this example needs more memory than the 300 MB",
    ),
    "leaves": (
        ">>> raise SystemExit(3)",
        1,
        "example-failed this example raises SystemExit: 3",
    ),
    "parent": (
        ">>> import os, time\n>>> os.kill(os.getppid(), 9); time.sleep(99)",
        0,
        "record-failed the recorder failed: its process ended",
    ),
    "daemon": (
        ">>> import daemons\n>>> daemons.start()\n>>> 3\n3",
        2,
        "example-process this example leaves a process behind",
    ),
    "child": (
        ">>> import os, time\n>>> if os.fork() == 0: time.sleep(1000)\n>>> 3\n3",
        0,
        "example-process an example leaves a process behind",
    ),
    "prints": (
        '>>> for i in range(10**4): print("x" * 1000)\n>>> 3\n3',
        1,
        "example-output this example prints more than 64000 characters",
    ),
}
HANGS = '''
if False:
    def never():
        """
        >>> 1
        1
        """

def f():
    """
    >>> 1
    2
    >>> while True: pass
    >>> 3
    3
    """

def g():
    """
    >>> 4
    4
    """
'''
HARMLESS = {
    "closes": (
        ">>> import os\n>>> for i in range(64):\n...     try: os.close(i)\n...     except OSError: pass\n"
        ">>> opened = [os.open('own', os.O_CREAT | os.O_RDWR) for _ in range(64)]"
    ),
    "opens": (
        ">>> import os\n>>> opened = []\n>>> try:\n...     while True: opened.append(os.open('/dev/null', 0))\n"
        "... except OSError: print('full')\nfull"
    ),
    "reads": ">>> import sys\n>>> sys.stdin.read()\n''",
    "shouts": ">>> import os\n>>> os.write(1, b'x' * 10**7)\n10000000\n>>> os.system('echo hello')\n0",
    "thread": ">>> import threading, time\n>>> threading.Thread(target=time.sleep, args=(99,)).start()",
    "watches": (
        ">>> import ctypes\n>>> libc = ctypes.CDLL(None)\n"
        ">>> libc.inotify_add_watch(libc.inotify_init(), b'/tmp', 4095) > 0\nTrue"
    ),
    "worker": (
        ">>> import multiprocessing\n>>> context = multiprocessing.get_context('fork')\n>>> queue = context.Queue()\n"
        ">>> process = context.Process(target=queue.put, args=(7,)); process.start()\n"
        ">>> queue.get(); process.join()\n7"
    ),
}
DAEMONS = """
import os, sys, time

def start():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            open(PIDS, "w").write(str(os.getpid()))
            while True:
                time.sleep(0.1)
        while not os.path.exists(PIDS):
            time.sleep(0.01)
        os._exit(0)
    os.wait()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bad")
    texts = {name: f'"""\nProse.\n\n{text}\n"""\n' for name, (text, _, _) in PAGES.items()}
    daemons = DAEMONS.replace("PIDS", repr(str(folder / "pids")))
    texts |= {name: f'"""\n{text}\n>>> 3\n3\n"""\n' for name, text in HARMLESS.items()}
    write(folder, **texts, hangs=HANGS, good='"""\n>>> 1\n1\n"""\n')
    (folder / "daemons.py").write_text(daemons, "utf-8")
    return folder


@pytest.fixture(scope="module")
def recorded(folder: Path) -> Recorded:
    """All of them beside each other, and with little time what never ends by itself."""
    names = (name for name in (*PAGES, *HARMLESS, "good") if name != "forever")
    most = record(folder, *names, limits=LIMITS)
    last = record(folder, "forever", "hangs", limits=SHORT, jobs=2)
    return Recorded({**most.records, **last.records}, (*most.diagnostics, *last.diagnostics))


posix = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has subreapers")


@posix
@pytest.mark.parametrize("name", sorted(PAGES))
def test_each_gives_one_diagnostic_at_its_line(recorded: Recorded, name: str) -> None:
    _, number, says = PAGES[name]
    text = PAGES[name][0].splitlines()
    places = [place for place, line in enumerate(text) if line.startswith(">>>")]
    line = places[number - 1] + 4 if number else 1
    (fault,) = [fault for fault in recorded.diagnostics if fault.path == f"pkg/{name}.py"]
    assert f"{fault.code} {fault.message}".startswith(says)
    assert fault.line == line


@posix
@pytest.mark.parametrize("name", sorted(HARMLESS))
def test_what_only_looks_bad_is_no_fault(recorded: Recorded, name: str) -> None:
    assert [str(fault) for fault in recorded.diagnostics if fault.path == f"pkg/{name}.py"] == []
    examples = recorded.records[f"{name}.html"].examples
    assert examples[-1].output == "3\n"
    assert all(example.passed for example in examples)


@posix
def test_the_other_pages_are_whole(recorded: Recorded) -> None:
    assert [example.passed for example in recorded.records["good.html"].examples] == [True]
    assert [example.passed for example in recorded.records["quiet.html"].examples] == [True, False]
    ended = recorded.records["ends.html"].examples
    assert [(example.ran, example.output) for example in ended] == [(True, "1\n"), (True, ""), (False, "")]


@posix
def test_who_hangs_hides_neither_what_was_wrong_before_nor_what_was_not_run(recorded: Recorded) -> None:
    told = [fault for fault in recorded.diagnostics if fault.path == "pkg/hangs.py"]
    assert [(fault.line, fault.code) for fault in told] == [(11, "example-failed"), (13, "example-time")]
    assert told[1].message.endswith("; 2 examples after it did not run")
    examples = recorded.records["hangs.html"].examples
    ran = [(example.source, example.ran, example.output) for example in examples]
    assert ran == [
        ("1\n", False, ""),
        ("1\n", True, "1\n"),
        ("while True: pass\n", True, ""),
        ("3\n", False, ""),
        ("4\n", False, ""),
    ]


@posix
def test_no_process_is_left(recorded: Recorded, folder: Path) -> None:
    daemon = int((folder / "pids").read_text("utf-8"))
    assert recorded.records
    assert not Path(f"/proc/{daemon}").exists()
    assert b"site_builder.record.supervise" not in _children()


@posix
def test_what_is_printed_is_kept_up_to_the_limit(recorded: Recorded) -> None:
    first, second = recorded.records["prints.html"].examples
    assert (len(first.output), first.cut, second.passed) == (LIMITS.output, True, True)


def test_examples_find_an_empty_home_and_nothing_of_the_author(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "42")
    write(
        tmp_path,
        looks='''
        """
        >>> import os, pathlib, tempfile
        >>> os.listdir(), pathlib.Path.home() == pathlib.Path.cwd(), "SECRET_TOKEN" in os.environ
        ([], True, False)
        >>> os.environ["OMP_NUM_THREADS"], os.environ["PYTHONHASHSEED"]
        ('1', '0')
        >>> pathlib.Path(tempfile.mkdtemp()).parent == pathlib.Path.home()
        True
        >>> input()
        Traceback (most recent call last):
        EOFError: EOF when reading a line
        """
        ''',
    )
    assert record(tmp_path).diagnostics == ()


@posix
def test_when_the_builder_is_killed_so_are_the_examples(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    text = (
        f'>>> import os, time\n>>> _ = open({str(mark)!r}, "w").write(str(os.getpid()))\n>>> time.sleep(99)'
    )
    write(tmp_path, sleeps=f'"""\n{text}\n"""\n')
    root = Path(__file__).resolve().parents[2]
    script = (
        "from pathlib import Path; from tests.site_builder.recording import record;"
        f"record(Path({str(tmp_path)!r}))"
    )
    builder = subprocess.Popen(
        [sys.executable, "-c", script], cwd=root, env={**os.environ, "PYTHONPATH": str(root)}
    )
    assert _becomes(lambda: (mark.exists() and mark.read_text("utf-8") != "") or builder.poll() is not None)
    assert builder.poll() is None
    builder.send_signal(signal.SIGKILL)
    builder.wait()
    example = Path("/proc", mark.read_text("utf-8"))
    assert _becomes(lambda: not example.exists())


def _becomes(true: Callable[[], bool]) -> bool:
    """Whether it is so within a minute, which is long on any machine."""
    deadline = time.monotonic() + 60
    while not true() and time.monotonic() < deadline:
        time.sleep(0.02)
    return true()


def _children() -> bytes:
    found = b""
    for task in Path("/proc/self/task").iterdir():
        for child in (task / "children").read_text("ascii").split():
            # It may have ended by now.
            with contextlib.suppress(OSError):
                found += Path("/proc", child, "cmdline").read_bytes()
    return found
