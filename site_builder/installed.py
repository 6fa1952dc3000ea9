"""
---
title: What is installed
summary: The distributions that decide what an example gives.
---
# What is installed

Another version of torch may give another number, and an extension may show another value. So both belong to what a
record depends on, and to what a whole site does that shows records. Asking is slow, and is done once a process.
"""

from __future__ import annotations

from functools import cache
from importlib import metadata

GROUP = "site_builder.summaries"
"""The entry points of those who tell the recorder about types of their own."""

_COMPUTING = ("torch", "numpy", "pandas")


@cache
def computing() -> tuple[str, ...]:
    """What computes, with its versions."""
    return tuple(f"{name} {version(name) or '-'}" for name in _COMPUTING)


@cache
def points() -> tuple[metadata.EntryPoint, ...]:
    return tuple(sorted(metadata.entry_points(group=GROUP), key=lambda point: (point.value, point.name)))


@cache
def extensions() -> tuple[str, ...]:
    """Which distributions tell the recorder about types, and in which versions."""
    return tuple(f"{point.value} {point.dist.version if point.dist else ''}".strip() for point in points())


def version(distribution: str) -> str:
    """Empty where it is not installed."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""
