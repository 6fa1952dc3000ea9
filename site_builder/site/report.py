"""
---
title: What a build says
summary: What is wrong, what was written, how much is proven, how long it took.
---
# What a build says

A build prints nothing. It returns this, and whoever asked for it says what a person should hear: `build` in a
line, `check` in a table, `serve` in the browser.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from site_builder.errors import Diagnostic
from site_builder.site.ledger import Beside, Tally
from site_builder.write import Written

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how many pages are done, and how many there are."""


class Report(NamedTuple):
    """What a build did."""

    diagnostics: tuple[Diagnostic, ...]
    pages: int
    written: Written
    seconds: float = 0.0
    tallies: Mapping[str, Tally] = {}
    """By page URL: how much of it its examples ran, and what became of its claims."""
    changed: tuple[str, ...] = ()
    """The URLs of the files that are new, other than they were, or gone."""
    waiting: bool = False
    """Whether examples were not run, since they were postponed."""
    beside: Beside = Beside()
    """What pages import that is no page: whoever waits for changes has to look there too."""


class Audience(NamedTuple):
    """Who looks at the site while it is built: at these of its pages, which are made first."""

    urls: Collection[str]
    told: Callable[[Report], None]
    """Called when they are there, with what has been done so far, if anything had to be done to them."""


def telling(progress: Progress | None, what: str) -> Callable[[int, int], None] | None:
    """For one thing that is being done, if anybody listens."""
    return (lambda done, total: progress(what, done, total)) if progress else None


class StoppedError(Exception):
    """Whoever asked for the build has other things to do."""
