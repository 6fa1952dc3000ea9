"""
---
title: Explicit markup
summary: Directives, footnotes, targets and comments, everything that reStructuredText begins with two dots.
---
# Explicit markup

Directives fall into a few families: those that hold code, those that label a text, those that only wrap it. A name
that belongs to none of them is shown with what it holds, since a directive from an extension may hold anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from site_builder.prose.docstyles.context import Context, State
from site_builder.prose.docstyles.inline import References, code, escape, literal_math
from site_builder.prose.docstyles.shapes import Block, Kind, dedent, fence, indent, item, join, label, literal, quote

__all__ = ["admonition", "explicit", "references"]

_DIRECTIVE = re.compile(r"\.\. (?:\|[^|\n]{1,80}\| )?([A-Za-z][\w.+-]*(?::[\w.+-]+)*) ?::(?:\s+(.*))?$")
_OPTION = re.compile(r":([A-Za-z][\w -]{0,40}):(?:\s+(.*))?$")
_CITATION = re.compile(r"\.\. \[([^\]\n]{1,80})\](?:\s+(.*))?$")
_TARGET = re.compile(r"^[ \t]*\.\. _(`[^`\n]{1,200}`|(?:[^:\n\\]|\\.){1,200}):(?:[ \t]+(\S.*))?$", re.MULTILINE)
_REPLACE = re.compile(r"^[ \t]*\.\. \|([^|\n]{1,80})\| replace::[ \t]*(.*(?:\n[ \t]+\S.*)*)$", re.MULTILINE)

_LABELS = {
    "note": "Note",
    "warning": "Warning",
    "caution": "Caution",
    "danger": "Danger",
    "attention": "Attention",
    "error": "Error",
    "hint": "Hint",
    "important": "Important",
    "tip": "Tip",
    "todo": "Todo",
    "seealso": "See also",
}
_VERSIONS = {
    "versionadded": "Added in",
    "version-added": "Added in",
    "versionchanged": "Changed in",
    "version-changed": "Changed in",
    "versionremoved": "Removed in",
    "version-removed": "Removed in",
    "deprecated": "Deprecated since",
    "version-deprecated": "Deprecated since",
}
_CODE = frozenset("code code-block sourcecode prompt ipython plot testsetup testcleanup jupyter-execute".split())
_PLAIN = frozenset(
    "parsed-literal testoutput productionlist graphviz digraph graph inheritance-diagram mermaid csv-table list-table "
    "autosummary toctree raw command-output program-output".split()
)
_TITLED = frozenset("rubric topic admonition sidebar centered tab dropdown card grid-item-card".split())
_WRAPPERS = frozenset(
    "container compound class rst-class only epigraph highlights pull-quote hlist glossary table line-block tab-set "
    "tabs grid grid-item".split()
)
_SETTINGS = frozenset(
    "index highlight default-role contents sectnum role currentmodule py:currentmodule tabularcolumns default-domain "
    "meta title acks".split()
)
_LANGUAGES = {"py": "python", "python3": "python", "ipython": "python", "none": "text", "default": "python"}


def references(text: str, known: Callable[[str], str | None] | None) -> References:
    """The targets and substitutions that a docstring defines."""
    if ".. " not in text:
        return References(known=known)
    urls = {}
    for match in _TARGET.finditer(text):
        name = match.group(1).strip("`").replace("\\", "").lower()
        if match.group(2) and re.match(r"(?:https?|ftp|mailto):\S+$", match.group(2).strip(), re.IGNORECASE):
            urls[" ".join(name.split())] = match.group(2).strip()
    texts = {match.group(1).strip().lower(): " ".join(match.group(2).split()) for match in _REPLACE.finditer(text)}
    return References(urls, texts, known)


def explicit(state: State, at: int) -> int | None:
    """Whatever begins with `.. `, with the indented lines below it."""
    line = state.lines[at]
    if not (line.startswith(".. ") or line.rstrip() == ".."):
        return None
    end = max(state.body(at + 1), at + 1)
    below = state.lines[at + 1 : end]
    if match := _DIRECTIVE.match(line.rstrip()):
        if line.startswith(".. |"):
            return end
        state.add(*_directive(state.context, match.group(1).lower(), (match.group(2) or "").strip(), below))
    elif match := _CITATION.match(line.rstrip()):
        text = [match.group(2) or "", *dedent(below)]
        mark = Block(Kind.PARAGRAPH, f"**[{escape(match.group(1).lstrip('#'))}]**")
        state.add(*_joined(mark, state.context.convert(text)))
    # All else is a target or a comment, and a comment is nobody's text.
    return end


def _joined(first: Block, blocks: Sequence[Block]) -> list[Block]:
    if blocks and blocks[0].kind is Kind.PARAGRAPH:
        return [Block(Kind.PARAGRAPH, f"{first.text} {blocks[0].text}"), *blocks[1:]]
    return [first, *blocks]


def _directive(context: Context, name: str, argument: str, below: Sequence[str]) -> list[Block]:
    options, content = _options(below)
    if name in _LABELS:
        return admonition(context, _LABELS[name], [argument, *content])
    if name in _VERSIONS:
        version, _, rest = argument.partition(" ")
        if not re.match(r"[\w.]*\d", version):
            version, rest = "", argument
        title = f"{_VERSIONS[name]} {context.inline(version)}" if version else _VERSIONS[name].rpartition(" ")[0]
        return label(title, context.convert([rest, *content]))
    if name == "math":
        return _math([argument, "", *content] if argument else content)
    if name in ("doctest", "testcode"):
        return literal(content, "" if name == "doctest" else "python")
    if name in _CODE:
        if argument and not re.fullmatch(r"[\w.+#-]+", argument):
            content, argument = [argument, *content], ""
        chosen = argument.lower()
        caption = [context.paragraph(options["caption"])] if options.get("caption") else []
        return [*caption, *literal(content, _LANGUAGES.get(chosen, chosen))]
    if name in ("image", "figure"):
        return [_picture(argument, options.get("alt", "")), *context.convert(content)]
    if name in _SETTINGS:
        return []
    if name in ("include", "literalinclude"):
        return [Block(Kind.PARAGRAPH, f"See {code(argument)}.")] if argument else []
    if name in _TITLED:
        return label(context.inline(argument), context.convert(content)) if argument else context.convert(content)
    if name in _WRAPPERS:
        return context.convert([*([argument, ""] if name == "table" and argument else []), *content])
    if name in _PLAIN:
        title = [context.paragraph(argument)] if argument and name not in ("raw", "parsed-literal") else []
        return [*title, *([fence(content, argument if name == "raw" and argument.isalnum() else "text")] if content else [])]
    return _unknown(context, name, argument, options, content)


def _options(below: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    lines = dedent(below) if below and below[0].strip() else list(below)
    options: dict[str, str] = {}
    at = 0
    while at < len(lines) and (match := _OPTION.match(lines[at])):
        options[match.group(1).lower()] = match.group(2) or ""
        at += 1
    return options, dedent(lines[at:])


def admonition(context: Context, title: str, lines: Sequence[str]) -> list[Block]:
    """A labelled aside."""
    return quote(label(title, context.convert(lines)))


def _math(lines: Sequence[str]) -> list[Block]:
    """Display math: each paragraph a formula, with the line breaks that Sphinx grants to all of them."""
    formulas: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            formulas[-1].append(line.strip())
        elif formulas[-1]:
            formulas.append([])
    if not all(_closed("\n".join(part)) for part in formulas):
        # A blank line inside an environment or a pair of brackets parts nothing.
        formulas = [[line for part in formulas for line in part]]
    blocks = []
    for formula in formulas:
        tex = literal_math("\n".join(formula))
        if not tex:
            continue
        if ("\\\\" in tex or re.search(r"(?<!\\)&", tex)) and "\\begin" not in tex:
            tex = f"\\begin{{aligned}}\n{tex}\n\\end{{aligned}}"
        blocks.append(fence([tex], "latex") if "$" in tex else Block(Kind.MATH, f"$$\n{tex}\n$$"))
    return blocks


def _closed(tex: str) -> bool:
    return tex.count("\\begin") == tex.count("\\end") and len(_LEFT.findall(tex)) == len(_RIGHT.findall(tex))


_LEFT = re.compile(r"\\left(?![A-Za-z])")
_RIGHT = re.compile(r"\\right(?![A-Za-z])")


def _picture(url: str, alt: str) -> Block:
    """
    A link to a picture instead of the picture: one on another host would make the page ask that host, and one in
    the package's documentation is not here.
    """
    shown = escape(alt or url.rpartition("/")[2] or "image")
    if re.match(r"https?://\S+$", url):
        return Block(Kind.PARAGRAPH, f"[{shown}]({url.replace('(', '%28').replace(')', '%29')})")
    return Block(Kind.PARAGRAPH, f"{shown} ({code(url)})" if alt and url else code(url) or shown)


def _unknown(context: Context, name: str, argument: str, options: dict[str, str], content: Sequence[str]) -> list[Block]:
    blocks = context.convert(content)
    extra = [Block(Kind.LIST, "\n".join(item("* ", [Block(Kind.PARAGRAPH, f"{code(key)} {context.inline(value)}".strip())]) for key, value in options.items()))]
    domain, _, short = name.rpartition(":")
    if argument and (domain or short in _DESCRIBED):
        # `.. method:: fit(x)`: a term and what it means.
        term = code(argument)
        inner = [*(extra if options else []), *blocks]
        return [Block(Kind.OTHER, f"{term}\n{indent(join(inner), ':   ', '    ')}")] if inner else [Block(Kind.PARAGRAPH, term)]
    title = f"{escape(name)} {code(argument)}".strip()
    return label(title, [*(extra if options else []), *blocks])


_DESCRIBED = frozenset(
    "function method class attribute data exception module classmethod staticmethod property decorator describe option "
    "envvar cmdoption program automodule autoclass autofunction automethod autoexception autodata autoattribute".split()
)
