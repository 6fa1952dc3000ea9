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

__all__ = ["has_markdown", "is_foreign"]

_FIELD_NAMES = (
    "param|parameter|arg|argument|key|keyword|kwarg|type|raises?|except|exception|var|ivar|cvar|vartype|returns?|rtype|"
    "yields?|ytype|meta|copyright|license"
)
_SECTIONS = (
    "Args|Arguments|Parameters?|Params|Keyword Arg(?:ument)?s|Other Parameters|Returns?|Raises?|Yields?|Attributes|"
    "Examples?|Notes?|Warnings?|Warns|Receives|See Also|References|Methods|Todo|Inputs?|Outputs?|Shape"
)
# Each with the substrings one of which it cannot do without.
_MARKS: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = tuple(
    (needles, re.compile(pattern, re.MULTILINE))
    for needles, pattern in (
        ((":",), rf"^[ \t]*:(?:{_FIELD_NAMES})(?:[ \t][^:\n]{{0,200}})?:(?:\s|$)"),
        (("@",), r"^[ \t]*@(?:param|type|returns?|rtype|raises?|ivar|keyword)\b[^:\n]{0,80}:"),
        (("---", "==="), rf"^[ \t]*(?:{_SECTIONS})[ \t]*\n[ \t]*(?:-{{3,}}|={{3,}})[ \t]*$"),
        ((":\n", ": \n"), rf"^([ \t]*)(?:{_SECTIONS})::?[ \t]*\n(?:[ \t]*\n)?\1[ \t]+\S"),
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
)
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_SPAN = re.compile(r"(?<!`)``(?!`)[^\n]{1,400}?(?<!`)``(?!`)")

_MARKDOWN = re.compile(
    r"^[ \t]*(?:```|~~~\w|\$\$|#{1,6} \S[^\n]*\n[ \t]*$|\\begin\{|(?:\|[ \t]*)?:?-{3,}:?[ \t]*\|)"
    r"|\]\([^\s()]|\$\\?[A-Za-z][^$\n]{0,200}\$(?!\w)|\[\^\w+\]|<br ?/?>"
    r"|</(?:a|b|i|p|em|div|code|span|strong|sub|sup|table|details)>",
    re.MULTILINE,
)


def is_foreign(text: str) -> bool:
    """Whether a docstring bears a mark of reST, Google's or NumPy's style outside of its code."""
    for needles, pattern in _MARKS:
        if any(needle in text for needle in needles) and pattern.search(text):
            if "``" not in text and "~~~" not in text:
                return True
            # An author of Markdown may show such marks in code.
            bare = _without_code(text)
            return any(mark.search(bare) for _, mark in _MARKS)
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
    return bool(_MARKDOWN.search(text))
