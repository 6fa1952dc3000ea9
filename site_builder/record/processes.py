"""
---
title: The processes below
summary: Who is whose child, and how much memory each holds, as Linux tells it.
---
# The processes below

An example may start processes, and these may start more. All of them count towards the memory of the page, and all
have to end with it. Linux tells in `/proc` who they are; a process may vanish while it is looked at, so every
answer may be empty.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def parents() -> dict[int, int]:
    """The parent of every process on the machine."""
    names = (entry.name for entry in Path("/proc").iterdir())
    found = {int(name): parent(int(name)) for name in names if name.isdigit()}
    return {process: above for process, above in found.items() if above is not None}


def parent(process: int) -> int | None:
    """The parent of a process; none if it has ended."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        fields = Path("/proc", str(process), "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        return None if fields[0] in "ZX" else int(fields[1])
    return None


def is_authors(process: int) -> bool:
    """Whether an author started it, and not Python: its helpers of its own end a little later."""
    try:
        return b"multiprocessing" not in Path("/proc", str(process), "cmdline").read_bytes()
    except OSError:
        return False


def below(top: int, above: Mapping[int, int]) -> list[int]:
    """All that descend from a process, by what `parents` said."""
    children: dict[int, list[int]] = {}
    for process, of in above.items():
        children.setdefault(of, []).append(process)
    found: list[int] = []
    waiting = [top]
    while waiting:
        ours = children.get(waiting.pop(), [])
        found += ours
        waiting += ours
    return found


def children(process: int) -> list[int]:
    """Of a process with one thread; quicker than `parents`, and some may be missed while they come and go."""
    return _children(Path("/proc", str(process), "task", str(process)))


def descendants(top: int) -> list[int]:
    """What `below` says, as quick and as unsure as `children`."""
    found: list[int] = []
    waiting = [top]
    while waiting:
        with contextlib.suppress(OSError):
            for thread in Path("/proc", str(waiting.pop()), "task").iterdir():
                ours = _children(thread)
                found += ours
                waiting += ours
    return found


def _children(thread: Path) -> list[int]:
    with contextlib.suppress(OSError, ValueError):
        return [int(child) for child in (thread / "children").read_text("ascii").split()]
    return []


def resident(process: int) -> int:
    """The bytes that it holds."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path("/proc", str(process), "statm").read_text("ascii").split()[1]) * _PAGE_BYTES
    return 0
