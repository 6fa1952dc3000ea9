"""
---
title: Blocks that are no paragraphs
summary: "Examples, code, headings, tables, rules, HTML and formulas: how they begin and how they go on."
---
# Blocks that are no paragraphs

Each function of `BLOCKS` is one rule: it looks at what stands next on a line and opens, or completes, its
block. They are tried in order. What no rule wants is text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from site_builder.blocks import starts
from site_builder.blocks.atoms import BEGIN, TAG, is_element
from site_builder.blocks.cursor import BLANKS, Cursor
from site_builder.blocks.model import BlockKind
from site_builder.blocks.state import Leaf, State, not_math
from site_builder.blocks.tables import alignments, cells
from site_builder.blocks.vocabulary import small
from site_builder.lazy import regex


def opens(state: State, line: Cursor) -> bool:
    """Open the block that the rest of the line begins, unless it is a paragraph."""
    if line.indent < 4 and line.text[line.first] not in _FIRST_CHARACTERS:
        return False
    return any(rule(state, line) for rule in BLOCKS)


def goes_on(state: State, leaf: Leaf, line: Cursor) -> bool:
    """Whether the line belongs to an open block in which no other can begin."""
    rule = _GOING_ON.get(leaf.kind)
    if rule is None or not rule(state, leaf, line):
        return False
    if not line.blank or leaf.fence:
        state.blank = None
    return True


def text(state: State, line: Cursor) -> None:
    """Add the line to the open paragraph, though markers of its containers be missing, or open one."""
    span = (line.first, line.last)
    if (leaf := state.paragraph) and not (
        state.matched < len(state.open) and starts.reference(state.text, span)
    ):
        start, end = leaf.spans[-1]
        if state.text.startswith("  ", end):
            # Two blanks at the end of a line are a line break, so they are kept.
            leaf.spans[-1] = (start, end + 2)
        leaf.spans.append(span)
        return
    table = state.leaf
    complete = state.matched == len(state.open) and not state.opened
    if complete and table and table.rows and "|" in state.text[slice(*span)]:
        table.rows.append(cells(state.text, *span))
        return
    state.start(BlockKind.PARAGRAPH, span)


# --- how blocks begin -------------------------------------------------------------------------------------


def _example(state: State, line: Cursor) -> bool:
    if not line.at_example:
        return False
    state.start(BlockKind.EXAMPLE, (line.first, line.last)).indent = line.indent
    return True


def _indented(state: State, line: Cursor) -> bool:
    if line.indent < 4 or state.paragraph:
        return False
    line.indentation(4)
    state.start(BlockKind.CODE, (line.at, line.end))
    return True


def _underline(state: State, line: Cursor) -> bool:
    leaf = state.interrupted
    mark = starts.UNDERLINE.match(line.text, line.first, line.end)
    if not leaf or not mark or line.indent > 3:
        return False
    leaf.kind, leaf.level = BlockKind.HEADING, 1 if mark[1][0] == "=" else 2
    state.finish()
    return True


def _table(state: State, line: Cursor) -> bool:
    leaf = state.interrupted
    if not leaf or line.indent > 3 or "|" not in line.text[line.first : line.end]:
        return False
    rule = starts.TABLE_RULE.match(line.text, line.first, line.end)
    if not rule:
        return False
    header = cells(line.text, *leaf.spans[-1])
    if len(header) != len(alignments(rule[0])):
        return False
    leaf.spans.pop()
    spaced = leaf.spaced and not leaf.spans
    if leaf.spans:
        state.finish()
    span = (line.first, line.last)
    state.leaf = Leaf(BlockKind.TABLE_RULE, [span], spaced, info=rule[0], rows=[header])
    return True


def _heading(state: State, line: Cursor) -> bool:
    mark = starts.HEADING.match(line.text, line.first, line.end)
    if not mark or line.indent > 3:
        return False
    closing = starts.HEADING_END.search(line.text, mark.end(1), line.end)
    start, end = mark.end(), max(closing.start() if closing else line.last, mark.end())
    end = start + len(line.text[start:end].rstrip(BLANKS))
    state.start(BlockKind.HEADING, (start, end)).level = len(mark[1])
    state.finish()
    return True


def _fence(state: State, line: Cursor) -> bool:
    mark = starts.FENCE.match(line.text, line.first, line.end)
    if not mark or line.indent > 3:
        return False
    leaf = state.start(BlockKind.CODE)
    leaf.fence, leaf.info = mark[1] or mark[3], (mark[2] or mark[4] or "").strip()
    leaf.indent = line.indent
    return True


def _rule(state: State, line: Cursor) -> bool:
    if line.indent > 3 or not starts.RULE.match(line.text, line.first, line.end):
        return False
    state.start(BlockKind.RULE, (line.first, line.last))
    state.finish()
    return True


def _html(state: State, line: Cursor) -> bool:
    if line.indent > 3 or line.text[line.first] != "<":
        return False
    close = ""
    tag = TAG.match(line.text, line.first, line.end)
    verbatim = starts.HTML_VERBATIM.match(line.text, line.first, line.end)
    if verbatim and state.later(f"</{verbatim[1].lower()}", line.first):
        close = f"</{verbatim[1].lower()}"
    elif line.text.startswith("<!--", line.first) and state.later("-->", line.first + 4):
        close = "-->"
    elif verbatim:
        return False
    elif not starts.HTML_BLOCK.match(line.text, line.first, line.end):
        alone = tag and is_element(tag[2]) and not line.text[tag.end() : line.end].strip(BLANKS)
        if not alone or state.interrupted:
            return False
    leaf = state.start(BlockKind.HTML, (line.at, line.end))
    leaf.close = close
    if close and close in small(line.text[line.first : line.end]):
        state.finish()
    return True


def _math(state: State, line: Cursor) -> bool:
    """
    Display math at the beginning of a line is a block of its own, if it ends at the end of a line and
    before the next blank one.
    """
    begin = BEGIN.match(line.text, line.first, line.end)
    if line.indent > 3 or not (begin or line.text.startswith("$$", line.first)):
        return False
    before = state.interrupted
    if state.paragraph and not before:
        return False
    if before:
        state.leaf = None
    leaf = state.start(BlockKind.MATH, (line.first, line.last))
    leaf.before, leaf.depth = before, 1
    leaf.close = begin[1] + begin[2] if begin else "$$"
    _math_end(state, leaf, begin.end() if begin else line.first + 2, line.last)
    return True


def _math_end(state: State, leaf: Leaf, start: int, end: int) -> None:
    """Look for the end of the formula; if text follows it on the line, all of it is a paragraph."""
    for deeper, mark_end in _marks(state.text, start, end, leaf.close):
        leaf.depth += deeper
        if not leaf.depth:
            if mark_end == end and _has_content(leaf, state.text):
                state.finish()
            else:
                state.leaf = not_math(leaf)
            return


def _has_content(leaf: Leaf, text: str) -> bool:
    typed = "".join(text[start:end] for start, end in leaf.spans)
    return typed.strip("$ \t") != ""


def _marks(text: str, start: int, end: int, close: str) -> Iterator[tuple[int, int]]:
    """How each mark changes the depth, and where it ends."""
    if close == "$$":
        yield from ((-1, mark.end()) for mark in _DOLLARS.finditer(text, start, end) if mark[0] == "$$")
        return
    for mark in re.finditer(rf"\\(begin|end)\{{{re.escape(close)}\}}", text[start:end]):
        yield (1 if mark[1] == "begin" else -1), start + mark.end()


_DOLLARS = regex(r"\\.|\$\$")

_FIRST_CHARACTERS = frozenset(">=-|:#`~*_<$\\")
"""Every block but indented code begins with one of them, so most lines need no trial."""

BLOCKS = (_example, _indented, _underline, _table, _heading, _fence, _rule, _html, _math)


# --- how blocks go on -------------------------------------------------------------------------------------


def _code(state: State, leaf: Leaf, line: Cursor) -> bool:
    if leaf.fence:
        mark = line.text[line.first : line.last]
        if line.indent <= 3 and len(mark) >= len(leaf.fence) and not mark.strip(leaf.fence[0]):
            state.finish()
            return True
        line.indentation(leaf.indent)
    elif not line.blank and (line.indent < 4 or line.at_example):
        return False
    else:
        line.indentation(4)
        if line.blank:
            state.blank = len(state.open) - 1
    leaf.spans.append((line.at, line.end))
    return True


def _math_line(state: State, leaf: Leaf, line: Cursor) -> bool:
    if line.blank:
        state.leaf = not_math(leaf)
        return False
    leaf.spans.append((line.first, line.last))
    _math_end(state, leaf, line.first, line.last)
    return True


def _example_line(state: State, leaf: Leaf, line: Cursor) -> bool:
    if line.blank or line.indent < leaf.indent:
        return False
    line.indentation(leaf.indent)
    leaf.spans.append((line.at, line.last))
    return True


def _html_line(state: State, leaf: Leaf, line: Cursor) -> bool:
    if line.blank and not leaf.close:
        return False
    leaf.spans.append((line.at, line.end))
    if leaf.close and leaf.close in small(line.text[line.at : line.end]):
        state.finish()
    return True


_GOING_ON = {
    BlockKind.CODE: _code,
    BlockKind.MATH: _math_line,
    BlockKind.EXAMPLE: _example_line,
    BlockKind.HTML: _html_line,
}
