"""
---
title: Small pieces of text
summary: Code spans, escaped text, formulas and harmless beginnings of lines.
---
# Small pieces of text

What is converted is written as Markdown, and Markdown is then read once more. Whatever the author meant literally
has to survive that second reading, and these functions see to it.

`is_tex` is the one guess among them. Two dollar signs in a foreign docstring may hold a formula, or be two prices;
in doubt it is text.
"""

from __future__ import annotations

import re

from site_builder.lazy import regex

__all__ = ["code", "escape", "guard", "is_tex", "literal_math"]


def code(text: str) -> str:
    """`text` as a Markdown code span, on one line."""
    text = " ".join(text.split("\n")).strip()
    if not text:
        return ""
    if "`" not in text:
        return f"`{text}`"
    ticks = "`" * (max(map(len, re.findall(r"`+", text))) + 1)
    return f"{ticks} {text} {ticks}"


def escape(text: str) -> str:
    """`text` with nothing in it that Markdown reads as markup (line starts apart)."""
    text = re.sub(r"([\\`*\[\]$])", r"\\\1", text)
    text = re.sub(r"&(?=#?\w{1,32};)", "&amp;", text)
    text = re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text)
    return re.sub(r"(?<!\w)_|_(?!\w)", r"\\_", text)


def literal_math(tex: str) -> str:
    """
    The TeX that the author meant. In a docstring that is not raw every backslash is typed twice; such doubling is
    told from a line break `\\\\` by the letter that follows it.
    """
    tex = tex.strip()
    if "\\\\" in tex and re.search(r"\\\\[A-Za-z]", tex) and not re.search(r"(?<!\\)\\(?:\\\\)*(?!\\)", tex):
        tex = tex.replace("\\\\", "\\")
    # KaTeX knows no \mbox, and nobody comments a formula in a docstring.
    return re.sub(r"(?<!\\)%", r"\\%", tex.replace("\\mbox{", "\\text{"))


def is_number(body: str) -> bool:
    """Whether what stands between two dollars is a bare number, which is a formula only if the dollars are a pair."""
    return bool(re.fullmatch(r"[+-]?\d+(\.\d+)?", body))


def is_tex(body: str) -> bool:
    """Whether what stands between two dollars of a foreign text is a formula rather than prices or shell variables."""
    if not re.match(r"[\w\\(|\[{+\-'∑∏∫]", body) or body.count("{") != body.count("}") or "&" in body:
        return False
    if "\\" in body or "^" in body or (re.search(r"\w_[\w{]", body) and " " not in body):
        # Words in a row are a sentence, unless a command like \text holds them.
        return not re.search(r"[A-Za-z]{2,} [a-z]{2,} [a-z]{2,}", re.sub(r"\\[a-z]+\{[^{}]*\}", "", body))
    # `$x$`, `$n > 0$`; but `$Id$` is what version control once filled in.
    short = len(body) < 60 and "\n" not in body and body != "Id"
    return short and bool(re.match(r"[A-Za-z(|\[]", body)) and not re.search(r"[A-Za-z]{3,}", body)


_LINE_START = regex(
    r"""
    (?P<sign>[#>])                       # a heading, a quotation
    | (?P<marker>[-+*])(?=\s|$)          # a list
    | (?P<number>\d{1,9})(?P<dot>[.)])(?=\s|$)
    | (?P<rule>[-=]+)\s*$                # the underline of a heading
    | (?P<term>:)(?=\s)                  # a definition
    | (?P<tildes>~~~)
    | (?P<row>[|:\-\ ]*-[|:\-\ ]*$)      # the ruler of a table
    | (?P<label>\[)(?=[^\[\]]{1,200}\]:)
    """,
    re.VERBOSE,
)


def guard(line: str) -> str:
    """The line with its beginning made harmless."""
    match = None if line[:1].isalpha() else _LINE_START.match(line)
    if not match:
        return line
    if match.group("number"):
        return f"{match.group('number')}\\{line[match.end('number') :]}"
    if match.lastgroup in ("term", "tildes", "row") or line.startswith("="):
        return f"&#{ord(line[0])};{line[1:]}"
    return "\\" + line
