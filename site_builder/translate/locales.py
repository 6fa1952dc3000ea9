"""
---
title: What Babel knows of a language
summary: A tag as a locale, and how its words are counted.
---
# What Babel knows of a language

A tag may say more than Babel knows, as `pt-XX` or `zh-Hant-US` does: then what is known of the nearest counts, down to
the language itself.

    >>> locale("zh-Hant-US"), locale("ar-XB"), locale("tlh")
    (Locale('zh', script='Hant'), Locale('ar'), None)
    >>> plurals("ja"), plurals("tlh")
    ((1, '0'), (2, '(n != 1)'))
"""

from __future__ import annotations

from functools import cache

from babel import Locale, UnknownLocaleError
from babel.messages.plurals import get_plural

ACCENTED, MIRRORED = "en-XA", "ar-XB"
"""The [pseudo-languages](pseudo.html), which no person writes."""


@cache
def locale(tag: str) -> Locale | None:
    """The locale of the tag, or of its beginning."""
    parts = tag.replace("_", "-").split("-")
    while parts:
        try:
            return Locale.parse("_".join(parts))
        except (ValueError, UnknownLocaleError):
            parts.pop()
    return None


def plurals(tag: str) -> tuple[int, str]:
    """How many forms a counted word has in the language, and the rule in C's notation."""
    known = locale(tag)
    found = get_plural(known) if known else (2, "(n != 1)")
    return int(found[0]), str(found[1])
