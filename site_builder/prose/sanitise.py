"""
---
title: HTML from strangers
summary: Translations are written by people we do not know, so only harmless elements of theirs pass.
---
# HTML from strangers

The author of a page may write any HTML; whoever translates it may not. The list says what is allowed, so anything
new is forbidden until somebody adds it. A translation can load nothing from elsewhere, and cannot wear the classes
by which a page marks what was proven.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from urllib.parse import urlsplit

import nh3

_TAGS = """
    a abbr b bdi bdo blockquote br caption cite code col colgroup dd del details dfn div dl dt em figcaption figure
    h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q rp rt ruby s samp section small span strong sub summary
    sup table tbody td tfoot th thead time tr u ul var wbr
"""
_ALLOWED = frozenset(_TAGS.split())
_SCHEMES = frozenset({"http", "https", "mailto"})
_EVIDENCE = frozenset(
    "claim proven unchecked false sign recorded cold rec sizes walk evidence tick passed failed idle costs verified "
    "legend entry alight".split()
)
"""Classes by which a page shows what was seen to be so."""
_ATTRIBUTES = {
    "*": {"class", "dir", "id", "lang", "title", "data-state", "data-line"},
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
        tags=set(_ALLOWED),
        attributes=_ATTRIBUTES,
        url_schemes=set(_SCHEMES),
        link_rel=None,
        clean_content_tags={"script", "style"},
        attribute_filter=_filtered,
    )


def _filtered(tag: str, attribute: str, value: str) -> str | None:
    """A page loads nothing from elsewhere, and only the builder says what was proven."""
    if attribute == "src" and not _is_safe(value, loads=True):
        return None
    if attribute == "class":
        return " ".join(name for name in value.split() if name not in _EVIDENCE)
    return value


def refused(html: str) -> tuple[str, ...]:
    """
    What `sanitised` would take out, each time as a reader of the HTML would name it, as often as it occurs.

        >>> refused('<img src="x.png" onerror="alert(1)"><a href="JavaScript:alert(2)">x</a>')
        ('onerror in <img>', 'the address JavaScript:alert(2)')
    """
    reader = _Refusing()
    reader.feed(html)
    reader.close()
    return tuple(reader.found)


class _Refusing(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _ALLOWED:
            self.found.append(f"<{tag}>")
            return
        for name, value in attrs:
            if name not in _ATTRIBUTES["*"] | _ATTRIBUTES.get(tag, set()):
                self.found.append(f"{name} in <{tag}>")
            elif name in ("href", "src") and not _is_safe(value or "", loads=name == "src"):
                self.found.append(f"the address {value}")


def _is_safe(typed: str, *, loads: bool) -> bool:
    """As a browser reads an address: without blanks and control characters, a backslash for a slash."""
    address = re.sub(r"[\x00-\x20\x7f]", "", typed).replace("\\", "/")
    try:
        scheme = urlsplit(address).scheme
    except ValueError:
        return False
    if loads:
        return not scheme and not address.startswith("//")
    return scheme in _SCHEMES or not scheme
