"""
---
title: Rules for blocks
summary: An ordered list of rules; the first that fits the line takes as many lines as it needs.
---
# Rules for blocks

Each rule looks at one line of a `State`. It either writes blocks and returns the line to go on with, or returns None.
Order matters: what is certain (a doctest, a fence) stands before what is guessed, and the last rule, a paragraph,
takes anything. So every line is taken by exactly one rule, and none is lost.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from site_builder.prose.docstyles import tables
from site_builder.prose.docstyles.context import Context, State
from site_builder.prose.docstyles.explicit import admonition, explicit
from site_builder.prose.docstyles.inline import code
from site_builder.prose.docstyles.lists import glossary, line_block, listing, opens_glossary, opens_list
from site_builder.prose.docstyles.sections import Field, fields, google, is_items, numpy
from site_builder.prose.docstyles.shapes import (
    Block,
    Kind,
    dedent,
    fence,
    indent,
    is_code,
    is_columns,
    is_program,
    join,
    keeps_lines,
    label,
    literal,
    quote,
)

__all__ = ["run"]

TOP = 4
"""The level of the first heading in a docstring: it stands below the page's and the sections' own."""

_FENCE = re.compile(r"(`{3,}|~{3,})\s*([^`\s]{0,40}(?: [^`]{0,80})?)$")
_FIELD = re.compile(r":(?![\s:`])((?:[^:\\\n`]|\\.){1,80}?)(?:\s+((?:[^:\\\n]|\\.|:\w+:`[^`\n]*`|::?(?=\w))*?))??:(?:\s+(.*))?$")
_EPYDOC = re.compile(r"@(param|parameter|arg|keyword|type|rtype|returns?|raises?|ivar|cvar|var)(?:\s+([\w*.]+))?\s*:(?:\s+(.*))?$")
_UNDERLINE = re.compile(r"([=\-~^\"'`#*+.:_<>])\1{2,}\s*$")
_GOOGLE = re.compile(r"([A-Za-z][A-Za-z]*(?:[ /-][A-Za-z]+){0,3}) ?(::?)\s*$")
_ATX = re.compile(r"(#{1,6})\s+(\S.*?)(?:\s+#+)?\s*$")
_ENVIRONMENT = re.compile(r"\\{1,2}begin\{([A-Za-z]+\*?)\}")
_ASIDES = {
    "note": "Note", "notes": "Notes", "warning": "Warning", "warnings": "Warnings", "caution": "Caution",
    "danger": "Danger", "important": "Important", "hint": "Hint", "tip": "Tip", "attention": "Attention",
    "todo": "Todo", "see also": "See also", "deprecated": "Deprecated",
}  # fmt: skip


def doctest(state: State, at: int) -> int | None:
    """`>>> ` and all up to the next blank line, as typed."""
    if not state.lines[at].startswith(">>>"):
        return None
    end = at
    while not state.blank(end):
        end += 1
    state.add(Block(Kind.EXAMPLE, "\n".join(state.lines[at:end])))
    return end


def fenced(state: State, at: int) -> int | None:
    """A fence of Markdown's own."""
    match = _FENCE.match(state.lines[at])
    if not match:
        return None
    sign = match.group(1)
    if sign in state.unclosed:
        return None
    for end in range(at + 1, len(state.lines)):
        closing = state.lines[end].strip()
        if closing.startswith(sign) and not closing.strip(sign[0]):
            name = match.group(2).strip().split(" ")[0].strip("{}.") or "text"
            state.add(fence([line.rstrip() for line in state.lines[at + 1 : end]], name))
            return end + 1
    # Never closed: then it is text.
    state.unclosed.add(sign)
    return None


def display_math(state: State, at: int) -> int | None:
    """`$$…$$` on lines of its own, or a bare environment."""
    line = state.lines[at]
    if line.startswith("$$"):
        end = at
        rest = line[2:]
        while "$$" not in rest:
            end += 1
            if state.blank(end):
                return None
            rest = state.lines[end]
        if rest.split("$$", 1)[1].strip(" .,;"):
            return None
        state.add(Block(Kind.MATH, "\n".join(each.rstrip() for each in state.lines[at : end + 1])))
        return end + 1
    if match := _ENVIRONMENT.match(line):
        closing = f"end{{{match.group(1)}}}"
        end = at
        while not state.blank(end):
            if closing in state.lines[end]:
                if not state.lines[end].rstrip().endswith(closing):
                    return None
                text = "\n".join(each.rstrip() for each in state.lines[at : end + 1])
                state.add(Block(Kind.MATH, text.replace("\\\\", "\\") if match.group().startswith("\\\\") else text))
                return end + 1
            end += 1
    return None


def field_list(state: State, at: int) -> int | None:
    """`:param x: text` and its like, and epydoc's `@param x: text`."""
    if not (_FIELD.match(state.lines[at]) or _EPYDOC.match(state.lines[at])):
        return None
    found: list[Field] = []
    while at < len(state.lines):
        line = state.lines[at].rstrip()
        match = _FIELD.match(line) or _EPYDOC.match(line)
        if not match:
            break
        end = state.body(at + 1)
        # Text that the author forgot to indent goes on with the field.
        while end < len(state.lines) and not state.blank(end) and end and not state.blank(end - 1):
            following = state.lines[end]
            if _FIELD.match(following.rstrip()) or _EPYDOC.match(following.rstrip()) or following.startswith((".. ", ">>>")):
                break
            end = max(state.body(end + 1), end + 1)
        end = max(end, at + 1)
        text = (match.group(3) or "", *state.lines[at + 1 : end])
        found.append(Field(match.group(1).strip().lower(), (match.group(2) or "").strip(), text))
        at = state.filled(end)
    state.add(*fields(found, state.context))
    return at


def heading(state: State, at: int) -> int | None:
    """A title over (or between) a line of signs: a section of NumPy's, or a heading of reST's."""
    lines = state.lines
    over = _UNDERLINE.match(lines[at])
    if over and at + 2 < len(lines) and not state.blank(at + 1):
        under = _UNDERLINE.match(lines[at + 2])
        if under and under.group(1) == over.group(1):
            state.add(_title(state, lines[at + 1].strip(), over.group(1) * 2))
            return at + 3
    if state.indented(at) or at + 1 >= len(lines) or over:
        return None
    under = _UNDERLINE.match(lines[at + 1])
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


_NUMPY_TEXT = frozenset("examples example notes note references warnings".split())


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
        if line.strip() and not line.startswith(" ") and _UNDERLINE.match(state.lines[end + 1]) and not _UNDERLINE.match(line):
            return end
        if line.startswith(".. ") and (end == at or state.blank(end - 1)) and not line.startswith((".. [", ".. _")):
            return end
    return len(state.lines)


def google_section(state: State, at: int) -> int | None:
    """`Args:` over an indented block; any other short title over one becomes a label."""
    match = _GOOGLE.match(state.lines[at])
    if not match or state.lines[at].startswith(" "):
        return None
    start = state.filled(at + 1)
    if start > at + 2 or not state.indented(start):
        return None
    title, colons = match.groups()
    key = " ".join(title.lower().split())
    lines = state.lines[start : (end := state.body(start))]
    if colons == "::":
        state.add(*label(state.context.inline(title), literal(lines)))
    elif is_items(key):
        state.add(*google(title, lines, state.context))
    elif key in _ASIDES:
        state.add(*admonition(state.context, title, dedent(lines)))
    elif title[0].isupper() and title.count(" ") < 3:
        body = dedent(lines)
        structured = body[0].startswith((">>>", ".. ", "```")) or opens_list(body, 0)
        state.add(*label(state.context.inline(title), literal(lines) if is_code(body) and not structured else state.context.convert(body)))
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


def atx_heading(state: State, at: int) -> int | None:
    """`# Title` of a docstring that is half Markdown, moved below the page's own headings."""
    match = _ATX.match(state.lines[at])
    if not match or not state.blank(at + 1) or (at and not state.blank(at - 1)):
        return None
    level = min(TOP - 1 + len(match.group(1)), 6)
    state.add(Block(Kind.OTHER, f"{'#' * level} {state.context.inline(match.group(2))}"))
    return at + 1


def indented(state: State, at: int) -> int | None:
    """An indented block that no paragraph leads to."""
    if not state.indented(at):
        return None
    end = state.body(at)
    body = dedent(state.lines[at:end])
    blocks = literal(body) if is_code(body) and not _structured(body) else state.context.convert(body)
    state.add(*blocks)
    return end


def _structured(body: Sequence[str]) -> bool:
    """Whether a block begins with markup of its own, which says better than any guess what it is."""
    return bool(
        body[0].startswith((">>>", ".. ", "```", "$$"))
        or opens_list(body, 0)
        or opens_glossary(body)
        or _FIELD.match(body[0])
        or _GOOGLE.match(body[0]) and len(body) > 1 and body[1].startswith(" ")
    )


def program(state: State, at: int) -> int | None:
    """A program that its author did not indent."""
    end = at
    while not state.blank(end) and end < at + 400:
        end += 1
    after_colon = bool(state.out) and state.out[-1].kind is Kind.PARAGRAPH and state.out[-1].text.endswith((":", ":**"))
    if (end < at + 2 and not after_colon) or not is_program(state.lines[at:end]):
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
    if _structured(body):
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


_SIGNATURE = re.compile(r"[A-Za-z_][\w.]*\(.*\)(?: ?(?:->|-->) ?\S.*)?$|[a-z_][\w.]*_[\w.]*$|--?[A-Za-z]\S*$")


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


_TYPED = re.compile(r"[`*]{0,2}[\w.]+[`*]{0,2} : \S")


def _interrupts(state: State, at: int) -> bool:
    """Whether a line within a paragraph begins something else."""
    line = state.lines[at]
    if line.startswith((">>>", ".. ")):
        return True
    if line.startswith(("```", "~~~")):
        return bool(_FENCE.match(line))
    if line.startswith(":") and _FIELD.match(line) or line.startswith("@") and _EPYDOC.match(line):
        return True
    if line.startswith(("+-", "| ")) and re.match(r"\+[-=+]+\+\s*$|\| \S", line):
        return line.startswith("+") or state.lines[at - 1].endswith(":")
    before = state.lines[at - 1].rstrip()
    if opens_list(state.lines, at):
        return before.endswith(":") or opens_list(state.lines, at, several=True)
    if before.endswith("::") and not line.startswith(" "):
        return False
    following = state.lines[at + 1] if at + 1 < len(state.lines) else ""
    if len(following) > 2 and _UNDERLINE.match(following) and len(following.strip()) * 2 >= len(line.strip()):
        return is_items(line.strip()) or len(following.strip()) >= len(line.strip())
    match = _GOOGLE.match(line)
    return bool(match and match.group(2) == ":" and following.startswith(" ") and (is_items(match.group(1)) or match.group(1).lower() in _ASIDES))


_RULES: tuple[Callable[[State, int], int | None], ...] = (
    doctest,
    fenced,
    display_math,
    explicit,
    indented,
    field_list,
    tables.grid,
    tables.simple,
    tables.markdown,
    heading,
    google_section,
    transition,
    listing,
    line_block,
    atx_heading,
    program,
    glossary,
    paragraph,
)


def run(state: State) -> list[Block]:
    at = 0
    while (at := state.filled(at)) < len(state.lines):
        for rule in _RULES:
            following = rule(state, at)
            if following is not None:
                at = following
                break
    return state.out
