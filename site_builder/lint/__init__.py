"""
---
title: Lint
summary: What a page may well lack and still be built, but not be found or read by everybody.
order: [reading, opening, headings, images, anchors]
---
# Lint

A build says what is wrong. These are questions of another kind, which an author asks with `check` when a page is to
be shown to people: does it say what it is called and what it is about, can it be listened to, has every image
words?

Each check is a function from a page and its [pieces](reading.html) to faults, one file each.
"""

from __future__ import annotations

from site_builder.errors import Diagnostic
from site_builder.lint import anchors, headings, images, opening
from site_builder.lint.reading import pieces
from site_builder.model import Page

CHECKS = (opening.faults, headings.faults, images.faults, anchors.faults)


def page(page: Page) -> tuple[Diagnostic, ...]:
    """What a reader of the page may miss, in the order of its lines. Of a page without a source nothing is asked."""
    if not page.source.file:
        return ()
    found = tuple(pieces(page))
    return tuple(sorted({fault for check in CHECKS for fault in check(page, found)}))
