"""
---
title: From one file to one page
summary: What each process does with a page, before and after the index is known.
---
# From one file to one page

Two functions do all the work of a site, one on each side of the index: `introduced` makes what the other pages may
know of a page, `woven` the page itself in the languages that are asked for, and writes it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from site_builder import claims, katex, record, translate, weave
from site_builder.cache import digest
from site_builder.catalogues import path_of
from site_builder.config import Config
from site_builder.errors import Diagnostic
from site_builder.index import Card
from site_builder.model import Page, SourceFile
from site_builder.outputs import search
from site_builder.render import Templates
from site_builder.site import stores
from site_builder.site.ledger import Tally
from site_builder.site.reading import keep, loaded, parsed
from site_builder.site.shelf import pickled
from site_builder.site.survey import catalogue
from site_builder.translate import files
from site_builder.verified import Verified
from site_builder.weave.site import Lines, Names, Site, listed
from site_builder.write import Output, Seen


class Introduction(NamedTuple):
    """What other pages may say of a page: its card, its anchors, and its title and summary in each language."""

    card: Card
    anchors: str
    """Every id of the page that a link may name, as one text: `listed`."""
    lines: Lines
    names: Mapping[str, Names]
    identity: bytes
    """Equal for two pages of which every question has the same answer."""


class Entry(NamedTuple):
    """All of a woven page but its text: what the text depends on, and what is made from it beside the page."""

    digest: bytes
    """Of the file; empty where it was made from something else than the survey saw."""
    steps: bytes
    """Of the file of recorded steps; empty where there is none."""
    asked: bytes
    """The digest of the questions that weaving it has asked of the others, with their answers."""
    row: bytes
    """What the search index has of it."""
    row_digest: bytes
    diagnostics: tuple[Diagnostic, ...]
    unkept: tuple[Diagnostic, ...]
    """Those that are told of the page and not of its languages."""
    tally: Tally


class Task(NamedTuple):
    """A page to weave, the languages that lack it, and the record of its examples."""

    url: str
    languages: tuple[str, ...]
    record: bytes = b""
    waiting: bool = False


class Done(NamedTuple):
    """By language the page and its questions, pickled; by URL what now lies there, and whether it had to be written."""

    url: str
    entries: Mapping[str, Entry]
    logs: Mapping[str, bytes]
    files: Mapping[str, tuple[Seen, bool]]


class Context(NamedTuple):
    """What weaving any page may need: settled once the index is known, the same in every process."""

    site: Site
    cards: Mapping[str, Card]
    """By URL."""
    output: Output
    catalogues: Mapping[tuple[str, str], bytes]
    """Their digests, by language and page URL."""
    looks: Mapping[str, bytes]
    verified: Verified

    def templates(self, lang: str) -> Templates:
        return templates(self.site.config, lang, self.looks[lang])


# ---- before the index


class File(NamedTuple):
    """A source, and the digests of it and of its catalogues that the survey saw."""

    source: SourceFile
    digest: bytes
    catalogues: Mapping[str, bytes]
    """By language."""


def introduced(config: Config, file: File) -> tuple[Introduction, bool] | None:
    """
    What the others show of the page, and whether it was made from what the survey saw; `None` if the file vanished
    meanwhile.
    """
    source = file.source
    try:
        page, found = parsed(source)
    except FileNotFoundError:
        return None
    keep(config, page, found)
    made = introduction(config, page, found)
    steady = all(catalogue(config, lang, source.url) == seen for lang, seen in file.catalogues.items())
    return made, steady and found == file.digest


def introduction(config: Config, page: Page, read: bytes = b"") -> Introduction:
    """`read` is the digest of the file that the page was made from."""

    def opening(lang: str) -> translate.Localised:
        if lang == config.language:
            return translate.original(page)
        return translate.opening(page, files.load(config, lang, path_of(lang, page.url))[0])

    names = {
        lang: weave.names(
            page,
            opening(lang),
            renderer(config),
            opening_line=lang == config.language,
            source_lang=config.language,
        )
        for lang in config.all_languages
    }
    card, anchors, lines = Card.of(page, read), listed(weave.anchors(page)), weave.lines(page)
    identity = digest(repr(card._replace(digest=b"")), anchors, repr(lines), repr(sorted(names.items())))
    return Introduction(card, anchors, lines, names, identity)


# ---- behind it


def woven(context: Context, task: Task) -> Done:
    """One page in those languages, written to the output folder."""
    site, config = context.site, context.site.config
    page, steady = loaded(config, context.cards[task.url])
    # A record speaks of the statements of just the code that was run.
    evidence = evidence_of(config, page, context.verified, task if steady else task._replace(record=b""))
    told = (
        *(record.diagnostics(page, evidence.record) if evidence.record else ()),
        *evidence.checked.diagnostics,
    )
    written: dict[str, tuple[Seen, bool]] = {}
    walks = None
    if evidence.record:
        # For pages that were run; loading it takes longer than a step of the line.
        from site_builder.outputs import steps

        walks = steps.script(page, evidence.record, evidence.checked)
        if walks is not None:
            url = steps.url_of(task.url)
            written[url] = context.output.put(url, walks)
    entries, logs = {}, {}
    for lang in task.languages:
        asking = site.asking()
        local, current = localised(context, page, lang)
        look = context.templates(lang)
        result = weave.weave(page, local, asking, renderer(config), lang, evidence, look.words)
        data = look.page(result).encode()
        written[result.url] = context.output.put(result.url, data)
        logs[lang] = pickled(asking.log or {})
        row = search.row(task.url, result.title_text, result.search)
        entries[lang] = Entry(
            digest(data) if steady and current else b"",
            digest(walks) if walks is not None else b"",
            digest(logs[lang]),
            row,
            digest(row),
            tuple(sorted({*told, *result.diagnostics})),
            result.unkept,
            tally(evidence),
        )
    return Done(task.url, entries, logs, written)


def evidence_of(config: Config, page: Page, compared: Verified, task: Task) -> weave.Evidence:
    """What is known of the page by running it."""
    found = record.Record.from_bytes(task.record) if task.record else None
    return weave.Evidence(
        found,
        claims.check(page, found),
        compared.rows(page),
        compared.was(page),
        config.execute,
        task.waiting,
    )


def localised(context: Context, page: Page, lang: str) -> tuple[translate.Localised, bool]:
    """The page's prose, and whether the catalogue is the one that the survey saw."""
    config = context.site.config
    if lang == config.language:
        return translate.original(page), True
    found, faults = files.load(config, lang, path_of(lang, page.url))
    if page.url == context.site.index.order[0]:
        faults += files.interface_faults(config, lang)
    local = translate.localise(page, found, faults)
    return local, catalogue(config, lang, page.url) == context.catalogues[lang, page.url]


def tally(evidence: weave.Evidence) -> Tally:
    verdicts = (claims.Verdict.PROVEN, claims.Verdict.UNCHECKED, claims.Verdict.FALSE)
    ran, every = evidence.record.share if evidence.record else (0, 0)
    return Tally(ran, every, *(evidence.checked.count(verdict) for verdict in verdicts))


# ---- what each process has once


_current: dict[str, tuple[object, Templates]] = {}
"""The templates last asked for in each language, compiled once in each process."""


def forget_templates() -> None:
    """They are read when they are first asked for, which may have been after an edit that the survey did not see."""
    _current.clear()


def templates(config: Config, lang: str, look: bytes) -> Templates:
    wanted = (config, look)
    if lang not in _current or _current[lang][0] != wanted:
        _current[lang] = wanted, Templates(config, lang, files.interface(config, lang))
    return _current[lang][1]


def renderer(config: Config) -> katex.Renderer:
    return _renderer_of(stores.file(config), os.getpid())


@cache
def _renderer_of(file: Path | None, process: int) -> katex.Renderer:
    """One a process: neither an engine nor an open database survives a fork."""
    return katex.Renderer(stores.of(file, process))
