"""
---
title: What a translation must keep
summary: Math, code, links and tags are the same in both languages, as often as in the source.
---
# What a translation must keep

Words may change their order, and what stands between them with them; so each kind is compared as a multiset. The
tokens are those of the blocks and of the prose, so what counts as math here is what is typeset as math.

    >>> differences("See [$x$](a.html).", "[$x$](b.html) を参照。")
    ('lacks the link to a.html', 'has a link to b.html that is not in the source')
    >>> differences("`a` and `b`", "`b` と `a`")
    ()
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from site_builder import prose
from site_builder.blocks import AtomKind, atoms
from site_builder.blocks.atoms import MATHS
from site_builder.errors import Diagnostic
from site_builder.model import Prose, ProseLine
from site_builder.translate.catalogue import Entry

_NOTABLE = re.compile(r"[`$<\\\[]")
_PLACEHOLDER = re.compile(r"\{\w*\}|%(?:\(\w+\)\w|%)?")
_SHOWN = {
    "math": ("the formula", "a formula"),
    "code": ("the code", "code"),
    "link": ("the link to", "a link to"),
    "tag": ("the tag", "a tag"),
    "footnote": ("the footnote", "a footnote"),
    "placeholder": ("the placeholder", "a placeholder"),
}


def mismatches(path: str, entry: Entry, source: str, *, placeholders: bool = False) -> Iterator[Diagnostic]:
    """One diagnostic for a translation whose math, code, links or tags are not those of its source."""
    for text in entry.forms or (entry.text,):
        if found := differences(source, text, placeholders=placeholders):
            yield Diagnostic(
                path,
                entry.line,
                1,
                "translation-mismatch",
                f"the translation {', '.join(found)}",
                "write math, code, links and tags exactly as the source has them, each as often",
            )


def differences(source: str, translation: str, *, placeholders: bool = False) -> tuple[str, ...]:
    """What the translation lacks, and what it has too much of, each as the end of a sentence."""
    if source == translation:
        return ()
    wanted, given = (Counter(_kept(text, placeholders)) for text in (source, translation))
    found = []
    for (kind, what), count in (wanted - given).items():
        found.append(f"lacks {_SHOWN[kind][0]} {what}{_times(count)}")
    for (kind, what), count in (given - wanted).items():
        found.append(f"has {_SHOWN[kind][1]} {what}{_times(count)} that is not in the source")
    return tuple(found)


def _kept(text: str, placeholders: bool) -> Iterator[tuple[str, str]]:
    """Kind and content of all that must be the same in another language."""
    if placeholders:
        yield from (("placeholder", found[0]) for found in _PLACEHOLDER.finditer(text))
    if not _NOTABLE.search(text):
        return
    for atom in atoms(text):
        typed = " ".join(text[atom.start : atom.end].split())
        if atom.kind in MATHS or atom.kind is AtomKind.UNCLOSED:
            yield "math", typed
        elif atom.kind is AtomKind.CODE:
            yield "code", typed
        elif atom.kind is AtomKind.TAG:
            yield "tag", typed
    yield from _targets(text)


def _targets(text: str) -> Iterator[tuple[str, str]]:
    """Where the links of one block lead, and which footnotes it refers to."""
    if "[" not in text and "<" not in text:
        return
    found: list[tuple[str, str]] = []

    def link(address: str) -> str:
        found.append(("link", address))
        return address

    lines = (ProseLine(row, "", number, 1) for number, row in enumerate(text.split("\n"), 1))
    rendered = prose.render(Prose(tuple(lines)), typeset=lambda tex, display: "", link=link, prefix="")
    yield from found
    # The notes themselves are other blocks, so here each reference to one is a diagnostic.
    for fault in rendered.diagnostics:
        if fault.code == "footnote-undefined":
            yield "footnote", fault.message.rpartition(" called ")[2]


def _times(count: int) -> str:
    return f" ({count} times)" if count > 1 else ""
