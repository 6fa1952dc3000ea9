r"""
---
title: Front matter as YAML
summary: Keys and values of every kind, read so that every fault has its line and column.
---
# Front matter as YAML

The YAML is only composed into nodes, never turned into objects: a node knows its place, `title: 1.0` and
`title: no` stay as they were typed, and nothing in the file can ask for a Python object to be made.

A wrong value costs that value and no more. YAML that cannot be read costs the front matter; the page is still
built.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

import yaml

from site_builder.errors import Diagnostic
from site_builder.lazy import regex
from site_builder.likeness import nearest
from site_builder.model import FrontMatter, Paper, Position, Prose, ProseLine

_NOTHING = ("", "~", "null", "Null", "NULL")
_IDENTIFIER = regex(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_MACRO = regex(r"\\(?:[a-zA-Z@]+|[^a-zA-Z\s])")
_YEAR = regex(r"[0-9]{4}")
_WEB = regex(r"https?://\S+")
_BEYOND = regex(r"\\U(?!000|0010)[0-9a-fA-F]{8}")
_NOT_IN_URL = regex(r"[:\\?#\x00-\x1f]")

_T = TypeVar("_T")
_Co = TypeVar("_Co", covariant=True)


def read(lines: Sequence[ProseLine]) -> tuple[FrontMatter, tuple[Diagnostic, ...]]:
    """What the lines between the fences say, and what is wrong with them."""
    report: list[Diagnostic] = []
    nodes = _Nodes(Prose(tuple(lines)), report)
    return _front(nodes, "\n".join(line.text for line in lines)), tuple(sorted(report))


class _FrontError(Exception):
    """A value that cannot be taken. Whoever can do without the value reports it and goes on."""

    def __init__(self, node: yaml.Node, message: str, hint: str):
        super().__init__(message)
        self.node = node
        self.message = message
        self.hint = hint


class _Reader(Protocol[_Co]):
    """Makes a value of a node, or raises `_FrontError`. `name` is its place, such as `papers.0.year`."""

    def __call__(self, nodes: _Nodes, name: str, node: yaml.Node, /) -> _Co: ...


class _Nodes:
    """Reads plain values from YAML nodes, and notes where they stand and what is wrong with them."""

    def __init__(self, prose: Prose, report: list[Diagnostic]):
        self._prose = prose
        self._report = report
        self.positions: dict[str, Position] = {}

    def place(self, offset: int) -> Position:
        return self._prose.position(min(offset, len(self._prose.text)))

    def tell(self, offset: int, code: str, message: str, hint: str) -> None:
        place = self.place(offset)
        self._report.append(Diagnostic(place.path, place.line, place.column, code, message, hint))

    def each(self, pairs: Iterable[tuple[str, yaml.Node]], read: _Reader[_T]) -> Iterator[tuple[str, _T]]:
        """Every one that can be read; the others are told and left out."""
        for name, node in pairs:
            try:
                yield name, read(self, name, node)
            except _FrontError as fault:
                self.tell(fault.node.start_mark.index, "front-value", fault.message, fault.hint)

    def note(self, name: str, node: yaml.Node) -> None:
        quoted = isinstance(node, yaml.ScalarNode) and node.style in ("'", '"')
        self.positions[name] = self.place(node.start_mark.index + quoted)

    def text(self, name: str, node: yaml.Node) -> str:
        """A scalar as it was typed, on one line."""
        key = name.rpartition(".")[2]
        if not isinstance(node, yaml.ScalarNode):
            raise _FrontError(node, f"`{key}` must be text", f'write `{key}: "…"`, in quotes')
        value = str(node.value)
        if not value.strip() or (node.style is None and value in _NOTHING):
            raise _FrontError(node, f"`{key}` is empty", "write its value, or remove it")
        if not value.isprintable() and any("\ud800" <= character <= "\udfff" for character in value):
            raise _FrontError(
                node, f"`{key}` holds half a character", r"type the character itself instead of `\u…`"
            )
        return re.sub(r"\s*\n\s*", " ", value).strip()

    def pairs(self, name: str, node: yaml.Node, known: Sequence[str] = ()) -> Iterator[tuple[str, yaml.Node]]:
        """
        The values of a mapping, each with its key behind the mapping's own name. Unknown and repeated keys
        are told and left out.
        """
        if not isinstance(node, yaml.MappingNode):
            what = f"`{name}`" if name else "the front matter"
            raise _FrontError(
                node, f"{what} must be made of keys and values", "write each on its line, as `key: value`"
            )
        seen = set()
        for written, value in node.value:
            place = written.start_mark.index
            if not isinstance(written, yaml.ScalarNode):
                self.tell(place, "front-value", "a key must be text", "write `key: value`")
                continue
            key = str(written.value)
            full = f"{name}.{key}" if name else key
            if known and key not in known:
                near = nearest(key, known)
                hint = (
                    f"did you mean `{near}`?"
                    if near
                    else f"write one of {', '.join(f'`{k}`' for k in known)}"
                )
                self.tell(place, "front-unknown-key", f"`{key}` is not a key of {_owner(name)}", hint)
            elif key in seen:
                self.tell(place, "front-value", f"`{key}` is given twice", "remove one; the first is used")
            else:
                seen.add(key)
                self.note(full, written)
                yield full, value

    def items(self, name: str, node: yaml.Node, *, single: bool = False) -> Iterator[tuple[str, yaml.Node]]:
        """The items of a list, each with a name for its place. With `single`, a lone scalar is one too."""
        if single and isinstance(node, yaml.ScalarNode):
            children = [node]
        elif isinstance(node, yaml.SequenceNode):
            children = node.value
        else:
            raise _FrontError(node, f"`{name}` must be a list", "write each item on its line, after `- `")
        for index, child in enumerate(children):
            self.note(f"{name}.{index}", child)
            yield f"{name}.{index}", child


def _owner(name: str) -> str:
    return "a paper" if name.startswith("papers.") else f"`{name}`" if name else "the front matter"


def _compose(nodes: _Nodes, text: str) -> yaml.Node | None:
    """The root of the YAML, or nothing where it cannot be read; then that is told."""
    hint = "put a value with special characters in quotes, and indent what belongs together alike"
    try:
        # SafeLoader, and of it only the part that makes nodes.
        root: yaml.Node | None = yaml.compose(text, yaml.SafeLoader)
        return root
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = error.problem or error.context or "it cannot be read"
        if problem.startswith("mapping values"):
            hint = "put a value that holds `: ` in quotes"
        nodes.tell(
            mark.index if mark else 0, "front-syntax", f"the front matter is not YAML: {problem}", hint
        )
    except yaml.reader.ReaderError as error:
        message = "the front matter holds a character that YAML does not allow"
        nodes.tell(error.position, "front-syntax", message, "remove the control character")
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError):
        # An escape beyond Unicode, which PyYAML does not expect, or lists in lists without end.
        beyond = _BEYOND.search(text)
        place = beyond.start() if beyond else 0
        nodes.tell(place, "front-syntax", "the front matter is not YAML that can be read", hint)
    return None


def _front(nodes: _Nodes, text: str) -> FrontMatter:
    root = _compose(nodes, text)
    if root is None:
        return FrontMatter()
    if not isinstance(root, yaml.MappingNode):
        message = "the front matter must be made of keys and values"
        nodes.tell(root.start_mark.index, "front-syntax", message, "write each on its line, as `key: value`")
        return FrontMatter()
    values = dict(nodes.each(nodes.pairs("", root, tuple(_KEYS)), _value))
    return FrontMatter(**values, positions=tuple(nodes.positions.items()))


def _value(nodes: _Nodes, name: str, node: yaml.Node) -> Any:
    return _KEYS[name](nodes, name, node)


def _text(nodes: _Nodes, name: str, node: yaml.Node) -> str:
    nodes.note(name, node)
    return nodes.text(name, node)


def _texts(nodes: _Nodes, name: str, node: yaml.Node) -> tuple[str, ...]:
    return tuple(text for _, text in nodes.each(nodes.items(name, node), _text))


def _symbols(nodes: _Nodes, name: str, node: yaml.Node) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple(
        (_key(part), names) for part, names in nodes.each(nodes.pairs(name, node), _identifiers) if names
    )


def _identifiers(nodes: _Nodes, name: str, node: yaml.Node) -> tuple[str, ...]:
    return tuple(text for _, text in nodes.each(nodes.items(name, node, single=True), _identifier))


def _identifier(nodes: _Nodes, name: str, node: yaml.Node) -> str:
    text = nodes.text(name, node)
    if not _IDENTIFIER.fullmatch(text):
        raise _FrontError(
            node, f"`{text}` is not an identifier", "name a variable, such as `query` or `self.query`"
        )
    return text


def _macros(nodes: _Nodes, name: str, node: yaml.Node) -> tuple[tuple[str, str], ...]:
    return tuple((_key(part), text) for part, text in nodes.each(nodes.pairs(name, node), _macro))


def _macro(nodes: _Nodes, name: str, node: yaml.Node) -> str:
    macro = _key(name)
    if not _MACRO.fullmatch(macro):
        raise _FrontError(
            node, f"`{macro}` is not the name of a macro", r"write a backslash and letters, such as `\R`"
        )
    return nodes.text(name, node)


def _papers(nodes: _Nodes, name: str, node: yaml.Node) -> tuple[Paper, ...]:
    return tuple(paper for _, paper in nodes.each(nodes.items(name, node), _paper))


def _paper(nodes: _Nodes, name: str, node: yaml.Node) -> Paper:
    read = {"title": _text, "authors": _authors, "year": _year, "url": _url}
    parts = nodes.pairs(name, node, tuple(read))
    found: dict[str, Any] = {
        _key(part, 2): value
        for part, value in nodes.each(parts, lambda *place: read[_key(place[1], 2)](*place))
    }
    if "title" not in found:
        raise _FrontError(node, "a paper needs a title", "write `title: …` first")
    return Paper(**found)


def _authors(nodes: _Nodes, name: str, node: yaml.Node) -> str:
    if isinstance(node, yaml.SequenceNode):
        return ", ".join(_texts(nodes, name, node))
    return nodes.text(name, node)


def _year(nodes: _Nodes, name: str, node: yaml.Node) -> int:
    text = nodes.text(name, node)
    if not _YEAR.fullmatch(text):
        raise _FrontError(node, f"`{text}` is not a year", "write four digits, such as `2017`")
    return int(text)


def _url(nodes: _Nodes, name: str, node: yaml.Node) -> str:
    text = nodes.text(name, node)
    if not _WEB.fullmatch(text):
        raise _FrontError(node, f"`{text}` is not a web address", "begin it with `https://`")
    return text


def _redirects(nodes: _Nodes, name: str, node: yaml.Node) -> tuple[str, ...]:
    return tuple(text for _, text in nodes.each(nodes.items(name, node, single=True), _redirect))


def _redirect(nodes: _Nodes, name: str, node: yaml.Node) -> str:
    """An old address of the page. A redirecting page is written there, so it must lie inside the site."""
    text = nodes.text(name, node).removeprefix("/")
    folders = text.split("/")[:-1]
    if "" in folders or not {".", ".."}.isdisjoint(text.split("/")) or _NOT_IN_URL.search(text):
        hint = "write it from the root of the site, such as `old/page.html`"
        raise _FrontError(node, f"`{text}` is not an address inside the site", hint)
    return text


def _key(name: str, depth: int = 1) -> str:
    """The name without its first parts: `d_k` of `symbols.d_k`, `year` of `papers.0.year`."""
    return name.split(".", depth)[depth]


_KEYS: dict[str, _Reader[Any]] = {
    "title": _text,
    "summary": _text,
    "papers": _papers,
    "symbols": _symbols,
    "macros": _macros,
    "order": _texts,
    "redirect_from": _redirects,
}
"""What may stand in front matter, and what reads it. The names are those of `FrontMatter`."""
