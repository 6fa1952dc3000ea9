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

from html import escape

from site_builder.weave import Site, public

URL = "sitemap.xml"


def files(site: Site) -> dict[str, str]:
    base = site.config.base_url
    if not base:
        return {}
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">',
    ]
    pages = ((lang, url) for lang in site.languages for url in site.index.order if site.covers(url, lang))
    for lang, page_url in pages:
        lines.append(f"<url><loc>{escape(base + public(site.url(page_url, lang)))}</loc>")
        languages = [other for other in site.languages if site.covers(page_url, other)]
        if len(languages) > 1:
            for other in languages:
                address = escape(base + public(site.url(page_url, other)))
                lines.append(f'<xhtml:link rel="alternate" hreflang="{escape(other)}" href="{address}"/>')
        lines.append("</url>")
    lines.append("</urlset>")
    return {URL: "\n".join(lines) + "\n"}
