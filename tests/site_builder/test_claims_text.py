"""Which texts of a page are claims: no example runs here."""

from __future__ import annotations

from pathlib import Path

import pytest

from site_builder.claims import Checked, check
from site_builder.model import SourceFile
from site_builder.parse import parse


def checked(docstring: str, *, code: str = "    pass", raw: bool = True) -> Checked:
    source = f'def f(x, mask):\n    {"r" if raw else ""}"""{docstring}"""\n{code}\n'
    file = SourceFile("pkg/m.py", "", "pkg.m", "m.html", is_package=False)
    return check(parse(file, source.encode()), None)


def claimed(docstring: str) -> list[tuple[str, list[str]]]:
    found = checked(docstring)
    assert found.diagnostics == ()
    return [(one.claim.name, [axis.text for axis in one.claim.axes]) for one in found.claims]


@pytest.mark.parametrize(
    ("text", "axes"),
    [
        ("[]", []),
        ("[7]", ["7"]),
        ("[ seq_len,batch_size ]", ["seq_len", "batch_size"]),
        ("[..., d_model]", ["...", "d_model"]),
        ("[heads*d_k, (a + 2)*b, n//2]", ["heads * d_k", "(a + 2) * b", "n // 2"]),
        ("[größe,]", ["größe"]),
    ],
)
def test_axes_are_names_numbers_dots_and_arithmetic(text: str, axes: list[str]) -> None:
    assert claimed(f"`x: {text}`") == [("x", axes)]


@pytest.mark.parametrize(
    "code",
    [
        "x: int",
        "x[1:2]",
        "x: list[int]",
        "x: ['a', 'b']",
        "x: {1: [2]}",
        "x: [n for n in y] = z",
        "lambda x: [x]",
        "else: [x]",
        "x : y",
        "`x: [n]`",
    ],
)
def test_other_code_claims_nothing(code: str) -> None:
    assert claimed(f"`` {code} ``") == []


@pytest.mark.parametrize(
    "text",
    [
        "x: [a, b",
        "x: [a, b] or [1, b]",
        "x: [a b]",
        "x: [-1]",
        "x: [a / 2]",
        "x: [a, [b]]",
        "x: [f(a)]",
        "x: [1.5]",
        "x: [..., a, ...]",
        "x: [self.heads]",
    ],
)
def test_what_begins_like_a_claim_and_is_none_is_reported_where_it_stands(text: str) -> None:
    found = checked(f"\n    The mask:\n    one `{text}` here.\n    ")
    assert [(one.line, one.column, one.code) for one in found.diagnostics] == [(4, 9, "claim-syntax")]
    assert text in found.diagnostics[0].message
    assert found.claims == ()


def test_only_code_that_the_page_shows_as_inline_code_claims() -> None:
    text = """
    ```
    `x: [fence]`
    ```

        `x: [indented]`

    $$`x: [display]`$$

    | table |
    |---|
    | `x: [cell]` |

    >>> "`x: [example]`"
    '`x: [example]`'

    > `x: [quoted]` and $`x: [formula]`$
    """
    assert claimed(text) == [("x", ["cell"]), ("x", ["quoted"])]


def test_a_claim_may_go_on_in_a_second_line() -> None:
    found = checked("`x: [seq_len,\n    d_model]`")
    assert [one.claim.text for one in found.claims] == ["x: [seq_len, d_model]"]
    assert (
        found.verdict(0, "x: [seq_len,\nd_model]") == found.verdict(0, "x: [seq_len, d_model]") == "unchecked"
    )
    assert found.verdict(1, "x: [seq_len, d_model]") is None
    assert found.verdict(0, "x: [seq_len]") is None


def test_a_claim_knows_its_place_in_the_file() -> None:
    found = checked("\n    First.\n\n    * ` return: [n]`, and `mask.key: [n]`\n    ")
    places = [(one.claim.position.line, one.claim.position.column) for one in found.claims]
    assert places == [(5, 7), (5, 27)]


def test_the_hint_names_what_is_near() -> None:
    found = checked("`maks: [n]`")
    assert [(one.code, one.hint) for one in found.diagnostics] == [("claim-unknown", "did you mean mask?")]


def test_a_docstring_does_not_speak_of_variables() -> None:
    found = checked("`y: [n]`", code="    y = x")
    assert [one.code for one in found.diagnostics] == ["claim-unknown"]


def test_pages_without_python_claim_nothing(tmp_path: Path) -> None:
    essay = SourceFile("pkg/m.md", "", "pkg.m", "m.html", is_package=False, is_markdown=True)
    assert check(parse(essay, b"`x: [n]` and `x: [n`"), None) == Checked()
    broken = SourceFile("pkg/m.py", "", "pkg.m", "m.html", is_package=False)
    assert check(parse(broken, b"# `x: [n]`\nx = (\n"), None).diagnostics == ()


def test_what_opens_a_module_claims_only_of_its_variables() -> None:
    file = SourceFile("pkg/m.py", "", "pkg.m", "m.html", is_package=False)
    source = b'"""`symbols: [query, self.query]`, `table: [n]`, `other: [n`"""\n\ntable = 1\n'
    found = check(parse(file, source), None)
    assert [one.claim.name for one in found.claims] == ["table"]
    assert found.diagnostics == ()
