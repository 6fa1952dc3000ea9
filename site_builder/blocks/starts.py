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
from site_builder.lazy import regex

EXAMPLE = regex(r">>>(?= |$)")
HEADING = regex(r"(#{1,6})(?:[ \t]+|$)")
HEADING_END = regex(r"[ \t]#+[ \t]*$")
UNDERLINE = regex(r"(={2,}|-{2,})[ \t]*$")
FENCE = regex(r"(`{3,})([^`]*)$|(~{3,})(.*)$")
RULE = regex(r"(?:(?:\*[ \t]*+){3,}+|(?:-[ \t]*+){3,}+|(?:_[ \t]*+){3,}+)$")
BULLET = regex(r"([-+*])(?=[ \t]|$)")
NUMBER = regex(r"([0-9]{1,9})([.)])(?=[ \t]|$)")
QUOTE = regex(r">[ \t]?")
FOOTNOTE = regex(r"\[\^([^\]\s\[]+)\]:[ \t]*")
DEFINITION = regex(r":[ \t]+(?=\S)")
TABLE_RULE = regex(
    r"\|?+[ \t]*+:?+-++:?+[ \t]*+(?:\|[ \t]*+:?+-++:?+[ \t]*+)*+\|?+[ \t]*+$",
)
REFERENCE = regex(
    r"\[(?!\^)((?:\\.|[^\[\]\\])++)\]:[ \t]++(<[^<>]*+>|\S++)"
    r"(?:[ \t]++(\"[^\"]*+\"|'[^']*+'|\([^()]*+\)))?+[ \t]*+$"
)
HTML_BLOCK = regex(rf"</?(?:{'|'.join(sorted(BLOCK_ELEMENTS))})(?=[\s/>]|$)", re.IGNORECASE)
HTML_VERBATIM = regex(rf"<({'|'.join(VERBATIM_ELEMENTS)})(?=[\s>]|$)", re.IGNORECASE)


def reference(text: str, span: tuple[int, int]) -> re.Match[str] | None:
    """
    The definition of a link's destination, if the line is one. `[n]: count` is a sentence: what is
    defined must look like something that a link could lead to.
    """
    mark = REFERENCE.match(text, *span) if text.startswith("[", span[0]) else None
    if mark and (mark[2].startswith("<") or any(sign in mark[2] for sign in "/.#:")):
        return mark
    return None
