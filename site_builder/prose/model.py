"""
---
title: Rendered prose
summary: HTML, its headings, its plain text, and what was wrong.
---
# Rendered prose

What `render` returns, and the small values that it exchanges with its callbacks. They stand apart so that its
parts can share them without importing one another.
"""

from __future__ import annotations

from typing import NamedTuple

from site_builder.errors import Diagnostic
from site_builder.prose.slots import bare


class LinkError(ValueError):
    """What the `link` callback raises for a target that leads nowhere."""

    def __init__(self, code: str, message: str, hint: str = ""):
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint


class Outcome(NamedTuple):
    """
    What came of an example: what it printed, what it raised; `state` is `passed`, `failed` or `idle`. `stopped` is the
    line of the example with which the run of the page ended, where that is why: this one, or one before it.
    """

    state: str
    output: str = ""
    error: str = ""
    cut: bool = False
    stopped: int = 0


class Heading(NamedTuple):
    """`html` is what stands between its tags, `text` the same without any."""

    level: int
    html: str
    text: str
    id: str


class Rendered(NamedTuple):
    """
    `searched` is the prose as search reads it: code as it is, a line for each block, and math as its TeX source,
    between marks where no reader would want to see that.
    """

    html: str
    headings: tuple[Heading, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    searched: str = ""

    @property
    def text(self) -> str:
        """The same without marks."""
        return bare(self.searched)
