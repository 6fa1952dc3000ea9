"""
---
title: Finding claims
summary: Which code spans of a page's prose are claims, and which only mean to be.
---
# Finding claims

Code spans are found by the splitter that the page itself is made with: what is shown as code, and nothing else.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from site_builder import blocks
from site_builder.blocks import AtomKind
from site_builder.claims.axes import AxisError, read_axes
from site_builder.claims.model import INTRO, RETURN, Claim, on_one_line
from site_builder.errors import Diagnostic
from site_builder.lazy import regex
from site_builder.model import Page, Position, Prose
from site_builder.prose.context import Passage

_NAMED = regex(r"\s*([^\W\d]\w*(?:\.[^\W\d]\w*)*)\s*:\s*\[(.*)", re.DOTALL)
_FROM_AFAR = regex(r"`\s*[^\W\d][\w.\s]*:\s*\[")
_OTHER_CODE = regex(r"[\"'{}=:;@]|\blambda\b")
"""What no axis holds, so that an author who typed it had other code in mind."""

HINT = "write `name: [axis, axis]`, several possibilities as several claims"


class Found(NamedTuple):
    claims: tuple[Claim, ...]
    diagnostics: tuple[Diagnostic, ...]


def find(page: Page, variables: Collection[str]) -> Found:
    """
    The claims of a page, in order. A Markdown page has no code to speak of, and what opens a module is about other
    things than its `variables`, unless it names one.
    """
    claims: list[Claim] = []
    faults: list[Diagnostic] = []
    if page.source.is_markdown:
        return Found((), ())
    for section, prose in ((INTRO, page.intro), *((n, one.prose) for n, one in enumerate(page.sections))):
        for text, position in code_spans(prose):
            if section == INTRO and not ((named := _NAMED.fullmatch(text)) and named[1] in variables):
                continue
            try:
                claim = read(text, section, position)
            except AxisError as error:
                message = f"`{on_one_line(text)}` begins like a claim, but {error}"
                faults.append(Diagnostic.at(position, "claim-syntax", message, HINT))
            else:
                claims += [claim] if claim else []
    return Found(tuple(claims), tuple(faults))


def may_claim(page: Page) -> bool:
    """Whether anything in the page's prose looks like a claim from afar: most pages of most packages have none."""
    proses = (page.intro, *(section.prose for section in page.sections))
    return any("`" in prose.text and _FROM_AFAR.search(prose.text) for prose in proses)


def code_spans(prose: Prose) -> Iterator[tuple[str, Position]]:
    """What stands between backticks, and where its first backtick does."""
    if "`" not in prose.text:
        return
    for block in blocks.split(prose.text):
        if block.translatable:
            passage = Passage(block, prose.text)
            for atom in blocks.atoms(passage.text):
                if atom.kind is AtomKind.CODE:
                    place = prose.position(passage.offset(atom.start))
                    yield passage.text[slice(*atom.inner)], place


def read(text: str, section: int, position: Position) -> Claim | None:
    """
    The code span as a claim; `None` if it is other code. Raises `AxisError` for what is meant to be one.

    >>> place = Position("mha.py", 1, 1)
    >>> claim = read("query: [seq_len, batch_size, heads * d_k]", 0, place)
    >>> claim.name, [axis.text for axis in claim.axes]
    ('query', ['seq_len', 'batch_size', 'heads * d_k'])
    >>> [read(text, 0, place) for text in ("x: int", "x[1:2]", "symbols: ['Q']", "else: [x]")]
    [None, None, None, None]
    """
    found = _NAMED.fullmatch(text)
    if not found:
        return None
    name, rest = found[1], found[2].rstrip()
    parts = name.split(".")
    if _OTHER_CODE.search(rest) or any(map(keyword.iskeyword, parts[parts[0] == RETURN :])):
        return None
    inner, closing, after = rest.rpartition("]")
    if not closing:
        raise AxisError("its bracket is never closed")
    if after or "]" in inner or "[" in inner:
        raise AxisError("it does not end with its bracket")
    return Claim(section, name, read_axes(on_one_line(inner)), on_one_line(text), position)
