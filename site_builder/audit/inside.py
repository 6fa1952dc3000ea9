"""
---
title: Inside the site
summary: Every address on every page has a file, every anchor an id, and every page a way that leads to it.
---
# Inside the site

Pages are read twice, and none is kept: first for what they ask for, then, where somebody asks for an anchor, for
the ids that they have. What a template asks for is the same on all pages and told once.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from site_builder.audit import addresses, places
from site_builder.audit.addresses import Address
from site_builder.errors import Diagnostic
from site_builder.model import Page, Position

HOME = "index.html"
LOST = "404.html"
"""What is shown for a wrong address, in whatever folder; nothing leads there."""

_AT_TOP = ("top",)
"""Every page has these without an id."""


@dataclass(frozen=True)
class Audited:
    """What is wrong inside, and where each address outside is asked for."""

    diagnostics: tuple[Diagnostic, ...]
    outside: Mapping[str, tuple[Position, ...]]


@dataclass
class _Walk:
    """What is known when all pages have been read once."""

    broken: dict[tuple[Position, str], list[str]] = field(default_factory=dict)
    """By place and message, the finished files concerned."""
    outside: dict[str, dict[Position, None]] = field(default_factory=dict)
    anchors: dict[str, dict[str, list[tuple[str, Address]]]] = field(default_factory=dict)
    """By the page that should have it, each anchor, and who asks for it."""
    ways: dict[str, set[str]] = field(default_factory=dict)
    redirects: set[str] = field(default_factory=set)


def inside(
    files: Mapping[str, bytes],
    page_of: Callable[[str], Page | None],
    *,
    base_url: str = "",
    repository_url: str = "",
    homes: Sequence[str] = (HOME,),
    elsewhere: Callable[[str], bool] = lambda url: False,
) -> Audited:
    """
    Reads a site's files, by URL. `page_of` tells which source a finished page was made from, `homes` where readers
    begin, `elsewhere` which files need not be among these: those of a language that was not built, and what is said to
    be missing elsewhere.
    Addresses below `base_url` are the site's own. Those below `repository_url` that no author wrote were made for each
    page alike, and are not asked for.
    """
    auditor = _Auditor(files, page_of, base_url, repository_url, elsewhere)
    for url in sorted(files, key=lambda url: (url != HOME, url)):
        if url.endswith((".html", ".css")):
            auditor.read(url)
    for url, wanted in auditor.walk.anchors.items():
        auditor.compare(url, wanted)
    found = (*auditor.broken(), *auditor.unreachable(homes))
    outside = {address: tuple(at) for address, at in sorted(auditor.walk.outside.items())}
    return Audited(tuple(sorted(found)), outside)


class _Auditor:
    def __init__(
        self,
        files: Mapping[str, bytes],
        page_of: Callable[[str], Page | None],
        base_url: str,
        repository_url: str,
        elsewhere: Callable[[str], bool],
    ):
        self.files, self.page_of, self.elsewhere = files, page_of, elsewhere
        self.base_url, self.repository_url = base_url, repository_url
        self.root = urlsplit(base_url).path or "/"
        self.walk = _Walk()

    def text(self, url: str) -> str:
        return self.files[url].decode("utf-8", "replace")

    # ---- one file

    def read(self, url: str) -> None:
        text = self.text(url)
        found = addresses.of_page(text) if url.endswith(".html") else addresses.of_style(text)
        ids: frozenset[str] | None = None
        seen: set[tuple[str, bool]] = set()
        for address in found:
            if (address.text, address.followed) in seen:
                continue
            seen.add((address.text, address.followed))
            parts = self.parts(address.text)
            if parts is None:
                self.stranger(url, text, address)
                continue
            path, anchor = parts
            target = self.target(url, path)
            if target is None or not (target in self.files or self.elsewhere(target)):
                self.report(url, text, address, f"the site has no file {target or address.text}")
            elif target in self.files:
                self.way(url, target, address, text)
                if anchor and target == url:
                    ids = addresses.ids(text) if ids is None else ids
                    if not _is_there(anchor, ids):
                        self.report(url, text, address, f"nothing on the page has the id {anchor!r}")
                elif anchor and target.endswith(".html"):
                    self.walk.anchors.setdefault(target, {}).setdefault(anchor, []).append((url, address))

    def parts(self, address: str) -> tuple[str, str] | None:
        """Path and anchor of an address in the site, none of another."""
        if self.base_url and address.startswith(self.base_url):
            address = self.root + address[len(self.base_url) :]
        try:
            parts = urlsplit(address)
        except ValueError:
            return None
        if parts.scheme or parts.netloc:
            return None
        return unquote(parts.path), unquote(parts.fragment)

    def target(self, url: str, path: str) -> str | None:
        """The file that is meant; none if it would lie outside of the site."""
        if path.startswith("/"):
            within = path.startswith(self.root)
            url, path = "", path[len(self.root) :] or "./"
            if not within:
                return None
        target = posixpath.normpath(posixpath.join(posixpath.dirname(url), path)) if path else url
        if target.startswith(".."):
            return None
        return (
            posixpath.normpath(posixpath.join(target, HOME))
            if path.endswith("/") or target == "."
            else target
        )

    def way(self, url: str, target: str, address: Address, text: str) -> None:
        if address.followed and target != url:
            self.walk.ways.setdefault(url, set()).add(target)
            if text.startswith("<meta", address.offset):
                self.walk.redirects.add(url)

    def stranger(self, url: str, text: str, address: Address) -> None:
        """An address of another site, which may be asked for later."""
        scheme = address.text.partition(":")[0].lower()
        if scheme not in ("http", "https"):
            return
        page = self.page_of(url)
        place = places.typed(page, address.text, exact=True) if page else None
        if place is None:
            if self.repository_url and address.text.startswith(self.repository_url):
                return
            place = places.made(url, text, address.offset)
        known = self.walk.outside.setdefault(address.text.partition("#")[0], {})
        # What a template has on every page is told of one.
        if place.path != url or not known:
            known[place] = None

    # ---- all files

    def compare(self, url: str, wanted: Mapping[str, list[tuple[str, Address]]]) -> None:
        """Tells of anchors that the page lacks and others ask for."""
        ids = addresses.ids(self.text(url))
        for anchor, asked in wanted.items():
            if not _is_there(anchor, ids):
                for other, address in asked:
                    self.report(
                        other, self.text(other), address, f"nothing on the page {url} has the id {anchor!r}"
                    )

    def report(self, url: str, text: str, address: Address, message: str) -> None:
        page = self.page_of(url)
        place = places.typed(page, address.text) if page else None
        if place is None:
            # The template's: its place is on the first page that has it.
            same = (at for at, said in self.walk.broken if said == message and at.path in self.files)
            place = next(same, None) or places.made(url, text, address.offset)
        self.walk.broken.setdefault((place, message), []).append(url)

    def broken(self) -> Iterator[Diagnostic]:
        for (place, message), urls in self.walk.broken.items():
            others = len(set(urls)) - 1
            if place.path in self.files and others:
                message += f"; {others:,} other page{'s ask' if others > 1 else ' asks'} for it too"
            hint = "correct the address, or put there what is missing"
            yield Diagnostic.at(place, "link-broken", message, hint)

    def unreachable(self, homes: Sequence[str]) -> Iterator[Diagnostic]:
        """Pages that nobody comes to who begins at a home page."""
        reached, waiting = {*homes}, [*homes]
        while waiting:
            for target in sorted(self.walk.ways.get(waiting.pop(), ())):
                if target not in reached:
                    reached.add(target)
                    waiting.append(target)
        for url in self.files:
            if (
                not url.endswith(".html")
                or url in reached
                or _name(url) == LOST
                or url in self.walk.redirects
            ):
                continue
            page = self.page_of(url)
            place = Position(page.source.path if page else url, 1, 1)
            hint = "link to it, or let the theme's templates list all pages"
            yield Diagnostic.at(place, "page-unreachable", f"no links lead from the home page to {url}", hint)


def _name(url: str) -> str:
    return posixpath.basename(url)


def _is_there(anchor: str, ids: frozenset[str]) -> bool:
    return anchor in ids or anchor.lower() in _AT_TOP
