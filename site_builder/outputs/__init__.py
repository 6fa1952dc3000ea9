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
from functools import partial
from typing import NamedTuple

from site_builder.cache import digest
from site_builder.config import Config
from site_builder.outputs import contents, notfound, offers, redirects, search, sitemap
from site_builder.render import Templates
from site_builder.weave import Site


class Group(NamedTuple):
    """
    Files that change together: what they are called, every URL that may be among them, a digest of all that they are
    made from, and how they are made. The first two are known before any page is woven.
    """

    name: str
    urls: tuple[str, ...]
    key: Callable[[], bytes]
    make: Callable[[], Mapping[str, bytes]]


def beside(
    site: Site,
    settings: bytes,
    looks: Mapping[str, bytes],
    templates: Callable[[str], Templates],
    digests: Callable[[str], Sequence[bytes]],
    rows: Callable[[str], Sequence[bytes]],
) -> Iterator[Group]:
    """All files made from more than one page. `rows` gives what a language's search index holds, `digests` theirs."""
    config = site.config
    order = digest(
        settings, *(f"{url} {site.url(url, lang)}" for lang in site.languages for url in site.index.order)
    )
    for lang in config.built_languages:
        yield from _of(site, lang, order, looks[lang], templates)
        yield Group(
            f"search {lang}",
            (search.url_of(lang),),
            partial(_search_key, settings, looks[lang], digests, lang),
            partial(_search, config, rows, lang),
        )
    words = digest(*(looks[lang] for lang in site.languages))
    yield Group(
        "offers",
        (offers.URL,),
        lambda: digest(settings, words, *offers.without(site)),
        lambda: _encoded(offers.files(site, templates)),
    )
    yield Group("sitemap", (sitemap.URL,), lambda: order, lambda: _encoded(sitemap.files(site)))


def _of(
    site: Site, lang: str, order: bytes, look: bytes, templates: Callable[[str], Templates]
) -> Iterator[Group]:
    """What each language has for itself."""
    index, config = site.index, site.config

    def home(*more: str) -> bytes:
        return digest(order, look, repr(site.names("index.html", lang)), site.name("index.html"), *more)

    yield Group(
        f"contents {lang}",
        (site.url(contents.URL, lang),),
        lambda: digest(order, look, *(repr(site.names(url, lang)) + site.name(url) for url in index.order)),
        lambda: _encoded(contents.files(site, templates(lang), lang)),
    )
    yield Group(
        f"redirects {lang}",
        tuple(site.url(old, lang) for old in index.redirects),
        lambda: home(*(f"{old} {url}" for old, url in index.redirects.items())),
        lambda: _encoded(redirects.files(site, templates(lang), lang)),
    )
    yield Group(
        f"not found {lang}",
        (site.url(notfound.URL, lang),),
        lambda: home(config.root_path),
        lambda: _encoded(notfound.files(site, templates(lang), lang)),
    )


def _search_key(settings: bytes, look: bytes, digests: Callable[[str], Sequence[bytes]], lang: str) -> bytes:
    return digest(settings, look, *digests(lang))


def _search(config: Config, rows: Callable[[str], Sequence[bytes]], lang: str) -> dict[str, bytes]:
    return {search.url_of(lang): search.script(rows(lang), search.words(config, lang))}


def _encoded(files: Mapping[str, str]) -> dict[str, bytes]:
    return {url: text.encode() for url, text in files.items()}
