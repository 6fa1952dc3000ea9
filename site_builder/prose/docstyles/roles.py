"""
---
title: Roles
summary: What each role of reStructuredText and Sphinx shows.
---
# Roles

Sphinx has dozens of roles, most of which print their text as code. They are data here: a name stands in the set of
those that are code, or text, or gets a line of its own below.
"""

from __future__ import annotations

import html
import re

from site_builder.lazy import regex

__all__ = ["role"]

_OBJECTS = frozenset(
    "attr class const data exc exception func function meth method mod module obj type var c cls property any".split()
)
_CALLABLES = frozenset("func function meth method".split())
_CODE = frozenset(
    "code literal samp file command program envvar option keyword kwd token kbd py python mimetype regexp makevar "
    "macro confval setting directive rst role parser pyobject member enum enumerator struct union expr texpr cpp "
    "source src".split()
)
_TEXT = frozenset(
    "ref doc term numref eq download guilabel menuselection dfn abbr abbreviation newsgroup title-reference title t "
    "superscript subscript strong emphasis manpage keyword-only cite footcite citep citet std".split()
)
_TITLED = regex(r"\s*([^<>]*?)\s*<([^<>]*)>\s*", re.DOTALL)


def role(name: str, content: str) -> tuple[str, str] | None:
    """
    What a role shows: `("code" | "math" | "text" | "raw", what it says)`, `raw` being Markdown already.
    None for a role that Sphinx does not define.
    """
    # `:py:class:` and `:class:` are one; other languages' domains too.
    domain, _, short = name.lower().rpartition(":")
    titled = _TITLED.fullmatch(content) if "<" in content else None
    title, target = (
        (titled.group(1), titled.group(2)) if titled and titled.group(1) else ("", content.strip())
    )
    if short in _OBJECTS:
        return "code", _object(short, title, target)
    if short == "math":
        return "math", content
    if short in ("pep", "rfc"):
        return _standard(short, title, target)
    if short in ("sub", "subscript", "sup", "superscript"):
        return "raw", f"<{short[:3]}>{html.escape(content, quote=False)}</{short[:3]}>"
    if short in ("strong", "emphasis"):
        return "text", content
    if short in _CODE or (domain and short not in _TEXT):
        return "code", content
    if short in _TEXT:
        shown = title or target
        return "text", shown.lstrip("~!/") if not title else shown
    return None


def _object(short: str, title: str, target: str) -> str:
    cut = target.startswith("~")
    dotted = " ".join(target.split()).lstrip("~!.")
    shown = " ".join(title.split()) or (dotted.rpartition(".")[2] if cut else dotted)
    if short in _CALLABLES and not title and shown and not shown.endswith(")"):
        shown += "()"
    return shown or target


def _standard(short: str, title: str, target: str) -> tuple[str, str]:
    number, _, fragment = target.partition("#")
    if not number.strip().isdecimal():
        return "text", title or f"{short.upper()} {target}"
    value = int(number)
    shown = title or f"{short.upper()} {value}"
    page = (
        f"https://peps.python.org/pep-{value:04}/"
        if short == "pep"
        else f"https://datatracker.ietf.org/doc/html/rfc{value}"
    )
    text = re.sub(r"([\\`*_\[\]<>$])", r"\\\1", shown)
    anchor = f"#{fragment}" if re.fullmatch(r"[\w.-]+", fragment) else ""
    return "raw", f"[{text}]({page}{anchor})"
