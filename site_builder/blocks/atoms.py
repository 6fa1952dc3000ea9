r"""
---
title: Atoms
summary: "The stretches of a paragraph that Markdown must not read: code, math, tags."
---
# Atoms

`*` in a code span is no emphasis and `_` in math is a subscript. This is the one place that decides where such a
stretch begins and ends. Math follows Pandoc: no space just inside the dollars and no digit after the closing one,
so that `$HOME and $PATH` stays text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from enum import StrEnum
from typing import NamedTuple

from site_builder.blocks.vocabulary import ELEMENTS, ENVIRONMENTS, LITERAL_ELEMENTS, small
from site_builder.lazy import regex


class AtomKind(StrEnum):
    ESCAPE = "escape"
    CODE = "code"
    MATH = "math"
    DISPLAY = "display"
    ENVIRONMENT = "environment"
    UNCLOSED = "unclosed"
    TAG = "tag"
    AUTOLINK = "autolink"
    ENTITY = "entity"


MATHS = frozenset({AtomKind.MATH, AtomKind.DISPLAY, AtomKind.ENVIRONMENT})


class Atom(NamedTuple):
    """Offsets into the text it was found in; `inner` is what stands between the delimiters."""

    kind: AtomKind
    start: int
    end: int
    inner: tuple[int, int]


PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")

_SPECIAL = regex(r"[\\`$<&]")
# A dollar inside `\text{…}` belongs to the text; every other unescaped dollar closes.
_PIECE = r"\\(?:text|mbox)[a-z]*\{[^{}]*\}|\\[\s\S]|[^$\\]"
_INLINE = regex(rf"\$(?![\s$])((?>(?:{_PIECE})+))(?<!\s)\$(?!\d)")
_DISPLAY = regex(rf"\$\$((?>(?:{_PIECE}|\$(?!\$))+))\$\$")
BEGIN = regex(r"\\begin\{(" + "|".join(ENVIRONMENTS) + r")(\*?)\}")
_MARK = regex(r"\\(begin|end)\{((?:" + "|".join(ENVIRONMENTS) + r")\*?)\}")
_ENTITY = regex(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_AUTOLINK = regex(r"<((?:https?|ftp|mailto):[^\s<>]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+)>", re.ASCII)
_ATTRIBUTE = r"""\s++[A-Za-z_:@][\w:.@-]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s"'=<>`]++))?+"""
TAG = regex(rf"<(/?+)([A-Za-z][A-Za-z0-9-]*+)((?:{_ATTRIBUTE})*+)\s*+(/?+)>", re.ASCII)


def atoms(text: str) -> tuple[Atom, ...]:
    """Every atom of the text of one block, in order, none inside another."""
    return tuple(_Scanner(text).found) if _SPECIAL.search(text) else ()


def comment_end(text: str, at: int) -> int:
    """Where the comment ends that begins there; zero if there is none, or one that browsers end elsewhere."""
    end = text.find("-->", at + 4) + 3
    sound = text.startswith("<!--", at) and not text.startswith(("<!-->", "<!--->"), at) and end > 2
    return end if sound and "--!>" not in text[at:end] else 0


def is_element(name: str) -> bool:
    """Whether `<name>` is HTML. Anything else in angle brackets, such as `<module>`, is shown as typed."""
    return name.lower() in ELEMENTS or "-" in name


class _Scanner:
    def __init__(self, text: str):
        self.text = text
        self.small: str | None = None
        self.found: list[Atom] = []
        self.runs: dict[int, list[int]] | None = None
        self.environments: dict[int, int] | None = None
        self.last: dict[str, int] = {}
        read = {"\\": self.backslash, "`": self.code, "$": self.dollar, "<": self.angle, "&": self.entity}
        position = 0
        while special := _SPECIAL.search(text, position):
            position = read[special[0]](special.start())

    def add(self, kind: AtomKind, start: int, end: int, inner: tuple[int, int]) -> int:
        self.found.append(Atom(kind, start, end, inner))
        return end

    def run(self, at: int) -> int:
        """How often the character there is repeated."""
        end = at
        while self.text.startswith(self.text[at], end):
            end += 1
        return end - at

    def backslash(self, at: int) -> int:
        if begin := BEGIN.match(self.text, at):
            if self.environments is None:
                self.environments = environment_ends(self.text)
            end = self.environments.get(at)
            if end is None:
                return self.add(AtomKind.UNCLOSED, at, begin.end(), (at, begin.end()))
            return self.add(AtomKind.ENVIRONMENT, at, end, (at, end))
        following = self.text[at + 1 : at + 2]
        if following in PUNCTUATION or following == "\n":
            return self.add(AtomKind.ESCAPE, at, at + 2, (at + 1, at + 2))
        return at + 1

    def code(self, at: int) -> int:
        """A code span ends at the next run of exactly as many backticks."""
        if self.runs is None:
            self.runs = {}
            for run in re.finditer("`+", self.text):
                self.runs.setdefault(len(run[0]), []).append(run.start())
        length = self.run(at)
        closers = self.runs.get(length, [])
        index = bisect_left(closers, at + length)
        if index == len(closers):
            return at + length
        return self.add(AtomKind.CODE, at, closers[index] + length, (at + length, closers[index]))

    def dollar(self, at: int) -> int:
        if (length := self.run(at)) > 2:
            return at + length
        if length == 2:
            if not (found := _DISPLAY.match(self.text, at)):
                return self.add(AtomKind.UNCLOSED, at, at + 2, (at, at + 2))
            if not found[1].strip():
                return found.end()
            return self.add(AtomKind.DISPLAY, at, found.end(), found.span(1))
        if found := _INLINE.match(self.text, at):
            return self.add(AtomKind.MATH, at, found.end(), found.span(1))
        return at + 1

    def angle(self, at: int) -> int:
        if found := _AUTOLINK.match(self.text, at):
            return self.add(AtomKind.AUTOLINK, at, found.end(), found.span(1))
        if (found := TAG.match(self.text, at)) and is_element(found[2]):
            end = found.end()
            if not found[1] and found[2].lower() in LITERAL_ELEMENTS:
                end = self.after(f"</{found[2].lower()}>", end) or end
            return self.add(AtomKind.TAG, at, end, found.span(3))
        if self.text.startswith("<!--", at) and self.after("-->", at) and (end := comment_end(self.text, at)):
            return self.add(AtomKind.TAG, at, end, (end, end))
        return at + 1

    def after(self, mark: str, at: int) -> int:
        """Where the mark that comes next ends; zero if none does. In vain, a mark is searched for once."""
        if self.small is None:
            self.small = small(self.text)
        if mark not in self.last:
            self.last[mark] = self.small.rfind(mark)
        return self.small.index(mark, at) + len(mark) if self.last[mark] >= at else 0

    def entity(self, at: int) -> int:
        if found := _ENTITY.match(self.text, at):
            return self.add(AtomKind.ENTITY, at, found.end(), found.span())
        return at + 1


def environment_ends(text: str) -> dict[int, int]:
    """Where each environment that is closed begins and ends; those of one name may lie in each other."""
    opened: dict[str, list[int]] = {}
    ends: dict[int, int] = {}
    for mark in _MARK.finditer(text):
        if mark[1] == "begin":
            opened.setdefault(mark[2], []).append(mark.start())
        elif mark[2] in opened and opened[mark[2]]:
            ends[opened[mark[2]].pop()] = mark.end()
    return ends
