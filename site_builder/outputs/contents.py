"""
---
title: All pages
summary: The one page that holds the whole tree.
---
# All pages

A page of the site holds its ancestors, siblings and children. Only this one holds everything, so that the site
does not grow with the square of its pages.
"""

from __future__ import annotations

from site_builder.render import Node, Templates
from site_builder.weave import Site, bare

URL = "all-pages.html"


def files(site: Site, templates: Templates, lang: str) -> dict[str, str]:
    return {site.url(URL, lang): templates.contents(bare(site, URL, lang), tree(site, lang))}


def tree(site: Site, lang: str) -> tuple[Node, ...]:
    """The pages as they lie below one another, in reading order."""
    nodes: dict[str, Node] = {}
    # Children stand after their parent in reading order, so backwards every node is complete when it is made.
    for url in reversed(site.index.order):
        names = site.names(url, lang)
        below = tuple(nodes[child] for child in site.index.children(url) if child in nodes)
        address, other = site.href(URL, url, lang), site.abroad(url, lang)
        nodes[url] = Node(names.title, site.name(url), address, names.summary, below, other)
    return tuple(nodes[url] for url in site.index.order if site.index.parent(url) is None)
