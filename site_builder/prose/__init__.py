"""
---
title: Prose
summary: Markdown with math, examples and checked links, to HTML that knows where each fault was typed.
order:
  [rendering, assemble, inline, protect, slots, formulas, dollars, examples, labels, notes, tags, sanitise, context,
  emphasis, glue, slugging, model, foreign, docstyles]
---
# Prose

`render` makes HTML of the prose of one section. `site_builder.blocks` cuts it into blocks and knows where each
of them was typed; so lists, tables, notes and fences are ours. What stands inside a block is read by
Python-Markdown. Code, math and the destinations of links it never sees: they wait in *slots* meanwhile.

Begin with [rendering](rendering.html), which has the whole order of events. [Docstrings in other
styles](docstyles/index.html) were turned into Markdown before.
"""

from __future__ import annotations

from site_builder.prose.examples import Told
from site_builder.prose.model import Heading, LinkError, Outcome, Rendered
from site_builder.prose.rendering import formulas, render, slugs
from site_builder.prose.tags import ids

__all__ = ["Heading", "LinkError", "Outcome", "Rendered", "Told", "formulas", "ids", "render", "slugs"]
