r"""
---
title: Scanner
summary: Expressions find the tokens that Pygments would, and leave the rest to it.
---
# Scanner

Pygments tries some forty rules at every token. Nearly all of a file needs ten, so here these are one expression, and
its matches are tokens; of some strings it finds the beginning, and another one the end. What a word is [is written
down](words.html), and so is how Pygments cuts [plain imports and decorators](statements.html) and
[f-strings](formatted.html). Other ones are handed to Pygments one by one: before and behind each of them it is where it
was at the start of the file.

Nothing is guessed. Where a file has something that the expression does not cover, or might cover in another way than
Pygments, `UnsureError` says so, and the file is Pygments' to read.
"""

from __future__ import annotations

import re
from functools import lru_cache
from keyword import kwlist

from pygments.token import Comment, Keyword, Name

from site_builder.highlight.classes import CLASSES, IS_NAME, Kind, Token, merges
from site_builder.highlight.formatted import parts
from site_builder.highlight.reader import Reader, lexer
from site_builder.highlight.statements import statement
from site_builder.highlight.words import KINDS
from site_builder.lazy import regex

_WORD = "[A-Za-z_][A-Za-z0-9_]*+"
_DIGITS = "[0-9](?:_?[0-9])*+"

# A brace in a string may open a field of `str.format`, and for Pygments what is in its brackets, and the character that
# it fills with, may be a quote. Nothing else in a string reaches over its end.
_BRACE = r"""\{\{|\{(?![\w.]*(?:\[|(?:![sra])?:["'][<>=^]))"""
_ESCAPE = r"""\\(?:[\\"'\n]|(?!N\{))"""
_RAW_ESCAPE = r"""\\(?:[\\"'\n]|)"""


def _long(escape: str) -> str:
    """A string between three quotes."""
    return "|".join(rf"{q * 3}(?>[^\\{{{q}]++|{_BRACE}|{escape}|{q}(?!{q}{q}))*+{q * 3}" for q in "\"'")


def _short(escape: str) -> str:
    """A string between single ones."""
    return "|".join(rf"{q}(?!{q}{q})(?>[^\\{{{q}\n]++|{_BRACE}|{escape})*+{q}" for q in "\"'")


_PLAIN = r"""[^\\{}"'\n]"""
_FIELD = rf"""\{{(?:{_PLAIN}|"{_PLAIN}*+"|'{_PLAIN}*+'|\{{{_PLAIN}*+\}})*+\}}"""
_FORMATTED = "|".join(
    (
        *(rf"{q * 3}(?>[^\\{{{q}]++|\{{\{{|{_FIELD}|\\[^N]|{q}(?!{q}{q}))*+{q * 3}" for q in "\"'"),
        *(rf"{q}(?!{q}{q})(?>[^\\{{{q}\n]++|\{{\{{|{_FIELD}|\\[^N])*+{q}" for q in "\"'"),
    )
)
_ALIAS = rf"(?:[ \t]++as[ \t]++{_WORD})?+"
_MODULE = rf"{_WORD}(?:\.{_WORD})*+{_ALIAS}"
_LIST = r"\((?:[^()\"'\\\#]|\#[^\n]*)*+\)"
_END = r"[ \t]*+(?=[\n\#;]|\Z)"
_ASKED = "|".join(
    (
        rf"import[ \t]++{_MODULE}(?:[ \t]*+,[ \t]*+(?:\\\n[ \t]*+)?{_MODULE})*+{_END}(?!\s*(?:,|as\b))",
        rf"from[ \t]++[A-Za-z0-9_.]++[ \t]++import\b(?:[^\n(\#;\"'\\]|\\\n)*+(?:{_LIST})?{_END}",
        rf"from[ \t]++\.*+{_WORD}(?:\.{_WORD})*+(?![\"'.]|\s*import\b)",
        rf"@{_WORD}(?:\.{_WORD})*+(?=[ \t]*+(?:[^\w.\s\"'\\]|\n|\Z))",
    )
)
_STATEMENT = (
    rf"(?:match|case)(?=[ \t]++(?!(?:{'|'.join(word for word in kwlist if word.islower())})\b)"
    r"[^\s\\\#:,;=^&|@~)\]}])(?!\s+[^\n_]*_\b)"
)
"""Where these begin a statement and not an expression. In some patterns Pygments has another colour for `_`."""
_PIECE = regex(r"\s+|\w+")
_REACHING = frozenset({"as", "class", "def", "from", "import", "yield"})
"""Words that are others before white space than at the end."""

# The whole of a string of which `_TOKEN` has found the beginning. Not every file has any.
_WHOLE = {
    "formatted": regex(rf"[a-zA-Z]{{1,2}}(?:{_FORMATTED})"),
    "raw": regex(rf"[a-zA-Z]{{1,2}}(?:{_long(chr(92) * 2)}|{_short(_RAW_ESCAPE)})"),
}

# The name of each alternative stands behind it, where only what has matched comes by.
_TOKEN = regex(
    rf"""
      ^ (?:
          [ \t]*+[rRuUbB]{{,2}}(?:\"{{3}}[\s\S]*?\"{{3}}|'{{3}}[\s\S]*?'{{3}}) (?P<doc>)
        | [ \t]*+(?:case[ \t]++_(?=:)|{_STATEMENT}) (?P<statement>)
        | (?:[ \t]*+(?:match|case)\b(?![ \t]*[:,;=^&|@~)\]}}])|lazy[\s\\]) (?P<soft>)
      )
    | [ \t][ \t]*+ (?P<space>)
    | (?=[@fi]) (?:{_ASKED}) (?P<asked>)
    | (?:[fFtT][rR]?|[rR][fFtT])(?=["']) (?P<formatted>)
    | (?:[rR][bB]?|[bB][rR])(?=["']) (?P<raw>)
    | (?=[cd]) (?:def|class)(?=[ \t]++(?!(?:from|import|yield|def|class)\b){_WORD}(?!["'])) (?P<define>)
    | (?=y) yield[ ]from(?![A-Za-z0-9_]) (?P<chain>)
    | [A-Za-z_][A-Za-z0-9_]*+(?!["']) (?P<word>)
    | [][{{}}(),;:](?<!:(?==))(?:[][{{}}(),;]|:(?!=))*+ (?P<punctuation>)
    | \n (?P<newline>)
    | (?:
        (?:{_DIGITS}\.(?:{_DIGITS})?|(?:{_DIGITS})?\.{_DIGITS})(?:[eE][+-]?{_DIGITS})?
      | {_DIGITS}[eE][+-]?{_DIGITS}j?
      | 0[oO](?:_?[0-7])++ | 0[bB](?:_?[01])++ | 0[xX](?:_?[a-fA-F0-9])++ | {_DIGITS}
      ) (?P<number>)
    | (?:[-~+/*%=<>&^|]|[!:]=|\.(?![0-9])|@(?![A-Za-z_]))++ (?P<operator>)
    | \#[^\n]*+ (?P<comment>)
    | [uUbB]?(?:{_long(_ESCAPE)}|{_short(_ESCAPE)}) (?P<string>)
    | (?!(?:[rRbBuUfFtT]{{1,2}}["'])){_WORD} (?P<quoted>)
    | \\(?:\n|\Z) (?P<continued>)
    | [\s\S] (?P<odd>)
    """,
    re.VERBOSE | re.MULTILINE,
)


class UnsureError(Exception):
    """The file is not for the scanner."""


class _Made(dict[str, Token]):
    """The tokens of one class by their text. Most stand in a file many times, and are found faster than made."""

    def __init__(self, cls: str) -> None:
        super().__init__()
        self.cls = cls

    def __missing__(self, text: str) -> Token:
        self[text] = Token(self.cls, text)
        return self[text]


_MADE = {cls: _Made(cls) for cls in ("", *{*CLASSES.values()})}


def scanned(text: str) -> list[list[Token]]:
    """The tokens of each line, without line ends."""
    scan = _Scan(text)
    scan.run(0, len(text))
    return scan.rows


class _Scan:
    """How far a file is read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.rows: list[list[Token]] = [[]]
        self.reader = Reader()

    def run(self, start: int, end: int) -> None:
        """Reads on, up to the end of the file or of a piece of code in it."""
        while start < end:
            start = self.read(start, end)

    def read(self, start: int, end: int) -> int:
        """Reads on as far as one search goes: to a string of a kind whose end another expression finds."""
        text, rows, reader = self.text, self.rows, self.reader
        imported = reader.imports.known
        spaces, signs, operators = _MADE[""], _MADE["p"], _MADE["o"]
        line, before, owner = rows[-1], reader.before, reader.owner
        for found in _TOKEN.finditer(text, start, end):
            group, part = found.lastgroup, found[0]
            if group == "space":
                line.append(spaces[part])
            elif group == "word" or group == "quoted":
                cls, is_name, is_free = _WORDS[part]
                if before == "def" or before == "class":
                    cls = owner = "n"
                elif is_name:
                    if not is_free and text.startswith(".", max(found.start() - 1, 0)) != (before == "."):
                        raise UnsureError(part)
                    if before == ".":
                        cls = "t" if owner == "t" and part[0].isupper() else ""
                    else:
                        if is_free and part in imported:
                            cls = "t"
                        owner = cls
                line.append(_MADE[cls][part])
                before = part
            elif group == "punctuation":
                if line and line[-1][0] == "p":
                    _append(line, "p", part)
                else:
                    line.append(signs[part])
                before = part[-1]
            elif group == "newline":
                line = []
                rows.append(line)
                before = "\n"
            elif group == "operator":
                if line and line[-1][0] == "o":
                    _append(line, "o", part)
                else:
                    line.append(operators[part])
                before = part[-1]
            elif group == "comment":
                _append(line, "c", part)
            elif group == "define" or group == "chain":
                line.append(Token("k", part))
                before = part
            elif group == "number":
                line.append(Token("m", part))
                before = part
            elif group == "string":
                line = _spread(rows, "g", part)
                before = part[-1]
            elif group == "doc":
                string = part.lstrip()
                if len(string) < len(part):
                    line.append(Token("", part[: -len(string)]))
                line = _spread(rows, "g", string)
                before = part[-1]
            elif group == "statement":
                for piece in _PIECE.findall(part):
                    line.append(spaces[piece] if piece.isspace() else Token("k", piece))
                    before = piece
            elif group == "formatted" or group == "raw":
                whole = _WHOLE[group].match(text, found.start(), end)
                if not whole:
                    raise UnsureError(part)
                reader.before, reader.owner = before, owner
                if group == "raw":
                    _spread(rows, "g", whole[0])
                    reader.before = whole[0][-1]
                else:
                    self.formatted(whole)
                return whole.end()
            elif group == "asked":
                reader.before, reader.owner = before, owner
                line = self.asked(part, found.end())
                before, owner = reader.before, reader.owner
            elif group == "continued":
                line = _spread(rows, "", part)
                before = part
            else:
                raise UnsureError(part)
        reader.before, reader.owner = before, owner
        return end

    def asked(self, part: str, end: int) -> list[Token]:
        """Reads what Pygments was asked for; returns the line that it ends in."""
        reader, line = self.reader, self.rows[-1]
        for kind, piece in _asked(part):
            cls, piece = reader.read(kind, piece)
            line = _spread(self.rows, cls, piece)
        if reader.imports.state and self.text[end : end + 1] not in ("", "\n", "#", ";"):
            raise UnsureError(part)
        reader.imports.state, reader.decorating = "", False
        return line

    def formatted(self, whole: re.Match[str]) -> None:
        """Reads an f-string, and the code in its fields."""
        pieces = parts(self.text, *whole.span())
        if not pieces:
            self.asked(whole[0], whole.end())
            return
        for piece in pieces:
            start, end = piece.span(1)
            if start >= 0:
                _append(self.rows[-1], "p", "{")
                self.reader.before = "{"
                self.run(start, end)
                _append(self.rows[-1], "p", self.text[end : piece.end()])
            else:
                _spread(self.rows, "p" if piece[0] == "}" else "g", piece[0])
        self.reader.before = whole[0][-1]


def _append(line: list[Token], cls: str, text: str) -> None:
    """Puts a token behind the others, or into the last of them."""
    if line and line[-1][0] == cls and merges(cls, line[-1][1], text):
        line[-1] = Token(cls, line[-1][1] + text)
    else:
        line.append(Token(cls, text))


def _spread(rows: list[list[Token]], cls: str, text: str) -> list[Token]:
    """The same with one that may run over several lines; returns the last of these."""
    first, *others = text.split("\n")
    if first:
        _append(rows[-1], cls, first)
    rows += [[Token(cls, part)] if part else [] for part in others]
    return rows[-1]


class _Words(dict[str, tuple[str, bool, bool]]):
    """The class of a word by itself; whether it is a name, and whether it is one like any other."""

    def __missing__(self, word: str) -> tuple[str, bool, bool]:
        kind = KINDS.get(word, Name)
        if kind is Keyword.Namespace or word in ("def", "class"):
            raise UnsureError(word)
        if kind is Name.Builtin.Pseudo and word in ("self", "cls"):
            self[word] = "p", True, False
        else:
            is_free = kind is Name or kind is Name.Function.Magic
            self[word] = "" if is_free else CLASSES[kind], IS_NAME[kind], is_free
        return self[word]


_WORDS = _Words()


@lru_cache(maxsize=4096)
def _asked(text: str) -> tuple[tuple[Kind, str], ...]:
    """What Pygments has for it, provided that it would go on behind it as at the start of a file."""
    if plain := statement(text):
        return tuple(plain)
    *found, last = _kinds(f"{text}#")
    whole = "".join([part for _, part in found]) == text
    if not whole or last != (Comment.Single, "#") or found[-1][1] in _REACHING:
        raise UnsureError(text)
    return tuple(found)


def _kinds(text: str) -> list[tuple[Kind, str]]:
    return [(kind, part) for _, kind, part in lexer().get_tokens_unprocessed(text)]
