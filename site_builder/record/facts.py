"""
---
title: What a file says by itself
summary: Its tokens without its prose, its examples, and what these import.
---
# What a file says by itself

Two files of the same code have the same digest, whatever their prose is. Examples are code.
"""

from __future__ import annotations

import ast
import io
import json
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from site_builder.cache import digest
from site_builder.record.outline import Outline

_SILENT = frozenset({tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER})
_LAYOUT = frozenset({tokenize.INDENT, tokenize.DEDENT, tokenize.NEWLINE})


def code_digest(data: bytes) -> bytes:
    """
    A digest of what a module does: of its tokens and its examples. It is the same in every version of Python.

    >>> code_digest(b"x = 1  # one") == code_digest(b"'''Prose.'''\\n\\nx = 1")
    True
    >>> code_digest(b"x = 1") == code_digest(b"'''>>> x'''\\nx = 1")
    False
    """
    try:
        outline = Outline.of(data)
        return digest(*_tokens(data), "", *_examples(outline))
    except (SyntaxError, ValueError, tokenize.TokenError, RecursionError, MemoryError):
        # What Python cannot read is taken as it is.
        return digest(data)


def _tokens(data: bytes) -> Iterator[str]:
    docstrings = _docstrings(data)
    text = io.BytesIO(data)
    lines: list[str] | None = None
    depth = 0
    opened = (0, 0)
    skipped = False
    for token in tokenize.tokenize(text.readline):
        name = tokenize.tok_name[token.type]
        if name in ("FSTRING_START", "TSTRING_START"):
            if depth == 0:
                opened = token.start
            depth += 1
        elif name in ("FSTRING_END", "TSTRING_END"):
            depth -= 1
            if depth == 0:
                lines = lines or _lines(data)
                yield f"{tokenize.STRING}:{_between(lines, opened, token.end)}"
        elif depth or token.type in _SILENT:
            continue
        elif token.type == tokenize.STRING and any(start <= token.start < end for start, end in docstrings):
            skipped = True
        elif (
            skipped
            and token.type in (tokenize.NEWLINE, tokenize.OP)
            and token.string in ("", "\n", "\r\n", ";")
        ):
            skipped = False
        elif token.type in _LAYOUT:
            yield tokenize.tok_name[token.type]
        else:
            yield f"{token.type if token.type == tokenize.STRING else ''}:{token.string}"


def _docstrings(data: bytes) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Where docstrings stand, in lines and characters."""
    lines = _lines(data)
    found = []
    for node in ast.walk(ast.parse(data)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                end_line, end_column = first.end_lineno or first.lineno, first.end_col_offset or 0
                found.append(
                    (
                        (first.lineno, _characters(lines, first.lineno, first.col_offset)),
                        (end_line, _characters(lines, end_line, end_column)),
                    )
                )
    return found


def _lines(data: bytes) -> list[str]:
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return io.TextIOWrapper(io.BytesIO(data), encoding).read().splitlines(keepends=True)


def _characters(lines: list[str], line: int, column: int) -> int:
    row = lines[line - 1] if line <= len(lines) else ""
    return len(row.encode("utf-8")[:column].decode("utf-8", "ignore"))


def _between(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    rows = lines[start[0] - 1 : end[0]]
    rows[-1] = rows[-1][: end[1]]
    rows[0] = rows[0][start[1] :]
    return "".join(rows)


def _examples(outline: Outline) -> Iterator[str]:
    for docstring in outline.docstrings:
        yield f"{docstring.owner} {docstring.fault}"
        for example in docstring.examples:
            yield example.source
            yield example.want


@dataclass(frozen=True, slots=True)
class Facts:
    """What one file says by itself. `imports` are those of its examples, names told as members of modules."""

    code: bytes
    examples: bool
    imports: tuple[str, ...]

    @staticmethod
    def of(data: bytes) -> Facts:
        try:
            outline = Outline.of(data)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return Facts(code_digest(data), False, ())
        return Facts(code_digest(data), bool(outline.docstrings), tuple(_imports(outline)))

    def to_bytes(self) -> bytes:
        return json.dumps([self.code.hex(), self.examples, self.imports]).encode()

    @staticmethod
    def from_bytes(data: bytes) -> Facts:
        code, examples, imports = json.loads(data)
        return Facts(bytes.fromhex(code), bool(examples), tuple(imports))


def _imports(outline: Outline) -> Iterator[str]:
    for docstring in outline.docstrings:
        for example in docstring.examples:
            if "import" not in example.source:
                continue
            try:
                tree = ast.parse(example.source)
            except (SyntaxError, ValueError):
                continue
            for node in ast.walk(tree):
                if isinstance(node, ast.Import):
                    yield from (alias.name for alias in node.names)
                elif isinstance(node, ast.ImportFrom):
                    # Dots remain: which module they start from is known later.
                    start = "." * node.level + (node.module or "")
                    dot = "." if node.module else ""
                    yield from (f"{start}{dot}{alias.name}" for alias in node.names)


@cache
def recorder() -> bytes:
    folder = Path(__file__).parent
    return digest(*(file.read_bytes() for file in sorted(folder.glob("*.py"))))
