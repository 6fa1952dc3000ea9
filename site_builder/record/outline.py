"""
---
title: The statements of a module
summary: Which statements there are, what each writes, and where examples stand.
---
# The statements of a module

What is found out from the source alone: by the builder, to say which line a record speaks of, and by the process
that runs the examples, to know what to look at. Both see the same tree, so they count alike.
"""

from __future__ import annotations

import ast
import doctest
import re
import warnings
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from site_builder import parse
from site_builder.model import Page
from site_builder.record.model import MODULE
from site_builder.record.targets import BODY, ELSE, FINALLY, Target, targets

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LOOPS = (ast.For, ast.AsyncFor, ast.While)


@dataclass(frozen=True, slots=True)
class Line:
    """One statement. `parent` and `scope` are the ordinals of the statement and the definition it lies in."""

    node: ast.stmt
    parent: int
    part: int
    scope: int
    start: tuple[int, int]
    end: tuple[int, int]
    targets: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class Docstring:
    """A docstring with examples. `line` is that of its first character; `fault` where doctest cannot read it."""

    owner: int
    scope: str
    line: int
    end: int
    examples: tuple[doctest.Example, ...]
    fault: str = ""

    @property
    def fault_line(self) -> int:
        """The line that doctest complains of."""
        told = re.search(r"line (\d+) of the docstring", self.fault)
        return min(self.line + int(told[1]) - 1, self.end) if told else self.line

    def line_of(self, number: int) -> int:
        """The line of the file on which an example begins."""
        if number >= len(self.examples):
            return self.line
        return min(self.line + self.examples[number].lineno, self.end)


@dataclass(frozen=True)
class Outline:
    """
    >>> outline = Outline.of(b"def f(x):\\n    'f'\\n    y, self.z = x\\n    return y\\n")
    >>> [type(line.node).__name__ for line in outline.lines]
    ['FunctionDef', 'Assign', 'Return']
    >>> [target.name for target in outline.lines[1].targets]
    ['y', 'self.z']
    """

    lines: tuple[Line, ...]
    names: dict[int, str]
    """The dotted names of definitions by ordinal."""
    docstrings: tuple[Docstring, ...] = ()
    _starts: list[tuple[tuple[int, int], int]] = field(default_factory=list, repr=False)
    _rows: list[bytes] = field(default_factory=list, repr=False)

    @staticmethod
    def of(data: bytes) -> Outline:
        """Raises `SyntaxError` or `ValueError` for what Python cannot read."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(data)
        return _Survey(tree).outline(data.splitlines())

    @cached_property
    def definitions(self) -> dict[tuple[int, str], int]:
        """The ordinal of a definition by what its code object knows: its first line and its name."""
        return {
            (line.start[0], line.node.name): ordinal
            for ordinal, line in enumerate(self.lines)
            if isinstance(line.node, _DEFINITIONS)
        }

    def locate(self, line: int, column: int) -> int:
        """The ordinal of the innermost statement around a place (a column in bytes), or `MODULE`."""
        place = bisect_right(self._starts, ((line, column), len(self.lines))) - 1
        ordinal = self._starts[place][1] if place >= 0 else MODULE
        while ordinal != MODULE and not self.lines[ordinal].start <= (line, column) < self.lines[ordinal].end:
            ordinal = self.lines[ordinal].parent
        return ordinal

    def part_of(self, ordinal: int, statement: int) -> int | None:
        """The part of `statement` that `ordinal` lies in, if any."""
        while ordinal >= 0:
            line = self.lines[ordinal]
            if line.parent == statement:
                return line.part
            ordinal = line.parent
        return None

    def is_method(self, ordinal: int) -> bool:
        scope = self.lines[ordinal].scope if ordinal != MODULE else MODULE
        return scope != MODULE and isinstance(self.lines[scope].node, ast.ClassDef)

    def in_function(self, ordinal: int) -> bool:
        """Whether it is run by calls."""
        scope = self.lines[ordinal].scope
        while scope != MODULE:
            if isinstance(self.lines[scope].node, FUNCTIONS):
                return True
            scope = self.lines[scope].scope
        return False

    def loops(self, ordinal: int) -> tuple[int, ...]:
        """The loops that a statement is run again by, the outermost first. What a `for` writes is in that loop."""
        line = self.lines[ordinal]
        found = [ordinal] if isinstance(line.node, LOOPS) else []
        while line.parent not in (MODULE, line.scope):
            part, parent = line.part, line.parent
            line = self.lines[parent]
            if isinstance(line.node, LOOPS) and part == BODY:
                found.append(parent)
        return tuple(reversed(found))

    def head(self, ordinal: int) -> tuple[int, int]:
        """
        The first and the last line of a statement, of a compound one without the statements in it and without the
        comments before these. Decorators are part of it.
        """
        line = self.lines[ordinal]
        node = line.node
        first, last = line.start[0], line.end[0]
        inner = getattr(node, "body", None) or [case.pattern for case in getattr(node, "cases", ())]
        if inner:
            begins = _start(inner[0])[0] if isinstance(inner[0], ast.stmt) else inner[0].lineno
            last = max(begins - 1, node.lineno)
            while last > node.lineno and self._rows[last - 1].strip()[:1] in (b"", b"#"):
                last -= 1
        return first, last

    def returns(self, scope: int) -> tuple[int, ...]:
        """The `return` statements of a function."""
        return self._by_scope.get((scope, ast.Return), ())

    def inside(self, scope: int) -> tuple[int, ...]:
        """All statements of a function, a class or the module, but not those of definitions in it."""
        return self._by_scope.get((scope, ast.stmt), ())

    @cached_property
    def _by_scope(self) -> Mapping[tuple[int, type[ast.stmt]], tuple[int, ...]]:
        found: dict[tuple[int, type[ast.stmt]], list[int]] = {}
        for ordinal, line in enumerate(self.lines):
            found.setdefault((line.scope, ast.stmt), []).append(ordinal)
            if isinstance(line.node, ast.Return):
                found.setdefault((line.scope, ast.Return), []).append(ordinal)
        return {key: tuple(ordinals) for key, ordinals in found.items()}

    @cached_property
    def unsteady(self) -> frozenset[int]:
        """The statements, among them loops, in which something may end a round of a loop before its last statement."""
        found: set[int] = set()
        for ordinal, line in enumerate(self.lines):
            if isinstance(line.node, (ast.Continue, ast.Try, ast.TryStar)):
                while ordinal != MODULE and ordinal not in found:
                    found.add(ordinal)
                    ordinal = self.lines[ordinal].parent
        return frozenset(found)

    def docstring(self, owner: int) -> Docstring | None:
        return self._docstrings.get(owner)

    @cached_property
    def _docstrings(self) -> Mapping[int, Docstring]:
        return {found.owner: found for found in self.docstrings}


def outline_of(page: Page) -> Outline:
    """The outline of a page's own source, for whoever asks once more a little later."""
    return _outline(parse.encode(page))


@lru_cache(maxsize=8)
def _outline(data: bytes) -> Outline:
    return Outline.of(data)


class _Survey:
    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.inside: dict[ast.stmt, tuple[ast.stmt | None, int]] = {}
        for node in ast.walk(tree):
            if isinstance(node, (ast.stmt, ast.Module)):
                for part, child in _children(node):
                    self.inside[child] = (node if isinstance(node, ast.stmt) else None, part)
        self.order = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and node in self.inside]
        self.ordinals = {node: ordinal for ordinal, node in enumerate(self.order)}

    def outline(self, rows: list[bytes]) -> Outline:
        lines: list[Line] = []
        names: dict[int, str] = {}
        for ordinal, node in enumerate(self.order):
            parent, part = self.inside[node]
            scope = self.scope(node)
            owner = names[scope] if scope != MODULE else ""
            if isinstance(node, _DEFINITIONS):
                names[ordinal] = f"{owner}.{node.name}" if owner else node.name
            lines.append(
                Line(
                    node,
                    MODULE if parent is None else self.ordinals[parent],
                    part,
                    scope,
                    _start(node),
                    (node.end_lineno or node.lineno, node.end_col_offset or node.col_offset),
                    tuple(dict.fromkeys(targets(node, self.class_of(node)))),
                )
            )
        starts = sorted((line.start, ordinal) for ordinal, line in enumerate(lines))
        return Outline(tuple(lines), names, tuple(self.docstrings(names)), starts, rows)

    def scope(self, node: ast.stmt) -> int:
        parent = self.inside[node][0]
        while parent is not None and not isinstance(parent, _DEFINITIONS):
            parent = self.inside[parent][0]
        return MODULE if parent is None else self.ordinals[parent]

    def class_of(self, node: ast.stmt) -> str:
        """The class whose private names the statement may use."""
        parent = self.inside[node][0]
        while parent is not None and not isinstance(parent, ast.ClassDef):
            parent = self.inside[parent][0]
        return parent.name if parent else ""

    def docstrings(self, names: dict[int, str]) -> Iterator[Docstring]:
        """Those that doctest would find, in the order of the file: of the module, and of what is in no function."""
        found: list[Docstring] = []
        for node in (self.tree, *self.order):
            if not isinstance(node, (ast.Module, *_DEFINITIONS)):
                continue
            text = _docstring(node)
            if text is None or ">>>" not in text.value.value:  # type: ignore[attr-defined]
                continue
            owner = MODULE if isinstance(node, ast.Module) else self.ordinals[node]
            if owner != MODULE and self.within_function(self.order[owner]):
                continue
            value: str = text.value.value  # type: ignore[attr-defined]
            place = (owner, names.get(owner, ""), text.lineno, text.end_lineno or text.lineno)
            try:
                examples = tuple(doctest.DocTestParser().get_examples(value, names.get(owner, "the module")))
            except ValueError as error:
                found.append(Docstring(*place, (), str(error)))
                continue
            if examples:
                found.append(Docstring(*place, examples))
        return iter(sorted(found, key=lambda docstring: docstring.line))

    def within_function(self, node: ast.stmt) -> bool:
        parent = self.inside[node][0]
        while parent is not None:
            if isinstance(parent, FUNCTIONS):
                return True
            parent = self.inside[parent][0]
        return False


def _start(node: ast.stmt) -> tuple[int, int]:
    """A definition begins with its decorators, at their `@`."""
    if isinstance(node, _DEFINITIONS) and node.decorator_list:
        first = node.decorator_list[0]
        return min((first.lineno, 0), (node.lineno, node.col_offset))
    return node.lineno, node.col_offset


def _docstring(node: ast.Module | Definition) -> ast.Expr | None:
    first = node.body[0] if node.body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        return first if isinstance(first.value.value, str) else None
    return None


def _children(node: ast.stmt | ast.Module) -> Iterator[tuple[int, ast.stmt]]:
    """The statements in a statement, docstrings left out, with the part of it that each lies in."""
    skipped = _docstring(node) if isinstance(node, (ast.Module, *_DEFINITIONS)) else None
    for child in getattr(node, "body", ()):
        if child is not skipped:
            yield BODY, child
    for number, handler in enumerate(getattr(node, "handlers", ()), 1):
        yield from ((number, child) for child in handler.body)
    for number, case in enumerate(getattr(node, "cases", ())):
        yield from ((number, child) for child in case.body)
    yield from ((ELSE, child) for child in getattr(node, "orelse", ()))
    yield from ((FINALLY, child) for child in getattr(node, "finalbody", ()))
