r"""Marks inside of formulas: what is marked, and that nothing else changes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from _quickjs import Context
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from site_builder import katex
from site_builder.cache import Store
from site_builder.katex import Formula, Marked, MathError, Renderer

VENDORED = Path(__file__).resolve().parents[2] / "static/vendor/katex"
SAMPLE = (Path(__file__).parent / "expressions.txt").read_text(encoding="utf-8").splitlines()
VISIBLE = '<span class="katex-html"'
LETTERS = re.compile(r'<span class="([^"]*)"(?: style="(margin-right:[^;"]*;)?([^"]*)")?>([^<]+)</span>')


class Marks(HTMLParser):
    """The text inside of each mark of one kind, in the order in which they open."""

    def __init__(self, kind: str, html: str) -> None:
        super().__init__()
        self.kind = f"data-{kind}"
        self.open: list[int | None] = []
        self.found: list[tuple[str, str, bool]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        value = values.get(self.kind)
        if value is not None:
            self.found.append((value, "", "data-c" in values))
        self.open.append(None if value is None else len(self.found) - 1)

    def handle_endtag(self, tag: str) -> None:
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for index in filter(lambda one: one is not None, self.open):
            assert index is not None
            value, text, continued = self.found[index]
            self.found[index] = value, text + data.replace("\u200b", ""), continued


def marked(tex: str, *symbols: str, macros: dict[str, str] | None = None, display: bool = False) -> str:
    formula = (tex, display)
    html = Renderer(None).mark({formula: 1}, symbols, macros).html
    return html.get(formula, katex.render(tex, display, macros))


def symbols_in(tex: str, *symbols: str, macros: dict[str, str] | None = None) -> str:
    """The marked stretches as `text:number`."""
    found = Marks("s", marked(tex, *symbols, macros=macros)).found
    return " ".join(f"{text}:{value}" for value, text, _ in found)


def repeated(*formulas: str) -> dict[str, list[str]]:
    """By number, what stands in the marks of everything that occurs more than once."""
    result = Renderer(None).mark({(tex, False): 1 for tex in formulas})
    groups: dict[str, list[str]] = {}
    for tex in formulas:
        for value, text, continued in Marks("e", result.html.get((tex, False), "")).found:
            if continued:
                groups[value][-1] += text
            else:
                groups.setdefault(value, []).append(text)
    return groups


def visible(html: str) -> str:
    return html.partition(VISIBLE)[2]


def unmarked(html: str) -> str:
    """The formula without its marks, found by counting brackets."""
    kept: list[str] = []
    stack: list[bool] = []
    for piece in re.split("(<[^>]*>)", html):
        is_mark = "data-" in piece
        if piece.startswith("</"):
            # What encloses the visible part ends behind it.
            is_mark = bool(stack) and stack.pop()
        elif piece.startswith("<") and not piece.endswith("/>"):
            stack.append(is_mark)
        kept.append("" if is_mark else piece)
    return spelt("".join(kept))


def spelt(html: str) -> str:
    """Each letter as an element of its own: KaTeX joins those of one style, and a mark may have come between."""

    def single(found: re.Match[str]) -> str:
        classes, gap, style, text = found.groups(default="")
        return "".join(
            f'<span class="{classes}" style="{gap if at == len(text) else ""}{style}">{letter}</span>'
            for at, letter in enumerate(text, 1)
        )

    return LETTERS.sub(single, html)


def everything(
    symbols: tuple[str, ...] = ("x", "Q", "a", r"\alpha", "f(x)"),
) -> tuple[dict[Formula, str], Marked]:
    """Every formula of the sample as it is without marks, and the sample with marks on all that can bear one."""
    plain: dict[Formula, str] = {}
    for tex in SAMPLE:
        for display in (False, True):
            try:
                plain[tex, display] = katex.render(tex, display)
            except MathError:
                assert not display
    return plain, Renderer(None).mark(dict.fromkeys(plain, 2), symbols)


def test_taken_out_again_the_marks_leave_what_was_there_before() -> None:
    plain, result = everything()
    assert len(result.html) > len(plain) / 2
    for formula, html in result.html.items():
        assert unmarked(visible(html)) == unmarked(visible(plain[formula])), formula
        assert re.sub("<[^>]*>", "", html) == re.sub("<[^>]*>", "", plain[formula])


def test_what_screen_readers_get_and_what_is_copied_knows_nothing_of_marks() -> None:
    plain, result = everything()
    for formula, html in result.html.items():
        assert html.partition(VISIBLE)[0] == plain[formula].partition(VISIBLE)[0]


def test_a_formula_in_which_nothing_repeats_is_left_as_it_is() -> None:
    alone = 0
    for tex in SAMPLE:
        result = Renderer(None).mark({(tex, True): 1}, ["never"])
        # What `mark` leaves out is shown as `render` makes it; what it gives has something in it that occurs twice.
        alone += (tex, True) not in result.html
        assert all("data-e" in html for html in result.html.values())
    assert alone > len(SAMPLE) / 4


# Slanted letters in bold leave a gap to their right, but not between two of them.
@pytest.mark.parametrize(
    "tex", [r"\mathbf{W} \mathbf{h}", r"\mathit{fj} \mathit{f}", r"\text{ff}\hbox{f}\hbox{f}"]
)
def test_a_mark_between_letters_that_katex_joins_leaves_no_gap(tex: str) -> None:
    html = Renderer(None).mark({(tex, False): 2}).html[tex, False]
    assert "data-e" in html
    assert unmarked(visible(html)) == spelt(visible(katex.render(tex)))


def test_the_size_of_a_letter_is_no_matter_of_its_mark() -> None:
    html = marked(r"x + \Large x \scriptstyle x", "x")
    assert html.count("data-s") == 3
    assert unmarked(visible(html)) == unmarked(visible(katex.render(r"x + \Large x \scriptstyle x")))


def test_a_formula_in_which_a_mark_would_reach_across_lines_shows_none() -> None:
    tex = r"\phantom{a = b} x"
    assert Renderer(None).mark({(tex, False): 2, ("x", False): 1}).html.keys() == {("x", False)}


def test_a_line_breaks_at_the_same_places() -> None:
    tex = r"x + Q K^\top = x + Q K^\top"
    html = marked(tex, "x + Q")
    assert "data-s" in html
    assert html.count('class="katex-base"') == katex.render(tex).count('class="katex-base"') > 2


@pytest.mark.parametrize(
    ("tex", "symbols", "expected"),
    [
        # a symbol, and what it is not
        ("Q", ["Q"], "Q:1"),
        ("q", ["Q"], ""),
        ("x Q y", ["Q"], "Q:1"),
        (r"\mathbf{Q} + Q", ["Q"], "Q:1"),
        (r"\hat{Q}", ["Q"], ""),
        (r"\hat{Q}", ["Q", r"\hat Q"], "Q^:2"),
        (r"\mathcal{L}", [r"\mathcal L"], "L:1"),
        # an index belongs to its symbol
        ("K_{t'}", ["K"], "Kt′:1"),
        ("K_t", ["K", "t"], "Kt:1"),
        (r"\sum_{t'} K_{t'}", ["K", "t"], "Kt′:1 t′:2"),
        (r"w_{tt'}", ["w"], "wtt′:1"),
        ("d_k", ["k"], ""),
        ("x_{s}", ["s"], ""),
        # the longest mapping wins
        ("d_k", ["d", "d_k"], "dk:2"),
        ("d_v", ["d", "d_k"], "dv:1"),
        (r"W_1 W_{1} W_2", ["W", "W_1"], "W1:2 W1:2 W2:1"),
        ("f(x) + x", ["x", "f(x)"], "f:2 (:2 x:2 ):2 x:1"),
        (r"d_{\text{model}} d_{\text{ff}}", [r"d_{\text{model}}"], "dmodel:1"),
        # a superscript is a label or an index, never a symbol of its own
        ("W^Q", ["Q"], ""),
        ("W^Q", ["W", "Q"], ""),
        ("W^O W^Q", ["W^O"], "WO:1"),
        ("W^O_i", ["W^O"], "WiO:1"),
        ("x^L_t", ["x", "L"], "xtL:1"),
        ("Q^\\top", ["Q"], "Q⊤:1"),
        ("Q^T", ["Q"], "QT:1"),
        ("Q^T", ["Q", "T"], ""),
        ("Q'", ["Q"], "Q′:1"),
        ("Q^2 Q^{-1} Q^{(i)}", ["Q"], "Q2:1 Q−1:1 Q(i):1"),
        ("Q^n", ["Q"], ""),
        (r"Q^{\text{new}}", ["Q"], ""),
        (r"d_k^2 Q_i^\top", ["d_k", "Q"], "dk2:1 Qi⊤:2"),
        # exponents of e, of a number and of an operator are exponents
        ("e^{S_{ij}}", ["S"], "Sij:1"),
        ("2^n", ["n"], "n:1"),
        ("10^{n}", ["n"], "n:1"),
        (r"10000^{2i/d_k}", ["d_k"], "dk:1"),
        (r"\sum_{j=1}^N", ["N"], "N:1"),
        (r"\left(1 + x\right)^n", ["n", "x"], "x:2 n:1"),
        (r"\exp(S)", ["S"], "S:1"),
        ("a^n", ["n"], ""),
        # inside of what has an inside
        (r"\frac{Q K^\top}{\sqrt{d_k}}", ["Q", "K", "d_k"], "Q:1 K⊤:2 dk:3"),
        (r"\frac Qh", ["Q", "h"], "h:2 Q:1"),
        (r"\begin{aligned}a &= Q \\ b &= Q\end{aligned}", ["Q"], "Q:1 Q:1"),
        (r"\underbrace{Q + K}_{h}", ["Q", "K", "h"], "h:3 Q:1 K:2"),
        (r"\overline{Q K}", ["Q"], "Q:1"),
        # words are language
        (r"\text{Q and } Q", ["Q"], "Q:1"),
        (r"\mathrm{Query}", ["Q", "y"], ""),
        (r"\operatorname{softmax}(x)", ["s", "x"], "x:2"),
        (r"\log_h x", ["l", "h"], "h:2"),
        (r"\text{heads}", [r"\text{heads}"], ""),
        # however it was typed
        ("d_{k}", ["d_k"], "dk:1"),
        ("{Q}", ["Q"], "Q:1"),
        (r"\tilde{h}_t^{n}", [r"\tilde h"], "h~tn:1"),
        (r"\Phi + \phi", [r"\Phi", r"\phi"], "Φ:1 ϕ:2"),
        (r"\ell", [r"\ell"], "ℓ:1"),
    ],
)
def test_a_symbol_is_found_where_it_stands(tex: str, symbols: list[str], expected: str) -> None:
    found = symbols_in(tex, *symbols)
    assert sorted(found.split()) == sorted(expected.split()), found


def test_macros_of_the_page_are_what_they_stand_for() -> None:
    macros = {"key": "K", "R": r"\mathbb{R}"}
    assert symbols_in(r"\key_{t}", "K", macros=macros) == "Kt:1"
    assert symbols_in("K", r"\key", macros=macros) == "K:1"


def test_a_symbol_that_is_no_latex_marks_nothing_and_does_no_harm() -> None:
    assert symbols_in("Q", r"\frac{", "Q") == "Q:2"


def test_the_base_of_a_script_is_never_wrapped() -> None:
    _, result = everything(("x", "a", "Q"))
    for html in result.html.values():
        open_marks: list[bool] = []
        closed = False
        for end, attributes in re.findall(r"<(/?)span\b([^>]*)>", visible(html)):
            assert not (closed and "msupsub" in attributes)
            closed = bool(end and open_marks and open_marks.pop())
            if not end:
                open_marks.append("data-" in attributes)


@pytest.mark.parametrize(
    ("formulas", "expected"),
    [
        ((r"Q K^\top", r"\frac{Q K^\top}{2}"), ["QK⊤"]),
        (("t - t'", r"e^{t - t'}"), ["t−t′"]),
        ((r"\frac{a}{b}", r"x + \frac ab"), ["ba"]),
        ((r"\operatorname{softmax}(x)", r"\operatorname{softmax}(y)"), ["softmax"]),
        (("1", "1 + 2", "(1)"), []),
        ((r"\text{if } x", r"\text{if } y"), []),
        (("a, b", "c, d"), []),
    ],
)
def test_what_stands_twice_on_the_page_has_a_number(formulas: tuple[str, ...], expected: list[str]) -> None:
    groups = repeated(*formulas)
    wholes = {"".join(texts[0].split()): len(texts) for texts in groups.values()}
    for text in expected:
        # Relations and signs between siblings stay unwrapped.
        bare = text.replace("−", "")
        assert wholes.get(bare, wholes.get(text)) == len(formulas), groups
    if not expected:
        assert groups == {}


def test_what_stands_once_has_no_number() -> None:
    assert repeated("a", "b", "c_1") == {}


def test_a_formula_that_the_page_has_twice_counts_twice() -> None:
    result = Renderer(None).mark({("z", False): 2})
    assert "data-e" in result.html["z", False]


def test_the_marks_do_not_depend_on_the_order_of_the_formulas() -> None:
    formulas = {("x + y", False): 1, ("y", False): 3, (r"\sqrt{x}", True): 1}
    turned = dict(reversed(list(formulas.items())))
    assert Renderer(None).mark(formulas, ["x"]) == Renderer(None).mark(turned, ["x"])


def test_what_was_marked_once_is_taken_from_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store()
    first = Renderer(store).mark({("x + y", False): 2}, ["x"])
    monkeypatch.setattr("site_builder.katex.ENGINE.call", lambda *_: pytest.fail("typeset again"))
    assert Renderer(store).mark({("x + y", False): 2}, ["x"]) == first
    assert first.html


def test_a_page_whose_formulas_are_known_from_others_has_the_same_marks() -> None:
    formulas = dict.fromkeys([(tex, True) for tex in SAMPLE[:20]], 1)
    store = Store()
    for formula in formulas:
        Renderer(store).mark({formula: 1}, ["x"])
    assert Renderer(store).mark(formulas, ["x"]) == Renderer(Store()).mark(formulas, ["x"])


def test_a_page_without_math_needs_no_katex(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("site_builder.katex.ENGINE.call", lambda *_: pytest.fail("called"))
    assert Renderer(Store()).mark({}, ["x", "y"]) == Marked({}, (0, 0))


def test_an_author_cannot_ask_for_the_parser() -> None:
    with pytest.raises(MathError):
        katex.render(r"\site@parser")


# ---- whatever is written

SIGNS = [
    *"xyfVW12+-=<,:;!'()|",
    r"\cdot",
    r"\alpha",
    r"\Gamma",
    r"\ldots",
    r"\sum",
    r"\log",
    r"\,",
    r"\quad",
    "~",
    "é",
    "漢",
]
SWITCHES = [r"\displaystyle", r"\scriptstyle", r"\Large", r"\tiny", r"\color{red}", r"\bf", r"\limits", r"\\"]
AROUND = [
    *(
        rf"\{font}{{%s}}"
        for font in "mathbf mathit mathsf mathtt mathcal mathbb boldsymbol text textit textbf".split()
    ),
    *(
        rf"\{name}{{%s}}"
        for name in "hat bar vec sqrt overline phantom hbox mathop mathrel operatorname".split()
    ),
    *(
        "{%s}",
        r"\left(%s\right]",
        r"\textcolor{blue}{%s}",
        r"\underbrace{%s}_n",
        r"\begin{matrix}%s & x\end{matrix}",
    ),
]
PAIRS = ["{%s}_{%s}", "{%s}^{%s}", r"\frac{%s}{%s}", "x_{%s}^{%s}", r"\sum_{%s}^{%s} x", "%s = %s", "%s %s"]


def deeper(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(st.sampled_from(AROUND), inner).map(lambda one: one[0] % one[1]),
        st.tuples(st.sampled_from(PAIRS), inner, inner).map(lambda two: two[0] % two[1:]),
        st.lists(inner, max_size=4).map(" ".join),
    )


EXPRESSIONS = st.recursive(st.sampled_from(SIGNS * 2 + SWITCHES), deeper, max_leaves=15)


@pytest.fixture(scope="module")
def own() -> Callable[[str, bool], str | None]:
    """What KaTeX by itself makes of an expression."""
    context = Context()
    context.set_max_stack_size(4 << 20)
    context.eval("globalThis.console = {warn() {}}")
    context.eval((VENDORED / "katex.min.js").read_text(encoding="utf-8"))
    context.eval(
        """
        globalThis.own = (tex, displayMode) => {
          try { return JSON.stringify(katex.renderToString(tex, {displayMode, maxSize: 50})); } catch { return "null"; }
        }
        """
    )
    typeset = context.get("own")
    return lambda tex, display: json.loads(typeset(tex, display))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(EXPRESSIONS, st.booleans())
def test_whatever_is_written_is_what_katex_makes_of_it_and_marks_are_all_that_is_added(
    own: Callable[[str, bool], str | None], tex: str, display: bool
) -> None:
    tex = tex.strip()
    expected = own(tex, display)
    result = Renderer(Store()).mark({(tex, display): 2}, ["x", "W", "f(x)", "1,,2"])
    if expected is None:
        assert not result.html
        return
    assert katex.render(tex, display) == expected
    html = result.html.get((tex, display), expected)
    assert html.partition(VISIBLE)[0] == expected.partition(VISIBLE)[0]
    assert unmarked(visible(html)) == spelt(visible(expected))


def test_a_formula_that_cannot_be_typeset_leaves_the_others_their_marks() -> None:
    result = Renderer(None).mark({("x", False): 1, (r"\frac{", False): 1}, ["x"])
    assert set(result.html) == {("x", False)}
    assert result.places == (1,)
