"""
---
title: An author's own HTML
summary: It passes as it is, but for its links, which are checked, and for tags that would break the page.
---
# An author's own HTML

An opening tag that is never closed would swallow the rest of the page, and a closing one that nobody
opened would end something of ours. Both are shown as text. So is `<body>` in the middle of a sentence:
whoever writes it means the word.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from site_builder import blocks
from site_builder.blocks import BlockKind
from site_builder.blocks.atoms import TAG, Atom, AtomKind, atoms, comment_end, is_element
from site_builder.blocks.vocabulary import CLOSED_BY_THEMSELVES, LITERAL_ELEMENTS, VOID_ELEMENTS, small
from site_builder.lazy import regex

_ADDRESS = regex(
    r"""(\s((?:xlink:)?href|src|srcset|poster|data)\s*=\s*)("[^"]*"|'[^']*'|[^\s"'=<>`]+)""", re.IGNORECASE
)
_CANDIDATE = regex(r"[^\s,][^\s]*[^\s,]|[^\s,]")
"""An address in a `srcset`, which may hold a comma but not end in one."""
_LOADING = frozenset({"src", "srcset", "poster", "data"})
_PRIVATE = regex(
    r"""\s(id|name|style|on\w+|data-[\w-]*)\s*(?:=\s*("[^"]*"|'[^']*'|[^\s"'=<>`]+))?""",
    re.IGNORECASE,
)
_NAMED = regex(r"<\w[^<>]*\s(?:id|name)\s*=", re.IGNORECASE)

Settle = Callable[[str, int, bool], str | None]
"""Gets an address and where it was typed; gives the one to write, or none."""


def unpaired(text: str, found: Iterable[Atom]) -> frozenset[int]:
    """Where the tags begin, of those found in one block of text, that have no partner in it."""
    whole = ((atom, TAG.match(text, atom.start)) for atom in found if atom.kind is AtomKind.TAG)
    # An atom that is longer than its tag goes to the closing one.
    tags = ((0, tag) for atom, tag in whole if tag and tag.end() == atom.end)
    return frozenset(at for _, at in _unpaired(tags))


def unpaired_between(texts: Sequence[str]) -> list[frozenset[int]]:
    """The same for blocks of HTML, where a tag in one may find its partner in another."""
    tags = ((number, tag) for number, text in enumerate(texts) for _, tag in _pieces(text) if tag)
    strict = ((n, tag) for n, tag in tags if tag[1] or tag[2].lower() not in CLOSED_BY_THEMSELVES)
    single: list[set[int]] = [set() for _ in texts]
    for number, at in _unpaired(strict):
        single[number].add(at)
    return [frozenset(places) for places in single]


def _unpaired(tags: Iterable[tuple[int, re.Match[str]]]) -> set[tuple[int, int]]:
    opened: dict[str, list[tuple[int, int]]] = {}
    single: set[tuple[int, int]] = set()
    for number, tag in tags:
        name, place = tag[2].lower(), (number, tag.start())
        if name in VOID_ELEMENTS or tag[4]:
            continue
        if not tag[1]:
            opened.setdefault(name, []).append(place)
        elif opened.get(name):
            opened[name].pop()
        else:
            single.add(place)
    return single.union(*opened.values())


def _pieces(text: str) -> Iterator[tuple[str, re.Match[str] | None]]:
    """A block of HTML as tags, what is to be kept as it is, and text, in which no tag begins any more."""
    lower = small(text)
    at = kept = 0
    while (at := text.find("<", at)) >= 0:
        tag = TAG.match(text, at)
        if tag and is_element(tag[2]):
            yield _escaped(text[kept:at]), None
            yield tag[0], tag
            at = kept = tag.end()
            if not tag[1] and tag[2].lower() in LITERAL_ELEMENTS:
                kept = max(lower.find(f"</{tag[2].lower()}", at), at)
                yield text[at:kept], None
                at = kept
        elif end := comment_end(text, at):
            yield _escaped(text[kept:at]), None
            yield text[at:end], None
            at = kept = end
        else:
            at += 1
    yield _escaped(text[kept:]), None


def _escaped(text: str) -> str:
    return text.replace("<", "&lt;")


def settled(
    typed: str, offset: Callable[[int], int], settle: Settle, single: frozenset[int] = frozenset()
) -> str:
    """
    The HTML with the addresses that `settle` gives; an attribute that leads nowhere is left out. Tags
    that begin at the offsets in `single` become text, and so does what only looks like a tag.
    """
    parts: list[str] = []
    for piece, tag in _pieces(typed):
        if tag is None:
            parts.append(piece)
        elif tag.start() in single:
            parts.append(_escaped(piece))
        else:
            parts.append(_with_addresses(tag, offset, settle))
    return "".join(parts)


def _with_addresses(tag: re.Match[str], offset: Callable[[int], int], settle: Settle) -> str:
    def attribute(found: re.Match[str]) -> str:
        name, value, quoted = found[2].lower(), found[3], found[3][0] in "\"'"
        if name == "data" and tag[2].lower() != "object":
            return found[0]
        loads = name in _LOADING or tag[2].lower() == "link"
        at = tag.start() + found.start(3) + quoted
        typed = value[1:-1] if quoted else value
        if name == "srcset":
            made = _set(typed, lambda address, inner: settle(address, offset(at + inner), loads))
        else:
            made = settle(html.unescape(typed), offset(at), loads)
        return "" if made is None else f'{found[1]}"{html.escape(made)}"'

    return _ADDRESS.sub(attribute, tag[0])


def _set(typed: str, settle: Callable[[str, int], str | None]) -> str | None:
    """Several addresses, each with the width that it is for; those that lead nowhere are left out."""
    parts: list[str] = []
    at = 0
    while found := _CANDIDATE.search(typed, at):
        end = typed.find(",", found.end())
        at = len(typed) if end < 0 else end
        made = settle(html.unescape(found[0]), found.start())
        if made is not None:
            parts.append(" ".join((made, *typed[found.end() : at].split())))
    return ", ".join(parts) or None


def anonymous(typed: str, kept: Collection[str] = ()) -> str:
    """Tags without names that could clash with the page's own; but with the ids that are `kept`."""

    def attribute(found: re.Match[str]) -> str:
        return found[0] if found[1].lower() == "id" and _value(found) in kept else ""

    return TAG.sub(lambda tag: _PRIVATE.sub(attribute, tag[0]), typed)


def ids(text: str) -> Iterator[str]:
    """What the tags in a text are called: the places in it that a link may name."""
    if _NAMED.search(text):
        for block in blocks.outline(text).leaves():
            typed = block.text(text)
            if block.kind is BlockKind.HTML:
                tags = [tag for _, tag in _pieces(typed) if tag]
            elif block.translatable:
                found = (TAG.match(typed, atom.start) for atom in atoms(typed) if atom.kind is AtomKind.TAG)
                tags = [tag for tag in found if tag]
            else:
                continue
            for tag in tags:
                yield from (
                    _value(one)
                    for one in _PRIVATE.finditer(tag[0])
                    if one[1].lower() == "id" or (one[1].lower(), tag[2].lower()) == ("name", "a")
                )


def _value(found: re.Match[str]) -> str:
    value = found[2] or ""
    return html.unescape(value[1:-1] if value[:1] in ("'", '"') else value)
