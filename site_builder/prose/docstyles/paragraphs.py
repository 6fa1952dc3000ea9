"""
---
title: Paragraphs
summary: Text, and what the indentation below it means.
---
# Paragraphs

Plain docstrings say much with indentation alone. A block under a paragraph may be a program, a table, the definition
of a term, a quotation, or the sentence going on; these are tried in this order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from site_builder.lazy import regex
from site_builder.prose.docstyles.context import State
from site_builder.prose.docstyles.lists import opens_list
from site_builder.prose.docstyles.patterns import ASIDES, FENCE, TITLE, UNDERLINE, field, structured
from site_builder.prose.docstyles.sections import is_items
from site_builder.prose.docstyles.shapes import (
    Block,
    Kind,
    dedent,
    fence,
    indent,
    is_code,
    is_columns,
    is_program,
    is_statement,
    join,
    keeps_lines,
    literal,
    quote,
)
from site_builder.prose.docstyles.text import code

__all__ = ["indented", "paragraph", "program"]


def indented(state: State, at: int) -> int | None:
    """An indented block that no paragraph leads to."""
    if not state.indented(at):
        return None
    end = state.body(at)
    body = dedent(state.lines[at:end])
    blocks = literal(body) if is_code(body) and not structured(body) else state.context.convert(body)
    state.add(*blocks)
    return end


def program(state: State, at: int) -> int | None:
    """A program that its author did not indent."""
    after_colon = (
        bool(state.out) and state.out[-1].kind is Kind.PARAGRAPH and state.out[-1].text.endswith((":", ":**"))
    )
    if (state.blank(at + 1) and not after_colon) or not is_statement(state.lines[at]):
        return None
    end = at
    while not state.blank(end) and end < at + 400:
        end += 1
    if not is_program(state.lines[at:end]):
        return None
    state.add(*literal(state.lines[at:end], "python"))
    return end


def paragraph(state: State, at: int) -> int:
    """Text up to a blank line or something else, and the indented block that it leads to."""
    end = at + 1
    while not state.blank(end) and not state.lines[end].startswith(" ") and not _interrupts(state, end):
        end += 1
    lines = [line.rstrip() for line in state.lines[at:end]]
    start = state.filled(end)
    leads = state.indented(start)
    if lines[-1].endswith("::"):
        _add_paragraph(state, _without_colons(lines))
        if leads:
            stop = state.body(start)
            state.add(*literal(state.lines[start:stop]))
            return stop
        return end
    if not leads:
        _add_paragraph(state, lines)
        return end
    stop = state.body(start)
    _led(state, lines, dedent(state.lines[start:stop]), adjacent=start == end)
    return stop


def _without_colons(lines: list[str]) -> list[str]:
    last = lines[-1]
    bare = last.rstrip(":")
    if not bare.strip():
        return lines[:-1]
    return [*lines[:-1], bare.rstrip() if bare.endswith(" ") else f"{bare}:"]


def _add_paragraph(state: State, lines: Sequence[str]) -> None:
    if not lines:
        return
    if is_columns(lines):
        state.add(fence(lines))
        return
    state.add(state.context.paragraph("\n".join(lines)))


def _led(state: State, lead: Sequence[str], body: Sequence[str], *, adjacent: bool) -> None:
    """An indented block under a paragraph: markup, a program, a definition, the rest of the sentence, a quotation."""
    if structured(body):
        _add_paragraph(state, lead)
        state.add(*state.context.convert(body))
    elif is_code(body):
        if adjacent and is_code(lead) and not lead[-1].endswith(":"):
            state.add(*literal([*lead, *(f"    {line}" for line in body)]))
            return
        _add_paragraph(state, lead)
        state.add(*literal(body))
    elif keeps_lines(body) and "" not in body:
        _add_paragraph(state, lead)
        lines = [state.context.inline(line) for line in body]
        state.add(*quote([Block(Kind.PARAGRAPH, "  \n".join(line for line in lines if line))]))
    elif not adjacent:
        _add_paragraph(state, lead)
        blocks = state.context.convert(body)
        state.add(*(quote(blocks) if all(block.kind is Kind.PARAGRAPH for block in blocks) else blocks))
    elif lead[-1].endswith(":") and not _is_term(lead, body):
        _add_paragraph(state, lead)
        state.add(*state.context.convert(body))
    elif _is_term(lead, body):
        blocks = state.context.convert(body)
        term = code(lead[0]) if _SIGNATURE.match(lead[0]) else state.context.inline(lead[0])
        state.add(Block(Kind.OTHER, f"{term}\n{indent(join(blocks), ':   ', '    ')}"))
    else:
        # A hanging indent: the sentence goes on.
        stop = next((at for at, line in enumerate(body) if not line or line.startswith(" ")), len(body))
        _add_paragraph(state, [*lead, *body[:stop]])
        state.add(*state.context.convert(dedent(body[stop:])))


_SIGNATURE = regex(r"[A-Za-z_][\w.]*\(.*\)(?: ?(?:->|-->) ?\S.*)?$|[a-z_][\w.]*_[\w.]*$|--?[A-Za-z]\S*$")


def _is_term(lead: Sequence[str], body: Sequence[str]) -> bool:
    """Whether one line over an indented text names what the text is about."""
    term = lead[0].rstrip()
    if len(lead) != 1 or len(term) > 100 or term.endswith((".", ",", ";", "!", "?")):
        return False
    if _TYPED.match(term):
        return True
    words = re.sub(r"\([^()]*\)|\[[^\[\]]*\]", "", term).split()
    if term.endswith(":"):
        return len(words) < 4
    if re.search(r":\s+\S+ \S+ \S", term):
        # `name: what it is`, of which the rest is below.
        return False
    return not (body[0][:1].islower() and len(words) > 4)


_TYPED = regex(r"[`*]{0,2}[\w.]+[`*]{0,2} : \S")


def _interrupts(state: State, at: int) -> bool:
    """Whether a line within a paragraph begins something else."""
    line, before = state.lines[at], state.lines[at - 1].rstrip()
    following = state.lines[at + 1] if at + 1 < len(state.lines) else ""
    if line.startswith((">>>", ".. ")) or field(line):
        return True
    if line.startswith(("```", "~~~")):
        return bool(FENCE.match(line))
    if _DRAWN.match(line):
        return line.startswith("+") or before.endswith(":")
    if opens_list(state.lines, at):
        return before.endswith(":") or opens_list(state.lines, at, several=True)
    if UNDERLINE.match(following) and len(following.strip()) * 2 >= len(line.strip()):
        return is_items(line) or len(following.strip()) >= len(line.strip())
    title = TITLE.match(line) if following.startswith(" ") else None
    if title and title.group(2) == ":":
        return is_items(title.group(1)) or title.group(1).lower() in ASIDES
    return False


_DRAWN = regex(r"\+[-=+]+\+\s*$|\| \S")
