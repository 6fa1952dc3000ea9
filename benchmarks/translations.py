"""
What bringing a catalogue up to date costs when every block of a page has changed.

    python benchmarks/translations.py [--blocks 2000] [--peers 200] [--quick]

Ours reads the file, finds the old translation of each block by its place, and writes the file again. Beside it stands
`Catalog.update` of Babel, which looks for the most similar text instead: its time grows with the square of the blocks,
so it gets fewer. *Wrong* counts the old translations that were given to another block than the one they came from.
Time is that of the processor, the best of several rounds. The goal is five seconds for 2,000 blocks.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from typing import TypeVar

from babel.messages.catalog import Catalog

from site_builder.translate.catalogue import Catalogue, Entry, Place, read, write
from site_builder.translate.matching import Unit
from site_builder.translate.merging import memory, merged

GOAL = 5.0
URL = "page.html"
SECTION = 8
"""Blocks a section."""

Value = TypeVar("Value")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.strip().partition("\n")[0])
    parser.add_argument("--blocks", type=int, default=2000)
    parser.add_argument("--peers", type=int, default=200, help="blocks for Babel's own update")
    parser.add_argument("--quick", action="store_true", help="one round")
    arguments = parser.parse_args()
    rounds = 1 if arguments.quick else 3
    print(f"{'':44} {'blocks':>7} {'seconds':>9} {'wrong':>6}   goal ≤ {GOAL:.0f} s")
    before = sentences(arguments.blocks)
    for name, after in (
        ("ours, one word changed in every block", changed(before)),
        ("ours, all sections in another order", moved(before)),
        ("ours, nothing changed", before),
    ):
        data = translated(before)
        seconds, found = best(rounds, lambda data=data, after=after: update(data, after))  # type: ignore[misc]
        verdict = "" if arguments.blocks != 2000 else "ok" if seconds <= GOAL else "MISSED"
        row(name, len(before), seconds, wrong(found, before, after), verdict)
    few = before[: arguments.peers]
    seconds, theirs = best(1, lambda: babel(few, changed(few)))
    row("Babel, one word changed in every block", len(few), seconds, theirs)
    data = translated(few)
    seconds, found = best(rounds, lambda: update(data, changed(few)))
    row("ours, the same blocks", len(few), seconds, wrong(found, few, changed(few)))


# --- what is measured ---


def update(data: bytes, after: list[str]) -> Catalogue:
    """The whole way, as `translate update` goes it for one file."""
    old, _ = read("ja/page.po", "ja", data)
    assert old
    new = merged(units(after), old, memory([old]))
    write(new, URL)
    return new


def babel(before: list[str], after: list[str]) -> int:
    """Babel's own update; gives back how many translations it moved to a block that they are not for."""
    old, template = Catalog(locale="ja"), Catalog()
    for number, text in enumerate(before):
        old.add(text, translation(number))
    for text in after:
        template.add(text)
    old.update(template)
    strings = [message.string if (message := old.get(text)) else "" for text in after]
    return sum(bool(string) and string != translation(number) for number, string in enumerate(strings))


def wrong(found: Catalogue, before: list[str], after: list[str]) -> int:
    """A block that only moved brings its translation along; one that changed has the one of its place."""
    home = {text: translation(number) for number, text in enumerate(before)}
    wanted = {text: home.get(text, translation(number)) for number, text in enumerate(after)}
    active = (entry for entry in found.entries if not entry.obsolete)
    return sum(entry.text != wanted[entry.source] for entry in active)


# --- pages ---


def sentences(count: int) -> list[str]:
    """Texts as like one another as those of a page on one subject."""
    rng = random.Random(1)
    things = "heads queries keys values layers blocks steps batches tokens positions weights masks".split()
    return [
        f"The number of {rng.choice(things)} is what the {rng.choice(things)} have in common with the "
        f"{rng.choice(things)} of step {number}: $x_{{{number}}}$ is divided by the number of {rng.choice(things)}."
        for number in range(count)
    ]


def changed(texts: list[str]) -> list[str]:
    return [text.replace("is divided by", "is multiplied by") for text in texts]


def moved(texts: list[str]) -> list[str]:
    sections = [texts[at : at + SECTION] for at in range(0, len(texts), SECTION)]
    random.Random(2).shuffle(sections)
    return [text for section in sections for text in section]


def units(texts: list[str]) -> tuple[Unit, ...]:
    return tuple(
        Unit(Place(f"part-{number // SECTION}", number % SECTION), text) for number, text in enumerate(texts)
    )


def translated(texts: list[str]) -> bytes:
    entries = tuple(
        Entry(unit.text, translation(number), places=(unit.place,))
        for number, unit in enumerate(units(texts))
    )
    return write(Catalogue("ja/page.po", "ja", entries), URL)


def translation(number: int) -> str:
    return f"$x_{{{number}}}$ の訳 {number}"


# --- printing ---


def best(rounds: int, call: Callable[[], Value]) -> tuple[float, Value]:
    """The shortest time, and the last result."""
    shortest = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        result = call()
        shortest = min(shortest, time.process_time() - start)
    return shortest, result


def row(name: str, blocks: int, seconds: float, wrong: int, verdict: str = "") -> None:
    print(f"{name:44} {blocks:7,} {seconds:9.2f} {wrong:6,}   {verdict}".rstrip(), flush=True)


if __name__ == "__main__":
    main()
