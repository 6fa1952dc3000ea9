"""
---
title: Which translation belongs to which block
summary: By equal text first, so that what moves keeps its translation; the rest by place; never by similarity.
---
# Which translation belongs to which block

A catalogue remembers where each of its texts stood. Now the page has changed. First every block looks for its own
text: at its old place, then in the same section, then anywhere in the page, in order. Each remembered place is given
away once. So where two blocks said the same and one of them now says something else, the places tell which.

What is left over on both sides lies between blocks that were found. Between two of those, a new text takes the place
of the text that is gone, as far from its neighbour as that was, else the next one: it is *stale*. Line breaks are no
part of a text, so a paragraph that is only wrapped anew stays translated.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from site_builder.model import BlockState
from site_builder.translate.catalogue import Entry, Place


@dataclass(frozen=True, slots=True)
class Unit:
    """One block for translators: its text as the author typed it, and its place."""

    place: Place
    text: str


@dataclass(frozen=True, slots=True)
class Match:
    """What is known about a block. `state` is `None` where `entry` translates it as it stands."""

    unit: Unit
    entry: Entry | None
    state: BlockState | None


def match(units: Sequence[Unit], entries: Sequence[Entry]) -> tuple[Match, ...]:
    """One match for each unit, in their order."""
    return tuple(_Matching(units, entries).matches())


def key(text: str) -> str:
    """What makes two texts equal: their words."""
    return " ".join(text.split())


@dataclass(slots=True, eq=False)
class _Slot:
    """A place that an entry remembers, until a block of the page claims it."""

    entry: Entry
    place: Place
    taken: bool = False


@dataclass(slots=True)
class _Found:
    entry: Entry
    state: BlockState | None
    slot: _Slot | None = None


@dataclass
class _Offers:
    """Entries and their places, by the text that they are offered for."""

    entries: dict[str, list[Entry]] = field(default_factory=lambda: defaultdict(list))
    slots: dict[Hashable, deque[_Slot]] = field(default_factory=lambda: defaultdict(deque))

    def offer(self, text: str, entry: Entry, slots: Iterable[_Slot]) -> None:
        self.entries[text].append(entry)
        for slot in slots:
            for name in ((text, slot.place), (text, slot.place.anchor), (text,)):
                self.slots[name].append(slot)

    def take(self, name: Hashable) -> _Slot | None:
        """The first place of that name that is still free."""
        waiting = self.slots.get(name, ())
        while waiting:
            slot = waiting[0]
            if not slot.taken:
                slot.taken = True
                return slot
            waiting.popleft()
        return None


_NEARNESS: tuple[Callable[[str, Unit], Hashable], ...] = (
    lambda text, unit: (text, unit.place),
    lambda text, unit: (text, unit.place.anchor),
    lambda text, unit: (text,),
)


class _Matching:
    def __init__(self, units: Sequence[Unit], entries: Sequence[Entry]):
        self.units = units
        self.keys = [key(unit.text) for unit in units]
        self.found: dict[int, _Found] = {}
        self.slots: dict[str, list[_Slot]] = defaultdict(list)
        """By anchor: where blocks stood when the catalogue was written."""
        # What translates a text; what once did; what has the text, and no translation of it.
        self.current, self.former, self.waiting = _Offers(), _Offers(), _Offers()
        for entry in entries:
            if entry.obsolete:
                if entry.text:
                    self.former.offer(key(entry.translates), entry, ())
                continue
            slots = [_Slot(entry, place) for place in entry.places]
            for slot in slots:
                self.slots[slot.place.anchor].append(slot)
            if entry.translates:
                self.current.offer(key(entry.translates), entry, slots)
            if entry.stale or not entry.text:
                self.waiting.offer(key(entry.source), entry, slots)

    def matches(self) -> Iterator[Match]:
        self.by_text(self.current)
        self.by_text(self.former)
        self.by_text(self.waiting, same=False)
        sections: dict[str, list[int]] = defaultdict(list)
        for number, unit in enumerate(self.units):
            sections[unit.place.anchor].append(number)
        for anchor, numbers in sections.items():
            self.by_place(anchor, sorted(numbers, key=lambda number: self.units[number].place.ordinal))
        for number, unit in enumerate(self.units):
            found = self.found.get(number)
            yield Match(unit, found.entry, found.state) if found else Match(unit, None, BlockState.MISSING)

    def by_text(self, offers: _Offers, *, same: bool = True) -> None:
        """With `same`, the entries found translate the very text."""

        def settle(number: int, entry: Entry, slot: _Slot | None) -> None:
            self.found[number] = _Found(entry, None if same else _left(entry), slot)

        for name in _NEARNESS:
            for number in self.left():
                if slot := offers.take(name(self.keys[number], self.units[number])):
                    settle(number, slot.entry, slot)
        for number in self.left():
            entries = offers.entries.get(self.keys[number], ())
            if entry := next((e for e in entries if not e.context), entries[0] if entries else None):
                settle(number, entry, None)

    def left(self) -> list[int]:
        return [number for number in range(len(self.units)) if number not in self.found]

    def by_place(self, anchor: str, numbers: Sequence[int]) -> None:
        """Pairs what is left of one section: new texts with texts that are gone, between those that stayed."""
        slots = sorted(self.slots.get(anchor, ()), key=lambda slot: slot.place.ordinal)
        order = {id(slot): index for index, slot in enumerate(slots)}
        run: list[int] = []
        at = shift = 0
        for number in numbers:
            found = self.found.get(number)
            if found is None:
                run.append(number)
            elif found.slot and (index := order.get(id(found.slot), -1)) >= at:
                self.pair(run, slots[at:index], shift)
                run, at = [], index + 1
                shift = found.slot.place.ordinal - self.units[number].place.ordinal
        self.pair(run, slots[at:], shift)

    def pair(self, run: Sequence[int], slots: Sequence[_Slot], shift: int) -> None:
        """The places as far from the text before them as they were, then the rest in order."""
        by_ordinal = {slot.place.ordinal - shift: slot for slot in slots}
        for number in run:
            slot = by_ordinal.get(self.units[number].place.ordinal)
            if slot and not slot.taken:
                self.claim(number, slot)
        left = (number for number in run if number not in self.found)
        vacant = [slot for slot in slots if not slot.taken]
        for number, slot in zip(left, vacant, strict=False):
            self.claim(number, slot)

    def claim(self, number: int, slot: _Slot) -> None:
        slot.taken = True
        self.found[number] = _Found(slot.entry, _left(slot.entry), slot)


def _left(entry: Entry) -> BlockState:
    """What a block is called whose entry does not translate it."""
    return BlockState.STALE if entry.text else BlockState.MISSING
