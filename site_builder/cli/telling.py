"""
---
title: How a check is told
summary: A table for people, one object for other programs.
---
# How a check is told

Both tell the same facts. On a terminal the long name of a page loses its middle, so that the table fits. A number
is never cut.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

if TYPE_CHECKING:
    from site_builder.cli.inspection import Inspection
    from site_builder.site import Tally

_HEADINGS = ("ran", "of", "%", "proven", "unchecked", "false")
_NARROWEST, _WIDEST = 20, 10_000
_GAP = 2


def table(out: Console, done: Inspection) -> None:
    """A row for each page of which there is something to say, and one for all."""
    rows = {url: reach for url, reach in done.reach.items() if any(reach)}
    if not rows:
        return
    numbers = [_cells(reach) for reach in (*rows.values(), _total(tuple(rows.values())))]
    made = Table(box=None, pad_edge=False)
    made.add_column("page", no_wrap=True)
    for heading in _HEADINGS:
        made.add_column(heading, justify="right", no_wrap=True)
    widths = (max(map(len, column)) for column in zip(_HEADINGS, *numbers, strict=True))
    room = out.width - sum(width + _GAP for width in widths)
    for (url, reach), cells in zip(rows.items(), numbers, strict=False):
        # In a file or a pipe there is no edge that a name could reach.
        made.add_row(shortened(url, room) if out.is_terminal else url, *cells, style=_style(reach))
    if len(rows) > 1:
        made.add_section()
        made.add_row("all", *numbers[-1])
    # As wide as it needs to be: a number that is cut short would be a wrong one.
    out.width = max(out.width, Measurement.get(out, out.options.update_width(_WIDEST), made).maximum)
    out.print(made)


def shortened(url: str, room: int) -> str:
    """
    The address without its middle, where it is longer than the room for it: both ends tell pages apart.

    >>> shortened("transformers/fast_weights/experiment.html", 30)
    'transformers/f…experiment.html'
    >>> shortened("utils.html", 30)
    'utils.html'
    """
    room = max(room, _NARROWEST)
    if len(url) <= room:
        return url
    end = room // 2
    return f"{url[: room - end - 1]}…{url[-end:]}"


def as_json(done: Inspection) -> str:
    """Everything that was found, as one object."""
    pages = {url: reach._asdict() for url, reach in done.reach.items()}
    return json.dumps(
        {
            "diagnostics": [found._asdict() for found in done.diagnostics],
            "counts": {"pages": len(done.pages), "faults": len(done.diagnostics), "codes": done.counts},
            "pages": [{"url": url, "evidence": pages.get(url)} for url in done.pages],
            "external": {
                "asked": done.asked,
                "unchecked": [
                    {
                        "address": link.address,
                        "reason": link.reason,
                        "places": [place._asdict() for place in link.places],
                    }
                    for link in done.unchecked
                ],
            },
        },
        ensure_ascii=False,
        indent=2,
    )


def _cells(reach: Tally) -> tuple[str, ...]:
    ran, statements, *claims = reach
    # Rounded down: only what ran whole has run whole.
    share = (f"{ran:,}", f"{statements:,}", f"{100 * ran // statements}") if statements else ("", "", "")
    return (*share, *(f"{number:,}" if any(claims) else "" for number in claims))


def _total(rows: tuple[Tally, ...]) -> Tally:
    return type(rows[0])(*map(sum, zip(*rows, strict=True)))


def _style(reach: Tally) -> str | None:
    whole = reach.ran == reach.statements and not reach.unchecked
    return "red" if reach.false else "green" if whole else None
