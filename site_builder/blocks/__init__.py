"""
---
title: Blocks
summary: One splitter of Markdown, whose blocks know where in the text they stand.
order: [splitter, starts, cursor, state, containers, leaves, tables, vocabulary, model, atoms, exchange]
---
# Blocks

Diagnostics want to say where something is wrong, and translators want one paragraph at a time. Both need to know
where a block begins and ends in the text that the author typed, which a Markdown library does not tell. So the
splitting is ours.

`split` gives the blocks, `outline` the same as a tree; `translatable` and `replace` exchange the blocks written for
people for their translations.

Start with [the splitter](splitter.html), which goes through a text line by line. Whatever can stay open over
several lines is either a [container](containers.html) or a [leaf](leaves.html); [how each of them
begins](starts.html) is one regular expression.
"""

from __future__ import annotations

from site_builder.blocks.atoms import Atom, AtomKind, atoms
from site_builder.blocks.exchange import Exchanged, replace, translatable
from site_builder.blocks.model import Block, BlockKind, Container, ContainerKind
from site_builder.blocks.splitter import outline

__all__ = [
    "Atom",
    "AtomKind",
    "Block",
    "BlockKind",
    "Container",
    "ContainerKind",
    "Exchanged",
    "atoms",
    "outline",
    "replace",
    "split",
    "translatable",
]


def split(text: str) -> tuple[Block, ...]:
    """Every block of the text, in order."""
    return tuple(outline(text).leaves())
