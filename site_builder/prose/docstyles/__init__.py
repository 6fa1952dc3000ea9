r"""
---
title: Docstrings in other styles
summary: reStructuredText, Google, NumPy and plain text, as Markdown.
---
# Docstrings in other styles

Our own pages are written in Markdown. The rest of Python mostly is not: a docstring may list its parameters as Sphinx
fields, in Google's indented sections or under NumPy's dashes, and its text may be reStructuredText or just text. For
such a docstring `to_markdown` gives the Markdown that shows what its author meant, so that the renderer has one
language to know.

Nothing is lost on the way. Where a style is only half followed, the text is shown as it stands; what Markdown would
take for markup by accident (`*args, **kwargs`, `<file>`, `$1 and $2`) is escaped; doctests pass through untouched.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from site_builder.prose.docstyles.blocks import run
from site_builder.prose.docstyles.context import Context
from site_builder.prose.docstyles.detect import has_markdown, is_foreign
from site_builder.prose.docstyles.explicit import references
from site_builder.prose.docstyles.shapes import join
from site_builder.prose.docstyles.tags import escape_unknown

__all__ = ["STYLES", "to_markdown"]

STYLES = ("auto", "markdown", "rest", "google", "numpy", "sphinx", "plain")


def to_markdown(
    text: str, style: str = "auto", *, known: Callable[[str], str | None] | None = None
) -> str | None:
    """
    The Markdown of a docstring, which is given without its indentation and as its author typed it. None if it is
    plain Markdown already.

    `style` is `auto` (told from the text), `markdown` (leave it alone), or the name of any other style, which all
    mean: convert, whatever it looks like. Real docstrings mix the styles, so one converter knows them all.

    `known` maps the object that a role names (``:class:`~a.b.C` ``) to the dotted name that the page should link to,
    or to None for objects that the site does not show. Without it roles are code.
    """
    if style not in STYLES:
        raise ValueError(f"docstring style {style!r} is none of {', '.join(STYLES)}")
    if style == "markdown":
        return None
    if style == "auto" and not is_foreign(text) and has_markdown(text):
        escaped = escape_unknown(text)
        return escaped if escaped != text else None
    converted = _converted(text, known)
    return converted if _essence(converted) != _essence(text) else None


def _essence(text: str) -> list[tuple[bool, str]]:
    """What two texts that Markdown reads alike have in common: words, bullets, and which lines may begin code."""
    found = []
    blank = True
    for line in text.split("\n"):
        if line.strip():
            words = " ".join(line.replace("``", "`").split())
            found.append((blank and line.startswith("    "), re.sub(r"^[-+] ", "* ", words)))
        blank = not line.strip()
    return found


def _converted(text: str, known: Callable[[str], str | None] | None) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n").expandtabs(8)
    if text.startswith("\\\n"):
        # A docstring that begins on its second line.
        text = text[2:]
    context = Context(references(text, known), run)
    return join(context.convert(text.split("\n")))
