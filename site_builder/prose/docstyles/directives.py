"""
---
title: Directives
summary: What each directive of reStructuredText and Sphinx becomes.
---
# Directives

They fall into a few families: those that hold code, those that label a text, those that only wrap it. A name that
belongs to none of them is shown with all that it holds, since a directive from an extension may hold anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from site_builder.lazy import regex
from site_builder.prose.docstyles.context import Context
from site_builder.prose.docstyles.shapes import (
    Block,
    Kind,
    dedent,
    fence,
    indent,
    item,
    join,
    label,
    literal,
    quote,
)
from site_builder.prose.docstyles.text import code, escape, literal_math

__all__ = ["DIRECTIVE", "aside", "directive"]

DIRECTIVE = regex(r"\.\. ([A-Za-z][\w.+-]*(?::[\w.+-]+)*) ?::(?:\s+(.*))?$")
_OPTION = regex(r":([A-Za-z][\w-]{0,40}):(?:\s+(.*))?$")
_LANGUAGES = {"py": "python", "python3": "python", "ipython": "python", "none": "text", "default": "python"}


@dataclass(frozen=True, slots=True)
class Directive:
    """`.. name:: argument` with its `:options:` and what is indented below it."""

    context: Context
    name: str
    argument: str
    options: Mapping[str, str]
    content: Sequence[str]
    apart: bool
    """Whether a blank line parts the argument from the content."""

    @property
    def blocks(self) -> list[Block]:
        return self.context.convert(self.content)

    def text(self, first: str) -> list[str]:
        """The content, where it begins behind the colons already."""
        return [first, *([""] if self.apart else []), *self.content]


def directive(context: Context, name: str, argument: str, below: Sequence[str]) -> list[Block]:
    lines = dedent(below) if below and below[0].strip() else list(below)
    family = _FAMILIES.get(name, _unknown)
    options: dict[str, str] = {}
    while len(options) < len(lines) and (match := _OPTION.match(lines[len(options)])):
        key = match.group(1).lower()
        if key in options or (family is not _unknown and key not in _OPTIONS):
            # A field of the text.
            break
        options[key] = match.group(2) or ""
    content = lines[len(options) :]
    found = Directive(context, name, argument, options, dedent(content), not (content and content[0].strip()))
    return family(found)


def aside(context: Context, title: str, lines: Sequence[str]) -> list[Block]:
    """A labelled text that stands apart."""
    return quote(label(title, context.convert(lines)))


# --- families ---


def _admonition(found: Directive) -> list[Block]:
    return aside(found.context, _ASIDES[found.name], found.text(found.argument))


def _version(found: Directive) -> list[Block]:
    words = _VERSIONS[found.name]
    version, _, text = found.argument.partition(" ")
    if re.match(r"[\w.]*\d", version):
        title = f"{words} {found.context.inline(version)}"
    else:
        title, text = words.partition(" ")[0], found.argument
    return label(title, found.context.convert(found.text(text)))


def _code(found: Directive) -> list[Block]:
    name, content = found.argument.lower(), found.content
    if name and not re.fullmatch(r"[\w.+#-]+", name):
        name, content = "", [found.argument, *content]
    caption = found.options.get("caption")
    blocks = literal(content, _LANGUAGES.get(name, name))
    return [found.context.paragraph(caption), *blocks] if caption else blocks


def _example(found: Directive) -> list[Block]:
    return literal(found.content, "python" if found.name == "testcode" else "")


def _verbatim(found: Directive) -> list[Block]:
    if found.name == "raw":
        return [fence(found.content, found.argument if found.argument.isalnum() else "text")]
    title = [found.context.paragraph(found.argument)] if found.argument else []
    return [*title, fence(found.content)] if found.content else title


def _titled(found: Directive) -> list[Block]:
    return label(found.context.inline(found.argument), found.blocks) if found.argument else found.blocks


def _wrapper(found: Directive) -> list[Block]:
    if found.name == "table" and found.argument:
        return label(found.context.inline(found.argument), found.blocks)
    # `.. class:: name` is a style of the text below in reST, and a class that is described in Sphinx.
    if found.name == "class" and re.match(r"[A-Z]|\w+[.(]", found.argument):
        return _described(found)
    return found.blocks


def _nothing(found: Directive) -> list[Block]:
    return []


def _elsewhere(found: Directive) -> list[Block]:
    return [Block(Kind.PARAGRAPH, f"See {code(found.argument)}.")] if found.argument else []


def _picture(found: Directive) -> list[Block]:
    """
    A link to a picture instead of the picture: one on another host would make the page ask that host, and one in
    the package's documentation is not here.
    """
    url, alt = found.argument, found.options.get("alt", "")
    shown = escape(alt or url.rpartition("/")[2] or "image")
    if re.match(r"https?://\S+$", url):
        text = f"[{shown}]({url.replace('(', '%28').replace(')', '%29')})"
    else:
        text = f"{shown} ({code(url)})" if alt and url else code(url) or shown
    return [Block(Kind.PARAGRAPH, text), *found.blocks]


def _math(found: Directive) -> list[Block]:
    """Display math: each paragraph a formula, with the line breaks that Sphinx grants to all of them."""
    formulas: list[list[str]] = [[]]
    for line in (
        [found.argument, ""] if found.argument and not found.content else [found.argument, *found.content]
    ):
        if line.strip():
            formulas[-1].append(line.strip())
        elif formulas[-1]:
            formulas.append([])
    if not all(_closed("\n".join(part)) for part in formulas):
        # A blank line inside an environment or a pair of brackets parts nothing.
        formulas = [[line for part in formulas for line in part]]
    blocks = []
    for tex in filter(None, (literal_math("\n".join(formula)) for formula in formulas)):
        aligned = re.search(r"\\\\|(?<!\\)&", tex) and "\\begin" not in tex
        typeset = f"\\begin{{aligned}}\n{tex}\n\\end{{aligned}}" if aligned else tex
        blocks.append(fence([tex], "latex") if "$" in tex else Block(Kind.MATH, f"$$\n{typeset}\n$$"))
    return blocks


def _closed(tex: str) -> bool:
    return tex.count("\\begin") == tex.count("\\end") and len(_LEFT.findall(tex)) == len(_RIGHT.findall(tex))


_LEFT = regex(r"\\left(?![A-Za-z])")
_RIGHT = regex(r"\\right(?![A-Za-z])")


def _described(found: Directive) -> list[Block]:
    """`.. method:: fit(x)`: a term and what it means."""
    blocks = [*_told(found), *found.blocks]
    term = code(found.argument)
    if not term or not blocks:
        return [Block(Kind.PARAGRAPH, term), *blocks]
    return [Block(Kind.OTHER, f"{term}\n{indent(join(blocks), ':   ', '    ')}")]


def _unknown(found: Directive) -> list[Block]:
    if ":" in found.name and found.argument:
        # Another domain's object: `.. c:function:: malloc(size)`.
        return _described(found)
    return label(f"{escape(found.name)} {code(found.argument)}".strip(), [*_told(found), *found.blocks])


def _told(found: Directive) -> list[Block]:
    """The options as a list: of a directive that nobody knows they may be all it has to say."""
    items = [
        item("* ", [Block(Kind.PARAGRAPH, f"{code(key)} {found.context.inline(value)}".strip())])
        for key, value in found.options.items()
    ]
    return [Block(Kind.LIST, "\n".join(items))] if items else []


_ASIDES = {
    **{
        name: name.capitalize()
        for name in "note warning caution danger attention error hint important tip todo".split()
    },
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
_FAMILIES: dict[str, Callable[[Directive], list[Block]]] = {
    name: family
    for family, names in (
        (_admonition, " ".join(_ASIDES)),
        (_version, " ".join(_VERSIONS)),
        (_math, "math"),
        (_code, "code code-block sourcecode prompt ipython plot testsetup testcleanup jupyter-execute"),
        (_example, "doctest testcode"),
        (
            _verbatim,
            "parsed-literal testoutput productionlist graphviz digraph graph inheritance-diagram mermaid csv-table "
            "list-table autosummary toctree raw command-output program-output",
        ),
        (_picture, "image figure"),
        (_elsewhere, "include literalinclude"),
        (_titled, "rubric topic admonition sidebar centered tab dropdown card grid-item-card"),
        (
            _wrapper,
            "container compound class rst-class only epigraph highlights pull-quote hlist glossary table line-block "
            "tab-set tabs grid grid-item",
        ),
        (
            _described,
            "function method attribute data exception module classmethod staticmethod property decorator describe "
            "option envvar cmdoption program automodule autoclass autofunction automethod autoexception autodata "
            "autoattribute",
        ),
        (
            _nothing,
            "index highlight default-role contents sectnum role currentmodule py:currentmodule tabularcolumns "
            "default-domain meta title",
        ),
    )
    for name in names.split()
}
# The options of all these directives together: they say how a thing looks, which is settled here.
_OPTIONS = frozenset(
    """
    align alt caption class collapsible context dedent delim emphasize-lines encoding end-before escape figclass
    figwidth file force format glob header header-rows height hidden hide include-source keepspace label
    language layout linenos lineno-start lines loading maxdepth name no-trim-doctest-flags nofigs noindex
    nosignatures nowrap number-lines numbered open options parser parts private-bases pyversion quote recursive
    reversed scale show-source-link skipif start-after stub-columns target template titlesonly toctree
    top-classes trim-doctest-flags url width widths
    """.split()
)
