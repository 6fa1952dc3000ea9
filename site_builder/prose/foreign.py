"""
---
title: Docstrings in other styles
summary: One step turns a page whose docstrings are reST, Google or NumPy into Markdown, before anything reads it.
---
# Docstrings in other styles

Search, translation and typesetting all read Markdown, so the change is made once, right after parsing. A line keeps
its place as long as it keeps its letters; one that the conversion made has the place of the line before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from site_builder.lazy import regex
from site_builder.model import Page, Prose, ProseLine
from site_builder.prose import docstyles


def as_markdown(page: Page) -> Page:
    """
    The page with all its prose in Markdown; the same page where it was. Whoever wrote front matter wrote for us, and
    means every sign of Markdown and HTML in the page; so does whoever wrote a Markdown file.
    """
    style = "markdown" if page.front.positions or page.source.is_markdown else "auto"
    sections = tuple(
        section
        if (prose := _converted(section.prose, style)) is section.prose
        else section._replace(prose=prose)
        for section in page.sections
    )
    summary = page.summary
    if not page.front.summary:
        summary = docstyles.to_markdown(summary, style) or summary
    return replace(page, intro=_converted(page.intro, style), sections=sections, summary=summary)


def _converted(prose: Prose, style: str) -> Prose:
    markdown = docstyles.to_markdown(prose.text, style) if prose else None
    if markdown is None:
        return prose
    return Prose(tuple(_placed(markdown.split("\n"), prose.lines)))


def _placed(converted: list[str], lines: Sequence[ProseLine]) -> Iterator[ProseLine]:
    """Each line with the place of the line whose letters it has; one that the conversion made, with the last one."""
    at = 0
    where = lines[0]
    places: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        places.setdefault(_letters(line.text), []).append(number)
    for text in converted:
        same = places.get(letters) if (letters := _letters(text)) else None
        later = next((number for number in same if number >= at), None) if same else None
        if later is not None:
            at = later
            where = lines[at]
            shift = _indent(where.text) - _indent(text)
            yield ProseLine(text, where.path, where.line, max(where.column + shift, 1), where.raw)
        else:
            yield ProseLine(text, where.path, where.line, where.column, where.raw)


_NO_LETTER = regex(r"\\.|&\w+;|\W")


@lru_cache(maxsize=4096)
def _letters(text: str) -> str:
    return _NO_LETTER.sub("", text)


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())
