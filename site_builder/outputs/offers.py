"""
---
title: Languages on offer
summary: What a page says, once, to a reader whose browser prefers another language that the page has.
---
# Languages on offer

The words are in the language that is offered, so no page can hold them without holding those of all languages. They
are one small script instead, which a page loads only when it has something to offer. The script also knows which
pages have nothing in a language but its interface: those are offered to nobody.
"""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterator, Mapping

from site_builder.render import Templates
from site_builder.translate.speech import direction, native_name
from site_builder.weave import Site

URL = "languages.js"


def files(site: Site, templates: Callable[[str], Templates]) -> dict[str, str]:
    """`languageOffers({language: {text, close, dir, without: [url…]}…})`, for sites of more than one language."""
    if len(site.languages) < 2:
        return {}
    plain = templates(site.config.language).words
    table = {lang: _offer(site, templates(lang).words, plain, lang) for lang in site.languages}
    return {URL: f"languageOffers({json.dumps(table, ensure_ascii=True, separators=(',', ':'))});\n"}


def _offer(site: Site, words: Mapping[str, str], plain: Mapping[str, str], lang: str) -> dict[str, object]:
    name, text = native_name(lang), words.get("offer", "")
    spoken = lang == site.config.language or text != plain.get("offer", "")
    return {
        # Where nobody has translated the sentence, the name of the language says enough.
        "text": html.unescape(text).replace("{language}", name) if spoken else name,
        "close": html.unescape(words.get("close", "")),
        "dir": direction(lang),
        "without": list(_nothing(site, lang)),
    }


def without(site: Site) -> Iterator[str]:
    """Which pages have nothing in which language, a line for each."""
    for lang in site.languages:
        for url in _nothing(site, lang):
            yield f"{lang} {url}"


def _nothing(site: Site, lang: str) -> Iterator[str]:
    """The pages that are made in the language and have nothing in it. Of others no page has a link to offer."""
    return (url for url in site.index.order if site.covers(url, lang) and not site.names(url, lang).covered)
