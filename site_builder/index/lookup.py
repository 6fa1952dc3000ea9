"""
---
title: Lookup
summary: From a dotted name to the place that shows what it means.
---
# Lookup

A name is followed as Python would follow it: through what a module imports, through `import *`, and from a
class to its bases. Where a module and something in its package have the same dotted name, the module is
meant.

Cycles end the search: packages import each other, and nothing stops a file from saying that a class is its
own base. So does a name that grows: a package with `from package.part import *`, whose `part` is not on the site, would
have each name once more behind another `part`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from site_builder.index.card import Card
from site_builder.model import Definition
from site_builder.parse.names import SUPER

GROWTH = 3
"""How many parts a name may gain on its way, which are no modules of the site: `os.curdir` is `os.path.curdir`."""


class Target(NamedTuple):
    """Where a name is shown. An empty anchor is the page itself; `title` is the full dotted name."""

    url: str
    anchor: str
    title: str


class _Place(NamedTuple):
    module: str
    name: str


class Lookup:
    """Answers are remembered: most names of a package are asked for many times."""

    def __init__(self, cards: Iterable[Card]) -> None:
        self.cards: dict[str, Card] = {}
        self.definitions: dict[str, dict[str, Definition]] = {}
        self.exports: dict[str, dict[str, str]] = {}
        self.stars: dict[str, tuple[str, ...]] = {}
        self.bases: dict[str, dict[str, tuple[str, ...]]] = {}
        for card in cards:
            module = card.source.module
            if not module or module in self.cards:
                continue
            self.cards[module] = card
            self.definitions[module] = {item.name: item for item in reversed(card.definitions)}
            self.exports[module] = {name: target for name, target in card.exports if name != "*"}
            # What is imported last hides what came before it.
            self.stars[module] = tuple(target for name, target in reversed(card.exports) if name == "*")
            self.bases[module] = dict(card.bases)
        self.answers: dict[str, Target | None] = {}
        self.lineages: dict[_Place, tuple[_Place, ...]] = {}

    def resolve(self, dotted: str) -> Target | None:
        if dotted not in self.answers:
            self.answers[dotted] = self._target(self._find(dotted, inherited=True))
        return self.answers[dotted]

    def _target(self, place: _Place | None) -> Target | None:
        if place is None:
            return None
        url = self.cards[place.module].url
        if not place.name:
            return Target(url, "", place.module)
        anchor = self.definitions[place.module][place.name].anchor
        return Target(url, anchor, f"{place.module}.{place.name}")

    def _find(self, dotted: str, inherited: bool) -> _Place | None:
        seen: set[str] = set()
        waiting = [dotted]
        deepest = self._split(dotted)[1].count(".") + GROWTH
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            module, rest = self._split(name)
            if not module or name.endswith(".") or rest.count(".") > deepest:
                continue
            if not rest:
                return _Place(module, "")
            if place := self._member(module, rest, inherited):
                return place
            waiting.extend(reversed(self._elsewhere(module, rest)))
        return None

    def _split(self, dotted: str) -> tuple[str, str]:
        module, rest = dotted, ""
        while module and module not in self.cards:
            module, _, last = module.rpartition(".")
            rest = f"{last}.{rest}" if rest else last
        return module, rest

    def _member(self, module: str, name: str, inherited: bool) -> _Place | None:
        """What the module defines, or one of its classes inherits, under this name."""
        definitions = self.definitions[module]
        if name in definitions:
            return _Place(module, name)
        owner = name
        while inherited and "." in owner:
            owner = owner.rpartition(".")[0]
            if owner in definitions and definitions[owner].kind == "class":
                member = name[len(owner) + 1 :].removeprefix(f"{SUPER}.")
                for place in self._lineage(_Place(module, owner))[1:]:
                    inherited_name = f"{place.name}.{member}"
                    if inherited_name in self.definitions[place.module]:
                        return _Place(place.module, inherited_name)
                return None
        return None

    def _elsewhere(self, module: str, name: str) -> list[str]:
        """Under which names the module may have got it from others, the likeliest first."""
        first, dot, rest = name.partition(".")
        if first in self.exports[module]:
            return [f"{self.exports[module][first]}{dot}{rest}"]
        if first in self.definitions[module] or first.startswith("_"):
            return []
        return [f"{star}.{name}" for star in self.stars[module]]

    def _lineage(self, start: _Place) -> tuple[_Place, ...]:
        """
        A class and all that it inherits from, as far as the site shows them, each before its own bases and
        left bases before right ones: Python's order, except that a hierarchy which Python would refuse has
        one too.
        """
        if start not in self.lineages:
            finished: list[_Place] = []
            seen: set[_Place] = set()
            waiting = [(start, False)]
            while waiting:
                place, done = waiting.pop()
                if done:
                    finished.append(place)
                elif place not in seen:
                    seen.add(place)
                    waiting.append((place, True))
                    # The rightmost base is finished first, so that it stands last when the list is turned
                    # round.
                    waiting.extend((base, False) for base in self._bases(place))
            self.lineages[start] = tuple(reversed(finished))
        return self.lineages[start]

    def _bases(self, place: _Place) -> list[_Place]:
        found = (
            self._find(dotted, inherited=False) for dotted in self.bases[place.module].get(place.name, ())
        )
        return [base for base in found if base and base.name and self._is_class(base)]

    def _is_class(self, place: _Place) -> bool:
        return self.definitions[place.module][place.name].kind == "class"
