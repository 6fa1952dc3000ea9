"""
---
title: What lies in the output folder
summary: The files of the last build, by digest, and whether they are still as it left them.
---
# What lies in the output folder

A build that knows what it would write, and that just this lies there, writes nothing and reads nothing. A file is
taken for what the last build wrote while its inode, its size and its time are those that it had then; else it is read.

The ledger lies in the cache, not beside the site: without it a build compares the files themselves.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from site_builder.cache import digest
from site_builder.errors import Diagnostic
from site_builder.site.shelf import Shelf
from site_builder.site.survey import builder, digest_of
from site_builder.write import Seen

KIND, BEGUN = "ledger", "ledger-begun"


class Tally(NamedTuple):
    """Of one page: statements that its examples ran, and all; claims proven, unchecked and false."""

    ran: int = 0
    statements: int = 0
    proven: int = 0
    unchecked: int = 0
    false: int = 0


class Beside(NamedTuple):
    """The modules of the project that pages import and that are no pages, which no survey sees."""

    files: Mapping[str, bytes] = {}
    """The digests of what is in them."""
    folders: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    """By folder, names that were looked for there, and those of them that were found."""

    def still(self) -> bool:
        """Whether all of that is as it was."""
        return all(digest_of(file) == seen for file, seen in self.files.items()) and all(
            tuple(name for name in asked if name in there) == found
            for folder, (asked, found) in self.folders.items()
            for there in [_names(folder)]
        )


class Ledger(NamedTuple):
    """What the last build made, and what it said."""

    fingerprint: bytes = b""
    """Of all its inputs; empty where another build of the same inputs might give something else."""
    files: Mapping[str, Seen] = {}
    """By URL."""
    groups: Mapping[str, tuple[bytes, tuple[str, ...]]] = {}
    """The files that are made together from all pages: their key and their URLs, by what they are."""
    identity: bytes = b""
    """Of all that pages can ask of each other."""
    woven: Mapping[bytes, bytes] = {}
    """By the keys of the pages, digests of the questions that a site of that identity has answered."""
    beside: Beside = Beside()
    diagnostics: tuple[Diagnostic, ...] = ()
    pages: int = 0
    tallies: Mapping[str, Tally] = {}
    """By page URL."""
    mark: bytes = b""
    """Of the build that left it."""

    def intact(self, folder: Path) -> bool:
        """Whether everything is as it was left."""
        top = f"{folder}{os.sep}"
        try:
            return bool(self.files) and all(
                seen.still(_status(top + url)) for url, seen in self.files.items()
            )
        except OSError:
            return False

    def lying(self, folder: Path) -> dict[str, Seen]:
        """The files that are there now. One that was changed has the digest of what is in it."""
        found = {}
        top = f"{folder}{os.sep}"
        for url, seen in self.files.items():
            try:
                if not seen.still(_status(top + url)):
                    file = folder / url
                    seen = Seen.of(file, digest(file.read_bytes()))
            except OSError:
                continue
            found[url] = seen
        return found


def _names(folder: str) -> frozenset[str]:
    try:
        return frozenset(os.listdir(folder))  # noqa: PTH208
    except OSError:
        return frozenset()


def _status(file: str) -> os.stat_result:
    # To make a path object of each name takes longer than to ask the disk.
    return os.stat(file)  # noqa: PTH116


def read(shelf: Shelf, folder: Path) -> Ledger:
    key = _key(folder)
    found = shelf.get(KIND, [key]).get(key)
    if not isinstance(found, Ledger):
        return Ledger()
    # Of a folder that another build has begun to change, it is known what lies there, not that it is finished.
    return found if found.mark == shelf.get(BEGUN, [key]).get(key) else found._replace(fingerprint=b"")


def write(shelf: Shelf, folder: Path, ledger: Ledger) -> None:
    shelf.put(KIND, {_key(folder): ledger})


def begin(shelf: Shelf, folder: Path) -> bytes:
    """
    Says that the folder is being changed: whoever is killed now leaves no ledger that calls it finished. Gives the mark
    for the ledger of this build.
    """
    mark = os.urandom(16)
    shelf.put(BEGUN, {_key(folder): mark})
    return mark


def _key(folder: Path) -> bytes:
    """Another builder keeps another ledger: what this one reads, it has written."""
    return digest(builder(), str(folder.absolute()))
