"""
---
title: Index
summary: Where everything that has a name is shown, and in which order the pages are read.
order: [card, tree, lookup, addresses]
---
# Index

The one stage that must have seen every page before any can go on. It answers two kinds of question:
[what a dotted name means](lookup.html), and [where a page stands among the others](tree.html).

Everything is worked out once for all pages, or when it is first asked for and then remembered. So a page of a
site of two thousand costs no more than one of twenty.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from site_builder.errors import Diagnostic
from site_builder.index.addresses import href, settle
from site_builder.index.card import Card
from site_builder.index.lookup import Lookup, Target
from site_builder.index.tree import grow
from site_builder.model import Page

__all__ = ["Card", "Index", "Target", "build", "href"]


def build(pages: Sequence[Page | Card], languages: Sequence[str] = ()) -> Index:
    """
    Index pages in the order in which they were discovered: of two for one URL the first is taken. `languages`
    are those whose pages lie in a folder of that name, which no page of the source may claim.
    """
    return Index([Card.of(page) if isinstance(page, Page) else page for page in pages], languages)


class Index:
    """The cards of all pages that have a URL of their own, by that URL."""

    def __init__(self, cards: Sequence[Card], languages: Sequence[str] = ()) -> None:
        settled = settle(cards, languages)
        self.cards = settled.pages
        self.redirects = {old: card.url for old, card in settled.redirects.items()}
        self._tree = grow(self.cards)
        self._lookup = Lookup(self.cards.values())
        self._places = {url: number for number, url in enumerate(self._tree.order)}
        self.diagnostics: tuple[Diagnostic, ...] = (*settled.diagnostics, *self._tree.diagnostics)

    # ---- what a name means

    def resolve(self, dotted: str) -> Target | None:
        """Where what the absolute dotted name means is shown, if the site shows it."""
        return self._lookup.resolve(dotted)

    def knows(self, package: str) -> bool:
        """Whether the site shows anything of that top-level package."""
        return package in self._packages

    @cached_property
    def _packages(self) -> frozenset[str]:
        return frozenset(card.source.module.partition(".")[0] for card in self.cards.values())

    def card(self, url: str | None) -> Card | None:
        return self.cards.get(url) if url is not None else None

    # ---- where a page stands

    @property
    def order(self) -> tuple[str, ...]:
        """Every URL in reading order: home first, then depth first."""
        return self._tree.order

    def parent(self, url: str) -> str | None:
        return self._tree.parents.get(url)

    def children(self, url: str) -> tuple[str, ...]:
        return self._tree.children.get(url, ())

    def siblings(self, url: str) -> tuple[str, ...]:
        """All children of the page's parent, the page itself among them."""
        parent = self._tree.parents.get(url)
        if parent is None:
            return self._tree.roots if url in self.cards else ()
        return self._tree.children[parent]

    def ancestors(self, url: str) -> tuple[str, ...]:
        """From the outermost down to the parent."""
        found = []
        parent = self.parent(url)
        while parent is not None:
            found.append(parent)
            parent = self.parent(parent)
        return tuple(reversed(found))

    def previous(self, url: str) -> str | None:
        place = self._places.get(url, 0)
        return self.order[place - 1] if place else None

    def next(self, url: str) -> str | None:
        place = self._places.get(url)
        return self.order[place + 1] if place is not None and place + 1 < len(self.order) else None
