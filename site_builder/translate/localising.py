"""
---
title: A page in another language
summary: Each block as its translation, or as it was written and marked.
---
# A page in another language

The units of a page are [matched](matching.html) with the entries of its catalogue, and each translation is
[held against its source](comparing.html). One that would not be safe to show is not shown.
"""

from __future__ import annotations

from site_builder import blocks
from site_builder.errors import Diagnostic
from site_builder.model import BlockMark, BlockState, Page, Prose, ProseLine
from site_builder.translate import (
    INTRO,
    PAPERS,
    SUMMARY,
    TITLE,
    Localised,
    assembled,
    comparing,
    parts,
    syntax,
)
from site_builder.translate.catalogue import Catalogue, Entry, Place
from site_builder.translate.matching import Unit, match


def localise(page: Page, catalogue: Catalogue | None, faults: tuple[Diagnostic, ...] = ()) -> Localised:
    """The page with what the catalogue has; without a catalogue, every block is missing."""
    shown = _Shown(page, catalogue)
    proses = (shown.prose(anchor, prose) for anchor, prose in parts(page))
    done = assembled(proses, shown.states, shown.papers())
    return done._replace(
        drafts=tuple(shown.marks.get(PAPERS, {}).values()),
        diagnostics=tuple(dict.fromkeys((*faults, *shown.found))),
        catalogue=catalogue.path if catalogue and catalogue.entries else "",
    )


def opening(page: Page, catalogue: Catalogue | None) -> Localised:
    """Title and summary as `localise` gives them, which is all that other pages show; the rest as it was written."""
    shown = _Shown(page, catalogue, only=(TITLE, SUMMARY))
    proses = (
        shown.prose(anchor, prose) if anchor in (TITLE, SUMMARY) else prose for anchor, prose in parts(page)
    )
    return assembled(proses, shown.states, shown.papers())


class _Shown:
    """What each block is shown as, of the sections in `only` or of all."""

    def __init__(self, page: Page, catalogue: Catalogue | None, only: tuple[str, ...] = ()):
        self.page = page
        self.states: dict[Place, BlockState | None] = {}
        self.found: list[Diagnostic] = []
        self.texts: dict[str, dict[int, tuple[ProseLine, ...]]] = {}
        self.marks: dict[str, dict[int, BlockMark]] = {}
        for matched in match(units(page), catalogue.entries if catalogue else ()):
            place, entry, state = matched.unit.place, matched.entry, matched.state
            if only and place.anchor not in only:
                self.states[place] = state
                continue
            if state is None and entry and catalogue:
                faults = comparing.faults(
                    catalogue.path, entry, matched.unit.text, place, catalogue.terms, catalogue.lang
                )
                self.found += faults
                if any(fault.code in comparing.REFUSED for fault in faults):
                    state = BlockState.MISSING
                else:
                    self.texts.setdefault(place.anchor, {})[place.ordinal] = _lines(catalogue.path, entry)
                    state = BlockState.MACHINE if entry.drafted else None
            self.states[place] = state
            # Beside the title of a paper there is simply nothing where it has no translation.
            if state is not None and (place.anchor != PAPERS or state is BlockState.MACHINE):
                former = (
                    self.former(catalogue, entry) if catalogue and entry and state is BlockState.STALE else ()
                )
                mark = BlockMark(state, entry.line if entry else 0, former)
                self.marks.setdefault(place.anchor, {})[place.ordinal] = mark

    def former(self, catalogue: Catalogue, entry: Entry) -> tuple[ProseLine, ...]:
        """The translation of an older text, which a reader may unfold."""
        faults = comparing.hidden(catalogue.path, entry, entry.previous + entry.source, catalogue.lang)
        self.found += faults
        return () if faults else _lines(catalogue.path, entry)

    def prose(self, anchor: str, prose: Prose) -> Prose:
        return blocks.replace(prose, self.texts.get(anchor, {}), self.marks.get(anchor, {}))

    def papers(self) -> tuple[ProseLine | None, ...]:
        """Plain text on one line each, like the titles themselves."""
        texts = self.texts.get(PAPERS, {})
        return tuple(
            lines[0]._replace(text=" ".join(" ".join(line.text for line in lines).split()))
            if (lines := texts.get(number))
            else None
            for number in range(len(self.page.front.papers))
        )


def units(page: Page) -> tuple[Unit, ...]:
    """Every block that a translator is given, in reading order. A module's own name is none, though it be the title."""
    titles = [Unit(Place(PAPERS, number), paper.title) for number, paper in enumerate(page.front.papers)]
    found: list[Unit] = []
    for anchor, prose in parts(page):
        if anchor == INTRO:
            found += titles
        if anchor != TITLE or page.title_position:
            found += (Unit(Place(anchor, ordinal), text) for ordinal, text in blocks.translatable(prose))
    return tuple(found)


def _lines(path: str, entry: Entry) -> tuple[ProseLine, ...]:
    """The translation, each of its lines with the place in the catalogue at which it was typed."""
    places = [*syntax.starts(entry.pieces)]
    rows = entry.text.split("\n")
    places += [(entry.line, 1)] * (len(rows) - len(places))
    return tuple(ProseLine(row, path, *place) for row, place in zip(rows, places, strict=False))
