"""
---
title: When nobody can be told
summary: Messages that cannot be written are lost, and nothing else is.
---
# When nobody can be told

Standard error is for people who look on. Where it leads to a full disk, or to a program that has ended, the site is
made all the same and the exit status tells how that went, as with git and make. Standard output is a result: whoever
asked for it and cannot have it is told by the status.

A stream that was closed before we began is opened onto nothing. Else the next file, which may be the cache, would get
its number, and with it all that was meant for the terminal.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any, TextIO, cast


class Forgiving:
    """A stream that passes on what is written, and what cannot be written is as good as written."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()


def prepare() -> None:
    """Once, before anything is said or opened."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The lowest number that is free.
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    sys.stderr = cast("TextIO", Forgiving(sys.stderr))
