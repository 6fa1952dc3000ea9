"""
---
title: Blocks and containers
summary: What the splitter hands out, and what it knows about where a block lies.
---
# Blocks and containers

A *block* is a leaf: a paragraph, a cell, a fence. It points into the text and holds no copy of it. A *container*
is a list, a quotation, a table: it holds blocks and other containers.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple


class BlockKind(StrEnum):
    """What a block is; the first eight are written for people, and so can be translated."""

    PARAGRAPH = "paragraph"
    HEADING = "heading"
    ITEM = "item"
    CELL = "cell"
    TERM = "term"
    DEFINITION = "definition"
    FOOTNOTE = "footnote"
    CAPTION = "caption"
    MATH = "math"
    CODE = "code"
    EXAMPLE = "example"
    HTML = "html"
    RULE = "rule"
    TABLE_RULE = "table-rule"
    REFERENCE = "reference"


TRANSLATABLE = frozenset(tuple(BlockKind)[:8])
ONE_LINE = frozenset({BlockKind.HEADING, BlockKind.CELL, BlockKind.TERM})
"""The kinds whose text cannot go on in a second line."""


class Block(NamedTuple):
    """
    A leaf of the text. `spans` has one `(start, end)` pair of offsets a line, without markers and indentation;
    `prefix` is what a further line of the block would begin with. `level` is that of a heading, `info` the
    label of a footnote or what stands behind the opening fence.
    """

    kind: BlockKind
    spans: tuple[tuple[int, int], ...]
    prefix: str = ""
    level: int = 0
    info: str = ""

    def text(self, text: str) -> str:
        """The block's own lines, cut out of the whole text."""
        return "\n".join([text[start:end] for start, end in self.spans])

    @property
    def translatable(self) -> bool:
        return self.kind in TRANSLATABLE

    @property
    def start(self) -> int:
        return self.spans[0][0]

    @property
    def end(self) -> int:
        return self.spans[-1][1]


class ContainerKind(StrEnum):
    DOCUMENT = "document"
    QUOTE = "quote"
    LIST = "list"
    ITEM = "item"
    TABLE = "table"
    ROW = "row"
    DEFINITIONS = "definitions"
    DEFINITION = "definition"
    FOOTNOTE = "footnote"


class Container(NamedTuple):
    """
    `loose`: a blank line stands between the children. `number` is where an ordered list begins, absent in a
    bulleted one; `info` the label of a footnote; `align` how the columns of a table are set: `left`, `right`,
    `center` or nothing.
    """

    kind: ContainerKind
    children: tuple[Block | Container, ...]
    loose: bool = False
    number: int | None = None
    info: str = ""
    align: tuple[str, ...] = ()

    def leaves(self) -> Iterator[Block]:
        """Every block below, in the order of the text."""
        for child in self.children:
            if isinstance(child, Block):
                yield child
            else:
                yield from child.leaves()
