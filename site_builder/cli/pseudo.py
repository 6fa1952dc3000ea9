"""
---
title: translate pseudo
summary: The command that builds the site in languages that nobody speaks, to find what was never translated.
---
# `translate pseudo`

The catalogues of [pseudo-languages](site_builder.translate.pseudo) are made anew each time and put where nobody sees
them, so the project keeps no trace of them but the site that was asked for.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace

import click

from site_builder.cli.build import configured, running_examples
from site_builder.cli.console import COLOURS, console, count, progress, show


@click.command()
@click.option("-o", "--output", default="pseudo", show_default=True, help="Folder that receives the site.")
@running_examples
@click.option("-q", "--quiet", is_flag=True, help="Print only what escaped, and faults.")
@click.option("-v", "--verbose", is_flag=True, help="Show tracebacks.")
@click.option("--color", type=click.Choice(COLOURS), default="auto", show_default=True)
def pseudo(output: str, execute: bool | None, quiet: bool, verbose: bool, color: str) -> int:
    """Build the site in two languages that nobody speaks.

    In en-XA each letter that was translated has an accent, so what escaped translation is plain to see; ar-XB is
    written from right to left. Every text that escaped is printed once, with the first page that shows it, and the exit
    status is 1 if there is one.
    """
    from site_builder.cli.translating import pages_of
    from site_builder.site import build
    from site_builder.site.workers import default_jobs
    from site_builder.translate import pseudo as languages
    from site_builder.translate.escaped import escaped
    from site_builder.translate.locales import ACCENTED

    out = console(color)
    config = configured((), output, (), execute)
    with tempfile.TemporaryDirectory() as folder:
        config = replace(config, languages=(config.language, *languages.LANGUAGES), translations=folder)
        pages = pages_of(config)
        for code in languages.LANGUAGES:
            languages.fill(config, code, pages)
        with progress(color, quiet) as report:
            done = build(config, jobs=default_jobs(), progress=report)
    # What is wrong with the sources themselves, `check` says.
    ours = [fault for fault in done.diagnostics if fault.code.startswith(("catalogue-", "translation-"))]
    show(out, ours, as_errors=True)
    site = config.folder(config.output)
    names = languages.names(config, pages)
    found: dict[str, list[str]] = {}
    for file in sorted((site / ACCENTED).rglob("*.html")):
        for text in escaped(file.read_text("utf-8"), names):
            found.setdefault(text, []).append(file.relative_to(site).as_posix())
    for text, (page, *others) in found.items():
        more = f" (and on {count(len(others), 'other page')})" if others else ""
        console(color, stderr=False).print(f"{page}: {text}{more}")
    if not quiet:
        out.print(f"{count(done.pages, 'page')} in {site}: {count(len(found), 'text')} escaped translation")
    return 1 if found or ours else 0
