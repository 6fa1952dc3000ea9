"""
---
title: Tokens
summary: Pygments reads the file once; what comes back is cut by line and coloured sparingly.
---
# Tokens

A docstring runs over many lines, so the file is read as a whole and cut afterwards. The lexer sees every line
with a plain newline at its end, and blank lines as empty ones; what the file really has there is put back
when the lines are cut. So CRLF, form feeds and trailing spaces survive, and a lexer that looks ahead over
blank lines finds none to count.

Pygments knows words, not names. Two things are added: what the file imports, and `nn.Linear` when `nn` is
imported, have the colour of types, and only the name that a `def` gives is set bold, not every `__init__`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Generic, Keyword, Name, Number, Operator, Punctuation, String
from pygments.token import Token as Root

Kind = Any
"""A type of token, as Pygments has them."""


class Token(NamedTuple):
    """A stretch of one line and its class, which may be empty."""

    cls: str
    text: str


class _Classes(dict[Kind, str]):
    """A type that is not listed has the class of the nearest one above it."""

    def __missing__(self, kind: Kind) -> str:
        self[kind] = self[kind.parent]
        return self[kind]


CLASSES = _Classes(
    {
        Root: "",
        Comment: "c",
        Generic.Deleted: "d",
        Generic.Inserted: "g",
        Generic.Prompt: "ps",
        Keyword: "k",
        Keyword.Constant: "m",
        Name.Builtin: "t",
        Name.Builtin.Pseudo: "m",
        Name.Class: "n",
        Name.Decorator: "d",
        Name.Exception: "t",
        Name.Function: "n",
        Name.Namespace: "t",
        Name.Tag: "k",
        Number: "m",
        Operator: "o",
        Operator.Word: "k",
        Punctuation: "p",
        String: "g",
    }
)

_LEXER = PythonLexer(stripnl=False, ensurenl=False)
_MERGED = frozenset("gcop")
"""Neighbours of these classes become one token: nobody asks where one bracket ends and the next begins."""


def python(lines: Sequence[str]) -> tuple[tuple[Token, ...], ...]:
    """The tokens of each line; their texts joined are the line. It need not be Python that parses."""
    bodies = [line.rstrip("\r\n") for line in lines]
    text = "\n".join(body if body.strip() else "" for body in bodies)
    cut = _cut(_classified(_LEXER.get_tokens_unprocessed(text)))
    result: list[tuple[Token, ...]] = []
    for line, body in zip(lines, bodies, strict=True):
        tokens = next(cut, [])
        if not body.strip():
            tokens = [Token("", body)] if body else []
        elif "".join([token.text for token in tokens]) != body:
            # A lexer that lost a character must not cost the reader one.
            tokens = [Token("", body)]
        if len(line) > len(body):
            tokens.append(Token("", line[len(body) :]))
        result.append(tuple(tokens))
    return tuple(result)


def _cut(tokens: Iterable[Token]) -> Iterator[list[Token]]:
    line: list[Token] = []
    pieces: list[str] = []
    current = ""
    for cls, text in tokens:
        for number, part in enumerate(text.split("\n")):
            if pieces and (number or cls != current or not _merges(cls, pieces[-1], part)):
                line.append(Token(current, "".join(pieces)))
                pieces = []
            if number:
                yield line
                line = []
            if part:
                pieces.append(part)
        current = cls
    if pieces:
        line.append(Token(current, "".join(pieces)))
    yield line


def _merges(cls: str, left: str, right: str) -> bool:
    """Whether two neighbours become one; `self` has the class of punctuation but stays a token of its own."""
    return cls in _MERGED and not (cls == "p" and (left[-1].isalpha() or right[:1].isalpha()))


class _Imports:
    """Follows import statements from token to token, and remembers the names that they bind."""

    def __init__(self) -> None:
        self.known: set[str] = set()
        self.state = ""
        """`from`, then `import` while names follow, or `as` before the last of them; empty outside."""
        self.module = False
        """Whether a dotted module is being named, of which only the first part is bound."""
        self.depth = 0
        self.latest = ""
        """The name that would be forgotten if `as` followed."""

    def opens(self, word: str, fresh: bool) -> None:
        if word == "import" and (fresh or self.state == "from"):
            self.state, self.module, self.depth = "import", self.state != "from", 0
        elif word == "from":
            self.state = "from" if fresh else ""

    def passes(self, text: str) -> None:
        """Punctuation, newlines and `as` end a statement or change what the next name is."""
        if text == "as":
            self.state = "as"
            self.known.discard(self.latest)
        elif text in ("(", ")"):
            self.depth += 1 if text == "(" else -1
        elif text == ",":
            self.state = "import"
        elif text == ";" or (text.startswith("\n") and self.depth <= 0):
            self.state = ""

    def name(self, text: str) -> None:
        if self.state in ("import", "as"):
            self.latest = "" if text in self.known else text
            self.known.add(text)
        if self.module and self.state == "import":
            self.state = "part"


def _classified(tokens: Iterable[tuple[int, Kind, str]]) -> Iterator[Token]:
    """The class of each token, from its type and what stands before it."""
    imports = _Imports()
    before, owner, decorating = "\n", "", False
    for _, kind, text in tokens:
        cls = CLASSES[kind]
        if kind in Name:
            member = before == "."
            if text == ".":
                cls = "o"  # inside the name of a module
            elif kind is Name.Decorator:
                decorating = True
            elif decorating and member:
                cls = "d"
            elif imports.state and imports.state != "from" and not member:
                imports.name(text)
                cls = "t"
            elif kind is Name.Namespace:
                # Also what follows in `raise Error from error`, which names no module.
                cls = "t" if imports.state or text in imports.known else ""
            elif kind is Name.Function.Magic or kind is Name:
                if before == "def":
                    cls = "n"
                elif member:
                    cls = "t" if owner == "t" and text[0].isupper() else ""
                else:
                    cls = "t" if text in imports.known else ""
            elif kind is Name.Builtin.Pseudo and text in ("self", "cls"):
                cls = "p"
            elif kind is Name.Builtin and member:
                cls = ""
            if not member:
                owner = cls
        elif kind is Keyword.Namespace:
            imports.opens(text, before in ("\n", ";", ":"))
        elif kind is String.Interpol:
            # The braces of an f-string are code; `%s` and `{}` in another string are its text.
            cls = "p" if text == "{" or text[0] not in "{%" else "g"
        elif decorating and text == ".":
            cls = "d"
        elif text.strip() or "\n" in text:
            decorating = False
            if imports.state:
                imports.passes(text.lstrip(" \t"))
            cls = "p" if text == "," else cls
        if cls != "c" and (stripped := text.strip(" \t")):
            before = stripped if stripped[0] != "\n" else "\n"
        yield Token(cls, text)
