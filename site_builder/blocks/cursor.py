"""
---
title: A cursor on one line
summary: Consumes indentation by columns, tabs included.
---
# A cursor on one line

A container asks of each line how far it is indented before it asks what stands there. The cursor counts that in
columns, not in characters, because a tab may stand for up to four blanks. It only moves through the text and never
changes it: every offset stays one in the prose as the author typed it.
"""

from __future__ import annotations

from site_builder.blocks import starts

BLANKS = " \t\r\f\v"
_TAB = 4


class Cursor:
    """
    A place in one line of the text. `at` is the next offset to be read, `first` that of the first
    character that is not blank, `indent` the columns between them; `blank`: there is no such character.
    A tab reaches to the next multiple of four.
    """

    __slots__ = ("at", "blank", "column", "end", "first", "indent", "text")

    def __init__(self, text: str, start: int, end: int):
        self.text, self.at, self.end = text, start, end
        self.column = 0
        self._look()

    def _look(self) -> None:
        text, at, column = self.text, self.at, self.column
        while at < self.end and text[at] in BLANKS:
            column += _TAB - column % _TAB if text[at] == "\t" else 1
            at += 1
        self.first, self.indent, self.blank = at, column - self.column, at >= self.end

    @property
    def at_example(self) -> bool:
        """Whether Python's prompt stands next."""
        return self.text.startswith(">>>", self.first) and bool(
            starts.EXAMPLE.match(self.text, self.first, self.end)
        )

    @property
    def last(self) -> int:
        """The end of the line without what is blank there."""
        end = self.end
        while end > self.first and self.text[end - 1] in BLANKS:
            end -= 1
        return end

    def indentation(self, columns: int) -> None:
        """Pass over that much indentation, as far as there is any; a tab is never cut."""
        target = self.column + min(columns, self.indent)
        while self.column < target:
            self.column += _TAB - self.column % _TAB if self.text[self.at] == "\t" else 1
            self.at += 1
        self._look()

    def jump(self, offset: int) -> None:
        """Pass over a marker that begins at `first`."""
        self.column += self.indent + offset - self.first
        self.at = offset
        self._look()
