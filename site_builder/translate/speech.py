"""
---
title: Languages by name
summary: What its speakers call a language, which way it is written, and how they count.
---
# Languages by name

Babel carries the names, directions and plural rules of all languages; nothing here lists them. Loading it takes as
long as weaving a page, and what it says of a language never changes: so a build that has heard it once can `recall` it.

    >>> ja = speech("ja")
    >>> ja.name, ja.direction, ja.samples
    ('日本語', 'ltr', (('other', 1),))
"""

from __future__ import annotations

from collections.abc import Mapping
from gettext import NullTranslations
from html import unescape
from typing import NamedTuple


class Speech(NamedTuple):
    """
    `samples` has a whole number for each category of `Intl.PluralRules` that such numbers can have, and one for
    `other`, which stands for fractions where no whole number is of it.
    """

    name: str
    direction: str
    samples: tuple[tuple[str, int], ...]


_known: dict[str, Speech] = {}


def speech(tag: str) -> Speech:
    """What Babel knows of the language, or of the nearest that it knows."""
    if tag not in _known:
        _known[tag] = _asked(tag)
    return _known[tag]


def recall(known: Mapping[str, Speech]) -> None:
    """What was asked before need not be asked again."""
    _known.update(known)


def native_name(tag: str) -> str:
    """`日本語` for `ja`; the tag itself for a language that Babel does not know."""
    return speech(tag).name


def direction(tag: str) -> str:
    """`ltr` or `rtl`."""
    return speech(tag).direction


def plural_forms(words: NullTranslations, lang: str, singular: str, plural: str) -> dict[str, str]:
    """
    A text that counts, for a script: its forms by the categories of `Intl.PluralRules`, which knows in every browser
    which of them a number asks for.
    """
    return {
        category: unescape(words.ngettext(singular, plural, number))
        for category, number in speech(lang).samples
    }


def _asked(tag: str) -> Speech:
    from babel import Locale, UnknownLocaleError

    from site_builder.translate.locales import locale

    try:
        name = Locale.parse(tag.replace("-", "_")).display_name
    except (ValueError, UnknownLocaleError):
        name = None
    near = locale(tag)
    category = near.plural_form if near else (lambda number: "one" if number == 1 else "other")
    samples: dict[str, int] = {}
    for number in (*range(1, 200), 0, 1_000_000):
        samples.setdefault(category(number), number)
    samples.setdefault("other", samples[category(5)])
    return Speech(
        name[0].upper() + name[1:] if name else tag,
        near.text_direction if near else "ltr",
        tuple(samples.items()),
    )
