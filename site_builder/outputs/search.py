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

What was found is put in order by the script that reads the index: what a section is called before what it says, and
the code of any package but the first after all that was written for readers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from site_builder.index import href
from site_builder.weave.model import SearchEntry


def url_of(lang: str) -> str:
    return f"search/{lang}.js"


def row(page_url: str, title: str, sections: Iterable[SearchEntry]) -> str:
    """What the index holds of one page. URLs are relative to the language's root."""
    return _json(
        [
            href("index.html", page_url),
            title,
            [[one.anchor, one.title, one.names, " ".join(one.text.split())] for one in sections],
        ]
    )


def script(rows: Iterable[str]) -> str:
    """One language's index: `searchIndex([[url, title, [[anchor, title, names, text]…]]…])`."""
    return f"searchIndex([{','.join(rows)}]);\n"


def _json(value: object) -> str:
    """JSON is JavaScript, but for two line separators, which are escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
