"""
---
title: Words the splitter knows
summary: Names of HTML elements and of LaTeX environments, as data.
---
# Words the splitter knows

By these tables the splitter decides what opens a block of HTML, what is a tag at all, and which environments are
mathematics without dollar signs. A new element or environment is one more word in a list; no rule has to change.
"""

from __future__ import annotations


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


ENVIRONMENTS = (
    *("align", "alignat", "aligned", "alignedat", "equation", "gather", "gathered", "multline", "split"),
    *("cases", "dcases", "rcases", "array", "matrix", "pmatrix", "bmatrix", "Bmatrix", "vmatrix", "Vmatrix"),
    *("smallmatrix", "CD"),
)
"""Environments that may stand without dollars round them."""

BLOCK_ELEMENTS = _names("""
    address article aside base basefont blockquote body caption center col colgroup dd details dialog
    dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header
    hr html iframe legend li link main menu menuitem nav noframes ol optgroup option p param search
    section summary table tbody td tfoot th thead title tr track ul
""")
"""A line that begins with one of these opens a block of HTML, which a blank line ends."""

VERBATIM_ELEMENTS = ("script", "pre", "style", "textarea")
"""Their content goes on, over blank lines, to the closing tag."""

LITERAL_ELEMENTS = ("script", "style", "textarea", "title", "iframe", "noframes")
"""A browser reads no tags inside of them but their own closing one."""

ELEMENTS = (
    BLOCK_ELEMENTS
    | frozenset(VERBATIM_ELEMENTS)
    | _names("""
        a abbr acronym area audio b bdi bdo big br button canvas cite code data datalist del dfn em embed
        font i img input ins kbd label map mark math meter noscript object output picture progress q rp rt
        ruby s samp select slot small source span strike strong sub sup svg template time tt u var video
        wbr
        circle clippath defs desc ellipse filter foreignobject g image line lineargradient marker mask path
        pattern polygon polyline radialgradient rect stop symbol text textpath tspan use view
        annotation maction merror mfrac mi mmultiscripts mn mo mover mpadded mphantom mroot mrow ms mspace
        msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder munderover semantics
    """)
)
"""HTML, SVG and MathML. What is not among them is text in angle brackets, such as `<module>`."""

VOID_ELEMENTS = _names("area base br col embed hr img input link meta param source track wbr")
"""They have no closing tag."""

CLOSED_BY_THEMSELVES = _names("""
    p li dt dd tr td th thead tbody tfoot colgroup option optgroup rp rt
""")
"""Their closing tag may be left out."""

_SMALL = {ord(letter): letter.lower() for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}


def small(text: str) -> str:
    """The text with small Latin letters, character for character, which `str.lower` does not promise."""
    return text.translate(_SMALL)
