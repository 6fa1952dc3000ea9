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
from site_builder.prose.docstyles.shapes import Block, Kind, dedent, is_code, item, label, literal, width

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
    items = [item("* ", blocks) for entry in entries if (blocks := _entry(entry, context))]
    gap = "\n\n" if any("\n\n" in text for text in items) else "\n"
    return Block(Kind.LIST, gap.join(items))


def _head(entry: Entry, context: Context) -> str:
    names = ", ".join(f"**{code(name)}**" for name in entry.names)
    if not entry.type:
        return names
    kind = _type(entry.type, context)
    return f"{names} ({kind})" if names else kind


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
    """A section as an ordinary text, or a program, under its name."""
    body = dedent(lines)
    code_like = is_code(body) and not body[0].startswith((">>>", ".. ", "- ", "* "))
    return label(context.inline(title), literal(body) if code_like else context.convert(body))


# --- reading through griffe ---


def _griffe(style: str, text: str, **options: Any) -> list[Any]:
    """griffe's sections, or none where it gives up. Imported late: it costs a quarter of a second."""
    import griffe

    # The first line is a summary of no interest: griffe dedents all lines but that one.
    text = f".\n\n{text}"

    with griffe.logger.disable(), warnings.catch_warnings():
        # It compiles types, and Python warns of odd ones.
        warnings.simplefilter("ignore")
        try:
            sections = griffe.Docstring(text, lineno=1).parse(style, warnings=False, **options)  # type: ignore[arg-type]
        except Exception:  # another's parser on a stranger's text: anything may come
            return []
    return sections[1:]


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

_GOOGLE_NAME = r"\*{0,2}[\w.`~:-]+(?:\[\w*\])?\w*"
_GOOGLE_ITEM = re.compile(
    rf"{_GOOGLE_NAME}(?:(?:, | ?/ ?| and | or ){_GOOGLE_NAME}){{0,9}}(?: ?\(.*?\))? ?:(?:\s|$)|.{{1,120}}\):(?:\s|$)"
)


def google(title: str, lines: Sequence[str], context: Context) -> list[Block]:
    """The section `title:` with its indented `lines`."""
    kind = _ITEMS[" ".join(title.lower().split())][0]
    body = dedent(lines)
    if kind in _RESULTS:
        entries = _google_result(body)
    else:
        entries = _google_entries(kind, body)
    if not entries:
        return _prose(title, lines, context)
    if len(entries) == 1 and kind in _RESULTS:
        return label(context.inline(title), _entry(entries[0], context))
    return [*label(context.inline(title), []), _list(entries, context)]


def _entry(entry: Entry, context: Context) -> list[Block]:
    blocks = context.convert(dedent(_hung(entry.text)))
    head = _head(entry, context)
    if not head:
        return blocks
    if blocks and blocks[0].kind is Kind.PARAGRAPH:
        return [Block(Kind.PARAGRAPH, f"{head}: {blocks[0].text}"), *blocks[1:]]
    return [Block(Kind.PARAGRAPH, head), *blocks]


def _google_entries(kind: str, body: Sequence[str]) -> list[Entry]:
    items: list[list[str]] = []
    # A line that names nothing goes on with the item above, or is an item without a name behind a blank line.
    nameless: dict[int, list[list[str]]] = {}
    for group in _groups(body):
        if _GOOGLE_ITEM.match(group[0]):
            items.append(group)
        elif not items:
            return []
        elif not items[-1][-1] or len(items) in nameless:
            nameless.setdefault(len(items), []).append(group)
        else:
            items[-1].extend(group)
    text = [f"{kind}:"]
    for group in items:
        text.append(f"    {group[0]}")
        text.extend(f"        {line}" if line else "" for line in group[1:])
    entries = _paired(_griffe("google", "\n".join(text)), items)
    if not entries:
        return []
    mixed: list[Entry] = []
    for index, entry in enumerate(entries, 1):
        mixed.extend([entry, *(Entry((), "", tuple(group)) for group in nameless.get(index, ()))])
    return mixed if _complete(mixed, _words(body)) else []


_RESULT_TYPE = re.compile(
    r"(:\w+(?::\w+)?:`[^`]{1,100}`|`{1,2}[^`]{1,100}`{1,2}|\([^()]{1,100}\)|[A-Za-z_][\w.\[\], |]{0,100})\s?:(?:\s+|$)"
)


def _google_result(body: Sequence[str]) -> list[Entry]:
    """A result is one text, with its type in front of a colon if it has one. griffe would take any colon for that."""
    match = _RESULT_TYPE.match(body[0]) if body else None
    if not match or len(re.findall(r"\w+", match.group(1).partition("[")[0])) > 3:
        return []
    return [Entry((), match.group(1), (body[0][match.end() :], *body[1:]))]


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
        entries.append(Entry(tuple(re.split(r", | ?/ ?| and | or ", _bare(name))), rest, description))
    return entries


def _bare(name: str) -> str:
    """A name without the markup that it does not need."""
    return re.sub(r"^(:\w+:)?`{1,2}([^`]+)`{1,2}$", r"\2", name.replace("\\", ""))


# --- NumPy ---

_NUMPY_TYPED = re.compile(r"(\S.{0,200}?)(?:\s+:(?:\s+(.*)|$)|:\s+(.*)|:$)")
_SENTENCE = re.compile(r"(?:[\w'`]+ ){4}")
_NUMPY_NAME = re.compile(r"\*{0,2}[A-Za-z_][\w.]*(?:\(.*\))?(?:, ?\*{0,2}[A-Za-z_][\w.]*)*$")


def numpy(title: str, lines: Sequence[str], context: Context) -> list[Block]:
    """The section `title` over a line of dashes, with its `lines`."""
    if " ".join(title.lower().split()) == "see also":
        return _see_also(title, lines, context)
    kind = _ITEMS[" ".join(title.lower().split())][1]
    body = dedent(lines)
    entries = _numpy_entries(kind, body) if body else []
    if not entries:
        return _prose(title, lines, context)
    if len(entries) == 1 and kind in _RESULTS:
        return label(context.inline(title), _entry(entries[0], context))
    return [*label(context.inline(title), []), _list(entries, context)]


def _numpy_entries(kind: str, body: Sequence[str]) -> list[Entry]:
    """
    Items told apart by their indentation. griffe is not asked here: it drops defaults, choices, `...` between names
    and every line that it cannot read, and without those there is nothing left to do for it.
    """
    entries: list[Entry] = []
    for group in _groups(body):
        head = group[0].replace("\\", "").rstrip()
        typed = _NUMPY_TYPED.match(head)
        if typed and not _SENTENCE.match(typed.group(1)):
            name, kind_of = typed.group(1), (typed.group(2) or typed.group(3) or "").strip()
            entries.append(Entry(_names(name), kind_of, tuple(group[1:])))
        elif kind in _RESULTS and not re.search(r"[.!?]$", head):
            entries.append(Entry((), head, tuple(group[1:])))
        elif _NUMPY_NAME.match(head) and not re.fullmatch(r"[=~-]{3,}", head):
            entries.append(Entry(_names(head), "", tuple(group[1:])))
        elif entries:
            entries.append(Entry((), "", tuple(group)))
        else:
            return []
    return entries


def _names(text: str) -> tuple[str, ...]:
    """`x, y` is two names; what holds brackets or a sentence is one."""
    if re.search(r"[(\[{ ].*,|,.*[)\]}]", text.replace(", ", ",")):
        return (text,)
    return tuple(re.split(r",\s*", text)) if text else ()


_SEEN = re.compile(r"((?::[\w:]+:)?`?[\w.~]+`?(?:, ?(?::[\w:]+:)?`?[\w.~]+`?)*)(?:\s*:\s+(.*)|\s*[:,]?)$")


def _see_also(title: str, lines: Sequence[str], context: Context) -> list[Block]:
    """Names with a word on each: what has another form is an item as it stands."""
    entries = []
    for group in _groups(dedent(lines)):
        match = _SEEN.match(group[0])
        if match and not re.match(r":(?:ref|doc|term):", group[0]):
            names = tuple(re.sub(r"^(?::[\w:]+:)?`?~?|`$", "", name) for name in re.split(r", ?", match.group(1)))
            entries.append(Entry(names, "", (match.group(2) or "", *group[1:])))
        else:
            entries.append(Entry((), "", tuple(group)))
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
        # A type names its parameter once more.
        source += _words([*([argument] if each.name not in _TYPE_FIELDS else []), *each.text])
        if each.name in _PARAMETER_FIELDS and " " in argument:
            # `:param list of str names:`: griffe reads a type of one word only.
            kind, _, argument = argument.rpartition(" ")
            text.append(f":type {argument}: {kind}")
        if each.name in _RAISE_FIELDS:
            argument = argument.replace(" ", "")
        text.append(f":{' '.join(part for part in (each.name, argument) if part)}: {' '.join(each.text[:1])}".rstrip())
        text.extend(f"    {line}" if line.strip() else "" for line in _dedented(each.text[1:]))
    if not _RETURN_FIELDS & {each.name for each in found} and any(each.name == "rtype" for each in found):
        text.append(":returns:")
    # griffe takes a type for a variable only from before it.
    text = _types_first(text)
    blocks: list[Block] = []
    shown: Counter[str] = Counter()
    for section in _griffe("sphinx", "\n".join(text)):
        kind = section.kind.value
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
            blocks.extend(label("Returns", _entry(entries[0], context)))
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
