r"""
---
title: Formulas
summary: From what the author typed to what is typeset, and back to the character that is wrong.
---
# Formulas

KaTeX says where a fault stands in the formula that it was given. That is not quite what was typed: dollar signs
are gone, and some environments were renamed. Here the position is carried back to the author's file. A formula
with a fault is shown as it was typed, and the page goes on.
"""

from __future__ import annotations

import html
from bisect import bisect_right
from collections.abc import Callable

from site_builder.katex import MathError
from site_builder.lazy import regex
from site_builder.model import Prose

Typeset = Callable[[str, bool], str]
Report = Callable[[int, str, str, str], None]

_RENAMED = {"multline": "gather"}
"""KaTeX lacks the environment on the left; the one on the right is set much like it."""

_NAME = "|".join(_RENAMED)
_ENVIRONMENT = regex(rf"(?:(?<=\\begin\{{)|(?<=\\end\{{))(?:{_NAME})(?=\*?\}})")


HINT = "until it is mended, the page shows the formula as it was typed"


class Formulas:
    """Typesets the formulas of one prose. A backslash in them that Python would read is reported once."""

    def __init__(self, prose: Prose, typeset: Typeset, report: Report):
        self.prose, self.render, self.report = prose, typeset, report
        self.escapes_matter = not all(line.raw for line in prose.lines)

    def typeset(self, typed: str, tex: str, display: bool, offset: Callable[[int], int]) -> str:
        """
        HTML of the formula `tex`, which the author typed as `typed`; `offset` tells where in the prose its
        n-th character stands.
        """
        self.check_escapes(tex, offset)
        known, shifts = renamed(tex)
        try:
            made = self.render(known, display)
        except MathError as error:
            shift = shifts[bisect_right(shifts, error.position, key=lambda entry: entry[0]) - 1][1]
            at = min(max(error.position - shift, 0), len(tex))
            self.report(offset(at), error.code, error.message, error.hint or HINT)
            title, shown = html.escape(error.message), html.escape(typed, quote=False)
            made = f'<code class="bad-math" title="{title}">{shown}</code>'
        return f'<span class="eq">{made}</span>' if display else made

    def block(self, typed: str, offset: Callable[[int], int]) -> tuple[str, str]:
        """HTML of a formula that is a block of its own, and the formula without its dollar signs."""
        skip = 2 if typed.startswith("$$") else 0
        tex = typed[skip : len(typed) - skip]
        return self.typeset(typed, tex, True, lambda at: offset(at + skip)), tex

    def check_escapes(self, tex: str, offset: Callable[[int], int]) -> None:
        at = -1
        while self.escapes_matter and (at := tex.find("\\", at + 1)) >= 0:
            place = offset(at)
            if not self.prose.lines[self.prose.line_at(place)].raw:
                self.escapes_matter = False
                self.report(
                    place,
                    "math-escape",
                    f"Python may read {tex[at : at + 2].rstrip()} in this docstring as an escape sequence",
                    'make the docstring raw: begin it with r"""',
                )


def renamed(tex: str) -> tuple[str, list[tuple[int, int]]]:
    """The formula with environments that KaTeX knows, and by how much it has grown from a position on."""
    parts: list[str] = []
    shifts = [(0, 0)]
    at = length = 0
    for name in _ENVIRONMENT.finditer(tex):
        known = _RENAMED[name[0]]
        parts += (tex[at : name.start()], known)
        length += name.start() - at + len(known)
        at = name.end()
        shifts.append((length, length - at))
    return "".join((*parts, tex[at:])), shifts
