r"""
---
title: Glue
summary: No line begins with a comma, even where a formula precedes it.
---
# Glue

A browser may break a line behind any formula, so also between `$x$` and its comma. Where the formula is
short, what touches it is tied to it. A long one must be free to break, and keeps its comma only by luck.
"""

from __future__ import annotations

from site_builder.lazy import regex

_AFTER = regex("(?:[-–'’]\\w+)?[.,;:!?%…)}\"'”’»。、，．！？：；）」』】〉》]*")
_BEFORE = "({\"'“‘«（「『【〈《"
_NEXT_LINE = regex(r"\n(?=[.,;:!?)]+(?:\s|$))")
_COMMAND = regex(r"\\[A-Za-z]+")
_SPACED = regex(r"[-+=<>]")
_INVISIBLE = regex(r"[\s{}^_]|\\[,;:!]")
_SHORT = 24


def before(text: str) -> str:
    """What touches from the left what follows the text."""
    return text[len(text.rstrip(_BEFORE)) :]


def after(source: str, at: int) -> str:
    """What touches from the right what ends there."""
    found = _AFTER.match(source, at)
    return found[0] if found else ""


def skipped(source: str, at: int) -> int:
    """How much is to be left out there: a line end before a comma would be shown as a blank."""
    return 1 if source.startswith("\n", at) and _NEXT_LINE.match(source, at) else 0


def is_short(tex: str) -> bool:
    """Whether the formula will be at most some twenty characters wide."""
    shown = _INVISIBLE.sub("", _COMMAND.sub("x", tex))
    return len(shown) + 2 * len(_SPACED.findall(shown)) <= _SHORT
