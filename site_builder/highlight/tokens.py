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

class _Names(dict[Kind, bool]):
    """Whether a type is one of names. Asking the type itself takes ten times as long."""

    def __missing__(self, kind: Kind) -> bool:
        self[kind] = kind in Name
        return self[kind]


_IS_NAME = _Names()

_LEXER = PythonLexer(stripnl=False, ensurenl=False)
_MERGED = frozenset("gcop")
"""Neighbours of these classes become one token: nobody asks where one bracket ends and the next begins."""


def python(lines: Sequence[str]) -> tuple[tuple[Token, ...], ...]:
    """The tokens of each line; their texts joined are the line. It need not be Python that parses."""
    bodies = [line.rstrip("\r\n") for line in lines]
    text = "\n".join(body if body.strip() else "" for body in bodies)
    reader = _Reader()
    cut = _cut(reader.read(kind, part) for _, kind, part in _LEXER.get_tokens_unprocessed(text))
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
        if "\n" in text:
            first, *inner, last = text.split("\n")
        else:
            first, inner, last = text, [], None
        if pieces and (cls != current or not _merges(cls, pieces[-1], first)):
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


class _Reader:
    """Settles the class of each token from its type and from what stands before it."""

    def __init__(self) -> None:
        self.imports = _Imports()
        self.before = "\n"
        """The last token that is neither space nor comment."""
        self.owner = ""
        """The class of the name that a chain of members begins with."""
        self.decorating = False

    def read(self, kind: Kind, text: str) -> Token:
        cls = CLASSES[kind]
        if _IS_NAME[kind]:
            cls = self.name(kind, text)
            if self.before != ".":
                self.owner = cls
        elif kind is Keyword.Namespace:
            self.imports.opens(text, self.before in ("\n", ";", ":"))
        elif kind is String.Interpol:
            # The braces of an f-string are code; `%s` and `{}` in another string are its text.
            cls = "p" if text == "{" or text[0] not in "{%" else "g"
        elif self.decorating and text == ".":
            cls = "d"
        elif text.strip() or "\n" in text:
            self.decorating = False
            if self.imports.state:
                self.imports.passes(text.lstrip(" \t"))
            if kind is Operator and text == ",":
                cls = "p"  # between imports it counts as an operator
        if cls != "c" and (stripped := text.strip(" \t")):
            self.before = "\n" if stripped[0] == "\n" else stripped
        return Token(cls, text)

    def name(self, kind: Kind, text: str) -> str:
        member, known = self.before == ".", text in self.imports.known
        if text == ".":
            return "o"  # inside the name of a module
        if kind is Name.Decorator:
            self.decorating = True
        elif self.decorating and member:
            return "d"
        elif self.imports.state and self.imports.state != "from" and not member:
            self.imports.name(text)
            return "t"
        elif kind is Name.Namespace:
            # Also what follows in `raise Error from error`, which names no module.
            return "t" if self.imports.state or known else ""
        elif kind is Name.Function.Magic or kind is Name:
            if self.before == "def":
                return "n"
            typed = self.owner == "t" and text[0].isupper() if member else known
            return "t" if typed else ""
        elif kind is Name.Builtin.Pseudo and text in ("self", "cls"):
            return "p"
        elif kind is Name.Builtin and member:
            return ""
        return CLASSES[kind]
