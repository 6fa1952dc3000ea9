r"""
---
title: Marks inside of formulas
summary: What stands more than once on a page is marked, and nothing moves by it.
---
# Marks inside of formulas

A mark is a `<span>` around a part of a formula: `data-s` names the symbol that stands there, `data-e` an expression
that the page has more than once, `data-c` says that a mark goes on from the sibling before. Where the marks stand is
found by `marks.js`, in KaTeX's parse tree. They are written around elements that KaTeX has made already, so nothing
can move by them: taken out again, they leave what there is without them.

The MathML comes from the formula as the author wrote it: marks are for the eye alone.
"""

from __future__ import annotations

from typing import NamedTuple

Formula = tuple[str, bool]
"""The expression as the author typed it, and whether it stands as a block."""

_VISIBLE = '<span class="katex-html"'


class Marked(NamedTuple):
    """
    `html` holds the formulas that bear a mark, as they are to be shown; `places` counts for each symbol where on the
    page it stands, in the order in which the symbols were given.
    """

    html: dict[Formula, str]
    places: tuple[int, ...]


def joined(plain: str, marked: str) -> str:
    """The formula with its marks: what screen readers get of the one without, what the eye gets of the other."""
    return plain.partition(_VISIBLE)[0] + _VISIBLE + marked.partition(_VISIBLE)[2]
