"""
---
title: Inline Markdown
summary: "Python-Markdown reads what stands inside a block: emphasis, links, images, line breaks."
---
# Inline Markdown

The blocks are ours, because a block must know where it stands in the file; what is inside them is read by
Python-Markdown. One instance serves a whole thread: making one takes longer than reading a block.
"""

from __future__ import annotations

import html
import re
import threading
from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement

from markdown import Markdown

from site_builder.blocks.atoms import PUNCTUATION
from site_builder.lazy import regex
from site_builder.prose.slots import Slots, bare

_ALREADY_READ = ("backtick", "html", "entity", "autolink", "automail")
_REFERENCES = ("reference", "image_reference", "short_reference", "short_image_ref")
# Python-Markdown looks ahead to the end of what it is given, so a very long paragraph is given in pieces.
_PIECE = 4000
_local = threading.local()

_MARKUP = regex(r"[*_\[\\]|  \n")
"""In a text without any of these, Markdown means nothing."""
_BOLD = regex(r"\*\*([^*_\[\\\n]+)\*\*")
_ESCAPED = regex(rf"\\([{re.escape(''.join(sorted(PUNCTUATION)))}])")


def _markdown() -> Markdown:
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
    root = Element("div")
    owners: list[int] = []
    result = [("", "")] * len(texts)
    for number, text in enumerate(texts):
        if _MARKUP.search(text):
            parts = _BOLD.split(text)
            if not _MARKUP.search("".join(parts[::2])):
                # It has nothing but words in bold: the name of an argument, the title of a list of them.
                shown = [html.escape(part, quote=False) for part in parts]
                shown[1::2] = [f"<strong>{part}</strong>" for part in shown[1::2]]
                result[number] = "".join(shown), slots.fill_plain("".join(parts))
                continue
            if _MARKUP.search(_ESCAPED.sub("", text)):
                for piece in _pieces(text):
                    SubElement(root, "p").text = piece
                    owners.append(number)
                continue
            # It has nothing but signs that mean only themselves, such as those of `snake_case`.
            text = _ESCAPED.sub(r"\1", text)
        result[number] = html.escape(text, quote=False), slots.fill_plain(text)
    if owners:
        markdown = _markdown()
        markdown.treeprocessors["inline"].run(root)
        markdown.treeprocessors["unescape"].run(root)
        for image in root.iter("img"):
            words = bare(slots.fill_plain(image.get("alt", "")))
            image.set("alt", slots.add(html.escape(words), words, foreign=True))
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
