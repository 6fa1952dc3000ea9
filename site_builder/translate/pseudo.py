"""
---
title: Pseudo-languages
summary: English that shows what was translated, to find what was not.
---
# Pseudo-languages

`en-XA` is English with an accent on every letter and a bracket round every text, so what a translator was never given
stands out by its plain letters. `ar-XB` is English written from right to left: it shows what a layout forgets.

    >>> said("Sums of $a$", "en-XA")
    '⟦Šúɱš óƒ $a$⟧'

Their catalogues are real ones, read and checked like any other. What holds for them holds for Japanese.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from site_builder.config import Config
from site_builder.lazy import regex
from site_builder.model import Page
from site_builder.translate import files, upkeep
from site_builder.translate.catalogue import Entry, write
from site_builder.translate.drafts.protecting import protect
from site_builder.translate.locales import ACCENTED, MIRRORED

LANGUAGES = (ACCENTED, MIRRORED)

_PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ACCENTS = str.maketrans(_PLAIN, "áƀçđéƒğĥíĵķłɱñóþɋŕšţúṽŵẋýžÅƁÇĐÉƑĞĤÎĴĶŁṀÑÖÞɊŔŠŢÛṼŴẊÝŽ")
_OVERRIDE, _END = "\u202e", "\u202c"
_KEPT = regex(r'(<x id="\d+"/>|<g id="\d+">|</g>|&#?\w+;)')
_WORD = regex(r"[A-Za-z](?:[\w’'-]*\w)?")


def said(text: str, lang: str, *, placeholders: bool = False) -> str:
    """The text as the pseudo-language says it. What may not be translated stays."""
    protected = protect(text, placeholders=placeholders)
    parts = (
        part if number % 2 else _changed(part, lang)
        for number, part in enumerate(_KEPT.split(protected.shown))
    )
    return f"⟦{protected.restored(''.join(parts))}⟧"


def fill(config: Config, lang: str, pages: Sequence[Page]) -> None:
    """Writes the catalogues of a pseudo-language into the configured folder."""
    now = upkeep.current(config, lang, pages)
    made = {
        name: (
            replace(catalogue, entries=tuple(_filled(entry, lang, not url) for entry in catalogue.entries)),
            url,
        )
        for name, (catalogue, url) in now.catalogues.items()
    }
    for name, (catalogue, url) in made.items():
        files.save(config, name, write(catalogue, url))


def names(config: Config, pages: Sequence[Page]) -> frozenset[str]:
    """What is called the same in every language: modules, and a site or page that has no other name than its module."""
    modules = [page.source.module for page in pages]
    untitled = [page.title for page in pages if not page.title_position]
    site = [] if config.title else [config.site_title]
    return frozenset((*modules, *(name.rpartition(".")[2] for name in modules), *untitled, *site))


def _filled(entry: Entry, lang: str, interface: bool) -> Entry:
    forms = (entry.source, *[entry.plural] * (len(entry.forms) - 1)) if entry.plural else ()
    return replace(
        entry,
        text=said(entry.source, lang, placeholders=interface),
        forms=tuple(said(form, lang, placeholders=interface) for form in forms),
    )


def _changed(text: str, lang: str) -> str:
    if lang == ACCENTED:
        return text.translate(_ACCENTS)
    return _WORD.sub(lambda word: f"{_OVERRIDE}{word[0]}{_END}", text)
