"""
---
title: One prose on its way
summary: What all blocks of one rendering share, and where each of their characters was typed.
---
# One prose on its way

Two kinds of coordinates meet here. A `Passage` knows where each character of a block stands in the prose, and the
prose knows where that is in the file. So a fault found in a piece of HTML is reported at the line and column where
the author typed it.

It also matters who typed it: what comes from a translator's catalogue is cleaned, what comes from the page's
author is not.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from typing import NamedTuple

from site_builder.blocks import Block
from site_builder.errors import Diagnostic
from site_builder.lazy import regex
from site_builder.model import Prose
from site_builder.prose.formulas import Formulas
from site_builder.prose.model import LinkError
from site_builder.prose.slots import Slots, writable


class Target(NamedTuple):
    """Where a link leads: the address, and the offset in the prose at which it was typed."""

    address: str
    title: str
    offset: int


class Context:
    """
    What the blocks of one rendering share. `trusted` is the file whose author may write any HTML, nothing where nobody
    else has written any; `named` are the ids that a translation has from the source.
    """

    formulas: Formulas

    def __init__(
        self,
        prose: Prose,
        slots: Slots,
        link: Callable[[str], str],
        references: Mapping[str, Target],
        note: Callable[[str], str | None],
        trusted: str | None,
        named: frozenset[str] = frozenset(),
    ) -> None:
        self.prose, self.slots, self.named = prose, slots, named
        self.link, self.references, self.note = link, references, note
        # A page's own words need no cleaning, and what cleans takes longer to load than to be used.
        self.trusted = None if trusted is None or prose.is_from(trusted) else trusted
        self.diagnostics: set[Diagnostic] = set()

    def report(self, offset: int, code: str, message: str, hint: str = "") -> None:
        place = self.prose.position(offset)
        self.diagnostics.add(Diagnostic(place.path, place.line, place.column, code, message, hint))

    def is_strange(self, offset: int) -> bool:
        """Whether what stands there was typed by somebody other than the page's author."""
        return self.trusted is not None and self.prose.position(offset).path != self.trusted

    def filled(self, made: str) -> str:
        """The HTML with everything put back that was taken out; a stranger's is cleaned first."""
        if self.trusted is not None:
            # What cleans HTML is loaded for translations, which alone are cleaned.
            from site_builder.prose.sanitise import sanitised

            made = sanitised(self.slots.fill_foreign(made))
        return self.slots.fill(made)

    def harmless(self, typed: str, offset: Callable[[int], int]) -> None:
        """Says where an author's HTML would run a script that stands in the page itself."""
        if found := _RUNS.search(typed):
            self.report(
                offset(found.start()),
                "inline-script",
                "a script in the page itself does not run where the site forbids it",
                "put it into a file of its own and load that with src",
            )

    def settled(self, address: str, offset: int, loads: bool = False) -> str | None:
        """
        The address to write; none, and a diagnostic, where it leads nowhere. `loads` says that the browser fetches it
        unasked.
        """
        if loads and _FOREIGN.match(address):
            self.report(
                offset,
                "remote-load",
                f"a reader's browser would ask {address!r} for this without being told to",
                "put the file beside the page",
            )
        try:
            return self.link(address)
        except LinkError as error:
            self.report(offset, error.code, error.message, error.hint)
            return None


_FOREIGN = regex(r"(?!data:)[a-z][\w+.-]*:|//", re.IGNORECASE)
_RUNS = regex(r"<script(?![^>]*\ssrc\s*=)|<\w[^<>]*\s(on[a-z]+)\s*=", re.IGNORECASE)


class Passage:
    """The text of one block, and where in the prose each of its characters stands."""

    def __init__(self, block: Block, text: str):
        self.text = writable(block.text(text))
        self.kind, self.spans = block.kind, block.spans
        self.begins: list[int] = []
        at = 0
        for start, end in block.spans:
            self.begins.append(at)
            at += end - start + 1

    def offset(self, at: int) -> int:
        line = max(bisect_right(self.begins, at) - 1, 0)
        return self.spans[line][0] + at - self.begins[line]


def normalised(label: str) -> str:
    """A reference's label: case and blanks do not count."""
    return " ".join(label.split()).casefold()


def unescaped(text: str) -> str:
    """An address or a title without backslashes and character references."""
    return html.unescape(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text))
