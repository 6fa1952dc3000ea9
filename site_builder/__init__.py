"""
---
title: site_builder
summary: Any Python package, as a website of side-by-side notes and code.
order:
  [cli, serve, site, discover, parse, blocks, index, prose, katex, highlight, translate, weave, render, outputs, write]
---
# site_builder

The tool behind this site. It reads a package as text, never imports it, and writes pages in which each explanation
stands beside the lines that it explains.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["__version__", "build"]

__version__ = "0.1.0"

if TYPE_CHECKING:
    from site_builder.site import build


def __getattr__(name: str) -> Any:
    # The pipeline takes a quarter of a second to import; `site_builder.katex` alone should not pay for it.
    if name == "build":
        from site_builder.site import build

        return build
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
