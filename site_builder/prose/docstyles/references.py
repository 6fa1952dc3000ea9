"""
---
title: References
summary: The targets and substitutions that a docstring defines for itself.
---
# References

In reST a link may be used before it is defined, and the definition may stand anywhere in the docstring. So all
definitions are gathered first, in a pass of their own. Of targets, only addresses of the web and of mail are kept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from site_builder.lazy import regex

__all__ = ["NOTHING", "TARGET", "References", "normal", "references"]

TARGET = regex(r"^[ \t]*\.\. _(`[^`\n]{1,200}`|(?:[^:\n\\]|\\.){1,200}):(?:[ \t]+(\S.*))?$", re.MULTILINE)
_REPLACE = regex(r"^[ \t]*\.\. \|([^|\n]{1,80})\| replace::[ \t]*(.*(?:\n[ \t]+\S.*)*)$", re.MULTILINE)


@dataclass(frozen=True)
class References:
    """What a docstring defines (`.. _name: url`, `.. |name| replace:: text`)."""

    urls: Mapping[str, str] = field(default_factory=dict)
    substitutions: Mapping[str, str] = field(default_factory=dict)


NOTHING = References()


def normal(name: str) -> str:
    """Names compare without case and with single spaces."""
    return " ".join(name.lower().split())


def references(text: str) -> References:
    urls = {}
    for match in TARGET.finditer(text) if ".. _" in text else ():
        url = (match.group(2) or "").strip()
        if re.match(r"(?:https?|ftp|mailto):\S+$", url, re.IGNORECASE):
            urls[normal(match.group(1).strip("`").replace("\\", ""))] = url
    replaced = _REPLACE.finditer(text) if ".. |" in text else ()
    texts = {normal(match.group(1)): " ".join(match.group(2).split()) for match in replaced}
    return References(urls, texts)
