"""
---
title: Search index
summary: The text of every section, as a script that works without a server.
---
# Search index

A reader may have opened the site from a folder, where a page cannot `fetch`; a script it can always load, and only
when the reader first searches. The index is the text itself. At the size of such a site a scan takes a few
milliseconds, and it finds exactly the sections that contain what was typed: in Japanese too, where an index of
words would have to guess where they end.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from site_builder.index import href
from site_builder.render import PageFile
from site_builder.weave import Site


def files(site: Site, pages: Sequence[PageFile]) -> dict[str, str]:
    """One script a language, at `search/<language>.js`: `searchIndex([[url, title, [section…]]…])`."""
    return {
        url_of(lang): script([page for page in pages if page.lang == lang])
        for lang in site.config.built_languages
    }


def url_of(lang: str) -> str:
    return f"search/{lang}.js"


def script(pages: Sequence[PageFile]) -> str:
    """
    Each section is `[anchor, title, names, text]`. URLs are relative to the language's root. JSON is JavaScript, but
    for two line separators, which are escaped.
    """
    table = [
        [
            href("index.html", page.page_url),
            page.title,
            [
                [section.anchor, section.title, section.names, " ".join(section.text.split())]
                for section in page.search
            ],
        ]
        for page in pages
    ]
    text = json.dumps(table, ensure_ascii=False, separators=(",", ":"))
    text = text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return f"searchIndex({text});\n"
