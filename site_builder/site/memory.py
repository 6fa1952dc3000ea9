"""
---
title: What the last build knew
summary: A process that builds again and again works out only what depends on a change.
---
# What the last build knew

A value is kept beside everything that it was made from. While that is equal, the value is what making it again would
give. Nothing here reaches another process or the disk.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

T = TypeVar("T")


class Memory:
    """
    >>> memory = Memory()
    >>> memory.recall("answer", ("six", "nine"), lambda: 42)
    42
    >>> memory.recall("answer", ("six", "nine"), lambda: 54)
    42
    >>> memory.recall("answer", ("six", "seven"), lambda: 42.0)
    42.0
    """

    def __init__(self) -> None:
        self._known: dict[Hashable, tuple[object, Any]] = {}
        self._asked: set[Hashable] = set()

    def recall(self, name: Hashable, source: object, make: Callable[[], T]) -> T:
        """What was made under that name from an equal `source`, else what `make` gives now."""
        known = self._known.get(name)
        if known is None or known[0] != source:
            known = self._known[name] = (source, make())
        self._asked.add(name)
        return cast("T", known[1])

    def same(self, name: Hashable, value: T) -> T:
        """The value of the last build if it was equal: what is one object is compared at once."""
        return self.recall(name, value, lambda: value)

    def forget(self) -> None:
        """Lets go of what nothing has asked for since the last time."""
        self._known = {name: known for name, known in self._known.items() if name in self._asked}
        self._asked.clear()


def recall(memory: Memory | None, name: Hashable, source: object, make: Callable[[], T]) -> T:
    return memory.recall(name, source, make) if memory else make()
