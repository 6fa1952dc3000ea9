r"""
---
title: Marks inside of formulas
summary: What stands more than once on a page is marked, and nothing moves by it.
---
# Marks inside of formulas

A mark is a `<span>` around a part of a formula: `data-s` names the symbol that stands there, `data-e` an expression
that the page has more than once, `data-c` says that a mark goes on from the sibling before. Where the marks stand is
found by `engine.js`, in KaTeX's parse tree. Here it is made sure of that they are all that was added: taken out
again, they must leave what KaTeX makes without them. A formula that fails this shows no marks.

The MathML comes from the formula as the author wrote it: marks are for the eye alone.
"""

from __future__ import annotations

from typing import NamedTuple

from site_builder.lazy import regex

Formula = tuple[str, bool]
"""The expression as the author typed it, and whether it stands as a block."""

_VISIBLE = '<span class="katex-html"'
_END = "</span >"
"""So `engine.js` writes the end of a mark."""
_MARK = regex(r'<span class="enclosing[^"]*"(?: style="color:[^"]*")?(?: data-[sec]="\d*")+>')
_SPLIT = regex(r'(<span class="[^"]*")>([^<]+)</span>\1((?: style="margin-right:[^"]*")?>)([^<]+</span>)')


class Marked(NamedTuple):
    """
    `html` holds the formulas that bear a mark, as they are to be shown; `places` counts for each symbol where on the
    page it stands, in the order in which the symbols were given.
    """

    html: dict[Formula, str]
    places: tuple[int, ...]


def joined(plain: str, marked: str) -> str | None:
    """The formula with its marks; nothing where they changed more than they may, or where there are none."""
    hidden, sign, visible = plain.partition(_VISIBLE)
    shown = marked.partition(_VISIBLE)[2]
    bare, count = _MARK.subn("", shown)
    if not count or merged(bare.replace(_END, "")) != merged(visible):
        return None
    return hidden + sign + shown.replace(_END, "</span>")


def merged(html: str) -> str:
    """Neighbours of one style as a single element."""
    while (done := _SPLIT.sub(r"\1\3\2\4", html)) != html:
        html = done
    return html
