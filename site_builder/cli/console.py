"""
---
title: How the commands speak
summary: Colour where it is wanted, a progress bar only on a terminal, one last line with the counts.
---
# How the commands speak

Every command prints through these few functions, so that a message looks the same everywhere: one line a fault,
never wrapped, and plain where nobody sees colours. What is printed is never read as markup, since a path may hold
square brackets.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from site_builder.errors import Diagnostic, count

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["COLOURS", "complain", "console", "count", "progress", "show"]

COLOURS = ("auto", "always", "never")


def console(color: str = "auto", *, stderr: bool = True) -> Console:
    """
    A console that obeys `--color`, then `NO_COLOR`, `FORCE_COLOR` and `TERM=dumb`, in that order. It never wraps:
    a message is one line, for people and for `grep`.
    """
    # Imported late, as all of rich: whoever has nothing to say shall not wait for it.
    from rich.console import Console

    if color == "auto":
        plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
        forced = bool(os.environ.get("FORCE_COLOR")) and not os.environ.get("NO_COLOR")
        color = "always" if forced else "never" if plain else "auto"
    return Console(
        stderr=stderr,
        force_terminal={"always": True, "never": False, "auto": None}[color],
        color_system={"always": "standard", "never": None, "auto": "auto"}[color],
        highlight=False,
        soft_wrap=True,
        emoji=False,
        markup=False,
    )


def complain(message: str) -> None:
    """One sentence about what ended the command."""
    from rich.text import Text

    console().print(Text.assemble(("error: ", "bold red"), message))


def show(out: Console, diagnostics: Iterable[Diagnostic], *, as_errors: bool) -> None:
    """One line a fault."""
    from rich.text import Text

    for found in diagnostics:
        line = Text()
        line.append(f"{found.path}:{found.line}:{found.column}: ", "bold")
        line.append(found.code, "red" if as_errors else "yellow")
        line.append(f" {' '.join(found.message.split())}")
        if found.hint:
            line.append(f" — {' '.join(found.hint.split())}", "dim")
        out.print(line)


@contextmanager
def progress(color: str, quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """A bar on a terminal; elsewhere nothing."""
    # `--color always` into a file makes rich believe in a terminal; a bar belongs on a real one.
    if quiet or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description:>8}"), BarColumn(), MofNCompleteColumn())
    # No thread of its own for the bar: processes are forked meanwhile, and would inherit its locks.
    with Progress(*columns, console=console(color), transient=True, auto_refresh=False) as bar:
        tasks = {}
        last = 0.0

        def report(what: str, done: int, total: int) -> None:
            nonlocal last
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done)
            if done == total or time.monotonic() - last > 0.1:
                bar.refresh()
                last = time.monotonic()

        yield report
