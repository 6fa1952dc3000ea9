"""
---
title: Evidence for a site
summary: The records of its pages, and what they say of the claims that the pages make.
---
# Evidence for a site

Running the examples of a page runs the code of its author. That happens for packages that the configuration names,
or when the command line says so; of other pages only what is written in them is checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from site_builder import cache, claims, record, verified
from site_builder.config import Config
from site_builder.errors import Diagnostic
from site_builder.index import Index
from site_builder.site.memory import Memory, recall
from site_builder.site.workers import Progress, spread
from site_builder.weave import Evidence


@dataclass(frozen=True)
class Gathered:
    """Evidence by page URL; whether examples were left unrun because only what is `known` was asked for."""

    pages: Mapping[str, Evidence] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()
    waiting: bool = False


def gather(
    config: Config,
    index: Index,
    store: cache.Store,
    jobs: int,
    progress: Progress | None = None,
    memory: Memory | None = None,
    *,
    known: bool = False,
) -> Gathered:
    """`known` runs nothing: a record that the store lacks is left out."""
    pages = [page for url in index.order if (page := index.page(url))]
    recorded = record.Recorded()
    if config.execute:
        recorded = record.record_pages(config, pages, store=store, jobs=jobs, progress=progress, known=known)
    waiting = set(recorded.waiting)
    tasks = [(page.url, recorded.records.get(page.url), page.url in waiting) for page in pages]
    compared = verified.read(config)
    checked = spread(_evidence, tasks, (config, index, memory, compared), jobs)
    faults = [fault for evidence in checked for fault in evidence.checked.diagnostics]
    return Gathered(
        {page.url: evidence for page, evidence in zip(pages, checked, strict=True)},
        (*recorded.diagnostics, *faults, *compared.diagnostics),
        bool(waiting),
    )


def _evidence(
    shared: tuple[Config, Index, Memory | None, verified.Verified],
    task: tuple[str, record.Record | None, bool],
) -> Evidence:
    config, index, memory, compared = shared
    url, found, waiting = task
    page = index.page(url)
    assert page is not None

    def make() -> Evidence:
        checked = claims.check(page, found)
        return Evidence(found, checked, compared.rows(page), compared.was(page), config.execute, waiting)

    source = (page, found, compared.about(page), config.execute, waiting)
    return recall(memory, ("evidence", url), source, make)
