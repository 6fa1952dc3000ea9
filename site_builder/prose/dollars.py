"""
---
title: Dollars that are left over
summary: Which of them were meant to begin or to end a formula.
---
# Dollars that are left over

A dollar that opens no formula is a dollar: in a price, before the name of a variable, at the end of a pattern. It is
also what stands there when an author forgets the other one, and then the page shows backslashes and braces. The two
are told apart by what stands beside it: a command, an index or an exponent makes it math, and so does a single letter
where the same paragraph has formulas. What else may have been meant is nobody's business, since a false alarm costs
more than a missing one: whoever reads the page sees the dollar.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from site_builder.blocks import Atom
from site_builder.blocks.atoms import MATHS
from site_builder.lazy import regex

_GONE = "\0"
_REACH = 80
"""Characters beside the dollar that are looked at."""

_TEX = r"\\(?!n[a-z]*\b)[A-Za-z]{2,}(?![\\:])|[_^]\{|(?<![^\W_])[A-Za-z]\^[\w(\\]"
"""Not `\nname`, which is a line break in a string, nor `C:\name\name`."""
_OPENS = regex(r"(?<![\w$\\\^|./=?&])\$(?=[^\s$\d\0])")
_CLOSES = regex(r"(?<=[\w)}\]'])\$(?=[\s.,;:)!?]|$)")
_FORMULA = regex(rf"(?![A-Z_]{{2,}}|[A-Za-z]\w*:)[^$\0\n]*?(?:{_TEX})")
_ONE_WORD = regex(rf"[^\s$\0]*?(?:{_TEX}|[A-Za-z)]\^[\w(\\])")
_WORD = regex(r"\{|[A-Za-z_]{2}")
_INDEX = regex(r"[A-Za-z]_[A-Za-z0-9](?!\w)")
_LETTER = regex(r"[A-Za-z](?=[\s.,;:)]|$)")
_SPACED = regex(r"[A-Za-z](?:[\s\d+*/=<>()|,.^_-]|(?<![A-Za-z])[A-Za-z])*\s\$(?=[\s.,;:)]|$)")
_BEFORE = regex(rf"(?:{_TEX})[^$\0]*$")
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
    for found in _OPENS.finditer(left):
        if _is_formula(left[found.end() : found.end() + _REACH], has_math):
            yield found.start(), True
    for found in _CLOSES.finditer(left):
        before = left[max(found.start() - _REACH, 0) : found.start()]
        if _SURELY_BEFORE.search(before) or (
            has_math and (_BEFORE.search(before) or _LAST_LETTER.search(before))
        ):
            yield found.start(), False


def _is_formula(after: str, has_math: bool) -> bool:
    """By what comes after an opening dollar. `$name` is a variable of a shell or of a template, until more is seen."""
    if _INDEX.match(after):
        return True
    if _WORD.match(after):
        return bool(_ONE_WORD.match(after))
    return bool(_FORMULA.match(after) or _SPACED.match(after) or (has_math and _LETTER.match(after)))
