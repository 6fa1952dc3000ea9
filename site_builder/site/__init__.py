"""
---
title: The site
summary: The whole pipeline, on one screen.
---
# The site

    discover → parse | index | record → translate → weave → render → write

`make` does all of it but the last and returns the files; `build` writes them. Pages are worked on independently, in
as many processes as asked for; only `index` has to see them all. `record` is the one stage that runs what the
pages' authors wrote.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from site_builder import index, outputs, render
from site_builder.config import Config
from site_builder.discover import Asset, discover
from site_builder.errors import Diagnostic
from site_builder.render import PageFile
from site_builder.site.evidence import gather
from site_builder.site.inputs import images, nameable, taken
from site_builder.site.memory import Memory
from site_builder.site.pages import Context, close, introduced, opened, parsed, woven
from site_builder.site.workers import spread
from site_builder.weave import Evidence
from site_builder.write import Written, write

__all__ = ["Made", "Memory", "Progress", "Read", "Report", "build", "make", "read"]

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how many pages are done, and how many there are."""


@dataclass(frozen=True)
class Read:
    """Every page of the configured packages, parsed, and the images beside them."""

    index: index.Index
    assets: tuple[Asset, ...]
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True)
class Made:
    """A site in memory."""

    files: dict[str, bytes]
    diagnostics: tuple[Diagnostic, ...]
    pages: int
    evidence: Mapping[str, Evidence] = field(default_factory=dict)
    """By page URL: what its examples gave, and which of its claims hold."""
    waiting: bool = False
    """Whether examples were not run, since only what is known was asked for."""


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
    try:
        made = make(config, jobs=jobs, progress=progress)
    finally:
        close(config)
    built = ("", *config.built_languages)
    others = (lambda url: config.language_of(url) not in built) if config.only else (lambda url: False)
    written = write(config.folder(config.output), made.files, clean=clean, keep=others)
    return Report(made.diagnostics, made.pages, written, time.perf_counter() - started)


def make(
    config: Config,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
    memory: Memory | None = None,
    known: bool = False,
) -> Made:
    """
    The site's files by URL, and everything that is wrong with it. With a `memory` of the last time, for one process,
    only what has changed is worked out. `known` waits for no example: what has not been run yet is left out.
    """
    source = read(config, jobs, progress, memory)
    pictures, faults = images(source.assets, config.root)
    order = source.index.order
    store = opened(config)
    found = gather(config, source.index, store, jobs, _report(progress, "running"), memory, known=known)
    context = Context.of(config, source.index, pictures, found.pages, memory)
    context = context.introducing(spread(introduced, order, context, jobs, _report(progress, "naming")))
    tasks = [(url, lang) for lang in config.built_languages for url in order]
    results = spread(woven, tasks, context, jobs, _report(progress, "weaving"))
    pages = [result.page for result in results]
    files = {result.page.url: result.data for result in results}
    files |= outputs.beside(context.site, context.templates, pages, found.pages) | render.static_files(config)
    faults += tuple(taken(asset, config.root) for asset in source.assets if asset.url in files)
    if memory:
        memory.forget()
    problems = _sorted((*source.diagnostics, *faults, *found.diagnostics), pages)
    return Made(pictures | files, problems, len(order), found.pages, found.waiting)


def read(
    config: Config, jobs: int = 1, progress: Progress | None = None, memory: Memory | None = None
) -> Read:
    """The first half of the line, as far as the index."""
    found, faults = nameable(discover(config))
    pages = spread(parsed, found.sources, memory, jobs, _report(progress, "reading"))
    tree = index.build([page for page in pages if page is not None], config.all_languages[1:])
    return Read(tree, found.assets, (*faults, *tree.diagnostics))


def _sorted(first: Iterable[Diagnostic], pages: list[PageFile]) -> tuple[Diagnostic, ...]:
    """Each fault once, though a page may be woven in several languages."""
    found = {*first}.union(*(page.diagnostics for page in pages))
    return tuple(sorted(found))


def _report(progress: Progress | None, what: str) -> Callable[[int, int], None] | None:
    return (lambda done, total: progress(what, done, total)) if progress else None
