"""
---
title: All that is asked of a site
summary: "What `check` puts together: the build's own faults, and those that only a reader would notice."
---
# All that is asked of a site

A build finds what is wrong with links, math, claims, examples, symbols and translations, because it comes across them.
Two more looks are taken here: at each [page as it was typed](site_builder.lint), and at the
[finished site](site_builder.audit).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from site_builder import audit, lint
from site_builder.audit import Unchecked
from site_builder.claims import Verdict
from site_builder.config import Config
from site_builder.errors import Diagnostic
from site_builder.index import Index
from site_builder.model import Page
from site_builder.site import make, read
from site_builder.site.pages import close
from site_builder.translate import upkeep
from site_builder.weave import Evidence

Progress = Callable[[str, int, int], None]

SHOWN = (Verdict.PROVEN, Verdict.UNCHECKED, Verdict.FALSE)


@dataclass(frozen=True, slots=True)
class Reach:
    """How far the evidence of a page goes: statements that ran, and all; claims by what became of them."""

    ran: int
    statements: int
    proven: int
    unchecked: int
    false: int

    @staticmethod
    def of(evidence: Evidence) -> Reach:
        ran, statements = evidence.record.share if evidence.record else (0, 0)
        return Reach(ran, statements, *(evidence.checked.count(verdict) for verdict in SHOWN))


@dataclass(frozen=True)
class Inspection:
    """What came of it. `unchecked` are links to other sites of which nothing can be said today; no faults."""

    diagnostics: tuple[Diagnostic, ...]
    pages: tuple[str, ...]
    reach: Mapping[str, Reach]
    unchecked: tuple[Unchecked, ...] = ()
    asked: int = 0
    """How many addresses of other sites were asked for."""

    @property
    def counts(self) -> Mapping[str, int]:
        """How often each code was given."""
        return dict(sorted(Counter(found.code for found in self.diagnostics).items()))


def inspect(
    config: Config, jobs: int, progress: Progress | None = None, *, external: bool = False
) -> Inspection:
    """Makes the site and looks at all of it; `external` also asks other sites for what is linked there."""
    index = read(config, jobs).index
    files, made, reach = _made(config, jobs, progress)
    pages = tuple(index.pages.values())
    found = {*made, *upkeep.overdue(config, pages), *(fault for page in pages for fault in lint.page(page))}
    audited = audit.inside(
        files,
        lambda url: _page(config, index, url),
        base_url=config.base_url,
        repository_url=config.repository_url,
        homes=[
            "index.html" if lang == config.language else f"{lang}/index.html"
            for lang in config.built_languages
        ],
        elsewhere=lambda url: config.language_of(url) not in ("", *config.built_languages),
    )
    asked = audit.Asked()
    if external:
        report = (lambda done, total: progress("asking", done, total)) if progress else None
        asked = audit.outside(audited.outside, progress=report)
    found.update(audited.diagnostics, asked.diagnostics)
    return Inspection(tuple(sorted(found)), index.order, reach, asked.unchecked, asked.asked)


def _made(
    config: Config, jobs: int, progress: Progress | None
) -> tuple[Mapping[str, bytes], tuple[Diagnostic, ...], Mapping[str, Reach]]:
    """The finished files by URL, what was wrong on the way, and the reach of each page's evidence."""
    try:
        made = make(config, jobs=jobs, progress=progress)
    finally:
        close(config)
    return made.files, made.diagnostics, {url: Reach.of(one) for url, one in made.evidence.items()}


def _page(config: Config, index: Index, url: str) -> Page | None:
    """The source of a finished page, in whatever language that is."""
    lang = config.language_of(url)
    page = index.page(url if lang in ("", config.language) else url.removeprefix(f"{lang}/"))
    return page if page and page.source.file else None
