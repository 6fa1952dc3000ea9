"""
---
title: Addresses
summary: One URL, one page; and how one page writes the address of another.
---
# Addresses
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import quote

from site_builder.errors import Diagnostic
from site_builder.index.tree import place
from site_builder.model import Page


def href(from_url: str, to_url: str, anchor: str = "") -> str:
    """
    The address of one page (or of an anchor on it) as another page writes it: relative, so that it works
    under any prefix and from `file://`, and always with the name of the file.
    """
    fragment = f"#{_quoted(anchor, _IN_FRAGMENT)}" if anchor else ""
    if from_url == to_url and anchor:
        return fragment
    relative = posixpath.relpath("/" + to_url, posixpath.dirname("/" + from_url))
    return _quoted(relative, "/") + fragment


_IN_FRAGMENT = "/?:@!$&'()*+,;="
"""What may stand in a fragment as it is, besides letters, digits and `-._~`."""


def _quoted(text: str, safe: str) -> str:
    # A file name that is not UTF-8 comes from the operating system with surrogates: written as the bytes it
    # has.
    return quote(text.encode("utf-8", "surrogateescape"), safe=safe)


def settle(pages: Iterable[Page], languages: Sequence[str]) -> tuple[dict[str, Page], tuple[Diagnostic, ...]]:
    """The page of every URL, the first to claim it, and what is to be said of the others."""
    taken: dict[str, Page] = {}
    diagnostics: list[Diagnostic] = []
    for page in pages:
        folder, slash, _ = page.url.partition("/")
        if page.url in taken:
            message = f"the page {page.url} is already made from {taken[page.url].source.path}"
            diagnostics.append(_conflict(page, message, "rename one of the two files"))
        elif slash and folder in languages:
            message = f"the folder {folder}/ holds the pages of the language {folder!r}"
            diagnostics.append(_conflict(page, message, "rename the package or folder"))
        else:
            taken[page.url] = page
    diagnostics += _redirects(taken)
    return taken, tuple(diagnostics)


def _redirects(pages: Mapping[str, Page]) -> list[Diagnostic]:
    found = []
    taken: dict[str, Page] = {}
    for page in pages.values():
        where = place(page, "redirect_from")
        for old in (written.lstrip("/") for written in page.front.redirect_from):
            other = pages.get(old) or taken.get(old)
            if other is None:
                taken[old] = page
                continue
            what = "the page made from" if old in pages else "already redirected by"
            message = f"the old URL {old} is {what} {other.source.path}"
            hint = "take it out of redirect_from"
            found.append(Diagnostic(where.path, where.line, where.column, "url-conflict", message, hint))
    return found


def _conflict(page: Page, message: str, hint: str) -> Diagnostic:
    return Diagnostic(page.source.path, 1, 1, "url-conflict", message, hint)
