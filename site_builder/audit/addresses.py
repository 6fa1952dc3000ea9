"""
---
title: Addresses in a file
summary: All that a finished page asks for or leads to, and the ids that others may lead to.
---
# Addresses in a file

Thousands of tags on a page colour code and say nothing of interest, so one expression runs through the text and
stops only at those that may.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

from site_builder.lazy import regex

_TAG = regex(
    r"<!--.*?-->"
    r"|<(?!span[ >]|i[ >]|code[ >]|p[ >])([a-zA-Z][\w-]*)((?:[^<>\"']|\"[^\"]*\"|'[^']*')*+)>",
    re.DOTALL,
)
_ATTRIBUTE = regex(r"""([\w:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+))""")
_ID = regex(
    r"""<(?:[a-zA-Z][^<>]*?\sid|a\s(?:[^<>]*?\s)?name)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+))""",
    re.IGNORECASE,
)
_URL = regex(r"""url\(\s*(?:"([^"]*)"|'([^']*)'|([^\s"'()]+))\s*\)""")
_COMMENT = regex(r"/\*.*?\*/", re.DOTALL)
_RAW = ("script", "style")

ASKING = frozenset({"href", "src", "srcset", "poster", "data", "xlink:href"})
"""Attributes that hold addresses; `data` only of `<object>`."""

ABOUT = frozenset({"canonical", "alternate", "author", "license", "dns-prefetch", "preconnect"})
"""What a `<link>` may be that loads nothing."""


@dataclass(frozen=True, slots=True)
class Address:
    """
    As it was written, and the offset in the file. `followed`: a reader can go there, as from `<a href>`; anything else
    the browser fetches by itself.
    """

    text: str
    offset: int
    followed: bool


def of_page(text: str) -> Iterator[Address]:
    """The addresses of a page, in order."""
    position = 0
    while tag := _TAG.search(text, position):
        position = tag.end()
        name, attributes = (tag[1] or "").lower(), tag[2]
        if name in _RAW:
            position = max(text.find(f"</{name}", position), position)
        if not attributes or "=" not in attributes:
            continue
        given = {mark[1].lower(): html.unescape(_value(mark, 2)) for mark in _ATTRIBUTE.finditer(attributes)}
        if name == "meta" and given.get("http-equiv", "").lower() == "refresh":
            yield Address(given.get("content", "").partition("=")[2].strip(), tag.start(), followed=True)
        elif name != "link" or not ABOUT & set(given.get("rel", "").lower().split()):
            for attribute in ASKING & given.keys():
                if attribute != "data" or name == "object":
                    for one in _each(attribute, given[attribute]):
                        yield Address(one, tag.start(), followed=name in ("a", "area"))


def of_style(text: str) -> Iterator[Address]:
    """The addresses in a style sheet."""
    for found in _URL.finditer(_COMMENT.sub(lambda comment: " " * len(comment[0]), text)):
        yield Address(_value(found, 1), found.start(), followed=False)


def ids(text: str) -> frozenset[str]:
    """
    What may follow the `#` in an address of the page.

    >>> sorted(ids('<h2 id="why">Why</h2><a name=old>'))
    ['old', 'why']
    """
    return frozenset(html.unescape(_value(found, 1)) for found in _ID.finditer(text))


def _value(found: re.Match[str], group: int) -> str:
    """Of three ways to quote it."""
    return found[group] or found[group + 1] or found[group + 2] or ""


def _each(attribute: str, value: str) -> Iterator[str]:
    """`srcset` holds several, each with its width behind it."""
    if attribute != "srcset":
        yield value.strip()
    else:
        yield from (part.split()[0] for part in value.split(",") if part.strip())
