r"""
---
title: How a block begins
summary: One regular expression for each kind of block, tried where the line's indentation ends.
---
# How a block begins

The grammar is CommonMark's, with what authors of annotated code need besides: examples, display
math, tables, definition lists, footnotes. Two rules are kinder than CommonMark's. What is indented by
two columns more than the marker of a list item belongs to the item, whatever the width of the marker.
And `>>> ` is never a quotation.
"""

from __future__ import annotations

import re

from site_builder.blocks.vocabulary import BLOCK_ELEMENTS, VERBATIM_ELEMENTS

EXAMPLE = re.compile(r">>>(?= |$)")
HEADING = re.compile(r"(#{1,6})(?:[ \t]+|$)")
HEADING_END = re.compile(r"[ \t]#+[ \t]*$")
UNDERLINE = re.compile(r"(={2,}|-{2,})[ \t]*$")
FENCE = re.compile(r"(`{3,})([^`]*)$|(~{3,})(.*)$")
RULE = re.compile(r"(?:(?:\*[ \t]*+){3,}+|(?:-[ \t]*+){3,}+|(?:_[ \t]*+){3,}+)$")
BULLET = re.compile(r"([-+*])(?=[ \t]|$)")
NUMBER = re.compile(r"([0-9]{1,9})([.)])(?=[ \t]|$)")
QUOTE = re.compile(r">[ \t]?")
FOOTNOTE = re.compile(r"\[\^([^\]\s\[]+)\]:[ \t]*")
DEFINITION = re.compile(r":[ \t]+(?=\S)")
TABLE_RULE = re.compile(
    r"\|?+[ \t]*+:?+-++:?+[ \t]*+(?:\|[ \t]*+:?+-++:?+[ \t]*+)*+\|?+[ \t]*+$",
)
REFERENCE = re.compile(
    r"\[(?!\^)((?:\\.|[^\[\]\\])++)\]:[ \t]++(<[^<>]*+>|\S++)"
    r"(?:[ \t]++(\"[^\"]*+\"|'[^']*+'|\([^()]*+\)))?+[ \t]*+$"
)
HTML_BLOCK = re.compile(rf"</?(?:{'|'.join(sorted(BLOCK_ELEMENTS))})(?=[\s/>]|$)", re.IGNORECASE)
HTML_VERBATIM = re.compile(rf"<({'|'.join(VERBATIM_ELEMENTS)})(?=[\s>]|$)", re.IGNORECASE)


def reference(text: str, span: tuple[int, int]) -> re.Match[str] | None:
    """
    The definition of a link's destination, if the line is one. `[n]: count` is a sentence: what is
    defined must look like something that a link could lead to.
    """
    mark = REFERENCE.match(text, *span)
    if mark and (mark[2].startswith("<") or any(sign in mark[2] for sign in "/.#:")):
        return mark
    return None
