"""
---
title: Rules for blocks
summary: An ordered list of rules; the first that fits the line takes as many lines as it needs.
---
# Rules for blocks

Each rule looks at one line of a `State`. It either writes blocks and returns the line to go on with, or returns None.
Order matters: what is certain (a doctest, a fence) stands before what is guessed, and the last rule, a paragraph,
takes anything. So every line is taken by exactly one rule, and none is lost.
"""

from __future__ import annotations

from collections.abc import Callable

from site_builder.prose.docstyles import lists, native, paragraphs, tables, titles
from site_builder.prose.docstyles.context import State
from site_builder.prose.docstyles.explicit import explicit
from site_builder.prose.docstyles.shapes import Block

__all__ = ["run"]

_RULES: tuple[Callable[[State, int], int | None], ...] = (
    native.doctest,
    native.fenced,
    native.display_math,
    explicit,
    paragraphs.indented,
    titles.field_list,
    tables.grid,
    tables.simple,
    tables.markdown,
    titles.heading,
    titles.google_section,
    titles.transition,
    lists.listing,
    lists.line_block,
    native.atx_heading,
    paragraphs.program,
    lists.glossary,
    paragraphs.paragraph,
)


def run(state: State) -> list[Block]:
    at = 0
    while (at := state.filled(at)) < len(state.lines):
        for rule in _RULES:
            following = rule(state, at)
            if following is not None:
                at = following
                break
    return state.out
