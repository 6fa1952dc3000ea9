"""
---
title: check
summary: The command that says what is wrong with pages, and how much of them is proven.
---
# `check`

It makes the site as `build --strict` does, but in a folder below the cache, and then looks at it as [a reader
would](inspection.html). Faults go to standard error; the table on standard output says, for each page that has code
in functions or claims, how much of that code its examples ran and what became of its claims. With `--format json` all
of that is one object on standard output, and standard error stays silent.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click
from rich.console import Console

from site_builder import codes
from site_builder.cli import telling
from site_builder.cli.build import configured, running_examples
from site_builder.cli.console import COLOURS, console, count, progress, show
from site_builder.errors import SiteError

if TYPE_CHECKING:
    from site_builder.cli.inspection import Inspection

FORMATS = ("full", "json")


@click.command()
@click.argument("paths", nargs=-1)
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="Processes at work.  [default: all cores]")
@click.option("--lang", multiple=True, help="Check only this language; may be repeated.")
@running_examples
@click.option("--external", is_flag=True, help="Also ask other sites for the pages that are linked there.")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="full",
    show_default=True,
    help="Lines and a table for people, or one object of JSON.",
)
@click.option(
    "--explain",
    metavar="CODE",
    is_flag=False,
    flag_value=codes.ALL,
    help="Say what the code of a diagnostic means, and nothing else; `all` lists them.",
)
@click.option("--clean", is_flag=True, help="Use no cache.")
@click.option("-q", "--quiet", is_flag=True, help="Print faults only.")
@click.option("-v", "--verbose", is_flag=True, help="Show tracebacks.")
@click.option("--color", type=click.Choice(COLOURS), default="auto", show_default=True)
def check(
    paths: tuple[str, ...],
    jobs: int | None,
    lang: tuple[str, ...],
    execute: bool | None,
    external: bool,
    form: str,
    explain: str | None,
    clean: bool,
    quiet: bool,
    verbose: bool,
    color: str,
) -> int:
    """Check the pages of PATHS: packages, folders or modules, installed or not. Nothing is written.

    Every fault counts: in examples, claims about shapes, links, math, symbols and translations, pages without a
    title or summary or that nothing leads to, images without words, headings that skip a level. If there is one, the
    exit status is 1. Without PATHS, what [tool.site_builder] in pyproject.toml names.
    """
    if explain is not None:
        click.echo(_explained(explain))
        return 0
    from site_builder.cli.inspection import inspect
    from site_builder.site.workers import default_jobs

    out = console(color)
    config = configured(paths, None, lang, execute)
    if clean:
        config = replace(config, cache="")
    with progress(color, quiet or form == "json") as report:
        done = inspect(config, jobs or default_jobs(), report, external=external)
    if form == "json":
        click.echo(telling.as_json(done))
    else:
        show(out, done.diagnostics, as_errors=True)
        if not quiet:
            _tell(out, done)
            telling.table(console(color, stderr=False), done)
            faults = count(len(done.diagnostics), "fault") if done.diagnostics else "no faults"
            unrun = "" if config.execute else "; examples did not run, which --exec makes them"
            out.print(f"{count(len(done.pages), 'page')} checked; {faults}{unrun}")
    return 1 if done.diagnostics else 0


def _explained(code: str) -> str:
    if code == codes.ALL:
        return codes.listing()
    if code not in codes.CODES:
        raise SiteError(
            f"no diagnostic has the code {code!r}",
            hint=f"did you mean {codes.nearest(code)!r}? --explain all lists them",
        )
    return codes.explain(codes.CODES[code])


def _tell(out: Console, done: Inspection) -> None:
    """What was asked of other sites and not answered: worth a look, and no fault."""
    for link in done.unchecked:
        at = link.places[0]
        out.print(f"{at.path}:{at.line}:{at.column}: could not be checked: {link.address} {link.reason}")
    if done.asked:
        out.print(f"{count(done.asked, 'link')} to other sites followed")
