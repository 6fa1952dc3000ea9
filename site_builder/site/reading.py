"""
---
title: Pages that were parsed
summary: The page of a file as some digest had it, from this process, from the store, or from the file.
---
# Pages that were parsed

A page is asked for twice, before the index is known and behind it, and the file may have become another meanwhile. So
each is kept under the digest of what it was made from.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from site_builder.cache import digest
from site_builder.config import Config
from site_builder.index import Card
from site_builder.model import Page, SourceFile
from site_builder.parse import encode, parse
from site_builder.prose.foreign import as_markdown
from site_builder.site import stores
from site_builder.site.inputs import content, unreadable
from site_builder.site.shelf import pickled, unpickled
from site_builder.site.survey import builder

PAGE = "page"

AT_HAND = 200
_at_hand: dict[bytes, Page] = {}
"""So many pages stay here from their introduction until they are woven; the others are read back from the store."""


def parsed(source: SourceFile) -> tuple[Page, bytes]:
    """
    The file as a page, an empty one if it cannot be read, and the digest of just what was read: the file may be
    another a moment later.

    Raises:
        FileNotFoundError: it is gone.
    """
    try:
        data = content(source.file) if source.file else b""
    except FileNotFoundError:
        raise
    except OSError as error:
        return replace(parse(source, b""), diagnostics=(unreadable(source.path, error),)), digest(str(error))
    return as_markdown(parse(source, data)), digest(data)


def page_key(source: SourceFile, read: bytes) -> bytes:
    """What a page is kept under that was made from a file with that digest."""
    return _page_key(builder(), source, read)


@lru_cache(maxsize=4096)
def _page_key(builder: bytes, source: SourceFile, read: bytes) -> bytes:
    return digest(builder, repr(source), read)


def keep(config: Config, page: Page, read: bytes) -> None:
    """A page that was made from a file with that digest, until it is woven and for other builds."""
    key = page_key(page.source, read)
    if config.cache:
        stores.opened(config).put(PAGE, key, pickled(page))
    if len(_at_hand) < AT_HAND:
        _at_hand[key] = page


def stored(config: Config, source: SourceFile, read: bytes) -> Page | None:
    """The page that was made from a file with that digest, if it is at hand or the store has it."""
    key = page_key(source, read)
    if found := _at_hand.pop(key, None):
        return found
    data = stores.opened(config).get(PAGE, key) if config.cache else None
    page = unpickled(data) if data else None
    return page if isinstance(page, Page) else None


def forget() -> None:
    """Lets go of those that another process has woven."""
    _at_hand.clear()


def source_of(config: Config, card: Card) -> bytes:
    """The file that the page was made from; what is in it now, where that cannot be had."""
    try:
        data = content(card.source.file) if card.source.file else b""
    except OSError:
        data = b""
    if digest(data) != card.digest and (page := stored(config, card.source, card.digest)):
        return encode(page)
    return data


def page_of(config: Config, file: tuple[SourceFile, bytes]) -> Page | None:
    """The page of a surveyed file, from the store if it is there; `None` if it has vanished."""
    source, seen = file
    try:
        return stored(config, source, seen) or parsed(source)[0]
    except FileNotFoundError:
        return None


def loaded(config: Config, card: Card) -> tuple[Page, bool]:
    """The page that was introduced, from the store or else from its file, which may have become another."""
    if page := stored(config, card.source, card.digest):
        return page, True
    try:
        page, read = parsed(card.source)
    except FileNotFoundError:
        return parse(card.source, b""), False
    return page, read == card.digest
