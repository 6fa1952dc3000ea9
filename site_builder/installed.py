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

import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "site_builder.summaries"
"""The entry points of those who tell the recorder about types of their own."""

_COMPUTING = ("torch", "numpy", "pandas")


@cache
def computing() -> tuple[str, ...]:
    """What computes, with its versions."""
    return tuple(f"{name} {version(name) or '-'}" for name in _COMPUTING)


@cache
def points() -> tuple[EntryPoint, ...]:
    # Imported late: it brings along what reads electronic mail.
    from importlib import metadata

    return tuple(sorted(metadata.entry_points(group=GROUP), key=lambda point: (point.value, point.name)))


@cache
def extensions() -> tuple[str, ...]:
    """Which distributions tell the recorder about types, and in which versions."""
    return tuple(f"{point.value} {point.dist.version if point.dist else ''}".strip() for point in points())


def version(distribution: str) -> str:
    """Empty where it is not installed."""
    found = _versions().get(_plain(distribution))
    if found == "":
        # The folder of a checkout that is worked on has no version in its name, only in its files.
        from importlib import metadata

        return metadata.version(distribution) or ""
    return found or ""


@cache
def _versions() -> dict[str, str]:
    """By name, from the folder that each distribution leaves beside its packages; the first on the path counts."""
    found: dict[str, str] = {}
    for place in sys.path:
        try:
            names = [entry.name for entry in Path(place or ".").iterdir()]
        except OSError:
            continue
        for name in names:
            stem, _, suffix = name.rpartition(".")
            if suffix in ("dist-info", "egg-info"):
                distribution, _, rest = stem.partition("-")
                found.setdefault(_plain(distribution), rest.partition("-")[0])
    return found


def _plain(name: str) -> str:
    return name.lower().replace("-", "_").replace(".", "_")
