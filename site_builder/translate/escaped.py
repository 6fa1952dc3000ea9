"""
---
title: What escaped translation
summary: Plain English letters in a page of the accented pseudo-language.
---
# What escaped translation

In [a pseudo-language](pseudo.html) every letter that a translator was given bears an accent. So a word in plain letters
was said by a template or a script that did not ask, unless it is code, math, or a name. What stands in brackets was
given to a translator, plain letters and all: the title of a window has them from code in the title of its page.

    >>> list(escaped('<p>⟦Ţĥé ţéxţ⟧ of <code>add</code></p><img alt="A chart">'))
    ['⟦Ţĥé ţéxţ⟧ of', 'alt: A chart']
    >>> list(escaped("<title>⟦Ṽéçţóŕš íñ numpy⟧ · shapes</title><p>shapes of", {"shapes"}))
    ['shapes of']
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from html.parser import HTMLParser

from site_builder.blocks.vocabulary import VOID_ELEMENTS
from site_builder.lazy import regex

_WORD = regex(r"(?<![\w.{])[A-Za-z]{2,}(?![\w.]*\w)")
_SILENT = frozenset("annotation cite code kbd math pre samp script style svg".split())
_NAMES = frozenset("by crumbs extent katex name source".split())
"""Classes of elements that hold names, of modules, authors, files; others say `translate="no"`."""
_SPOKEN = frozenset(
    "alt aria-description aria-label aria-roledescription aria-valuetext placeholder title".split()
)
_GIVEN = regex(r"⟦[^⟦⟧]*⟧")
_KEY = regex(r'"\w+": ')
"""In forms of a text that counts: the name of one."""
_META = frozenset("description og:title og:description og:site_name".split())
_TECHNICAL = regex(r"\.\w+$|/|^[\w-]*$")
"""What an attribute of data holds when it holds no words for a reader: an address, or a name."""


def escaped(html: str, names: Collection[str] = ()) -> Iterator[str]:
    """
    Every text of a page with a word in plain letters, or the attribute that has one. `names` are those of modules and
    packages, which are the same in every language.
    """
    reader = _Reader(names)
    reader.feed(html)
    reader.close()
    yield from dict.fromkeys(reader.found)


class _Reader(HTMLParser):
    def __init__(self, names: Collection[str]) -> None:
        super().__init__()
        self.names = names
        self.open: list[tuple[str, bool]] = []
        self.found: list[str] = []
        self.lang = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "html":
            self.lang = values.get("lang", "")
        css = set(values.get("class", "").split())
        # A block in the language of the source is one that should have been translated.
        foreign = values.get("lang", self.lang) != self.lang and "fallback" not in css
        named = values.get("translate") == "no" or bool(css & _NAMES)
        silent = self.silent or tag in _SILENT or named or foreign
        for name, value in values.items():
            if self.is_said(tag, name, values) and not silent and self.is_plain(_KEY.sub("", value)):
                self.found.append(f"{name}: {value}")
        if tag not in VOID_ELEMENTS:
            self.open.append((tag, silent))

    def handle_endtag(self, tag: str) -> None:
        while self.open and any(name == tag for name, _ in self.open):
            if self.open.pop()[0] == tag:
                break

    def handle_data(self, data: str) -> None:
        # A language that nobody speaks has no name but its tag.
        if not self.silent and data.strip() != self.lang and self.is_plain(data):
            self.found.append(" ".join(data.split()))

    @property
    def silent(self) -> bool:
        return bool(self.open) and self.open[-1][1]

    def is_plain(self, text: str) -> bool:
        """Whether a part of the text was neither given to a translator nor is a name."""
        parts = _GIVEN.sub("", text).split(" · ")
        return any(_WORD.search(part) and part.strip() not in self.names for part in parts)

    def is_said(self, tag: str, name: str, values: dict[str, str]) -> bool:
        if name == "content":
            return tag == "meta" and (values.get("name") or values.get("property")) in _META
        return name in _SPOKEN or (name.startswith("data-") and not _TECHNICAL.search(values[name]))
