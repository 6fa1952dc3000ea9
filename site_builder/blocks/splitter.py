"""
---
title: The splitter
summary: Markdown text, line by line, to blocks and the containers they lie in.
---
# The splitter

CommonMark's way of reading: every line first continues as many open containers as it can, then opens new ones,
and what is left of it goes to the innermost. So the text is read once, whatever it looks like, and nothing
in it is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from site_builder.blocks import starts
from site_builder.blocks.atoms import BEGIN, PUNCTUATION, TAG, is_element
from site_builder.blocks.cursor import BLANKS, Cursor
from site_builder.blocks.model import Block, BlockKind, Container, ContainerKind
from site_builder.blocks.tables import alignments, cells

MAX_DEPTH = 40
"""What lies deeper than that is text: nobody reads it, and Python's own stack has an end."""

_FIRST = {
    ContainerKind.ITEM: BlockKind.ITEM,
    ContainerKind.DEFINITION: BlockKind.DEFINITION,
    ContainerKind.FOOTNOTE: BlockKind.FOOTNOTE,
}
_HOLDERS = (ContainerKind.LIST, ContainerKind.DEFINITIONS)
_TERM_LINES = 4


def outline(text: str) -> Container:
    """The whole text as a tree."""
    return _Splitter(text).document()


@dataclass(slots=True, eq=False)
class _Open:
    """A container that may still grow. `content` is the column its content begins in, `needed` the least that will do."""

    kind: ContainerKind
    prefix: str
    content: int = 0
    needed: int = 0
    marker: str = ""
    number: int | None = None
    info: str = ""
    spaced: bool = False
    children: list[Block | Container | _Open] = field(default_factory=list)

    def frozen(self) -> Container:
        children = tuple(child.frozen() if isinstance(child, _Open) else child for child in self.children)
        loose = self.spaced or (
            self.kind is ContainerKind.LIST
            and any(isinstance(child, Container) and child.loose for child in children)
        )
        return Container(self.kind, children, loose, self.number, self.info)


@dataclass(slots=True, eq=False)
class _Leaf:
    """A block that may still grow. `before` is the paragraph that a display formula interrupts."""

    kind: BlockKind
    spans: list[tuple[int, int]]
    spaced: bool
    info: str = ""
    fence: str = ""
    indent: int = 0
    close: re.Pattern[str] | str | None = None
    before: _Leaf | None = None
    rows: list[tuple[tuple[int, int], ...]] = field(default_factory=list)


class _Splitter:
    def __init__(self, text: str):
        self.text = text
        self.open = [_Open(ContainerKind.DOCUMENT, "")]
        self.leaf: _Leaf | None = None
        # How many of the open containers a blank line just above does not reach into; none: there was no blank line.
        self.blank: int | None = None
        self.comments_end = text.rfind("-->")
        self.verbatim_end = max((m.start() for m in starts.HTML_VERBATIM_END.finditer(text)), default=-1)

    def document(self) -> Container:
        start = 0
        while start <= len(self.text):
            end = self.text.find("\n", start)
            if end < 0:
                end = len(self.text)
            self.line(Cursor(self.text, start, end))
            start = end + 1
        self.close(0)
        return self.open[0].frozen()

    # --- one line --------------------------------------------------------------------------------------------------

    def line(self, cursor: Cursor) -> None:
        matched = 1
        while matched < len(self.open) and self.continues(self.open[matched], cursor):
            matched += 1
        if matched == len(self.open) and self.leaf and self.goes_on(self.leaf, cursor):
            return
        if cursor.blank:
            self.blank_line(matched)
            return
        opened = False
        while True:
            step = self.container(cursor, matched, opened)
            if step is None:
                break
            opened, matched = True, len(self.open)
        if cursor.blank:
            # A marker with nothing behind it.
            self.blank = None
            return
        if not self.block(cursor, matched, opened):
            self.words(cursor, matched, opened)
        self.blank = None

    def continues(self, container: _Open, cursor: Cursor) -> bool:
        """Whether the line goes on in the container; its share of the line is consumed."""
        if container.kind in _HOLDERS:
            return True
        if container.kind is ContainerKind.QUOTE:
            mark = starts.QUOTE.match(self.text, cursor.first, cursor.end)
            if cursor.indent > 3 or not mark or starts.EXAMPLE.match(self.text, cursor.first, cursor.end):
                return False
            cursor.jump(mark.end())
            return True
        if cursor.blank:
            return bool(container.children or self.leaf)
        if cursor.indent < container.needed:
            return False
        if cursor.indent < container.content and container.number is not None:
            # `2.` under `1.` is the next item, however it is indented.
            if starts.NUMBER.match(self.text, cursor.first, cursor.end):
                return False
        cursor.indentation(container.content)
        return True

    def goes_on(self, leaf: _Leaf, cursor: Cursor) -> bool:
        """Whether the line belongs to an open block that is not Markdown inside."""
        text, first, end = self.text, cursor.first, cursor.end
        if leaf.kind is BlockKind.CODE and leaf.fence:
            if cursor.indent <= 3 and text[first : cursor.last].rstrip(leaf.fence[0]) == "":
                if cursor.last - first >= len(leaf.fence):
                    self.finish()
                    return True
            cursor.indentation(leaf.indent)
            leaf.spans.append((cursor.at, end))
        elif leaf.kind is BlockKind.CODE:
            if not cursor.blank and (cursor.indent < 4 or starts.EXAMPLE.match(text, first, end)):
                return False
            cursor.indentation(4)
            leaf.spans.append((cursor.at, end))
            self.blank = self.reach() if cursor.blank else None
            return True
        elif leaf.kind is BlockKind.MATH:
            if cursor.blank:
                self.unmath()
                return False
            leaf.spans.append((first, cursor.last))
            self.math_end(leaf, first, cursor)
        elif leaf.kind is BlockKind.EXAMPLE:
            if cursor.blank or cursor.indent < leaf.indent:
                return False
            cursor.indentation(leaf.indent)
            leaf.spans.append((cursor.at, cursor.last))
        elif leaf.kind is BlockKind.HTML:
            if leaf.close is None and cursor.blank:
                return False
            leaf.spans.append((cursor.at, end))
            if isinstance(leaf.close, re.Pattern) and leaf.close.search(text, cursor.at, end):
                self.finish()
        else:
            return False
        self.blank = None
        return True

    def blank_line(self, matched: int) -> None:
        if self.leaf and (self.leaf.kind is not BlockKind.CODE or matched < len(self.open)):
            self.finish()
        self.close(matched - 1)
        self.blank = self.reach()

    def reach(self) -> int:
        """A blank line within a quotation says nothing about the list that the quotation lies in."""
        quotes = [i for i, container in enumerate(self.open) if container.kind is ContainerKind.QUOTE]
        return quotes[-1] if quotes else 0

    # --- containers ------------------------------------------------------------------------------------------------

    def container(self, cursor: Cursor, matched: int, opened: bool) -> _Open | None:
        """Open the container whose marker stands next on the line, if one does."""
        text, first, end = self.text, cursor.first, cursor.end
        if cursor.blank or cursor.indent > 3 or matched >= MAX_DEPTH or starts.EXAMPLE.match(text, first, end):
            return None
        interrupting = self.interrupting(matched, opened)
        character = text[first]
        if character == ">" and (mark := starts.QUOTE.match(text, first, end)):
            self.close(matched - 1)
            container = self.push(ContainerKind.QUOTE, "> ")
            cursor.jump(mark.end())
            return container
        if character == "[" and (mark := starts.FOOTNOTE.match(text, first, end)):
            self.close(matched - 1)
            container = self.push(ContainerKind.FOOTNOTE, "    ", content=4, needed=2, info=mark[1])
            cursor.jump(mark.end())
            return container
        if character == ":" and (mark := starts.DEFINITION.match(text, first, end)):
            return self.definition(cursor, matched, mark)
        if character in "-+*" or character.isdigit():
            return self.item(cursor, matched, interrupting)
        return None

    def item(self, cursor: Cursor, matched: int, interrupting: bool) -> _Open | None:
        text, first, end = self.text, cursor.first, cursor.end
        mark = starts.BULLET.match(text, first, end) or starts.NUMBER.match(text, first, end)
        if not mark or starts.RULE.match(text, first, end):
            return None
        if interrupting and self.leaf and starts.UNDERLINE.match(text, first, end):
            return None
        number = int(mark[1]) if mark.lastindex == 2 else None
        empty = not text[mark.end() : end].strip(BLANKS)
        if interrupting and (empty or number not in (None, 1)):
            return None
        marker = mark[2] if mark.lastindex == 2 else mark[1]
        indent, width = cursor.indent, mark.end() - first
        cursor.jump(mark.end())
        spaces = cursor.indent if not empty and cursor.indent <= 4 else 1
        cursor.indentation(spaces)
        self.close(matched - 1)
        top = self.open[-1]
        if top.kind is not ContainerKind.LIST or top.marker != marker:
            self.push(ContainerKind.LIST, "", marker=marker, number=number)
        content = indent + width + spaces
        needed = min(content, indent + 2)
        return self.push(ContainerKind.ITEM, " " * content, content=content, needed=needed, number=number)

    def definition(self, cursor: Cursor, matched: int, mark: re.Match[str]) -> _Open | None:
        """`: text` under a line of text makes that line a term; under a table it is the caption."""
        target = self.open[matched - 1]
        if self.leaf and self.leaf.kind is BlockKind.PARAGRAPH and matched == len(self.open):
            if len(self.leaf.spans) > _TERM_LINES:
                return None
            self.finish()
        elif target.kind is not ContainerKind.DEFINITIONS and not (
            target.children
            and isinstance(term := target.children[-1], Block)
            and term.kind in (BlockKind.PARAGRAPH, *_FIRST.values())
            and len(term.spans) <= _TERM_LINES
            and self.text.count("\n", term.end, cursor.first) <= 2
        ):
            return None
        self.close(matched - 1)
        target = self.open[-1]
        if target.kind is not ContainerKind.DEFINITIONS:
            if not target.children or not isinstance(block := target.children[-1], Block):
                return None
            target.children.pop()
            if target.children and isinstance(last := target.children[-1], _Open):
                if last.kind is ContainerKind.DEFINITIONS:
                    self.open.append(last)
            if self.open[-1].kind is not ContainerKind.DEFINITIONS:
                self.push(ContainerKind.DEFINITIONS, "")
            terms = (Block(BlockKind.TERM, (span,), block.prefix) for span in block.spans)
            self.open[-1].children.extend(terms)
        indent = cursor.indent
        spaces = mark.end() - mark.start() - 1
        content = indent + 1 + min(spaces, 4)
        container = self.push(
            ContainerKind.DEFINITION, " " * content, content=content, needed=min(content, indent + 2)
        )
        cursor.jump(mark.end())
        return container

    def push(
        self,
        kind: ContainerKind,
        prefix: str,
        *,
        content: int = 0,
        needed: int = 0,
        marker: str = "",
        number: int | None = None,
        info: str = "",
    ) -> _Open:
        if kind not in (ContainerKind.ITEM, ContainerKind.DEFINITION):
            self.leave_holders()
        parent = self.open[-1]
        self.space(parent)
        container = _Open(kind, parent.prefix + prefix, content, needed, marker, number, info)
        parent.children.append(container)
        self.open.append(container)
        return container

    def space(self, parent: _Open) -> None:
        if parent.children and self.blank is not None and len(self.open) - 1 >= self.blank:
            parent.spaced = True

    def leave_holders(self) -> None:
        """A list holds only its items: anything else is beside it."""
        while self.open[-1].kind in _HOLDERS:
            self.open.pop()

    def close(self, last: int) -> None:
        """Close every open container behind the one with index `last`, and the open block with them."""
        if len(self.open) - 1 > last or last == 0:
            self.finish()
        elif self.leaf:
            self.finish()
        del self.open[last + 1 :]

    def interrupting(self, matched: int, opened: bool) -> bool:
        """Whether the line would otherwise go on in an open paragraph."""
        return (
            not opened
            and matched == len(self.open)
            and self.leaf is not None
            and self.leaf.kind is BlockKind.PARAGRAPH
        )

    # --- blocks ----------------------------------------------------------------------------------------------------

    def block(self, cursor: Cursor, matched: int, opened: bool) -> bool:
        """Open the block that the rest of the line begins, if it begins one other than a paragraph."""
        text, first, end = self.text, cursor.first, cursor.end
        paragraph = self.leaf is not None and self.leaf.kind is BlockKind.PARAGRAPH and not opened
        if starts.EXAMPLE.match(text, first, end):
            self.start(BlockKind.EXAMPLE, (first, cursor.last), matched).indent = cursor.indent
            return True
        if cursor.indent > 3:
            if paragraph:
                return False
            cursor.indentation(4)
            self.start(BlockKind.CODE, (cursor.at, end), matched)
            return True
        interrupting = self.interrupting(matched, opened)
        if interrupting and self.underline(cursor):
            return True
        if interrupting and self.table(cursor):
            return True
        character = text[first]
        if character == "#" and (mark := starts.HEADING.match(text, first, end)):
            closing = starts.HEADING_END.search(text, mark.end(), end)
            span = _trimmed(text, mark.end(), closing.start() if closing else end)
            self.start(BlockKind.HEADING, span, matched)
            self.finish(level=len(mark[1]))
            return True
        if character in "`~" and (mark := starts.FENCE.match(text, first, end)):
            leaf = self.start(BlockKind.CODE, None, matched)
            leaf.fence = mark[1] or mark[3]
            leaf.info = (mark[2] or mark[4] or "").strip(BLANKS)
            leaf.indent = cursor.indent
            return True
        if character in "*-_" and starts.RULE.match(text, first, end):
            self.start(BlockKind.RULE, (first, cursor.last), matched)
            self.finish()
            return True
        if character == "<":
            return self.html(cursor, matched, interrupting)
        if character in "$\\":
            return self.math(cursor, matched, opened)
        return False

    def underline(self, cursor: Cursor) -> bool:
        mark = starts.UNDERLINE.match(self.text, cursor.first, cursor.end)
        if not mark or not self.leaf:
            return False
        self.leaf.kind = BlockKind.HEADING
        self.finish(level=1 if mark[1][0] == "=" else 2)
        return True

    def table(self, cursor: Cursor) -> bool:
        text, leaf = self.text, self.leaf
        if not leaf or "|" not in text[cursor.first : cursor.end]:
            return False
        rule = starts.TABLE_RULE.match(text, cursor.first, cursor.end)
        if not rule:
            return False
        columns = alignments(rule[0])
        header = cells(text, *leaf.spans[-1])
        if len(header) != len(columns):
            return False
        leaf.spans.pop()
        spaced = leaf.spaced and not leaf.spans
        if leaf.spans:
            self.finish()
        self.leaf = _Leaf(BlockKind.TABLE_RULE, [(cursor.first, cursor.last)], spaced, info=rule[0], rows=[header])
        return True

    def html(self, cursor: Cursor, matched: int, interrupting: bool) -> bool:
        text, first, end = self.text, cursor.first, cursor.end
        close: re.Pattern[str] | None = None
        if starts.HTML_VERBATIM.match(text, first, end) and self.verbatim_end > first:
            close = starts.HTML_VERBATIM_END
        elif starts.HTML_COMMENT.match(text, first, end) and self.comments_end > first:
            close = starts.HTML_COMMENT_END
        elif not starts.HTML_BLOCK.match(text, first, end):
            tag = TAG.match(text, first, end)
            if interrupting or not tag or not is_element(tag[2]) or text[tag.end() : end].strip(BLANKS):
                return False
        leaf = self.start(BlockKind.HTML, (cursor.at, end), matched)
        leaf.close = close
        if close and close.search(text, first, end):
            self.finish()
        return True

    def math(self, cursor: Cursor, matched: int, opened: bool) -> bool:
        """Display math that begins a line is a block of its own if it ends a line before the next blank one."""
        text, first = self.text, cursor.first
        begin = BEGIN.match(text, first, cursor.end)
        if not begin and not text.startswith("$$", first):
            return False
        before = self.leaf if self.interrupting(matched, opened) else None
        if before:
            self.leaf = None
        elif not opened and self.leaf and self.leaf.kind is BlockKind.PARAGRAPH:
            return False
        leaf = self.start(BlockKind.MATH, (first, cursor.last), matched)
        leaf.before = before
        leaf.close = begin[1] + begin[2] if begin else "$$"
        after = begin.end() if begin else first + 2
        leaf.indent = 1
        self.math_end(leaf, after, cursor)
        return True

    def math_end(self, leaf: _Leaf, start: int, cursor: Cursor) -> None:
        """Look for the end of the formula in the line; text behind it makes the whole a paragraph."""
        end = cursor.last
        for mark in _ends(self.text, start, end, str(leaf.close)):
            leaf.indent += 1 if mark.opens else -1
            if not leaf.indent:
                if mark.end == end:
                    self.finish()
                else:
                    self.unmath()
                return

    def unmath(self) -> None:
        """What began like a formula is text after all, and part of the paragraph above it."""
        leaf = self.leaf
        if not leaf:
            return
        if leaf.before:
            leaf.before.spans += leaf.spans
            self.leaf = leaf.before
        else:
            leaf.kind = BlockKind.PARAGRAPH
        if self.leaf:
            self.leaf.close = None

    def words(self, cursor: Cursor, matched: int, opened: bool) -> None:
        """Text: it goes on in an open paragraph, even where the containers' markers are missing, or opens one."""
        span = (cursor.first, cursor.last)
        leaf = self.leaf
        if leaf and leaf.kind is BlockKind.PARAGRAPH and not opened:
            start, end = leaf.spans[-1]
            if self.text.startswith("  ", end):
                # Two blanks at the end of a line are a line break, so they are kept.
                leaf.spans[-1] = (start, end + 2)
            leaf.spans.append(span)
            return
        if leaf and leaf.kind is BlockKind.TABLE_RULE and matched == len(self.open) and not opened:
            if "|" in self.text[span[0] : span[1]]:
                leaf.rows.append(cells(self.text, *span))
                return
        self.start(BlockKind.PARAGRAPH, span, matched)

    def start(self, kind: BlockKind, span: tuple[int, int] | None, matched: int) -> _Leaf:
        self.close(matched - 1)
        self.leave_holders()
        self.leaf = _Leaf(kind, [span] if span else [], self.blank is not None)
        return self.leaf

    def finish(self, level: int = 0) -> None:
        """The open block is complete: hang it into its container."""
        leaf, self.leaf = self.leaf, None
        if not leaf:
            return
        if leaf.kind is BlockKind.MATH and leaf.indent:
            self.leaf = leaf
            self.unmath()
            self.finish()
            return
        if leaf.before:
            self.leaf = leaf.before
            leaf.before = None
            self.finish()
        parent = self.open[-1]
        if leaf.spaced:
            self.space_for(leaf, parent)
        for node in self.made(leaf, parent, level):
            parent.children.append(node)

    def space_for(self, leaf: _Leaf, parent: _Open) -> None:
        if parent.children:
            parent.spaced = True

    def made(self, leaf: _Leaf, parent: _Open, level: int) -> Iterator[Block | Container]:
        prefix = parent.prefix
        if leaf.kind is BlockKind.TABLE_RULE:
            yield _table(leaf, prefix)
            return
        spans = leaf.spans
        if leaf.kind is BlockKind.CODE and not leaf.fence:
            while spans and not self.text[slice(*spans[-1])].strip(BLANKS):
                spans.pop()
        kind = leaf.kind
        if kind is BlockKind.PARAGRAPH:
            while spans and (mark := starts.REFERENCE.match(self.text, *spans[0])):
                if not starts.is_address(mark[2]):
                    break
                yield Block(BlockKind.REFERENCE, (spans.pop(0),), prefix)
            if not parent.children:
                kind = _FIRST.get(parent.kind, kind)
        if spans or kind is BlockKind.CODE:
            yield Block(kind, tuple(spans), prefix, level, leaf.info or parent.info * (kind is BlockKind.FOOTNOTE))


def _table(leaf: _Leaf, prefix: str) -> Container:
    rule = Block(BlockKind.TABLE_RULE, tuple(leaf.spans), prefix)
    rows = [
        Container(ContainerKind.ROW, tuple(Block(BlockKind.CELL, (span,), prefix) for span in row))
        for row in leaf.rows
    ]
    return Container(ContainerKind.TABLE, (rows[0], rule, *rows[1:]), align=alignments(leaf.info))


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while end > start and text[end - 1] in BLANKS:
        end -= 1
    return start, end


@dataclass(frozen=True, slots=True)
class _Mark:
    opens: bool
    end: int


def _ends(text: str, start: int, end: int, close: str) -> Iterator[_Mark]:
    if close == "$$":
        at = start
        while (at := text.find("$$", at, end)) >= 0:
            if text[at - 1] != "\\" or text[at - 2] == "\\":
                yield _Mark(False, at + 2)
            at += 2
        return
    for mark in re.compile(rf"\\(begin|end)\{{{re.escape(close)}\}}").finditer(text, start, end):
        yield _Mark(mark[1] == "begin", mark.end())


_ = (PUNCTUATION, replace)
