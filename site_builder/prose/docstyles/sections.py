"""
---
title: Sections
summary: Google's indented sections and NumPy's underlined ones, as lists.
---
# Sections

Before griffe sees one of Google's sections its indentation is made regular, since authors' is not; and the type is
taken from the line as typed, because griffe drops `optional` from it.

NumPy's sections are read here. griffe drops defaults, choices, the dots of `x1, ..., xn` and every line that it cannot
read, and without these there is nothing left to do for it: what begins at the margin is an item.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from site_builder.lazy import regex
from site_builder.prose.docstyles.context import Context
from site_builder.prose.docstyles.entries import Entry, griffe_sections, groups, prose, section, words
from site_builder.prose.docstyles.shapes import Block, dedent

__all__ = ["google", "is_items", "numpy"]

# The titles that open a section of items, by the title under which griffe knows each.
_KINDS = {
    "Args": "args, arguments, params, parameters, inputs, input",
    "Other Args": "keyword args, keyword arguments, keyword parameters, kwargs, other args, other arguments, "
    "other params, other parameters, optional args, optional arguments, optional parameters, options",
    "Type Parameters": "type args, type arguments, type params, type parameters",
    "Raises": "raises, raise, exceptions, except, throws",
    "Warns": "warns",
    "Returns": "returns, return",
    "Yields": "yields, yield",
    "Receives": "receives",
    "Attributes": "attributes, attrs, variables, fields",
    "Methods": "functions, methods",
    "Classes": "classes",
    "Modules": "modules",
}
_ITEMS = {title: kind for kind, titles in _KINDS.items() for title in titles.split(", ")}
_RESULTS = frozenset({"Returns", "Yields", "Receives"})


def is_items(title: str) -> bool:
    """Whether a title opens a section of items."""
    return _key(title) in _ITEMS


def _key(title: str) -> str:
    return " ".join(title.lower().split())


# --- Google ---

_NAME = r"\*{0,2}[\w.`~:-]+(?:\[\w*\])?\w*"
_ITEM = regex(
    rf"{_NAME}(?:(?:, | ?/ ?| and | or ){_NAME}){{0,9}}(?: ?\(.*?\))? ?:(?:\s|$)|.{{1,120}}\):(?:\s|$)"
)
_RESULT_TYPE = regex(
    r"(:\w+(?::\w+)?:`[^`]{1,100}`|`{1,2}[^`]{1,100}`{1,2}|\([^()]{1,100}\)|[A-Za-z_][\w.\[\], |]{0,100})\s?:(?:\s+|$)"
)


def google(title: str, lines: Sequence[str], context: Context) -> list[Block]:
    """The section `title:` with its indented `lines`."""
    kind = _ITEMS[_key(title)]
    body = dedent(lines)
    entries = _result(body) if kind in _RESULTS else _items(kind, body)
    if not entries:
        return prose(title, lines, context)
    return section(title, entries, context, single=kind in _RESULTS)


def _result(body: Sequence[str]) -> list[Entry]:
    """A result is one text, with its type in front of a colon if it has one; griffe takes any colon for that."""
    match = _RESULT_TYPE.match(body[0]) if body else None
    if not match or len(match.group(1).partition("[")[0].split()) > 3:
        return []
    return [Entry((), match.group(1), (body[0][match.end() :], *body[1:]))]


def _items(kind: str, body: Sequence[str]) -> list[Entry]:
    items: list[list[str]] = []
    # A line that names nothing goes on with the item above, or behind a blank line is an item without a name.
    nameless: dict[int, list[Entry]] = {}
    for group in groups(body):
        if _ITEM.match(group[0]):
            items.append(group)
        elif not items:
            return []
        elif not items[-1][-1] or len(items) in nameless:
            nameless.setdefault(len(items), []).append(Entry((), "", tuple(group)))
        else:
            items[-1].extend(group)
    text = [f"{kind}:"]
    for group in items:
        text.append(f"    {group[0]}")
        text.extend(f"        {line}" if line else "" for line in group[1:])
    found = griffe_sections("google", text)
    if len(found) != 1 or len(found[0].value) != len(items):
        return []
    entries: list[Entry] = []
    for index, (each, group) in enumerate(zip(found[0].value, items, strict=True), 1):
        name, description = str(getattr(each, "name", "") or ""), str(each.description)
        entries.extend([_as_typed(name, description.split("\n"), group[0]), *nameless.get(index, ())])
    told = words(text for entry in entries for text in (*entry.names, entry.type, *entry.text))
    return entries if not words(body) - told else []


def _as_typed(name: str, description: Sequence[str], line: str) -> Entry:
    """What griffe found, with the type as it stands in the line."""
    head = line.removesuffix(description[0]).strip().removesuffix(":").strip()
    if not name:
        return Entry((head,), "", tuple(description))
    kind = head.removeprefix(name).strip()
    if kind.startswith("(") and kind.endswith(")"):
        kind = kind[1:-1]
    bare = re.sub(r"^(:\w+:)?`{1,2}([^`]+)`{1,2}$", r"\2", name.replace("\\", ""))
    return Entry(tuple(re.split(r", | ?/ ?| and | or ", bare)), kind, tuple(description))


# --- NumPy ---

_TYPED = regex(r"(\S.{0,200}?)(?:\s+:(?:\s+(.*)|$)|:\s+(.*)|:$)")
_SENTENCE = regex(r"(?:[\w'`]+ ){4}")
_NAMES = regex(r"\*{0,2}[A-Za-z_][\w.]*(?:\(.*\))?(?:, ?\*{0,2}[A-Za-z_][\w.]*)*$")
_SEEN = regex(r"((?::[\w:]+:)?`?[\w.~]+`?(?:, ?(?::[\w:]+:)?`?[\w.~]+`?)*)(?:\s*:\s+(.*)|\s*[:,]?)$")


def numpy(title: str, lines: Sequence[str], context: Context) -> list[Block]:
    """The section `title` over a line of dashes, with its `lines`."""
    body = dedent(lines)
    if _key(title) == "see also":
        entries = [_seen(group) for group in groups(body)]
        return section(title, entries, context) if entries else prose(title, lines, context)
    kind = _ITEMS[_key(title)]
    entries = _underlined(kind, body)
    if not entries:
        return prose(title, lines, context)
    return section(title, entries, context, single=kind in _RESULTS)


def _underlined(kind: str, body: Sequence[str]) -> list[Entry]:
    entries: list[Entry] = []
    for group in groups(body):
        head, text = re.sub(r"\\+(?=[*_])", "", group[0]).rstrip(), tuple(group[1:])
        typed = _TYPED.match(head)
        if typed and not _SENTENCE.match(typed.group(1)):
            entries.append(
                Entry(_names(typed.group(1)), (typed.group(2) or typed.group(3) or "").strip(), text)
            )
        elif kind in _RESULTS and not re.search(r"[.!?]$", head):
            entries.append(Entry((), head, text))
        elif _NAMES.match(head):
            entries.append(Entry(_names(head), "", text))
        elif entries:
            entries.append(Entry((), "", tuple(group)))
        else:
            return []
    return entries


def _names(text: str) -> tuple[str, ...]:
    """`x, y` is two names; what holds brackets or a sentence is one."""
    if re.search(r"[(\[{ ].*,|,.*[)\]}]", text.replace(", ", ",")):
        return (text,)
    return tuple(re.split(r",\s*", text))


def _seen(group: Sequence[str]) -> Entry:
    """Names, with a word on them; anything else as it stands."""
    match = _SEEN.match(group[0])
    if not match or re.match(r":(?:ref|doc|term):", group[0]):
        return Entry((), "", tuple(group))
    names = tuple(re.sub(r"^(?::[\w:]+:)?`?~?|`$", "", name) for name in re.split(r", ?", match.group(1)))
    return Entry(names, "", (match.group(2) or "", *group[1:]))
