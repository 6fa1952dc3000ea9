r"""Math that is wrong: where it is, what is said of it, and that nothing harmful gets through."""

from __future__ import annotations

import multiprocessing
import re
from html import escape
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from site_builder.katex import MathError, render


def fault(tex: str, display: bool = False, macros: dict[str, str] | None = None) -> MathError:
    with pytest.raises(MathError) as caught:
        render(tex, display, macros)
    return caught.value


# The expression, the part of it where the error is, what the message says.
FAULTS = [
    (r"a + \undefined + b", r"\undefined", r"The command \undefined is unknown"),
    (r"\frac{a}{b", "{@2", "An opening brace is never closed"),
    (r"{a + {b} + c", "{@1", "An opening brace is never closed"),
    (r"a + b} + c", "}", "A closing brace was never opened"),
    (r"\left( a", r"\left", r"A \left has no \right"),
    (r"a \right)", r"\right", r"A \right has no \left"),
    (r"\begin{matrix} a", r"\begin{matrix}", r"A \begin has no \end"),
    (r"a \end{matrix}", r"\end", r"An \end has no \begin"),
    (r"\begin{matrix}a\end{pmatrix}", r"\end", r"\begin{matrix} ends with \end{pmatrix}"),
    (r"\begin{matirx}a\end{matirx}", "{matirx}@1", "The environment matirx is unknown"),
    ("a & b", "&", "An & stands outside of an environment"),
    ("a # b", "#", "A # stands outside of a macro"),
    ("a $ b", "$", "A dollar sign stands inside math"),
    ("50% of all", "% of all", "A % turns the rest into a comment"),
    ("x_a_b", "_@2", "Double subscript"),
    ("x^a^b", "^@2", "Double superscript"),
    ("x^", "^", "^ lacks what it applies to"),
    (r"x = \frac{a}", "", "The last command lacks an argument"),
    (r"\text{a_b}", "_", "_ has no place here"),
    (r"\sqrt[3{x}", "", "The last command lacks an argument"),
    (r"\begin{array}{q}a\end{array}", "q", "Unknown column alignment: q"),
    (r"\begin{aligned}a\\b\end{aligned} \middle| c", "|", r"\middle without preceding \left"),
    (r"\rule{1}{1em}", "{1}", "Invalid size: '1'"),
    (r"\textcolor{#12}{x}", "{#12}", "Invalid color: '#12'"),
    ("a \x00 b", "\x00", "Unexpected character: 'U+0000'"),
    ("a \ud800 b", "\ud800", "Unexpected character: 'U+D800'"),
    (r"a \over b \over c", r"\over@2", "Only one infix operator per group"),
    (r"\verb|a", r"\verb", r"\verb ended by end of line"),
]


def place(tex: str, part: str) -> tuple[int, int]:
    """Position and length of the n-th occurrence of `part@n`; of the end, where nothing is named."""
    if not part:
        return len(tex), 0
    text, _, ordinal = part.partition("@")
    position = -1
    for _ in range(int(ordinal or 1)):
        position = tex.index(text, position + 1)
    return position, len(text)


@pytest.mark.parametrize(("tex", "part", "message"), FAULTS)
@pytest.mark.parametrize(
    "before", ["", "  \n", "𝒳 + \\text{𠮷野家 😀} + ", "\\begin{gather}𝒳\\end{gather}"], ids=repr
)
def test_an_error_has_its_place_in_the_author_s_text(tex: str, part: str, message: str, before: str) -> None:
    error = fault(before + tex, display=True)
    assert error.message.startswith(message)
    assert error.code == "math-syntax"
    assert (error.position - len(before), error.length) == place(tex, part)


def test_an_error_inside_a_starred_environment_is_found_where_it_was_written() -> None:
    tex = "\\begin{align}\n  a &= b \\\\\n  c &= \\undefined\n\\end{align}"
    error = fault(tex, display=True)
    assert tex[error.position : error.position + error.length] == r"\undefined"


def test_an_environment_is_named_as_the_author_named_it() -> None:
    error = fault(r"a \begin{align} b \end{align}")
    assert error.message == "The environment align stands in the middle of a line"
    assert error.position == 2
    assert "align*" in fault(r"\begin{align*}b\end{align*}").message


def test_an_error_in_a_page_macro_is_placed_at_its_use() -> None:
    error = fault(r"x + \outer", macros={"outer": r"\inner", "inner": r"\mathbb{\undefined}"})
    assert (error.position, error.length) == (4, 6)
    assert error.message == r"The command \undefined is unknown (in the macro \inner)"


@pytest.mark.parametrize(
    ("tex", "hint"),
    [
        (r"\aplha", r"did you mean \alpha?"),
        (r"\lamda", r"did you mean \lambda?"),
        (r"\mathrmm{x}", r"did you mean \mathrm?"),
        (r"\softmx", r"did you mean \softmax?"),
        (r"\begin{algined}\end{algined}", "did you mean aligned?"),
        (r"\hrefs", ""),
        (r"\nothinglikeit", ""),
        (r"\label{x}", r"set a number with \tag and link to the section"),
    ],
)
def test_a_slip_of_the_fingers_is_recognised(tex: str, hint: str) -> None:
    assert fault(tex, True, {"softmax": "x"}).hint == hint


@pytest.mark.parametrize("tex", ["x % note\n", "x % note\n+ y", r"50\% of"])
def test_a_comment_that_ends_with_its_line_is_fine(tex: str) -> None:
    assert f">{tex.strip()}</annotation>" in render(tex)


def test_an_error_survives_the_way_between_processes() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool, pytest.raises(MathError) as caught:
        pool.apply(render, (r"x + \aplha",))
    assert (caught.value.position, caught.value.length, caught.value.hint) == (4, 6, r"did you mean \alpha?")


@pytest.mark.parametrize(
    "tex",
    [
        r"\href{javascript:alert(1)}{x}",
        r"\href{https://example.org}{x}",
        r"\href{java&#115;cript:alert(1)}{x}",
        r"\href{}{x}",
        r"\url{javascript:alert(1)}",
        r"\includegraphics{https://example.org/x.png}",
        r"\htmlStyle{position: fixed}{x}",
        r"\htmlId{main}{x}",
        r"\htmlClass{bar}{x}",
        r"\htmlData{name=value}{x}",
    ],
)
@pytest.mark.parametrize(
    "around", ["%s", r"\text{%s}", r"x^%s", r"\frac%s2", r"\def\a{%s}\a", r"\sqrt[%s]{2}"]
)
def test_commands_that_reach_outside_of_the_math_are_errors(tex: str, around: str) -> None:
    error = fault(around.replace("%s", tex))
    command = re.match(r"\\\w+", tex)
    assert command is not None
    assert error.message == rf"The command {command[0]} is not allowed in math"
    assert error.length == len(command[0])


@pytest.mark.parametrize(
    "tex", [r"\let\h=\href\h{javascript:alert(1)}{x}", r"\csname href\endcsname{javascript:x}{y}"]
)
def test_a_detour_leads_to_the_same_error(tex: str) -> None:
    assert isinstance(outcome(tex, display=False), MathError)


@pytest.mark.parametrize(
    "tex", [r"\text{<script>alert(1)</script>}", "a<b>c", r"""\text{\&amp;"'}""", r"\verb|<img onerror=x>|"]
)
def test_markup_in_an_expression_is_text(tex: str) -> None:
    assert not {"script", "img"} & set(elements(render(tex)))


def elements(html: str) -> list[str]:
    found: list[str] = []
    reader = HTMLParser()
    reader.handle_starttag = lambda tag, attrs: found.append(tag)  # type: ignore[method-assign]
    reader.feed(html)
    return found


def test_colours_cannot_carry_declarations() -> None:
    assert "Invalid color" in fault(r"\textcolor{red;position:fixed}{x}").message


COMMANDS = [
    *[
        r"\frac",
        r"\sqrt",
        r"\left(",
        r"\right)",
        r"\text",
        r"\mathbb",
        r"\def\a",
        r"\a",
        r"\tag{1}",
        r"\href",
        r"\sum",
    ],
    *[
        r"\begin{align}",
        r"\end{align}",
        r"\begin{matrix}",
        r"\end{matrix}",
        r"\limits",
        r"\over",
        r"\char",
        r"\hline",
    ],
    *[
        r"\color{red}",
        r"\verb|x|",
        r"\undefined",
        r"\operatorname",
        r"\\",
        r"\,",
        "\x00",
        "\u200b",
        "日",
        "😀",
        "é",
    ],
]
PIECES = st.sampled_from([*COMMANDS, *"{}[]^_&%#$~'\"@x1+ \n"])


def outcome(tex: str, display: bool) -> str | MathError:
    try:
        return render(tex, display)
    except MathError as error:
        return error


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=12).map("".join), st.booleans())
def test_whatever_is_typed_is_typeset_or_has_a_fault_with_a_place(tex: str, display: bool) -> None:
    result = outcome(tex, display)
    if isinstance(result, str):
        assert f">{escape(tex.strip())}</annotation>" in result
    else:
        assert 0 <= result.position <= result.position + result.length <= len(tex)
        assert result.message.isprintable()
        assert not result.message.endswith(".")
