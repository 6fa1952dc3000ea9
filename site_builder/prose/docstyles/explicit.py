"""
---
title: Explicit markup
summary: Directives, footnotes, targets and comments, everything that reStructuredText begins with two dots.
---
# Explicit markup

What a directive becomes stands in `site_builder.prose.docstyles.directives`. Targets, substitutions and comments are
nobody's text and vanish, after their definitions were taken down.
"""

from __future__ import annotations

from site_builder.lazy import regex
from site_builder.prose.docstyles.context import State
from site_builder.prose.docstyles.directives import DIRECTIVE, directive
from site_builder.prose.docstyles.references import TARGET
from site_builder.prose.docstyles.shapes import Block, Kind, dedent
from site_builder.prose.docstyles.text import escape

__all__ = ["explicit"]

_CITATION = regex(r"\.\. \[([^\]\n]{1,80})\](?:\s+(.*))?$")


def explicit(state: State, at: int) -> int | None:
    """Whatever begins with `.. `, with the indented lines below it."""
    line = state.lines[at].rstrip()
    if not line.startswith(".. ") and line != "..":
        return None
    if TARGET.match(line):
        # Of a target only the address can be below it.
        return at + 1 + (line.endswith(":") and state.indented(at + 1))
    end = max(state.body(at + 1), at + 1)
    below = state.lines[at + 1 : end]
    if match := DIRECTIVE.match(line):
        state.add(*directive(state.context, match.group(1).lower(), (match.group(2) or "").strip(), below))
    elif match := _CITATION.match(line):
        mark = f"**[{escape(match.group(1).lstrip('#'))}]**"
        blocks = state.context.convert([match.group(2) or "", *dedent(below)])
        if blocks and blocks[0].kind is Kind.PARAGRAPH:
            mark = f"{mark} {blocks.pop(0).text}"
        state.add(Block(Kind.PARAGRAPH, mark), *blocks)
    return end
