"""
---
title: Entries
summary: A parameter, an attribute, an exception, a result; and the list that shows them.
---
# Entries

The three styles of sections say the same things: a name, its type, what it means. Each style's reader makes entries,
and one writer makes a list of them.

A reader may not understand all of it, and griffe, which reads Sphinx's fields, lets fall what it does not understand.
So what is found is weighed against the source: where a word is missing, the section is shown as ordinary text instead.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from site_builder.lazy import regex
from site_builder.prose.docstyles.context import Context
from site_builder.prose.docstyles.shapes import Block, Kind, dedent, is_code, item, label, literal, width
from site_builder.prose.docstyles.text import code

__all__ = ["Entry", "dedented", "griffe_sections", "groups", "prose", "section", "shown", "words"]


@dataclass(frozen=True, slots=True)
class Entry:
    """Its names, its type as typed, and the lines that explain it. A stray text has neither name nor type."""

    names: tuple[str, ...]
    type: str
    text: tuple[str, ...]


# --- writing ---


def section(title: str, entries: Sequence[Entry], context: Context, *, single: bool = False) -> list[Block]:
    """Entries as a list under a label; with `single` a lone one stands beside the label."""
    if single and len(entries) == 1:
        return label(context.inline(title), shown(entries[0], context))
    items = [item("* ", blocks) for entry in entries if (blocks := shown(entry, context))]
    gap = "\n\n" if any("\n\n" in text for text in items) else "\n"
    return [*label(context.inline(title), []), Block(Kind.LIST, gap.join(items))]


def shown(entry: Entry, context: Context) -> list[Block]:
    """`name (type): description`"""
    first = [entry.text[0].strip()] if entry.text else []
    blocks = context.convert(dedent([*first, *dedented(entry.text[1:])]))
    head = ", ".join(
        context.inline(name) if re.search(r"[$`]", name) else f"**{code(name)}**" for name in entry.names
    )
    if entry.type:
        kind = _type(entry.type, context)
        head = f"{head} ({kind})" if head else kind
    if not head:
        return blocks
    if blocks and blocks[0].kind is Kind.PARAGRAPH:
        return [Block(Kind.PARAGRAPH, f"{head}: {blocks[0].text}"), *blocks[1:]]
    return [Block(Kind.PARAGRAPH, head), *blocks]


def _type(text: str, context: Context) -> str:
    """A type as code, unless it is a sentence or has markup of its own."""
    text = " ".join(text.split())
    sentence = len(re.findall(r"[A-Za-z]+", text)) > 6 and not re.search(r"[|,\[]", text)
    return context.inline(text) if "`" in text or "\\" in text or sentence else code(text)


def prose(title: str, lines: Sequence[str], context: Context) -> list[Block]:
    """A section that lists nothing: an ordinary text, or a program, under its name."""
    body = dedent(lines)
    plain = not body or body[0].startswith((".. ", "- ", "* ")) or not is_code(body)
    return label(context.inline(title), context.convert(body) if plain else literal(body))


# --- reading ---

_WORD = regex(r"\w+")


def dedented(lines: Sequence[str]) -> list[str]:
    """Lines without their common indentation; blank lines stay."""
    common = min((width(line) for line in lines if line.strip()), default=0)
    return [line[common:] if line.strip() else "" for line in lines]


def groups(lines: Sequence[str]) -> list[list[str]]:
    """Lines cut into items: each begins at the margin, and what is indented belongs to it."""
    found: list[list[str]] = []
    for line in lines:
        if line.strip() and not line.startswith(" "):
            found.append([line.rstrip()])
        elif found:
            found[-1].append(line.rstrip())
    return [[group[0], *dedented(group[1:])] for group in found]


def words(lines: Iterable[str]) -> list[str]:
    return _WORD.findall("\n".join(lines))


def griffe_sections(lines: Sequence[str]) -> list[Any]:
    """The sections that griffe makes of Sphinx's fields, or none where it gives up."""
    # Imported late: it costs a quarter of a second, and most pages never need it.
    import griffe

    # griffe dedents all lines but the first, so that one is a summary of no interest.
    text = "\n".join([".", "", *lines])
    with griffe.logger.disable(), warnings.catch_warnings():
        # It compiles types, and Python warns of odd ones.
        warnings.simplefilter("ignore")
        try:
            sections = griffe.Docstring(text, lineno=1).parse("sphinx", warnings=False)
        except Exception:  # another's parser on a stranger's text: anything may come
            return []
    return list(sections[1:])
