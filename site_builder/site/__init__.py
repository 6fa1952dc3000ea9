"""
---
title: The site
summary: The whole pipeline, on one screen.
---
# The site

    discover → parse → index → translate → weave → render → write

`make` does all of it but the last and returns the files; `build` writes them. Pages are worked on independently, in
as many processes as asked for; only `index` has to see them all.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from site_builder import index, outputs, render
from site_builder.config import Config
from site_builder.discover import discover
from site_builder.errors import Diagnostic
from site_builder.render import PageFile
from site_builder.site.pages import Context, parsed, woven
from site_builder.site.workers import spread
from site_builder.write import Written, write

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how many pages are done, and how many there are."""


@dataclass(frozen=True)
class Made:
    """A site in memory."""

    files: dict[str, bytes]
    diagnostics: tuple[Diagnostic, ...]
    pages: int


@dataclass(frozen=True)
class Report:
    """What a build did."""

    diagnostics: tuple[Diagnostic, ...]
    pages: int
    written: Written
    seconds: float


def build(config: Config, *, jobs: int = 1, clean: bool = False, progress: Progress | None = None) -> Report:
    """
    Builds the site into the configured output folder.

    Raises:
        SiteError: there is nothing to build, or the output folder is not ours.
    """
    started = time.perf_counter()
    made = make(config, jobs=jobs, progress=progress)
    written = write(config.folder(config.output), made.files, clean=clean)
    return Report(made.diagnostics, made.pages, written, time.perf_counter() - started)


def make(config: Config, *, jobs: int = 1, progress: Progress | None = None) -> Made:
    """The site's files by URL, and everything that is wrong with it."""
    found = discover(config)
    pages = spread(parsed, found.sources, None, jobs, _report(progress, "reading"))
    tree = index.build([page for page in pages if page is not None], config.all_languages[1:])
    context = Context.of(config, tree, found)
    tasks = [(url, lang) for lang in config.all_languages for url in tree.order]
    results = spread(woven, tasks, context, jobs, _report(progress, "weaving"))
    files = {result.url: result.html.encode() for result in results}
    files |= outputs.beside(context.site, context.templates, results)
    files |= render.static_files(config)
    files |= {asset.url: Path(asset.file).read_bytes() for asset in found.assets}
    return Made(files, _sorted(tree.diagnostics, results), len(tree.order))


def _sorted(first: Iterable[Diagnostic], results: list[PageFile]) -> tuple[Diagnostic, ...]:
    """Each fault once, though a page may be woven in several languages."""
    counted = Counter(first)
    for result in results:
        counted.update(result.diagnostics)
    return tuple(sorted(counted))


def _report(progress: Progress | None, what: str) -> Callable[[int, int], None] | None:
    return (lambda done, total: progress(what, done, total)) if progress else None
