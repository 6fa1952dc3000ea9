"""
---
title: Later, or never
summary: Expressions that are compiled, and names that are imported, when they are first needed.
---
# Later, or never

The builder knows hundreds of expressions for what may stand in a source file, and who changes one page needs a few
of them. Compiling all takes as long as weaving several pages, so each is compiled by the first who asks it something.

    >>> word = regex(r"[a-z]+")
    >>> word.findall("one 2 three")
    ['one', 'three']

Likewise a package may offer what is in its modules without importing them: `later` makes the `__getattr__` that
Python asks for a name which a module lacks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, AnyStr, Generic, cast


def regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """What `re.compile` would give, for a constant of a module: a fault in it is seen only when it is used."""
    return cast("re.Pattern[AnyStr]", Regex(pattern, flags))


class Regex(Generic[AnyStr]):
    """Stands for a compiled expression until somebody asks for one of its methods."""

    def __init__(self, pattern: AnyStr, flags: int):
        self.pattern: AnyStr = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        # Called only for what is not yet an attribute; from now on it is one, and costs what any method costs.
        found = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, found)
        return found

    def __reduce__(self) -> tuple[Callable[..., re.Pattern[AnyStr]], tuple[AnyStr, int]]:
        return regex, (self.pattern, self._flags)


def later(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """
    The `__getattr__` of a package that offers each of these names from one of its modules.

    >>> later("email", {"Message": "message"})("Message").__name__
    'Message'
    """

    def found(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return found
