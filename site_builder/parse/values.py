"""
---
title: Values of front matter
summary: Text, keys with their values, lists, each with its place; and what is told of those that are none.
---
# Values of front matter

What is wanted of a key is for [its reader](mapping.html) to say. Here stands how a reader gets at what was typed. It
raises `FrontError` for a value that cannot be taken, and that value alone is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

import yaml

from site_builder.errors import Diagnostic
from site_builder.likeness import nearest
from site_builder.model import Position, Prose

_NOTHING = ("", "~", "null", "Null", "NULL")

_T = TypeVar("_T")
_Co = TypeVar("_Co", covariant=True)


class FrontError(Exception):
    """A value that cannot be taken. Whoever can do without the value reports it and goes on."""

    def __init__(self, node: yaml.Node, message: str, hint: str):
        super().__init__(message)
        self.node = node
        self.message = message
        self.hint = hint


class Reader(Protocol[_Co]):
    """Makes a value of a node, or raises `FrontError`. `name` is its place, such as `papers.0.year`."""

    def __call__(self, nodes: Nodes, name: str, node: yaml.Node, /) -> _Co: ...


class Nodes:
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

    def each(self, pairs: Iterable[tuple[str, yaml.Node]], read: Reader[_T]) -> Iterator[tuple[str, _T]]:
        """Every one that can be read; the others are told and left out."""
        for name, node in pairs:
            try:
                yield name, read(self, name, node)
            except FrontError as fault:
                self.tell(fault.node.start_mark.index, "front-value", fault.message, fault.hint)

    def note(self, name: str, node: yaml.Node) -> None:
        quoted = isinstance(node, yaml.ScalarNode) and node.style in ("'", '"')
        self.positions[name] = self.place(node.start_mark.index + quoted)

    def text(self, name: str, node: yaml.Node) -> str:
        """A scalar as it was typed, on one line."""
        key = name.rpartition(".")[2]
        if not isinstance(node, yaml.ScalarNode):
            raise FrontError(node, f"`{key}` must be text", f'write `{key}: "…"`, in quotes')
        value = str(node.value)
        if not value.strip() or (node.style is None and value in _NOTHING):
            raise FrontError(node, f"`{key}` is empty", "write its value, or remove it")
        if not value.isprintable() and any("\ud800" <= character <= "\udfff" for character in value):
            raise FrontError(
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
            raise FrontError(
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
            raise FrontError(node, f"`{name}` must be a list", "write each item on its line, after `- `")
        for index, child in enumerate(children):
            self.note(f"{name}.{index}", child)
            yield f"{name}.{index}", child


def _owner(name: str) -> str:
    return "a paper" if name.startswith("papers.") else f"`{name}`" if name else "the front matter"
