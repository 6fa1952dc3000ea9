"""
---
title: Languages by name
summary: What its speakers call a language, and which way it is written.
---
# Languages by name

Babel carries the names and directions of all languages; nothing here lists them.
"""

from __future__ import annotations

from functools import cache

from babel import Locale, UnknownLocaleError

from site_builder.translate.locales import locale


@cache
def _locale(code: str) -> Locale | None:
    try:
        return Locale.parse(code.replace("-", "_"))
    except (ValueError, UnknownLocaleError):
        return None


def native_name(code: str) -> str:
    """`日本語` for `ja`; the code itself for a language that Babel does not know."""
    known = _locale(code)
    name = known.display_name if known else None
    return name[0].upper() + name[1:] if name else code


def direction(code: str) -> str:
    """`ltr` or `rtl`."""
    found = locale(code)
    return found.text_direction if found else "ltr"
