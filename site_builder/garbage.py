"""
---
title: Garbage
summary: How often Python looks for values that nobody can reach any more.
---
# Garbage

A build makes millions of values, and hardly any of them in a circle. Python looks for circles each time that some
hundreds of values are new, and then looks at all the others too.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_SELDOM = (400_000, 20, 20)
"""After how many new values that are still there, and after how many such rounds among the older ones."""


def seldom() -> None:
    """From now on it is looked for less often."""
    gc.set_threshold(*_SELDOM)


@contextmanager
def unhurried() -> Iterator[None]:
    """
    Meanwhile it is looked for less often. What there was before is not frozen: garbage among it would grow old without
    being looked for, and who builds again and again would never be rid of it.
    """
    before = gc.get_threshold()
    seldom()
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def undisturbed() -> Iterator[None]:
    """None is looked for while somebody waits: there is time for it when they have been told."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
