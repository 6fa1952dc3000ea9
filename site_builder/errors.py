"""
---
title: Errors are sentences
summary: One shape for everything that can be wrong, with the place and the remedy.
---
# Errors are sentences

A *diagnostic* speaks of something in a page and lets the build go on. A `SiteError` ends it: wrong usage, a
configuration that cannot be read, a folder that is not ours.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol


class Place(Protocol):
    """Where something stands: a `Position`, for one."""

    @property
    def path(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...


class Diagnostic(NamedTuple):
    """`path:line:column: CODE message — hint`; line and column count from one."""

    path: str
    line: int
    column: int
    code: str
    message: str
    hint: str = ""

    @classmethod
    def at(cls, place: Place, code: str, message: str, hint: str = "") -> Diagnostic:
        return cls(place.path, place.line, place.column, code, message, hint)

    def __str__(self) -> str:
        tail = f" — {self.hint}" if self.hint else ""
        # One message is one line, whatever it quotes.
        return " ".join(f"{self.path}:{self.line}:{self.column}: {self.code} {self.message}{tail}".split())


class SiteError(Exception):
    """A fault that ends the command with exit status 2. The message is a sentence for a person."""

    def __init__(self, message: str, *, path: str = "", line: int = 0, hint: str = ""):
        super().__init__(message)
        self.message = message
        self.path = path
        self.line = line
        self.hint = hint

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}: " if self.line else f"{self.path}: " if self.path else ""
        tail = f" — {self.hint}" if self.hint else ""
        return f"{place}{self.message}{tail}"


def count(number: int, noun: str) -> str:
    """`1 page`, `2 pages`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
