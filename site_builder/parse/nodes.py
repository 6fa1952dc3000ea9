"""
---
title: Nodes
summary: Small questions that are put to the syntax tree.
---
# Nodes

Several passes walk the same tree and ask the same things of it: what a chain of attributes hangs on, which
arguments a function has, which parts of a node can hold names. The answers stand here once. They keep no state and
report no faults.
"""

from __future__ import annotations

import ast

Function = ast.FunctionDef | ast.AsyncFunctionDef


_NEVER = frozenset("arg attr conversion ctx id kind level op ops simple type_comment".split())
"""Fields that hold words, numbers and operators, whatever the node."""
_FIELDS = {
    kind: tuple(name for name in kind._fields if name not in _NEVER)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}


def children(node: ast.AST) -> list[ast.AST]:
    """The parts of a node that can hold names, in the order of the source. Operators cannot."""
    found: list[ast.AST] = []
    for name in _FIELDS[type(node)]:
        part = getattr(node, name, None)
        if isinstance(part, ast.AST):
            found.append(part)
        elif part and isinstance(part, list):
            found += [item for item in part if isinstance(item, ast.AST)]
    return found


def chain(node: ast.expr) -> tuple[list[ast.Attribute], ast.expr]:
    """`a.b.c` as its members `.b`, `.c` and what they are asked of, `a`."""
    members: list[ast.Attribute] = []
    while isinstance(node, ast.Attribute):
        members.append(node)
        node = node.value
    members.reverse()
    return members, node


def wraps(value: ast.expr, target: ast.expr) -> bool:
    """Whether an assignment is like `f = cache(f)`."""
    if not isinstance(target, ast.Name) or not isinstance(value, ast.Call):
        return False
    return any(isinstance(argument, ast.Name) and argument.id == target.id for argument in value.args)


def is_static(node: Function) -> bool:
    return any(isinstance(item, ast.Name) and item.id == "staticmethod" for item in node.decorator_list)


def arguments_of(node: ast.arguments) -> list[ast.arg]:
    star = [argument for argument in (node.vararg, node.kwarg) if argument]
    return [*node.posonlyargs, *node.args, *node.kwonlyargs, *star]


def annotations_of(node: Function) -> list[ast.expr]:
    found = [argument.annotation for argument in arguments_of(node.args)]
    return [annotation for annotation in [*found, node.returns] if annotation]


def defaults_of(node: ast.arguments) -> list[ast.expr]:
    return [*node.defaults, *(default for default in node.kw_defaults if default)]
