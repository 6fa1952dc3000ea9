"""
---
title: Keeping catalogues up to date
summary: What `translate update` writes, and what `translate status` counts.
---
# Keeping catalogues up to date

`update` reads every catalogue of a language before it writes any, because a block that has moved to another page
finds its translation in the catalogue of the page that it came from. One that cannot be read is reported and not
touched. The catalogue of a page that is gone stays too: somebody's work is in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

from site_builder.catalogues import INTERFACE, path_of
from site_builder.config import Config
from site_builder.errors import Diagnostic
from site_builder.model import BlockState, Page
from site_builder.translate import files, glossary, interface, units
from site_builder.translate.catalogue import Catalogue, Entry, write
from site_builder.translate.matching import Match, match
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
    """
    How many blocks of one page are translated, were drafted by a machine and not reviewed, were translated from another
    text, and are not translated. `words` are those of the source, `left` those of them that nobody has translated.
    """

    name: str
    done: int = 0
    drafts: int = 0
    stale: int = 0
    missing: int = 0
    words: int = 0
    left: int = 0

    @property
    def total(self) -> int:
        return self.done + self.drafts + self.stale + self.missing

    @property
    def percent(self) -> int:
        """Rounded down, so that 100 means that nothing is left to do."""
        return 100 * self.done // self.total if self.total else 100


@dataclass(frozen=True)
class Current:
    """
    The catalogues of one language as an update would leave them, by name, with the URL of their page, which is empty
    for the interface's.
    """

    catalogues: Mapping[str, tuple[Catalogue, str]]
    orphans: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]


def current(config: Config, lang: str, pages: Sequence[Page]) -> Current:
    """Every catalogue that is needed or is there, merged with the sources. One that cannot be read is left out."""
    faults: list[Diagnostic] = []
    catalogues: dict[str, Catalogue] = {}
    of_pages = {path_of(lang, page.url): page for page in covered(config, lang, pages)}
    interface_name = f"{lang}/{INTERFACE}"
    here = files.names(config, lang)
    for name in (interface_name, *of_pages, *(name for name in here if name not in of_pages)):
        catalogue, found = files.load(config, lang, name)
        faults += found
        if catalogue:
            catalogues[name] = catalogue
    known = memory(catalogue for name, catalogue in catalogues.items() if name != interface_name)
    made: dict[str, tuple[Catalogue, str]] = {}
    if old := catalogues.get(interface_name):
        new = interface.merged(files.wanted_words(config, lang), old)
        if new.entries:
            made[interface_name] = new, ""
    for name, page in of_pages.items():
        if old := catalogues.get(name):
            new = merged(units(page), old, known)
            if new.entries or name in here:
                made[name] = new, page.url
    orphans = tuple(name for name in here if name not in of_pages)
    return Current(made, orphans, tuple(sorted(faults)))


def covered(config: Config, lang: str, pages: Sequence[Page]) -> Iterator[Page]:
    """Those of the pages that the site has in that language."""
    return (page for page in pages if config.covers(lang, page.source.path))


def update(config: Config, lang: str, pages: Sequence[Page]) -> Updated:
    """Brings the catalogues of one language up to date. One that cannot be read is left alone."""
    now = current(config, lang, pages)
    written = save(config, now)
    return Updated(written, len(now.catalogues) - len(written), now.orphans, now.diagnostics)


def save(config: Config, now: Current) -> tuple[str, ...]:
    """Writes the catalogues that differ from their files, and names them."""
    made = {name: write(catalogue, url) for name, (catalogue, url) in now.catalogues.items()}
    return tuple(name for name, data in made.items() if files.save(config, name, data))


def status(
    config: Config, lang: str, pages: Sequence[Page]
) -> tuple[tuple[Count, ...], tuple[Diagnostic, ...]]:
    """How far the translation of each page has come: the interface first, all together last."""
    catalogue, found = files.load(config, lang, f"{lang}/{INTERFACE}")
    faults = [*found]
    said = _said(catalogue, files.wanted_words(config, lang))
    counts = [_count("_interface", said)] if said else []
    for page in covered(config, lang, pages):
        catalogue, found = files.load(config, lang, path_of(lang, page.url))
        faults += found
        matches = match(units(page), catalogue.entries if catalogue else ())
        states = [(one.unit.text, BlockState.MACHINE if _drafted(one) else one.state) for one in matches]
        counts.append(_count(page.url.removesuffix(".html"), states))
    sums = (sum(column) for column in zip(*(astuple(one)[1:] for one in counts), strict=True))
    return (*counts, Count("all", *sums)), tuple(sorted(faults))


def overdue(config: Config, pages: Sequence[Page]) -> tuple[Diagnostic, ...]:
    """A diagnostic for each language that is further behind the sources than the configuration allows."""
    found: list[Diagnostic] = []
    for lang in (code for code in config.built_languages if code != config.language):
        (*counts, every), _ = status(config, lang, pages)
        if every.stale > config.stale_limit:
            most = max(counts, key=lambda one: one.stale)
            found.append(
                Diagnostic(
                    (Path(config.translations) / lang / f"{most.name}.po").as_posix(),
                    1,
                    1,
                    "translation-stale",
                    f"{every.stale:,} blocks in {lang} translate an older text, {most.stale:,} of them here; "
                    f"{config.stale_limit:,} may",
                    "run `translate update` and look for what is fuzzy, or raise stale_limit",
                )
            )
    return tuple(found)


State = tuple[str, BlockState | None]
"""A text of the source, and how far it is translated."""


def _said(catalogue: Catalogue | None, wanted: Sequence[Entry]) -> list[State]:
    """The same for the words of the templates, which are looked up by nothing but themselves."""
    entries = catalogue.entries if catalogue else ()
    known = {(entry.context, entry.source): entry for entry in entries if not entry.obsolete}
    ready = (
        {(entry.context, entry.source) for entry in interface.usable(catalogue)[0]} if catalogue else set()
    )
    states: list[State] = []
    for word in wanted:
        name = (word.context, word.source)
        entry = known.get(name)
        if name in ready and entry:
            states.append((word.source, BlockState.MACHINE if entry.drafted else None))
        else:
            states.append((word.source, BlockState.STALE if entry and entry.stale else BlockState.MISSING))
    return states


def _drafted(found: Match) -> bool:
    return found.state is None and found.entry is not None and found.entry.drafted


def _count(name: str, states: Sequence[State]) -> Count:
    each = [state for _, state in states]
    words = [(sum(map(_is_word, glossary.words(text).split())), state) for text, state in states]
    return Count(
        name,
        done=each.count(None),
        drafts=each.count(BlockState.MACHINE),
        stale=each.count(BlockState.STALE),
        missing=each.count(BlockState.MISSING),
        words=sum(count for count, _ in words),
        left=sum(count for count, state in words if state in (BlockState.STALE, BlockState.MISSING)),
    )


def _is_word(text: str) -> bool:
    return any(map(str.isalnum, text))
