"""
---
title: Tokens
summary: A file is read as a whole, cut by line and coloured sparingly.
---
# Tokens

A docstring runs over many lines, so the file is read as a whole and cut afterwards. The lexer sees every line
with a plain newline at its end, and blank lines as empty ones; what the file really has there is put back
when the lines are cut. So CRLF, form feeds and trailing spaces survive, and a lexer that looks ahead over
blank lines finds none to count.

The lexer is Pygments'. The [scanner](site_builder.highlight.scanner) comes to the same in a fraction of the time, and
passes on what it is not sure of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from site_builder.highlight.classes import Token, merges
from site_builder.highlight.reader import Reader, lexer
from site_builder.highlight.scanner import UnsureError, scanned


def python(lines: Sequence[str]) -> tuple[tuple[Token, ...], ...]:
    """The tokens of each line; their texts joined are the line. It need not be Python that parses."""
    bodies = [line.rstrip("\r\n") for line in lines]
    text = "\n".join([body if body.strip() else "" for body in bodies])
    try:
        rows = scanned(text)
    except UnsureError:
        rows = _whole(lexed(text), bodies)
    for line, body, tokens in zip(lines, bodies, rows, strict=False):
        if body and not tokens:
            tokens.append(Token("", body))
        if line != body:
            tokens.append(Token("", line[len(body) :]))
    return tuple(map(tuple, rows[: len(bodies)]))


def lexed(text: str) -> Iterator[list[Token]]:
    """The tokens of each line, without line ends, as Pygments has them."""
    reader = Reader()
    return _cut(reader.read(kind, part) for _, kind, part in lexer().get_tokens_unprocessed(text))


def _whole(rows: Iterator[list[Token]], bodies: Sequence[str]) -> list[list[Token]]:
    """Such tokens as the lines they are of: a lexer that lost a character must not cost the reader one."""
    found = (next(rows, []) for _ in bodies)
    return [
        tokens if "".join([token.text for token in tokens]) == body else []
        for tokens, body in zip(found, bodies, strict=True)
    ]


def _cut(tokens: Iterable[Token]) -> Iterator[list[Token]]:
    line: list[Token] = []
    pieces: list[str] = []
    current = ""
    for cls, text in tokens:
        if "\n" in text:
            first, *inner, last = text.split("\n")
        else:
            first, inner, last = text, [], None
        if pieces and (cls != current or not merges(cls, pieces[-1], first)):
            line.append(Token(current, "".join(pieces)))
            pieces = []
        if first:
            pieces.append(first)
        current = cls
        if last is None:
            continue
        for part in (*inner, last):
            if pieces:
                line.append(Token(cls, "".join(pieces)))
            yield line
            line, pieces = [], [part] if part else []
    if pieces:
        line.append(Token(current, "".join(pieces)))
    yield line
