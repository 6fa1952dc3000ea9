"""
---
title: Title and summary
summary: By them a page is chosen, in a list, in a search, in a preview.
---
# Title and summary

Both have a stand-in, the name of the module and the first sentence, so a build is content without them. A reader
who looks through a list is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from site_builder.errors import Diagnostic
from site_builder.lint.reading import Piece
from site_builder.model import Page, Position


def faults(page: Page, found: Sequence[Piece]) -> Iterator[Diagnostic]:
    if page.diagnostics:
        # What could not be read may have held both.
        return
    start = Position(page.source.path, 1, 1)
    if page.title_position is None:
        yield Diagnostic.at(
            start,
            "title-missing",
            f"this page has no title and is shown as {page.title!r}",
            "write `title:` into its front matter, or begin it with a heading `# …`",
        )
    if not page.front.summary:
        yield Diagnostic.at(
            page.title_position or start,
            "summary-missing",
            "this page does not say in one sentence what it is about",
            "write `summary:` into its front matter",
        )
