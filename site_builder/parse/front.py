r"""
---
title: Front matter
summary: What stands between two fences at the head of a page is said about the page.
---
# Front matter

Between two `---` lines at the beginning of a module's docstring stand keys and values. What they say is read as
[YAML](mapping.html). Most pages say no more than a title and a summary, in words that mean themselves in YAML too, and
need none of it: its reader is imported by the first page that says more.
"""

from __future__ import annotations

from collections.abc import Sequence

from site_builder.errors import Diagnostic
from site_builder.lazy import regex
from site_builder.model import FrontMatter, Position, ProseLine
from site_builder.parse.text import BLANK, trim

FENCE = "---"

# A letter, then nothing by which a value could end, go on, or be anything else than text.
_WORDS = regex(r"(title|summary): ([^\W\d_][^:#]*)")
_NOTHING = frozenset({"null", "Null", "NULL"})


def read(lines: Sequence[ProseLine]) -> tuple[FrontMatter, tuple[ProseLine, ...], tuple[Diagnostic, ...]]:
    """
    The front matter of a page, the prose below it, and what is wrong with it.

    `positions` of the result has an entry for each key, and for each part of a value (`symbols.Q`,
    `papers.0`): where that key or item begins; of text (`title`, `papers.0.url`), where the text itself does.
    """
    lines = trim(lines)
    if not lines or lines[0].text.rstrip(BLANK) != FENCE:
        return FrontMatter(), lines, ()
    first = lines[0]
    end = next((index for index, line in enumerate(lines[1:], 1) if line.text.rstrip(BLANK) == FENCE), 0)
    if not end:
        fault = Diagnostic(
            first.path, first.line, first.column, "front-syntax", "the front matter is not closed",
            "write a second line of `---` below its last key",
        )  # fmt: skip
        return FrontMatter(), trim(lines[1:]), (fault,)
    inside, below = lines[1:end], trim(lines[end + 1 :])
    if front := _words(inside):
        return front, below, ()
    from site_builder.parse import mapping

    front, faults = mapping.read(inside or (first,))
    return front, below, faults


def _words(lines: Sequence[ProseLine]) -> FrontMatter | None:
    """A title, a summary or both, each in plain words on one line; nothing where there is more to be read."""
    said: dict[str, str] = {}
    places: dict[str, Position] = {}
    for line in lines:
        found = _WORDS.fullmatch(line.text)
        if found is None or not line.text.isprintable():
            return None
        key, value = found[1], found[2].rstrip(" ")
        if key in said or value in _NOTHING:
            return None
        said[key] = value
        places[key] = Position(line.path, line.line, line.column + found.start(2))
    if not said:
        return None
    return FrontMatter(said.get("title", ""), said.get("summary", ""), positions=tuple(places.items()))
