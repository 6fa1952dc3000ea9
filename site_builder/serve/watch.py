"""
---
title: Watch
summary: Many file events, one rebuild.
---
# Watch

An editor that saves a file may write in place, or write another and move it over, and a save of many files is a burst.
All of it ends in one call once nothing has happened for a moment. Reading a file is no change.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.polling import PollingObserver

PAUSE = 0.03
"""Seconds without an event after which a burst is over."""

CHANGES = frozenset({"created", "modified", "moved", "deleted", "closed"})
SUFFIXES = frozenset({".py", ".md", ".po", ".toml", ".html", ".css", ".js", ".svg", ".png", ".jpg"})


class Burst:
    """Calls `act` in a thread of its own when a burst of `touch`es has ended; never twice at once."""

    def __init__(self, act: Callable[[], None], pause: float = PAUSE):
        self.act, self.pause = act, pause
        self.changed = threading.Event()
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def touch(self) -> None:
        self.changed.set()

    def start(self) -> None:
        self.thread.start()

    def stop(self) -> None:
        self.ended.set()
        self.changed.set()
        self.thread.join(timeout=5)

    def _run(self) -> None:
        while True:
            self.changed.wait()
            while self.changed.is_set() and not self.ended.is_set():
                self.changed.clear()
                self.ended.wait(self.pause)
            if self.ended.is_set():
                return
            self.act()


class Handler(FileSystemEventHandler):
    """Lets through what may change a page."""

    def __init__(self, touch: Callable[[], None], only: frozenset[str]):
        self.touch, self.only = touch, only

    def on_any_event(self, event: FileSystemEvent) -> None:
        if event.event_type not in CHANGES:
            return
        if event.is_directory and event.event_type == "modified":
            return
        paths = [str(path) for path in (event.src_path, getattr(event, "dest_path", "")) if path]
        if self.only and not self.only.intersection(paths):
            return
        if event.is_directory or any(Path(path).suffix in SUFFIXES for path in paths):
            self.touch()


@contextmanager
def watching(paths: Sequence[Path], act: Callable[[], None], *, poll: bool = False) -> Iterator[None]:
    """Calls `act` after every burst of changes below `paths`, by events or, for network disks, by looking."""
    burst = Burst(act)
    observer = PollingObserver(timeout=0.3) if poll else Observer()
    files = frozenset(str(path) for path in paths if path.is_file())
    for folder in sorted({path for path in paths if path.is_dir()}):
        observer.schedule(Handler(burst.touch, frozenset()), str(folder), recursive=True)
    for folder in sorted({Path(file).parent for file in files}):
        observer.schedule(Handler(burst.touch, files), str(folder), recursive=False)
    burst.start()
    observer.start()
    try:
        yield
    finally:
        observer.stop()
        observer.join(timeout=5)
        burst.stop()
