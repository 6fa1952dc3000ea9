"""
---
title: Page not found
summary: What the host shows for an address that leads nowhere.
---
# Page not found

The host may show it at any depth, so its links cannot be relative: where it is not known at which path the site will
stand, by `base_url` or because it is [served](site_builder.serve) here, there is no such page. Some
hosts look for it in the folder that was asked for, and so find that of the reader's language; the others show the
one at the root, which leads to the rest.
"""

from __future__ import annotations

from site_builder.render import Templates
from site_builder.weave import Site, bare

URL = "404.html"


def files(site: Site, templates: Templates, lang: str) -> dict[str, str]:
    root = site.config.root_path
    if not root:
        return {}
    page = bare(site, URL, lang)
    absolute = page._replace(
        root=root,
        home=root + site.url("index.html", lang),
        contents=root + site.url("all-pages.html", lang),
        crumbs=tuple(crumb._replace(href=root + site.url("index.html", lang)) for crumb in page.crumbs),
        languages=tuple(link._replace(href=root + site.url(URL, link.code)) for link in page.languages),
        canonical="",
        alternates=(),
    )
    return {site.url(URL, lang): templates.not_found(absolute)}
