"""
---
title: Shape claims
summary: What authors say of shapes, held against what the examples did.
order: [reading, axes, subjects, frames, solving, judging, telling, naming, coverage, model]
---
# Shape claims

How a claim is written, and what it may speak of, is told in [the manual](../manual/claims.md). Here it is read, judged
and shown.

A claim starts as a [code span](reading.html) with [axes](axes.html), and is about some
[argument, result or statement](subjects.html). A recorded call is looked at as a [frame](frames.html): within it a name
means one number. All claims of a frame together are [solved](solving.html) for these numbers. If they contradict the
record, the ones that do are [judged](judging.html) false and [told](telling.html) with what was seen; if not, the
numbers give names to [every other shape](naming.html) that the call left behind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from site_builder.claims import reading
from site_builder.claims.model import Checked, Claim, Judged, Shape, Verdict
from site_builder.model import Page

if TYPE_CHECKING:
    from site_builder.record import Record

__all__ = ["Checked", "Claim", "Judged", "Shape", "Verdict", "check"]


def check(page: Page, record: Record | None) -> Checked:
    """
    The claims of a page, judged, and the shapes of its record with the names of their axes. Without a record,
    because nothing ran, claims are unchecked: what is said of them is said of their text alone.
    """
    if record is None and not reading.may_claim(page):
        return Checked()
    # Most pages claim nothing.
    from site_builder.claims import judging, naming, subjects, telling
    from site_builder.record import Record, outline_of

    try:
        outline = outline_of(page)
    except (SyntaxError, ValueError):
        return Checked()
    found = reading.find(page, subjects.variables(outline))
    topics = subjects.assign(page, outline, found.claims)
    known = record or Record(page.source.module)
    judgement = judging.judge(outline, known, topics)
    false = [telling.fault(outline, known, failure) for failure in judgement.faults()]
    statements, arguments, results = naming.shapes(record, judgement) if record else ({}, {}, {})
    return Checked(
        tuple(judgement.verdicts(found.claims)),
        tuple(sorted((*found.diagnostics, *topics.diagnostics, *false))),
        statements,
        arguments,
        results,
    )
