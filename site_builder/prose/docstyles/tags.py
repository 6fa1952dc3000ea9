"""
---
title: What only looks like a tag
summary: "`<file>` is a word, `<br>` a line break."
---
# What only looks like a tag

A browser drops a tag that it does not know, and with it the word between the signs. In Markdown text an author's HTML
passes, but `<module>` or `<int>` is nobody's HTML.
"""

from __future__ import annotations

import re

from site_builder.lazy import regex

__all__ = ["escape_unknown"]

# HTML's elements, then those of SVG and of MathML.
_TAGS = frozenset(
    """
    a abbr address article aside audio b bdi bdo blockquote body button canvas caption center cite code col colgroup
    data datalist dd del details dfn dialog div dl dt em embed fieldset figcaption figure font footer form h1 h2 h3
    h4 h5 h6 head header hgroup html i iframe ins kbd label legend li link main map mark math menu meta meter nav
    noscript object ol optgroup option output p picture pre progress q rp rt ruby s samp script search section
    select slot small span strong style sub summary sup svg table tbody td template textarea tfoot th thead time
    title tr tt u ul var video
    circle clippath defs desc ellipse g line lineargradient marker mask path pattern polygon polyline radialgradient
    rect stop symbol text tspan use
    annotation mfrac mi mn mo mover mroot mrow ms msqrt msub msubsup msup mtable mtd mtext mtr munder munderover
    semantics
    """.split()
)
_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
_ALONE = frozenset("br hr wbr".split())
_UNCLOSED = frozenset("p li dt dd tr td th option thead tbody colgroup rt rp".split())
_CODE_OR_TAG = regex(
    r"""
    (?P<fence>^[ \t]*(?P<ticks>`{3,}|~{3,})[^\n`]*\n.*?(?:^[ \t]*(?P=ticks)[`~]*[ \t]*$|\Z))
    | (?P<indented>^(?:\ {4}|\t)[^\n]*$)
    | (?P<example>^[ \t]*>>>[^\n]*(?:\n[^\n]*\S[^\n]*)*)
    | (?P<code>(?<![`\\])(?P<run>`{1,9})(?!`)[^`](?:.{0,600}?[^`])?(?P=run)(?!`))
    | (?P<math>\$\$.{1,2000}?\$\$|(?<![\\$])\$(?![\s$])[^$\n]{0,1000}?(?<![\s\\])\$(?!\d))
    | (?P<environment>\\begin\{(?P<env>\w+\*?)\}.{0,2000}?\\end\{(?P=env)\})
    | (?P<comment><!--.{0,1000}?-->)
    | (?P<tag><(?P<close>/?)(?P<name>[A-Za-z][\w-]*)(?P<rest>[^<>\n]{0,500}(?:\n[^<>\n]{0,500})?)>)
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
_ATTRIBUTES = regex(r"""(?:\s+[A-Za-z_:@][\w:.-]*(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'=<>`]+))?)*\s*/?$""")
_ASSIGNED = regex(r"\w\s*=")


def escape_unknown(text: str) -> str:
    """`text` with `&lt;` for the `<` of whatever is no HTML tag, outside of code and math."""
    if "<" not in text:
        return text
    closed = {name.lower() for name in re.findall(r"</([A-Za-z][\w-]*)", text)}
    opened = {name.lower() for name in re.findall(r"<([A-Za-z][\w-]*)", text)}

    def written(match: re.Match[str]) -> str:
        if not match.group("tag"):
            return match.group()
        name = match.group("name").lower()
        known = (
            name in _TAGS and name in opened
            if match.group("close")
            else _is_tag(name, match.group("rest"), closed)
        )
        return match.group() if known else "&lt;" + match.group()[1:]

    return _CODE_OR_TAG.sub(written, text)


def _is_tag(name: str, rest: str, closed: set[str]) -> bool:
    if not _ATTRIBUTES.match(rest):
        return False
    if name in _VOID:
        # `<input>` and `<source>` alone say nothing to a browser; to a reader they are words.
        return name in _ALONE or bool(_ASSIGNED.search(rest))
    return name in _TAGS and (name in closed or name in _UNCLOSED or rest.endswith("/"))
