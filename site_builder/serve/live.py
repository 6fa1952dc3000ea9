"""
---
title: The live site
summary: A copy of the site that is kept up to date, and the browsers that wait for a change.
---
# The live site

After the first build the watcher calls `rebuild` in its own thread, the server answers in another. What they share is
one `State`, exchanged as a whole, so that no reader is told of one build with the messages of another.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from site_builder.config import Config
from site_builder.errors import Diagnostic, SiteError, count
from site_builder.site import Report, Shelf, StoppedError, build, stores
from site_builder.site.ledger import Beside
from site_builder.write import owned

Interrupted = Callable[[], bool]
"""Whether something has changed that is worth more than what is being done."""


@dataclass(frozen=True)
class State:
    """One build: its files by name, what it is called, what is said of it. One object: they belong together."""

    names: frozenset[str] = frozenset()
    build: str = ""
    look: str = ""
    """Changes when a style sheet or script does: then a page has to be loaded anew."""
    message: dict[str, Any] = field(default_factory=dict)


class Live:
    """
    Keeps a site in `folder` up to date. Only one `rebuild` runs at a time; all else happens in the server's thread.
    """

    def __init__(self, reload: Callable[[], Config], folder: Path, say: Callable[[str], None]):
        self.reload, self.folder, self.say = reload, folder, say
        self.config: Config | None = None
        self.state = State()
        self.lock = threading.Lock()
        self.loop: asyncio.AbstractEventLoop | None = None
        self.waiting: set[asyncio.Queue[str | None]] = set()
        self.beside = Beside()
        """What the last build has found imported that is no page."""
        self._shelf: Shelf | None = None
        self._printed: frozenset[Diagnostic] = frozenset()
        # Another server's first build is another build.
        self._run, self._number = secrets.token_hex(4), 0

    def rebuild(self, interrupted: Interrupted = lambda: False, *, known: bool = False) -> None:
        """
        Builds and tells the browsers: which URLs changed, or what went wrong. The old site stays until then. With
        `known` examples that have not been run yet are left for later.
        """
        with self.lock:
            try:
                self._rebuild(interrupted, known)
            except SiteError as error:
                self._fail(str(error), f"error: {error}")
            except Exception as error:
                # A fault of the builder must not end the session of an author.
                text = f"{type(error).__name__}: {error}"
                self._fail(text, f"a fault of the builder: {text}")

    def read(self, name: str) -> bytes | None:
        """A file of the site as it is now, and nothing else, whatever it is called."""
        if name not in self.state.names:
            return None
        try:
            return (self.folder / name).read_bytes()
        except OSError:
            return None

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop

    def subscribe(self) -> asyncio.Queue[str | None]:
        """A queue that receives each message, first the state of things: a build may have come in between."""
        queue: asyncio.Queue[str | None] = asyncio.Queue()
        self.waiting.add(queue)
        queue.put_nowait(self._text(self.state, first=True))
        return queue

    def close(self) -> None:
        """Ends every stream, so that the server can stop."""
        for queue in self.waiting:
            queue.put_nowait(None)

    def _rebuild(self, interrupted: Interrupted, known: bool) -> None:
        started = time.perf_counter()
        self.config = replace(self.reload(), output=str(self.folder))
        if self._shelf is None or self._shelf.store is not stores.opened(self.config):
            self._shelf = Shelf(stores.opened(self.config), keep=True)
        # What the author changed is shown at once; what its examples now give follows when they have been run.
        report = build(self.config, shelf=self._shelf, known=True)
        self._publish(report, started)
        if report.waiting and not known and not interrupted():
            with suppress(StoppedError):
                report = build(self.config, shelf=self._shelf, interrupted=interrupted)
                self._publish(report, started)

    def _publish(self, report: Report, started: float) -> None:
        old, self.beside = self.state, report.beside
        self._number += 1
        name = f"{self._run}-{self._number}"
        theme = any(url.startswith(("static/css", "static/js", "static/vendor")) for url in report.changed)
        look = name if theme or not old.look else old.look
        faults = [asdict(found) | {"text": str(found)} for found in report.diagnostics]
        message = {"error": "", "before": old.build, "changed": report.changed, "diagnostics": faults}
        self._tell(State(owned(self.folder) or frozenset(), name, look, message))
        for found in report.diagnostics:
            if found not in self._printed:
                self._print(str(found))
        known = sum(found in self._printed for found in report.diagnostics)
        self._printed = frozenset(report.diagnostics)
        seconds = time.perf_counter() - started
        before = f", {count(known, 'fault')} as before" if known else ""
        changed = count(len(report.changed), "file")
        self._print(f"built {count(report.pages, 'page')} in {seconds:.2f} s, {changed} changed{before}")

    def _fail(self, error: str, line: str) -> None:
        old = self.state
        message = {"error": error, "before": old.build, "changed": [], "diagnostics": []}
        self._tell(State(old.names, old.build, old.look, message))
        self._print(line)

    def _tell(self, state: State) -> None:
        self.state = state
        # The server may end at any moment.
        if self.loop is not None:
            with suppress(RuntimeError):
                self.loop.call_soon_threadsafe(self._send, self._text(state))

    def _print(self, line: str) -> None:
        # The terminal may be gone; the browsers are not.
        with suppress(OSError, ValueError):
            self.say(line)

    @staticmethod
    def _text(state: State, *, first: bool = False) -> str:
        message = {"build": state.build, "look": state.look, **state.message}
        return json.dumps(message | {"before": "", "changed": []} if first else message)

    def _send(self, text: str) -> None:
        for queue in self.waiting:
            queue.put_nowait(text)
