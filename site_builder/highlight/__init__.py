"""
---
title: Highlight
summary: Pygments once per file, cut by line; every line read back gives the bytes of the file.
order: [tokens, scanner, statements, formatted, words, reader, classes, lines]
---
# Highlight

Code is coloured sparingly: a class is one letter, and most identifiers have none.

| class | what it marks |
|---|---|
| `k` | keywords |
| `n` | the name that a `def` or `class` gives |
| `t` | types and builtins, imported names and what is capitalised in them |
| `d` | decorators |
| `g` | strings |
| `m` | numbers, `None`, `True`, `False` |
| `o` | operators |
| `p` | punctuation and `self` |
| `c` | comments |
| `ps` | prompts of a console |
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from site_builder.highlight.classes import CLASSES, Token
from site_builder.highlight.lines import Links, Signs, hanging_html, inline_html, line_html
from site_builder.highlight.tokens import python

if TYPE_CHECKING:
    from pygments.lexer import Lexer

__all__ = ["Links", "Signs", "Token", "block", "hanging_html", "line_html", "python"]

_PYTHON = frozenset({"python", "py", "python3", "py3", "pyi"})


def block(code: str, language: str = "") -> str:
    """
    What goes inside the `<code>` of a fenced block. A language that nobody knows leaves the text as it is.
    """
    if language.lower() in _PYTHON:
        return "".join(inline_html(line) for line in python(code.splitlines(keepends=True)))
    lexer = _lexer(language.lower())
    tokens = [Token("", code)]
    if lexer is not None:
        found = [Token(CLASSES[kind], text) for _, kind, text in lexer.get_tokens_unprocessed(code)]
        if "".join(token.text for token in found) == code:
            tokens = found
    return inline_html(tokens)


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
