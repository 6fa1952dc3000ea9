"""
---
title: From one file to one page
summary: What each process does with a page, before and after the index is known.
---
# From one file to one page
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from site_builder import cache as caching
from site_builder import katex, translate, weave
from site_builder.config import Config
from site_builder.discover import Found
from site_builder.errors import Diagnostic
from site_builder.index import Index
from site_builder.model import Page, SourceFile
from site_builder.parse import parse
from site_builder.prose.foreign import as_markdown
from site_builder.render import PageFile, Templates
from site_builder.translate import files
from site_builder.translate.catalogue import Catalogue


@dataclass(frozen=True)
class Context:
    """What weaving any page may need: settled once the index is known, the same in every process."""

    site: weave.Site
    catalogues: Mapping[tuple[str, str], Catalogue] = field(default_factory=dict)
    """By language and page URL."""
    faults: Mapping[tuple[str, str], tuple[Diagnostic, ...]] = field(default_factory=dict)
    """What is wrong with catalogues that could not be read."""

    @staticmethod
    def of(config: Config, index: Index, found: Found) -> Context:
        """Reads the catalogues, and typesets the titles that pages show of one another."""
        catalogues, faults = files.read_all(config, index.order)
        site = weave.Site(
            config=config,
            index=index,
            anchors={url: weave.anchors(index.page(url)) for url in index.order},
            assets=frozenset(asset.url for asset in found.assets),
            languages=config.all_languages,
        )
        context = Context(site, catalogues, faults)
        titles = {
            lang: {
                url: weave.names(
                    page,
                    context.localised(page, lang),
                    _renderer(config),
                    opening_line=lang == config.language,
                )
                for url in index.order
                if (page := index.page(url))
            }
            for lang in config.all_languages
        }
        return replace(context, site=replace(site, titles=titles))

    def localised(self, page: Page, lang: str) -> translate.Localised:
        if lang == self.site.config.language:
            return translate.original(page)
        key = (lang, page.url)
        return translate.localise(page, self.catalogues.get(key), self.faults.get(key, ()))

    def templates(self, lang: str) -> Templates:
        return _templates(self.site.config, lang)


def parsed(_: None, source: SourceFile) -> Page | None:
    """The file as a page; `None` if it vanished meanwhile."""
    try:
        data = Path(source.file).read_bytes() if source.file else b""
    except FileNotFoundError:
        return None
    return as_markdown(parse(source, data))


def woven(context: Context, task: tuple[str, str]) -> PageFile:
    """One page in one language."""
    url, lang = task
    config = context.site.config
    page = context.site.index.page(url)
    assert page is not None
    result = weave.weave(page, context.localised(page, lang), context.site, _renderer(config), lang)
    html = context.templates(lang).page(result)
    return PageFile(result.url, url, lang, html, result.title_text, result.search, result.diagnostics)


def _renderer(config: Config) -> katex.Renderer:
    return _renderer_of(config, os.getpid())


@cache
def _renderer_of(config: Config, process: int) -> katex.Renderer:
    """One a process: neither an engine nor an open database survives a fork."""
    return katex.Renderer(
        caching.Store(config.folder(config.cache) / "store.sqlite" if config.cache else None)
    )


@cache
def _templates(config: Config, lang: str) -> Templates:
    return Templates(config, lang, files.interface(config, lang))
