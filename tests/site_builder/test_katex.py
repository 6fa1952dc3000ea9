r"""Math: what is typeset, and what comes out."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from _quickjs import Context

from site_builder import katex
from site_builder.katex import MathError, render
from site_builder.katex.source import prepare

VENDORED = Path(__file__).resolve().parents[2] / "static/vendor/katex"
SAMPLE = (Path(__file__).parent / "expressions.txt").read_text(encoding="utf-8").splitlines()


class Balance(HTMLParser):
    """Fails on the first tag that closes another than the last one open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.tags.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def balanced(html: str) -> list[str]:
    reader = Balance()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return reader.tags


def annotation(html: str) -> str:
    """The TeX that goes with the MathML."""
    (math,) = re.findall("<math.*?</math>", html, re.DOTALL)
    found = ElementTree.fromstring(math).find(".//{*}annotation")
    assert found is not None
    return found.text or ""


def fault(tex: str, display: bool = False, macros: dict[str, str] | None = None) -> MathError:
    with pytest.raises(MathError) as caught:
        render(tex, display, macros)
    return caught.value


@pytest.mark.parametrize("tex", SAMPLE)
def test_the_sample_renders_to_balanced_html_and_mathml_with_its_source(tex: str) -> None:
    html = render(tex, display=True)
    tags = balanced(html)
    assert tags.count("math") == 1
    assert annotation(html) == tex
    assert "katex-error" not in html


def test_what_the_eye_gets_is_to_the_letter_what_katex_itself_writes() -> None:
    context = Context()
    context.set_max_stack_size(4 << 20)
    context.eval("globalThis.console = {warn() {}}")
    context.eval((VENDORED / "katex.min.js").read_text(encoding="utf-8"))
    context.eval(
        "globalThis.own = (tex) => JSON.stringify(katex.renderToString(tex, {displayMode: true, maxSize: 50}))"
    )
    for tex in SAMPLE:
        sign = '<span class="katex-html"'
        own = json.loads(context.get("own")(prepare(tex).sent))
        assert render(tex, display=True).partition(sign)[2] == own.partition(sign)[2], tex


def test_the_sample_is_wide() -> None:
    assert len(SAMPLE) == len(set(SAMPLE)) >= 126


def test_the_version_is_that_of_the_style_sheet() -> None:
    assert f'content:"{katex.version()}"' in (VENDORED / "katex.min.css").read_text(encoding="utf-8")


def test_display_math_is_a_block_and_inline_math_is_not() -> None:
    assert render("x", display=True).startswith('<span class="katex-display">')
    assert "katex-display" not in render("x")


def test_the_eye_s_copy_is_hidden_from_screen_readers_and_nothing_in_it_can_be_focused() -> None:
    html = render(r"\frac{a}{b}")
    assert html.count('aria-hidden="true"') == 1
    assert not re.search(r"<a\b|tabindex|href", html)


def test_blanks_at_the_ends_change_nothing() -> None:
    assert render(" \n x + y\t\n") == render("x + y")


def test_an_empty_expression_is_empty_and_no_error() -> None:
    assert annotation(render("")) == ""
    assert render(" \n ") == render("")


def test_the_same_expression_gives_the_same_bytes_in_another_process_and_locale() -> None:
    script = (
        r"from site_builder.katex import render; print(ascii(render('\sum x', True, {'b': 'x', 'a': 'y'})))"
    )
    environ = os.environ | {"PYTHONHASHSEED": "7", "LC_ALL": "C", "TZ": "Asia/Tokyo"}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environ, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ascii(render(r"\sum x", True, {"a": "y", "b": "x"}))


@pytest.mark.parametrize(
    ("tex", "starred"),
    [
        (r"\begin{align}a&=b\\c&=d\end{align}", r"\begin{align*}a&=b\\c&=d\end{align*}"),
        (r"\begin{equation}a\end{equation}", r"\begin{equation*}a\end{equation*}"),
        (r"\begin{gather}a\\b\end{gather}", r"\begin{gather*}a\\b\end{gather*}"),
        (r"\begin{alignat}{2}a&b&c\end{alignat}", r"\begin{alignat*}{2}a&b&c\end{alignat*}"),
        (r"\begin {align} a \end {align}", r"\begin {align*} a \end {align*}"),
    ],
)
def test_numbering_environments_set_no_numbers_but_carry_their_own_source(tex: str, starred: str) -> None:
    html = render(tex, display=True)
    assert annotation(html) == tex
    assert html.replace(annotation_markup(tex), annotation_markup(starred)) == render(starred, display=True)
    assert "eqn-num" not in html


def annotation_markup(tex: str) -> str:
    return tex.replace("&", "&amp;")


def test_a_tag_sets_a_number() -> None:
    assert "(7)" in re.sub("<[^>]*>", "", render(r"\begin{align}a&=b\tag{7}\\c&=d\end{align}", display=True))


def test_an_environment_s_name_in_verbatim_text_keeps_it() -> None:
    assert "align*" not in render(r"\verb|\begin{align}|")


def test_a_macro_may_open_an_environment() -> None:
    macros = {"ba": r"\begin{align}", "ea": r"\end{align}"}
    assert "eqn-num" not in render(r"\ba a&=b \ea", True, macros)


def test_page_macros_are_known_with_and_without_their_backslash() -> None:
    plain = render(r"\mathbb{R}").replace(r"\mathbb{R}", r"\R")
    assert render(r"\R", macros={"R": r"\mathbb{R}"}) == plain
    assert render(r"\R", macros={r"\R": r"\mathbb{R}"}) == plain


def test_page_macros_take_arguments() -> None:
    assert render(r"\norm{x}", macros={"norm": r"\lVert #1 \rVert"}).count("∥") == 4


@pytest.mark.parametrize(
    "definition", [r"\gdef\mine{x}", r"\global\def\mine{x}", r"\newcommand\mine{x}", r"\let\mine=x"]
)
def test_what_an_expression_defines_is_forgotten_with_it(definition: str) -> None:
    macros = {"other": "y"}
    render(definition + r"\mine", macros=macros)
    assert macros == {"other": "y"}
    assert fault(r"\mine", macros=macros).message == r"The command \mine is unknown"
    assert fault(r"\mine").message == r"The command \mine is unknown"


def test_an_expression_cannot_change_a_page_macro_for_the_next_one() -> None:
    macros = {"R": "r"}
    before = render(r"\R", macros=macros)
    render(r"\gdef\R{changed}\R", macros=macros)
    assert render(r"\R", macros=macros) == before


def test_the_order_of_macros_does_not_matter() -> None:
    assert render(r"\a\b", macros={"a": r"\b", "b": "x"}) == render(r"\a\b", macros={"b": "x", "a": r"\b"})
