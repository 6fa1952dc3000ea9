"""
---
title: build
summary: The command that writes the site.
---
# `build`

`configured` is where the command line meets the configuration, for all commands. Paths outside the configured
packages are built without the project's settings: the title, the languages and the address of one package say
nothing about another.

The pipeline is imported inside the command, so that `--help` answers at once.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from site_builder.cli.console import COLOURS, console, count, progress, show
from site_builder.config import Config, load
from site_builder.discover import locate
from site_builder.errors import SiteError

running_examples = click.option(
    "--exec/--no-exec",
    "execute",
    default=None,
    help="Run the examples of the pages.  [default: of packages that the configuration names]",
)
"""What `build`, `check` and `serve` ask alike."""


@click.command()
@click.argument("paths", nargs=-1)
@click.option("-o", "--output", help="Folder that receives the site.  [default: docs]")
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="Processes at work.  [default: all cores]")
@click.option("--strict", is_flag=True, help="Exit with 1 when a page has a fault.")
@click.option("--lang", multiple=True, help="Build only this language; may be repeated.")
@running_examples
@click.option("--clean", is_flag=True, help="Use no cache and write every file anew.")
@click.option("-q", "--quiet", is_flag=True, help="Print faults only.")
@click.option("-v", "--verbose", is_flag=True, help="Show tracebacks.")
@click.option("--color", type=click.Choice(COLOURS), default="auto", show_default=True)
def build(
    paths: tuple[str, ...],
    output: str | None,
    jobs: int | None,
    strict: bool,
    lang: tuple[str, ...],
    execute: bool | None,
    clean: bool,
    quiet: bool,
    verbose: bool,
    color: str,
) -> int:
    """Build the site of PATHS: packages, folders or modules, installed or not.

    Without PATHS, what [tool.site_builder] in pyproject.toml names.
    """
    from site_builder.site import build as build_site
    from site_builder.site.workers import default_jobs

    config = configured(paths, output, lang, execute)
    if clean:
        config = replace(config, cache="")
    with progress(color, quiet) as report:
        done = build_site(config, jobs=jobs or default_jobs(), clean=clean, progress=report)
    if quiet and not done.diagnostics:
        return 0
    out = console(color)
    show(out, done.diagnostics, as_errors=strict)
    if not quiet:
        written = done.written
        faults = count(len(done.diagnostics), "fault") if done.diagnostics else "no faults"
        out.print(
            f"{count(done.pages, 'page')} in {config.folder(config.output)}: {written.changed:,} files written, "
            f"{written.same:,} unchanged, {written.removed:,} removed; {faults}; {done.seconds:.1f} s"
        )
    return 1 if strict and done.diagnostics else 0


def _ours(config: Config, paths: tuple[str, ...]) -> bool:
    """Whether all of it lies in the packages that the configuration is about; it says nothing of others."""
    own = [locate(config.root, package).resolve() for package in config.packages]
    wanted = [locate(config.root, path).resolve() for path in paths]
    return not own or all(any(path.is_relative_to(package) for package in own) for path in wanted)


def configured(
    paths: tuple[str, ...], output: str | None, lang: tuple[str, ...], execute: bool | None = None
) -> Config:
    """The configuration of the current folder with what the command line says instead."""
    here = Path.cwd()
    config = load(here)
    if paths:
        # Paths on the command line are relative to where it was typed, not to pyproject.toml.
        found = tuple(str(here / path) if (here / path).exists() else path for path in paths)
        config = replace(config if _ours(config, found) else Config(root=here), packages=found)
    if execute is not None:
        config = replace(config, execute=execute)
    if output:
        config = replace(config, output=str(here / output))
    if lang:
        known = config.all_languages
        if unknown := [code for code in lang if code not in known]:
            raise SiteError(f"{unknown[0]!r} is not among the languages {', '.join(known)}")
        config = replace(config, only=lang)
    return config
