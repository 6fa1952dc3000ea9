"""
---
title: What was meant
summary: The known word that is most like one that nobody knows.
---
# What was meant

Whoever mistypes a name gets the likeliest one told. `difflib` compares them, and is imported by the first who mistypes.

    >>> nearest("atention", ["attention", "feed_forward"])
    'attention'
    >>> nearest("softmax", ["attention", "feed_forward"])
    ''
"""

from __future__ import annotations

from collections.abc import Iterable

ALIKE = 0.6
"""From 0, nothing in common, to 1, equal."""


def nearest(word: str, known: Iterable[str], least: float = ALIKE) -> str:
    """Of those that are `least` alike or more the one most alike; empty where there is none."""
    import difflib

    return next(iter(difflib.get_close_matches(word, list(known), n=1, cutoff=least)), "")
