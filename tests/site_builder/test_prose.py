"""What the rendering of prose gives besides HTML, and what its callbacks are asked."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from site_builder import blocks, katex, prose
from site_builder.model import BlockMark, BlockState, Position, Prose, ProseLine
from site_builder.prose import LinkError, Outcome, Rendered

DOCSTRING = '''\
class Attention:
    def forward(self):
        """
{}
        """
'''


def docstring(text: str, raw: bool = True) -> Prose:
    """The text as the docstring of a method, where it begins in line 4 and column 9."""
    source = DOCSTRING.format("\n".join(8 * " " + line for line in text.split("\n"))).split("\n")
    return Prose(
        tuple(ProseLine(source[n][8:], "mha.py", n + 1, 9, raw) for n in range(3, 3 + text.count("\n") + 1))
    )


def settle(target: str) -> str:
    """Of the site's pages there is only one."""
    if target.startswith(("https:", "mailto:")):
        return target
    if target.startswith("pkg."):
        raise LinkError("link-unknown-object", f"nothing is called {target!r}", "name it in full")
    if target != "mha.html":
        raise LinkError("link-broken", f"no page at {target!r}", "look again")
    return f"../{target}"


def render(
    text: Prose | str,
    typeset: Callable[[str, bool], str] = lambda tex, display: f"<math>{tex}</math>",
    link: Callable[[str], str] = settle,
    prefix: str = "p",
    **options: object,
) -> Rendered:
    text = docstring(text) if isinstance(text, str) else text
    return prose.render(text, typeset=typeset, link=link, prefix=prefix, **options)  # type: ignore[arg-type]


def faults(text: Prose | str, typeset: Callable[[str, bool], str] | None = None) -> list[str]:
    found = render(text, typeset) if typeset else render(text)
    return [f"{d.line}:{d.column} {d.code}" for d in found.diagnostics]


# --- links ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("see\nthe [page](gone.html)", "5:20"),
        ("* a\n  [b *c*](<gone.html> 'T')", "5:20"),
        ("> | a |\n> |---|\n> | `x|y` [b](gone.html) |", "6:23"),
        ("# [a](gone.html)", "4:15"),
        ("[a][x]\n\n> [x]: gone.html", "6:16"),
        ("![a](gone.png)", "4:14"),
        ('a <a href="gone.html">b</a>', "4:20"),
        ("<div>\n<img\n src='gone.png'>\n</div>", "6:15"),
        ("a[^1]\n\n[^1]: [b](gone.html)", "6:19"),
        ("$x$ `y` [a](gone.html)", "4:21"),
        ("a\n: [b](gone.html)", "5:15"),
    ],
)
def test_a_broken_link_is_reported_where_its_address_was_typed(text: str, place: str) -> None:
    assert faults(text) == [f"{place} link-broken"]


def test_the_text_of_a_broken_link_stays() -> None:
    assert render("a [b `c`](gone.html) d ![e](gone.png)").html == "<p>a b <code>c</code> d e</p>"
    assert render('a <a href="gone.html" class="x">b</a>').html == '<p>a <a class="x">b</a></p>'


def test_a_diagnostic_says_what_the_callback_said() -> None:
    (found,) = render("[a](pkg.mod.Name)").diagnostics
    assert str(found) == "mha.py:4:13: link-unknown-object nothing is called 'pkg.mod.Name' — name it in full"


def test_every_kind_of_link_is_settled() -> None:
    asked: list[str] = []

    def note(target: str) -> str:
        asked.append(target)
        return f"to-{len(asked)}"

    text = (
        "[a](b.html) <https://c.d> <e@f.gh> ![i](j.png) [k][l] <a href='m&amp;n'>o</a>\n\n<img src=p.svg>\n\n"
        "[l]: q\\_r.html"
    )
    rendered = render(text, link=note)
    assert asked == ["b.html", "https://c.d", "mailto:e@f.gh", "j.png", "q_r.html", "m&n", "p.svg"]
    assert all(f'"to-{n}"' in rendered.html for n in range(1, 8))


def test_an_address_is_written_as_the_callback_gives_it() -> None:
    assert render("[a](mha.html)", link=lambda target: 'x?a=1&b="2"').html == (
        '<p><a href="x?a=1&amp;b=&quot;2&quot;">a</a></p>'
    )


# --- math -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (r"so $a + \oops$ is", "4:17"),
        ("a\n\n* b\n  $$\n  x +\n  \\oops\n  $$", "9:11"),
        ("> \\begin{align}\n> x &= \\oops\n> \\end{align}", "5:16"),
        ("| a |\n|---|\n| $|\\oops|$ |", "6:13"),
        ("a $b +\n\\oops$ c", "5:9"),
        ("text $$\\oops$$ text", "4:16"),
        ("\\begin{multline}\n\\oops\n\\end{multline}", "5:9"),
        ("# $\\oops$", "4:12"),
        ("a[^1]\n\n[^1]: b\n    $\\oops$", "7:14"),
    ],
)
def test_a_fault_in_math_is_reported_at_its_character(text: str, place: str) -> None:
    def typeset(tex: str, display: bool) -> str:
        return katex.render(tex, display)

    assert faults(text, typeset) == [f"{place} math-syntax"]


def test_a_faulty_formula_is_shown_as_typed_with_what_is_wrong() -> None:
    def typeset(tex: str, display: bool) -> str:
        raise katex.MathError('The command "x" is unknown', 0, 1, "math-syntax", "spell it out")

    inline = '<code class="bad-math" title="The command &quot;x&quot; is unknown">$a&lt;b$</code>'
    display = '<code class="bad-math" title="The command &quot;x&quot; is unknown">$$a&lt;b$$</code>'
    assert render("$a<b$", typeset).html == f"<p>{inline}</p>"
    assert render("$$a<b$$", typeset).html == f'<p><span class="eq">{display}</span></p>'
    assert render("$a<b$", typeset).diagnostics[0].hint == "spell it out"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a $$ b", "4:11"),
        ("a\n$$\nb\n\nc", "5:9"),
        ("* a\n  \\begin{align}\n  b", "5:11"),
        ("$$a$$ and $$ b", "4:19"),
        ("| a |\n|---|\n| $$ |", "6:11"),
    ],
)
def test_math_that_never_ends_is_reported_where_it_begins(text: str, place: str) -> None:
    assert faults(text) == [f"{place} math-unclosed"]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (r"by $\sqrt{d_k} or so", "4:12"),
        ("a\n$n^2 d grows", "5:9"),
        ("the $softmax(QK^T) of it", "4:13"),
        ("for $x_i the", "4:13"),
        ("for $a_b and $c$", "4:13"),
        (r"with $HOME and $_ it is $\sqrt{x} or more", "4:33"),
        ("with $HOME and $x$ it is $n^2 or more", "4:34"),
        ("let $x + y $ be", "4:13"),
        ("where $x$ is one and $y the other", "4:30"),
        ("where $x is one and $y$ the other", "4:15"),
        ("* a\n* $x$, and then \\sqrt{d_k}$.", "5:35"),
        ("| $a$ and $b |\n|---|", "4:19"),
    ],
)
def test_a_single_dollar_is_reported_where_it_can_only_be_meant_as_math(text: str, place: str) -> None:
    assert faults(text) == [f"{place} math-unclosed"]


@pytest.mark.parametrize(
    "text",
    [
        "$HOME and $PATH, for $5 or US$6. `$$` \\$\\$ $$$ \\begin{verbatim}",
        "costs $5 and $7, or $5-$7",
        "20$ or 30$.",
        "A$ or C$.",
        "$x and $y, ${HOME}, ${x}, $(pwd), $1, $@, $_, $i-th, $my_name, $a_b_c",
        r"^\d+$, ^foo$, \bfoo$, '$', $\n, \$x_{i}, `$x^2`, C:\Users\$HOME, C:\Users and $HOME",
        "$a_b, and then $c_d too",
        "$_ and $x^2, or ${name} and $x_i",
        "$x_1 + $my_name, $PATH and $n^2 d",
        "With $x$ it costs $5 or US$, and `$y` is $name.",
        "See [this](a.html?b=$x_{i}) and <https://a.example/$x^2>.",
    ],
)
def test_shell_variables_prices_and_patterns_are_no_fault(text: str) -> None:
    assert [fault for fault in faults(text) if "math" in fault] == []


def test_a_backslash_in_math_is_reported_once_where_python_would_read_it() -> None:
    text = "A \\* b and `\\t` and\n$x + \\theta$ and $\\beta$\n\n$$\\alpha$$"
    (found,) = render(docstring(text, raw=False)).diagnostics
    assert (found.line, found.column, found.code) == (5, 14, "math-escape")
    assert 'r"""' in found.hint
    assert render(docstring(text, raw=True)).diagnostics == ()


def test_environments_that_number_their_rows_reach_katex_as_typed_and_multline_as_gather() -> None:
    asked: list[tuple[str, bool]] = []

    def typeset(tex: str, display: bool) -> str:
        asked.append((tex, display))
        return ""

    render("$a$\n\\begin{align}\nb\n\\end{align}\n\\begin{multline}c\\end{multline}", typeset)
    assert asked == [
        ("a", False),
        ("\\begin{align}\nb\n\\end{align}", True),
        ("\\begin{gather}c\\end{gather}", True),
    ]


# --- headings ---------------------------------------------------------------------------------------------------


def test_headings_are_given_with_their_markup_and_without() -> None:
    (heading,) = render("## The *width* $d_k$ of `x`").headings
    assert (heading.level, heading.id, heading.text) == (2, "the-width-d_k-of-x", "The width d_k of x")
    assert heading.html == "The <em>width</em> <math>d_k</math> of <code>x</code>"


def test_headings_take_the_ids_they_are_given_and_an_empty_one_is_none() -> None:
    rendered = render("# A\n## B\n## C", heading_ids=("", "bee"))
    assert rendered.html == '<h1>A</h1>\n<h2 id="bee">B</h2>\n<h2 id="c">C</h2>'
    assert [heading.id for heading in rendered.headings] == ["", "bee", "c"]


def test_ids_go_by_the_order_of_the_text_though_notes_are_shown_last() -> None:
    rendered = render("[^1]: # A\n\n# B", heading_ids=("first", "second"))
    assert {heading.id: heading.text for heading in rendered.headings} == {"first": "A", "second": "B"}


@pytest.mark.parametrize(
    ("heading", "slug"),
    [
        ("Multi-head attention", "multi-head-attention"),
        ("`forward` and *back*", "forward-and-back"),
        ("See [this](gone.html)!", "see-this"),
        ("$\\sqrt{d_k}$", "sqrtd_k"),
        ("注意機構 とは？", "注意機構-とは"),
        ("Ｆｕｌｌ width", "full-width"),
        ("a <b>c</b>", "a-c"),
        ("…", "heading"),
    ],
)
def test_a_slug_is_made_of_the_words_of_any_script(heading: str, slug: str) -> None:
    assert prose.slugs(docstring(f"# {heading}")) == (slug,)


def test_slugs_are_those_of_the_rendered_headings_and_differ() -> None:
    text = docstring("# A\n\nA\n===\n\n> # A\n\n# A-2")
    slugs = prose.slugs(text)
    assert slugs == ("a", "a-2", "a-3", "a-2-2")
    assert tuple(heading.id for heading in render(text).headings) == slugs


# --- footnotes --------------------------------------------------------------------------------------------------


def test_footnotes_of_two_sections_have_ids_of_their_own() -> None:
    first, second = (render("a[^1]\n\n[^1]: b", prefix=prefix).html for prefix in ("A.f", "A.g:x"))
    assert 'href="#fn-A.f-1"' in first
    assert 'id="fn-A.f-1"' in first
    assert 'id="fn-A.g:x-1"' in second


def test_a_footnote_that_is_nowhere_is_reported() -> None:
    assert faults("a\nb[^note] `[^code]` $[^2]$ [^a-z]* \\[^x]\n\n    [^y]") == ["5:10 footnote-undefined"]


# --- examples ---------------------------------------------------------------------------------------------------


def test_each_step_of_an_example_shows_what_came_of_it() -> None:
    asked: list[tuple[str, int]] = []

    def example(source: str, place: Position) -> Outcome:
        asked.append((source, place.line))
        return [Outcome("failed", "A\n\nB\n", "ValueError: C"), Outcome("idle"), Outcome("passed", "D")][
            len(asked) - 1
        ]

    rendered = render(
        "* text\n  >>> for x in y:\n  ...     z\n  ...\n  a\n    b\n  >>> 1  # doctest: +SKIP\n\n  >>> 2",
        example=example,
        example_words={"failed": "not as expected", "partly": "in part"},
    )
    assert asked == [("for x in y:\n    z\n", 5), ("1  # doctest: +SKIP", 10), ("2", 12)]
    shown = re.findall(r'class="(out[^"]*)"[^>]*>([^<]*)<', rendered.html)
    assert shown[:4] == [
        ("out fault", "A\n"),
        ("out fault", "\n"),
        ("out fault", "B\n"),
        ("out fault", "ValueError: C\n"),
    ]
    assert ("out", "D\n") in shown
    assert '<figcaption class="idle"><span>in part</span></figcaption>' in rendered.html


def test_each_of_several_steps_that_went_wrong_says_so_and_what_was_expected_beside_itself() -> None:
    outcomes = iter(
        [
            Outcome("failed", "1"),
            Outcome("passed"),
            Outcome("failed", "3"),
            Outcome("failed", "", "Bang", stopped=8),
        ]
    )
    rendered = render(
        ">>> a\n2\n<BLANKLINE>\n>>> b\n>>> c\n>>> d\n5",
        example=lambda source, place: next(outcomes),
        example_words={
            "failed": "wanted:",
            "unexpected": "wanted nothing",
            "stopped": "stopped",
            "passed": "as shown",
        },
    )
    shown = re.findall(
        r'class="(in|out|out fault|verdict|want)"[^>]*>(?:<span[^>]*>[^<]*</span>)*([^<]*)', rendered.html
    )
    assert [(cls, text.strip()) for cls, text in shown if cls != "in" and text.strip()] == [
        ("out fault", "1"),
        ("verdict", "wanted:"),
        ("want", "2"),
        ("out fault", "3"),
        ("verdict", "wanted nothing"),
        ("out fault", "Bang"),
        ("verdict", "stopped"),
        ("want", "5"),
    ]
    places = [rendered.html.index(f">{text}\n<") for text in ("wanted:", "wanted nothing", "stopped")]
    prompts = [found.start() for found in re.finditer("&gt;&gt;&gt; ", rendered.html)]
    assert prompts[0] < places[0] < prompts[1]
    assert prompts[2] < places[1] < prompts[3] < places[2]
    assert "figcaption" not in rendered.html


# --- translation ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "element"),
    [
        ("a", "<p{}>a</p>"),
        ("# a", '<h1 id="a"{}>a</h1>'),
        ("* a", "<ul>\n<li{}>a</li>\n</ul>"),
        ("* a\n\n  $$x$$", '<ul>\n<li><p{}>a</p>\n<p><span class="eq"><math>x</math></span></p></li>\n</ul>'),
        ("* a\n  > *b*", "<ul>\n<li><span{}>a</span>\n<blockquote>\n<p>zwei</p>\n</blockquote></li>\n</ul>"),
        ("a\n: b", "<dl>\n<dt{}>a</dt>\n<dd>zwei</dd>\n</dl>"),
    ],
)
def test_a_block_left_in_the_source_language_says_so_on_its_element(text: str, element: str) -> None:
    mark = ' lang="fr" class="fallback" data-state="stale"'
    text_left = blocks.replace(
        docstring(text), {1: (ProseLine("zwei", "de.po", 1, 1),)}, {0: BlockMark(BlockState.STALE)}
    )
    assert render(text_left, source_lang="fr").html == element.format(mark)


def test_only_the_cell_that_is_missing_is_marked() -> None:
    german = tuple(ProseLine("Wort", "de.po", 1, 1) for _ in range(1))
    text = blocks.replace(
        docstring("| a | b |\n|---|:-:|\n| c | d |\n: e"),
        dict.fromkeys((0, 1, 2), german),
        dict.fromkeys((3, 4), BlockMark(BlockState.MISSING)),
    )
    shown = render(text).html
    assert shown.count("Wort") == 3
    assert '<td lang="en" class="center fallback" data-state="missing">d</td>' in shown
    assert '<caption lang="en" class="fallback" data-state="missing">e</caption>' in shown
    assert shown.count("lang=") == 2


def test_marks_by_line_are_enough_for_prose_that_was_not_exchanged() -> None:
    text = docstring("a\n\nb")
    marked = Prose(text.lines, ((2, BlockState.MISSING),))
    assert render(marked).html == '<p>a</p>\n<p lang="en" class="fallback" data-state="missing">b</p>'


def test_a_fault_in_a_translation_is_reported_in_the_catalogue() -> None:
    text = blocks.replace(docstring("* a\n* b"), {1: (ProseLine("[x](gone.html)", "de.po", 40, 8),)})
    (found,) = render(text).diagnostics
    assert (found.path, found.line, found.column) == ("de.po", 40, 12)


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "a <script>alert(1)</script> b",
        "<img src=mha.html onerror=alert(1)>",
        "[a](javascript:alert(1))",
        "<a href=' javascript:alert(1)'>a</a>",
        "<svg onload=alert(1)></svg>",
        "<div style='position:fixed'>a</div>",
        "<iframe src=mha.html></iframe>",
        "<form action=mha.html><button>a</button></form>",
        "<p id=main>a</p>",
        "<style>p{}</style>",
        "<scr<script>ipt>alert(1)</script>",
        "# a <object data=mha.html></object>",
        "[a][b]\n\n[b]: data:text/html,x",
        "<javascript:alert(1)>",
    ],
)
def test_a_stranger_cannot_bring_anything_that_runs_or_covers_the_page(text: str) -> None:
    rendered = render(text, link=lambda target: target, trusted="another.md")
    for shown in (rendered.html, *(heading.html for heading in rendered.headings)):
        tags = [part.split(">")[0].lower() for part in shown.split("<")[1:]]
        bad = (
            "script",
            "javascript",
            "data:",
            "onload",
            "onerror",
            "style",
            "iframe",
            "form",
            "object",
            "svg",
            "id=main",
        )
        assert not [tag for tag in tags if any(word in tag for word in bad)]


def test_a_strangers_harmless_html_passes_and_so_does_all_that_is_ours() -> None:
    text = (
        "# T\n\nH<sub>2</sub>O $x$ `<b>` [a](mha.html) <br> a[^1]\n\n| a |\n|:-:|\n| $y$ |\n\n```python\nx\n```\n\n"
        ">>> 1\n1\n\n3. a\n\nt\n: d\n\n> q\n\n[^1]: b\n"
    )
    ours = render(text).html
    assert render(text, trusted="another.md").html.replace("\xa0", "&nbsp;") == ours


# --- text -------------------------------------------------------------------------------------------------------


def test_the_text_for_search_is_what_a_reader_reads() -> None:
    text = (
        "# The *head*\n\nA **b** `c` $d_k$ [e](mha.html) &lt; \\* <b>f</b> x[^1]  \ng\n\n* h\n\n| i | j |\n|---|---|\n"
        "\n$$k^2$$\n\n```\nl\n```\n\n>>> m\nn\n\n![o](mha.html)\n\n[^1]: p"
    )
    assert render(text).text == ("The head\nA b c d_k e < * f x\ng\nh\ni\nj\nk^2\nl\nm\nn\no\np")


def test_prose_without_lines_is_empty() -> None:
    assert render(Prose()) == Rendered("")


# --- size -------------------------------------------------------------------------------------------------------


def test_one_instance_serves_many_renderings_and_keeps_nothing() -> None:
    first = render("[a][x] *b*\n\n[x]: mha.html").html
    assert render("[a][x] *b*").html == "<p>[a][x] <em>b</em></p>"
    assert render("[a][x] *b*\n\n[x]: mha.html").html == first
