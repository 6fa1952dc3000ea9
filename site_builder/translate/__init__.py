"""
---
title: Translation
summary: A page's prose with each block in the reader's language, or marked where it is not.
order:
  [matching, comparing, kept, glossary, catalogue, syntax, merging, upkeep, files, locales, interface, escaped,
  pseudo, drafts]
---
# Translation

A translation changes no page: it changes the prose that the page is woven from. The blocks of each section are
looked up one by one, first by their text, then by their place. What has no translation stays as the author wrote it
and says so; what has an old one is *stale*, and stays as the author wrote it too. What a machine wrote and
nobody has read is shown, and says that. The titles of papers are looked up too, but the page shows their translations
beside them, since a paper is found by its own title.

[Matching](matching.html) decides which entry belongs to which block, [merging](merging.html) brings a catalogue up
to date, and [comparing](comparing.html) holds each translation against its source.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from site_builder import blocks
from site_builder.errors import Diagnostic
from site_builder.model import BlockMark, BlockState, Page, Position, Prose, ProseLine
from site_builder.translate import comparing, syntax
from site_builder.translate.catalogue import Catalogue, Entry, Place
from site_builder.translate.matching import Unit, match

__all__ = ["Localised", "localise", "opening", "original", "parts", "units"]

TITLE, SUMMARY, PAPERS, INTRO = "@title", "@summary", "@papers", "@intro"


@dataclass(frozen=True)
class Localised:
    """The prose of one page in one language; `sections` is parallel to the page's own."""

    title: Prose
    summary: Prose
    intro: Prose
    sections: tuple[Prose, ...]
    states: Mapping[Place, BlockState | None]
    """How each block came out; `None` for one that a person translated."""
    papers: tuple[ProseLine | None, ...] = ()
    """What the titles of the page's papers mean, parallel to them; `None` where that is not known."""
    drafts: tuple[BlockMark, ...] = ()
    """The titles of papers that a machine translated."""
    diagnostics: tuple[Diagnostic, ...] = ()
    catalogue: str = ""
    """The file that it comes from, where there is one."""

    @property
    def whole(self) -> BlockState | None:
        """What all blocks have in common: a page that is not translated, or that a machine translated."""
        found = {state for place, state in self.states.items() if place.anchor != PAPERS}
        return found.pop() if len(found) == 1 else None


def original(page: Page) -> Localised:
    """The page as its author wrote it."""
    return _localised((prose for _, prose in parts(page)), {}, (None,) * len(page.front.papers))


def localise(page: Page, catalogue: Catalogue | None, faults: tuple[Diagnostic, ...] = ()) -> Localised:
    """The page with what the catalogue has; without a catalogue, every block is missing."""
    shown = _Shown(page, catalogue)
    proses = (shown.prose(anchor, prose) for anchor, prose in parts(page))
    done = _localised(proses, shown.states, shown.papers())
    return replace(
        done,
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
    return _localised(proses, shown.states, shown.papers())


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
                faults = comparing.faults(catalogue.path, entry, matched.unit.text, place, catalogue.terms)
                self.found += faults
                if any(fault.code == comparing.UNSAFE for fault in faults):
                    state = BlockState.MISSING
                else:
                    self.texts.setdefault(place.anchor, {})[place.ordinal] = _lines(catalogue.path, entry)
                    state = BlockState.MACHINE if entry.drafted else None
            self.states[place] = state
            # Beside the title of a paper there is simply nothing where it has no translation.
            if state is not None and (place.anchor != PAPERS or state is BlockState.MACHINE):
                former = (
                    _lines(catalogue.path, entry) if catalogue and entry and state is BlockState.STALE else ()
                )
                mark = BlockMark(state, entry.line if entry else 0, former)
                self.marks.setdefault(place.anchor, {})[place.ordinal] = mark

    def prose(self, anchor: str, prose: Prose) -> Prose:
        return blocks.replace(prose, self.texts.get(anchor, {}), self.marks.get(anchor, {}))

    def papers(self) -> tuple[ProseLine | None, ...]:
        """Plain text on one line each, like the titles themselves."""
        texts = self.texts.get(PAPERS, {})
        return tuple(
            replace(lines[0], text=" ".join(" ".join(line.text for line in lines).split()))
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


def parts(page: Page) -> Iterator[tuple[str, Prose]]:
    """All prose of a page by anchor: title, summary, introduction, then the sections in order."""
    start = Position(page.source.path, 1, 1)
    yield TITLE, _one_line(page.title, page.title_position or start)
    yield SUMMARY, _one_line(page.front.summary, page.front.position("summary") or start)
    yield INTRO, page.intro
    for section in page.sections:
        yield section.anchor, section.prose


def _localised(
    proses: Iterator[Prose], states: Mapping[Place, BlockState | None], papers: tuple[ProseLine | None, ...]
) -> Localised:
    title, summary, intro, *sections = proses
    return Localised(title, summary, intro, tuple(sections), states, papers)


def _lines(path: str, entry: Entry) -> tuple[ProseLine, ...]:
    """The translation, each of its lines with the place in the catalogue at which it was typed."""
    places = [*syntax.starts(entry.pieces)]
    rows = entry.text.split("\n")
    places += [(entry.line, 1)] * (len(rows) - len(places))
    return tuple(ProseLine(row, path, *place) for row, place in zip(rows, places, strict=False))


def _one_line(text: str, position: Position) -> Prose:
    return Prose((ProseLine(text, position.path, position.line, position.column),) if text else ())
