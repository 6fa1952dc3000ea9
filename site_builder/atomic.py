"""
---
title: At one stroke
summary: A file is the old one or the new one, whoever looks and whatever is killed.
---
# At one stroke

The new file is written beside the old one and then takes its place. Its first name tells whose it is, so that what a
killed process has left can be told from what a living one is still writing.
"""

from __future__ import annotations

import os
from pathlib import Path

WAITING = ".site_builder-"
"""What a file is called, with the number of its process, until it takes its place."""


def put(path: Path, data: bytes, *, even_if_equal: bool = False, mode: int = 0o644) -> bool:
    """Replaces the file at one stroke; tells whether it had to."""
    if not even_if_equal:
        try:
            if path.stat().st_size == len(data) and path.read_bytes() == data:
                return False
        except OSError:
            pass
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f"{WAITING}{os.getpid()}-{os.urandom(6).hex()}"
    try:
        # The name is nobody's: a file that is there already is not written to, nor is what a link points to.
        with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            file.write(data)
        temporary.chmod(mode)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        # Nobody knows the first name.
        raise OSError(error.errno, error.strerror, str(path)) from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return True
