"""
---
title: Beside the pages
summary: The list of all pages, redirects, the page for no page, the sitemap, the search index, recorded steps.
order: [contents, redirects, notfound, sitemap, search, steps, offers]
---
# Beside the pages

Each output is a function from the woven site to files; one module each.

A new output is a new module with such a function, and one line below.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from site_builder.outputs import contents, notfound, offers, redirects, search, sitemap, steps
from site_builder.render import PageFile, Templates
from site_builder.weave import Evidence, Site


def beside(
    site: Site,
    templates: Callable[[str], Templates],
    pages: Sequence[PageFile],
    evidence: Mapping[str, Evidence],
) -> dict[str, bytes]:
    """All files that are not pages made from a source, by URL."""
    files: dict[str, str] = {}
    for lang in site.config.built_languages:
        files |= contents.files(site, templates(lang), lang)
        files |= redirects.files(site, templates(lang), lang)
        files |= notfound.files(site, templates(lang), lang)
    files |= search.files(site, pages)
    files |= offers.files(site, templates)
    files |= sitemap.files(site)
    return {url: text.encode() for url, text in files.items()} | steps.files(site.index, evidence)
