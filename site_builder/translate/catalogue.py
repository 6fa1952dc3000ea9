"""
---
title: Catalogues
summary: A PO file as entries, and entries as a PO file, byte for byte the same.
---
# Catalogues

One PO file a page: `translations/ja/transformers/mha.po`. An entry's reference is the *place* of its block — the page,
the section's anchor and the block's number in it — so that a block whose text has changed is still found, and can be
called stale.

A text stands in a catalogue once, with all its places. Where it is to be translated apart, a translator copies its
entry, gives the copy a `msgctxt` — any word — and moves to it the references of the places that it is for. An update
leaves the two apart, and what they say is nobody's concern but the translator's.

Babel reads the file. It is written here, entry by entry, because Babel's writer folds the comments of people and the
previous text of a stale entry at 76 columns, and each reading and writing would change them.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from babel.messages.catalog import Message
from babel.messages.pofile import PoFileError, normalize, read_po

from site_builder.errors import Diagnostic
from site_builder.translate import syntax
from site_builder.translate.glossary import Term
from site_builder.translate.locales import locale
from site_builder.translate.syntax import CatalogueSyntaxError, Piece, Raw, Scan

MACHINE = "machine"
"""The flag of a draft: until somebody has read it and taken the flag away, the page says who wrote it."""

REFUSED = "#. draft refused: "
"""How a comment begins that says why a text was left without a draft."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a block stands: the section's anchor (or `@title`, `@summary`, `@intro`) and its number there."""

    anchor: str
    ordinal: int


@dataclass(frozen=True, slots=True)
class Entry:
    """
    One translation. An entry is `stale` (PO says *fuzzy*) when its `text` translates `previous`, no longer `source`;
    it is `obsolete` when the page has no such block any more. `places` are those of a page's blocks, `files` the
    templates that say the text. A text that counts has its `plural`, and all its `forms`.
    """

    source: str
    text: str = ""
    context: str = ""
    plural: str = ""
    forms: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()
    files: tuple[str, ...] = ()
    previous: str = ""
    stale: bool = False
    obsolete: bool = False
    comments: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    line: int = 1
    pieces: tuple[Piece, ...] = ()

    @property
    def translates(self) -> str:
        """The text that `text` is a translation of; empty where nobody can tell."""
        if not self.text:
            return ""
        return self.previous if self.stale else self.source

    @property
    def drafted(self) -> bool:
        """Whether a machine wrote the translation and nobody has reviewed it."""
        return MACHINE in self.flags and bool(self.text)


@dataclass(frozen=True)
class Catalogue:
    """
    The translations of one page, as they stand in its file. `header` and `trailing` are kept as typed. `terms` is
    what they are held to.
    """

    path: str
    lang: str
    entries: tuple[Entry, ...]
    header: str = ""
    trailing: tuple[str, ...] = ()
    terms: tuple[Term, ...] = ()


def read(path: str, lang: str, data: bytes) -> tuple[Catalogue | None, tuple[Diagnostic, ...]]:
    """The catalogue, or the first reason why it cannot be used."""
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
        found = syntax.scan(text)
        # Lines such as `#~| msgid` are gettext's, and unknown to Babel.
        known = "\n".join("" if line.lstrip().startswith("#~|") else line for line in text.split("\n"))
        messages = read_po(io.StringIO(known), locale=locale(lang), abort_invalid=True)
    except CatalogueSyntaxError as fault:
        return None, (_fault(path, fault.line, fault.column, fault.what),)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = len(data[data.rfind(b"\n", 0, error.start) + 1 : error.start].decode("utf-8", "replace")) + 1
        return None, (_fault(path, line, column, "it is not written in UTF-8"),)
    except PoFileError as error:
        return None, (_fault(path, int(error.lineno) + 1, 1, str(error.args[0]).rpartition(" on ")[0]),)
    except (ValueError, LookupError, AttributeError, TypeError) as error:
        # What Babel says of a header that it does not understand.
        return None, (_fault(path, 1, 1, str(error)),)
    active = (message for message in messages if message.id)
    entries = (
        *(_entry(message, found, obsolete=False) for message in active),
        *(_entry(message, found, obsolete=True) for message in messages.obsolete.values()),
    )
    return Catalogue(path, lang, entries, found.header, found.trailing), ()


def write(catalogue: Catalogue, page_url: str = "") -> bytes:
    """The PO file. Equal catalogues give equal bytes, since no clock is asked."""
    parts = [catalogue.header or header(catalogue.lang)]
    for entry in sorted(catalogue.entries, key=lambda entry: entry.obsolete):
        parts.append("\n".join(_rows(entry, page_url)))
    if catalogue.trailing:
        parts.append("\n".join(catalogue.trailing))
    return ("\n\n".join(parts) + "\n").encode()


def header(lang: str, plural_forms: str = "") -> str:
    """The first entry of a new catalogue."""
    fields = [
        f"Language: {lang}",
        "MIME-Version: 1.0",
        "Content-Type: text/plain; charset=utf-8",
        "Content-Transfer-Encoding: 8bit",
    ]
    if plural_forms:
        fields.append(f"Plural-Forms: {plural_forms}")
    return "\n".join(('msgid ""', 'msgstr ""', *(f'"{field}\\n"' for field in fields)))


def _entry(message: Message, scan: Scan, *, obsolete: bool) -> Entry:
    raw = scan.raws.get(message.lineno or 0, Raw(1))
    source, plural = message.id if isinstance(message.id, (list, tuple)) else (message.id, "")
    strings = message.string if isinstance(message.string, (list, tuple)) else (message.string or "",)
    stale = "fuzzy" in message.flags
    return Entry(
        source=source,
        text=strings[0] if all(strings) else "",
        context=message.context or "",
        plural=plural,
        forms=tuple(strings) if plural else (),
        places=tuple(_places(message)),
        files=tuple(file for file, _ in message.locations if "#" not in file),
        previous=raw.previous if stale else "",
        stale=stale,
        obsolete=obsolete,
        comments=raw.comments,
        # Babel guesses that `100 % of` is a format of Python's.
        flags=tuple(
            sorted(flag for flag in message.flags if flag != "fuzzy" and not flag.startswith("python-"))
        ),
        line=raw.line,
        pieces=raw.pieces,
    )


def _places(message: Message) -> Iterator[Place]:
    for where, number in message.locations:
        _, sign, anchor = where.partition("#")
        if sign:
            yield Place(anchor.replace("%20", " "), (number or 1) - 1)


def _rows(entry: Entry, page_url: str) -> Iterator[str]:
    """The lines of one entry."""
    yield from entry.comments
    sign = "#~ " if entry.obsolete else ""
    if not entry.obsolete:
        references = (*(_reference(page_url, place) for place in entry.places), *entry.files)
        yield from (f"#: {reference}" for reference in references)
        if flags := (*(["fuzzy"] if entry.stale else []), *entry.flags):
            yield f"#, {', '.join(flags)}"
        if entry.stale and entry.previous:
            yield from _statement("#| ", "msgid", entry.previous)
    if entry.context:
        yield from _statement(sign, "msgctxt", entry.context)
    yield from _statement(sign, "msgid", entry.source)
    if entry.plural:
        yield from _statement(sign, "msgid_plural", entry.plural)
        for number, form in enumerate(entry.forms):
            yield from _statement(sign, f"msgstr[{number}]", form)
    else:
        yield from _statement(sign, "msgstr", entry.text)


def _statement(sign: str, keyword: str, text: str) -> Iterable[str]:
    return (sign + row for row in f"{keyword} {normalize(text, width=0)}".split("\n"))


def _reference(page_url: str, place: Place) -> str:
    return f"{page_url}#{place.anchor}:{place.ordinal + 1}".replace(" ", "%20")


def _fault(path: str, line: int, column: int, what: str) -> Diagnostic:
    return Diagnostic(
        path,
        line,
        column,
        "catalogue-syntax",
        f"the catalogue cannot be read: {what}",
        "what it translates is shown in the source language until this is mended",
    )
