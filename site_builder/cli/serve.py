"""
---
title: serve
summary: The command that shows an author the page while it is written.
---
# `serve`

The command turns its options into one call of [the server](site_builder.serve). It hands over a function and not a
configuration, because `pyproject.toml` is among the files that an author may be editing: the settings are read
again before every build.
"""

from __future__ import annotations

import click

from site_builder.cli.build import configured, running_examples
from site_builder.cli.console import COLOURS, console


@click.command()
@click.argument("paths", nargs=-1)
@click.option(
    "-p", "--port", type=click.IntRange(0, 65535), help="Port.  [default: 8000, or the next free one]"
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--open", "open_browser", is_flag=True, help="Open the site in the browser.")
@click.option(
    "--poll", is_flag=True, help="Look for changes instead of being told: for containers, network disks."
)
@click.option("--lang", multiple=True, help="Build only this language.")
@running_examples
@click.option("-v", "--verbose", is_flag=True, help="Show tracebacks.")
@click.option("--color", type=click.Choice(COLOURS), default="auto", show_default=True)
def serve(
    paths: tuple[str, ...],
    port: int | None,
    host: str,
    open_browser: bool,
    poll: bool,
    lang: tuple[str, ...],
    execute: bool | None,
    verbose: bool,
    color: str,
) -> int:
    """Serve the site of PATHS and rebuild it whenever a file is saved."""
    from site_builder.serve import serve as serve_site

    out = console(color)
    serve_site(
        lambda: configured(paths, None, lang, execute),
        host=host,
        port=port,
        open_browser=open_browser,
        poll=poll,
        say=lambda line: out.print(line),
        verbose=verbose,
    )
    return 0
