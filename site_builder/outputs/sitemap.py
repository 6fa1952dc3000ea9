"""
---
title: Sitemap
summary: Every page in every language, for search engines.
---
# Sitemap

Absolute URLs are all a sitemap may hold, so without `base_url` there is none. It names no dates: a build
knows no clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from site_builder.render import PageFile
from site_builder.weave import Site, public


def files(site: Site, pages: Sequence[PageFile]) -> dict[str, str]:
    base = site.config.base_url
    if not base:
        return {}
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">',
    ]
    for page in pages:
        lines.append(f"<url><loc>{escape(base + public(page.url))}</loc>")
        if len(site.languages) > 1:
            for lang in site.languages:
                address = quoteattr(base + public(site.url(page.page_url, lang)))
                lines.append(f'<xhtml:link rel="alternate" hreflang={quoteattr(lang)} href={address}/>')
        lines.append("</url>")
    lines.append("</urlset>")
    return {"sitemap.xml": "\n".join(lines) + "\n"}
