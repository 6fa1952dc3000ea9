"""
---
title: The live site
summary: The files in memory, and the browsers that wait for a change.
---
# The live site
"""

from __future__ import annotations

import asyncio
import json
import secrets
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

from site_builder.cache import digest
from site_builder.config import Config
from site_builder.errors import Diagnostic, SiteError
from site_builder.site import Made, Memory, make


@dataclass(frozen=True)
class State:
    """The files of one build, its name, and what is said of it. One object, so that they always belong together."""

    files: dict[str, bytes] = field(default_factory=dict)
    build: str = ""
    look: str = ""
    """Changes when a style sheet or script does: then a page has to be loaded anew."""
    message: dict[str, Any] = field(default_factory=dict)


class Live:
    """Holds what was built last. `rebuild` runs in the watcher's thread, everything else in the server's."""

    def __init__(self, reload: Callable[[], Config], say: Callable[[str], None]):
        self.reload, self.say = reload, say
        self.config: Config | None = None
        self.state = State()
        self.lock = threading.Lock()
        self.loop: asyncio.AbstractEventLoop | None = None
        self.waiting: set[asyncio.Queue[str | None]] = set()
        self._memory = Memory()
        self._printed: frozenset[Diagnostic] = frozenset()
        # Another server's first build is another build.
        self._run, self._number = secrets.token_hex(4), 0

    @property
    def files(self) -> dict[str, bytes]:
        return self.state.files

    def rebuild(self) -> None:
        """Builds and tells the browsers: which URLs changed, or what went wrong. The old site stays until then."""
        with self.lock:
            try:
                self._rebuild()
            except SiteError as error:
                self._fail(str(error), f"error: {error}")
            except Exception as error:
                # A fault of the builder must not end the session of an author.
                text = f"{type(error).__name__}: {error}"
                self._fail(text, f"a fault of the builder: {text}")

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

    def _rebuild(self) -> None:
        started = time.perf_counter()
        self.config = self.reload()
        # What the author changed is shown at once; what its examples now give follows when they have been run.
        made = make(self.config, memory=self._memory, known=True)
        self._publish(made, started)
        if made.waiting:
            self._publish(make(self.config, memory=self._memory), started)

    def _publish(self, made: Made, started: float) -> None:
        old = self.state
        changed = sorted(
            url for url in made.files.keys() | old.files.keys() if made.files.get(url) != old.files.get(url)
        )
        self._number += 1
        theme = (
            url for url in sorted(made.files) if url.startswith(("static/css", "static/js", "static/vendor"))
        )
        look = digest(*(part for url in theme for part in (url, made.files[url]))).hex()[:8]
        faults = [asdict(found) | {"text": str(found)} for found in made.diagnostics]
        message = {"error": "", "before": old.build, "changed": changed, "diagnostics": faults}
        self._tell(State(made.files, f"{self._run}-{self._number}", look, message))
        for found in made.diagnostics:
            if found not in self._printed:
                self._print(str(found))
        known = sum(found in self._printed for found in made.diagnostics)
        self._printed = frozenset(made.diagnostics)
        seconds = time.perf_counter() - started
        before = f", {known} faults as before" if known else ""
        self._print(f"built {made.pages} pages in {seconds:.2f} s, {len(changed)} files changed{before}")

    def _fail(self, error: str, line: str) -> None:
        old = self.state
        message = {"error": error, "before": old.build, "changed": [], "diagnostics": []}
        self._tell(State(old.files, old.build, old.look, message))
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
