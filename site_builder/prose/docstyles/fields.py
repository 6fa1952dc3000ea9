"""
---
title: Fields
summary: Sphinx's `:param x:` and its kin, as sections; any other field as an item of a list.
---
# Fields

griffe gathers what Sphinx spreads: the type of a parameter may stand in the field itself or in a field of its own,
above or below. What it cannot read (a type of several words, two exceptions in one field) is first written so that it
can.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from site_builder.prose.docstyles.context import Context
from site_builder.prose.docstyles.entries import Entry, dedented, griffe_sections, section, shown, words
from site_builder.prose.docstyles.shapes import Block, Kind, item
from site_builder.prose.docstyles.text import code

__all__ = ["Field", "fields"]

_PARAMETER = frozenset("param parameter arg argument key keyword kwarg kwparam".split())
_RAISE = frozenset("raises raise except exception".split())
_RETURN = frozenset("returns return".split())
_TYPE = frozenset("type vartype rtype".split())
_KNOWN = _PARAMETER | _RAISE | _RETURN | _TYPE | frozenset("var ivar cvar".split())
_SETTINGS = frozenset("meta nosearch".split())
_TITLES = {"parameters": "Parameters", "attributes": "Attributes", "raises": "Raises", "returns": "Returns"}


@dataclass(frozen=True, slots=True)
class Field:
    """`:name argument: text`"""

    name: str
    argument: str
    text: tuple[str, ...]


def fields(found: Sequence[Field], context: Context) -> list[Block]:
    """A field list: what Sphinx knows as sections, all else as a list in the order of the source."""
    told = [each for each in found if each.name.lower() not in _SETTINGS]
    known = [replace(each, name=each.name.lower()) for each in told if each.name.lower() in _KNOWN]
    blocks = _sections(known, context) if known else []
    rest = [each for each in told if each.name.lower() not in _KNOWN] if blocks else told
    return [*blocks, *_list(rest, context)]


def _list(found: Sequence[Field], context: Context) -> list[Block]:
    items = []
    for each in found:
        if each.name.lower() in _KNOWN:
            head = f"**{each.name}** {code(each.argument)}".strip()
        else:
            head = f"**{context.inline(f'{each.name} {each.argument}'.strip())}**"
        blocks = shown(Entry((), "", each.text), context)
        if blocks and blocks[0].kind is Kind.PARAGRAPH:
            blocks = [Block(Kind.PARAGRAPH, f"{head}: {blocks[0].text}"), *blocks[1:]]
        else:
            blocks = [Block(Kind.PARAGRAPH, head), *blocks]
        items.append(item("* ", blocks))
    gap = "\n\n" if any("\n\n" in text for text in items) else "\n"
    return [Block(Kind.LIST, gap.join(items))] if items else []


def _sections(found: Sequence[Field], context: Context) -> list[Block]:
    """Fields through griffe; none where it would lose a word."""
    blocks: list[Block] = []
    told: Counter[str] = Counter()
    for part in griffe_sections(_regular(found)):
        kind = part.kind.value
        entries = [_entry(kind, each) for each in part.value]
        told += _words(line for entry in entries for line in (*entry.names, entry.type, *entry.text))
        blocks.extend(section(_TITLES.get(kind, kind), entries, context, single=kind == "returns"))
    # A type names its parameter once more.
    source = _words(
        line for each in found for line in (*([each.argument] * (each.name not in _TYPE)), *each.text)
    )
    return blocks if not source - told else []


def _entry(kind: str, found: object) -> Entry:
    name = str(getattr(found, "name", "") or "")
    annotation = getattr(found, "annotation", None)
    typed = "" if annotation is None else str(annotation)
    text = tuple(str(getattr(found, "description", "")).split("\n"))
    if kind == "raises":
        return Entry(tuple(typed.split(",")), "", text)
    return Entry((name,) if name else (), typed, text)


def _words(lines: Iterable[str]) -> Counter[str]:
    """All words but `or`, which griffe writes as a bar between types."""
    counted = Counter(words(lines))
    del counted["or"]
    return counted


def _regular(found: Sequence[Field]) -> list[str]:
    """The fields as griffe wants them. It knows a type only from before the name, so types come first."""
    types: list[str] = []
    rest: list[str] = []
    names = {each.name for each in found}
    for each in found:
        argument = each.argument
        if each.name in _PARAMETER and " " in argument:
            # `:param list of str names:`: griffe reads a type of one word.
            kind, _, argument = argument.rpartition(" ")
            types.append(f":type {argument}: {kind}")
        elif each.name in _RAISE:
            argument = argument.replace(" ", "")
        head = f"{each.name} {argument}".strip()
        lines = types if each.name in _TYPE else rest
        lines.append(f":{head}: {' '.join(each.text[:1])}".rstrip())
        lines.extend(f"    {line}" if line.strip() else "" for line in dedented(each.text[1:]))
    if "rtype" in names and not names & _RETURN:
        rest.append(":returns:")
    return [*types, *rest]
