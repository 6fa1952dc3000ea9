"""
---
title: What is served
summary: One build, what is said of it, and how a page tells which build it is from.
---
# What is served

The builds and the server run in two threads. What they share is one value, exchanged as a whole, so that no reader is
told of one build with the messages of another.
"""

from __future__ import annotations

import html
import json
from dataclasses import dataclass, field
from typing import Any

from site_builder.cache import digest

SCRIPT = "_live/live.js"


@dataclass(frozen=True)
class State:
    """One build: its files by name, what it is called, what is said of it. One object: they belong together."""

    names: frozenset[str] = frozenset()
    build: str = ""
    look: str = ""
    """Changes when a style sheet or script does: then a page has to be loaded anew."""
    message: dict[str, Any] = field(default_factory=dict)

    def text(self, page: str | None = None) -> str:
        """What browsers are told, and with it the new page that one of them shows."""
        return json.dumps({"build": self.build, "look": self.look, **self.message, "page": page})

    @property
    def greeting(self) -> str:
        """What a browser is told first: it may have come late, and knows nothing of what was before."""
        return json.dumps(
            {"build": self.build, "look": self.look, **self.message, "before": "", "changed": []}
        )


def marked(url: str, data: bytes, state: State) -> bytes:
    """The page with a script that waits for the next build."""
    # A file of the next build may lie there already: what is in the page is told apart by itself.
    marks = {"url": url, "build": state.build, "look": state.look, "page": digest(data).hex()[:16]}
    attributes = " ".join(f'data-{name}="{html.escape(value)}"' for name, value in marks.items())
    script = f'<script src="/{SCRIPT}" {attributes} defer></script>'
    before, end, after = data.rpartition(b"</body>")
    return (before if end else after) + script.encode("utf-8", "replace") + (end + after if end else b"")
