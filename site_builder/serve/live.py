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
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from site_builder.config import Config
from site_builder.errors import SiteError
from site_builder.site import make


class Live:
    """Holds what was built last. `rebuild` runs in the watcher's thread, everything else in the server's."""

    def __init__(self, reload: Callable[[], Config], say: Callable[[str], None]):
        self.reload, self.say = reload, say
        self.files: dict[str, bytes] = {}
        self.message: dict[str, Any] = {}
        self.lock = threading.Lock()
        self.loop: asyncio.AbstractEventLoop | None = None
        self.waiting: set[asyncio.Queue[str | None]] = set()

    def rebuild(self) -> None:
        """Builds and tells the browsers: which URLs changed, or what went wrong. The old site stays until then."""
        with self.lock:
            started = time.perf_counter()
            try:
                made = make(self.reload())
            except SiteError as error:
                self._tell({"error": str(error), "changed": [], "diagnostics": []})
                self.say(f"error: {error}")
                return
            except Exception as error:
                # A fault of the builder must not end the session of an author.
                self._tell({"error": f"{type(error).__name__}: {error}", "changed": [], "diagnostics": []})
                self.say(f"a fault of the builder: {type(error).__name__}: {error}")
                return
            changed = sorted(
                url
                for url in made.files.keys() | self.files.keys()
                if made.files.get(url) != self.files.get(url)
            )
            self.files = made.files
            for found in made.diagnostics:
                self.say(str(found))
            self.say(
                f"built {made.pages} pages in {time.perf_counter() - started:.2f} s, {len(changed)} files changed"
            )
            faults = [asdict(found) | {"text": str(found)} for found in made.diagnostics]
            self._tell({"error": "", "changed": changed, "diagnostics": faults})

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop

    def subscribe(self) -> asyncio.Queue[str | None]:
        """A queue that receives each message, the last one at once if it was an error."""
        queue: asyncio.Queue[str | None] = asyncio.Queue()
        self.waiting.add(queue)
        if self.message.get("error"):
            queue.put_nowait(json.dumps(self.message))
        return queue

    def close(self) -> None:
        """Ends every stream, so that the server can stop."""
        for queue in self.waiting:
            queue.put_nowait(None)

    def _tell(self, message: dict[str, Any]) -> None:
        self.message = message
        if self.loop is None or self.loop.is_closed():
            return
        text = json.dumps(message)
        self.loop.call_soon_threadsafe(self._send, text)

    def _send(self, text: str) -> None:
        for queue in self.waiting:
            queue.put_nowait(text)
