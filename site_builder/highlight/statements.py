"""
---
title: Statements
summary: Imports and decorators as Pygments cuts them, which every file has, and what an error was raised from.
---
# Statements

Pygments knows the word behind `import` for the name of a module, and a dot there for a part of it. That much is cut
here in the same way. Whatever holds more than names, dots, commas, brackets and comments is left to Pygments itself.
"""

from __future__ import annotations

from itertools import pairwise, takewhile

from pygments.token import Comment, Keyword, Name, Operator, Punctuation, Text

from site_builder.highlight.classes import IS_NAME, Kind
from site_builder.highlight.words import KINDS
from site_builder.lazy import regex

_WORD = r"(?!as\b)[A-Za-z_][A-Za-z0-9_]*+"
_AS = rf"(?:[ ]++as[ ]++{_WORD})?+"
_DOTTED = rf"{_WORD}(?:\.{_WORD})*+"
_MODULES = rf"{_DOTTED}{_AS}(?:,[ ]*+{_DOTTED}{_AS})*+"
_NAMES = rf"{_WORD}{_AS}(?:,[ ]*+{_WORD}{_AS})*+"
_GAP = r"(?:[ \n]|\#[^\n]*+\n)*+"
_LINES = rf"\({_GAP}{_WORD}{_AS}(?:,{_GAP}{_WORD}{_AS})*+,?{_GAP}\)"
_PLAIN = regex(
    rf"@{_DOTTED}|(?:import[ ]++{_MODULES}"
    rf"|from[ ]++(?:\.++(?:{_DOTTED})?|{_DOTTED})[ ]++import[ ]++(?:{_NAMES}|{_LINES}|\*)|from[ ]++{_DOTTED})[ ]*+"
)
_PIECE = regex(r"@?\w++|[ ]++|\#[^\n]*+|[^\w ]")


def statement(text: str) -> list[tuple[Kind, str]] | None:
    """The tokens of such a statement as Pygments has them; `None` where it is not plain enough to tell."""
    if not _PLAIN.fullmatch(text):
        return None
    pieces: list[str] = _PIECE.findall(text)
    if pieces[0][0] == "@":
        found = [(Name.Decorator, pieces[0]), *_code(pieces[1:])]
    elif pieces[0] == "import":
        found = [(Keyword.Namespace, "import"), *_modules(pieces[1:])]
    elif "import" not in pieces:
        # What an error was raised from. Pygments takes it for a module, unless it is `None`.
        cause = [(Keyword.Constant, "None")] if pieces[2:] == ["None"] else _modules(pieces[2:])
        found = [(Keyword.Namespace, "from"), (Text, pieces[1]), *cause]
    else:
        module = list(takewhile(lambda piece: piece != "import", pieces[1:]))
        names = pieces[len(module) + 2 :]
        found = [(Keyword.Namespace, "from"), *_modules(module), (Keyword.Namespace, "import"), *_code(names)]
    return None if any(kind is None for kind, _ in found) else found


def _modules(pieces: list[str]) -> list[tuple[Kind | None, str]]:
    """What stands where modules are named."""

    def kind(piece: str) -> Kind | None:
        if piece.isidentifier():
            return Keyword if piece == "as" else None if piece in KINDS else Name.Namespace
        return {".": Name.Namespace, ",": Operator}.get(piece, Text)

    return [(kind(piece), piece) for piece in pieces]


_SIGNS = {".": Operator, "*": Operator, ",": Punctuation, "(": Punctuation, ")": Punctuation}


def _code(pieces: list[str]) -> list[tuple[Kind | None, str]]:
    """What stands where there could be any code."""

    def kind(before: str, piece: str) -> Kind | None:
        if piece.isidentifier():
            known = KINDS.get(piece, Name)
            is_sure = piece == "as" or (IS_NAME[known] and (before != "." or known is Name))
            return known if is_sure else None
        return Comment.Single if piece[0] == "#" else _SIGNS.get(piece, Text)

    return [(kind(before, piece), piece) for before, piece in pairwise(("", *pieces))]
