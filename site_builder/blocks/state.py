"""
---
title: What is open
summary: The containers and the block that the next line may still add to.
---
# What is open

While the text is read, containers and blocks are open and grow. Once it is read, all of it is
frozen into a tree that nobody changes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from site_builder.blocks import starts
from site_builder.blocks.model import Block, BlockKind, Container, ContainerKind
from site_builder.blocks.tables import alignments
from site_builder.blocks.vocabulary import small

Span = tuple[int, int]
HOLDERS = (ContainerKind.LIST, ContainerKind.DEFINITIONS)
"""They hold nothing but items, which hold everything else."""

FIRST = {
    ContainerKind.ITEM: BlockKind.ITEM,
    ContainerKind.DEFINITION: BlockKind.DEFINITION,
    ContainerKind.FOOTNOTE: BlockKind.FOOTNOTE,
}
"""What the paragraph is called that opens such a container."""


@dataclass(slots=True, eq=False, repr=False)
class Open:
    """
    A container that may still grow. `content` is the column in which its content begins, `needed`
    the least that a line must be indented to belong to it; `spaced`: a blank line stands between
    its children.
    """

    kind: ContainerKind
    prefix: str = ""
    content: int = 0
    needed: int = 0
    marker: str = ""
    number: int | None = None
    info: str = ""
    spaced: bool = False
    children: list[Block | Container | Open] = field(default_factory=list)

    def frozen(self) -> Container:
        children = tuple(child.frozen() if isinstance(child, Open) else child for child in self.children)
        loose = self.spaced
        if self.kind is ContainerKind.LIST:
            loose = loose or any(isinstance(child, Container) and child.loose for child in children)
        return Container(self.kind, children, loose, self.number, self.info)


@dataclass(slots=True, eq=False, repr=False)
class Leaf:
    """
    A block that may still grow. What the other fields mean depends on its kind: `fence` is the
    opening fence, `indent` its indentation or that of an example, `close` what ends a formula or a
    stretch of HTML, `depth` how many environments of a formula are open, `before` the paragraph that
    a formula interrupts, `rows` the cells of a table.
    """

    kind: BlockKind
    spans: list[Span]
    spaced: bool = False
    level: int = 0
    info: str = ""
    fence: str = ""
    indent: int = 0
    close: str = ""
    depth: int = 0
    before: Leaf | None = None
    rows: list[tuple[Span, ...]] = field(default_factory=list)


class State:
    """
    The text, what is open in it, and how far the present line has come: it goes on in the first
    `matched` of the open containers; `opened`: it has opened one itself.
    """

    def __init__(self, text: str):
        self.text = text
        self.open = [Open(ContainerKind.DOCUMENT)]
        self.leaf: Leaf | None = None
        self.matched = 1
        self.opened = False
        # The index of the innermost container that the blank line just above lies within, if there is one.
        self.blank: int | None = None
        self._last: dict[str, int] = {}

    def later(self, mark: str, offset: int) -> bool:
        """Whether the mark occurs anywhere behind the offset; each mark is searched for once."""
        if mark not in self._last:
            self._last[mark] = small(self.text).rfind(mark)
        return self._last[mark] > offset

    @property
    def paragraph(self) -> Leaf | None:
        """The paragraph that the line would go on in, were it nothing but text."""
        leaf = None if self.opened else self.leaf
        return leaf if leaf and leaf.kind is BlockKind.PARAGRAPH else None

    @property
    def interrupted(self) -> Leaf | None:
        """The same, if the line has kept all the markers of the containers that it lies in."""
        return self.paragraph if self.matched == len(self.open) else None

    def blank_line(self) -> None:
        self.close()
        # A blank line within a quotation says nothing about a list that the quotation lies in.
        self.blank = 0
        for number, container in enumerate(self.open[1:], 1):
            if container.kind is ContainerKind.QUOTE:
                self.blank = number

    def close(self) -> None:
        """Close the open block, and every container that the line does not go on in."""
        self.finish()
        del self.open[self.matched :]

    def push(self, container: Open) -> None:
        """Open a container inside of the innermost."""
        self.close()
        if container.kind not in FIRST or container.kind is ContainerKind.FOOTNOTE:
            self.leave_holders()
        parent = self.open[-1]
        self._space(parent)
        container.prefix = parent.prefix + container.prefix
        parent.children.append(container)
        self.open.append(container)
        self.matched, self.opened = len(self.open), True

    def start(self, kind: BlockKind, *spans: Span) -> Leaf:
        """Open a block inside of the innermost container."""
        self.close()
        self.leave_holders()
        self.leaf = Leaf(kind, list(spans), spaced=self._spaced())
        return self.leaf

    def leave_holders(self) -> None:
        while self.open[-1].kind in HOLDERS:
            self.open.pop()
        self.matched = min(self.matched, len(self.open))

    def _spaced(self) -> bool:
        return self.blank is not None and len(self.open) > self.blank

    def _space(self, parent: Open) -> None:
        if parent.children and self._spaced():
            parent.spaced = True

    def finish(self) -> None:
        """The open block is complete: hang it into its container."""
        leaf, self.leaf = self.leaf, None
        if leaf and leaf.kind is BlockKind.MATH and leaf.depth:
            leaf = not_math(leaf)
        if not leaf:
            return
        parent = self.open[-1]
        for part in (leaf.before, leaf):
            if part:
                parent.spaced |= part.spaced and bool(parent.children)
                self._hang(part, parent)

    def _hang(self, leaf: Leaf, parent: Open) -> None:
        kind, spans, info = leaf.kind, leaf.spans, leaf.info
        if kind is BlockKind.PARAGRAPH:
            while spans and starts.reference(self.text, spans[0]):
                parent.children.append(Block(BlockKind.REFERENCE, (spans.pop(0),), parent.prefix))
            if not parent.children:
                kind = FIRST.get(parent.kind, kind)
                info = parent.info
        elif kind is BlockKind.TABLE_RULE:
            parent.children.append(_table(leaf, parent.prefix))
            return
        elif kind is BlockKind.CODE and not leaf.fence:
            while not self.text[slice(*spans[-1])].strip():
                spans.pop()
        if spans or leaf.fence:
            parent.children.append(Block(kind, tuple(spans), parent.prefix, leaf.level, info))


def not_math(leaf: Leaf) -> Leaf:
    """What began like a formula is text after all, and part of the paragraph above it."""
    if leaf.before:
        leaf.before.spans += leaf.spans
        return leaf.before
    leaf.kind = BlockKind.PARAGRAPH
    return leaf


def _table(leaf: Leaf, prefix: str) -> Container:
    rule = Block(BlockKind.TABLE_RULE, tuple(leaf.spans), prefix, info=leaf.info)
    rows = [
        Container(ContainerKind.ROW, tuple(Block(BlockKind.CELL, (cell,), prefix) for cell in row))
        for row in leaf.rows
    ]
    return Container(ContainerKind.TABLE, (rows[0], rule, *rows[1:]), align=alignments(leaf.info))
