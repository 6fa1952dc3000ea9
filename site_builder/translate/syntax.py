r"""
---
title: What a PO file says
summary: Our own reading of its lines, for what Babel passes over in silence.
---
# What a PO file says

Babel reads a string without its closing quote as if it ended one character earlier, keeps one of two entries for
the same text, turns the `\t` of a `\theta` that was typed with one backslash into a tab, and forgets which line a
translation stands on. So every line is looked at here before Babel sees it. The first fault is told, with its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from site_builder.lazy import regex

_STRING = regex(r'"((?:[^"\\]|\\.)*)"')
_KEYWORD = regex(r"(msgctxt|msgid_plural|msgid|msgstr(?:\[\d+\])?)[ \t]*(.*)")
_CONFLICT = regex(r"(?:<{7}|={7}|>{7}|\|{7})(?: |$)")
_ESCAPE = regex(r"\\(.)")
_MEANING = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}

_BEGINS = ("msgctxt", "msgid")
_FOLLOWS = {
    "": _BEGINS,
    "msgctxt": ("msgid",),
    "msgid": ("msgid_plural", "msgstr"),
    "msgid_plural": ("msgstr[0]",),
    "msgstr": _BEGINS,
}
"""What may come after each keyword; after a form of a plural, the next form too."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One quoted string of a translation, unescaped, and where its first character stands."""

    text: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Raw:
    """What stands round one entry. `comments` are the lines of people and of other tools, as they typed them."""

    line: int
    comments: tuple[str, ...] = ()
    previous: str = ""
    pieces: tuple[Piece, ...] = ()


@dataclass(frozen=True)
class Scan:
    """
    A PO file by the lines of its `msgid`s. `header` is the entry for the empty text as it was typed, `trailing`
    the comments after the last entry.
    """

    raws: dict[int, Raw]
    header: str = ""
    trailing: tuple[str, ...] = ()


class CatalogueSyntaxError(ValueError):
    """What cannot be read, and where."""

    def __init__(self, what: str, line: int, column: int = 1):
        super().__init__(what)
        self.what, self.line, self.column = what, line, column


def scan(text: str) -> Scan:
    """
    Looks at every line of the file.

    Raises:
        CatalogueSyntaxError: at the first thing that a reader of PO files might misunderstand.
    """
    return _Scanner(text).scan()


def unescape(string: str) -> str:
    """The text between the quotes, its escapes read."""
    return _ESCAPE.sub(lambda found: _MEANING.get(found[1], found[0]), string)


@dataclass
class _Entry:
    """An entry while its lines come in."""

    comments: list[str] = field(default_factory=list)
    previous: list[str] = field(default_factory=list)
    first: int = 0
    """The line on which it begins, comments included."""
    line: int = 0
    obsolete: bool = False
    strings: dict[str, list[Piece]] = field(default_factory=dict)

    def text(self, keyword: str) -> str:
        return "".join(piece.text for piece in self.strings.get(keyword, ()))


class _Scanner:
    def __init__(self, text: str):
        self.lines = text.split("\n")
        self.raws: dict[int, Raw] = {}
        self.seen: dict[tuple[str, str], int] = {}
        self.header = ""
        self.entry, self.keyword, self.number = _Entry(), "", 0

    def scan(self) -> Scan:
        for number, line in enumerate(self.lines, 1):
            self.number = number
            if _CONFLICT.match(line):
                raise self.fault("a merge conflict was left in it")
            body = line.strip()
            if body.startswith("#~"):
                body = body[2:].lstrip()
                if not body.startswith("|"):
                    self.statement(line, body, obsolete=True)
            elif body.startswith("#"):
                self.comment(line.rstrip(), body)
            elif body:
                self.statement(line, body, obsolete=False)
        self.number += 1
        self.finish()
        return Scan(self.raws, self.header, tuple(self.entry.comments))

    def fault(self, what: str, column: int = 1) -> CatalogueSyntaxError:
        return CatalogueSyntaxError(what, min(self.number, len(self.lines)), column)

    def comment(self, line: str, body: str) -> None:
        self.finish()
        self.entry.first = self.entry.first or self.number
        if body.startswith("#|"):
            self.entry.previous += (found[1] for found in _STRING.finditer(body))
        elif not body.startswith(("#:", "#,")):
            self.entry.comments.append(line)

    def statement(self, line: str, body: str, *, obsolete: bool) -> None:
        if not body:
            return
        column = line.index(body) + 1
        if body.startswith('"'):
            if not self.keyword:
                raise self.fault("a text stands here without msgid or msgstr", column)
        else:
            found = _KEYWORD.fullmatch(body)
            if found is None:
                raise self.fault(f"{body.split()[0]!r} is neither a keyword nor a comment", column)
            self.begin(found[1], column, obsolete)
            body, column = found[2], column + found.start(2)
        self.entry.strings.setdefault(self.keyword, []).append(self.string(body, column))

    def begin(self, keyword: str, column: int, obsolete: bool) -> None:
        if keyword in _BEGINS and self.keyword.startswith("msgstr"):
            self.finish()
        if keyword not in self.expected():
            raise self.fault(f"{keyword} stands where {' or '.join(self.expected())} is expected", column)
        entry = self.entry
        entry.first, entry.obsolete, self.keyword = entry.first or self.number, obsolete, keyword
        if keyword == "msgid":
            entry.line = self.number

    def expected(self) -> tuple[str, ...]:
        if form := re.fullmatch(r"msgstr\[(\d+)\]", self.keyword):
            return (f"msgstr[{int(form[1]) + 1}]", *_BEGINS)
        return _FOLLOWS[self.keyword]

    def string(self, body: str, column: int) -> Piece:
        found = _STRING.match(body)
        if found is None:
            raise self.fault("a text is not closed by a quotation mark", column)
        if found.end() < len(body):
            raise self.fault(r"a quotation mark inside a text is written \"", column + found.end() - 1)
        for escape in _ESCAPE.finditer(found[1]):
            if escape[1] not in _MEANING:
                what = f"{escape[0]} means nothing here: a backslash is written twice"
                raise self.fault(what, column + 1 + escape.start())
        return Piece(unescape(found[1]), self.number, column + 1)

    def finish(self) -> None:
        """Takes the entry that ends before this line; comments before an entry belong to it."""
        if not self.keyword:
            return
        entry = self.entry
        if not self.keyword.startswith("msgstr"):
            raise self.fault(f"{self.keyword} stands without msgstr", 1)
        key = (entry.text("msgctxt"), entry.text("msgid"))
        if not entry.obsolete:
            if key in self.seen:
                what = f"the same text is translated a second time, after line {self.seen[key]}"
                raise CatalogueSyntaxError(what, entry.line)
            self.seen[key] = entry.line
        if key == ("", "") and not entry.obsolete:
            rows = self.lines[entry.first - 1 : self.number - 1]
            self.header = "\n".join(row.rstrip() for row in rows).strip()
        translation = next(name for name in entry.strings if name.startswith("msgstr"))
        pieces = (piece for piece in entry.strings[translation] if piece.text)
        previous = unescape("".join(entry.previous))
        self.raws[entry.line] = Raw(entry.line, tuple(entry.comments), previous, tuple(pieces))
        self.entry, self.keyword = _Entry(), ""


def starts(pieces: tuple[Piece, ...]) -> Iterator[tuple[int, int]]:
    """Line and column at which each line of the translation begins."""
    at_start = True
    for piece in pieces:
        for row in re.finditer(r"[^\n]*\n|[^\n]+", piece.text):
            if at_start:
                yield piece.line, piece.column + row.start()
            at_start = row[0].endswith("\n")
