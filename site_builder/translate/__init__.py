"""
---
title: Translation
summary: A page's prose with each block in the reader's language, or marked where it is not.
---
# Translation

A translation changes no page: it changes the prose that the page is woven from. The blocks of each section are
looked up one by one, first by their text, then by their place. What has no translation stays as the author wrote it
and says so; what has an old one is *stale*, and stays as the author wrote it too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from site_builder import blocks
from site_builder.errors import Diagnostic
from site_builder.model import BlockState, Page, Position, Prose, ProseLine
from site_builder.translate.catalogue import Catalogue, Entry, Place

TITLE, SUMMARY, INTRO = "@title", "@summary", "@intro"


@dataclass(frozen=True)
class Localised:
    """The prose of one page in one language; `sections` is parallel to the page's own."""

    title: Prose
    summary: Prose
    intro: Prose
    sections: tuple[Prose, ...]
    states: Mapping[Place, BlockState | None]
    """How each block came out; `None` for a translated one."""
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Unit:
    """One block for translators: its text as the author typed it, and its place."""

    place: Place
    text: str


def original(page: Page) -> Localised:
    """The page as its author wrote it."""
    title, summary, intro, *sections = (prose for _, prose in parts(page))
    return Localised(title, summary, intro, tuple(sections), {})


def localise(page: Page, catalogue: Catalogue | None, faults: tuple[Diagnostic, ...] = ()) -> Localised:
    """The page with what the catalogue has; without a catalogue, every block is missing."""
    states: dict[Place, BlockState | None] = {}
    current = {unit.text for unit in units(page)}
    title, summary, intro, *sections = (
        _translated(anchor, prose, catalogue, current, states) for anchor, prose in parts(page)
    )
    return Localised(title, summary, intro, tuple(sections), states, faults)


def parts(page: Page) -> Iterator[tuple[str, Prose]]:
    """All prose of a page by anchor: title, summary, introduction, then the sections in order."""
    start = Position(page.source.path, 1, 1)
    yield TITLE, _one_line(page.title, page.title_position or start)
    yield SUMMARY, _one_line(page.summary, page.front.position("summary") or start)
    yield INTRO, page.intro
    for section in page.sections:
        yield section.anchor, section.prose


def units(page: Page) -> Iterator[Unit]:
    """Every block that a translator is given, in reading order."""
    for anchor, prose in parts(page):
        for ordinal, text in blocks.translatable(prose):
            yield Unit(Place(anchor, ordinal), text)


def _translated(
    anchor: str,
    prose: Prose,
    catalogue: Catalogue | None,
    current: set[str],
    states: dict[Place, BlockState | None],
) -> Prose:
    texts: dict[int, tuple[ProseLine, ...]] = {}
    fallback: dict[int, BlockState] = {}
    for ordinal, text in blocks.translatable(prose):
        place = Place(anchor, ordinal)
        entry = catalogue.by_text.get(text) if catalogue else None
        if entry and catalogue:
            texts[ordinal] = _lines(catalogue.path, entry)
            states[place] = None
            continue
        old = catalogue.by_place.get(place) if catalogue else None
        # An entry that still translates another block of the page has moved there; it is not this block's.
        moved = old is not None and not old.stale and old.source in current
        states[place] = BlockState.STALE if old and not moved else BlockState.MISSING
        fallback[ordinal] = states[place] or BlockState.MISSING
    return blocks.replace(prose, texts, fallback)


def _lines(path: str, entry: Entry) -> tuple[ProseLine, ...]:
    return tuple(ProseLine(text, path, entry.line, 1) for text in entry.text.split("\n"))


def _one_line(text: str, position: Position) -> Prose:
    return Prose((ProseLine(text, position.path, position.line, position.column),) if text else ())
