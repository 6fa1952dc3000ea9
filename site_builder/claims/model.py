"""
---
title: What a claim is
summary: Claims, verdicts on them, and shapes whose axes have names.
---
# What a claim is

A claim is read once, judged in many calls and shown in several places, so what it is stands here, apart from all
of them. A `Claim` remembers where it was typed and knows nothing of any record. A `Checked` is everything that a
page needs: the verdicts for its notes, and the named shapes for its code.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from site_builder.claims.axes import Axis
from site_builder.errors import Diagnostic
from site_builder.model import Position

if TYPE_CHECKING:
    from site_builder.record.model import Value

INTRO = -1
"""The section of a claim in the page's introduction."""
RETURN = "return"
"""The name by which a claim speaks of a result."""
ELLIPSIS = "..."
"""Any number of axes."""
VARIES = "?"
"""An axis that differs between calls and has no name."""


class Verdict(StrEnum):
    """`UNCHECKED`: no example ran the code, or what ran had no shape."""

    PROVEN = "proven"
    UNCHECKED = "unchecked"
    FALSE = "false"


class Claim(NamedTuple):
    """One `` `name: [axis, axis]` `` of the prose. `text` is the code span as typed, on one line."""

    section: int
    name: str
    axes: tuple[Axis, ...]
    text: str
    position: Position


class Judged(NamedTuple):
    claim: Claim
    verdict: Verdict


class Shape(NamedTuple):
    """
    What was given to one name. `axes` has for each axis its name where that is known, else its size, or `?` where
    sizes differ; calls with different numbers of axes leave `...` in front of those that they share. `sizes` are
    the distinct recorded shapes in order, `values` what the record says of them; `more`: not all are told.
    """

    name: str
    axes: tuple[str, ...]
    sizes: tuple[tuple[int, ...], ...]
    values: tuple[Value, ...]
    more: bool = False


class Checked(NamedTuple):
    """
    Everything that claims say of a page. `shapes` are by the ordinals of statements, `arguments` (on entry) and
    `results` by those of functions, as `record.Outline` counts them.
    """

    claims: tuple[Judged, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    shapes: Mapping[int, tuple[Shape, ...]] = {}
    arguments: Mapping[int, tuple[Shape, ...]] = {}
    results: Mapping[int, Shape] = {}

    def verdict(self, section: int, text: str) -> Verdict | None:
        """The verdict on a code span of that section, by its text; none if it is no claim."""
        found = {
            judged.verdict
            for judged in self.claims
            if judged.claim.section == section and judged.claim.text == on_one_line(text)
        }
        order = (Verdict.FALSE, Verdict.PROVEN, Verdict.UNCHECKED)
        return next((verdict for verdict in order if verdict in found), None)

    def count(self, verdict: Verdict) -> int:
        return sum(judged.verdict is verdict for judged in self.claims)


def on_one_line(text: str) -> str:
    return " ".join(text.split())
