"""
---
title: Classes
summary: What a reader sees of a type of token, which is one letter or none.
---
# Classes
"""

from __future__ import annotations

from typing import Any, NamedTuple

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


IS_NAME = _Names()

_MERGED = frozenset("gcop")
"""Neighbours of these classes become one token: nobody asks where one bracket ends and the next begins."""


def merges(cls: str, left: str, right: str) -> bool:
    """Whether two neighbours become one; `self` has the class of punctuation but stays a token of its own."""
    return cls in _MERGED and not (cls == "p" and (left[-1].isalpha() or right[:1].isalpha()))
