"""
---
title: Lists
summary: Bullets, numbers, letters and line blocks, however far their authors indented them.
---
# Lists

Markdown wants four spaces under an item; docstrings have anything from none to eight. An item's later lines lose the
indentation that they share, not a fixed one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from site_builder.lazy import regex
from site_builder.prose.docstyles.context import State
from site_builder.prose.docstyles.shapes import Block, Kind, dedent, item, width
from site_builder.prose.docstyles.text import code

__all__ = ["glossary", "line_block", "listing", "opens_glossary", "opens_list"]

_BULLET = regex(r"([-*+•‣⁃])\s+(?=\S)")
_NUMBER = regex(r"\(?(\d{1,3}|#)[.)]\s+(?=\S)")
_LETTER = regex(r"\(?([a-zA-Z])\)\s+(?=\S)")
_LINE = regex(r"\|(?: |$)")


def _marker(line: str) -> tuple[str, re.Match[str]] | None:
    """The kind of list that a line belongs to: the bullet itself, `1` or `a`."""
    if match := _BULLET.match(line):
        return match.group(1), match
    if match := _NUMBER.match(line):
        return "1", match
    if match := _LETTER.match(line):
        return "a", match
    return None


def opens_list(lines: Sequence[str], at: int, *, several: bool = False) -> bool:
    """Whether a list begins here; `several` asks for a second item, which makes it certain."""
    found = _marker(lines[at])
    if not found:
        return False
    kind, match = found
    if kind in "1a" and match.group(1) not in "01#aA":
        return False
    if not several:
        return True
    for line in lines[at + 1 : at + 12]:
        if not line.strip():
            break
        other = _marker(line)
        if other and other[0] == kind:
            return True
    return False


def listing(state: State, at: int) -> int | None:
    """Adjacent items of one kind."""
    found = _marker(state.lines[at])
    if not found or (found[0] == "a" and found[1].group(1) not in "aA"):
        return None
    kind = found[0]
    items: list[tuple[str, list[str]]] = []
    while at < len(state.lines):
        found = _marker(state.lines[at])
        if not found or found[0] != kind:
            break
        end = _item_end(state, at)
        items.append((found[1].group(1), _item_lines(state.lines[at:end], found[1].end())))
        following = state.filled(end)
        if following >= len(state.lines) or (following > end + 1 and kind not in "1a"):
            at = end if following >= len(state.lines) else following
            break
        at = following
    _write(state, kind, items)
    return at


def _item_end(state: State, at: int) -> int:
    """The end of an item: its indented lines, and text right below it that was not indented."""
    end = state.body(at + 1)
    end = max(end, at + 1)
    while not state.blank(end) and not state.blank(end - 1):
        line = state.lines[end]
        if _marker(line) or line.startswith((">>>", ".. ", ":", "```", "+-", "==", "--", "~~")):
            break
        following = state.lines[end + 1].strip() if end + 1 < len(state.lines) else ""
        if (following and not following.strip("=-~^")) or (line.rstrip().endswith(":") and line[0].isupper()):
            break
        end = max(state.body(end + 1), end + 1)
    return end


def _item_lines(lines: Sequence[str], content: int) -> list[str]:
    """An item's lines without the marker and the indentation that the later ones share."""
    rest = lines[1:]
    hang = min((width(line) for line in rest if line.strip() and line.startswith(" ")), default=0)
    # Below a blank line the indentation may mean something, so only the item's own is taken.
    first = [lines[0][content:].rstrip()]
    for line in rest:
        cut = line[min(hang, width(line)) :].rstrip() if line.strip() else ""
        if (
            cut
            and first[-1]
            and width(line)
            and _marker(cut)
            and not _marker(first[-1].lstrip())
            and not first[-1].startswith(" ")
        ):
            # A list right under the text of its item.
            first.append("")
        first.append(cut)
    return first


def _write(state: State, kind: str, items: Sequence[tuple[str, list[str]]]) -> None:
    converted = [(mark, state.context.convert(lines)) for mark, lines in items]
    counted = kind == "1" and all(
        mark == "#" or int(mark) == index for index, (mark, _) in enumerate(items, _first(items))
    )
    texts: list[str] = []
    for index, (mark, blocks) in enumerate(converted, _first(items)):
        if not blocks:
            continue
        if blocks[0].kind not in (Kind.PARAGRAPH, Kind.LIST):
            # Markdown has no item that begins with a program or an example.
            blocks = [Block(Kind.PARAGRAPH, f"{mark}." if kind in "1a" else "–"), *blocks]
        if counted:
            texts.append(item(f"{index}. ", blocks))
            continue
        if kind in "1a":
            # Numbers with gaps, and letters: Markdown would count them anew.
            shown = f"{mark}) " if kind == "a" else f"{mark}\\. "
            blocks = [Block(Kind.PARAGRAPH, f"{shown}{blocks[0].text}"), *blocks[1:]]
        texts.append(item("* ", blocks))
    gap = "\n\n" if any("\n\n" in text for text in texts) else "\n"
    state.add(Block(Kind.LIST, gap.join(texts)))


def _first(items: Sequence[tuple[str, list[str]]]) -> int:
    return int(items[0][0]) if items and items[0][0].isdecimal() else 1


def line_block(state: State, at: int) -> int | None:
    """`| ` lines: a text whose line breaks count."""
    if not _LINE.match(state.lines[at]):
        return None
    lines: list[str] = []
    while at < len(state.lines) and (_LINE.match(state.lines[at]) or (lines and state.indented(at))):
        line = state.lines[at].strip()
        if line.startswith("|"):
            lines.append(line[1:].strip())
        elif lines:
            lines[-1] = f"{lines[-1]} {line}".strip()
        at += 1
    text = "  \n".join(state.context.inline(line) for line in lines if line)
    state.add(Block(Kind.PARAGRAPH, text))
    return at


_ENTRY = regex(r"([^\s:][^:\n]{0,50}?)(:| --?)\s+(?=\S)")
_NAME = regex(r"[A-Za-z_*][\w.*]*(?:\(.*\)|\[.*\]\w*)?")


def glossary(state: State, at: int) -> int | None:
    """
    `name: what it is` or `name -- what it is` on each line, as plain text has it: a list without bullets. One such
    line may be any sentence; two that follow one another, with the rest of each indented, are not.
    """
    starts: list[int] = []
    end = at
    sign = ""
    while len(starts) < 400:
        if state.blank(end):
            # Behind a blank line another entry goes on with the list, if the one above could not be a sentence.
            following = state.filled(end)
            hung = end > starts[-1] + 1 or sign == "--"
            if (
                not hung
                or following > end + 1
                or following >= len(state.lines)
                or not _entry(state.lines[following], sign)
            ):
                break
            end = following
        line = state.lines[end]
        if not line.startswith(" "):
            match = _entry(line, sign)
            if not match:
                return None
            sign = match.group(2).strip()
            starts.append(end)
        end += 1
    if len(starts) < 2 or (sign == "-" and len(starts) < 3):
        return None
    items = []
    for start, stop in zip(starts, [*starts[1:], end], strict=True):
        match = _entry(state.lines[start], sign)
        assert match
        name = match.group(1)
        blocks = state.context.convert(
            [state.lines[start][match.end() :], *dedent(state.lines[start + 1 : stop])]
        )
        shown = code(name) if _NAME.fullmatch(name) else state.context.inline(name)
        first = blocks[0].text if blocks and blocks[0].kind is Kind.PARAGRAPH else ""
        rest = blocks[1:] if first else blocks
        separator = ":" if sign == ":" else f" {sign}"
        items.append(item("* ", [Block(Kind.PARAGRAPH, f"{shown}{separator} {first}".rstrip()), *rest]))
    gap = "\n\n" if any("\n\n" in text for text in items) else "\n"
    state.add(Block(Kind.LIST, gap.join(items)))
    return end


def _entry(line: str, sign: str) -> re.Match[str] | None:
    match = _ENTRY.match(line) if ":" in line or " -" in line else None
    if not match or len(match.group(1).split()) > 3 or (sign and match.group(2).strip() != sign):
        return None
    return match


def opens_glossary(lines: Sequence[str]) -> bool:
    """Whether every line at the margin is an entry of a glossary."""
    margin = [line for line in lines[:400] if line.strip() and not line.startswith(" ")]
    first = _entry(margin[0], "") if len(margin) > 1 else None
    return first is not None and all(_entry(line, first.group(2).strip()) for line in margin)
