r"""
---
title: How a block begins
summary: One regular expression for each kind of block, tried where the line's indentation ends.
---
# How a block begins

The grammar is CommonMark's, with what authors of annotated code need besides: examples, display math, tables,
definition lists, footnotes. Two rules are kinder than CommonMark's. What is indented by two columns more than a
list item's marker belongs to the item, whatever the width of the marker. And `>>> ` is never a quotation.
"""

from __future__ import annotations

import re

from site_builder.blocks.vocabulary import BLOCK_ELEMENTS, VERBATIM_ELEMENTS

EXAMPLE = re.compile(r">>>(?= |$)")
HEADING = re.compile(r"(#{1,6})(?:[ \t]+|$)")
HEADING_END = re.compile(r"(?:^|[ \t])#+[ \t]*$")
UNDERLINE = re.compile(r"(=+|-+)[ \t]*$")
FENCE = re.compile(r"(`{3,})([^`]*)$|(~{3,})(.*)$")
RULE = re.compile(r"(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
BULLET = re.compile(r"([-+*])(?=[ \t]|$)")
NUMBER = re.compile(r"(\d{1,9})([.)])(?=[ \t]|$)")
QUOTE = re.compile(r">[ \t]?")
FOOTNOTE = re.compile(r"\[\^([^\]\s\[]+)\]:[ \t]*")
DEFINITION = re.compile(r":[ \t]+(?=\S)")
REFERENCE = re.compile(
    r"\[(?!\^)((?:\\.|[^\[\]\\])+)\]:[ \t]+(<[^<>]*>|\S+)(?:[ \t]+(\"[^\"]*\"|'[^']*'|\([^()]*\)))?[ \t]*$"
)
TABLE_RULE = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")

_OPENING = r"<(?:/(?=[a-z]))?"
HTML_BLOCK = re.compile(_OPENING + f"(?:{'|'.join(sorted(BLOCK_ELEMENTS))})" + r"(?=[\s/>]|$)", re.IGNORECASE)
HTML_VERBATIM = re.compile(f"<(?:{'|'.join(VERBATIM_ELEMENTS)})" + r"(?=[\s>]|$)", re.IGNORECASE)
HTML_VERBATIM_END = re.compile(f"</(?:{'|'.join(VERBATIM_ELEMENTS)})>", re.IGNORECASE)
HTML_COMMENT = re.compile(r"<!--")
HTML_COMMENT_END = re.compile(r"-->")


def is_address(target: str) -> bool:
    """Whether it looks like something a link could lead to: `[n]: count` is a sentence, not a reference."""
    return target.startswith("<") or any(mark in target for mark in "/.#:")
