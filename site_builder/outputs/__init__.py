"""
---
title: Beside the pages
summary: The list of all pages, redirects, the page for no page, the sitemap, the search index, recorded steps.
order: [contents, redirects, notfound, sitemap, search, steps, offers]
---
# Beside the pages

Each output is a function from the woven site to files; one module each. What belongs to a single page, its
[steps](steps.html), is made with it. The rest is made of all pages, in groups that change together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from site_builder.cache import digest
from site_builder.outputs import contents, notfound, offers, redirects, search, sitemap
from site_builder.render import Templates
from site_builder.weave import Site


@dataclass(frozen=True)
class Group:
    """Files that change together: what they are, a digest of all they are made from, and how they are made."""

    name: str
    key: bytes
    make: Callable[[], Mapping[str, bytes]]


def beside(
    site: Site,
    settings: bytes,
    looks: Mapping[str, bytes],
    templates: Callable[[str], Templates],
    rows: Mapping[str, Sequence[str]],
) -> Iterator[Group]:
    """All files made from more than one page. `rows` are those of the search index, by language."""
    config = site.config
    order = digest(
        settings, *(f"{url} {site.url(url, lang)}" for lang in site.languages for url in site.index.order)
    )
    moved = digest(*(f"{old} {url}" for old, url in site.index.redirects.items()))
    for lang in config.built_languages:
        yield from _of(site, lang, order, moved, looks[lang], templates)
        index = digest(settings, *rows[lang])
        yield Group(f"search {lang}", index, partial(_search, lang, rows[lang]))
    words = digest(*(looks[lang] for lang in site.languages))
    yield Group(
        "offers",
        digest(settings, words, *offers.without(site)),
        lambda: _encoded(offers.files(site, templates)),
    )
    yield Group("sitemap", order, lambda: _encoded(sitemap.files(site)))


def _of(
    site: Site,
    lang: str,
    order: bytes,
    moved: bytes,
    look: bytes,
    templates: Callable[[str], Templates],
) -> Iterator[Group]:
    """What each language has for itself."""
    names = digest(*(repr(site.names(url, lang)) + site.name(url) for url in site.index.order))
    home = digest(repr(site.names("index.html", lang)), site.name("index.html"))
    yield Group(
        f"contents {lang}",
        digest(order, look, names),
        lambda: _encoded(contents.files(site, templates(lang), lang)),
    )
    yield Group(
        f"redirects {lang}",
        digest(order, look, home, moved),
        lambda: _encoded(redirects.files(site, templates(lang), lang)),
    )
    yield Group(
        f"not found {lang}",
        digest(order, look, home),
        lambda: _encoded(notfound.files(site, templates(lang), lang)),
    )


def _search(lang: str, rows: Sequence[str]) -> dict[str, bytes]:
    return {search.url_of(lang): search.script(rows).encode()}


def names(site: Site) -> Iterator[str]:
    """The names of all those files."""
    for lang in site.config.built_languages:
        yield site.url(contents.URL, lang)
        yield from (site.url(old, lang) for old in site.index.redirects)
        yield search.url_of(lang)
        yield site.url(notfound.URL, lang)
    yield from (offers.URL, "sitemap.xml")


def _encoded(files: Mapping[str, str]) -> dict[str, bytes]:
    return {url: text.encode() for url, text in files.items()}
