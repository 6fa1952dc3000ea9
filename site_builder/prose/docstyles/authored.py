"""
---
title: Markdown with sections
summary: A docstring in Markdown that lists its arguments in Google's or Sphinx's way.
---
# Markdown with sections

Its author means every sign of Markdown and HTML in it, so all text stays as typed. Only the sections become lists.
"""

from __future__ import annotations

from site_builder.lazy import regex
from site_builder.prose.docstyles.context import Context, State
from site_builder.prose.docstyles.patterns import FENCE, TITLE, field
from site_builder.prose.docstyles.sections import is_items
from site_builder.prose.docstyles.shapes import Block, Kind
from site_builder.prose.docstyles.titles import field_list, google_section

__all__ = ["AsTyped", "run"]


class AsTyped(Context):
    """A conversion that leaves the words alone."""

    def inline(self, text: str) -> str:
        return text


def run(state: State) -> list[Block]:
    at = typed = 0
    fence = ""
    while at < len(state.lines):
        line = state.lines[at]
        if found := FENCE.match(line.strip()):
            if not fence:
                fence = found.group(1)
            elif found.group(1).startswith(fence) and not found.group(2):
                fence = ""
        following = None
        if not fence and _opens_section(state, at):
            before = len(state.out)
            _keep(state, typed, at)
            following = (field_list if field(line) else google_section)(state, at)
            if following is None:
                del state.out[before:]
        if following is None:
            at += 1
        else:
            at = typed = following
    _keep(state, typed, at)
    return state.out


def _opens_section(state: State, at: int) -> bool:
    title = TITLE.match(state.lines[at])
    return bool(field(state.lines[at]) or (title and is_items(title.group(1))))


# What begins a block of its own, and so cannot stand behind a name.
_BLOCK = regex(
    r"[*+-] |\d+[.)] |[>#|]|```|~~~|\$\$|\\begin|</?(?:div|p|table|ul|ol|dl|pre|details|figure|svg|hr)\b"
)


def _keep(state: State, start: int, end: int) -> None:
    """Lines as they are, in two blocks: the first may be a paragraph that can stand behind a name."""
    first = min(state.filled(start), end)
    stop = next((at for at in range(first, end) if state.blank(at)), end)
    rest = min(state.filled(stop), end)
    text, more = (
        "\n".join(line.rstrip() for line in state.lines[begin:finish]).rstrip()
        for begin, finish in ((first, stop), (rest, end))
    )
    state.add(Block(Kind.OTHER if _BLOCK.match(text) else Kind.PARAGRAPH, text), Block(Kind.OTHER, more))
