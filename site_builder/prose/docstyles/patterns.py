"""
---
title: First lines
summary: How fields, titles and sections begin, for the rules that read them and the rules that stop before them.
---
# First lines

Where one block begins the block before it must end, so several rules put the same question to the same line. They
put it here. A pattern that only one rule needs stands beside that rule.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from site_builder.lazy import regex
from site_builder.prose.docstyles.lists import opens_glossary, opens_list

__all__ = ["ASIDES", "FENCE", "TITLE", "UNDERLINE", "field", "structured"]

FENCE = regex(r"(`{3,}|~{3,})\s*([^`\s]{0,40}(?: [^`]{0,80})?)$")
_FIELD = regex(r":([A-Za-z][\w+-]*)(?: +([^:\n]*(?:(?::\w+:`|::?\w)[^:\n]*)*))?:(?:\s+(.*))?$")
_EPYDOC = regex(
    r"@(param|parameter|arg|keyword|type|rtype|returns?|raises?|ivar|cvar|var)(?:\s+([\w*.]+))?\s*:(?:\s+(.*))?$"
)
UNDERLINE = regex(r"([=\-~^\"'`#*+.:_<>])\1{2,}\s*$")
TITLE = regex(r"([A-Za-z][A-Za-z]*(?:[ /-][A-Za-z]+){0,3}) ?(::?)\s*$")
ASIDES = frozenset(
    [
        *"note notes warning warnings caution danger important hint tip attention todo deprecated".split(),
        "see also",
    ]
)


def field(line: str) -> re.Match[str] | None:
    """The name, argument and text of a field."""
    if line.startswith(":"):
        return _FIELD.match(line.rstrip())
    return _EPYDOC.match(line.rstrip()) if line.startswith("@") else None


def structured(body: Sequence[str]) -> bool:
    """Whether a block begins with markup of its own, which says better than any guess what it is."""
    return bool(
        body[0].startswith((">>>", ".. ", "```", "$$"))
        or opens_list(body, 0)
        or opens_glossary(body)
        or field(body[0])
        or (TITLE.match(body[0]) and len(body) > 1 and body[1].startswith(" "))
    )
