"""
---
title: Inline Markdown
summary: "Python-Markdown reads what stands inside a block: emphasis, links, images, line breaks."
---
# Inline Markdown

The blocks are ours, because a block must know where it stands in the file; what is inside them, if it is more than
words, is read by Python-Markdown. One instance serves a whole thread: making one takes longer than reading a block. And
loading it takes about as long as weaving a page, so it is not asked for what can mean one thing only: plain words,
*some of them* stressed.
"""

from __future__ import annotations

import html
import re
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from site_builder.blocks.atoms import PUNCTUATION
from site_builder.lazy import regex
from site_builder.prose.slots import CLOSE, OPEN, Slots, bare

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from markdown import Markdown

_ALREADY_READ = ("backtick", "html", "entity", "autolink", "automail")
_REFERENCES = ("reference", "image_reference", "short_reference", "short_image_ref")
# Python-Markdown looks ahead to the end of what it is given, so a very long paragraph is given in pieces.
_PIECE = 4000
_local = threading.local()

_MARKUP = regex(r"[*_\[\\]|  \n")
"""In a text without any of these, Markdown means nothing."""
# The stars at either end can be nothing else: beside a letter or a slot, or between a blank and what is none.
_STRESSED = regex(
    rf"(?<!\*)(?:(?<!\S)(?=\*\*?[^\s*])|(?=\*\*?[\w{OPEN}]))(\*\*?)"
    rf"([^*_\[\\]+)(?:(?<=[\w{CLOSE}])\1(?!\*)|(?<!\s)\1(?!\S))"
)
_ESCAPED = regex(rf"\\([{re.escape(''.join(sorted(PUNCTUATION)))}])")


def _markdown() -> Markdown:
    from markdown import Markdown

    if not hasattr(_local, "markdown"):
        made = Markdown(output_format="html")
        for name in (*_ALREADY_READ, *_REFERENCES):
            made.inlinePatterns.deregister(name)
        made.ESCAPED_CHARS = sorted(PUNCTUATION)
        _local.markdown = made
    markdown: Markdown = _local.markdown
    markdown.reset()
    return markdown


def read(texts: Sequence[str], slots: Slots) -> list[tuple[str, str]]:
    """HTML and plain text of each of the texts, slots still in the HTML."""
    result = [("", "")] * len(texts)
    others: list[int] = []
    for number, text in enumerate(texts):
        if found := _simple(text):
            result[number] = found[0], slots.fill_plain(found[1])
        else:
            others.append(number)
    if others:
        for number, made in zip(others, _read([texts[number] for number in others], slots), strict=True):
            result[number] = made
    return result


def _simple(text: str) -> tuple[str, str] | None:
    """HTML and plain text of what has no more than words, signs that mean themselves, and stress; else nothing."""
    plain = _STRESSED.sub(r"\2", text)
    if not _MARKUP.search(plain):
        return _STRESSED.sub(_element, html.escape(text, quote=False)), plain
    if _MARKUP.search(_ESCAPED.sub("", text)):
        return None
    # Signs such as those of `snake_case`.
    text = _ESCAPED.sub(r"\1", text)
    return html.escape(text, quote=False), text


def _element(stressed: re.Match[str]) -> str:
    name = "em" if stressed[1] == "*" else "strong"
    return f"<{name}>{stressed[2]}</{name}>"


def _read(texts: Sequence[str], slots: Slots) -> list[tuple[str, str]]:
    """The same of any text, read by Python-Markdown."""
    from xml.etree.ElementTree import Element, SubElement

    root = Element("div")
    owners: list[int] = []
    for number, text in enumerate(texts):
        for piece in _pieces(text):
            SubElement(root, "p").text = piece
            owners.append(number)
    markdown = _markdown()
    markdown.treeprocessors["inline"].run(root)
    markdown.treeprocessors["unescape"].run(root)
    for image in root.iter("img"):
        words = bare(slots.fill_plain(image.get("alt", "")))
        image.set("alt", slots.add(html.escape(words), words, foreign=True))
    result = [("", "")] * len(texts)
    for number, element in zip(owners, root, strict=True):
        made, plain = result[number]
        result[number] = made + _inner(markdown, element), plain + _plain(element, slots)
    return result


def _inner(markdown: Markdown, element: Element) -> str:
    made: str = markdown.serializer(element)
    return made.removeprefix("<p>").removesuffix("</p>")


def _plain(element: Element, slots: Slots) -> str:
    parts: list[str] = []
    for node in element.iter():
        if node.tag in ("img", "br"):
            parts.append(node.get("alt", "\n"))
        if node.text:
            parts.append(node.text)
        if node.tail and node is not element:
            parts.append(node.tail)
    return slots.fill_plain("".join(parts))


def _pieces(text: str) -> list[str]:
    """The text cut at blanks that lie in no link."""
    if len(text) <= _PIECE:
        return [text]
    pieces: list[str] = []
    start = depth = 0
    for mark in re.finditer(r"[\[\]]|\s", text):
        if mark[0] == "[":
            depth += 1
        elif mark[0] == "]":
            depth -= 1
        elif depth == 0 and mark.end() - start > _PIECE:
            pieces.append(text[start : mark.start()])
            start = mark.start()
    return [*pieces, text[start:]]
