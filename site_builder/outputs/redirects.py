"""
---
title: Redirects
summary: An old URL leads to where its page is now.
---
# Redirects
"""

from __future__ import annotations

from site_builder.index import href
from site_builder.render import Templates
from site_builder.weave import Site, bare


def files(site: Site, templates: Templates, lang: str) -> dict[str, str]:
    """One page for each `redirect_from` that is free; what is taken is a diagnostic of the index."""
    made: dict[str, str] = {}
    for url in site.index.order:
        page = site.index.page(url)
        for old in page.front.redirect_from if page else ():
            old = old.lstrip("/")
            if site.index.page(old) is None and ".." not in old.split("/"):
                made.setdefault(
                    site.url(old, lang), templates.redirect(bare(site, old, lang), href(old, url))
                )
    return made
