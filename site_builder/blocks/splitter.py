"""
---
title: The splitter
summary: Markdown text, line by line, to blocks and the containers they lie in.
---
# The splitter

CommonMark's way of reading: a line first goes on in as many open containers as it can, then it opens
new ones, and what is left of it belongs to the innermost. So the text is read once, whatever it looks
like, and nothing in it is an error.
"""

from __future__ import annotations

from functools import lru_cache

from site_builder.blocks import containers, leaves
from site_builder.blocks.cursor import Cursor
from site_builder.blocks.model import BlockKind, Container
from site_builder.blocks.state import State, not_math


@lru_cache(maxsize=4096)
def outline(text: str) -> Container:
    """The whole text as a tree. One page asks for that of the same text several times."""
    state = State(text)
    start = 0
    for line in text.split("\n"):
        _read(state, Cursor(text, start, start + len(line)))
        start += len(line) + 1
    state.matched = 1
    state.close()
    return state.open[0].frozen()


def _read(state: State, line: Cursor) -> None:
    state.matched, state.opened = 1, False
    for container in state.open[1:]:
        if not containers.goes_on(state, container, line):
            break
        state.matched += 1
    complete = state.matched == len(state.open)
    if complete and state.leaf and leaves.goes_on(state, state.leaf, line):
        return
    if state.leaf and state.leaf.kind is BlockKind.MATH:
        # The formula's container ends before it does.
        state.leaf = not_math(state.leaf)
    if line.blank:
        state.blank_line()
        return
    while containers.opens(state, line):
        pass
    if not line.blank and not leaves.opens(state, line):
        leaves.text(state, line)
    state.blank = None
