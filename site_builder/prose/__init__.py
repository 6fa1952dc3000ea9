"""
---
title: Prose
summary: Markdown with math, examples and checked links, to HTML that knows where each fault was typed.
---
# Prose

`render` makes HTML of the prose of one section. Blocks are cut by `site_builder.blocks`, what stands inside them is
read by Python-Markdown, and what Markdown must not touch — code, math, destinations of links — waits in *slots*
meanwhile.
"""

from __future__ import annotations

from site_builder.prose.model import Heading, LinkError, Rendered
from site_builder.prose.rendering import render, slugs

__all__ = ["Heading", "LinkError", "Rendered", "render", "slugs"]
