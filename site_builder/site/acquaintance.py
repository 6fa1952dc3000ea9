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

from collections.abc import Callable
from dataclasses import dataclass

from site_builder import index
from site_builder.cache import digest
from site_builder.model import SourceFile
from site_builder.site.inputs import size
from site_builder.site.pages import File, Introduction, introduced, page_key
from site_builder.site.shelf import Shelf
from site_builder.site.survey import Survey
from site_builder.site.workers import spread
from site_builder.weave.site import Site

CARD = "card"


@dataclass(frozen=True)
class Acquaintance:
    """The site as its pages see it. `identity` is equal for two sites that give the same answers."""

    site: Site
    identity: bytes
    steady: bool
    """Whether it was made from what the survey saw."""


def introduce(
    inputs: Survey, shelf: Shelf, jobs: int = 1, report: Callable[[int, int], None] | None = None
) -> Acquaintance:
    """Introduces those of the pages that the shelf does not know."""
    config = inputs.config
    translations = config.all_languages[1:]
    files = {
        _key(inputs, source, seen): File(
            source, seen, {lang: inputs.catalogues[lang, source.url] for lang in translations}
        )
        for source, seen in inputs.sources
    }
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
    return Acquaintance(_site(inputs, pages, assets), identity, steady)


def _site(inputs: Survey, pages: list[Introduction], assets: frozenset[str]) -> Site:
    config = inputs.config
    tree = index.build([page.card for page in pages], config.all_languages[1:])
    # Of two pages for one URL the index has taken the first.
    first = {page.card.url: page for page in reversed(pages)}
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


def _key(inputs: Survey, source: SourceFile, seen: bytes) -> bytes:
    languages = inputs.config.all_languages
    catalogues = (inputs.catalogues[lang, source.url] for lang in languages[1:])
    return digest(page_key(source, seen), repr(languages), *catalogues)
