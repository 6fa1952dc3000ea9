"""What a reader sees of a foreign docstring, once its Markdown went through the renderer."""

from __future__ import annotations

import html
import re

from hypothesis import given
from hypothesis import strategies as st

from site_builder.model import Prose, ProseLine
from site_builder.prose import Rendered, render
from site_builder.prose.docstyles import to_markdown


def rendered(docstring: str) -> Rendered:
    markdown = to_markdown(docstring, "rest")
    text = docstring if markdown is None else markdown
    return render(
        Prose(tuple(ProseLine(line, "x.py", number, 1) for number, line in enumerate(text.split("\n"), 1))),
        typeset=lambda tex, display: f"<math>${html.escape(tex)}$</math>",
        link=lambda href: href,
        prefix="p",
    )


def seen(docstring: str) -> list[str]:
    """The words that a reader sees, in order."""
    return html.unescape(re.sub(r"<[^>]*>", "", rendered(docstring).html)).split()


# None of these is markup in reST, and most of them are in Markdown.
TOKENS = r"""
word other <module> <int> </b> <!--x--> &lt; &amp; & __init__ __a__b _x *args **kwargs, a*b*c 2*3
* ** _ # ## > >> < <= -> -- - + 1. 2) $5 $HOME/$USER ${x} $ [0] [^1] a[0](x) [a][b] [a]: ![x] | a|b
~~~ === --- == {x} ~ ^ f(*a) (*a) x=1; $1, #1 \d C:\new \
""".split()


@given(st.lists(st.lists(st.sampled_from(TOKENS), min_size=1, max_size=8), min_size=1, max_size=3))
def test_text_that_is_no_markup_is_seen_as_it_was_typed(lines: list[list[str]]) -> None:
    # Each line begins with a word: what begins with a sign may be a list or a ruler.
    text = "\n\n".join(" ".join(["word", *line, "end"]) for line in lines)
    assert seen(text) == text.split()


def test_nothing_in_the_sections_of_each_style_is_reported() -> None:
    text = (
        "Sum.\n\nArgs:\n    x (list[int]): One of\n\n        * `a[0](b)`\n        * [^1] and <file>\n\n"
        ":param y: $5 and $6\n:raises E: never\n\nParameters\n----------\nz : {'a', *b}\n    :math:`z_i`\n"
    )
    result = rendered(text)
    assert result.diagnostics == ()
    assert result.html.count("<li>") == 6
    assert "<math>$z_i$</math>" in result.html
    assert "&lt;file&gt;" in result.html


def test_examples_are_examples_wherever_they_stand() -> None:
    example = "    >>> f(*args)\n    '<b>'\n"
    for docstring in (
        f"Example::\n\n{example}",
        f"Examples:\n{example}",
        f"Text:\n\n{example}",
        f".. note::\n\n{example}",
    ):
        result = rendered(docstring)
        assert result.html.count("<figure") == 1
        assert "f(*args)\n'<b>'" in result.text


def test_code_keeps_its_place_in_a_list_and_in_an_aside() -> None:
    html_ = rendered("- item::\n\n    x = 1\n\n.. note:: so::\n\n    y = 2").html
    assert re.search(r"<li><p>item:</p>\s*<pre><code class=\"language-python\">x", html_)
    assert re.search(r"<blockquote>\s*<p><strong>Note:</strong> so:</p>\s*<pre><code", html_)


def test_a_definition_may_begin_with_code() -> None:
    html_ = rendered("term\n    ::\n\n        x = 1\n").html
    assert re.search(r"<dt>term</dt>\s*<dd><pre><code", html_)


def test_headings_stand_below_those_of_the_page() -> None:
    found = rendered("Title\n=====\n\nPart\n----\n\nMore\n====\n").headings
    assert [(heading.level, heading.text) for heading in found] == [(4, "Title"), (5, "Part"), (4, "More")]
