r"""
---
title: Docstrings in other styles
summary: reStructuredText, Google, NumPy and plain text, as Markdown.
order:
  [detect, authored, blocks, context, shapes, native, explicit, directives, titles, fields, sections, entries,
  lists, tables, paragraphs, inline, roles, references, patterns, tags, text]
---
# Docstrings in other styles

Our own pages are written in Markdown. The rest of Python mostly is not: a docstring may list its parameters as Sphinx
fields, in Google's indented sections or under NumPy's dashes, and its text may be reStructuredText or just text. For
such a docstring `to_markdown` gives the Markdown that shows what its author meant, so that the renderer has one
language to know.

Nothing is lost on the way. Where a style is only half followed, the text is shown as it stands; what Markdown would
take for markup by accident (`*args, **kwargs`, `<file>`, `$1 and $2`) is escaped; doctests pass through untouched.

[Detect](detect.html) decides whether a docstring is foreign at all. Then [an ordered list of rules](blocks.html)
takes it apart, line by line. To teach it something new, write a rule and put it in its place in that list.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from site_builder.prose.docstyles.detect import REST, SECTIONS, bears, has_markdown
from site_builder.prose.docstyles.tags import escape_unknown

__all__ = ["STYLES", "to_markdown"]

STYLES = ("auto", "markdown", "rest", "google", "numpy", "sphinx", "plain")


def to_markdown(text: str, style: str = "auto") -> str | None:
    """
    The Markdown of a docstring, which is given without its indentation and as its author typed it. None if it is
    plain Markdown already.

    `style` says how the author writes. `markdown`: every sign is meant, so only sections (`Args:`, `:param x:`) become
    lists and `<what is no tag>` is escaped. `auto` tells from the text whether it is such Markdown. Any other style
    means: convert, whatever it looks like; real docstrings mix the styles, so one converter knows them all.
    """
    if style not in STYLES:
        raise ValueError(f"docstring style {style!r} is none of {', '.join(STYLES)}")
    if style == "markdown" or (style == "auto" and has_markdown(text) and not bears(text, REST)):
        converted = escape_unknown(_with_lists(text) if bears(text, SECTIONS) else text)
    else:
        converted = _converted(text)
    return None if converted == text or _alike(converted, text) else converted


# A page that is Markdown throughout needs none of what these two import.


def _with_lists(text: str) -> str:
    """Markdown with its sections as lists."""
    from site_builder.prose.docstyles import authored
    from site_builder.prose.docstyles.references import NOTHING
    from site_builder.prose.docstyles.shapes import join

    return join(authored.AsTyped(NOTHING, authored.run).convert(_lines(text)))


def _converted(text: str) -> str:
    from site_builder.prose.docstyles import blocks
    from site_builder.prose.docstyles.context import Context
    from site_builder.prose.docstyles.references import references
    from site_builder.prose.docstyles.shapes import join

    return join(Context(references(text), blocks.run).convert(_lines(text)))


def _lines(text: str) -> list[str]:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").expandtabs(8).split("\n")
    # A backslash on the first line lets the docstring begin on the second.
    return lines[1:] if lines[0] == "\\" else lines


def _alike(first: str, second: str) -> bool:
    """Whether Markdown reads two texts alike."""
    return all(one == other for one, other in zip_longest(_essence(first), _essence(second)))


def _essence(text: str) -> Iterator[tuple[bool, str]]:
    """What two such texts have in common: words, bullets, and which lines may begin code."""
    blank = True
    for line in text.split("\n"):
        if line.strip():
            words = " ".join(line.replace("``", "`").split())
            if words.startswith(("- ", "+ ")):
                words = f"* {words[2:]}"
            yield blank and line.startswith("    "), words
        blank = not line.strip()
