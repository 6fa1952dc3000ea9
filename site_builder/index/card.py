"""
---
title: What others know of a page
summary: The few facts of a page that any other page may depend on.
---
# What others know of a page

The index holds a card of every page and no page itself. So one page can be woven without the others being read, and
whether another has to be woven anew is seen by its cards.
"""

from __future__ import annotations

from typing import NamedTuple

from site_builder.model import Definition, FrontMatter, Page, SourceFile


class Card(NamedTuple):
    """Of `front` only what concerns other pages; `digest` is that of the file's bytes, where it was read."""

    source: SourceFile
    front: FrontMatter
    length: int
    """Lines of the file."""
    definitions: tuple[Definition, ...] = ()
    """As others link to them: what stands somewhere in a section about something else has its line for an anchor."""
    exports: tuple[tuple[str, str], ...] = ()
    imports: tuple[str, ...] = ()
    bases: tuple[tuple[str, tuple[str, ...]], ...] = ()
    digest: bytes = b""

    @property
    def url(self) -> str:
        return self.source.url

    @staticmethod
    def of(page: Page, read: bytes = b"") -> Card:
        """`read` is the digest of the file that the page was made from."""
        opening = {section.anchor: section.code[0] for section in page.sections if section.code}
        return Card(
            page.source,
            page.front._replace(title="", summary="", papers=(), symbols=(), macros=()),
            len(page.lines),
            tuple(_placed(item, opening.get(item.anchor)) for item in page.definitions),
            page.exports,
            page.imports,
            page.bases,
            read,
        )


def _placed(item: Definition, opening: int | None) -> Definition:
    """A name in the middle of a section: its own line says more than the section's anchor."""
    return item._replace(anchor=f"L{item.line}") if item.kind == "data" and opening != item.line else item
