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
from collections.abc import Iterator, Sequence

from site_builder.lazy import regex
from site_builder.model import Position, Prose, ProseLine
from site_builder.parse.text import trim

_HEADING = regex(r"#[ \t]+(?=\S)")
_CLOSING = regex(r"[ \t]#+$")
_FENCE = regex(r" {0,3}(```+|~~~+)")
_UNDERLINE = regex(r"[ \t]*([=\-~^\"'`*+#:.])\1{2,}[ \t]*$")
# A module's own name, as some write it first.
_NAME = regex(r"\w+(?:\.\w+)*", re.ASCII)
# What a line begins with that begins something other than a plain paragraph.
_NOT_PLAIN = regex(
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
_ABBREVIATION = regex(
    r"(?:^|[\s(\[])(?:e\.g|i\.e|cf|al|etc|vs|Figs?|Eqs?|Sec|Dr|Mrs?|Ms|Prof|No|approx|resp|[A-Z])$"
)
_END = regex(r"[.!?…]+[\"'”’)\]*_]*(?=\s|$)|[。！？]")
_OPAQUE = regex(r"(`+)(?:(?!\1).)*\1|\$[^$]+\$|\[[^\]]*\]\([^)]*\)")

LONGEST = 2000
"""A paragraph without any full stop is cut here. Nobody reads on."""


def title_heading(lines: Sequence[ProseLine], *, markdown: bool) -> tuple[str, Position | None, Prose]:
    """
    The `#` heading that gives the page its title, where it stands, and the introduction without it.

    In a docstring, which need not be Markdown, it is the first line or a line between blank lines: a `#` within
    a text is more likely somebody's example.
    """
    for index, line in _outside_fences(lines):
        found = _HEADING.match(line.text)
        if found and (markdown or index == 0 or _alone(lines, index)):
            place = Position(line.path, line.line, line.column + found.end())
            title = _CLOSING.sub("", line.text[found.end() :].rstrip()).rstrip()
            return title, place, Prose(trim([*lines[:index], *lines[index + 1 :]]))
    return "", None, Prose(trim(lines))


def _alone(lines: Sequence[ProseLine], index: int) -> bool:
    return not any(line.text for line in (*lines[index - 1 : index], *lines[index + 1 : index + 2]))


def first_sentence(intro: Prose) -> str:
    """The first sentence of the first plain paragraph, on one line."""
    paragraphs: list[list[str]] = [[]]
    last = -1
    for index, line in _outside_fences(intro.lines):
        if not line.text or index != last + 1:
            paragraphs.append([])
        if _UNDERLINE.match(line.text) and len(paragraphs[-1]) == 1:
            paragraphs[-1] = []  # A heading with a line below it.
        elif line.text:
            paragraphs[-1].append(line.text)
        last = index
    for paragraph in filter(None, paragraphs):
        text = " ".join(row.strip() for row in paragraph)
        if not (paragraph[0][0] in " \t" or _NOT_PLAIN.match(text) or _NAME.fullmatch(text)):
            return _sentence(text[:LONGEST])
    return ""


def _outside_fences(lines: Sequence[ProseLine]) -> Iterator[tuple[int, ProseLine]]:
    """The lines, with their places, that are not in a fenced block of code."""
    fence = ""
    for index, line in enumerate(lines):
        found = _FENCE.match(line.text)
        if fence:
            if found and found[1].startswith(fence) and not line.text.strip(" \t`~"):
                fence = ""
        elif found and not (index and lines[index - 1].text and _UNDERLINE.match(line.text)):
            fence = found[1]
        else:
            yield index, line


def _sentence(text: str) -> str:
    opaque = [found.span() for found in _OPAQUE.finditer(text)]
    for end in _END.finditer(text):
        if any(start < end.start() < stop for start, stop in opaque):
            continue  # In code, math or a link.
        if end[0][0] == "." and _ABBREVIATION.search(text[max(end.start() - 10, 0) : end.start()]):
            continue
        return text[: end.end()]
    return text
