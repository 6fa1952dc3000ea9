"""
---
title: Codes
summary: Every diagnostic has a code that never changes its meaning; here each is explained.
order: [model, sources, texts, formulas, shapes, examples, languages, links, access]
---
# Codes

A message says what is wrong in one place. The code in it says which kind of thing is wrong, so that it can be
looked up, searched for and spoken of. A code that was once given out keeps its meaning.

What is said of each is data, in tables beside this file, in the order in which a build comes to such things.
`check --explain CODE` prints one entry, and the page of all codes in the manual is made from the same tables.
"""

from __future__ import annotations

from collections.abc import Mapping

from site_builder import likeness
from site_builder.codes import access, examples, formulas, languages, links, shapes, sources, texts
from site_builder.codes.model import Code

__all__ = ["ALL", "CODES", "Code", "explain", "listing", "markdown", "nearest"]

TABLES = (sources, texts, formulas, shapes, examples, languages, links, access)

CODES: Mapping[str, Code] = {code.name: code for table in TABLES for code in table.CODES}

ALL = "all"
"""What to ask for instead of a code, to be told all of them."""


def nearest(name: str) -> str:
    """
    The code that was probably meant.

    >>> nearest("claim-flase")
    'claim-false'
    """
    return likeness.nearest(name, CODES, 0)


def listing() -> str:
    """All codes with their titles, one a line."""
    width = max(map(len, CODES))
    return "\n".join(f"{code.name:<{width}}  {code.title}" for code in CODES.values())


def explain(code: Code) -> str:
    """The entry for a terminal, the sample files indented."""
    parts = [f"{code.name}: {code.title}", code.text.strip()]
    for word, sample in code.samples:
        rows = (f"    {row}".rstrip() for row in sample.split("\n"))
        parts.append("\n".join((f"{word}:", "", *rows)))
    return "\n\n".join(parts)


def markdown() -> str:
    """Chapters about all codes, each entry below a heading of its own."""
    chapters = [
        "\n\n".join((f"## {table.TITLE}", *(_entry(code) for code in table.CODES))) for table in TABLES
    ]
    return "\n\n".join(chapters)


def _entry(code: Code) -> str:
    parts = [f"### `{code.name}`", f"*{code.title}.*", code.text.strip()]
    for word, sample in code.samples:
        # A fence is longer than any that it holds.
        parts.append(f"{word}:\n\n````{code.form}\n{sample}\n````")
    return "\n\n".join(parts)
