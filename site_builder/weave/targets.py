"""
---
title: What a link may name
summary: "The places of a page: its sections, its headings, its lines, and what its author has named."
---
# What a link may name

All of it is known before any page is woven, from the source text alone, so that it is the same in every language.
"""

from __future__ import annotations

from collections.abc import Iterator

from site_builder import prose
from site_builder.model import Kind, Page, Section
from site_builder.weave.site import Lines


def headings(page: Page) -> tuple[tuple[str, ...], ...]:
    """
    The ids of the headings of each section, after those of the introduction: made from the source text, so that
    they are the same in every language. A section's first heading is its title and has the section's own anchor.
    """
    taken = {section.anchor for section in page.sections}
    result: list[tuple[str, ...]] = []
    for position, text in enumerate((page.intro, *(section.prose for section in page.sections))):
        ids: list[str] = []
        for slug in prose.slugs(text):
            name, count = slug, 1
            while name in taken:
                count += 1
                name = f"{slug}-{count}"
            taken.add(name)
            ids.append(name)
        result.append(tuple(ids) if position == 0 else ("", *ids[1:]) if ids else ())
    return tuple(result)


def anchors(page: Page) -> frozenset[str]:
    """Every id that a link to the page may name, besides its lines."""
    shown = sections(page)
    numbers = (f"section-{n}" for n in range(1, 1 + len(shown)))
    named = (section.anchor for section in shown)
    made = (name for ids in headings(page) for name in ids if name)
    return frozenset((*numbers, *named, *made, *typed(page)))


def lines(page: Page) -> Lines:
    """Where its sections begin, and which of its lines are shown as code."""
    shown = sections(page)
    code: list[int] = []
    for number in (number for section in shown for number in section.code):
        if code and code[-1] == number - 1:
            code[-1] = number
        else:
            code += [number, number]
    return Lines(tuple(section.start for section in shown), tuple(code))


def sections(page: Page) -> list[Section]:
    """Those that stand on the page, in its order."""
    return [section for section in page.sections if section.shown and section.kind is not Kind.MODULE]


def typed(page: Page) -> Iterator[str]:
    """The ids that the author has given to elements in the prose."""
    for text in (page.intro, *(section.prose for section in page.sections)):
        if "<" in text.text:
            yield from prose.ids(text.text)
