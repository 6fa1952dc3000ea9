"""
---
title: The builder
summary: The tool behind this site. Any Python package in, a website out.
order:
  [manual, site, model, errors, config, discover, parse, blocks, index, prose, katex, highlight, record, claims,
  symbols, verified, translate, weave, render, outputs, write, cache, atomic, garbage, lazy, likeness, resources,
  installed, catalogues, cli, serve, lint, audit, codes, new]
---
# The builder

Whoever writes Python explains it in docstrings and comments. There they are read in one colour and one size, without
an equation, and nobody notices when they are no longer true.

This tool makes pages of them. Each note stands beside the lines that it explains, mathematics is typeset, and names
lead to their definitions. Then it runs the examples, and shows at each line what came of it: shapes, values, and
whether what the notes claim about them holds.

If you want such a site of your own package, read [the manual](manual/index.md). It begins with a
[first page](manual/getting-started.md) in five minutes.

## How it works

What follows is the builder itself, as a site of its own. A site comes into being in one line:

    discover → parse | index | record
      → translate → weave → render → write

Plain functions pass frozen values from left to right, and nothing flows back. Pages are worked on independently, but
for one moment: the [index](index/index.html) needs to have seen them all, so that a link can lead anywhere. Nothing is
made twice: what has not changed since the last build comes from the [cache](cache.html).

That line is walked from [`site.build`](site_builder.site.build) to [one build](site/line.html). Read these first, and
then what each stage hands to the next, in [What flows down the pipeline](model.html). After that you can open any
stage by itself. A module imports only from stages to the left of its own, and a test holds it to that.

## Where to change it

* Something is read wrongly from a file: [parse](parse/index.html) for Python, [blocks](blocks/index.html) for
  Markdown, [docstyles](prose/docstyles/index.html) for docstrings in other styles.
* Something looks wrong: the templates and style sheets, and [weave](weave/index.html) for what they are given.
* Something is missing in the margin of the code: [record](record/index.html) sees it,
  [claims](claims/index.html) names it, [weave](weave/evidence.html) shows it.
* A new file beside the pages: [outputs](outputs/index.html).
* A new setting: [configuration](config.html). A new command: [the command line](cli/index.html).

From Python, a site is built by `build`:

```python
from pathlib import Path

from site_builder import build
from site_builder.config import load

report = build(load(Path("my_project")))
print(report.pages, report.diagnostics)
```
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
