"""
---
title: Translation
summary: A page's prose with each block in the reader's language, or marked where it is not.
order:
  [localising, matching, comparing, kept, unseen, glossary, catalogue, syntax, merging, upkeep, files, locales,
  speech, interface, escaped, pseudo, drafts]
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
from typing import TYPE_CHECKING, NamedTuple

from site_builder.errors import Diagnostic
from site_builder.lazy import later
from site_builder.model import BlockMark, BlockState, Page, Position, Prose, ProseLine

if TYPE_CHECKING:
    from site_builder.translate.catalogue import Place
    from site_builder.translate.localising import localise, opening, units

__all__ = ["Localised", "localise", "opening", "original", "parts", "units"]

TITLE, SUMMARY, PAPERS, INTRO = "@title", "@summary", "@papers", "@intro"

# A page in its own language needs none of these.
__getattr__ = later(__name__, {"localise": "localising", "opening": "localising", "units": "localising"})


class Localised(NamedTuple):
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
    def blocks(self) -> tuple[BlockState | None, ...]:
        """How each block is shown; `None` in the reader's language. Titles of papers are none."""
        return tuple(state for place, state in self.states.items() if place.anchor != PAPERS)

    @property
    def whole(self) -> BlockState | None:
        """What all blocks have in common: a page that is not translated, or that a machine translated."""
        found = set(self.blocks)
        return found.pop() if len(found) == 1 else None

    @property
    def share(self) -> int:
        """Percent of the blocks that are shown in the reader's language, rounded down."""
        states = self.blocks
        shown = sum(state in (None, BlockState.MACHINE) for state in states)
        return 100 * shown // len(states) if states else 100


def original(page: Page) -> Localised:
    """The page as its author wrote it."""
    return assembled((prose for _, prose in parts(page)), {}, (None,) * len(page.front.papers))


def parts(page: Page) -> Iterator[tuple[str, Prose]]:
    """All prose of a page by anchor: title, summary, introduction, then the sections in order."""
    start = Position(page.source.path, 1, 1)
    yield TITLE, _one_line(page.title, page.title_position or start)
    yield SUMMARY, _one_line(page.front.summary, page.front.position("summary") or start)
    yield INTRO, page.intro
    for section in page.sections:
        yield section.anchor, section.prose


def assembled(
    proses: Iterator[Prose], states: Mapping[Place, BlockState | None], papers: tuple[ProseLine | None, ...]
) -> Localised:
    """Of the prose of all `parts` in their order."""
    title, summary, intro, *sections = proses
    return Localised(title, summary, intro, tuple(sections), states, papers)


def _one_line(text: str, position: Position) -> Prose:
    return Prose((ProseLine(text, position.path, position.line, position.column),) if text else ())
