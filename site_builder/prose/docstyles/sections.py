"""
---
title: Sections
summary: Google's indented sections and NumPy's underlined ones, as lists.
---
# Sections

What begins at the margin is an item, and the rest of it is indented below. Both styles are read here: griffe would drop
`optional`, defaults, choices, the dots of `x1, ..., xn` and every line that it cannot read, and without these there is
nothing left for it to do.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from site_builder.lazy import regex
from site_builder.prose.docstyles.context import Context
from site_builder.prose.docstyles.entries import Entry, groups, prose, section, words
from site_builder.prose.docstyles.shapes import Block, dedent

__all__ = ["google", "is_items", "numpy"]

# The titles that open a section of items, by what they are called here.
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
_NO_NAMES = frozenset({"Raises", "Warns"})
"""What stands before the colon is a type."""
_SPACED = frozenset({"Attributes", "Type Parameters"})
"""The name ends at the first blank; elsewhere it ends at the parenthesis of the type, where there is one."""
_CALLED = frozenset({"Methods", "Classes"})
"""The name ends at the parenthesis of the signature, which may have something behind it."""


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
    """A result is one text, with its type in front of a colon if it has one."""
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
    entries: list[Entry] = []
    for index, group in enumerate(items, 1):
        entries += (_entry(kind, group), *nameless.get(index, ()))
    source = words(body)
    told = words(line for each in entries for line in (*each.names, each.type, *each.text))
    return entries if source == told or not Counter(source) - Counter(told) else []


def _entry(kind: str, group: Sequence[str]) -> Entry:
    """`name (type): text`, with lines below."""
    head, _, first = group[0].partition(":")
    head = head.strip()
    text = [first.lstrip(), *group[1:]]
    while len(text) > 1 and not text[-1]:
        text.pop()
    name = head
    if kind in _NO_NAMES:
        name = ""
    elif kind in _SPACED:
        name = head.partition(" ")[0]
    elif kind in _CALLED or head.endswith(")"):
        name = head.partition("(")[0].strip()
    if not name:
        return Entry((head,), "", tuple(text))
    typed = head.removeprefix(name).strip()
    if typed.startswith("(") and typed.endswith(")"):
        typed = typed[1:-1]
    bare = re.sub(r"^`{1,2}([^`]+)`{1,2}$", r"\1", name.replace("\\", ""))
    return Entry(tuple(re.split(r", | ?/ ?| and | or ", bare)), typed, tuple(text))


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
