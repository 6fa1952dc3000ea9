"""What holds for every file, whatever it contains: nothing is lost, doubled or in the wrong place."""

from __future__ import annotations

import ast
import inspect
import io
import os
import sysconfig
import tokenize
import warnings
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from site_builder.model import Kind, Page, ProseLine, SourceFile
from site_builder.parse import encode, parse

BLANK = " \t\f\r\n"
DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def page_of(data: bytes, name: str = "module.py") -> Page:
    return parse(SourceFile(name, name, "package.module", "module.html", False, name.endswith(".md")), data)


def check(data: bytes) -> Page:
    """Everything that is promised of the page of a Python file. Python's own modules are the judges."""
    page = page_of(data)
    check_any(page, data)
    tree = tree_of(data)
    solid = {number for number, line in enumerate(page.lines, 1) if line.strip(BLANK)}
    if tree is None:
        assert {fault.code for fault in page.diagnostics} <= {"python-syntax", "encoding"}
        assert len(page.diagnostics) == 1
        assert [section.kind for section in page.sections] == [Kind.CODE]
        assert solid <= set(page.sections[0].code)
    else:
        assert not [fault for fault in page.diagnostics if not fault.code.startswith("front-")]
        check_display(page, tree, solid)
        check_docstrings(page, tree)
    return page


def check_any(page: Page, data: bytes) -> None:
    """What is promised of the page of any bytes."""
    assert encode(page) == data
    for line in page.lines:
        assert not set("\r\n") & set(line.removesuffix("\n").removesuffix("\r"))
    edges = [1, *(section.end for section in page.sections)]
    assert [section.start for section in page.sections] == edges[:-1]
    assert edges[-1] == len(page.lines) + 1
    assert all(section.start < section.end for section in page.sections)
    check_places(page)
    check_anchors(page)


def check_places(page: Page) -> None:
    for row in [line for section in page.sections for line in section.prose.lines] + list(page.intro.lines):
        here = page.lines[row.line - 1]
        assert here.startswith(row.text, row.column - 1), row
        assert 1 <= row.column <= len(here.rstrip("\r\n")) + 1, row
        assert row.path == page.source.path
    if page.title_position and not page.front.title:
        assert page.lines[page.title_position.line - 1].startswith(page.title, page.title_position.column - 1)
    for fault in page.diagnostics:
        assert 1 <= fault.line <= len(page.lines)
        assert fault.column >= 1


def check_anchors(page: Page) -> None:
    sections = {section.anchor: section for section in page.sections}
    assert len(sections) == len(page.sections)
    for anchor, section in sections.items():
        assert anchor or (section.kind is Kind.MODULE and not section.code)
        assert not anchor or anchor.startswith(section.scope or "module")
    for definition in page.definitions:
        written = page.lines[definition.line - 1][definition.column - 1 :]
        assert written.startswith(definition.name.rpartition(".")[2]) or not written.isascii(), definition
        # A comment inside the header may have cut it: then the section begins further up.
        assert sections[definition.anchor].start <= definition.line


def check_display(page: Page, tree: ast.Module, solid: set[int]) -> None:
    shown = Counter(number for section in page.sections for number in section.code)
    assert set(shown.values()) <= {1}
    for section in page.sections:
        assert list(section.code) == sorted(section.code)
        assert all(section.start <= number < section.end for number in section.code)
        assert {*section.code[:1], *section.code[-1:]} <= solid
    remarks = comment_lines(page)
    if remarks is None:
        return
    documented = {
        number
        for _, statement in docstrings(tree)
        for number in range(statement.lineno, (statement.end_lineno or 0) + 1)
    }
    assert solid - set(shown) <= remarks | documented
    # A comment is either a note or, as a pragma, code. It is never both, and never lost.
    noted = Counter(row.line for section in page.sections for row in section.prose.lines if row.text)
    for number in remarks - documented:
        if page.lines[number - 1].strip(BLANK + "#:"):
            assert shown[number] + noted[number] == 1, number


def check_docstrings(page: Page, tree: ast.Module) -> None:
    """Where no escape, tab or concatenation is involved, a docstring as typed is what Python makes of it."""
    prose: dict[str, list[list[ProseLine]]] = {}
    for section in page.sections:
        prose.setdefault(section.scope, []).append(list(section.prose.lines))
    for name, statement in docstrings(tree):
        source = "".join(page.lines[statement.lineno - 1 : statement.end_lineno])
        simple = not any(mark in source for mark in ("\\", "\t", "\f", "\v", "\r", "#", "\x1c", "\x85"))
        if not name or not simple or sum(source.count(quotes) for quotes in ('"""', "'''")) != 2:
            continue
        # `cleandoc` leaves the blanks at the end of a last line that has no text below it.
        value = inspect.cleandoc(ast.literal_eval(statement.value)).rstrip()
        expected = [line if line.strip() else "" for line in value.split("\n")]
        for rows in prose[name]:
            found = [row.text for row in rows][-len(expected) :]
            if [*found[:-1], *(row.rstrip() for row in found[-1:])] == expected:
                break
        else:
            assert expected == [""], name


def tree_of(data: bytes) -> ast.Module | None:
    """Python's own opinion of the file, which it reads with any line ends."""
    try:
        encoding, _ = tokenize.detect_encoding(
            io.BytesIO(data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")).readline
        )
        text = io.TextIOWrapper(io.BytesIO(data), encoding).read()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def comment_lines(page: Page) -> set[int] | None:
    """The lines of comments and nothing else, as the `tokenize` module sees them; None where it gives up."""
    text = "".join(line.rstrip("\r\n") + "\n" for line in page.lines)
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text, "\n").readline))
    except (tokenize.TokenError, SyntaxError):
        return None
    comments = [token for token in tokens if token.type == tokenize.COMMENT]
    return {token.start[0] for token in comments if not token.line[: token.start[1]].strip(BLANK)}


def docstrings(tree: ast.Module) -> Iterator[tuple[str, ast.Expr]]:
    """The qualified name of everything that has a docstring, and the docstring's statement."""
    waiting: list[tuple[str, ast.AST]] = [("", tree)]
    while waiting:
        name, node = waiting.pop()
        if isinstance(node, (ast.Module, *DEFINITIONS)) and node.body:
            first = node.body[0]
            value = first.value if isinstance(first, ast.Expr) else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(value, ast.Constant)
                and isinstance(value.value, str)
            ):
                yield name, first
        for child in ast.iter_child_nodes(node):
            if isinstance(child, DEFINITIONS):
                waiting.append((f"{name}.{child.name}" if name else child.name, child))
            elif isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)):
                waiting.append((name, child))


# --- text that a machine makes up -----------------------------------------------------------------------------------


@given(st.binary(max_size=200))
@example(b"")
@example(b"\xef\xbb\xbf")
@example(b"\0")
@example(b"# coding: rot13\n")
@example(b"# coding: utf-16\n")
@example(b"# coding: unicode_escape\n'\\ud800'\n")
@example(b"# coding: idna\n")
@example(b"# coding: punycode\n--x\n")
def test_any_bytes_become_a_page_and_come_back(data: bytes) -> None:
    check_any(page_of(data), data)


YAML = (
    "\n",
    "  ",
    "- ",
    "title: ",
    "[",
    "}",
    "'",
    '"',
    "\\ud800",
    "x",
    ": ",
    "&a ",
    "*a",
    "!",
    "\0",
    "#",
    "|",
    "\t",
)
YAML_KEYS = (
    "papers:",
    "symbols:",
    "macros:",
    "order:",
    "redirect_from:",
    "\u2028",
    "\x85",
    "--- ",
    "...",
    "? ",
    "%",
)


@given(st.lists(st.sampled_from(YAML + YAML_KEYS)))
def test_any_front_matter_becomes_a_page(parts: list[str]) -> None:
    data = f"---\n{''.join(parts)}\n---\n# Title\n".encode()
    page = page_of(data, "page.md")
    check_any(page, data)
    assert {fault.code for fault in page.diagnostics} <= {"front-syntax", "front-unknown-key", "front-value"}
    page.title.encode("utf-8")


SNIPPETS = """\
x = 1
# a note
#
  # deeper
#: documented
####
# noqa: E501
# type: ignore
# region
# endregion

   \f
x = (
    1,
)
def f(a):
async def g(
    return 1
class C:
    def m(self):
        pass
    x = 2
@decorator
@decorator(
    '''A docstring.'''
    '''
'''
    # inside
\t# tab
if x:
else:
    r'''$\\theta$'''
    ('a\\n'
     'b') # end
x = f'''
x = 1 \\
x = 'ä'; y = 2
match x:
    case 1:
try:
except E:
# コメント
    'doc'; y = 1
""".split("\n")


@given(
    lines=st.lists(st.sampled_from(SNIPPETS), max_size=14),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    last=st.booleans(),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "shift_jis", "iso-2022-jp"]),
)
def test_any_assembled_python_keeps_every_promise(
    lines: list[str], end: str, last: bool, encoding: str
) -> None:
    if not encoding.startswith("utf-8"):
        lines = [f"# coding: {encoding}", *(line.replace("ä", "あ") for line in lines)]
    check((end.join(lines) + end * last).encode(encoding))


# --- files that people wrote ----------------------------------------------------------------------------------------


def real_files() -> list[Path]:
    """Every Python file of the standard library, its tests included, and of torch where that is installed."""
    roots = [sysconfig.get_paths()["stdlib"]]
    torch = find_spec("torch")
    roots += torch.submodule_search_locations or [] if torch else []
    found = []
    for root in roots:
        for folder, inner, names in os.walk(root):
            inner[:] = [name for name in inner if name not in ("site-packages", "__pycache__")]
            found += [Path(folder, name) for name in names if name.endswith(".py")]
    return sorted(found)


def check_files(files: list[Path]) -> None:
    lines = 0
    for file in files:
        try:
            lines += len(check(file.read_bytes()).lines)
        except Exception as error:
            error.add_note(str(file))
            raise
    print(f"read {len(files)} files, {lines} lines")


def test_every_hundredth_file_of_python_and_torch_keeps_every_promise(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with capsys.disabled():
        check_files(real_files()[::100])


@pytest.mark.exhaustive
def test_every_file_of_python_and_torch_keeps_every_promise(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        check_files(real_files())
