"""
---
title: Page not found
summary: What the host shows for an address that leads nowhere.
---
# Page not found

The host may show it at any depth, so its links cannot be relative: without `base_url` there is no such page.
"""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlsplit

from site_builder.render import Templates
from site_builder.weave import Site, bare

URL = "404.html"


def files(site: Site, templates: Templates) -> dict[str, str]:
    if not site.config.base_url:
        return {}
    root = urlsplit(site.config.base_url).path
    page = bare(site, URL, site.config.language)
    absolute = replace(
        page,
        root=root,
        home=f"{root}index.html",
        contents=f"{root}all-pages.html",
        crumbs=tuple(replace(crumb, href=root + crumb.href) for crumb in page.crumbs),
        languages=(),
        canonical="",
        alternates=(),
    )
    return {URL: templates.not_found(absolute)}
