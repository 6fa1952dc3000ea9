"""
---
title: Keeping catalogues up to date
summary: What `translate update` writes, and what `translate status` counts.
---
# Keeping catalogues up to date
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from site_builder.config import Config
from site_builder.errors import Diagnostic
from site_builder.model import BlockState, Page
from site_builder.translate import files, interface, units
from site_builder.translate.catalogue import Catalogue, write
from site_builder.translate.matching import match
from site_builder.translate.merging import memory, merged


@dataclass(frozen=True)
class Updated:
    """What an update did. `orphans` are catalogues of pages that are no more; they stay as they are."""

    written: tuple[str, ...]
    unchanged: int
    orphans: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class Count:
    """How many blocks of one page are translated, were translated from another text, and are not."""

    name: str
    done: int = 0
    stale: int = 0
    missing: int = 0

    @property
    def total(self) -> int:
        return self.done + self.stale + self.missing

    @property
    def percent(self) -> int:
        """Rounded down, so that 100 means that nothing is left to do."""
        return 100 * self.done // self.total if self.total else 100


def update(config: Config, lang: str, pages: Sequence[Page]) -> Updated:
    """Brings the catalogues of one language up to date. One that cannot be read is left alone."""
    faults: list[Diagnostic] = []
    catalogues: dict[str, Catalogue] = {}
    of_pages = {files.path_of(lang, page.url): page for page in pages}
    interface_name = f"{lang}/{files.INTERFACE}"
    here = files.names(config, lang)
    for name in (interface_name, *of_pages, *(name for name in here if name not in of_pages)):
        catalogue, found = files.load(config, lang, name)
        faults += found
        if catalogue:
            catalogues[name] = catalogue
    known = memory(catalogue for name, catalogue in catalogues.items() if name != interface_name)
    made: dict[str, bytes] = {}
    if old := catalogues.get(interface_name):
        new = interface.merged(files.wanted_words(config, lang), old)
        if new.entries:
            made[interface_name] = write(new)
    for name, page in of_pages.items():
        if old := catalogues.get(name):
            new = merged(units(page), old, known)
            if new.entries or name in here:
                made[name] = write(new, page.url)
    written = tuple(name for name, data in made.items() if files.save(config, name, data))
    orphans = tuple(name for name in here if name not in of_pages)
    return Updated(written, len(made) - len(written), orphans, tuple(sorted(faults)))


def status(
    config: Config, lang: str, pages: Sequence[Page]
) -> tuple[tuple[Count, ...], tuple[Diagnostic, ...]]:
    """How far the translation of each page has come: the interface first, all together last."""
    catalogue, found = files.load(config, lang, f"{lang}/{files.INTERFACE}")
    faults = [*found]
    ready = {(entry.context, entry.source) for entry in (interface.usable(catalogue)[0] if catalogue else ())}
    said = [(entry.context, entry.source) in ready for entry in files.wanted_words(config, lang)]
    counts = [Count("_interface", done=said.count(True), missing=said.count(False))] if said else []
    for page in pages:
        catalogue, found = files.load(config, lang, files.path_of(lang, page.url))
        faults += found
        states = [one.state for one in match(units(page), catalogue.entries if catalogue else ())]
        stale, missing = states.count(BlockState.STALE), states.count(BlockState.MISSING)
        counts.append(Count(page.url.removesuffix(".html"), states.count(None), stale, missing))
    every = Count(
        "all", *(sum(getattr(one, what) for one in counts) for what in ("done", "stale", "missing"))
    )
    return (*counts, every), tuple(sorted(faults))
