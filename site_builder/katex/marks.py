r"""
---
title: Marks inside of formulas
summary: What stands more than once on a page is marked, and nothing moves by it.
---
# Marks inside of formulas

A mark is a `<span>` around a part of a formula: `data-s` names the symbol that stands there, `data-e` an expression
that the page has more than once, `data-c` says that a mark goes on from the sibling before. `marks.js` finds in KaTeX's
parse tree what is to be marked. `markup.js` writes the marks around the elements that KaTeX made of it: elements that
are there anyway, so nothing moves. A formula in which a mark cannot be written so, because a line may break within,
shows no marks.

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
