"""
---
title: Merge
summary: A catalogue brought up to date with its page, and nothing that a person wrote lost.
---
# Merge

The new catalogue has the page's blocks in reading order, each text once. What a translator wrote stays: a translation
whose text has changed becomes stale, one whose text is gone becomes obsolete, and comments go along. To merge a second
time changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from site_builder.model import BlockState
from site_builder.translate.catalogue import MACHINE, REFUSED, Catalogue, Entry
from site_builder.translate.matching import Match, Unit, key, match

Memory = Mapping[str, Entry]
"""The translations of a whole language by the words that they translate."""


def memory(catalogues: Iterable[Catalogue]) -> dict[str, Entry]:
    """What has been translated anywhere, so that it keeps its translation on another page; drafts count last."""
    found: dict[str, Entry] = {}
    for catalogue in catalogues:
        for entry in catalogue.entries:
            if entry.translates and not entry.plural:
                name = key(entry.translates)
                if name not in found or (found[name].drafted and not entry.drafted):
                    found[name] = entry
    return found


def merged(units: Sequence[Unit], old: Catalogue, known: Memory) -> Catalogue:
    """The catalogue for these blocks. `known` helps out where `old` has no translation of the very text."""
    entries: dict[tuple[str, str], Entry] = {}
    used: list[Entry] = []
    for found in match(units, old.entries):
        entry, carried = _updated(found, known)
        name = (entry.context, entry.source)
        first = entries.setdefault(name, entry)
        if first is not entry:
            entry, carried = _joined(first, entry), carried and first.text in ("", entry.text)
            entries[name] = entry
        if carried and found.entry:
            used.append(found.entry)
    kept = tuple(entries.values())
    return replace(old, entries=(*kept, *obsolete(old.entries, used)))


def obsolete(old: Iterable[Entry], used: Iterable[Entry]) -> tuple[Entry, ...]:
    """What people wrote in those of the old entries that are used no more."""
    still = {id(entry) for entry in used}
    gone: dict[tuple[str, str], Entry] = {}
    for entry in sorted(old, key=lambda entry: not entry.obsolete):
        if id(entry) not in still and (entry.text or entry.comments):
            source = entry.translates or entry.source
            last = replace(entry, source=source, previous="", stale=False, obsolete=True, places=(), files=())
            name = (entry.context, source)
            gone[name] = _buried(gone[name], last) if name in gone else last
    return tuple(gone.values())


def _updated(found: Match, known: Memory) -> tuple[Entry, bool]:
    """The entry of one block, and whether the old one lives on in it."""
    unit, old = found.unit, found.entry
    places = (unit.place,)
    if found.state is not None and (other := known.get(key(unit.text))):
        flags = (MACHINE,) if other.drafted else ()
        return Entry(unit.text, other.text, places=places, flags=flags), False
    if old is None:
        return Entry(unit.text, places=places), False
    entry = replace(old, source=unit.text, places=places, files=(), obsolete=False)
    stale = found.state is BlockState.STALE
    if entry.text:
        entry = replace(
            entry, comments=tuple(line for line in entry.comments if not line.startswith(REFUSED))
        )
    return replace(entry, stale=stale, previous=old.translates if stale else ""), True


def _joined(first: Entry, second: Entry) -> Entry:
    """One entry for two blocks of the same text; where they disagree, the translation of the first."""
    best, other = (second, first) if second.text and not first.text else (first, second)
    comments = best.comments
    if other.text in ("", best.text):
        comments = _with(comments, other.comments)
    return replace(best, places=(*first.places, *second.places), comments=comments)


def _buried(first: Entry, second: Entry) -> Entry:
    """One obsolete entry for two of the same text; a second translation lives on in a comment."""
    more = second.comments
    if second.text and first.text and second.text != first.text:
        more = (*more, *(f"# {row}" for row in second.text.split("\n")))
    return replace(first, text=first.text or second.text, comments=_with(first.comments, more))


def _with(comments: tuple[str, ...], more: Collection[str]) -> tuple[str, ...]:
    return (*comments, *(comment for comment in more if comment not in comments))
