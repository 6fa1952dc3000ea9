"""
---
title: HTML from strangers
summary: Translations are written by people we do not know, so only harmless elements of theirs pass.
---
# HTML from strangers
"""

from __future__ import annotations

from urllib.parse import urlsplit

import nh3

_TAGS = """
    a abbr b bdi bdo blockquote br caption cite code col colgroup dd del details dfn div dl dt em figcaption figure
    h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q rp rt ruby s samp section small span strong sub summary
    sup table tbody td tfoot th thead time tr u ul var wbr
"""
_EVIDENCE = frozenset(
    "claim proven unchecked false sign recorded cold rec sizes walk evidence tick passed failed idle costs verified "
    "legend entry alight".split()
)
"""Classes by which a page shows what was seen to be so."""
_ATTRIBUTES = {
    "*": {"class", "dir", "id", "lang", "title", "data-state"},
    "a": {"href", "hreflang", "role"},
    "section": {"role"},
    "img": {"src", "alt", "width", "height"},
    "ol": {"start"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan", "scope"},
    "details": {"open"},
    "time": {"datetime"},
}


def sanitised(html: str) -> str:
    """The HTML with only what cannot harm a reader."""
    return nh3.clean(
        html,
        tags=set(_TAGS.split()),
        attributes=_ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        link_rel=None,
        clean_content_tags={"script", "style"},
        attribute_filter=_filtered,
    )


def _filtered(tag: str, attribute: str, value: str) -> str | None:
    """A page loads nothing from elsewhere, and only the builder says what was proven."""
    if attribute == "src" and (urlsplit(value).scheme or value.startswith(("//", "\\"))):
        return None
    if attribute == "class":
        return " ".join(name for name in value.split() if name not in _EVIDENCE)
    return value
