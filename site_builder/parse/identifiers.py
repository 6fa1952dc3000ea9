"""
---
title: Identifiers
summary: Where exactly in the file an identifier stands.
---
# Identifiers

The syntax tree counts columns in bytes of UTF-8, it does not say where the parts of `a.b.c` stand in an
import, and it spells `ﬁle` as `file`. So every identifier is looked for in the source, and one that is not
where it should be is left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import accumulate

from site_builder.lazy import regex
from site_builder.model import Reference

_WORD = regex(r"[^\W\d]\w*|[.\\]|\S")


class Identifiers:
    """Finds identifiers in the lines of one file; lines count from one, byte offsets from zero."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.columns: dict[int, list[int]] = {}

    def reference(self, line: int, offset: int, name: str, target: str) -> Reference | None:
        """A reference for the identifier that begins at this byte, if it does."""
        return self._at(line, offset, 0, name, target)

    def member(self, node: ast.Attribute, target: str) -> Reference | None:
        """A reference for the last part of `a.b`, which ends where the node ends."""
        return self._at(node.end_lineno or 0, node.end_col_offset or 0, len(node.attr), node.attr, target)

    def dotted(self, line: int, offset: int, name: str, target: str, after: str = "") -> Iterator[Reference]:
        """
        A reference for each part of a dotted name in an import: the last means `target`. The name is looked
        for from this byte on, behind the word `after` and leading dots.
        """
        words = self._words(line, self._character(line, offset))
        parts = name.split(".")
        targets = target.split(".")
        if after and next(words, (0, 0, ""))[2] != after:
            return
        place = next(words, None)
        while after and place and place[2] == ".":
            place = next(words, None)
        for number, part in enumerate(parts, start=len(targets) - len(parts) + 1):
            if not place or place[2] != part:
                return
            yield Reference(place[0], place[1] + 1, place[1] + 1 + len(part), ".".join(targets[:number]))
            if number < len(targets):
                next(words, None)
                place = next(words, None)

    def _at(self, line: int, offset: int, back: int, name: str, target: str) -> Reference | None:
        """The identifier that begins so many characters before this byte."""
        if not 0 < line <= len(self.lines):
            return None
        text, column = self.lines[line - 1], self._character(line, offset) - back
        if column < 0 or not text.startswith(name, column):
            return None
        end = column + len(name)
        before, after = text[column - 1 : column] if column else "", text[end : end + 1]
        if _continues(before) or _continues(after):
            return None
        return Reference(line, column + 1, end + 1, target)

    def _character(self, line: int, offset: int) -> int:
        text = self.lines[line - 1]
        if text.isascii():
            return offset
        if line not in self.columns:
            # For every byte the character that it belongs to, so that a long line is measured only once.
            widths = [len(character.encode("utf-8", "surrogatepass")) for character in text]
            starts = [0] * (sum(widths) + 1)
            for number, start in enumerate(accumulate(widths), start=1):
                starts[start] = number
            self.columns[line] = list(accumulate(starts, max))
        columns = self.columns[line]
        return columns[min(offset, len(columns) - 1)]

    def _words(self, line: int, column: int) -> Iterator[tuple[int, int, str]]:
        """Line, column and text of what follows, going on over a backslash at the end of a line."""
        while line <= len(self.lines):
            for found in _WORD.finditer(self.lines[line - 1], column):
                if found[0] == "\\":
                    break
                yield line, found.start(), found[0]
            else:
                return
            line, column = line + 1, 0


def _continues(character: str) -> bool:
    """Whether an identifier would go on with this character."""
    return (
        character.isalnum()
        or character == "_"
        or (not character.isascii() and f"a{character}".isidentifier())
    )
