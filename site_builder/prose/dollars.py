"""
---
title: Dollars that are left over
summary: Which of them were meant to begin or to end a formula.
---
# Dollars that are left over

A dollar that opens no formula is a dollar: in a price, before the name of a variable, at the end of a pattern. It is
also what stands there when an author forgets the other one, and then the page shows backslashes and braces. The two
are told apart by what stands beside it. A command and a brace after `_` or `^` are written in TeX only. Everything else
that makes it math, an index, an exponent or a single letter, is no more than a sign: it counts for most where the same
paragraph has formulas, and for nothing where the paragraph has none but names a variable, as in `$HOME`, `$_` or
`${x}`. What else may have been meant is nobody's business, since a false alarm costs more than a missing one: whoever
reads the page sees the dollar.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from site_builder.blocks import Atom
from site_builder.blocks.atoms import MATHS
from site_builder.lazy import regex

_GONE = "\0"
_REACH = 80
"""Characters beside the dollar that are looked at."""

_TEX = r"\\(?!n[a-z]*\b)[A-Za-z]{2,}(?![\\:])|[_^]\{"
"""Not `\nname`, which is a line break in a string, nor `C:\name\name`."""
_POWER = r"(?<![^\W_])[A-Za-z]\^[\w(\\]"
_DOLLAR = r"(?<![\w$\\\^|./=?&])\$"
_OPENS = regex(rf"{_DOLLAR}(?=[^\s$\d\0])")
_CLOSES = regex(r"(?<=[\w)}\]'])\$(?=[\s.,;:)!?]|$)")
_VARIABLE = regex(
    rf"{_DOLLAR}(?:(?![A-Za-z]_[A-Za-z0-9]\b)[A-Za-z_]\w+|_|\{{[A-Za-z_]\w*\}}|[@#?*!])(?![\w(^\\{{])"
)
"""A name that no formula begins with."""
_ONE_NAME = r"(?![A-Z_]{2,}|[A-Za-z]\w*:)"
_SURELY = regex(rf"{_ONE_NAME}[^$\0\n]*?(?:{_TEX})")
_LIKELY = regex(rf"{_ONE_NAME}[^$\0\n]*?(?:{_POWER})")
_WORD = regex(r"\{|[A-Za-z_]{2}")
_SURELY_ONE_WORD = regex(rf"[^\s$\0]*?(?:{_TEX})")
_LIKELY_ONE_WORD = regex(r"[^\s$\0]*?[A-Za-z)]\^[\w(\\]")
_INDEX = regex(r"[A-Za-z]_[A-Za-z0-9](?!\w)")
_USUAL_INDEX = regex(r"[A-Za-z]_[i-nst\d](?!\w)")
"""`$a_b` may be anything; nobody names a variable `$x_i` who does not mean an index."""
_LETTER = regex(r"[A-Za-z](?=[\s.,;:)]|$)")
_SPACED = regex(r"[A-Za-z](?:[\s\d+*/=<>()|,.^_-]|(?<![A-Za-z])[A-Za-z])*\s\$(?=[\s.,;:)]|$)")
_BEFORE = regex(rf"(?:{_TEX}|{_POWER})[^$\0]*$")
_SURELY_BEFORE = regex(r"(?:\\[A-Za-z]{2,}|[_^])\{[^$\0]*$")
"""Without a brace it might be a pattern: `\bname$`."""
_LAST_LETTER = regex(r"(?<![^\W_])[A-Za-z]$")


def lone(text: str, atoms: Sequence[Atom]) -> Iterator[tuple[int, bool]]:
    """Where a dollar of the text of a block should be part of a formula and is none, and whether it begins one."""
    parts: list[str] = []
    at = 0
    for atom in atoms:
        parts += (text[at : atom.start], _GONE * (atom.end - atom.start))
        at = atom.end
    left = "".join((*parts, text[at:]))
    if "$" not in left:
        return
    has_math = any(atom.kind in MATHS for atom in atoms)
    likely = has_math or not _VARIABLE.search(left)
    for found in _OPENS.finditer(left):
        if _is_formula(left[found.end() : found.end() + _REACH], has_math, likely):
            yield found.start(), True
    for found in _CLOSES.finditer(left):
        before = left[max(found.start() - _REACH, 0) : found.start()]
        if _SURELY_BEFORE.search(before) or (
            has_math and (_BEFORE.search(before) or _LAST_LETTER.search(before))
        ):
            yield found.start(), False


def _is_formula(after: str, has_math: bool, likely: bool) -> bool:
    """
    By what comes after an opening dollar. `$name` is a variable of a shell or of a template, until more is seen.
    `likely`: nothing else in the paragraph says that variables are spoken of.
    """
    if _INDEX.match(after):
        return has_math or (likely and bool(_USUAL_INDEX.match(after)))
    if _WORD.match(after):
        return bool(_SURELY_ONE_WORD.match(after) or (likely and _LIKELY_ONE_WORD.match(after)))
    if _SURELY.match(after) or (has_math and _LETTER.match(after)):
        return True
    return likely and bool(_LIKELY.match(after) or _SPACED.match(after))
