"""
---
title: Glossary
summary: A term of the field is one word in each language, decided once.
---
# Glossary

`translations/glossary.toml` has one table a term: how the author writes it, and for each language the words of which
a translation must use one. `avoid` lists what it must not use instead, for every language or by language.

    >>> found, _ = parse("glossary.toml", '''
    ... [[term]]
    ... source = "query"
    ... ja = ["クエリ"]
    ... avoid.ja = ["問い合わせ"]
    ... ''', "ja")
    >>> [term.source for term in occurring("Two queries and `key`.", found)]
    ['query']
    >>> list(breaches("Two queries.", "二つの問い合わせです。", found))
    ["'query' is クエリ here, and this has none of it", "'query' is クエリ here, not 問い合わせ"]

A term is looked for among the words only, whole, in upper or lower case, also in the plural. One that is part of a
longer term does not count there.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from site_builder.blocks import AtomKind, atoms
from site_builder.errors import Diagnostic
from site_builder.lazy import regex

_SILENT = frozenset(AtomKind) - {AtomKind.ESCAPE, AtomKind.ENTITY}
_TARGET = regex(r"\]\([^)]*\)")


@dataclass(frozen=True, slots=True)
class Term:
    """What the author calls it, the words for it in one language, those to be avoided, and why."""

    source: str
    words: tuple[str, ...]
    avoid: tuple[str, ...] = ()
    note: str = ""


def parse(path: str, text: str, lang: str) -> tuple[tuple[Term, ...], tuple[Diagnostic, ...]]:
    """The terms that the file decides for the language, or what is wrong with it."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"line (\d+), column (\d+)", str(error))
        line, column = (int(place[1]), int(place[2])) if place else (max(text.count("\n"), 1), 1)
        return (), (_fault(path, line, column, f"the glossary is not TOML: {error}"),)
    starts = [found.start() for found in re.finditer(r"^[ \t]*\[\[term\]\]", text, re.M)]
    entries = table.get("term", [])
    if not isinstance(entries, list) or len(entries) != len(starts):
        return (), (_fault(path, 1, 1, "each term of the glossary is a table of its own: [[term]]"),)
    terms: list[Term] = []
    faults: list[Diagnostic] = []
    for start, entry in zip(starts, entries, strict=True):
        try:
            term = _term(entry, lang)
        except ValueError as error:
            faults.append(_fault(path, text.count("\n", 0, start) + 1, 1, str(error)))
        else:
            terms += [term] if term.words or term.avoid else []
    return tuple(terms), tuple(faults)


def occurring(source: str, terms: Sequence[Term]) -> tuple[Term, ...]:
    """The terms that a text uses, each once, in the order in which they come."""
    if not terms:
        return ()
    pattern, by_group = _search(tuple(terms))
    found = (by_group[match.lastindex or 0] for match in pattern.finditer(words(source)))
    return tuple(dict.fromkeys(found))


def breaches(source: str, translation: str, terms: Sequence[Term]) -> Iterator[str]:
    """How the translation departs from what was decided, each time as the first half of a sentence."""
    text = ""
    for term in occurring(source, terms):
        text = text or words(translation)
        called = f"{term.source!r} is {' or '.join(term.words)} here" if term.words else repr(term.source)
        if term.words and not any(word in text for word in term.words):
            yield f"{called}, and this has none of it"
        for wrong in term.avoid:
            if wrong in text:
                yield f"{called}, not {wrong}"


def words(text: str) -> str:
    """The text on one line, without math, code, tags and where its links lead."""
    parts, at = [], 0
    for atom in atoms(text):
        if atom.kind in _SILENT and atom.start >= at:
            parts.append(text[at : atom.start])
            at = atom.end
    parts.append(text[at:])
    return " ".join(_TARGET.sub("", " ".join(parts)).replace("[", "").split())


@lru_cache(maxsize=32)
def _search(terms: tuple[Term, ...]) -> tuple[re.Pattern[str], dict[int, Term]]:
    """One expression for all terms, the longer first, with the group of each."""
    ordered = sorted(terms, key=lambda term: -len(term.source))
    either = "|".join(f"({_inflected(term.source)})" for term in ordered)
    return re.compile(rf"(?<![\w-])(?:{either})(?![\w-])", re.IGNORECASE), dict(enumerate(ordered, 1))


def _inflected(source: str) -> str:
    text = r"\s".join(map(re.escape, source.split()))
    # Of "key" are "keys", of "query" queries.
    return f"{text[:-1]}(?:y|ies)" if re.search("[^aeiou]y$", text) else f"{text}(?:e?s)?"


def _term(entry: Any, lang: str) -> Term:
    """
    Raises:
        ValueError: a key holds what it should not.
    """
    source, note, avoid = entry.get("source"), entry.get("note", ""), entry.get("avoid", [])
    if not isinstance(source, str) or not source.strip():
        raise ValueError("a term needs its source: what the author writes")
    if not isinstance(note, str):
        raise ValueError(f"the note of {source!r} must be a string")
    if isinstance(avoid, dict):
        avoid = avoid.get(lang, [])
    wanted = entry.get(lang, [])
    for name, value in ((lang, wanted), ("avoid", avoid)):
        if not isinstance(value, list) or not all(isinstance(word, str) and word for word in value):
            raise ValueError(f"{name} of {source!r} must be a list of words")
    return Term(source, tuple(wanted), tuple(avoid), note)


def _fault(path: str, line: int, column: int, what: str) -> Diagnostic:
    return Diagnostic(path, line, column, "glossary-syntax", what, "until then no translation is held to it")
