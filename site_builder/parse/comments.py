"""
---
title: Full-line comments
summary: Which comment lines are prose, and what they say.
---
# Full-line comments

A line whose first character is `#` is a comment, unless it lies inside a string or speaks to a tool instead
of a reader. Those words are data: to teach the parser another tool's pragma, add it to the table.
"""

from __future__ import annotations

import io
import re
import tokenize
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from site_builder.lazy import regex
from site_builder.model import ProseLine
from site_builder.parse.text import BLANK, Extent, is_blank, rows, unterminated, width, within

# What follows `#` and optional spaces in a comment that speaks to a tool. A word ends where it can go on no
# longer: `noqa` is a pragma and `noqaesque` is not.
PRAGMAS = (
    r"(?i:noqa)\b",
    r"type:",
    r"fmt:",
    r"(?i:pragma):",
    r"mypy:",
    r"dmypy:",
    r"pylint:",
    r"ruff:",
    r"isort:",
    r"pyright:",
    r"pyre-\w+\b",
    r"pytype:",
    r"flake8[:-]",
    r"yapf:",
    r"autopep8:",
    r"autoflake:",
    r"black:",
    r"(?i:nosec)\b",
    r"nopycln:",
    r"noinspection\b",
    r"skipcq\b",
    r"lint:",
    r"cython:",
    r"distutils:",
    r"cspell:",
    r"spell-checker:",
    r"codespell:",
    r"(?:vim?|ex):",
    r"-\*-",
    r"%%",
)
_PRAGMA = regex(rf"[ \t\f]*#(?:!|[ \t]*(?:{'|'.join(PRAGMAS)}))")
_CODING = regex(r"[ \t\f]*#.*?coding[:=][ \t]*[-\w.]+")
# `# region` may begin a sentence; where the file has an `# endregion` too, an editor folds by both.
_REGION = regex(r"[ \t\f]*#[ \t]*(?:end)?region\b", re.IGNORECASE)
_REGION_END = regex(r"[ \t\f]*#[ \t]*endregion\b", re.IGNORECASE)
# A block of metadata for script runners (PEP 723): everything in it is data.
_SCRIPT = regex(r"[ \t\f]*# /// [a-zA-Z0-9-]+[ \t]*$")
_SCRIPT_END = regex(r"[ \t\f]*# ///[ \t]*$")

# One sign, or several, or Sphinx's `#:`, and the space that belongs to it.
_SIGN = regex(r"[ \t\f]*(?:#:(?=[ \t\r\n]|$)|#+)[ \t]?")


class Run(NamedTuple):
    """Adjacent comment lines: from line `start` up to and without line `end`."""

    start: int
    end: int


class Comments(NamedTuple):
    """The full-line comments of a file: runs of prose, and the lines that are pragmas."""

    runs: tuple[Run, ...]
    pragmas: frozenset[int]


def find(lines: Sequence[str], strings: Iterable[Extent]) -> Comments:
    """The comments of a file, given every string in it that spans lines."""
    found = [n for n, line in enumerate(lines, 1) if "#" in line and line.lstrip(BLANK).startswith("#")]
    inside: set[int] = set()
    for string in strings:
        suspects = found[bisect_right(found, string.line) : bisect_right(found, string.last_line)]
        if suspects:
            inside.update(set(suspects) - _comments_between(lines, string))
    numbers = [number for number in found if number not in inside] if inside else found
    pragmas = _pragmas(lines, numbers)
    return Comments(tuple(_runs(number for number in numbers if number not in pragmas)), frozenset(pragmas))


def is_pragma(comment: str) -> bool:
    """Whether a comment, with its sign, speaks to a tool."""
    return _PRAGMA.match(comment) is not None


def prose(lines: Sequence[str], run: Run, path: str) -> tuple[ProseLine, ...]:
    """What a run says, without its signs and the indentation that all its lines share."""
    found = []
    for number in range(run.start, run.end):
        line = unterminated(lines[number - 1])
        sign = _SIGN.match(line)
        start = sign.end() if sign else 0
        found.append((number, start, line[start:]))
    margin = min((width(text) for _, _, text in found if not is_blank(text)), default=0)
    said = []
    for number, start, text in found:
        skip = len(text) if is_blank(text) else within(text, margin)
        said.append(ProseLine(text[skip:], path, number, start + skip + 1))
    return tuple(said)


def _pragmas(lines: Sequence[str], numbers: Sequence[int]) -> set[int]:
    regions = any(_REGION_END.match(lines[number - 1]) for number in numbers)
    pragmas = set()
    block: list[int] = []
    for number in numbers:
        line = unterminated(lines[number - 1])
        if _PRAGMA.match(line) or (number <= 2 and _CODING.match(line)) or (regions and _REGION.match(line)):
            pragmas.add(number)
        if block and block[-1] == number - 1:
            block.append(number)
            if _SCRIPT_END.match(line):
                pragmas.update(block)
                block = []
        else:
            block = [number] if _SCRIPT.match(line) else []
    return pragmas


def _runs(numbers: Iterable[int]) -> Iterable[Run]:
    start = end = 0
    for number in numbers:
        if number != end:
            if start:
                yield Run(start, end)
            start = number
        end = number + 1
    if start:
        yield Run(start, end)


def _comments_between(lines: Sequence[str], string: Extent) -> set[int]:
    """The lines with a real comment between the literals of one string: `("a"`, `# why`, `"b")`."""
    comments = set()
    depth = 0
    source = "(\n" + "\n".join(rows(lines, string)) + "\n)"
    try:
        for token in tokenize.generate_tokens(io.StringIO(source, "\n").readline):
            name = tokenize.tok_name[token.type]
            if name.endswith("STRING_START"):
                depth += 1
            elif name.endswith("STRING_END"):
                depth -= 1
            elif token.type == tokenize.COMMENT and depth == 0:
                comments.add(string.line + token.start[0] - 2)
    except (tokenize.TokenError, SyntaxError):
        # Python's parser took this string, and its tokenizer in Python did not: then no split inside it.
        return set()
    return comments
