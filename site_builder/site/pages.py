"""
---
title: From one file to one page
summary: What each process does with a page, before and after the index is known.
---
# From one file to one page
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from multiprocessing.util import Finalize
from pathlib import Path

from site_builder import cache as caching
from site_builder import katex, translate, weave
from site_builder.config import Config
from site_builder.errors import Diagnostic
from site_builder.index import Index
from site_builder.model import Page, SourceFile
from site_builder.parse import parse
from site_builder.prose.foreign import as_markdown
from site_builder.render import PageFile, Templates
from site_builder.resources import resource_root
from site_builder.site.inputs import content, unreadable
from site_builder.site.memory import Memory, recall
from site_builder.translate import files
from site_builder.translate.catalogue import Catalogue


@dataclass(frozen=True)
class Introduction:
    """What other pages may say of a page: its anchors, and its title and summary in each language."""

    anchors: frozenset[str]
    names: Mapping[str, weave.Names]


@dataclass(frozen=True)
class Done:
    """A page as it will be written. `page` says the rest, its `html` left empty: a text is held once."""

    page: PageFile
    data: bytes


@dataclass(frozen=True)
class Context:
    """What weaving any page may need: settled once the index is known, the same in every process."""

    site: weave.Site
    evidence: Mapping[str, weave.Evidence] = field(default_factory=dict)
    """By page URL."""
    catalogues: Mapping[tuple[str, str], Catalogue] = field(default_factory=dict)
    """By language and page URL."""
    faults: Mapping[tuple[str, str], tuple[Diagnostic, ...]] = field(default_factory=dict)
    """What is wrong with catalogues that could not be read."""
    looks: Mapping[str, bytes] = field(default_factory=dict)
    """By language, a digest of the templates and of their words."""
    memory: Memory | None = None
    surroundings: Mapping[str, object] = field(default_factory=dict)
    """By language, what a page depends on besides its own source and catalogue."""
    lengths: object = None
    """The number of lines of each page, for those that may link to single lines."""

    @staticmethod
    def of(
        config: Config,
        index: Index,
        assets: Iterable[str],
        evidence: Mapping[str, weave.Evidence],
        memory: Memory | None = None,
    ) -> Context:
        """What can be known before any page is looked into: catalogues, and the state of the templates."""
        catalogues, faults = files.read_all(config, index.order)
        site = weave.Site(
            config=config,
            index=index,
            anchors={},
            assets=frozenset(assets),
            languages=config.all_languages,
        )
        looks = {lang: _look(config, lang) for lang in config.all_languages}
        return Context(site, evidence, catalogues, faults, looks, memory)

    def introducing(self, pages: Iterable[Introduction]) -> Context:
        """The same with what every page, in the index's order, says of itself."""
        order, languages = self.site.index.order, self.site.languages
        known = dict(zip(order, pages, strict=True))
        anchors = {url: page.anchors for url, page in known.items()}
        titles = {lang: {url: page.names[lang] for url, page in known.items()} for lang in languages}
        done = replace(self, site=replace(self.site, anchors=anchors, titles=titles))
        if self.memory is None:
            return done
        common = self.memory.same("site", _identity(done.site))
        surroundings = {
            lang: self.memory.same(("site", lang), (common, titles[lang], self.looks[lang]))
            for lang in languages
        }
        return replace(
            done, surroundings=surroundings, lengths=self.memory.same("lengths", _lengths(self.site.index))
        )

    def localised(self, page: Page, lang: str) -> translate.Localised:
        if lang == self.site.config.language:
            return translate.original(page)
        key = (lang, page.url)
        return translate.localise(page, self.catalogues.get(key), self.faults.get(key, ()))

    def opening(self, page: Page, lang: str) -> translate.Localised:
        if lang == self.site.config.language:
            return translate.original(page)
        return translate.opening(page, self.catalogues.get((lang, page.url)))

    def templates(self, lang: str) -> Templates:
        return _templates(self.site.config, lang, self.looks[lang])


def parsed(memory: Memory | None, source: SourceFile) -> Page | None:
    """The file as a page, an empty one if it cannot be read; `None` if it vanished meanwhile."""
    try:
        data = content(source.file) if source.file else b""
    except FileNotFoundError:
        return None
    except OSError as error:
        return replace(parse(source, b""), diagnostics=(unreadable(source.path, error),))
    key = (source, caching.digest(data))
    return recall(memory, ("parsed", source.url, source.path), key, lambda: as_markdown(parse(source, data)))


def introduced(context: Context, url: str) -> Introduction:
    """What the others show of the page."""
    site = context.site
    page = site.index.page(url)
    assert page is not None
    catalogues = tuple(context.catalogues.get((lang, url)) for lang in site.languages)

    def make() -> Introduction:
        names = {
            lang: weave.names(
                page,
                context.opening(page, lang),
                _renderer(site.config),
                opening_line=lang == site.config.language,
            )
            for lang in site.languages
        }
        return Introduction(weave.anchors(page), names)

    return recall(context.memory, ("introduced", url), (page, catalogues, site.config), make)


def woven(context: Context, task: tuple[str, str]) -> Done:
    """One page in one language."""
    url, lang = task
    site = context.site
    page = site.index.page(url)
    assert page is not None

    def make() -> Done:
        templates = context.templates(lang)
        result = weave.weave(
            page,
            context.localised(page, lang),
            site,
            _renderer(site.config),
            lang,
            context.evidence.get(url, weave.Evidence()),
            templates.words,
        )
        html = templates.page(result)
        done = PageFile(result.url, url, lang, "", result.title_text, result.search, result.diagnostics)
        return Done(done, html.encode())

    if context.memory is None:
        return make()
    catalogue = context.catalogues.get((lang, url))
    lengths = context.lengths if _may_name_lines(page, catalogue) else None
    faults, around = context.faults.get((lang, url)), context.surroundings[lang]
    source = (page, context.evidence.get(url), catalogue, faults, around, lengths)
    return context.memory.recall(("woven", url, lang), source, make)


def opened(config: Config) -> caching.Store:
    """The store of this process."""
    return _store(_cache_file(config), os.getpid())


def close(config: Config) -> None:
    """Lets the store of this process be tidied. What comes later opens it again."""
    _store(_cache_file(config), os.getpid()).close()


def _identity(site: weave.Site) -> object:
    """All that a page may learn of the others, but for their titles and the number of their lines."""
    index = site.index
    pages = []
    for url in index.order:
        page = index.page(url)
        assert page is not None
        shown = [index.resolve(f"{page.source.module}.{item.name}") for item in page.definitions]
        kinds = [(item.name, item.kind, item.anchor) for item in page.definitions]
        pages.append(
            (
                *(page.source, page.title, page.front, kinds, shown, page.exports, page.imports, page.meta),
                *(index.parent(url), index.children(url), site.anchors[url]),
            )
        )
    return (site.config, site.assets, site.languages, pages)


def _lengths(index: Index) -> object:
    return {url: len(page.lines) for url, page in index.pages.items()}


def _may_name_lines(page: Page, catalogue: Catalogue | None) -> bool:
    """Whether a link to a line, however it is written, may be among the prose."""
    texts = [prose.text for _, prose in translate.parts(page)]
    texts += [entry.text for entry in catalogue.entries] if catalogue else []
    return any(re.search(r"#L|[%&]", text) for text in texts)


def _look(config: Config, lang: str) -> bytes:
    """Changes whenever a template does, or the words that it is given."""
    folders = [resource_root("templates")]
    if config.theme:
        folders.append(config.folder(config.theme) / "templates")
    read = [file for folder in folders for file in sorted(folder.rglob("*.html"))]
    read += [top / lang / files.INTERFACE for top in _catalogues(config)]
    return caching.digest(*(part for file in read for part in (str(file), _bytes(file))))


def _catalogues(config: Config) -> tuple[Path, ...]:
    return resource_root("translations"), config.folder(config.translations)


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


_current: dict[str, tuple[object, Templates]] = {}
"""The templates last asked for in each language, compiled once in each process."""


def _templates(config: Config, lang: str, look: bytes) -> Templates:
    wanted = (config, look)
    if lang not in _current or _current[lang][0] != wanted:
        _current[lang] = wanted, Templates(config, lang, files.interface(config, lang))
    return _current[lang][1]


def _renderer(config: Config) -> katex.Renderer:
    return _renderer_of(_cache_file(config), os.getpid())


def _cache_file(config: Config) -> Path | None:
    return config.folder(config.cache) / "store.sqlite" if config.cache else None


@cache
def _renderer_of(file: Path | None, process: int) -> katex.Renderer:
    """One a process: neither an engine nor an open database survives a fork."""
    return katex.Renderer(_store(file, process))


@cache
def _store(file: Path | None, process: int) -> caching.Store:
    """Closed when the process ends, which a worker does without a word."""
    store = caching.Store(file)
    Finalize(None, store.close, exitpriority=10)
    return store
