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

A reader may know a term by the word of another language. So the index has the words of the [glossary
](site_builder.translate.glossary) too: those that a reader may type, each with the word that stands on the pages.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from site_builder.config import Config
from site_builder.index import href
from site_builder.translate import files
from site_builder.weave.model import SearchEntry


def url_of(lang: str) -> str:
    return f"search/{lang}.js"


def row(page_url: str, title: str, sections: Iterable[SearchEntry]) -> bytes:
    """What the index holds of one page, as it is written. URLs are relative to the language's root."""
    return _json(
        [
            href("index.html", page_url),
            title,
            [[one.anchor, one.title, one.names, " ".join(one.text.split())] for one in sections],
        ]
    )


def words(config: Config, lang: str) -> dict[str, list[str]]:
    """What may be typed, folded as the script folds it, and what the pages of the language say for it."""
    found: dict[str, list[str]] = {}

    def add(typed: str, said: Sequence[str]) -> None:
        known = found.setdefault(unicodedata.normalize("NFKC", typed).lower(), [])
        known += [word for word in said if word not in known and word != typed]

    others = config.all_languages[1:] if lang == config.language else (lang,)
    for other in others:
        for term in files.terms(config, other)[0]:
            if lang == config.language:
                for word in (*term.words, *term.avoid):
                    add(word, (term.source,))
            else:
                for word in (term.source, *term.avoid):
                    add(word, term.words)
    return {typed: said for typed, said in found.items() if said}


def script(rows: Iterable[bytes], others: Mapping[str, Sequence[str]]) -> bytes:
    """
    One language's index, `searchIndex([[url, title, [[anchor, title, names, text]…]]…])`, and the other `words` for
    what is in it, `searchWords({typed: [said…]…})`.
    """
    words = (b"searchWords(", _json(others), b");\n") if others else ()
    return b"".join((b"searchIndex([", b",".join(rows), b"]);\n", *words))


def _json(value: object) -> bytes:
    """JSON is JavaScript, but for two line separators, which are escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").encode()
