"""
---
title: Where examples run
summary: The same every time, with no network, and with an end to what may be used.
---
# Where examples run

An example can compute what it likes. It finds an empty home, one thread, no network, and random numbers that are
the same every time. All this keeps accidents small and records equal; it is no prison for code that means harm.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import random
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

PACKAGE = Path(__file__).resolve().parents[2]
"""The folder that `site_builder` is imported from."""

_PASSED_ON = (
    "PATH",
    "SYSTEMROOT",
    "VIRTUAL_ENV",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "COMSPEC",
    "PATHEXT",
)
_THREADS = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
_FILE_BYTES = 1 << 28

# A child that is a Python of its own finds this as its `sitecustomize`.
_CHILD = """\
import sys

def _refuse(event, arguments):
    if event in {events!r} and not (len(arguments) > 1 and isinstance(arguments[1], (str, bytes))):
        raise OSError("examples run without a network")

sys.addaudithook(_refuse)
"""
_EVENTS = (
    "socket.connect",
    "socket.bind",
    "socket.sendto",
    "socket.sendmsg",
    "socket.getaddrinfo",
    "socket.gethostbyname",
    "socket.gethostbyaddr",
)


def environment(home: str) -> dict[str, str]:
    """The variables that examples see: nothing of the author's own but where programs are."""
    kept = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return {
        **kept,
        **dict.fromkeys(_THREADS, "1"),
        "CUDA_VISIBLE_DEVICES": "",
        # Memory that nobody has written to yet holds zeros, so that even what is forgotten is the same every time.
        "GLIBC_TUNABLES": "glibc.malloc.perturb=255:glibc.malloc.tcache_count=0",
        "HOME": home,
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": os.pathsep.join(
            [*filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)), str(PACKAGE)]
        ),
        "PYTHONUTF8": "1",
        "TMPDIR": home,
        "TZ": "UTC",
        "USERPROFILE": home,
    }


def enter(home: str, megabytes: int, seconds: int) -> list[str]:
    """
    Make this process the one that examples run in. What they will try to reach on the network is refused, and said
    in the list.
    """
    customised = Path(home).with_name("python")
    customised.mkdir()
    (customised / "sitecustomize.py").write_text(_CHILD.format(events=_EVENTS), encoding="utf-8")
    paths = [str(customised), os.environ.get("PYTHONPATH", "")]
    os.environ.update(environment(home), PYTHONPATH=os.pathsep.join(filter(None, paths)))
    os.chdir(home)
    tempfile.tempdir = None
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nothing, descriptor)
    _limit(megabytes, seconds)
    sys.meta_path.insert(0, _IMPORTS)
    return _offline()


def seed() -> None:
    """Begin all sequences of random numbers again, and compute with one thread."""
    random.seed(0)
    for name, settle in _SETTLED.items():
        if name in sys.modules:
            settle(sys.modules[name])


def _settle_torch(torch: Any) -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)


_SETTLED: dict[str, Callable[[Any], object]] = {
    "numpy.random": lambda numpy_random: numpy_random.seed(0),
    "torch": _settle_torch,
}


class _Imports(MetaPathFinder):
    """
    Sees to what is imported. What an example is the first to import is seeded before anybody can draw from it; and
    a stranger's module is imported without the tracer, which has no business there and makes it slow.
    """

    def __init__(self) -> None:
        self.trace: object = None
        self.package = ""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        foreign = self.trace is not None and name.partition(".")[0] != self.package
        if not foreign and name not in _SETTLED:
            return None
        spec = self._found(name, path, target)
        if spec is not None and spec.loader is not None and not isinstance(spec.loader, type):
            execute = spec.loader.exec_module

            def executed(module: ModuleType) -> None:
                with self._unseen() if foreign else contextlib.nullcontext():
                    execute(module)
                if name in _SETTLED:
                    _SETTLED[name](module)

            with contextlib.suppress(AttributeError):
                spec.loader.exec_module = executed  # type: ignore[method-assign]
        return spec

    def _found(self, name: str, path: Any, target: Any) -> ModuleSpec | None:
        for finder in sys.meta_path:
            if finder is not self and (find := getattr(finder, "find_spec", None)):
                spec: ModuleSpec | None = find(name, path, target)
                if spec is not None:
                    return spec
        return None

    @contextlib.contextmanager
    def _unseen(self) -> Iterator[None]:
        before = sys.gettrace()
        if before is self.trace:
            sys.settrace(None)
        try:
            yield
        finally:
            if before is self.trace:
                sys.settrace(before)


_IMPORTS = _Imports()


def unseen(trace: object, module: str) -> None:
    """Keep the tracer out of all imports but those of the module's own package."""
    _IMPORTS.trace, _IMPORTS.package = trace, module.partition(".")[0]


def _limit(megabytes: int, seconds: int) -> None:
    """Backstops; whoever watches this process is quicker and knows its children too."""
    try:
        resource = importlib.import_module("resource")
    except ImportError:
        return
    limits = {
        "RLIMIT_CORE": 0,
        "RLIMIT_FSIZE": _FILE_BYTES,
        "RLIMIT_CPU": (seconds + 10) * (os.cpu_count() or 1),
    }
    with contextlib.suppress(OSError, ValueError, IndexError):
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        used = int(status.partition("VmData:")[2].split()[0]) * 1024
        limits["RLIMIT_DATA"] = used + (megabytes << 20)
    for name, limit in limits.items():
        with contextlib.suppress(OSError, ValueError, AttributeError):
            _, most = resource.getrlimit(getattr(resource, name))
            limit = limit if most == resource.RLIM_INFINITY else min(limit, most)
            resource.setrlimit(getattr(resource, name), (limit, most))


def _offline() -> list[str]:
    attempts: list[str] = []

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in _EVENTS:
            return
        action = event.partition(".")[2]
        if action.startswith("get"):
            what = f"looks up {_text(arguments[0])}"
        else:
            # Sockets that are files lead to nobody else's machine.
            if getattr(arguments[0], "family", None) == getattr(socket, "AF_UNIX", None):
                return
            verb = {"connect": "connects to", "bind": "listens on"}.get(action, "sends to")
            address = arguments[1] if len(arguments) > 1 else ""
            place = ":".join(map(_text, address[:2])) if isinstance(address, tuple) else _text(address)
            what = f"{verb} {place}"
        attempts.append(what)
        raise OSError(f"examples run without a network: this one {what}")

    sys.addaudithook(refuse)
    return attempts


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
