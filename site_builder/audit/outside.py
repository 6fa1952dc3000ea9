"""
---
title: Outside the site
summary: Each address of another site is asked once, several at a time, but never many of one host.
---
# Outside the site

The addresses of a host are shared out to a few lanes, and each lane asks one after the other. Lanes of different
hosts go on at the same time. So a hundred papers on one server bother it no more than two patient readers would.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

from site_builder.audit.asking import Answer, Verdict, asker, find_out, host_of
from site_builder.errors import Diagnostic
from site_builder.model import Position

Progress = Callable[[int, int], None]

TIMEOUT = 15.0
"""Seconds to wait for an answer."""
PATIENCE = 10.0
"""Seconds to wait at most before asking once more, if a server wants it."""
PER_HOST = 2
LANES = 16


@dataclass(frozen=True, slots=True)
class Unchecked:
    """An address of which nothing can be said today, why, and where it is linked."""

    address: str
    reason: str
    places: tuple[Position, ...]


@dataclass(frozen=True)
class Asked:
    """What came of asking: links that are broken, and links that may be."""

    diagnostics: tuple[Diagnostic, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()
    asked: int = 0


def outside(
    links: Mapping[str, Sequence[Position]],
    *,
    timeout: float = TIMEOUT,
    patience: float = PATIENCE,
    progress: Progress | None = None,
) -> Asked:
    """Asks for every address, and tells of those that lead nowhere at all places where they are linked."""
    answers = _answers(list(links), timeout, patience, progress)
    broken: list[Diagnostic] = []
    unchecked: list[Unchecked] = []
    for address, places in sorted(links.items()):
        answer = answers[address]
        if answer.verdict is Verdict.BROKEN:
            hint = "correct the address, or link to an archived copy"
            broken += (Diagnostic.at(at, "link-external", f"{address} {answer.said}", hint) for at in places)
        elif answer.verdict is Verdict.UNCHECKED:
            unchecked.append(Unchecked(address, answer.said, tuple(places)))
    return Asked(tuple(sorted(broken)), tuple(unchecked), len(links))


def _answers(
    addresses: Sequence[str], timeout: float, patience: float, progress: Progress | None
) -> dict[str, Answer]:
    stop = threading.Event()

    def follow(lane: Sequence[str]) -> dict[str, Answer]:
        opener = asker()
        return {
            address: find_out(address, opener, timeout=timeout, patience=patience, sleep=stop.wait)
            for address in lane
            if not stop.is_set()
        }

    answers: dict[str, Answer] = {}
    with ThreadPoolExecutor(LANES) as pool:
        try:
            for lane in as_completed([pool.submit(follow, lane) for lane in _lanes(addresses)]):
                answers |= lane.result()
                if progress:
                    progress(len(answers), len(addresses))
        finally:
            # Whoever presses Ctrl-C does not want to wait for the other lanes.
            stop.set()
            pool.shutdown(cancel_futures=True)
    return answers


def _lanes(addresses: Sequence[str]) -> list[list[str]]:
    hosts: dict[str, list[str]] = {}
    for address in addresses:
        hosts.setdefault(host_of(address), []).append(address)
    return [
        lane for found in hosts.values() for lane in (found[n::PER_HOST] for n in range(PER_HOST)) if lane
    ]
