"""
---
title: What pages know of each other
summary: A card, anchors and names of every page, and the site that answers all that pages ask.
---
# What pages know of each other

Before any page can be woven, every page has to be introduced to the others. A page that is what it was is not read
again for that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from site_builder import index
from site_builder.cache import digest
from site_builder.config import Config
from site_builder.index import Card
from site_builder.site.inputs import size
from site_builder.site.pages import File, Introduction, introduced
from site_builder.site.reading import page_key
from site_builder.site.shelf import Shelf
from site_builder.site.survey import Survey
from site_builder.site.workers import spread
from site_builder.weave.site import Site

CARD, SITE = "card", "site"


class Acquaintance(NamedTuple):
    """The site as its pages see it. `identity` is equal for two sites that give the same answers."""

    site: Site
    identity: bytes
    steady: bool
    """Whether it was made from what the survey saw."""
    cards: Mapping[str, Card]
    """By URL. Those in the site's index may be of an earlier build, alike but for the digests of their files."""


def introduce(
    inputs: Survey, shelf: Shelf, jobs: int = 1, report: Callable[[int, int], None] | None = None
) -> Acquaintance:
    """Introduces those of the pages that the shelf does not know."""
    config = inputs.config
    translations = config.all_languages[1:]
    languages = repr(config.all_languages)
    files = {}
    for source, seen in inputs.sources:
        catalogues = {lang: inputs.catalogues[lang, source.url] for lang in translations}
        key = digest(page_key(source, seen), languages, *catalogues.values())
        files[key] = File(source, seen, catalogues)
    found: dict[bytes, Introduction] = shelf.get(CARD, files)
    lacking = [key for key in files if key not in found]
    tasks = [files[key] for key in lacking]
    answers = spread(introduced, tasks, config, jobs, report, lambda file: size(file.source))
    fresh: dict[bytes, Introduction] = {}
    steady = True
    for key, answer in zip(lacking, answers, strict=True):
        if answer is None:
            steady = False
            continue
        found[key], as_seen = answer
        steady &= as_seen
        if as_seen:
            fresh[key] = found[key]
    shelf.put(CARD, fresh)
    pages = [found[key] for key in files if key in found]
    assets = frozenset(asset.url for asset, _ in inputs.assets)
    identity = digest(repr(config.translated), *(page.identity for page in pages), "", *sorted(assets))
    # Of two pages for one URL the index takes the first.
    first = {page.card.url: page for page in reversed(pages)}
    site = shelf.made(SITE, digest(identity, repr(config)), lambda: _site(config, pages, first, assets))
    cards = {url: first[url].card for url in site.index.cards}
    return Acquaintance(site, identity, steady, cards)


def _site(
    config: Config, pages: list[Introduction], first: Mapping[str, Introduction], assets: frozenset[str]
) -> Site:
    tree = index.build([page.card for page in pages], config.all_languages[1:])
    return Site(
        config=config,
        index=tree,
        anchors={url: first[url].anchors for url in tree.order},
        lines={url: first[url].lines for url in tree.order},
        assets=assets,
        titles={lang: {url: first[url].names[lang] for url in tree.order} for lang in config.all_languages},
        languages=config.all_languages,
        uncovered={
            lang: frozenset(
                url for url, card in tree.cards.items() if not config.covers(lang, card.source.path)
            )
            for lang in config.all_languages
        },
    )
