"""
---
title: The axes of a claim
summary: Names, numbers and their arithmetic, read by Python's own parser, and what they say of a size.
---
# The axes of a claim

An axis is an expression of names and whole numbers. Held against the size that was recorded, it is true or
false once all its names have numbers. With one name left, the size says which number that is:

>>> axis = read_axes("heads * d_k")[0]
>>> axis.solved(15, {"heads": 3})
{'d_k': 5}
>>> axis.solved(16, {"heads": 3}) is None
True
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import product
from typing import NamedTuple

_OPERATIONS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}
_TRIED_AT_MOST = 20_000
"""Numbers, or pairs of them, that are tried where an equation cannot be solved at once."""


class AxisError(ValueError):
    """What is wrong with the text between the brackets."""


class Axis(NamedTuple):
    """One axis as it was typed: `...`, a number, a name, arithmetic, or a choice of these: `seq_len or 1`."""

    text: str

    @property
    def is_ellipsis(self) -> bool:
        return self.text == "..."

    @property
    def names(self) -> frozenset[str]:
        return _names(self.text)

    @property
    def choices(self) -> tuple[Axis, ...]:
        """What it can be: several where there is an `or`."""
        return _choices(self.text)

    def value(self, known: Mapping[str, int]) -> int | None:
        """Its size, where every name in it has a number and nothing is divided by zero. A choice has none."""
        try:
            return None if len(self.choices) > 1 else _evaluated(_tree(self.text), known)
        except (KeyError, ZeroDivisionError):
            return None

    def solved(self, size: int, known: Mapping[str, int]) -> dict[str, int] | None:
        """
        The numbers that this size gives to names without one: none of them if several names are left. `None` if
        no numbers make it true.
        """
        missing = sorted(self.names - known.keys())
        if not missing:
            return {} if self.value(known) == size else None
        if len(missing) > 1:
            return {} if self._possible(size, known, missing) else None
        name = missing[0]
        if self._linear(name):
            at_zero = self.value({**known, name: 0})
            at_one = self.value({**known, name: 1})
            if at_zero is None or at_one is None:
                return None
            if at_one == at_zero:
                return {} if at_zero == size else None
            number, rest = divmod(size - at_zero, at_one - at_zero)
            return {name: number} if rest == 0 and number >= 0 else None
        found = [number for number in self._tried(size) if self.value({**known, name: number}) == size]
        return None if not found else {name: found[0]} if len(found) == 1 else {}

    def _linear(self, name: str) -> bool:
        """Whether the name occurs once and is not divided."""
        nodes = list(ast.walk(_tree(self.text)))
        once = sum(isinstance(node, ast.Name) and node.id == name for node in nodes) == 1
        return once and not any(isinstance(node, ast.FloorDiv) for node in nodes)

    def _possible(self, size: int, known: Mapping[str, int], missing: list[str]) -> bool:
        """Whether some numbers for the names give the size; benefit of the doubt where that is long to find out."""
        name, other = missing[0], missing[-1]
        tries = len(self._tried(size)) * (1 if self._linear(other) else len(self._tried(size)))
        if len(missing) > 2 or tries > _TRIED_AT_MOST:
            return True
        return any(self.solved(size, {**known, name: number}) is not None for number in self._tried(size))

    def _tried(self, size: int) -> range:
        numbers = sum(node.value for node in ast.walk(_tree(self.text)) if isinstance(node, ast.Constant))  # type: ignore[misc]
        return range(min((size + 1) * (int(numbers) + 1) + 1, _TRIED_AT_MOST))


@cache
def _tree(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


@cache
def _choices(text: str) -> tuple[Axis, ...]:
    tree = _tree(text)
    return (
        tuple(Axis(ast.unparse(part)) for part in tree.values)
        if isinstance(tree, ast.BoolOp)
        else (Axis(text),)
    )


@cache
def _names(text: str) -> frozenset[str]:
    return frozenset(node.id for node in ast.walk(_tree(text)) if isinstance(node, ast.Name))


def variants(axes: tuple[Axis, ...]) -> Iterator[tuple[Axis, ...]]:
    """
    The same without any `or`: what is typed first comes first.

    >>> [[axis.text for axis in one] for one in variants(read_axes("seq_len or 1, 3"))]
    [['seq_len', '3'], ['1', '3']]
    """
    return product(*(axis.choices for axis in axes))


def read_axes(text: str) -> tuple[Axis, ...]:
    """
    What stands between the brackets.

    >>> [axis.text for axis in read_axes("..., 2*s - 1, 1")]
    ['...', '2 * s - 1', '1']
    >>> read_axes("seq_len, -1")
    Traceback (most recent call last):
        ...
    site_builder.claims.axes.AxisError: an axis is a name, a number, or sums and products of them, not '-1'
    """
    try:
        tree = ast.parse(f"[{text}]", mode="eval").body
        axes = tuple(_axis(node) for node in tree.elts) if isinstance(tree, ast.List) else None
    except AxisError:
        raise
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise AxisError("its brackets hold no list of axes") from error
    if axes is None:
        raise AxisError("its brackets hold no list of axes")
    if sum(axis.is_ellipsis for axis in axes) > 1:
        raise AxisError("only one ... can stand for any number of axes")
    return axes


def _axis(node: ast.expr) -> Axis:
    if isinstance(node, ast.Constant) and node.value is Ellipsis:
        return Axis("...")
    typed = ast.unparse(node)
    parts = node.values if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or) else [node]
    if not all(map(_sound, parts)):
        raise AxisError(f"an axis is a name, a number, or sums and products of them, not {typed!r}")
    return Axis(typed)


def _sound(node: ast.expr) -> bool:
    match node:
        case ast.Name():
            return True
        case ast.Constant(value=value):
            return type(value) is int
        case ast.BinOp(left=left, op=op, right=right):
            return type(op) in _OPERATIONS and _sound(left) and _sound(right)
    return False


def _evaluated(node: ast.expr, known: Mapping[str, int]) -> int:
    match node:
        case ast.Name(id=name):
            return known[name]
        case ast.Constant(value=int(value)):
            return value
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATIONS[type(op)](_evaluated(left, known), _evaluated(right, known))
    raise TypeError(ast.dump(node))
