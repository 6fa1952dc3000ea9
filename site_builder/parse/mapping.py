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

from collections.abc import Sequence
from typing import Any

import yaml

from site_builder.errors import Diagnostic
from site_builder.lazy import regex
from site_builder.model import FrontMatter, Paper, Prose, ProseLine
from site_builder.parse.values import FrontError, Nodes, Reader

_IDENTIFIER = regex(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_MACRO = regex(r"\\(?:[a-zA-Z@]+|[^a-zA-Z\s])")
_YEAR = regex(r"[0-9]{4}")
_WEB = regex(r"https?://\S+")
_BEYOND = regex(r"\\U(?!000|0010)[0-9a-fA-F]{8}")
_NOT_IN_URL = regex(r"[:\\?#\x00-\x1f]")


def read(lines: Sequence[ProseLine]) -> tuple[FrontMatter, tuple[Diagnostic, ...]]:
    """What the lines between the fences say, and what is wrong with them."""
    report: list[Diagnostic] = []
    nodes = Nodes(Prose(tuple(lines)), report)
    return _front(nodes, "\n".join(line.text for line in lines)), tuple(sorted(report))


def _compose(nodes: Nodes, text: str) -> yaml.Node | None:
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


def _front(nodes: Nodes, text: str) -> FrontMatter:
    root = _compose(nodes, text)
    if root is None:
        return FrontMatter()
    if not isinstance(root, yaml.MappingNode):
        message = "the front matter must be made of keys and values"
        nodes.tell(root.start_mark.index, "front-syntax", message, "write each on its line, as `key: value`")
        return FrontMatter()
    values = dict(nodes.each(nodes.pairs("", root, tuple(_KEYS)), _value))
    return FrontMatter(**values, positions=tuple(nodes.positions.items()))


def _value(nodes: Nodes, name: str, node: yaml.Node) -> Any:
    return _KEYS[name](nodes, name, node)


def _text(nodes: Nodes, name: str, node: yaml.Node) -> str:
    nodes.note(name, node)
    return nodes.text(name, node)


def _texts(nodes: Nodes, name: str, node: yaml.Node) -> tuple[str, ...]:
    return tuple(text for _, text in nodes.each(nodes.items(name, node), _text))


def _symbols(nodes: Nodes, name: str, node: yaml.Node) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple(
        (_key(part), names) for part, names in nodes.each(nodes.pairs(name, node), _identifiers) if names
    )


def _identifiers(nodes: Nodes, name: str, node: yaml.Node) -> tuple[str, ...]:
    return tuple(text for _, text in nodes.each(nodes.items(name, node, single=True), _identifier))


def _identifier(nodes: Nodes, name: str, node: yaml.Node) -> str:
    text = nodes.text(name, node)
    if not _IDENTIFIER.fullmatch(text):
        raise FrontError(
            node, f"`{text}` is not an identifier", "name a variable, such as `query` or `self.query`"
        )
    return text


def _macros(nodes: Nodes, name: str, node: yaml.Node) -> tuple[tuple[str, str], ...]:
    return tuple((_key(part), text) for part, text in nodes.each(nodes.pairs(name, node), _macro))


def _macro(nodes: Nodes, name: str, node: yaml.Node) -> str:
    macro = _key(name)
    if not _MACRO.fullmatch(macro):
        raise FrontError(
            node, f"`{macro}` is not the name of a macro", r"write a backslash and letters, such as `\R`"
        )
    return nodes.text(name, node)


def _papers(nodes: Nodes, name: str, node: yaml.Node) -> tuple[Paper, ...]:
    return tuple(paper for _, paper in nodes.each(nodes.items(name, node), _paper))


def _paper(nodes: Nodes, name: str, node: yaml.Node) -> Paper:
    read = {"title": _text, "authors": _authors, "year": _year, "url": _url}
    parts = nodes.pairs(name, node, tuple(read))
    found: dict[str, Any] = {
        _key(part, 2): value
        for part, value in nodes.each(parts, lambda *place: read[_key(place[1], 2)](*place))
    }
    if "title" not in found:
        raise FrontError(node, "a paper needs a title", "write `title: …` first")
    return Paper(**found)


def _authors(nodes: Nodes, name: str, node: yaml.Node) -> str:
    if isinstance(node, yaml.SequenceNode):
        return ", ".join(_texts(nodes, name, node))
    return nodes.text(name, node)


def _year(nodes: Nodes, name: str, node: yaml.Node) -> int:
    text = nodes.text(name, node)
    if not _YEAR.fullmatch(text):
        raise FrontError(node, f"`{text}` is not a year", "write four digits, such as `2017`")
    return int(text)


def _url(nodes: Nodes, name: str, node: yaml.Node) -> str:
    text = nodes.text(name, node)
    if not _WEB.fullmatch(text):
        raise FrontError(node, f"`{text}` is not a web address", "begin it with `https://`")
    return text


def _redirects(nodes: Nodes, name: str, node: yaml.Node) -> tuple[str, ...]:
    return tuple(text for _, text in nodes.each(nodes.items(name, node, single=True), _redirect))


def _redirect(nodes: Nodes, name: str, node: yaml.Node) -> str:
    """An old address of the page. A redirecting page is written there, so it must lie inside the site."""
    text = nodes.text(name, node).removeprefix("/")
    folders = text.split("/")[:-1]
    if "" in folders or not {".", ".."}.isdisjoint(text.split("/")) or _NOT_IN_URL.search(text):
        hint = "write it from the root of the site, such as `old/page.html`"
        raise FrontError(node, f"`{text}` is not an address inside the site", hint)
    return text


def _key(name: str, depth: int = 1) -> str:
    """The name without its first parts: `d_k` of `symbols.d_k`, `year` of `papers.0.year`."""
    return name.split(".", depth)[depth]


_KEYS: dict[str, Reader[Any]] = {
    "title": _text,
    "summary": _text,
    "papers": _papers,
    "symbols": _symbols,
    "macros": _macros,
    "order": _texts,
    "redirect_from": _redirects,
}
"""What may stand in front matter, and what reads it. The names are those of `FrontMatter`."""
