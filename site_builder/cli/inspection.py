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
from collections.abc import Mapping
from dataclasses import dataclass

from site_builder import audit, lint
from site_builder.audit import Unchecked
from site_builder.config import Config
from site_builder.errors import Diagnostic
from site_builder.model import Page
from site_builder.site import Progress, Tally, make, read
from site_builder.translate import upkeep


@dataclass(frozen=True)
class Inspection:
    """What came of it. `unchecked` are links to other sites of which nothing can be said today; no faults."""

    diagnostics: tuple[Diagnostic, ...]
    pages: tuple[str, ...]
    reach: Mapping[str, Tally]
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
    source = read(config, jobs)
    made = make(config, jobs=jobs, progress=progress)
    pages = tuple(source.pages.values())
    found = {
        *made.diagnostics,
        *upkeep.overdue(config, pages),
        *(fault for page in pages for fault in lint.page(page)),
    }
    audited = audit.inside(
        made.files,
        lambda url: _page(config, source.pages, url),
        base_url=config.base_url,
        repository_url=config.repository_url,
        homes=[
            "index.html" if lang == config.language else f"{lang}/index.html"
            for lang in config.built_languages
        ],
        # Of an image that is there and cannot be read it is said so.
        elsewhere=lambda url: (
            url in source.images or config.language_of(url) not in ("", *config.built_languages)
        ),
    )
    asked = audit.Asked()
    if external:
        report = (lambda done, total: progress("asking", done, total)) if progress else None
        asked = audit.outside(audited.outside, progress=report)
    found.update(audited.diagnostics, asked.diagnostics)
    return Inspection(
        tuple(sorted(found)), source.index.order, made.report.tallies, asked.unchecked, asked.asked
    )


def _page(config: Config, pages: Mapping[str, Page], url: str) -> Page | None:
    """The source of a finished page, in whatever language that is."""
    lang = config.language_of(url)
    page = pages.get(url if lang in ("", config.language) else url.removeprefix(f"{lang}/"))
    return page if page and page.source.file else None
