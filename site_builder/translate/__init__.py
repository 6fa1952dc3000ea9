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
from site_builder.translate import syntax
from site_builder.translate.catalogue import Catalogue, Entry, Place
from site_builder.translate.comparing import mismatches
from site_builder.translate.matching import Unit, match

__all__ = ["Localised", "localise", "opening", "original", "parts", "units"]

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


def original(page: Page) -> Localised:
    """The page as its author wrote it."""
    return _localised((prose for _, prose in parts(page)), {})


def localise(page: Page, catalogue: Catalogue | None, faults: tuple[Diagnostic, ...] = ()) -> Localised:
    """The page with what the catalogue has; without a catalogue, every block is missing."""
    matches = match(units(page), catalogue.entries if catalogue else ())
    states: dict[Place, BlockState | None] = {}
    texts: dict[str, dict[int, tuple[ProseLine, ...]]] = {}
    fallback: dict[str, dict[int, BlockState]] = {}
    found: list[Diagnostic] = [*faults]
    for matched in matches:
        place, entry = matched.unit.place, matched.entry
        states[place] = matched.state
        if matched.state is not None:
            fallback.setdefault(place.anchor, {})[place.ordinal] = matched.state
        elif entry and catalogue:
            texts.setdefault(place.anchor, {})[place.ordinal] = _lines(catalogue.path, entry)
            found += mismatches(catalogue.path, entry, matched.unit.text)
    proses = (
        blocks.replace(prose, texts.get(anchor, {}), fallback.get(anchor, {}))
        for anchor, prose in parts(page)
    )
    return _localised(proses, states, tuple(dict.fromkeys(found)))


def opening(page: Page, catalogue: Catalogue | None) -> Localised:
    """Title and summary as `localise` gives them, which is all that other pages show; the rest as it was written."""
    texts: dict[str, dict[int, tuple[ProseLine, ...]]] = {}
    fallback: dict[str, dict[int, BlockState]] = {}
    for matched in match(units(page), catalogue.entries if catalogue else ()):
        place, entry = matched.unit.place, matched.entry
        if matched.state is not None:
            fallback.setdefault(place.anchor, {})[place.ordinal] = matched.state
        elif entry and catalogue:
            texts.setdefault(place.anchor, {})[place.ordinal] = _lines(catalogue.path, entry)
    proses = (
        blocks.replace(prose, texts.get(anchor, {}), fallback.get(anchor, {}))
        if anchor in (TITLE, SUMMARY)
        else prose
        for anchor, prose in parts(page)
    )
    return _localised(proses, {})


def units(page: Page) -> tuple[Unit, ...]:
    """Every block that a translator is given, in reading order. A module's own name is none, though it be the title."""
    return tuple(
        Unit(Place(anchor, ordinal), text)
        for anchor, prose in parts(page)
        if anchor != TITLE or page.title_position
        for ordinal, text in blocks.translatable(prose)
    )


def parts(page: Page) -> Iterator[tuple[str, Prose]]:
    """All prose of a page by anchor: title, summary, introduction, then the sections in order."""
    start = Position(page.source.path, 1, 1)
    yield TITLE, _one_line(page.title, page.title_position or start)
    yield SUMMARY, _one_line(page.front.summary, page.front.position("summary") or start)
    yield INTRO, page.intro
    for section in page.sections:
        yield section.anchor, section.prose


def _localised(
    proses: Iterator[Prose], states: Mapping[Place, BlockState | None], found: tuple[Diagnostic, ...] = ()
) -> Localised:
    title, summary, intro, *sections = proses
    return Localised(title, summary, intro, tuple(sections), states, found)


def _lines(path: str, entry: Entry) -> tuple[ProseLine, ...]:
    """The translation, each of its lines with the place in the catalogue at which it was typed."""
    places = [*syntax.starts(entry.pieces)]
    rows = entry.text.split("\n")
    places += [(entry.line, 1)] * (len(rows) - len(places))
    return tuple(ProseLine(row, path, *place) for row, place in zip(rows, places, strict=False))


def _one_line(text: str, position: Position) -> Prose:
    return Prose((ProseLine(text, position.path, position.line, position.column),) if text else ())
