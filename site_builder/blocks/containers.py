"""
---
title: Containers
summary: "Quotations, lists, definitions and footnotes: how they begin and how they go on."
---
# Containers

Each function of `CONTAINERS` looks at what stands next on a line and opens its container if the
marker is there.
"""

from __future__ import annotations

from site_builder.blocks import starts
from site_builder.blocks.cursor import BLANKS, Cursor
from site_builder.blocks.model import Block, BlockKind, Container, ContainerKind
from site_builder.blocks.state import FIRST, HOLDERS, Open, State

MAX_DEPTH = 40
"""What lies deeper than that is text: nobody reads it, and Python's own stack has an end."""

_TERM_LINES = 4
_WORDS = (BlockKind.PARAGRAPH, *FIRST.values())


def goes_on(state: State, container: Open, line: Cursor) -> bool:
    """Whether the line goes on in the container; if so, its share of the line is consumed."""
    if container.kind in HOLDERS:
        return True
    if container.kind is ContainerKind.QUOTE:
        mark = starts.QUOTE.match(line.text, line.first, line.end)
        if line.indent > 3 or not mark or line.at_example:
            return False
        line.jump(mark.end())
        return True
    if line.blank:
        return bool(container.children or state.leaf)
    if line.indent < container.needed:
        return False
    # `2.` below `1.` is the next item, however far it is indented.
    narrow = line.indent < container.content
    if narrow and container.number is not None and starts.NUMBER.match(line.text, line.first, line.end):
        return False
    line.indentation(container.content)
    return True


def opens(state: State, line: Cursor) -> bool:
    """Open the container whose marker stands next on the line, if one does."""
    if line.blank or line.indent > 3:
        return False
    first = line.text[line.first]
    rule = _CONTAINERS.get(first) or (_item if first.isdigit() else None)
    return rule is not None and state.matched < MAX_DEPTH and not line.at_example and rule(state, line)


def _quote(state: State, line: Cursor) -> bool:
    mark = starts.QUOTE.match(line.text, line.first, line.end)
    if mark:
        state.push(Open(ContainerKind.QUOTE, "> "))
        line.jump(mark.end())
    return bool(mark)


def _footnote(state: State, line: Cursor) -> bool:
    mark = starts.FOOTNOTE.match(line.text, line.first, line.end)
    if mark:
        state.push(Open(ContainerKind.FOOTNOTE, "    ", content=4, needed=2, info=mark[1]))
        line.jump(mark.end())
    return bool(mark)


def _item(state: State, line: Cursor) -> bool:
    text, first, end = line.text, line.first, line.end
    bullet, counted = starts.BULLET.match(text, first, end), starts.NUMBER.match(text, first, end)
    mark = bullet or counted
    if not mark or starts.RULE.match(text, first, end):
        return False
    number = int(counted[1]) if counted else None
    empty = not text[mark.end() : end].strip(BLANKS)
    if state.interrupted and (empty or number not in (None, 1)):
        # A number at the beginning of a line is seldom the second item of a list that has no first.
        return False
    marker = counted[2] if counted else mark[1]
    indent, width = line.indent, mark.end() - first
    line.jump(mark.end())
    spaces = line.indent if not empty and line.indent <= 4 else 1
    line.indentation(spaces)
    state.close()
    top = state.open[-1]
    if top.kind is not ContainerKind.LIST or top.marker != marker:
        state.push(Open(ContainerKind.LIST, marker=marker, number=number))
    content = indent + width + spaces
    state.push(
        Open(ContainerKind.ITEM, " " * content, content, min(content, indent + 2), marker, number),
    )
    return True


def _definition(state: State, line: Cursor) -> bool:
    """`: text` under a line of text makes that line a term; under a table it is the caption."""
    mark = starts.DEFINITION.match(line.text, line.first, line.end)
    if not mark:
        return False
    parent = state.open[state.matched - 1]
    above = None if state.opened else state.leaf
    if parent.kind is not ContainerKind.DEFINITIONS and above:
        term = state.interrupted and len(above.spans) <= _TERM_LINES
        if state.matched < len(state.open) or not (term or above.kind is BlockKind.TABLE_RULE):
            return False
    state.close()
    if parent.kind is not ContainerKind.DEFINITIONS:
        last = parent.children[-1] if parent.children else None
        if isinstance(last, Container) and last.kind is ContainerKind.TABLE:
            return _caption(state, line, last)
        if not isinstance(last, Block) or not _is_term(state, last, line):
            return False
        _terms(state, parent, last)
    content = line.indent + 1 + min(mark.end() - mark.start() - 1, 4)
    needed = min(content, line.indent + 2)
    state.matched = len(state.open)
    state.push(Open(ContainerKind.DEFINITION, " " * content, content, needed))
    line.jump(mark.end())
    return True


def _is_term(state: State, block: Block, line: Cursor) -> bool:
    near = state.text.count("\n", block.end, line.first) <= 2
    return near and block.kind in _WORDS and len(block.spans) <= _TERM_LINES


def _terms(state: State, parent: Open, block: Block) -> None:
    """Make terms of the paragraph, in the list above it if it stands right under one."""
    parent.children.pop()
    above = parent.children[-1] if parent.children else None
    if isinstance(above, Open) and above.kind is ContainerKind.DEFINITIONS:
        state.open.append(above)
    else:
        state.matched = len(state.open)
        blank, state.blank = state.blank, None
        state.push(Open(ContainerKind.DEFINITIONS))
        state.blank = blank
    terms = (Block(BlockKind.TERM, (span,), block.prefix) for span in block.spans)
    state.open[-1].children.extend(terms)


def _caption(state: State, line: Cursor, table: Container) -> bool:
    mark = starts.DEFINITION.match(line.text, line.first, line.end)
    above = list(table.leaves())[-1]
    if not mark or above.kind is BlockKind.CAPTION or state.text.count("\n", above.end, line.first) > 2:
        return False
    parent = state.open[-1]
    caption = Block(BlockKind.CAPTION, ((mark.end(), line.last),), parent.prefix)
    parent.children[-1] = table._replace(children=(*table.children, caption))
    state.opened = True
    line.jump(line.end)
    return True


_CONTAINERS = {
    ">": _quote,
    "[": _footnote,
    ":": _definition,
    "-": _item,
    "+": _item,
    "*": _item,
}
