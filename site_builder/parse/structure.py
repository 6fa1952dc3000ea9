"""
---
title: What the syntax tree tells
summary: Definitions, docstrings and strings, found in one walk that never recurses.
---
# What the syntax tree tells

Everything that cutting a file needs from its syntax tree is gathered here in one pass. The walk keeps its own
stack, because an `elif` chain of three thousand branches is a tree three thousand levels deep. A node that
fits on one line cannot hold anything of interest, so most of the tree is never visited.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from site_builder.lazy import regex
from site_builder.model import Kind
from site_builder.parse.nodes import children
from site_builder.parse.text import Extent, indentation

DefinitionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

_STRINGS: tuple[type[ast.expr], ...] = tuple(
    getattr(ast, name) for name in ("Constant", "JoinedStr", "TemplateStr") if hasattr(ast, name)
)
_HEAD = regex(r"(?:async[ \t\f]+)?(?:def|class)[ \t\f]+")


@dataclass(slots=True, eq=False, repr=False)
class Opening:
    """A class or function: where it starts (its first decorator), where its name stands, where it ends."""

    node: DefinitionNode
    name: str
    kind: Kind
    start: int
    line: int
    indent: int
    end: int
    parent: Opening | None


class Structure:
    """What one walk over the tree found. All but the strings are in source order."""

    def __init__(self) -> None:
        self.openings: list[Opening] = []
        self.strings: list[Extent] = []
        """Strings over several lines; one that Python joins from several literals is one."""
        self.statements: dict[int, ast.stmt] = {}
        """The outermost statement that starts on a line."""
        self.continued: set[int] = set()
        """Lines inside a statement or header that began on an earlier line."""
        self.names: dict[str, tuple[int, int]] = {}
        """Names assigned at module level, and where first."""


def character(line: str, offset: int) -> int:
    """The column in characters of a column that `ast` counts in UTF-8 bytes."""
    return offset if line.isascii() else len(line.encode("utf-8")[:offset].decode("utf-8", "ignore"))


def extent(node: ast.expr | ast.stmt, lines: Sequence[str]) -> Extent:
    """Where an expression or a statement stands."""
    last = node.end_lineno or node.lineno
    start = character(lines[node.lineno - 1], node.col_offset)
    return Extent(node.lineno, start, last, character(lines[last - 1], node.end_col_offset or 0))


def survey(tree: ast.Module, lines: Sequence[str]) -> Structure:
    """Walk over the tree of a module."""
    found = Structure()
    stack: list[tuple[ast.AST, Opening | None]] = [(node, None) for node in reversed(tree.body)]
    while stack:
        node, owner = stack.pop()
        if isinstance(node, ast.stmt):
            node_start = node.lineno
            if isinstance(node, DefinitionNode):
                owner = _opening(node, owner, lines)
                found.openings.append(owner)
                node_start = owner.start
            elif owner is None:
                _names(node, lines, found.names)
            found.statements.setdefault(node_start, node)
            if node.end_lineno != node_start:
                _continue(node, node_start, found.continued)
        first = getattr(node, "lineno", None)
        if first is not None:
            last = node.end_lineno  # type: ignore[attr-defined]
            if first == last and not (isinstance(node, ast.stmt) and hasattr(node, "body")):
                continue
            if isinstance(node, _STRINGS):
                found.strings.append(extent(node, lines))
                continue
        for child in reversed(children(node)):
            if not isinstance(child, ast.expr) or child.lineno != child.end_lineno:
                stack.append((child, owner))
    return found


def _opening(node: DefinitionNode, owner: Opening | None, lines: Sequence[str]) -> Opening:
    if isinstance(node, ast.ClassDef):
        kind = Kind.CLASS
    elif owner is not None and owner.kind is Kind.CLASS:
        kind = Kind.METHOD
    else:
        kind = Kind.FUNCTION
    start = node.lineno
    if node.decorator_list:
        start = node.decorator_list[0].lineno
        # In `@(`, newline, `decorator)` the expression starts below its sign.
        while start > 1 and not lines[start - 1].startswith("@", indentation(lines[start - 1])):
            start -= 1
    name = f"{owner.name}.{node.name}" if owner else node.name
    indent = character(lines[node.lineno - 1], node.col_offset)
    return Opening(node, name, kind, start, node.lineno, indent, node.end_lineno or node.lineno, owner)


def name_column(opening: Opening, lines: Sequence[str]) -> int:
    """The column, from one, at which the name of a definition stands."""
    head = _HEAD.match(lines[opening.line - 1], opening.indent)
    return (head.end() if head else opening.indent) + 1


def body_start(node: ast.AST) -> int:
    """The line on which the body of a statement or `except` clause begins; nought without a body."""
    body = node.cases if isinstance(node, ast.Match) else getattr(node, "body", None)
    if not isinstance(body, list) or not body:
        return 0
    first = body[0]
    if isinstance(first, ast.match_case):
        return first.pattern.lineno
    if isinstance(first, DefinitionNode) and first.decorator_list:
        return first.decorator_list[0].lineno
    return int(first.lineno)


def _continue(node: ast.stmt, start: int, continued: set[int]) -> None:
    """Note the lines on which a statement, or the header of one with a body, goes on."""
    heads = [(start, node), *((handler.lineno, handler) for handler in getattr(node, "handlers", ()))]
    for line, head in heads:
        inner = body_start(head)
        continued.update(range(line + 1, inner if inner else (node.end_lineno or line) + 1))
    if isinstance(node, ast.Match):
        for case in node.cases:
            continued.update(range(case.pattern.lineno + 1, body_start(case)))


def _names(node: ast.stmt, lines: Sequence[str], names: dict[str, tuple[int, int]]) -> None:
    """Note the names that a module-level statement assigns."""
    if isinstance(node, ast.Assign):
        targets: list[ast.expr] = list(node.targets)
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign)):
        targets = [node.target]
    elif isinstance(name := getattr(node, "name", None), ast.Name):  # `type X = …`
        targets = [name]
    else:
        return
    targets.reverse()
    while targets:
        target = targets.pop()
        if isinstance(target, ast.Name):
            place = target.lineno, character(lines[target.lineno - 1], target.col_offset) + 1
            names.setdefault(target.id, place)
        elif isinstance(target, (ast.Tuple, ast.List)):
            targets.extend(reversed(target.elts))
        elif isinstance(target, ast.Starred):
            targets.append(target.value)
