"""
---
title: check
summary: The command that says what is wrong with pages, and how much of them is proven.
---
# `check`

It makes the site as `build --strict` does, in memory only. Faults go to standard error; the table on standard output
says, for each page that has code in functions or claims, how much of that code its examples ran and what became of
its claims.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table

from site_builder.cli.build import configured, running_examples
from site_builder.cli.console import COLOURS, console, count, progress, show

if TYPE_CHECKING:
    from site_builder.site.ledger import Tally

_HEADINGS = ("ran", "of", "%", "proven", "unchecked", "false")


@click.command()
@click.argument("paths", nargs=-1)
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="Processes at work.  [default: all cores]")
@running_examples
@click.option("--clean", is_flag=True, help="Use no cache.")
@click.option("-q", "--quiet", is_flag=True, help="Print faults only.")
@click.option("-v", "--verbose", is_flag=True, help="Show tracebacks.")
@click.option("--color", type=click.Choice(COLOURS), default="auto", show_default=True)
def check(
    paths: tuple[str, ...],
    jobs: int | None,
    execute: bool | None,
    clean: bool,
    quiet: bool,
    verbose: bool,
    color: str,
) -> int:
    """Check the pages of PATHS: packages, folders or modules, installed or not. Nothing is written.

    Every fault of a page counts, in its examples, its claims about shapes, its links, its math and its
    translations: if there is one, the exit status is 1. Without PATHS, what [tool.site_builder] in pyproject.toml
    names.
    """
    from site_builder.site import make
    from site_builder.site.workers import default_jobs

    out = console(color)
    config = configured(paths, None, (), execute)
    if clean:
        config = replace(config, cache="")
    with progress(out, quiet) as report:
        made = make(config, jobs=jobs or default_jobs(), progress=report)
    show(out, made.diagnostics, as_errors=True)
    if not quiet:
        _print(console(color, stderr=False), made.report.tallies)
        faults = count(len(made.diagnostics), "fault") if made.diagnostics else "no faults"
        unrun = "" if config.execute else "; examples did not run, which --exec makes them"
        out.print(f"{count(made.report.pages, 'page')} checked; {faults}{unrun}")
    return 1 if made.diagnostics else 0


def _print(out: Console, tallies: Mapping[str, Tally]) -> None:
    """A row for each page of which there is something to say, and one for all."""
    rows = {url: tuple(tally) for url, tally in sorted(tallies.items()) if any(tally)}
    if not rows:
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("page", overflow="fold")
    for heading in _HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True, min_width=len(heading))
    for url, row in rows.items():
        table.add_row(url, *_cells(row), style=_style(row))
    if len(rows) > 1:
        table.add_section()
        table.add_row("all", *_cells(tuple(map(sum, zip(*rows.values(), strict=True)))))
    out.print(table)


def _cells(row: tuple[int, ...]) -> list[str]:
    ran, all_, *claims = row
    # Rounded down: only what ran whole has run whole.
    share = [f"{ran:,}", f"{all_:,}", f"{100 * ran // all_}"] if all_ else ["", "", ""]
    return [*share, *(f"{number:,}" if any(claims) else "" for number in claims)]


def _style(row: tuple[int, ...]) -> str | None:
    ran, all_, _, unchecked, false = row
    return "red" if false else "green" if ran == all_ and not unchecked else None
