r"""
---
title: The expression before KaTeX sees it
summary: Unnumbered environments, and the way back from KaTeX's positions to the author's.
---
# The expression before KaTeX sees it

Annotated pages write `\begin{align}` and want no numbers beside the rows, so `align` becomes `align*`, and
the other numbering environments likewise. Each star moves what follows it by one character; KaTeX counts in
UTF-16 units besides. Both are undone for every position that it reports.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping
from typing import NamedTuple

from site_builder.lazy import regex

# What the search for a command must not look into comes first: verbatim text and comments.
_TOKEN = regex(
    r"""
      \\verb\*?(?P<bar>[^*a-zA-Z]).*?(?P=bar)
    | (?P<comment>%[^\n]*(?:\n|\Z))
    | \\(?:begin|end)\s*\{(?P<environment>[a-zA-Z]*\*?)\}
    | \\(?:[a-zA-Z@]+|.)
    | [{}]
    """,
    re.VERBOSE | re.DOTALL,
)
_NUMBERED = frozenset({"align", "alignat", "equation", "gather"})

Place = tuple[int, int]
"""Position and length, in characters."""


class Source(NamedTuple):
    """
    An expression on its way to KaTeX. `text` is the author's, without blanks at its ends; `sent` is what is
    typeset; `stars` are the offsets in `sent` of the characters that the author did not write.
    """

    text: str
    sent: str
    stars: tuple[int, ...]

    def place(self, position: int, length: int) -> Place:
        """The place in `text` of what JavaScript counts in `sent`."""
        start, end = (self._offset(units) for units in (position, position + length))
        # KaTeX counts the blanks after a command to it.
        return start, len(self.text[start:end].rstrip())

    def as_written(self, complaint: str) -> str:
        r"""What KaTeX says of the environments, by the names that the author gave them."""
        for name in _NUMBERED:
            if f"{{{name}*}}" not in self.text:
                complaint = complaint.replace(f"{{{name}*}}", f"{{{name}}}")
        return complaint

    def _offset(self, units: int) -> int:
        encoded = self.sent.encode("utf-16-le", "surrogatepass")
        before = len(encoded[: 2 * units].decode("utf-16-le", "surrogatepass"))
        return min(before - bisect_left(self.stars, before), len(self.text))


def prepare(tex: str) -> Source:
    """Take the blanks off the ends and the numbers off the environments."""
    text = tex.strip()
    sent, stars = unnumbered(text)
    # A comment may end the last line, as long as there was a line to end.
    if "%" in text.rpartition("\n")[2] and "\n" in tex[len(tex.rstrip()) :]:
        sent += "\n"
    return Source(text, sent, stars)


def unnumbered(tex: str) -> tuple[str, tuple[int, ...]]:
    r"""
    Put a star behind each numbering environment; return the offsets of the stars too.

    >>> unnumbered(r"\begin{align}x\end{align}")
    ('\\begin{align*}x\\end{align*}', (12, 25))
    """
    pieces: list[str] = []
    stars: list[int] = []
    copied = 0
    for token in _TOKEN.finditer(tex):
        if token["environment"] in _NUMBERED:
            end = token.end("environment")
            pieces += [tex[copied:end], "*"]
            stars.append(end + len(stars))
            copied = end
    return "".join([*pieces, tex[copied:]]), tuple(stars)


def named(macros: Mapping[str, str]) -> dict[str, str]:
    r"""
    Macros as KaTeX wants them: their names with a backslash, in alphabetical order.

    >>> named({"softmax": r"\operatorname{softmax}", r"\R": r"\mathbb{R}"})
    {'\\R': '\\mathbb{R}', '\\softmax': '\\operatorname{softmax}'}
    """
    complete = {
        "\\" + name if re.fullmatch("[a-zA-Z@]+", name) else name: unnumbered(body)[0]
        for name, body in macros.items()
    }
    return dict(sorted(complete.items()))


def unclosed(text: str) -> Place | None:
    r"""
    The innermost brace, `\left` or `\begin` that is still open where the expression ends.

    >>> unclosed(r"\frac{a}{b")
    (8, 1)
    """
    opened_by = {"}": "{", "\\right": "\\left", "\\end": "\\begin"}
    stack: list[tuple[str, Place]] = []
    for token in _TOKEN.finditer(text):
        sign = token[0].partition("{")[0].rstrip() if token["environment"] is not None else token[0]
        if sign in opened_by.values():
            stack.append((sign, _place(token)))
        elif stack and stack[-1][0] == opened_by.get(sign):
            stack.pop()
    return stack[-1][1] if stack else None


def final_comment(text: str) -> Place | None:
    """The comment that ends the expression."""
    comments = [token for token in _TOKEN.finditer(text) if token["comment"]]
    return _place(comments[-1]) if comments else None


def first_use(text: str, command: str, macros: Mapping[str, str]) -> Place | None:
    """Where a command first stands in the expression: itself, or a macro whose body leads to it."""
    wanted = {command}
    for _ in macros:
        wanted |= {
            name for name, body in macros.items() if wanted & {token[0] for token in _TOKEN.finditer(body)}
        }
    return next((_place(token) for token in _TOKEN.finditer(text) if token[0] in wanted), None)


def first_mention(text: str, complaint: str) -> Place | None:
    """The first command or environment in the expression that the complaint speaks of."""
    names = set(re.findall(r"\\[a-zA-Z@]+|(?<=\{)[a-zA-Z]+\*?(?=\})", complaint))
    tokens = _TOKEN.finditer(text)
    return next((_place(token) for token in tokens if {token[0], token["environment"]} & names), None)


def _place(token: re.Match[str]) -> Place:
    return token.start(), len(token[0])
