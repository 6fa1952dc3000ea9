r"""
---
title: F-strings
summary: Where the text of a string ends and its code begins, as Pygments has it.
---
# F-strings

A field ends with its bracket, with the colon of what it is formatted by, or with `!r` or `=` before one of these. What
follows a colon is text again, and may have fields in it. Whatever holds more than names, numbers, operators, plain
strings and a few brackets in brackets is left to Pygments itself.
"""

from __future__ import annotations

import re
from keyword import kwlist

from site_builder.lazy import regex

_SHARED = frozenset("False None True and await else for if in is lambda not or".split())
"""Keywords of expressions. The others are none for Pygments here."""
_WORD = rf"(?!(?:{'|'.join(word for word in kwlist if word not in _SHARED)})\b)[A-Za-z_][A-Za-z0-9_]*+"
_STRING = r"""'[^\\{}"'\n]*+'|"[^\\{}"'\n]*+\""""
_ATOM = rf"{_WORD}|[0-9](?![A-Za-z_])|[ .,+*/%<>&|^~-]|{_STRING}|[!=]="
_END = r"(?:![sraf])?[}:]"


def _brackets(depth: int) -> str:
    """What stands in brackets, with at most so many around each other."""
    inner = f"(?>{_ATOM}|[=:]{'|' + _brackets(depth - 1) if depth > 1 else ''})*+"
    return rf"\({inner}\)|\[{inner}\]"


_CODE = rf"(?>{_ATOM}|=(?!\s*{_END})|{_brackets(4)})*+"
_ESCAPED = regex(r"\\.")
_PART = regex(rf"\{{({_CODE})(?:=\s*+)?{_END}|(?:[^{{}}]|\{{\{{|\}}\}})++|\}}")


def parts(text: str, start: int, end: int) -> list[re.Match[str]] | None:
    """
    The string that stands there cut into fields and what is between them. Of a field the group is its code; `None`
    where it is not plain enough to tell.
    """
    found = list(_PART.finditer(text, start, end))
    if sum([part.end() - part.start() for part in found]) < end - start:
        return None
    quote = text[end - 1]
    quote *= 3 if text.endswith(quote * 3, start, end) else 1
    # For Pygments it would end there.
    between = [part[0] for part in found[1:-1] if part[1] is None and quote in part[0]]
    return None if any(quote in _ESCAPED.sub("", part) for part in between) else found
