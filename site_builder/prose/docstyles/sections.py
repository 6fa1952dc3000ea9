"""
---
title: Sections
summary: Parameters, results and exceptions, in the Google, NumPy or Sphinx way, as lists.
---
# Sections

The three styles say the same things: a name, its type, what it means. griffe reads the items; a list is written of
them. griffe lets fall what it does not understand, so each section is weighed afterwards: where a word is missing,
the section is written as an ordinary text instead.

Before griffe sees a section its indentation is made regular, since authors' is not. The type is taken from the line
as typed, because griffe drops `optional` and defaults from it.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from site_builder.prose.docstyles.context import Context
from site_builder.prose.docstyles.inline import code
from site_builder.prose.docstyles.shapes import Block, Kind, dedent, item, label, width

__all__ = ["Field", "fields", "google", "is_items", "numpy"]

# Every name under which a section of items is known, and the one by which griffe knows it (Google, then NumPy).
_PARAMETERS = "args arguments params parameters inputs input"
_ITEMS: dict[str, tuple[str, str]] = {
    **dict.fromkeys(_PARAMETERS.split(), ("Args", "Parameters")),
    **dict.fromkeys(
        ("keyword args", "keyword arguments", "keyword parameters", "kwargs", "other args", "other arguments",
         "other params", "other parameters", "optional args", "optional arguments", "optional parameters", "options"),
        ("Other Parameters", "Other Parameters"),
    ),
    **dict.fromkeys(("type args", "type arguments", "type params", "type parameters"), ("Type Parameters",) * 2),
    **dict.fromkeys(("raises", "raise", "exceptions", "except", "throws"), ("Raises", "Raises")),
    **dict.fromkeys(("warns",), ("Warns", "Warns")),
    **dict.fromkeys(("returns", "return"), ("Returns", "Returns")),
    **dict.fromkeys(("yields", "yield"), ("Yields", "Yields")),
    **dict.fromkeys(("receives",), ("Receives", "Receives")),
    **dict.fromkeys(("attributes", "attrs", "variables", "fields"), ("Attributes", "Attributes")),
    **dict.fromkeys(("functions", "methods"), ("Methods", "Methods")),
    **dict.fromkeys(("classes",), ("Classes", "Classes")),
    **dict.fromkeys(("modules",), ("Modules", "Modules")),
}
_RESULTS = frozenset({"Returns", "Yields", "Receives"})


@dataclass(frozen=True, slots=True)
class Entry:
    """One item: its names, its type as typed, and the lines that explain it."""

    names: tuple[str, ...]
    type: str
    text: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Field:
    """`:name argument: text`"""

    name: str
    argument: str
    text: tuple[str, ...]


def is_items(title: str) -> bool:
    """Whether a title opens a section of items."""
    return " ".join(title.lower().split()) in _ITEMS


# --- writing ---


def _list(entries: Sequence[Entry], context: Context) -> Block:
    items = []
    for entry in entries:
        head = ", ".join(f"**{code(name)}**" for name in entry.names)
        if entry.type:
            kind = _type(entry.type, context)
            head = f"{head} ({kind})" if head else kind
        blocks = context.convert(dedent(_hung(entry.text)))
        if not head:
            items.append(item("* ", blocks) if blocks else "")
        elif blocks and blocks[0].kind is Kind.PARAGRAPH:
            first = Block(Kind.PARAGRAPH, f"{head}: {blocks[0].text}")
            items.append(item("* ", [first, *blocks[1:]]))
        else:
            items.append(item("* ", [Block(Kind.PARAGRAPH, head), *blocks]))
    gap = "\n\n" if any("\n\n" in text for text in items) else "\n"
    return Block(Kind.LIST, gap.join(text for text in items if text))


def _hung(text: Sequence[str]) -> list[str]:
    """The lines of a description, the later ones freed of their common indentation."""
    first = [text[0].strip()] if text else []
    return [*first, *(_dedented(text[1:]))]


def _dedented(lines: Sequence[str]) -> list[str]:
    common = min((width(line) for line in lines if line.strip()), default=0)
    return [line[common:] if line.strip() else "" for line in lines]


def _type(text: str, context: Context) -> str:
    """A type as code, unless it is a sentence or has markup of its own."""
    text = " ".join(text.split())
    words = re.findall(r"[A-Za-z]+", text)
    if "`" in text or "\\" in text or (len(words) > 6 and "|" not in text and "," not in text and "[" not in text):
        return context.inline(text)
    return code(text)


def _prose(title: str, lines: Sequence[str], context: Context) -> list[Block]:
    """A section as an ordinary text under its name."""
    return label(context.inline(title), context.convert(dedent(lines)))


# --- reading through griffe ---


def _griffe(style: str, text: str, **options: Any) -> list[Any]:
    """griffe's sections, or none where it gives up. Imported late: it costs a quarter of a second."""
    import griffe

    with griffe.logger.disable(), warnings.catch_warnings():
        # It compiles types, and Python warns of odd ones.
        warnings.simplefilter("ignore")
        try:
            return list(griffe.Docstring(text, lineno=1).parse(style, warnings=False, **options))  # type: ignore[arg-type]
        except Exception:  # another's parser on a stranger's text: anything may come
            return []


def _words(lines: Iterable[str]) -> Counter[str]:
    return Counter(word for line in lines for word in re.findall(r"\w+", line))


def _complete(entries: Sequence[Entry], source: Counter[str]) -> bool:
    shown = Counter[str]()
    for entry in entries:
        shown += _words([*entry.names, entry.type, *entry.text])
    return not source - shown


def _groups(lines: Sequence[str]) -> list[list[str]]:
    """Lines cut into items: each begins at the left margin, and what is indented belongs to it."""
    groups: list[list[str]] = []
    for line in lines:
        if line.strip() and not line.startswith(" "):
            groups.append([line.rstrip()])
        elif groups:
            groups[-1].append(line.rstrip())
    return [[group[0], *_dedented(group[1:])] for group in groups]


# --- Google ---

_GOOGLE_ITEM = re.compile(
    r"\*{0,2}[\w.`~:-]+(?:(?:, | / |/)\*{0,2}[\w.`]+)*(?: ?\(.*?\))? ?:(?:\s|$)|.{1,120}\):(?:\s|$)|\*{1,2}\w+ ?:"
)


def google(title: str, lines: Sequence[str], context: Context) -> list[Block]:
    """The section `title:` with its indented `lines`."""
    kind = _ITEMS[" ".join(title.lower().split())][0]
    body = dedent(lines)
    if kind in _RESULTS:
        entries = _google_result(kind, body)
    else:
        entries = _google_entries(kind, body)
    if not entries:
        return _prose(title, lines, context)
    if len(entries) == 1 and kind in _RESULTS:
        return label(context.inline(title), _result(entries[0], context))
    return [*label(context.inline(title), []), _list(entries, context)]


def _result(entry: Entry, context: Context) -> list[Block]:
    blocks = context.convert(_hung(entry.text))
    if not entry.type:
        return blocks
    kind = _type(entry.type, context)
    if blocks and blocks[0].kind is Kind.PARAGRAPH:
        return [Block(Kind.PARAGRAPH, f"{kind}: {blocks[0].text}"), *blocks[1:]]
    return [Block(Kind.PARAGRAPH, kind), *blocks]


def _google_entries(kind: str, body: Sequence[str]) -> list[Entry]:
    groups: list[list[str]] = []
    for group in _groups(body):
        if _GOOGLE_ITEM.match(group[0]) or not groups:
            groups.append(group)
        else:
            # A line that names nothing goes on with the item above, whatever its indentation.
            groups[-1].extend(group)
    if not groups or not _GOOGLE_ITEM.match(groups[0][0]):
        return []
    text = [f"{kind}:"]
    for group in groups:
        text.append(f"    {group[0]}")
        text.extend(f"        {line}" if line else "" for line in group[1:])
    sections = _griffe("google", "\n".join(text))
    entries = _paired(sections, groups)
    return entries if _complete(entries, _words(body)) else []


def _google_result(kind: str, body: Sequence[str]) -> list[Entry]:
    """A result is one text, with its type in front of a colon if it has one."""
    match = re.match(r"([A-Za-z_][\w.\[\], |]{0,100}|:\w+:`[^`]{1,100}`|`{1,2}[^`]{1,100}`{1,2}|\([^()]{1,100}\)): (?=\S)|[\w.\[\], |]{1,100}:$", body[0])
    if not match or len(re.findall(r"\w+", match.group().partition("[")[0])) > 3:
        return []
    text = "\n".join([f"{kind}:", *(f"    {line}" if line else "" for line in body)])
    options = {"returns_multiple_items": False, "returns_named_value": False} if kind != "Receives" else {}
    sections = _griffe("google", text, **options)
    if len(sections) != 1 or len(sections[0].value) != 1:
        return []
    found = sections[0].value[0]
    description = tuple(str(found.description).split("\n"))
    head = body[0].removesuffix(description[0]).strip().removesuffix(":").strip()
    entries = [Entry((), head, description)]
    return entries if _complete(entries, _words(body)) else []


def _paired(sections: Sequence[Any], groups: Sequence[Sequence[str]]) -> list[Entry]:
    """griffe's items with the lines they came from: the lines say the type as its author typed it."""
    if len(sections) != 1 or len(sections[0].value) != len(groups):
        return []
    entries = []
    for found, group in zip(sections[0].value, groups, strict=True):
        description = tuple(str(found.description).split("\n"))
        name = str(getattr(found, "name", "") or "")
        head = group[0].removesuffix(description[0]).strip().removesuffix(":").strip()
        if not name:
            entries.append(Entry((head,), "", description))
            continue
        rest = head.removeprefix(name).strip()
        if rest.startswith("(") and rest.endswith(")"):
            rest = rest[1:-1]
        entries.append(Entry(tuple(re.split(r", | ?/ ?", _bare(name))), rest, description))
    return entries


def _bare(name: str) -> str:
    """A name without the markup that it does not need."""
    return re.sub(r"^(:\w+:)?`{1,2}([^`]+)`{1,2}$", r"\2", name.replace("\\", ""))


# --- NumPy ---

_NUMPY_NAMES = re.compile(r"(\*{0,2}[A-Za-z_][\w.]*(?:, ?\*{0,2}[A-Za-z_][\w.]*)*)(?:\s*:\s*(.*))?$")
_NUMPY_ELLIPSIS = re.compile(r"(.*?), ?(?:\.{3}|…)")


def numpy(title: str, lines: Sequence[str], context: Context) -> list[Block]:
    """The section `title` over a line of dashes, with its `lines`."""
    if " ".join(title.lower().split()) == "see also":
        return _see_also(title, lines, context)
    kind = _ITEMS[" ".join(title.lower().split())][1]
    body = dedent(lines)
    entries = _numpy_entries(kind, body) if body else []
    if not entries:
        return _prose(title, lines, context)
    return [*label(context.inline(title), []), _list(entries, context)]


def _numpy_entries(kind: str, body: Sequence[str]) -> list[Entry]:
    groups = _groups(body)
    if not groups or any(_is_title(group) for group in groups):
        return []
    text = [kind, "-" * len(kind)]
    shown = []
    for group in groups:
        name, kind_of = group[0].replace("\\", ""), ""
        match = _NUMPY_NAMES.match(name)
        if kind in _RESULTS:
            if match and match.group(2):
                name, kind_of = match.group(1), match.group(2)
                head = f"{name} : {kind_of}"
            else:
                name, kind_of, head = "", group[0].rstrip(" :"), group[0]
        elif match:
            name, kind_of = match.group(1), match.group(2) or ""
            # griffe wants the names apart by a comma and a space, and a space on both sides of the colon. What the
            # type says it is not asked: it would drop parts of it.
            head = ", ".join(re.split(r",\s*", name)) + (" : object" if kind_of else "")
        elif kind in ("Raises", "Warns", "Methods", "Classes", "Modules"):
            head = name
        else:
            return []
        shown.append((name, kind_of))
        text.append(head)
        text.extend(f"    {line}" if line else "" for line in group[1:])
    sections = _griffe("numpy", "\n".join(text))
    if len(sections) != 1:
        return []
    found = iter(sections[0].value)
    entries = []
    for name, kind_of in shown:
        names = tuple(re.split(r",\s*", name)) if name else ()
        # griffe tells `x, y` apart, with one description between them.
        items = [next(found, None) for _ in (names if kind in ("Parameters", "Other Parameters") else (0,))]
        if any(each is None for each in items):
            return []
        entries.append(Entry(names, kind_of, tuple(str(items[0].description).split("\n"))))  # type: ignore[union-attr]
    return entries if _complete(entries, _words(body)) else []


def _is_title(group: Sequence[str]) -> bool:
    return bool(re.fullmatch(r"[-=~]{3,}", group[0]))


def _see_also(title: str, lines: Sequence[str], context: Context) -> list[Block]:
    entries = []
    for group in _groups(dedent(lines)):
        match = re.match(r"((?::[\w:]+:)?`?[\w.~]+`?(?:, (?::[\w:]+:)?`?[\w.~]+`?)*)(?:\s*:\s+(.*)|\s*:?)$", group[0])
        if not match:
            return _prose(title, lines, context)
        names = tuple(re.sub(r"^(?::[\w:]+:)?`?~?|`$", "", name) for name in match.group(1).split(", "))
        entries.append(Entry(names, "", (match.group(2) or "", *group[1:])))
    return [*label(context.inline(title), []), _list(entries, context)] if entries else _prose(title, lines, context)


# --- Sphinx ---

_PARAMETER_FIELDS = frozenset("param parameter arg argument key keyword kwarg kwparam".split())
_ATTRIBUTE_FIELDS = frozenset("var ivar cvar attr".split())
_RAISE_FIELDS = frozenset("raises raise except exception".split())
_RETURN_FIELDS = frozenset("returns return".split())
_TYPE_FIELDS = frozenset("type vartype rtype".split())
_DROPPED_FIELDS = frozenset("meta nosearch".split())
_KNOWN_FIELDS = _PARAMETER_FIELDS | _ATTRIBUTE_FIELDS | _RAISE_FIELDS | _RETURN_FIELDS | _TYPE_FIELDS


def fields(found: Sequence[Field], context: Context) -> list[Block]:
    """A field list: what Sphinx knows as sections, all else as a list in the order of the source."""
    known = [each for each in found if each.name in _KNOWN_FIELDS]
    other = [each for each in found if each.name not in _KNOWN_FIELDS and each.name not in _DROPPED_FIELDS]
    blocks = _sphinx(known, context) if known else []
    if known and not blocks:
        other = [each for each in found if each.name not in _DROPPED_FIELDS]
    return [*blocks, *_plain_fields(other, context)]


def _plain_fields(found: Sequence[Field], context: Context) -> list[Block]:
    items = []
    for each in found:
        head = " ".join(part for part in (f"**{context.inline(each.name)}**", code(each.argument)) if part)
        text = context.convert(_hung(each.text))
        if text and text[0].kind is Kind.PARAGRAPH:
            items.append(item("* ", [Block(Kind.PARAGRAPH, f"{head}: {text[0].text}"), *text[1:]]))
        else:
            items.append(item("* ", [Block(Kind.PARAGRAPH, head), *text]))
    gap = "\n\n" if any("\n\n" in text for text in items) else "\n"
    return [Block(Kind.LIST, gap.join(items))] if items else []


def _sphinx(found: Sequence[Field], context: Context) -> list[Block]:
    """Known fields through griffe; none where it would lose a word."""
    text = []
    source: Counter[str] = Counter()
    for each in found:
        argument = each.argument
        source += _words([argument, *each.text])
        if each.name in _PARAMETER_FIELDS and " " in argument:
            # `:param list of str names:`: griffe reads a type of one word only.
            kind, _, argument = argument.rpartition(" ")
            text.append(f":type {argument}: {kind}")
        if each.name in _RAISE_FIELDS:
            argument = argument.replace(" ", "")
        text.append(f":{' '.join(part for part in (each.name, argument) if part)}: {' '.join(each.text[:1])}".rstrip())
        text.extend(f"    {line}" if line.strip() else "" for line in _dedented(each.text[1:]))
    # griffe takes a type for a variable only from before it.
    text = _types_first(text)
    blocks: list[Block] = []
    shown: Counter[str] = Counter()
    for section in _griffe("sphinx", "\n".join(text)):
        kind = section.kind.value
        if kind == "text":
            shown += _words([str(section.value)])
            if str(section.value).strip():
                return []
            continue
        entries = []
        for item_ in section.value:
            name = str(getattr(item_, "name", "") or "")
            annotation = "" if item_.annotation is None else str(item_.annotation)
            if kind == "raises":
                name, annotation = annotation.replace(",", ", "), ""
            entries.append(Entry((name,) if name else (), annotation, tuple(str(item_.description).split("\n"))))
        for entry in entries:
            shown += _words([*entry.names, entry.type, *entry.text])
        if kind == "returns" and len(entries) == 1:
            blocks.extend(label("Returns", _result(entries[0], context)))
        else:
            blocks.extend([*label(_TITLES.get(kind, kind.capitalize()), []), _list(entries, context)])
    # griffe writes `or` between types as a bar, and takes a type apart without its bare `or`.
    return blocks if not _significant(source) - _significant(shown) else []


_TITLES = {"parameters": "Parameters", "attributes": "Attributes", "raises": "Raises", "returns": "Returns"}


def _significant(words: Counter[str]) -> Counter[str]:
    return Counter({word: count for word, count in words.items() if word != "or"})


def _types_first(lines: Sequence[str]) -> list[str]:
    types: list[str] = []
    rest: list[str] = []
    target = rest
    for line in lines:
        if line.startswith(":"):
            target = types if line.startswith((":type", ":vartype", ":rtype")) else rest
        target.append(line)
    return [*types, *rest]
