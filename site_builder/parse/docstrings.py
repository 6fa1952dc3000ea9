r"""
---
title: Docstrings as typed
summary: The text between the quotes, not what Python makes of it.
---
# Docstrings as typed

In `"$\theta$"` Python sees a tab followed by `heta`. The author meant $\theta$, so the text is read from the
file, between the quotes, and only *where* it is comes from the syntax tree. Every line remembers its place.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Sequence
from typing import NamedTuple

from site_builder.lazy import regex
from site_builder.model import ProseLine
from site_builder.parse.comments import is_pragma
from site_builder.parse.structure import DefinitionNode, extent
from site_builder.parse.text import BLANK, indentation, is_blank, rows, trim, width, within

_OPENING = regex(r"([a-zA-Z]*)(\"\"\"|'''|\"|')")


class Docstring(NamedTuple):
    """`alone` is false where other code shares its lines, which must then be shown as code."""

    prose: tuple[ProseLine, ...]
    start: int
    end: int
    alone: bool


class _Row(NamedTuple):
    """A line of a literal's text. `leading` is true at a line's beginning, where spaces are indentation."""

    text: str
    line: int
    column: int
    raw: bool
    leading: bool


class _Literal(NamedTuple):
    """One quoted literal, and where it starts, columns from nought."""

    source: str
    line: int
    column: int


def find(node: ast.Module | DefinitionNode, lines: Sequence[str], path: str) -> Docstring | None:
    """The docstring of a module, class or function."""
    if not node.body or not isinstance(statement := node.body[0], ast.Expr):
        return None
    constant = statement.value
    if not isinstance(constant, ast.Constant) or not isinstance(constant.value, str):
        return None
    place = extent(constant, lines)
    literals, remarks = _literals("\n".join(rows(lines, place)), place.line, place.column)
    prose = _clean([row for literal in literals for row in _rows(literal)], path)
    # The statement may be wider than the string: by parentheses.
    whole = extent(statement, lines)
    before = lines[whole.line - 1][: whole.column]
    after = lines[whole.last_line - 1][whole.end_column :].strip(BLANK)
    alone = is_blank(before) and not remarks and (not after or is_pragma(after))
    return Docstring(prose, whole.line, whole.last_line, alone)


def _literals(source: str, line: int, column: int) -> tuple[list[_Literal], bool]:
    """The literals that Python joins into one string, and whether ordinary comments trail between them."""
    whole = [_Literal(source, line, column)]
    opening = _OPENING.match(source)
    if opening and source.endswith(opening[2]) and opening[2] not in source[opening.end() : -len(opening[2])]:
        return whole, False
    literals = []
    remarks = False
    source_rows = source.split("\n")
    try:
        for token in tokenize.generate_tokens(io.StringIO("(\n" + source + "\n)", "\n").readline):
            row, start = token.start[0] - 2, token.start[1]
            if token.type == tokenize.STRING:
                literals.append(_Literal(token.string, line + row, start + (0 if row else column)))
            elif token.type == tokenize.COMMENT and not is_blank(source_rows[row][:start]):
                remarks = remarks or not is_pragma(token.string)
    except (tokenize.TokenError, SyntaxError):
        return whole, False
    return literals, remarks


def _rows(literal: _Literal) -> list[_Row]:
    opening = _OPENING.match(literal.source)
    if opening is None:
        return []
    raw = "r" in opening[1].lower()
    quotes = opening[2]
    texts = literal.source[opening.end() : -len(quotes)].split("\n")
    blanks = 0
    if len(quotes) == 1 and not raw:
        # Such a literal has no other way to end its line than to write `\n`.
        while texts[-1].endswith("\\n") and not _escaped(texts[-1], len(texts[-1]) - 2):
            texts[-1] = texts[-1][:-2]
            blanks += 1
    for index, text in enumerate(texts[:-1]):
        # A backslash that only joins lines is not text.
        if (index == 0 or len(quotes) == 1) and text.endswith("\\") and not _escaped(text, len(text) - 1):
            texts[index] = text[:-1]
    column = literal.column + opening.end()
    found = [
        _Row(text, literal.line + index, 0 if index else column, raw, index > 0)
        for index, text in enumerate(texts)
    ]
    return found + [_Row("", found[-1].line, found[-1].column, raw, False)] * (blanks - 1)


def _escaped(text: str, index: int) -> bool:
    """Whether a backslash at `index` is itself escaped by the one before it."""
    before = text[:index]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _clean(found: list[_Row], path: str) -> tuple[ProseLine, ...]:
    """As `inspect.cleandoc`: common indentation goes, and blank lines at both ends."""
    margin = min((width(row.text) for row in found if row.leading and not is_blank(row.text)), default=0)
    lines = []
    for row in found:
        if is_blank(row.text):
            lines.append(ProseLine("", path, row.line, row.column + 1, row.raw))
            continue
        skip = within(row.text, margin) if row.leading else indentation(row.text)
        lines.append(ProseLine(row.text[skip:], path, row.line, row.column + skip + 1, row.raw))
    return trim(lines)
