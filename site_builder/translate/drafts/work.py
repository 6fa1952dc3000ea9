"""
---
title: What there is to draft
summary: Blocks without a translation, in batches of one page each, and what becomes of an answer.
---
# What there is to draft

A block is drafted when it has no translation, or only a draft of an older text that nobody has reviewed. What a person
wrote is left to people, be it stale or not; so is a text that counts, since its forms need a speaker.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from site_builder.translate import glossary
from site_builder.translate.catalogue import MACHINE, REFUSED, Catalogue, Entry, Place
from site_builder.translate.comparing import faults, mismatches
from site_builder.translate.drafts.protecting import Protected, protect
from site_builder.translate.glossary import Term
from site_builder.translate.unseen import unseen

Name = tuple[str, str]
"""Context and text: what no two entries of a catalogue have in common."""

_START = Place("", 0)


@dataclass(frozen=True)
class Job:
    """One block to be drafted."""

    entry: Entry
    text: Protected
    terms: tuple[Term, ...]
    interface: bool = False
    lang: str = ""

    @property
    def name(self) -> Name:
        return self.entry.context, self.entry.source

    def checked(self, answer: str) -> str:
        """
        The draft, put together again and held to the rules that any translation is held to.

        Raises:
            ValueError: it breaks one of them; the message says which.
        """
        if not answer.strip():
            raise ValueError("it is empty")
        if found := unseen(self.entry.source, answer, self.lang):
            raise ValueError(f"it holds characters that are no text: {', '.join(found)}")
        text = self.text.restored(answer).strip()
        if text == self.entry.source and len(glossary.words(text).split()) > 3:
            raise ValueError("it is not translated")
        entry, source = replace(self.entry, text=text), self.entry.source
        if self.interface:
            wrong = [*mismatches("", entry, source, placeholders=True)]
        else:
            place = self.entry.places[0] if self.entry.places else _START
            wrong = faults("", entry, source, place, self.terms, self.lang)
        if wrong:
            raise ValueError("; ".join(fault.message for fault in wrong))
        return text


def jobs(catalogue: Catalogue, terms: Sequence[Term], *, interface: bool) -> tuple[Job, ...]:
    """Every block of a catalogue that waits for a draft, in reading order."""
    return tuple(
        Job(
            entry,
            protect(entry.source, placeholders=interface),
            glossary.occurring(entry.source, terms),
            interface,
            catalogue.lang,
        )
        for entry in catalogue.entries
        if is_open(entry)
    )


def is_open(entry: Entry) -> bool:
    return not entry.obsolete and not entry.plural and (not entry.text or (entry.stale and entry.drafted))


def batches(waiting: Sequence[Job], size: int, characters: int = 6000) -> Iterator[tuple[Job, ...]]:
    """So many blocks at a time, or fewer where they are long."""
    batch: list[Job] = []
    length = 0
    for job in waiting:
        if batch and (len(batch) == size or length + len(job.text.shown) > characters):
            yield tuple(batch)
            batch, length = [], 0
        batch.append(job)
        length += len(job.text.shown)
    if batch:
        yield tuple(batch)


def filled(catalogue: Catalogue, drafts: Mapping[Name, str], notes: Mapping[Name, str]) -> Catalogue:
    """The catalogue with drafts, and with what was wrong with those that were refused; a person's work stays."""
    return replace(catalogue, entries=tuple(_filled(entry, drafts, notes) for entry in catalogue.entries))


def _filled(entry: Entry, drafts: Mapping[Name, str], notes: Mapping[Name, str]) -> Entry:
    name = (entry.context, entry.source)
    if not is_open(entry) or (name not in drafts and name not in notes):
        return entry
    comments = tuple(line for line in entry.comments if not line.startswith(REFUSED))
    if name in notes:
        return replace(entry, comments=(*comments, f"{REFUSED}{' '.join(notes[name].split())}"))
    flags = tuple(sorted({*entry.flags, MACHINE}))
    return replace(entry, text=drafts[name], stale=False, previous="", comments=comments, flags=flags)
