"""
---
title: Anchors that stay
summary: A section is called after the code that it documents, so links survive an edit above it.
---
# Anchors that stay

`MultiHeadAttention.forward` is the section that opens the method; `MultiHeadAttention.forward:scores` is the
one in it whose first statement assigns `scores`. A statement that assigns nothing lends its keyword or the
name that it calls. What a comment *says* never matters: an anchor is the same before and after a rewording.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from site_builder.lazy import regex
from site_builder.model import Section

MODULE = "module"
"""What stands before the colon where a section lies in no definition."""
NOTE = "note"
"""After the colon: a section of prose without code,"""
PART = "part"
"""code that goes on with a statement from the section before,"""
PRAGMA = "pragma"
"""code of comments for tools alone,"""
CODE = "code"
"""and a whole file that Python cannot read."""

# The keyword of a statement that assigns nothing, calls nothing and does not simply bear its own name.
_KEYWORDS: dict[str, str] = {
    "AsyncFor": "for",
    "AsyncWith": "with",
    "Delete": "del",
    "ImportFrom": "import",
    "TryStar": "try",
}
_CLAUSES = regex(r"[ \t\f]*(elif|else|except|finally|case)\b")
# Ids that a page has anyway: those of its lines, and sections by number.
_RESERVED = regex(r"L[0-9]+|section-[0-9]+")


def suffix(line: str, statement: ast.stmt | None, continued: bool) -> str:
    """What stands after the colon, for a section whose first line of code this is."""
    if continued:
        return PART
    clause = _CLAUSES.match(line)
    # `case` may also be a name; then the statement begins with it.
    if clause and (clause[1] != "case" or statement is None or statement.col_offset > clause.start(1)):
        return clause[1]
    return _name(statement) if statement is not None else PART


def _name(statement: ast.stmt) -> str:
    if isinstance(statement, ast.Assign):
        return _target(statement.targets[0]) or "assign"
    if isinstance(statement, (ast.AnnAssign, ast.AugAssign)):
        return _target(statement.target) or "assign"
    if isinstance(statement, ast.Expr):
        return _expression(statement.value)
    kind = type(statement).__name__
    if kind == "TypeAlias":
        return _target(statement.name) or "type"  # type: ignore[attr-defined]
    return _KEYWORDS.get(kind, kind.lower())


def _target(target: ast.expr) -> str:
    """`x` of `x`, `self.x`, `x[0]`, `*x` and `x, y`."""
    while True:
        if isinstance(target, ast.Name):
            return target.id
        if isinstance(target, ast.Attribute):
            return target.attr
        if isinstance(target, (ast.Subscript, ast.Starred)):
            target = target.value
        elif isinstance(target, (ast.Tuple, ast.List)) and target.elts:
            target = target.elts[0]
        else:
            return ""


def _expression(value: ast.expr) -> str:
    while isinstance(value, ast.Await):
        value = value.value
    if isinstance(value, ast.Call):
        function = value.func
        if isinstance(function, ast.Attribute):
            # `super().__init__()` says more by `super` than by `__init__`, in a section of `__init__`.
            inner = function.value
            if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id == "super":
                return "super"
        return _target(function) or "call"
    if isinstance(value, (ast.Yield, ast.YieldFrom)):
        return "yield"
    if isinstance(value, ast.Constant):
        return "string" if isinstance(value.value, (str, bytes)) else "constant"
    return _target(value) or "expression"


def unique(sections: Sequence[Section]) -> tuple[Section, ...]:
    """The sections, with a counter where an anchor repeats. Those that are shown take their names first."""
    taken: set[str] = set()
    counts: dict[str, int] = {}
    anchors: dict[int, str] = {}
    order: Iterable[int] = sorted(range(len(sections)), key=lambda index: not sections[index].shown)
    for index in order:
        base = sections[index].anchor
        anchor = base
        while anchor in taken or _RESERVED.fullmatch(anchor):
            counts[base] = counts.get(base, 1) + 1
            anchor = f"{base}-{counts[base]}"
            if _RESERVED.fullmatch(anchor):
                anchor = f"{base}--{counts[base]}"
        taken.add(anchor)
        anchors[index] = anchor
    return tuple(
        section if section.anchor == anchors[index] else section._replace(anchor=anchors[index])
        for index, section in enumerate(sections)
    )
