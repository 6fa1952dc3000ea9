"""
---
title: What a record depends on
summary: The code of a page and of what it imports, without its prose.
---
# What a record depends on

A record is kept under a digest of the tokens of the page's module, without comments and docstrings but with the
examples in them, and of the same of every module that it imports from the packages being built, or from
[elsewhere in the project](beside.html). So a better sentence runs nothing, and a changed line of code runs the pages
that use it.

Which modules those are is read from the import statements, of the module and of its examples. A name that a
package only passes on, as `from package import Name` gets it, leads to the module that defines it, and to the
package's own tokens; but not to all else that the package imports. The packages around a module run before it,
so their tokens count too.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from site_builder.cache import Store, digest
from site_builder.index import Card
from site_builder.installed import computing
from site_builder.record.beside import Project, Unshown
from site_builder.record.facts import Facts, recorder
from site_builder.record.sources import Read

FACTS = "record-facts"
LOADED = ("numpy.random", "torch")
"""Imported once for all pages that need them. Whoever needs one of them has all that stand before it."""
GROWTH = 8
"""How many parts of a name may be no modules of the site."""


class Keys:
    """
    The keys of pages, of which all are known by module. What single files say is kept in the store; `read` gives the
    bytes of a file of which it says nothing yet, `project` finds the modules that are no pages.
    """

    def __init__(
        self,
        cards: Iterable[Card],
        read: Callable[[Card], bytes],
        store: Store,
        project: Project | None = None,
    ) -> None:
        self.cards = {card.source.module: card for card in cards if not card.source.is_markdown}
        self.project = project
        self.facts: dict[str, Facts] = {}
        self.digests = {module: card.digest for module, card in self.cards.items()}
        self._owners: dict[str, tuple[str, str]] = {}
        self._steps: dict[str, tuple[str, frozenset[str], str]] = {}
        keys = {module: digest(data, recorder(), sys.version) for module, data in self.digests.items()}
        known = store.get_many(FACTS, keys.values())
        fresh: dict[bytes, bytes] = {}
        for module, key in keys.items():
            if key in known:
                self.facts[module] = Facts.from_bytes(known[key])
            else:
                data = read(self.cards[module])
                if digest(data) == self.digests[module]:
                    self.facts[module] = Facts.of(data)
                    fresh[key] = self.facts[module].to_bytes()
                else:
                    # A file that was edited meanwhile says nothing of the page that was made of it: whatever its
                    # examples have given, they gave it on other lines.
                    self.facts[module] = Facts(digest(data), False, ())
        store.put_many(FACTS, fresh)

    def has_examples(self, card: Card) -> bool:
        facts = self.facts.get(card.source.module)
        return facts is not None and facts.examples and self.cards[card.source.module] is card

    def key(self, card: Card, settings: Iterable[str], extensions: Iterable[str] = ()) -> bytes:
        module = card.source.module
        needed = sorted({module, *self.needed(module)})
        code = (f"{name} {self._code(name).hex()}" for name in needed)
        return digest(module, *versions(), *extensions, "", *settings, "", *code)

    def read(self, card: Card) -> Read:
        """The files whose code is in the key."""
        needed = sorted({card.source.module, *self.needed(card.source.module)})
        return {
            name: (str(Path(file).absolute()), seen.hex())
            for name in needed
            for file, seen in self._file(name)
        }

    def needed(self, module: str) -> set[str]:
        """The modules whose code a record depends on: what it imports, what they import, the packages around."""
        deep: set[str] = set()
        shallow: set[str] = set()
        waiting = [module, *self._examples(module)]
        seen: set[str] = set()
        while waiting:
            dotted = waiting.pop()
            if dotted in seen:
                continue
            seen.add(dotted)
            if dotted not in self._steps:
                self._steps[dotted] = self._step(dotted)
            owner, around, passed_on = self._steps[dotted]
            shallow.update(around)
            if passed_on:
                waiting.append(passed_on)
            elif owner and owner not in deep:
                deep.add(owner)
                waiting.extend(self._module(owner).imports)
        return deep | shallow

    def loads(self, card: Card) -> tuple[str, ...]:
        """What of `LOADED` is imported, by the page's module or by anything that is imported with it."""
        waiting = [card.source.module, *self._examples(card.source.module)]
        seen: set[str] = set()
        tops: set[str] = set()
        while waiting:
            dotted = waiting.pop()
            tops.add(dotted.partition(".")[0])
            owner, _ = self._split(dotted)
            for module in (owner, *self._around(owner)) if owner else ():
                if module not in seen:
                    seen.add(module)
                    waiting.extend(self._module(module).imports)
        last = max(
            (number for number, name in enumerate(LOADED, 1) if name.partition(".")[0] in tops), default=0
        )
        return LOADED[:last]

    def _examples(self, module: str) -> Iterator[str]:
        """What the examples of a module import, by absolute names."""
        package = module if self.cards[module].source.is_package else module.rpartition(".")[0]
        for name in self.facts[module].imports:
            rest = name.lstrip(".")
            parts = package.split(".")
            up = len(name) - len(rest) - 1
            if up < 0:
                yield name
            elif up < len(parts):
                yield ".".join([*parts[: len(parts) - up], rest])

    def _step(self, dotted: str) -> tuple[str, frozenset[str], str]:
        """The module that a name lies in, what is run besides, and whence the module has it if it only passes it on."""
        owner, rest = self._split(dotted)
        if not owner:
            return "", frozenset(), ""
        around, passed_on = frozenset(self._around(owner)), self._passed_on(owner, rest)
        return owner, around | {owner} if passed_on else around, passed_on

    def _split(self, dotted: str) -> tuple[str, str]:
        """The module that a name lies in, and what it is called there."""
        if dotted not in self._owners:
            module, rest = dotted, ""
            while module and module not in self.cards:
                module, _, last = module.rpartition(".")
                rest = f"{last}.{rest}" if rest else last
            if self.project and rest and (found := self._beside(self.project, module, rest)):
                module, rest = found, dotted[len(found) + 1 :]
            self._owners[dotted] = module, rest
        return self._owners[dotted]

    def _beside(self, project: Project, owner: str, rest: str) -> str:
        """The module of the project that a name leads to which leads to no page."""
        if not owner:
            return project.find("", rest, project.roots)
        source = self.cards[owner].source
        if not source.file:
            # A folder of pages and no package: Python knows nothing of it.
            return project.find("", f"{owner}.{rest}", project.roots)
        folder = os.path.dirname(source.file)  # noqa: PTH120 — asked for every name
        return project.find(owner, rest, [folder]) if source.is_package and project.holds(folder) else ""

    def _module(self, name: str) -> Card | Unshown:
        if name in self.cards or self.project is None:
            return self.cards[name]
        return self.project.modules[name]

    def _code(self, name: str) -> bytes:
        found = self._module(name)
        return found.code if isinstance(found, Unshown) else self.facts[name].code

    def _file(self, name: str) -> Iterator[tuple[str, bytes]]:
        """The file that Python will run; of several in question none can be said to be the one."""
        found = self._module(name)
        if not isinstance(found, Unshown):
            yield found.source.file, self.digests[name]
        elif len(found.files) == 1:
            yield from found.files

    def _passed_on(self, module: str, name: str) -> str:
        """Where a name is from that the module imports only to hand it on."""
        if name.count(".") > GROWTH:
            # `from package.part import part` without such a module: the name would grow for ever.
            return ""
        first, dot, rest = name.partition(".")
        targets: Mapping[str, str] = dict(self._module(module).exports) if first else {}
        return f"{targets[first]}{dot}{rest}" if first in targets else ""

    def _around(self, module: str) -> Iterator[str]:
        while "." in module:
            module = module.rpartition(".")[0]
            if module in self.cards or (self.project and module in self.project.modules):
                yield module


@cache
def versions() -> tuple[str, ...]:
    """Of Python, of what computes, and of the recorder, which is its own source."""
    found = [platform.python_implementation(), sys.version]
    found += computing()
    found.append(recorder().hex())
    return tuple(found)
