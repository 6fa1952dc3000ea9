"""
---
title: Docstrings in other styles
summary: One step turns a page whose docstrings are reST, Google or NumPy into Markdown, before anything reads it.
---
# Docstrings in other styles

Search, translation and typesetting all read Markdown, so the change is made once, right after parsing. A converted
line has the place of the docstring's beginning: that is as near as a message about it can come.
"""

from __future__ import annotations

from dataclasses import replace

from site_builder.model import Page, Prose
from site_builder.prose import docstyles


def as_markdown(page: Page) -> Page:
    """The page with all its prose in Markdown; the same page where it was."""
    sections = tuple(
        replace(section, prose=prose)
        if (prose := _converted(section.prose)) is not section.prose
        else section
        for section in page.sections
    )
    summary = page.summary if page.front.summary else docstyles.to_markdown(page.summary) or page.summary
    return replace(page, intro=_converted(page.intro), sections=sections, summary=summary)


def _converted(prose: Prose) -> Prose:
    markdown = docstyles.to_markdown(prose.text) if prose else None
    if markdown is None:
        return prose
    start = prose.lines[0]
    return Prose(tuple(replace(start, text=line) for line in markdown.split("\n")))
