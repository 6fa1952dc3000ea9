"""
---
title: How much is claimed
summary: Tensors that go in and out without a claim, and the share of tensor assignments that have one.
---
# How much is claimed

What a reader can rely on is not only how many claims are true, but how much they leave open.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from site_builder.claims import reading, subjects
from site_builder.claims.judging import shape_of
from site_builder.claims.model import RETURN
from site_builder.claims.subjects import Topics
from site_builder.model import Page
from site_builder.record.model import MODULE, Function, Record, Value
from site_builder.record.outline import FUNCTIONS, Outline, outline_of

_TENSORS = ("Tensor", "ndarray", "Parameter")


@dataclass(frozen=True)
class Coverage:
    """
    `missing` are arguments and results of public functions that hold tensors, by annotation or in an example, and that
    no claim speaks of: `MultiHeadAttention.forward: mask`. Of the `assignments` that gave a tensor to a name, claims
    speak of `claimed`.
    """

    missing: tuple[str, ...] = ()
    claimed: int = 0
    assignments: int = 0


def coverage(page: Page, record: Record | None) -> Coverage:
    """What the claims of a page speak of. Only a record tells which assignments are of tensors."""
    try:
        outline = outline_of(page)
    except (SyntaxError, ValueError):
        return Coverage()
    found = reading.find(page, subjects.variables(outline))
    topics = subjects.assign(page, outline, found.claims)
    known = record or Record(page.source.module)
    places = [
        (statement.ordinal, write.name)
        for statement in known.statements
        if statement.in_function
        for write in statement.writes
        if any(map(_is_array, write.values))
    ]
    claimed = sum(name in topics.writes.get(ordinal, {}) for ordinal, name in places)
    return Coverage(tuple(_missing(outline, known, topics)), claimed, len(places))


def _missing(outline: Outline, record: Record, topics: Topics) -> Iterator[str]:
    functions = {function.ordinal: function for function in record.functions}
    for ordinal, name in outline.names.items():
        node = outline.lines[ordinal].node
        if not isinstance(node, FUNCTIONS) or not _is_public(outline, ordinal):
            continue
        given, returned = _tensors(functions.get(ordinal), node)
        entry = topics.entry.get(ordinal, {})
        yield from (f"{name}: {argument}" for argument in given if argument not in entry)
        if returned and not topics.results.get(ordinal):
            yield f"{name}: {RETURN}"


def _is_public(outline: Outline, ordinal: int) -> bool:
    """Not in a function, and neither it nor what it is in is called with an underscore; `__init__` is."""
    while ordinal != MODULE:
        node = outline.lines[ordinal].node
        name = getattr(node, "name", "")
        if name.startswith("_") and not (name.startswith("__") and name.endswith("__")):
            return False
        ordinal = outline.lines[ordinal].scope
        if ordinal != MODULE and isinstance(outline.lines[ordinal].node, FUNCTIONS):
            return False
    return True


def _tensors(
    function: Function | None, node: ast.FunctionDef | ast.AsyncFunctionDef
) -> tuple[list[str], bool]:
    """The arguments that hold a tensor, and whether the result does."""
    given = node.args
    arguments = (*given.posonlyargs, *given.args, *given.kwonlyargs)
    found = [one.arg for one in arguments if _is_named(one.annotation)]
    returned = _is_named(node.returns)
    for call in function.calls if function else ():
        if not call.raised:
            found += [one.name for one in call.arguments if _is_array(one.value)]
            returned = returned or (call.result is not None and _is_array(call.result))
    return list(dict.fromkeys(found)), returned


def _is_named(annotation: ast.expr | None) -> bool:
    """Whether it says that this is a tensor, perhaps an absent one, or several values of which the first is."""
    match annotation:
        case None:
            return False
        case ast.Constant(value=str(text)):
            try:
                return _is_named(ast.parse(text, mode="eval").body)
            except SyntaxError:
                return False
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in _TENSORS
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _is_named(left) or _is_named(right)
        case ast.Subscript(value=value, slice=inner):
            kind = getattr(value, "attr", getattr(value, "id", ""))
            first = inner.elts[0] if isinstance(inner, ast.Tuple) and inner.elts else inner
            return _is_named(value) or (kind in ("tuple", "Tuple", "Optional") and _is_named(first))
    return False


def _is_array(value: Value) -> bool:
    return value.kind in ("tensor", "array") and shape_of(value) is not None
