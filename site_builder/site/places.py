"""
---
title: A place for a site that nobody publishes
summary: Below the cache, so that the next time finds what is the same; for one process at a time.
---
# A place for a site that nobody publishes

`check` makes the whole site and looks at it, and `serve` shows a copy of its own. In a folder that lasts, the second
time makes only what has changed. A process that finds another at work there gets a folder of its own, and so does one
without a cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from site_builder.cache import digest, home
from site_builder.config import Config

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextmanager
def place(config: Config) -> Iterator[Path]:
    """A folder for the site of that configuration, to be used within the context."""
    with ExitStack() as stack:
        yield _lasting(config, stack) or _fleeting(stack)


def _fleeting(stack: ExitStack) -> Path:
    # Imported late, with all kinds of archives behind it.
    import tempfile

    made = tempfile.TemporaryDirectory(prefix="site_builder-", ignore_cleanup_errors=True)
    return Path(stack.enter_context(made))


def _lasting(config: Config, stack: ExitStack) -> Path | None:
    if not config.cache or fcntl is None:
        return None
    name = digest(*config.packages, "", *config.only, str(config.execute)).hex()[:8]
    try:
        folder = home(config.folder(config.cache)) / "made" / name
        folder.parent.mkdir(exist_ok=True)
        # The lock ends with the process, however that ends.
        lock = stack.enter_context(folder.with_suffix(".lock").open("wb"))
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return None
    return folder
