"""
---
title: What a translation must keep
summary: Math, code, links and tags are the same in both languages, as often as in the source and as deep.
---
# What a translation must keep

Words may change their order, and what stands between them with them; so each kind is compared as a multiset, and what
lies inside a link or a tag once more together with that.

    >>> differences("See [$x$](a.html).", "[$x$](b.html) を参照。")
    ('lacks the link to a.html', 'has a link to b.html that is not in the source')
    >>> differences("`a` and `b`", "`b` と `a`")
    ()
    >>> differences("[`a`](a.html) and `b`", "[`b`](a.html) と `a`")[0]
    'lacks the code a inside the link to a.html'

What a reader must never get is no difference but a *danger*: HTML that runs or loads something, or a link to another
site that the author does not link to. A translation with one is not shown at all.

    >>> dangers("See $x$.", "$x$ <img src=x onerror=alert(1)>")
    ('onerror in <img>',)
    >>> dangers("See [$x$](https://a.example).", "[$x$](https://b.example)")
    ('a link to https://b.example',)
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from site_builder.errors import Diagnostic
from site_builder.lazy import regex
from site_builder.translate import glossary
from site_builder.translate.catalogue import Entry, Place
from site_builder.translate.glossary import Term
from site_builder.translate.kept import read
from site_builder.translate.unseen import unseen

UNSAFE, HIDDEN = "translation-unsafe", "translation-unseen"
REFUSED = (UNSAFE, HIDDEN)
"""The codes of the faults for which a translation is not shown."""

_PLACEHOLDER = regex(r"\{\w*\}|%(?:\(\w+\)\w|%)?")
_ELSEWHERE = regex(r"\s*(?:[a-z][\w+.-]*:|[/\\]{2})", re.IGNORECASE)
_SHOWN = {
    "math": ("the formula", "a formula"),
    "code": ("the code", "code"),
    "link": ("the link to", "a link to"),
    "tag": ("the tag", "a tag"),
    "footnote": ("the footnote", "a footnote"),
    "placeholder": ("the placeholder", "a placeholder"),
}


def faults(
    path: str, entry: Entry, source: str, place: Place, terms: Sequence[Term] = (), lang: str = ""
) -> list[Diagnostic]:
    """All that is wrong with the translation of one block; a dangerous one is looked at no further."""
    if refused := hidden(path, entry, source, lang):
        return refused
    if found := dangers(source, entry.text):
        return [_unsafe(path, entry, found)]
    return [
        *mismatches(path, entry, source),
        *stresses(path, entry, source),
        *breaches(path, entry, source, place, terms),
    ]


def hidden(path: str, entry: Entry, source: str, lang: str = "") -> list[Diagnostic]:
    """One diagnostic for a translation with [characters that nobody sees](unseen.html)."""
    texts = "".join(entry.forms or (entry.text,))
    if not (found := unseen(source + entry.plural, texts, lang)):
        return []
    what = f"the translation has {', '.join(found)}, which nobody sees and the source does not have"
    return [_fault(path, entry, HIDDEN, what, "take it out; until then the source's words are shown")]


def mismatches(path: str, entry: Entry, source: str, *, placeholders: bool = False) -> Iterator[Diagnostic]:
    """One diagnostic for a translation whose math, code, links or tags are not those of its source."""
    # "One way" need not say how many, and a language with one form must: a form is like either of the source's.
    sources = (source, entry.plural) if entry.plural else (source,)
    for text in entry.forms or (entry.text,):
        if found := min((differences(one, text, placeholders=placeholders) for one in sources), key=len):
            yield _fault(
                path,
                entry,
                "translation-mismatch",
                f"the translation {', '.join(found)}",
                "write math, code, links and tags exactly as the source has them, each as often and inside the same",
            )


def stresses(path: str, entry: Entry, source: str) -> Iterator[Diagnostic]:
    """One diagnostic for a translation that emphasises more or less, or shows the stars that were to do it."""
    if found := _stressed(source, entry.text):
        yield _fault(
            path,
            entry,
            "translation-emphasis",
            f"the translation {', '.join(found)}",
            "emphasise as often as the source does; closing stars stand before a full stop or bracket, not after",
        )


def breaches(
    path: str, entry: Entry, source: str, place: Place, terms: Sequence[Term]
) -> Iterator[Diagnostic]:
    """One diagnostic for each term that the glossary decided otherwise."""
    for what in glossary.breaches(source, entry.text, terms):
        yield _fault(
            path,
            entry,
            "glossary-breach",
            f"{what}: block {place.anchor}:{place.ordinal + 1}",
            "use the word of the glossary, or give the term another word there",
        )


def differences(source: str, translation: str, *, placeholders: bool = False) -> tuple[str, ...]:
    """What the translation lacks, and what it has too much of, each as the end of a sentence."""
    if source == translation:
        return ()
    one, other = read(source), read(translation)
    wanted, given = Counter(one.counts), Counter(other.counts)
    if placeholders:
        wanted.update(_placeholders(source))
        given.update(_placeholders(translation))
    found = []
    for (kind, what), count in (wanted - given).items():
        found.append(f"lacks {_SHOWN[kind][0]} {what}{_times(count)}")
    for (kind, what), count in (given - wanted).items():
        found.append(f"has {_SHOWN[kind][1]} {what}{_times(count)} that is not in the source")
    if found:
        return tuple(found)
    for (kind, what, around), count in (one.nested - other.nested).items():
        found.append(f"lacks {_SHOWN[kind][0]} {what}{_times(count)} inside {' in '.join(around)}")
    for (kind, what, around), count in (other.nested - one.nested).items():
        found.append(
            f"has {_SHOWN[kind][1]} {what}{_times(count)} inside {' in '.join(around)}, unlike the source"
        )
    return tuple(found)


def _stressed(source: str, translation: str) -> tuple[str, ...]:
    """How the emphasis differs, each time as the end of a sentence."""
    one, other = read(source).emphasis, read(translation).emphasis
    lacking = (
        f"lacks {'the star' if what == '*' else 'the emphasis'} {what}{_times(count)}"
        for what, count in (one - other).items()
    )
    more = (
        f"has {'a star' if what == '*' else 'an emphasis'} {what}{_times(count)} that is not in the source"
        for what, count in (other - one).items()
    )
    return (*lacking, *more)


def dangers(source: str, translation: str) -> tuple[str, ...]:
    """What of the translation must reach no page: what is refused from strangers, and ways to other sites."""
    if source == translation:
        return ()
    one, other = read(source), read(translation)
    links = (what for kind, what in other.counts - one.counts if kind == "link" and _ELSEWHERE.match(what))
    found = other.refused - one.refused
    refused = [what + _times(count) for what, count in found.items()]
    named = " ".join(found)
    return (*refused, *(f"a link to {link}" for link in links if link not in named))


def _placeholders(text: str) -> Iterator[tuple[str, str]]:
    return (("placeholder", found[0]) for found in _PLACEHOLDER.finditer(text))


def _times(count: int) -> str:
    return f" ({count} times)" if count > 1 else ""


def _unsafe(path: str, entry: Entry, found: Sequence[str]) -> Diagnostic:
    """The diagnostic for a translation that is not shown."""
    return _fault(
        path,
        entry,
        UNSAFE,
        f"the translation brings {', '.join(found)}, which the source does not have",
        "the block is shown in the source language until this is taken out",
    )


def _fault(path: str, entry: Entry, code: str, message: str, hint: str) -> Diagnostic:
    return Diagnostic(path, entry.line, 1, code, message, hint)
