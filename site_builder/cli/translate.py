"""
---
title: translate
summary: The commands that give translators their work, and count what is left of it.
---
# `translate`

The work is done in [the upkeep of catalogues](site_builder.translate.upkeep); here the languages are chosen and
the results printed. The pages come from the first half of the pipeline, as far as the index. What a translator is
given depends on the sources alone, so no example has to run for it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from site_builder.cli.console import COLOURS, console, count, show
from site_builder.cli.draft import draft
from site_builder.cli.pseudo import pseudo
from site_builder.cli.translating import chosen, pages_of

if TYPE_CHECKING:
    from site_builder.translate.upkeep import Count

_LANG = click.option("--lang", multiple=True, help="This language only; may be repeated.  [default: all]")
_VERBOSE = click.option("-v", "--verbose", is_flag=True, help="Show tracebacks.")
_COLOR = click.option("--color", type=click.Choice(COLOURS), default="auto", show_default=True)


@click.group()
def translate() -> None:
    """Work on the translations of the site: one PO file a page."""


translate.add_command(draft)
translate.add_command(pseudo)


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
    config, languages = chosen(lang)
    pages = pages_of(config)
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
    """Print how many blocks of each page are translated, drafted by a machine, stale and missing.

    The words are those of the source, and those of them that are left to translate.
    """
    from site_builder.translate import upkeep

    out = console(color, stderr=False)
    config, languages = chosen(lang)
    pages = pages_of(config)
    for code in languages:
        counts, faults = upkeep.status(config, code, pages)
        show(console(color), faults, as_errors=False)
        _print(out, code, counts)
    return 0


def _print(out: Console, lang: str, counts: tuple[Count, ...]) -> None:
    table = Table(box=None, pad_edge=False)
    table.add_column(lang, no_wrap=True)
    for heading in ("done", "drafts", "stale", "missing", "%", "words", "left"):
        table.add_column(heading, justify="right", no_wrap=True)
    for one in counts:
        numbers = (one.done, one.drafts, one.stale, one.missing, one.percent, one.words, one.left)
        style = "green" if one.done == one.total else "yellow" if one.done else None
        table.add_row(one.name, *(f"{number:,}" for number in numbers), style=style)
    # As wide as it needs to be: a number that is cut short would be a wrong one.
    out.width = max(out.width, Measurement.get(out, out.options.update_width(1000), table).maximum)
    out.print(table)
