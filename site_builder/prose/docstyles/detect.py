"""
---
title: Whose style is this
summary: Whether a docstring is Markdown already, told without parsing it.
---
# Whose style is this

A docstring is foreign when it holds a mark that no Markdown author would write: a field, a directive, a role, a
section of items. Without one it is Markdown, and at most an accident in it (`<file>`, `*args`) needs a hand.

The marks are looked for with regular expressions that are each anchored to a rare sign, and only where a plain
substring search has found that sign: most docstrings are told within a few microseconds.
"""

from __future__ import annotations

import re

from site_builder.lazy import regex

__all__ = ["REST", "SECTIONS", "bears", "has_markdown"]

_FIELD_NAMES = (
    "param|parameter|arg|argument|key|keyword|kwarg|type|raises?|except|exception|var|ivar|cvar|vartype|returns?|rtype|"
    "yields?|ytype|meta|copyright|license"
)
_SECTIONS = (
    "Args|Arguments|Parameters?|Params|Keyword Arg(?:ument)?s|Other Parameters|Returns?|Raises?|Yields?|Attributes|"
    "Examples?|Notes?|Warnings?|Warns|Receives|See Also|References|Methods|Todo|Inputs?|Outputs?|Shape"
)
Marks = tuple[tuple[tuple[str, ...], re.Pattern[str]], ...]


def _marks(*marks: tuple[tuple[str, ...], str]) -> Marks:
    """Each mark with the substrings one of which it cannot do without."""
    return tuple((needles, regex(pattern, re.MULTILINE)) for needles, pattern in marks)


SECTIONS = _marks(
    ((":",), rf"^[ \t]*:(?:{_FIELD_NAMES})(?:[ \t][^:\n]{{0,200}})?:(?:\s|$)"),
    (("@",), r"^[ \t]*@(?:param|type|returns?|rtype|raises?|ivar|keyword)\b[^:\n]{0,80}:"),
    ((":\n", ": \n"), rf"^([ \t]*)(?:{_SECTIONS})::?[ \t]*\n(?:[ \t]*\n)?\1[ \t]+\S"),
)
"""Sections may stand in a docstring that is Markdown otherwise."""

REST = _marks(
    (("---", "==="), rf"^[ \t]*(?:{_SECTIONS})[ \t]*\n[ \t]*(?:-{{3,}}|={{3,}})[ \t]*$"),
    (
        (".. ",),
        r"^[ \t]*\.\. (?:[A-Za-z][\w:+.-]*::(?:\s|$)|_[^\n]{1,200}:|\|[^\n|]+\| |\[[^\]\n]{1,80}\])",
    ),
    ((":`",), r"(?<![\w`]):[A-Za-z][\w:+.-]{0,40}:`(?=[^`\s])"),
    (("::\n", ":: \n"), r"::[ \t]*\n(?:[ \t]*\n)+[ \t]+\S"),
    (("`_",), r">`__?(?!\w)|\w`__?(?!\w)"),
    (("]_",), r"\[(?:\d{1,3}|#\w*)\]_(?!\w)"),
    (("+--", "+=="), r"^[ \t]*\+[-=]{2,}[-=+]*\+[ \t]*$"),
    (("== =", "==  "), r"^[ \t]*={2,}(?: +={2,})+[ \t]*$"),
    (("~~~", "^^^"), r"^\S[^\n]*\n(?:~{3,}|\^{3,})[ \t]*$"),
)
"""Nobody writes these in Markdown."""

_FENCE = regex(r"[ \t]*(`{3,}|~{3,})")
_SPAN = regex(r"(?<!`)``(?!`)[^\n]{1,400}?(?<!`)``(?!`)")

# One of these is in whatever the expression below matches.
_SIGNS = ("`" * 3, "~~~", "$", "\\begin{", "|", "#", "](", "[^", "<br", "</")
_MARKDOWN = regex(
    r"""
    ^\ {0,3}(?:```|~~~\w|\$\$|\\begin\{|\|[ \t]*:?-{3,}|:?-{3,}:?[ \t]*\|[ \t]*:?-{3})
    | (?:\A|\n[ \t]*\n)\#{1,6}\ \S[^\n]*\n[ \t]*$
    | \]\((?:https?:|mailto:|\.{0,2}/|\#|[\w./-]{1,200}\.(?:html|md)\b|[A-Za-z_]\w*(?:\.\w+)+\))
    | \$(?!Id\$)\\?[A-Za-z](?:[^$\n]{0,200}[^$\s])?\$(?!\w)
    | \[\^\w+\]
    | <br\ ?/?>|</(?:a|b|i|p|em|div|code|span|strong|sub|sup|table|details)>
    """,
    re.MULTILINE | re.VERBOSE,
)


def bears(text: str, marks: Marks) -> bool:
    """Whether a docstring bears one of the marks outside of its code."""
    for needles, pattern in marks:
        if any(needle in text for needle in needles) and pattern.search(text):
            if "``" not in text and "~~~" not in text:
                return True
            # An author of Markdown may show such marks in code.
            bare = _without_code(text)
            return any(mark.search(bare) for _, mark in marks)
    return False


def _without_code(text: str) -> str:
    kept = []
    fence = ""
    for line in text.split("\n"):
        match = _FENCE.match(line)
        if fence:
            if match and match.group(1).startswith(fence) and not line.strip(" \t`~"):
                fence = ""
        elif match and match.group(1)[0] not in line[match.end() :]:
            fence = match.group(1)
        else:
            kept.append(_SPAN.sub("code", line))
    return "\n".join(kept)


def has_markdown(text: str) -> bool:
    """Whether a docstring bears a mark that only an author of Markdown writes."""
    return any(sign in text for sign in _SIGNS) and bool(_MARKDOWN.search(text))
