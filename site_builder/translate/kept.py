r"""
---
title: What stands between the words
summary: Math, code, links, tags and notes of one block, and which of them lie inside which.
---
# What stands between the words

The tokens are those of the blocks and of the prose, so what counts as math here is what is typeset as math. The block
is rendered too, since only then it is plain where a link leads, what lies inside it, and which stars emphasise.

    >>> found = read("See [the `add` function](sums.html), $x$.")
    >>> sorted(found.counts)
    [('code', '`add`'), ('link', 'sums.html'), ('math', '$x$')]
    >>> list(found.nested)
    [('code', 'add', ('the link to sums.html',))]
    >>> sorted(read("*Which* stars **emphasise?**Nobody knows.").emphasis.items())
    [('*', 4), ('*…*', 1)]
"""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from html.parser import HTMLParser

from site_builder import prose
from site_builder.blocks import Atom, AtomKind, atoms
from site_builder.blocks.atoms import MATHS, TAG
from site_builder.blocks.vocabulary import VOID_ELEMENTS
from site_builder.lazy import regex
from site_builder.model import Prose, ProseLine
from site_builder.prose.sanitise import refused

_NOTABLE = regex(r"[`$<\\\[*_]")
_STRESSED = regex(r"[*_]")
_EMPHASIS = {"em": "*…*", "strong": "**…**"}
_LABEL = regex(r"\]\[(?!\^)([^\]\[\\`$<>]+)\]")


@dataclass(frozen=True)
class Kept:
    """
    `counts` has kind and content of all that must be the same in another language; `nested` what lies inside a link or
    a tag, with all that is round it, the outermost first; `refused` the HTML that no page takes from a stranger. In
    `emphasis` are its two kinds, and stars that are only stars.
    """

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    nested: Counter[tuple[str, str, tuple[str, ...]]] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    emphasis: Counter[str] = field(default_factory=Counter)


@lru_cache(maxsize=256)
def read(text: str) -> Kept:
    """What stands between the words of one block."""
    if not _NOTABLE.search(text):
        return Kept()
    found = atoms(text)
    counts = Counter(_typed(text, found))
    if "[" not in text and "<" not in text and not _STRESSED.search(_words(text, found)):
        return Kept(counts)
    made, links = _rendered(text, found)
    counts.update(links)
    tags = {tag[2].lower() for tag in (TAG.match(text, atom.start) for atom in found) if tag}
    walk = _Walk(tags - VOID_ELEMENTS)
    walk.feed(made)
    walk.close()
    return Kept(counts, Counter(walk.found), Counter(refused(made)), walk.emphasis)


def _words(text: str, found: tuple[Atom, ...]) -> str:
    """The text without what is typed in a language of its own: there a star may well be a product."""
    parts, at = [], 0
    for atom in found:
        if atom.kind is not AtomKind.ESCAPE:
            parts.append(text[at : atom.start])
            at = atom.end
    return "".join((*parts, text[at:]))


def _typed(text: str, found: tuple[Atom, ...]) -> Iterator[tuple[str, str]]:
    for atom in found:
        typed = " ".join(text[atom.start : atom.end].split())
        if atom.kind in MATHS or atom.kind is AtomKind.UNCLOSED:
            yield "math", typed
        elif atom.kind is AtomKind.CODE:
            yield "code", typed
        elif atom.kind is AtomKind.TAG:
            yield "tag", typed


def _rendered(text: str, found: tuple[Atom, ...]) -> tuple[str, list[tuple[str, str]]]:
    """The block as HTML, where its links lead and which notes it refers to."""
    links: list[tuple[str, str]] = []

    def link(address: str) -> str:
        links.append(("link", address))
        return address

    # What the labels of links stand for is said in other blocks, so here each stands for itself.
    silent = {at for atom in found for at in range(atom.start, atom.end)}
    labels = dict.fromkeys(mark[1] for mark in _LABEL.finditer(text) if mark.start() not in silent)
    rows = [*text.split("\n"), *(row for label in labels for row in ("", f"[{label}]: <{label}>"))]
    lines = (ProseLine(row, "", number, 1) for number, row in enumerate(rows, 1))
    rendered = prose.render(Prose(tuple(lines)), typeset=_named, link=link, prefix="")
    # The notes themselves are other blocks, so here each reference to one is a diagnostic.
    for fault in rendered.diagnostics:
        if fault.code == "footnote-undefined":
            links.append(("footnote", fault.message.rpartition(" called ")[2]))
    return rendered.html, links


def _named(tex: str, display: bool) -> str:
    return f'<code class="math">{html.escape(tex)}</code>'


class _Walk(HTMLParser):
    """Finds what lies inside links, and inside tags of these names; and what is emphasised."""

    def __init__(self, tags: set[str]):
        super().__init__()
        self.tags = tags
        self.around: list[tuple[str, str]] = []
        self.found: list[tuple[str, str, tuple[str, ...]]] = []
        self.kind = self.text = ""
        self.emphasis: Counter[str] = Counter()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag in _EMPHASIS:
            self.emphasis[_EMPHASIS[tag]] += 1
        if tag == "img":
            self.add("link", values.get("src", ""))
        elif tag == "code" and "code" not in self.tags:
            self.kind, self.text = "math" if values.get("class") == "math" else "code", ""
        elif (tag == "a" or tag in self.tags) and values.get("class") != "nb":
            what = ("link", values.get("href", "")) if tag == "a" else ("tag", f"<{tag}>")
            self.add(*what)
            self.around.append((tag, f"the {what[0]} {'to ' * (tag == 'a')}{what[1]}"))

    def handle_data(self, data: str) -> None:
        self.text += data
        if not self.kind and "*" in data:
            self.emphasis["*"] += data.count("*")

    def handle_endtag(self, tag: str) -> None:
        if tag == "code" and self.kind:
            self.add(self.kind, self.text)
            self.kind = ""
        elif self.around and self.around[-1][0] == tag:
            self.around.pop()

    def add(self, kind: str, what: str) -> None:
        if self.around:
            self.found.append((kind, what, tuple(name for _, name in self.around)))
