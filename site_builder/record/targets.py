"""
---
title: What a statement writes
summary: The names that it gives values to, and how to find them in a frame.
---
# What a statement writes

Names come from the syntax tree, values later from the frame. So each `Target` carries the way from a local
variable to the value, with private names as Python mangles them. What a statement may leave unwritten, such as a
walrus behind `and`, says so: the value that stands there could be an older one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

BODY, ELSE, FINALLY = 0, -1, -2
"""Parts of a statement. Handlers count from 1 and cases from 0."""


@dataclass(frozen=True, slots=True)
class Target:
    """
    Something that a statement writes: its name as it reads, and how to come to it from a frame. With a `part`, it
    is written only when that part of the statement is gone into; `maybe`, only if an expression comes to it.
    """

    name: str
    path: tuple[str, ...]
    part: int | None = None
    maybe: bool = False


def targets(node: ast.stmt, owner: str) -> Iterator[Target]:
    """What the statement itself writes, not what the statements in it do."""
    part: int | None = None
    written: Sequence[ast.expr] = ()
    if isinstance(node, ast.Assign):
        written = node.targets
    elif isinstance(node, ast.AugAssign) or (isinstance(node, ast.AnnAssign) and node.value is not None):
        written = [node.target]
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        written, part = [node.target], BODY
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        written, part = [item.optional_vars for item in node.items if item.optional_vars], BODY
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return
    for target in written:
        yield from _names(target, part, owner)
    for number, handler in enumerate(getattr(node, "handlers", ()), 1):
        if handler.name:
            yield Target(handler.name, (_mangled(handler.name, owner),), number)
    if isinstance(node, ast.Match):
        for number, case in enumerate(node.cases):
            for pattern in ast.walk(case.pattern):
                name = getattr(pattern, "rest" if isinstance(pattern, ast.MatchMapping) else "name", None)
                if isinstance(name, str):
                    yield Target(name, (_mangled(name, owner),), number)
    for walrus, maybe in _walruses(node):
        yield Target(walrus.target.id, (_mangled(walrus.target.id, owner),), maybe=maybe)


def _names(target: ast.expr, part: int | None, owner: str) -> Iterator[Target]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for element in target.elts:
            yield from _names(element, part, owner)
        return
    if isinstance(target, ast.Starred):
        yield from _names(target.value, part, owner)
        return
    # What is written into is the object before the brackets.
    while isinstance(target, ast.Subscript):
        target = target.value
    parts: list[str] = []
    while isinstance(target, ast.Attribute):
        parts.append(target.attr)
        target = target.value
    if isinstance(target, ast.Name):
        parts.append(target.id)
        parts.reverse()
        yield Target(".".join(parts), tuple(_mangled(name, owner) for name in parts), part)


def _mangled(name: str, owner: str) -> str:
    owner = owner.lstrip("_")
    return f"_{owner}{name}" if owner and name.startswith("__") and not name.endswith("__") else name


def _walruses(node: ast.stmt) -> Iterator[tuple[ast.NamedExpr, bool]]:
    """With whether the statement may end without coming to it."""
    waiting: list[tuple[ast.AST, bool]] = [(node, False)]
    while waiting:
        parent, maybe = waiting.pop()
        sure = _evaluated(parent)
        for child in ast.iter_child_nodes(parent):
            if isinstance(child, (ast.stmt, ast.Lambda)):
                continue
            reached = maybe or (sure is not None and child is not sure)
            if isinstance(child, ast.NamedExpr):
                yield child, reached
            waiting.append((child, reached))


def _evaluated(node: ast.AST) -> ast.AST | None:
    """Of an expression that need not evaluate all of its parts, the one that it does. `None` for any other."""
    if isinstance(node, ast.BoolOp):
        return node.values[0]
    if isinstance(node, (ast.IfExp, ast.Assert)):
        return node.test
    if isinstance(node, ast.Compare) and len(node.ops) > 1:
        return node.left
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        return node.generators[0]
    if isinstance(node, ast.comprehension):
        return node.iter
    if isinstance(node, (ast.ExceptHandler, ast.match_case)):
        return node
    return None
