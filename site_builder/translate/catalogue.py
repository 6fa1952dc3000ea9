"""
---
title: Catalogues
summary: A PO file, read and written by Babel, looked up by text and by place.
---
# Catalogues

One PO file a page: `translations/ja/transformers/mha.po`. An entry's reference is the *place* of its block — the page, the section's
anchor and the block's number in it — so that a block whose text has changed is still found, and can be called stale.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from babel import UnknownLocaleError
from babel.messages.catalog import Catalog
from babel.messages.pofile import PoFileError, read_po, write_po

from site_builder.errors import Diagnostic


@dataclass(frozen=True, slots=True)
class Place:
    """Where a block stands: the section's anchor (or `@title`, `@summary`, `@intro`) and its number there."""

    anchor: str
    ordinal: int


@dataclass(frozen=True, slots=True)
class Entry:
    """
    One translation. `previous` is the text that it translates where that is no longer the source (then the entry
    is stale); `line` is where it begins in the file.
    """

    source: str
    text: str
    places: tuple[Place, ...] = ()
    previous: str = ""
    stale: bool = False
    comments: tuple[str, ...] = ()
    line: int = 1


@dataclass(frozen=True)
class Catalogue:
    path: str
    lang: str
    entries: tuple[Entry, ...]

    @cached_property
    def by_text(self) -> dict[str, Entry]:
        """Entries by the text that they really translate."""
        found: dict[str, Entry] = {}
        for entry in self.entries:
            if entry.text:
                found.setdefault(entry.previous if entry.stale and entry.previous else entry.source, entry)
        return found

    @cached_property
    def by_place(self) -> dict[Place, Entry]:
        return {place: entry for entry in self.entries if entry.text for place in entry.places}


def read(path: str, lang: str, data: bytes) -> tuple[Catalogue | None, tuple[Diagnostic, ...]]:
    """The catalogue, or why it cannot be used."""
    try:
        data.decode("utf-8")
        catalog = read_po(io.BytesIO(data), abort_invalid=True)
    except PoFileError as error:
        line = error.lineno if isinstance(error.lineno, int) else 1
        return None, (_fault(path, line, str(error.args[0]) if error.args else "not a PO file"),)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return None, (_fault(path, line, "not UTF-8"),)
    except (ValueError, UnknownLocaleError) as error:
        return None, (_fault(path, 1, str(error)),)
    entries = []
    for message in catalog:
        if not message.id or not isinstance(message.id, str) or not isinstance(message.string, str):
            continue
        places = tuple(
            Place(where.rpartition("#")[2], (number or 1) - 1) for where, number in message.locations if "#" in where
        )
        entries.append(
            Entry(
                source=message.id,
                text=message.string,
                places=places,
                previous=_previous(message.user_comments),
                stale=message.fuzzy,
                comments=tuple(comment for comment in message.user_comments if comment[:1] != "|"),
                line=message.lineno or 1,
            )
        )
    return Catalogue(path, lang, tuple(entries)), ()


def write(page_url: str, lang: str, entries: Iterable[Entry], plural_forms: str = "") -> bytes:
    """The PO file of one page; equal entries give equal bytes, since no clock is asked."""
    catalog = Catalog()
    for entry in entries:
        catalog.add(
            entry.source,
            entry.text,
            locations=[(f"{page_url}#{place.anchor}", place.ordinal + 1) for place in entry.places],
            flags=["fuzzy"] if entry.stale else [],
            user_comments=entry.comments,
            previous_id=entry.previous or (),
        )
    out = io.BytesIO()
    write_po(out, catalog, width=0, omit_header=True, include_previous=True, sort_output=False)
    header = [
        'msgid ""',
        'msgstr ""',
        f'"Language: {lang}\\n"',
        '"MIME-Version: 1.0\\n"',
        '"Content-Type: text/plain; charset=utf-8\\n"',
        '"Content-Transfer-Encoding: 8bit\\n"',
    ]
    if plural_forms:
        header.append(f'"Plural-Forms: {plural_forms}\\n"')
    return ("\n".join(header) + "\n\n").encode() + out.getvalue().strip() + b"\n"


def _previous(comments: Iterable[str]) -> str:
    """The text before the present one: a `#| msgid` line, which Babel's reader takes for a comment."""
    quoted = "".join(comment for comment in comments if comment.startswith("|"))
    return _unescape("".join(re.findall(r'"((?:[^"\\]|\\.)*)"', quoted)))


def _unescape(text: str) -> str:
    escapes = {"n": "\n", "t": "\t", "r": "\r"}
    return re.sub(r"\\(.)", lambda found: escapes.get(found[1], found[1]), text)


def _fault(path: str, line: int, what: str) -> Diagnostic:
    return Diagnostic(
        path,
        line,
        1,
        "catalogue-syntax",
        f"the catalogue cannot be read: {what}",
        "the page is shown in its source language until this is mended",
    )
