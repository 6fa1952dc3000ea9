"""
---
title: What is Markdown already
summary: Doctests, fences, formulas and headings that pass as they are.
---
# What is Markdown already

A docstring in another style often holds some Markdown as well. These rules come early and copy what is right
already, so that no later rule takes a formula for a title or an example for a quotation. Only headings change:
they move below those of the page.
"""

from __future__ import annotations

from site_builder.lazy import regex
from site_builder.prose.docstyles.context import State
from site_builder.prose.docstyles.patterns import FENCE
from site_builder.prose.docstyles.shapes import Block, Kind, fence

__all__ = ["TOP", "atx_heading", "display_math", "doctest", "fenced"]

TOP = 4
"""The level of the first heading in a docstring: it stands below the page's and the sections' own."""

_ATX = regex(r"(#{1,6})\s+(\S.*?)(?:\s+#+)?\s*$")
_ENVIRONMENT = regex(r"\\{1,2}begin\{([A-Za-z]+\*?)\}")


def doctest(state: State, at: int) -> int | None:
    """`>>> ` and all up to the next blank line, as typed."""
    if not state.lines[at].startswith(">>>"):
        return None
    end = at
    while not state.blank(end):
        end += 1
    state.add(Block(Kind.EXAMPLE, "\n".join(state.lines[at:end])))
    return end


def fenced(state: State, at: int) -> int | None:
    """A fence of Markdown's own."""
    match = FENCE.match(state.lines[at])
    if not match:
        return None
    sign = match.group(1)
    if sign in state.unclosed:
        return None
    for end in range(at + 1, len(state.lines)):
        closing = state.lines[end].strip()
        if closing.startswith(sign) and not closing.strip(sign[0]):
            name = match.group(2).strip().split(" ")[0].strip("{}.") or "text"
            state.add(fence([line.rstrip() for line in state.lines[at + 1 : end]], name))
            return end + 1
    # Never closed: then it is text.
    state.unclosed.add(sign)
    return None


def display_math(state: State, at: int) -> int | None:
    """`$$…$$` on lines of its own, or a bare environment."""
    line = state.lines[at]
    if line.startswith("$$"):
        end = at
        rest = line[2:]
        while "$$" not in rest:
            end += 1
            if state.blank(end):
                return None
            rest = state.lines[end]
        if rest.split("$$", 1)[1].strip(" .,;"):
            return None
        state.add(Block(Kind.MATH, "\n".join(each.rstrip() for each in state.lines[at : end + 1])))
        return end + 1
    if match := _ENVIRONMENT.match(line):
        closing = f"end{{{match.group(1)}}}"
        end = at
        while not state.blank(end):
            if closing in state.lines[end]:
                if not state.lines[end].rstrip().endswith(closing):
                    return None
                text = "\n".join(each.rstrip() for each in state.lines[at : end + 1])
                state.add(
                    Block(Kind.MATH, text.replace("\\\\", "\\") if match.group().startswith("\\\\") else text)
                )
                return end + 1
            end += 1
    return None


def atx_heading(state: State, at: int) -> int | None:
    """`# Title` of a docstring that is half Markdown, moved below the page's own headings."""
    match = _ATX.match(state.lines[at])
    if not match or not state.blank(at + 1) or (at and not state.blank(at - 1)):
        return None
    level = min(TOP - 1 + len(match.group(1)), 6)
    state.add(Block(Kind.OTHER, f"{'#' * level} {state.context.inline(match.group(2))}"))
    return at + 1
