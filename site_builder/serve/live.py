"""
---
title: The live site
summary: A copy of the site that is kept up to date, and the browsers that wait for a change.
---
# The live site

After the first build the watcher calls `rebuild` in its own thread, the server answers in another. What they share is
one [state](site_builder.serve.state).
"""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from site_builder.config import Config
from site_builder.errors import Diagnostic, SiteError, count
from site_builder.garbage import undisturbed
from site_builder.serve.state import State, marked
from site_builder.site import Audience, Report, Shelf, StoppedError, build, stores
from site_builder.site.ledger import Beside
from site_builder.write import owned

Interrupted = Callable[[], bool]
"""Whether something has changed that is worth more than what is being done."""


class Live:
    """
    Keeps a site in `folder` up to date. Only one `rebuild` runs at a time; all else happens in the server's thread.
    """

    def __init__(
        self,
        reload: Callable[[], Config],
        folder: Path,
        say: Callable[[str], None],
        *,
        verbose: bool = False,
    ) -> None:
        self.reload, self.folder, self.say, self.verbose = reload, folder, say, verbose
        self.config: Config | None = None
        self.output = ""
        """Where a build with that configuration would write."""
        self.state = State()
        self.lock = threading.Lock()
        self.loop: asyncio.AbstractEventLoop | None = None
        self.tabs: dict[asyncio.Queue[str | None], str] = {}
        """By its queue, the page that each tab of a browser shows."""
        self.seen: frozenset[str] = frozenset()
        """All those pages. A set that is exchanged as a whole, since builds look at it in another thread."""
        self.beside = Beside()
        """What the last build has found imported that is no page."""
        self._shelf: Shelf | None = None
        self._ready = False
        """Whether all that a save may need is at hand."""
        self._printed: frozenset[Diagnostic] = frozenset()
        self._missed = False
        """Whether something was changed that nobody has been told of."""
        self._failed = False
        # Another server's first build is another build.
        self._run, self._number = secrets.token_hex(4), 0

    def rebuild(self, interrupted: Interrupted = lambda: False, *, postpone: bool = False) -> None:
        """
        Builds and tells the browsers: which URLs changed, or what went wrong. The pages that they show come first, and
        are told of while the others are made. With `postpone` examples that have not been run yet are left for later.
        """
        with self.lock, undisturbed():
            try:
                self._rebuild(interrupted, postpone)
            except SiteError as error:
                self._fail(str(error), f"error: {error}")
            except Exception as error:
                # A fault of the builder must not end the session of an author.
                text = f"{type(error).__name__}: {error}"
                where = traceback.format_exc() if self.verbose else "start with -v to see where"
                self._fail(text, f"a fault of the builder: {text} — {where}")

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

    def subscribe(self, url: str = "") -> asyncio.Queue[str | None]:
        """
        A queue that receives each message, first the state of things: a build may have come in between. Its browser
        shows the page at `url`.
        """
        queue: asyncio.Queue[str | None] = asyncio.Queue()
        self.tabs[queue] = url
        self.seen = frozenset(self.tabs.values())
        queue.put_nowait(self.state.greeting)
        return queue

    def leave(self, queue: asyncio.Queue[str | None]) -> None:
        self.tabs.pop(queue, None)
        self.seen = frozenset(self.tabs.values())

    def close(self) -> None:
        """Ends every stream, so that the server can stop."""
        for queue in self.tabs:
            queue.put_nowait(None)

    def _rebuild(self, interrupted: Interrupted, postpone: bool) -> None:
        started = time.perf_counter()
        wanted = self.reload()
        self.output, self.config = wanted.output, replace(wanted, output=str(self.folder), mount="/")
        if self._shelf is None or self._shelf.store is not stores.opened(self.config):
            self._shelf, self._ready = Shelf(stores.opened(self.config), keep=True), False
        # What the author changed is shown at once; what its examples now give follows when they have been run. Nobody
        # waits for the second build: it fetches what the first may have found that it need not have.
        report = self._build(
            self.config, self._shelf, started, postpone=True, thorough=not (postpone or self._ready)
        )
        self._ready |= not postpone
        if report.waiting and not postpone and not interrupted():
            try:
                self._build(self.config, self._shelf, started, interrupted=interrupted)
            except StoppedError:
                self._missed = True

    def _build(
        self,
        config: Config,
        shelf: Shelf,
        started: float,
        *,
        postpone: bool = False,
        thorough: bool = False,
        interrupted: Interrupted | None = None,
    ) -> Report:
        told: set[str] = set()

        def tell(report: Report) -> None:
            changed = [url for url in report.changed if url not in told]
            told.update(changed)
            self._publish(changed, report.diagnostics)

        audience = Audience(self.seen, tell)
        report = build(
            config,
            shelf=shelf,
            postpone=postpone,
            thorough=thorough,
            interrupted=interrupted,
            audience=audience,
        )
        self.beside = report.beside
        tell(report)
        self._say(report, started)
        return report

    def _publish(self, changed: list[str], diagnostics: tuple[Diagnostic, ...]) -> None:
        old = self.state
        self._number += 1
        name = f"{self._run}-{self._number}"
        theme = any(url.startswith(("static/css", "static/js", "static/vendor")) for url in changed)
        # A build that failed may have written style sheets before it did.
        look = name if theme or self._failed or not old.look else old.look
        self._failed = False
        faults = [found._asdict() | {"text": str(found)} for found in diagnostics]
        # Who does not know what came before asks for the page itself.
        before, self._missed = "" if self._missed else old.build, False
        message = {"error": "", "before": before, "changed": changed, "diagnostics": faults}
        self._tell(State(owned(self.folder) or frozenset(), name, look, message))

    def _say(self, report: Report, started: float) -> None:
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
        self._missed = self._failed = True
        old = self.state
        message = {"error": error, "before": old.build, "changed": [], "diagnostics": []}
        self._tell(State(old.names, old.build, old.look, message))
        self._print(line)

    def _tell(self, state: State) -> None:
        self.state = state
        # The server may end at any moment.
        if self.loop is not None:
            with suppress(RuntimeError):
                self.loop.call_soon_threadsafe(self._send, state, self._pages(state))

    def _print(self, line: str) -> None:
        # The terminal may be gone; the browsers are not.
        with suppress(OSError, ValueError):
            self.say(line)

    def _pages(self, state: State) -> dict[str, str]:
        """Those of the changed pages that somebody looks at."""
        found = {}
        for url in self.seen.intersection(state.message["changed"]):
            data = self.read(url)
            if data is not None:
                found[url] = state.text(marked(url, data, state).decode("utf-8", "replace"))
        return found

    def _send(self, state: State, pages: Mapping[str, str]) -> None:
        text = state.text()
        for queue, url in self.tabs.items():
            queue.put_nowait(pages.get(url, text))
