"""
---
title: translate
summary: The commands that give translators their work, and count what is left of it.
---
# `translate`
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table

from site_builder.cli.build import configured
from site_builder.cli.console import COLOURS, console, count, show
from site_builder.config import Config
from site_builder.errors import SiteError
from site_builder.model import Page

if TYPE_CHECKING:
    from site_builder.translate.upkeep import Count

_LANG = click.option("--lang", multiple=True, help="This language only; may be repeated.  [default: all]")
_VERBOSE = click.option("-v", "--verbose", is_flag=True, help="Show tracebacks.")
_COLOR = click.option("--color", type=click.Choice(COLOURS), default="auto", show_default=True)


@click.group()
def translate() -> None:
    """Work on the translations of the site: one PO file a page."""


@translate.command()
@_LANG
@_VERBOSE
@_COLOR
def update(lang: tuple[str, ...], verbose: bool, color: str) -> int:
    """Bring the PO files up to date with the sources and the templates.

    Translations and comments stay. What is translated from an older text becomes stale (fuzzy), what is gone
    becomes obsolete. A file that cannot be read is left alone, and the exit status is 1.
    """
    from site_builder.translate import upkeep

    out = console(color)
    config, languages = _configured(lang)
    pages = _pages(config)
    faults = written = unchanged = 0
    for code in languages:
        done = upkeep.update(config, code, pages)
        show(out, done.diagnostics, as_errors=True)
        for name in done.written:
            out.print((Path(config.translations) / name).as_posix())
        for name in done.orphans:
            out.print(f"{(Path(config.translations) / name).as_posix()} belongs to no page; left as it is")
        faults += len(done.diagnostics)
        written += len(done.written)
        unchanged += done.unchanged
    out.print(f"{count(written, 'catalogue')} written, {unchanged:,} unchanged")
    return 1 if faults else 0


@translate.command()
@_LANG
@_VERBOSE
@_COLOR
def status(lang: tuple[str, ...], verbose: bool, color: str) -> int:
    """Print how many blocks of each page are translated, stale and missing."""
    from site_builder.translate import upkeep

    out = console(color, stderr=False)
    config, languages = _configured(lang)
    pages = _pages(config)
    for code in languages:
        counts, faults = upkeep.status(config, code, pages)
        show(console(color), faults, as_errors=False)
        _print(out, code, counts)
    return 0


def _print(out: Console, lang: str, counts: tuple[Count, ...]) -> None:
    table = Table(box=None, pad_edge=False)
    table.add_column(lang, no_wrap=True)
    for heading in ("done", "stale", "missing", "%"):
        table.add_column(heading, justify="right", no_wrap=True)
    for one in counts:
        numbers = (one.done, one.stale, one.missing, one.percent)
        style = "green" if one.done == one.total else "yellow" if one.done else None
        table.add_row(one.name, *(f"{number:,}" for number in numbers), style=style)
    out.print(table)


def _configured(lang: tuple[str, ...]) -> tuple[Config, tuple[str, ...]]:
    """The configuration, and the translations that the command is about."""
    config = configured((), None, lang)
    languages = config.all_languages[1:]
    if not languages:
        raise SiteError(
            f"there is no language to translate into but {config.language!r}, that of the sources",
            hint="name one under languages in [tool.site_builder]",
        )
    return config, languages


def _pages(config: Config) -> tuple[Page, ...]:
    """Every page of the configured packages, in reading order."""
    from site_builder.site import read
    from site_builder.site.workers import default_jobs

    return tuple(read(config, default_jobs()).pages.values())
