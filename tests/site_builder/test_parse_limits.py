"""Long files, deep trees, and files that Python itself will not read."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from site_builder.model import Kind, Page, SourceFile
from site_builder.parse import encode, parse


def page_of(text: str) -> Page:
    return parse(SourceFile("module.py", "module.py", "package.module", "module.html", False), text.encode())


def test_a_tree_as_deep_as_python_reads_is_cut_like_any_other() -> None:
    branches = 800
    page = page_of("if x == 0:\n    pass\n" + "# other\nelif x == 1:\n    y = '''\n# no'''\n" * branches)
    assert page.diagnostics == ()
    assert len(page.sections) == branches + 1
    assert page.sections[1].anchor == "module:elif"


def test_a_sum_of_many_terms_over_many_lines_is_cut() -> None:
    page = page_of("x = (\n    0\n" + "    # more\n    + 1\n" * 800 + ")\n")
    assert page.diagnostics == ()
    assert [section.anchor for section in page.sections[:3]] == ["module:x", "module:part", "module:part-2"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x = " + " + ".join("1" * 20000) + "\n", id="sum"),
        pytest.param("x = " + "-" * 100_000 + "1\n", id="signs"),
        pytest.param("x = a" + ".a" * 50_000 + "\n", id="attributes"),
        pytest.param("x = " + "(" * 1000 + "\n", id="parentheses"),
        pytest.param("x = " + "lambda: " * 20_000 + "1\n", id="lambdas"),
        pytest.param("if a:\n    pass\n" + "elif a:\n    pass\n" * 20_000, id="elif"),
        pytest.param("".join(" " * i + "if a:\n" for i in range(200)), id="blocks"),
        pytest.param("x = " + "9" * 5000 + "\n", id="digits"),
    ],
)
def test_what_python_finds_too_deep_is_a_page_of_code(text: str) -> None:
    page = page_of(text)
    assert [fault.code for fault in page.diagnostics] == ["python-syntax"]
    assert [section.kind for section in page.sections] == [Kind.CODE]
    assert encode(page) == text.encode()


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("x = 1\ny = (\n", (2, 5)),
        ("x = 1\n    y = 2\n", (2, 5)),
        ("def f():\n\treturn 1\n        return 2\n", (3, 9)),
        ("é = 'é\n", (1, 5)),
        ("print 'hello'\n", (1, 1)),
        ('"""open\n', (1, 1)),
    ],
)
def test_a_syntax_error_is_reported_where_python_sees_it(text: str, place: tuple[int, int]) -> None:
    page = page_of(text)
    assert [(fault.line, fault.column, fault.code) for fault in page.diagnostics] == [
        (*place, "python-syntax")
    ]
    assert page.title == "module"


def test_warnings_about_the_source_are_no_concern_of_the_parser() -> None:
    program = (
        "from site_builder.model import SourceFile\n"
        "from site_builder.parse import parse\n"
        "page = parse(SourceFile('m.py', 'm.py', 'm', 'm.html', False), b'x = \"\\\\d\" is 1\\n')\n"
        "assert not page.diagnostics, page.diagnostics\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)


def long_file(classes: int) -> str:
    return "".join(
        f"# Note {i}.\n\n@decorator\n# More.\nclass C{i}:\n    '''Doc.\n\n    # text\n    '''\n"
        f"    x = (1,\n        # inner\n        {i})\n"
        f"    def f(self):\n        # Why.\n        return 'é'\n\n"
        for i in range(classes)
    )


@pytest.mark.exhaustive
def test_twenty_thousand_lines_take_time_in_proportion() -> None:
    page_of(long_file(10))
    seconds = []
    for classes in (125, 1250):
        start = time.process_time()
        page = page_of(long_file(classes))
        seconds.append(time.process_time() - start)
        assert page.diagnostics == ()
    assert len(page.lines) == 20_000
    # Ten times the lines; a quadratic step would make it a hundred.
    assert seconds[1] < 30 * seconds[0]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("#\n\n" * 10_000, id="separators"),
        pytest.param("def f():\n    pass\n" + "    # note\n\n" * 10_000, id="notes at the end of a function"),
        pytest.param("# note\n" + "# noqa\n" * 20_000 + "def f(): pass\n", id="pragmas"),
        pytest.param("x = (" + "\n'a'\n# note\n" * 5_000 + ")\n", id="notes inside a string"),
        pytest.param("x = '''\n" + "# text\n" * 20_000 + "'''\n", id="comments in a string"),
        pytest.param("@a\n# note\n" * 5_000 + "def f(): pass\n", id="decorators"),
        pytest.param('"""' + "`a``b```c $d " * 20_000 + '"""\n', id="code spans"),
        pytest.param("a = " * 10_000 + "1\n", id="targets"),
        pytest.param("x = '" + "é" * 500_000 + "'\n", id="a long line"),
    ],
)
def test_no_shape_of_file_takes_long(text: str) -> None:
    start = time.process_time()
    page = page_of(text)
    assert time.process_time() - start < 15
    assert encode(page) == text.encode()
