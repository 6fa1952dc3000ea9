"""
---
title: The site
summary: Where the pipeline begins, and what spares it most of its work.
order:
  [line, acquaintance, weaving, pages, reading, gathering, files, survey, shelf, ledger, report, inputs, places,
  stores, workers]
---
# The site

    discover → parse | index | record → translate → weave → render → write

`build` asks whether anything has changed, and if so walks that [line](line.html). Pages are worked on independently,
in as many processes as asked for; only `index` has to see them all, and it sees no more of each than a
[card](site_builder.index.card). `record` is the one stage that runs what the pages' authors wrote.

Nothing is worked out twice. Each value is kept under a digest of [all that it was made from](survey.html): a card, the
answers that a woven page got from the others, the files made from all pages. A build starts from those digests and
makes what has none. So it gives what a clean build would give, and takes the time of what has changed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from site_builder.config import Config
from site_builder.errors import Diagnostic
from site_builder.site import ledger, stores
from site_builder.site.ledger import Ledger, Tally
from site_builder.site.places import place
from site_builder.site.report import Audience, Progress, Report, StoppedError
from site_builder.site.shelf import Shelf
from site_builder.site.survey import Survey, recall, survey
from site_builder.write import Written, owned

if TYPE_CHECKING:
    from site_builder.index import Index
    from site_builder.model import Page

__all__ = [
    "Audience",
    "Made",
    "Progress",
    "Read",
    "Report",
    "Shelf",
    "StoppedError",
    "Tally",
    "build",
    "make",
    "read",
]


def build(
    config: Config,
    *,
    jobs: int = 1,
    clean: bool = False,
    progress: Progress | None = None,
    shelf: Shelf | None = None,
    postpone: bool = False,
    thorough: bool = False,
    interrupted: Callable[[], bool] | None = None,
    audience: Audience | None = None,
) -> Report:
    """
    Builds the site into the configured output folder. A process that builds again hands the same `shelf` each time;
    `postpone` waits for no example: what has not been run yet is left out. A `clean` build writes every file anew;
    a `thorough` one looks at every page though nothing has changed, so that the shelf has all of them at hand.

    Raises:
        StoppedError: `interrupted` has said so while examples ran.
        SiteError: there is nothing to build, or the output folder is not ours.
    """
    started = time.perf_counter()
    shelf = shelf or Shelf(stores.opened(config))
    try:
        recall(shelf)
        inputs = survey(config)
        folder = config.folder(config.output)
        last = Ledger() if clean else ledger.read(shelf, folder)
        if not thorough and settled(last, inputs, folder):
            nothing = Written(0, len(last.files), 0)
            done = Report(last.diagnostics, last.pages, nothing, tallies=last.tallies, beside=last.beside)
        else:
            # Who has nothing to do shall not wait for all that could do it.
            from site_builder.garbage import unhurried
            from site_builder.site.line import make as work

            with unhurried():
                done = work(
                    inputs,
                    last,
                    shelf,
                    jobs=jobs,
                    anew=clean,
                    progress=progress,
                    postpone=postpone,
                    interrupted=interrupted,
                    audience=audience,
                )
    finally:
        stores.close(config)
    return done._replace(seconds=time.perf_counter() - started)


def settled(last: Ledger, inputs: Survey, folder: Path) -> bool:
    """Whether the last build was made from the same, and everything lies there as it left it."""
    return (
        last.fingerprint == inputs.fingerprint
        and owned(folder) == frozenset(last.files)
        and last.intact(folder)
        and last.beside.still()
    )


class Made(NamedTuple):
    """A site that was made to be looked at, and is gone from the disk."""

    files: dict[str, bytes]
    report: Report

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return self.report.diagnostics


def make(
    config: Config, *, jobs: int = 1, progress: Progress | None = None, shelf: Shelf | None = None
) -> Made:
    """The site's files by URL. The output folder is left alone: it is made below the cache, for the next time too."""
    with place(config) as folder:
        report = build(replace(config, output=str(folder)), jobs=jobs, progress=progress, shelf=shelf)
        names = owned(folder) or frozenset()
        return Made({name: (folder / name).read_bytes() for name in sorted(names)}, report)


@dataclass(frozen=True, eq=False, repr=False)
class Read:
    """Every page of the configured packages, parsed and in reading order."""

    index: Index
    pages: Mapping[str, Page]
    """By URL."""
    images: frozenset[str] = frozenset()
    """The URLs of what lies beside them, whether it can be read or not."""


def read(config: Config, jobs: int = 1) -> Read:
    """The first half of the line, for who wants the pages themselves."""
    from site_builder import index
    from site_builder.site.reading import page_of
    from site_builder.site.workers import spread

    inputs = survey(config)
    found = spread(page_of, inputs.sources, config, jobs)
    pages = {page.url: page for page in reversed(found) if page}
    tree = index.build(list(reversed(pages.values())), config.all_languages[1:])
    images = frozenset(asset.url for asset, _ in inputs.assets)
    return Read(tree, {url: pages[url] for url in tree.order}, images)
