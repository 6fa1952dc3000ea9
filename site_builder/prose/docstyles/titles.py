"""
---
title: Titles
summary: What stands under a line of signs, behind a colon, or between two colons.
---
# Titles

NumPy underlines the title of a section, Google ends it with a colon, Sphinx writes `:param x:` instead. Each rule
here looks at one line. It takes everything that belongs to the title and returns the line to go on with, or
returns `None`, and the next rule has its turn.
"""

from __future__ import annotations

import re

from site_builder.prose.docstyles.context import State
from site_builder.prose.docstyles.directives import aside
from site_builder.prose.docstyles.fields import Field, fields
from site_builder.prose.docstyles.native import TOP
from site_builder.prose.docstyles.patterns import ASIDES, TITLE, UNDERLINE, field, structured
from site_builder.prose.docstyles.sections import google, is_items, numpy
from site_builder.prose.docstyles.shapes import Block, Kind, dedent, is_code, label, literal

__all__ = ["field_list", "google_section", "heading", "transition"]

_EXAMPLES = frozenset("example examples usage".split())
_NUMPY_TEXT = frozenset("examples example notes note references warnings".split())


def field_list(state: State, at: int) -> int | None:
    """`:param x: text` and its like, and epydoc's `@param x: text`."""
    if not field(state.lines[at]):
        return None
    found: list[Field] = []
    while at < len(state.lines) and (match := field(state.lines[at])):
        end = max(state.body(at + 1), at + 1)
        # Text that its author forgot to indent goes on with the field.
        while not state.blank(end) and not state.blank(end - 1):
            if field(state.lines[end]) or state.lines[end].startswith((".. ", ">>>")):
                break
            end = max(state.body(end + 1), end + 1)
        text = (match.group(3) or "", *state.lines[at + 1 : end])
        found.append(Field(match.group(1), (match.group(2) or "").strip(), text))
        at = state.filled(end)
    state.add(*fields(found, state.context))
    return at


def heading(state: State, at: int) -> int | None:
    """A title over (or between) a line of signs: a section of NumPy's, or a heading of reST's."""
    lines = state.lines
    over = UNDERLINE.match(lines[at])
    if over and at + 2 < len(lines) and not state.blank(at + 1):
        under = UNDERLINE.match(lines[at + 2])
        if under and under.group(1) == over.group(1):
            state.add(_title(state, lines[at + 1].strip(), over.group(1) * 2))
            return at + 3
    if state.indented(at) or at + 1 >= len(lines) or over:
        return None
    under = UNDERLINE.match(lines[at + 1])
    title = lines[at].strip()
    if not under or len(lines[at + 1].strip()) * 2 < len(title):
        return None
    if under.group(1) in "-=~" and (is_items(title) or title.lower() == "see also"):
        end = _section_end(state, at + 2)
        state.add(*numpy(title, lines[at + 2 : end], state.context))
        return end
    if under.group(1) in "-=" and title.lower() in _NUMPY_TEXT:
        state.add(*label(state.context.inline(title), []))
        return at + 2
    if not any(character.isalnum() for character in title):
        return None
    state.add(_title(state, title, under.group(1)))
    return at + 2


def _title(state: State, title: str, adornment: str) -> Block:
    known = state.context.adornments
    if adornment not in known:
        known.append(adornment)
    level = min(TOP + known.index(adornment), 6)
    return Block(Kind.OTHER, f"{'#' * level} {state.context.inline(title)}")


def _section_end(state: State, at: int) -> int:
    """The line of the next title, or the end."""
    for end in range(at, len(state.lines) - 1):
        line = state.lines[end]
        title = line.strip() and not line.startswith(" ") and not UNDERLINE.match(line)
        if title and UNDERLINE.match(state.lines[end + 1]):
            return end
        if (
            line.startswith(".. ")
            and (end == at or state.blank(end - 1))
            and not line.startswith((".. [", ".. _"))
        ):
            return end
    return len(state.lines)


def google_section(state: State, at: int) -> int | None:
    """`Args:` over an indented block; any other short title over one becomes a label."""
    line = state.lines[at]
    match = TITLE.match(line) if line.rstrip().endswith(":") else None
    if not match:
        return None
    start = state.filled(at + 1)
    if start > at + 2 or not state.indented(start):
        return None
    title, colons = match.groups()
    key = " ".join(title.lower().split())
    lines = state.lines[start : (end := state.body(start))]
    if colons == "::":
        if not (is_items(key) or key in ASIDES or key in _EXAMPLES):
            return None
        state.add(*label(state.context.inline(title), literal(lines)))
    elif is_items(key):
        state.add(*google(title, lines, state.context))
    elif key in ASIDES:
        state.add(*aside(state.context, title, dedent(lines)))
    elif title[0].isupper() and title.count(" ") < 3:
        body = dedent(lines)
        plain = structured(body) or not is_code(body)
        state.add(
            *label(state.context.inline(title), state.context.convert(body) if plain else literal(body))
        )
    else:
        return None
    return end


def transition(state: State, at: int) -> int | None:
    """A ruler between blank lines parts the text; at either end it is an ornament."""
    line = state.lines[at].strip()
    if not re.fullmatch(r"([=\-~^\"'`#*+.:_<>])\1{3,}", line) or not state.blank(at + 1):
        return None
    if state.out and state.filled(at + 1) < len(state.lines):
        state.add(Block(Kind.OTHER, "* * *"))
    return at + 1
