"""
---
title: The tree of pages
summary: Which page stands under which, and in which order all of them are read.
---
# The tree of pages

A page's parent is the index page of its folder, or of the nearest folder above that has one. Children are
read in the order that the parent's front matter gives, and then by name. The whole is read depth first, home
first: what "previous" and "next" walk along.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from site_builder.errors import Diagnostic
from site_builder.index.card import Card
from site_builder.likeness import nearest
from site_builder.model import Position

HOME = "index.html"
COMPARED_AT_MOST = 10


class Tree(NamedTuple):
    order: tuple[str, ...]
    parents: Mapping[str, str]
    children: Mapping[str, tuple[str, ...]]
    roots: tuple[str, ...]
    """Home, and pages that have no index page above them."""
    diagnostics: tuple[Diagnostic, ...]


def grow(pages: Mapping[str, Card]) -> Tree:
    """The tree of these pages, by URL."""
    parents: dict[str, str] = {}
    below: dict[str, list[str]] = {}
    roots: list[str] = []
    for url in pages:
        parent = _parent(url, pages)
        if parent is None:
            roots.append(url)
        else:
            parents[url] = parent
            below.setdefault(parent, []).append(url)
    diagnostics: list[Diagnostic] = []
    for url, page in pages.items():
        diagnostics += _unknown_names(page, [pages[child] for child in below.get(url, ())])
    children = {parent: _ordered(urls, pages, pages[parent].front.order) for parent, urls in below.items()}
    first = tuple(sorted(_ordered(roots, pages, ()), key=lambda url: url != HOME))
    return Tree(_depth_first(first, children), parents, children, first, tuple(diagnostics))


def name(page: Card) -> str:
    """What a page is called in its parent's `order`."""
    if page.source.module:
        return page.source.module.rpartition(".")[2]
    folder, last = posixpath.split(page.url)
    return posixpath.basename(folder) if last == HOME else last.removesuffix(".html")


def place(page: Card, key: str) -> Position:
    """Where the front matter says it."""
    return page.front.position(key) or Position(page.source.path, 1, 1)


def _parent(url: str, pages: Mapping[str, Card]) -> str | None:
    folder, last = posixpath.split(url)
    if last == HOME:
        if not folder:
            return None
        folder = posixpath.dirname(folder)
    while True:
        candidate = posixpath.join(folder, HOME)
        if candidate in pages:
            return candidate
        if not folder:
            return None
        folder = posixpath.dirname(folder)


def _ordered(urls: Iterable[str], pages: Mapping[str, Card], wanted: Sequence[str]) -> tuple[str, ...]:
    """First those that are named, in that order, then the others by name; private ones come last."""
    ranks = {name: rank for rank, name in reversed(list(enumerate(wanted)))}

    def key(url: str) -> tuple[int, bool, str, str]:
        own = name(pages[url])
        return ranks.get(own, len(wanted)), own.startswith("_"), own.casefold(), url

    return tuple(sorted(urls, key=key))


def _depth_first(roots: tuple[str, ...], children: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    order: list[str] = []
    waiting = list(reversed(roots))
    while waiting:
        url = waiting.pop()
        order.append(url)
        waiting.extend(reversed(children.get(url, ())))
    return tuple(order)


def _unknown_names(page: Card, children: Sequence[Card]) -> list[Diagnostic]:
    names = {name(child) for child in children}
    unknown = [wanted for wanted in dict.fromkeys(page.front.order) if wanted not in names]
    where = place(page, "order")
    found = []
    for number, wanted in enumerate(unknown):
        # Comparing is slow, and who gets many names wrong has not mistyped them.
        near = nearest(wanted, sorted(names)) if number < COMPARED_AT_MOST else ""
        hint = f"did you mean {near!r}?" if near else "name modules and folders that lie directly below"
        message = f"order names {wanted!r}, but there is no such page below this one"
        found.append(Diagnostic(where.path, where.line, where.column, "front-value", message, hint))
    return found
