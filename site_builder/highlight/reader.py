"""
---
title: Reader
summary: Pygments knows words, not names; this follows imports and definitions from token to token.
---
# Reader

What the file imports, and `nn.Linear` when `nn` is imported, have the colour of types, and only the name that a `def`
gives is set bold, not every `__init__`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from pygments.token import Keyword, Name, Operator, String

from site_builder.highlight.classes import CLASSES, IS_NAME, Kind, Token

if TYPE_CHECKING:
    from pygments.lexers.python import PythonLexer


@cache
def lexer() -> PythonLexer:
    """Made when something needs it: it compiles hundreds of expressions."""
    from pygments.lexers.python import PythonLexer

    return PythonLexer(stripnl=False, ensurenl=False)


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


class Reader:
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
        if IS_NAME[kind]:
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
