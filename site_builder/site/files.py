"""
---
title: The files of one build
summary: What lies in the output folder now, and what of it is new.
---
# The files of one build
"""

from __future__ import annotations

from collections.abc import Mapping

from site_builder.write import Seen, Written


class Files:
    """By URL. `claimed` are all that the manifest names, before any is written: none but these may be."""

    def __init__(self) -> None:
        self.claimed: frozenset[str] = frozenset()
        self.lying: dict[str, Seen] = {}
        self.changed: set[str] = set()

    def leave(self, seen: Mapping[str, Seen]) -> None:
        """These lie there as they should be."""
        self.lying.update(seen)

    def put(self, url: str, seen: Seen, changed: bool) -> None:
        """This one was made; it may be as it was."""
        assert url in self.claimed, f"{url} was written and never claimed"
        self.lying[url] = seen
        if changed:
            self.changed.add(url)

    def written(self, removed: int = 0) -> Written:
        return Written(len(self.changed), len(self.lying) - len(self.changed), removed)
