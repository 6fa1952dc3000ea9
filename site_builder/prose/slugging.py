"""
---
title: Ids of headings
summary: From the words of a heading, in any script, to something that fits into an address.
---
# Ids of headings

They are made from the source text, never from a translation, so that a link means the same in every language.
Letters of all scripts are kept. A heading without any is called `heading`, and what repeats is numbered.
"""

from __future__ import annotations

import re
import unicodedata

from site_builder.lazy import regex

_TARGET = regex(r"\]\([^)]*\)|\]\[[^\]]*\]|</?[A-Za-z][^<>]*>")


def slug(text: str) -> str:
    """Lower-case words joined by hyphens. Markup counts as nothing, letters of all scripts as letters."""
    text = unicodedata.normalize("NFKC", _TARGET.sub("", text)).lower()
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", text)).strip("-_") or "heading"


def unique(texts: list[str]) -> tuple[str, ...]:
    """A slug for each text; one that repeats gets a number."""
    taken: set[str] = set()
    counts: dict[str, int] = {}
    result: list[str] = []
    for text in texts:
        base = name = slug(text)
        while name in taken:
            counts[base] = counts.get(base, 1) + 1
            name = f"{base}-{counts[base]}"
        taken.add(name)
        result.append(name)
    return tuple(result)
