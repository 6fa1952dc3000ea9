"""
---
title: How a page opens
summary: Its title, its introduction and the one sentence that stands for it elsewhere.
---
# How a page opens

The docstring of a module becomes the introduction of its page. A `#` heading in it is the page's title, and
is taken out, because the page shows its title anyway.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from site_builder.model import Position, Prose, ProseLine
from site_builder.parse.docstrings import trim

_HEADING = re.compile(r"#[ \t]+(?P<title>\S.*?)[ \t]*(?:[ \t]#+[ \t]*)?$")
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_UNDERLINE = re.compile(r"[ \t]*([=\-~^\"'`*+#:.])\1{2,}[ \t]*$")
# What a line begins with that begins something other than a plain paragraph.
_NOT_PLAIN = re.compile(
    r"""
      \#                            # a heading,
    | ``` | ~~~                     # a fence,
    | > | <                         # a quotation or an example, or HTML,
    | \$\$ | \\begin\b             # display math,
    | \|                            # a table,
    | !\[ | \[!\[                   # a picture or a badge,
    | \.\.[ ] | :[\w ]+:            # a directive or a field,
    | [*+-][ \t] | \d+[.)][ \t]     # a list,
    | [-*_=](?:[ \t]*[-*_=]){2,}[ \t]*$  # a rule.
    """,
    re.VERBOSE,
)
# A full stop ends no sentence after these, nor after a single capital letter.
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[])(?:e\.g|i\.e|cf|al|etc|vs|Figs?|Eqs?|Sec|Dr|Mrs?|Ms|Prof|No|approx|resp|[A-Z])$"
)
_END = re.compile(r"[.!?…]+[\"'”’)\]*_]*(?=\s|$)|[。！？]")
_OPAQUE = re.compile(r"(`+)(?:(?!\1).)*\1|\$[^$]+\$|\[[^\]]*\]\([^)]*\)")


def title_heading(lines: Sequence[ProseLine]) -> tuple[str, Position | None, Prose]:
    """
    The `#` heading that gives the page its title, where it stands, and the introduction without it. It is
    the first line, or a line between blank lines: a `#` within a text is more likely somebody's example.
    """
    fence = ""
    for index, line in enumerate(lines):
        opening = _FENCE.match(line.text)
        if opening and not fence:
            fence = opening[1]
        elif opening and opening[1].startswith(fence) and not line.text.strip(" \t`~"):
            fence = ""
        if fence:
            continue
        found = _HEADING.match(line.text)
        alone = index == 0 or (
            not lines[index - 1].text and (index + 1 == len(lines) or not lines[index + 1].text)
        )
        if found and alone:
            place = Position(line.path, line.line, line.column + found.start("title"))
            return found["title"], place, Prose(trim([*lines[:index], *lines[index + 1 :]]))
    return "", None, Prose(trim(lines))


def first_sentence(intro: Prose) -> str:
    """The first sentence of the first plain paragraph, on one line."""
    paragraph: list[str] = []
    fence = ""
    for line in (*intro.lines, None):
        text = line.text if line else ""
        opening = _FENCE.match(text)
        if opening and (not fence or opening[1].startswith(fence)):
            fence = "" if fence else opening[1]
            paragraph = []
        elif fence:
            continue
        elif text.strip():
            paragraph.append(text)
        elif paragraph:
            first = paragraph[0]
            heading = len(paragraph) > 1 and any(_UNDERLINE.match(row) for row in paragraph[:3])
            if not heading and not _NOT_PLAIN.match(first) and not first.startswith(("    ", "\t")):
                return _sentence(" ".join(row.strip() for row in paragraph))
            paragraph = []
    return ""


def _sentence(text: str) -> str:
    opaque = [found.span() for found in _OPAQUE.finditer(text)]
    for end in _END.finditer(text):
        if any(start < end.start() < stop for start, stop in opaque):
            continue  # In code, math or a link.
        if end[0][0] == "." and _ABBREVIATION.search(text[max(end.start() - 10, 0) : end.start()]):
            continue
        return text[: end.end()]
    return text
