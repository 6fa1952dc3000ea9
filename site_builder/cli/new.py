"""
---
title: new
summary: The command that starts a project.
---
# `new`

What is written, and how names are made from the name of a folder, is told in [A new project](site_builder.new).
The command says what to do next, and makes the first catalogues for `--lang`.
"""

from __future__ import annotations

import contextlib
import shlex
from pathlib import Path

import click

from site_builder.cli.console import COLOURS, console, count
from site_builder.cli.translate import update


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--name", default="", help="Name of the package.  [default: that of DIR]")
@click.option("--lang", multiple=True, help="Start a translation into this language; may be repeated.")
@click.option("-v", "--verbose", is_flag=True, help="Show tracebacks.")
@click.option("--color", type=click.Choice(COLOURS), default="auto", show_default=True)
@click.pass_context
def new(
    context: click.Context, folder: Path, name: str, lang: tuple[str, ...], verbose: bool, color: str
) -> int:
    """Start a small working project in DIR.

    It has one annotated module with examples, claims and a test, and a workflow that publishes its site on GitHub
    Pages. It builds, checks and tests green at once. DIR is made, or may be there with other things in it; nothing
    that is there is changed.
    """
    from site_builder.new import create

    out = console(color)
    made = create(folder, name, lang)
    out.print(f"{count(len(made.files), 'file')} in {made.folder}; the package is {made.names.package}")
    if lang:
        with contextlib.chdir(made.folder):
            context.invoke(update, lang=lang, verbose=verbose, color=color)
    steps = [f"cd {shlex.quote(str(folder))}"] if made.folder != Path.cwd() else []
    steps += ['pip install -e ".[dev]"']
    steps += ["python -m site_builder serve --open", "python -m site_builder check", "python -m pytest"]
    out.print("\nNext:\n" + "".join(f"\n    {step}" for step in steps))
    return 0
