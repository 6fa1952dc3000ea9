"""
---
title: Addresses
summary: One URL, one page; and how one page writes the address of another.
---
# Addresses

Two questions about addresses. `settle` decides which page has each URL: the first to claim it, while the others
are reported. `href` says how one page writes the address of another: always relative and with the name of the
file, so that a site works under any prefix, and from a folder without a server.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote

from site_builder.errors import Diagnostic
from site_builder.index.card import Card
from site_builder.index.tree import place


def href(from_url: str, to_url: str, anchor: str = "") -> str:
    """
    The address of one page (or of an anchor on it) as another page writes it: relative, so that it works
    under any prefix and from `file://`, and always with the name of the file.
    """
    fragment = f"#{_quoted(anchor, _IN_FRAGMENT)}" if anchor else ""
    if from_url == to_url and anchor:
        return fragment
    return _relative(to_url, posixpath.dirname(from_url)) + fragment


@lru_cache(maxsize=4096)
def _relative(url: str, folder: str) -> str:
    return _quoted(posixpath.relpath("/" + url, "/" + folder), "/")


_IN_FRAGMENT = "/?:@!$&'()*+,;="
"""What may stand in a fragment as it is, besides letters, digits and `-._~`."""


@lru_cache(maxsize=4096)
def _quoted(text: str, safe: str) -> str:
    # A file name that is not UTF-8 comes from the operating system with surrogates: written as the bytes it
    # has.
    return quote(text.encode("utf-8", "surrogateescape"), safe=safe)


LONGEST_NAME = 255
"""Bytes, as in nearly all file systems."""

GENERATED = frozenset({"all-pages.html", "404.html"})
"""Pages that no source stands behind."""


class Settled(NamedTuple):
    """The page at every URL, and the page that every old URL leads to."""

    pages: dict[str, Card]
    redirects: dict[str, Card]
    diagnostics: tuple[Diagnostic, ...]


def settle(pages: Iterable[Card], languages: Sequence[str]) -> Settled:
    """Whose each URL is: the first to claim it has it, and something is said of the others."""
    taken: dict[str, Card] = {}
    folders: set[str] = set()
    diagnostics: list[Diagnostic] = []
    for page in pages:
        folder, slash, _ = page.url.partition("/")
        if page.url in taken:
            message = f"the page {page.url} is already made from {taken[page.url].source.path}"
            diagnostics.append(_conflict(page, message, "rename one of the two files"))
        elif slash and folder in languages:
            message = f"the folder {folder}/ holds the pages of the language {folder!r}"
            diagnostics.append(_conflict(page, message, "rename the package or folder"))
        elif above := next((one for one in _folders(page.url) if one in taken), ""):
            message = f"the folder {above}/ cannot stand beside the page made from {taken[above].source.path}"
            diagnostics.append(_conflict(page, message, "rename one of the two"))
        elif page.url in folders:
            message = f"the page {page.url} cannot stand beside a folder of that name"
            diagnostics.append(_conflict(page, message, "rename one of the two"))
        elif page.url in GENERATED:
            message = f"the page {page.url} is one that every site has"
            diagnostics.append(_conflict(page, message, "rename the file"))
        elif (size := _longest(page.url)) > LONGEST_NAME:
            # The source's own name may end in fewer letters.
            message = f"the page {page.url} has a name of {size} bytes, and a file's may have {LONGEST_NAME}"
            diagnostics.append(_conflict(page, message, "give the file a shorter name"))
        else:
            taken[page.url] = page
            folders.update(_folders(page.url))
    redirects, faults = _redirects(taken, languages)
    return Settled(taken, redirects, (*diagnostics, *faults))


def _longest(url: str) -> int:
    """The bytes of its longest name."""
    return max(len(part.encode("utf-8", "surrogateescape")) for part in url.split("/"))


def _folders(url: str) -> Iterator[str]:
    """All folders that the file lies in."""
    while "/" in url:
        url = url.rpartition("/")[0]
        yield url


def _redirects(
    pages: Mapping[str, Card], languages: Sequence[str]
) -> tuple[dict[str, Card], list[Diagnostic]]:
    """The page that each old URL leads to, and why some lead nowhere."""
    found = []
    taken: dict[str, Card] = {}
    for page in pages.values():
        where = place(page, "redirect_from")
        for old in (written.lstrip("/") for written in page.front.redirect_from):
            if problem := _not_free(old, pages, taken, languages):
                message, hint = f"the old URL {old} {problem}", "take it out of redirect_from"
                found.append(Diagnostic(where.path, where.line, where.column, "url-conflict", message, hint))
            else:
                taken[old] = page
    return taken, found


def _not_free(
    old: str, pages: Mapping[str, Card], taken: Mapping[str, Card], languages: Sequence[str]
) -> str:
    """Why no page can stand at an old URL; empty if one can."""
    folders = old.split("/")[:-1]
    if old in pages:
        return f"is the page made from {pages[old].source.path}"
    if old in taken:
        return f"is already redirected by {taken[old].source.path}"
    if not old.endswith(".html") or posixpath.normpath(old) != old or "\\" in old or old.startswith(".."):
        return "is no address of a page: it must end in .html and stay inside the site"
    if _longest(old) > LONGEST_NAME:
        return "has a name that is too long for a file"
    if old in GENERATED:
        return "is a page that every site has"
    if folders and (folders[0] in languages or any(part.endswith(".html") for part in folders)):
        return "lies in a folder that is not its own"
    return ""


def _conflict(page: Card, message: str, hint: str) -> Diagnostic:
    return Diagnostic(page.source.path, 1, 1, "url-conflict", message, hint)
