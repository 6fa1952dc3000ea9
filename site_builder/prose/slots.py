"""
---
title: Slots
summary: Private-use characters keep a place in the Markdown for what Markdown must not touch.
---
# Slots

A code span, a formula, a link's destination: each is taken out before Markdown is read and put back when the HTML
is made. A slot is a number between two private-use characters. An author who types those characters gets slots for
them too, so no text can be mistaken for one.
"""

from __future__ import annotations

from collections.abc import Sequence

from site_builder.lazy import regex

OPEN, CLOSE = "\ue000", "\ue001"
SLOT = regex(f"{OPEN}(\\d+){CLOSE}")
_OURS = regex(f"[{OPEN}{CLOSE}]")
# Python-Markdown uses \x02 and \x03 for slots of its own; a lone surrogate cannot be written to a file.
_UNWRITABLE = regex("[\x00\x02\x03\ud800-\udfff]")
# Unicode has these two for notes between the lines, which no text of ours has; `search.js` knows them too.
_HIDE, _SHOW = "\ufff9", "\ufffb"
_READABLE = regex(r"[^\\{}&]*")


def plain_formula(tex: str) -> str:
    """A formula as plain text: between marks where it is more than letters and signs, which only a search reads."""
    return tex if _READABLE.fullmatch(tex) else f"{_HIDE}{tex}{_SHOW}"


def bare(text: str) -> str:
    """Plain text without the marks around formulas."""
    return text.replace(_HIDE, "").replace(_SHOW, "") if _HIDE in text else text


def writable(text: str) -> str:
    """The text without what no page can hold, character for character."""
    return _UNWRITABLE.sub("\ufffd", text)


class Slots:
    """What was taken out, as the HTML to put back and as plain text. `foreign` ones hold an author's own HTML."""

    def __init__(self) -> None:
        self.html: list[str] = []
        self.plain: list[str] = []
        self.foreign: set[int] = set()

    def add(self, html: str, plain: str = "", *, foreign: bool = False) -> str:
        """The slot to write in its place."""
        if foreign:
            self.foreign.add(len(self.html))
        self.html.append(html)
        self.plain.append(plain)
        return f"{OPEN}{len(self.html) - 1}{CLOSE}"

    def text(self, text: str) -> str:
        """Text without anything that could be taken for a slot."""
        return text if text.isascii() else _OURS.sub(lambda mark: self.add(mark[0], mark[0]), text)

    def fill(self, html: str) -> str:
        return _filled(html, self.html)

    def fill_foreign(self, html: str) -> str:
        """Put back only what comes from an author, for whoever wants to clean it."""
        return SLOT.sub(
            lambda slot: _OURS.sub("", self.html[n]) if (n := int(slot[1])) in self.foreign else slot[0], html
        )

    def fill_plain(self, text: str) -> str:
        return _filled(text, self.plain)


def _filled(text: str, contents: Sequence[str]) -> str:
    if OPEN not in text:
        return text
    parts = SLOT.split(text)
    parts[1::2] = [contents[int(number)] for number in parts[1::2]]
    return "".join(parts)
