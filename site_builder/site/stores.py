"""
---
title: The store of each process
summary: Opened when it is first asked for, and let go of when the work is done.
---
# The store of each process

A connection to a database must not cross a fork, so no process may use the one of another. Each opens its own,
found again by the number of the process.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from site_builder.cache import Store
from site_builder.config import Config


def opened(config: Config) -> Store:
    """The store of this process; in memory alone where the configuration names no folder for it."""
    return of(file(config), os.getpid())


def close(config: Config) -> None:
    """Lets the store of this process be tidied. What comes later opens it again."""
    opened(config).close()


def file(config: Config) -> Path | None:
    return config.folder(config.cache) / "store.sqlite" if config.cache else None


@cache
def of(path: Path | None, process: int) -> Store:
    return Store(path)
