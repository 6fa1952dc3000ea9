"""
---
title: Redirects
summary: An old URL leads to where its page is now.
---
# Redirects

A page that has moved lists its old addresses under `redirect_from`. Each becomes a small page that leads to the
new one, because a static site has no server that could answer with a redirect. The index has already settled which
old addresses are free.
"""

from __future__ import annotations

from site_builder.render import Templates
from site_builder.weave import Site, bare


def files(site: Site, templates: Templates, lang: str) -> dict[str, str]:
    """One page for each old URL, in one language; it sends the reader on and tells search engines where to."""
    return {
        site.url(old, lang): templates.redirect(bare(site, old, lang), site.href(old, url, lang))
        for old, url in site.index.redirects.items()
        if site.covers(url, lang)
    }
