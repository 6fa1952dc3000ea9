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

import logging
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver, ObservedWatch
from watchdog.observers.polling import PollingObserver

from site_builder.discover import ASSET_SUFFIXES, SKIPPED_FOLDERS
from site_builder.errors import SiteError

PAUSE = 0.015
"""Seconds without an event after which a burst is over."""
BREATH = 0.004
"""The same after a file was finished: whoever saves one alone need not wait for more."""

CHANGES = frozenset({"created", "modified", "moved", "deleted", "closed"})
SUFFIXES = ASSET_SUFFIXES | {".py", ".md", ".po", ".toml"}
THEME = frozenset({".html", ".css", ".js", ".json", ".woff", ".woff2", ".ttf", ".ico", ".txt"})


@dataclass(frozen=True)
class Watched:
    """Folders to look into, single files to look at, and folders in which nothing counts: we write them ourselves."""

    folders: frozenset[Path]
    files: frozenset[Path] = frozenset()
    ignored: frozenset[Path] = frozenset()


class Touch(Protocol):
    """Hears of a change."""

    def __call__(self, *, finished: bool = False) -> None: ...


class Burst:
    """
    Calls `act` in a thread of its own when a burst of `touch`es has ended; never twice at once. `act` is handed a
    function that says whether there has been another touch meanwhile, or the end.
    """

    def __init__(self, act: Callable[[Callable[[], bool]], None]):
        self.act, self.pause = act, PAUSE
        self.changed = threading.Event()
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def touch(self, *, finished: bool = False) -> None:
        """`finished` where what was touched is not being written any more."""
        self.pause = BREATH if finished else PAUSE
        self.changed.set()

    def interrupted(self) -> bool:
        return self.changed.is_set() or self.ended.is_set()

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
            try:
                self.act(self.interrupted)
            except Exception:
                # The next save shall be heard all the same.
                logging.getLogger(__name__).exception("what a change should have led to has failed")


class Handler(FileSystemEventHandler):
    """Lets through what may change a page: anything below `top` that could be a source, or the one path `only`."""

    def __init__(
        self,
        touch: Touch,
        top: Path,
        ignored: frozenset[Path] = frozenset(),
        only: Path | None = None,
    ):
        self.touch, self.top, self.only = touch, top, only
        # A folder that holds what is watched cannot be left out.
        self.ignored = frozenset(folder for folder in ignored if not top.is_relative_to(folder))

    def on_any_event(self, event: FileSystemEvent) -> None:
        if event.event_type not in CHANGES:
            return
        if event.is_directory and event.event_type == "modified":
            return
        source, target = (
            bool(path) and self.concerns(Path(os.fsdecode(path)), event.is_directory)
            for path in (event.src_path, event.dest_path)
        )
        if source or target:
            # Closed after it was written, or put in the place of the old one.
            self.touch(finished=event.event_type == "closed" or target)

    def concerns(self, path: Path, is_folder: bool) -> bool:
        if self.only:
            return path == self.only
        if not path.is_relative_to(self.top):
            return False
        parts = path.relative_to(self.top).parts
        if any(part.startswith(".") or part in SKIPPED_FOLDERS for part in parts):
            return False
        if any(path.is_relative_to(folder) for folder in self.ignored):
            return False
        return is_folder or path.suffix in SUFFIXES | THEME


Key = tuple[Path, frozenset[Path] | None, tuple[int, int]]
"""A folder and what does not count in it, or a single path and `None`; and the folder's own identity."""


class Watch:
    """Keeps an observer at what is to be watched now."""

    def __init__(self, observer: BaseObserver, touch: Touch):
        self.observer, self.touch = observer, touch
        self.known: dict[Key, ObservedWatch] = {}

    def renew(self, watched: Watched) -> bool:
        """Tells whether anything is watched now that was not."""
        wanted = {(folder, watched.ignored) for folder in watched.folders if folder.is_dir()}
        # What is not there yet, or may be made anew, is seen from above.
        single = {(_nearest(path), None) for path in watched.files | watched.folders}
        # A folder that was put in the place of another has the same name, and nobody watches it.
        every = {(path, ignored, _identity(path, ignored)) for path, ignored in {*wanted, *single}}
        for key in self.known.keys() - every:
            watch = self.known.pop(key)
            if watch not in self.known.values():
                self.observer.unschedule(watch)
        fresh = every - self.known.keys()
        for key in sorted(fresh, key=lambda key: (key[0], key[1] is None)):
            path, ignored, _ = key
            if ignored is None:
                handler = Handler(self.touch, path.parent, only=path)
                self.known[key] = self.observer.schedule(handler, str(path.parent))
            else:
                handler = Handler(self.touch, path, ignored)
                self.known[key] = self.observer.schedule(handler, str(path), recursive=True)
        return bool(fresh)


@contextmanager
def watching(
    places: Callable[[], Watched], act: Callable[[Callable[[], bool]], None], *, poll: bool = False
) -> Iterator[Burst]:
    """
    Calls `act`, as a [burst](site_builder.serve.watch.Burst) does, after every burst of changes at `places`, by events
    or, for network disks, by looking. After each call it asks for the places again.
    """

    def act_and_look(interrupted: Callable[[], bool]) -> None:
        act(interrupted)
        if watch.renew(places()):
            # Something may have happened there before we looked.
            burst.touch()

    burst = Burst(act_and_look)
    observer = PollingObserver(timeout=0.3) if poll else Observer()
    watch = Watch(observer, burst.touch)
    try:
        watch.renew(places())
        observer.start()
    except OSError as error:
        hint = "use --poll, or let the system watch more (fs.inotify.max_user_watches)"
        raise SiteError(f"changes cannot be watched: {error.strerror or error}", hint=hint) from error
    burst.start()
    try:
        yield burst
    finally:
        observer.stop()
        observer.join(timeout=5)
        burst.stop()


def _identity(path: Path, ignored: frozenset[Path] | None) -> tuple[int, int]:
    """Of the folder that is watched: the path itself, or the one that a single path lies in."""
    try:
        status = (path.parent if ignored is None else path).stat()
    except OSError:
        return 0, 0
    return status.st_dev, status.st_ino


def _nearest(path: Path) -> Path:
    """The path itself if its folder is there, else the first missing part of the way to it."""
    while not path.parent.is_dir() and path.parent != path:
        path = path.parent
    return path
