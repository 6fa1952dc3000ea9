"""What holds for every file, whatever it contains: nothing is lost, doubled or in the wrong place."""

from __future__ import annotations

import ast
import inspect
import io
import sysconfig
import tokenize
import warnings
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from site_builder.model import Kind, Page, ProseLine, SourceFile
from site_builder.parse import encode, parse

BLANK = " \t\f\r\n"


def page_of(data: bytes, name: str = "module.py") -> Page:
    return parse(SourceFile(name, name, "package.module", "module.html", False, name.endswith(".md")), data)


def check(data: bytes, name: str = "module.py") -> Page:
    """Everything that is promised of a page of any file. Returns the page for further questions."""
    page = page_of(data, name)
    assert encode(page) == data
    for line in page.lines:
        assert not set("\r\n") & set(line.removesuffix("\n").removesuffix("\r"))
    check_partition(page)
    check_prose(page)
    check_names(page)
    tree = tree_of(page)
    assert (tree is None) == any(d.code in ("python-syntax", "encoding") for d in page.diagnostics)
    if tree is not None:
        check_display(page, tree)
        check_docstrings(page, tree)
    else:
        assert [section.kind for section in page.sections] == [Kind.CODE] * bool(page.lines)
        assert sum(len(section.code) for section in page.sections) >= len(solid(page))
    return page


def check_partition(page: Page) -> None:
    edges = [1, *(section.end for section in page.sections)]
    assert [section.start for section in page.sections] == edges[:-1]
    assert edges[-1] == len(page.lines) + 1
    assert all(section.start < section.end for section in page.sections)


def check_prose(page: Page) -> None:
    rows = [line for section in page.sections for line in section.prose.lines] + list(page.intro.lines)
    for row in rows:
        here = page.lines[row.line - 1]
        assert here.startswith(row.text, row.column - 1), row
        assert 1 <= row.column <= len(here.rstrip("\r\n")) + 1, row
        assert row.path == page.source.path
    if page.title_position:
        assert page.lines[page.title_position.line - 1].startswith(page.title, page.title_position.column - 1)
    for diagnostic in page.diagnostics:
        assert 1 <= diagnostic.line <= max(len(page.lines), 1)
        assert diagnostic.column >= 1


def check_names(page: Page) -> None:
    anchors = [section.anchor for section in page.sections]
    assert len(set(anchors)) == len(anchors)
    for section in page.sections:
        assert section.anchor or (section.kind is Kind.MODULE and not section.code)
        assert not section.anchor or section.anchor.startswith((section.scope or "module"))
    for definition in page.definitions:
        line = page.lines[definition.line - 1]
        written = line[definition.column - 1 :]
        name = definition.name.rpartition(".")[2]
        assert written.startswith(name) or not written.isascii(), definition
        section = next(section for section in page.sections if section.anchor == definition.anchor)
        # A comment inside the header may have cut it: then the section opens the definition further up.
        assert section.start <= definition.line


def solid(page: Page) -> set[int]:
    return {number for number, line in enumerate(page.lines, 1) if line.strip(BLANK)}


def tree_of(page: Page) -> ast.Module | None:
    """Python's own opinion of the file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(encode(page))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def comment_lines(page: Page) -> set[int] | None:
    """The lines of comments and nothing else, as the `tokenize` module sees them; None where it gives up."""
    text = "".join(line.rstrip("\r\n") + "\n" for line in page.lines)
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text, "\n").readline))
    except (tokenize.TokenError, SyntaxError):
        return None
    return {
        token.start[0]
        for token in tokens
        if token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip(BLANK)
    }


def docstrings(tree: ast.Module) -> list[tuple[str, ast.Expr]]:
    """The qualified name of everything that has a docstring, and the docstring's statement."""
    found = []
    waiting: list[tuple[str, ast.AST]] = [("", tree)]
    while waiting:
        name, node = waiting.pop()
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            value = first.value if isinstance(first, ast.Expr) else None
            if isinstance(first, ast.Expr) and isinstance(value, ast.Constant) and isinstance(value.value, str):
                found.append((name, first))
        for child in ast.iter_child_nodes(node):
            inner = getattr(child, "name", "") if isinstance(child, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) else ""  # fmt: skip
            if isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)):
                waiting.append((f"{name}.{inner}".strip(".") if inner else name, child))
    return found


def check_display(page: Page, tree: ast.Module) -> None:
    shown = Counter(number for section in page.sections for number in section.code)
    assert set(shown.values()) <= {1}
    for section in page.sections:
        assert list(section.code) == sorted(section.code)
        assert all(section.start <= number < section.end for number in section.code)
        if section.code:
            assert {section.code[0], section.code[-1]} <= solid(page)
    hidden = solid(page) - set(shown)
    written = {
        number
        for _, statement in docstrings(tree)
        for number in range(statement.lineno, (statement.end_lineno or 0) + 1)
    }
    remarks = comment_lines(page)
    if remarks is not None:
        assert hidden <= remarks | written
        # A comment is either a note or, as a pragma, code. It is never lost.
        noted = Counter(row.line for section in page.sections for row in section.prose.lines if row.text)
        for number in remarks - written:
            if page.lines[number - 1].strip(BLANK + "#:"):
                assert (number in shown) + noted[number] == 1, number


def check_docstrings(page: Page, tree: ast.Module) -> None:
    """Where no escape, tab or concatenation is involved, a docstring as typed is what Python makes of it."""
    prose: dict[str, list[list[ProseLine]]] = {}
    for section in page.sections:
        prose.setdefault(section.scope, []).append(list(section.prose.lines))
    for name, statement in docstrings(tree):
        source = "".join(page.lines[statement.lineno - 1 : statement.end_lineno])
        value = ast.literal_eval(statement.value)
        if not name or any(mark in source for mark in ("\\", "\t", "\f", "\v", "\r", "#", "\x1c", "\x85")):
            continue
        if sum(source.count(quotes) for quotes in ('"""', "'''")) != 2:
            continue
        expected = [line if line.strip() else "" for line in inspect.cleandoc(value).rstrip().split("\n")]
        # `cleandoc` leaves the blanks at the end of a last line that has no text below it.
        found = [[row.text for row in rows] for rows in prose[name]]
        for rows in found:
            rows[-1:] = [row.rstrip() for row in rows[-1:]]
        assert not any(expected) or any(rows[-len(expected) :] == expected for rows in found), name


# --- text that a machine makes up -----------------------------------------------------------------------------------


@given(st.binary(max_size=200))
@example(b"")
@example(b"\xef\xbb\xbf")
@example(b"\0")
@example(b"# coding: rot13\n")
@example(b"# coding: utf-16\n")
@example(b"# coding: unicode_escape\n'\\ud800'\n")
def test_any_bytes_become_a_page_and_come_back(data: bytes) -> None:
    page = page_of(data)
    assert encode(page) == data
    check_partition(page)
    check_prose(page)
    check_names(page)


@given(st.lists(st.sampled_from(["---\n", "title: ", "[", "'", '"', "\n", "  ", "- ", "\\ud800", "x", ": ", "&a ", "*a", "!", "\0", "#"])))  # fmt: skip
def test_any_front_matter_becomes_a_page(parts: list[str]) -> None:
    data = ("---\n" + "".join(parts) + "\n---\n# Title\n").encode()
    page = page_of(data, "page.md")
    assert encode(page) == data
    check_prose(page)


SNIPPETS = (
    "x = 1",
    "# a note",
    "#",
    "  # deeper",
    "#: documented",
    "####",
    "# noqa: E501",
    "# type: ignore",
    "",
    "\f",
    "   ",
    "x = (",
    "    1,",
    ")",
    "def f(a):",
    "async def g():",
    "    return 1",
    "class C:",
    "    def m(self):",
    "        pass",
    "    x = 2",
    "@decorator",
    "@decorator(",
    '    """A docstring."""',
    "    '''",
    '    """',
    '"""',
    "    # inside",
    "\t# tab",
    "if x:",
    "else:",
    "    r'''$\\theta$'''",
    "    ('a'",
    "     'b')",
    "x = f'''",
    "'''",
    "x = 1 \\",
    "x = 'ä'; y = 2",
    "match x:",
    "    case 1:",
    "try:",
    "except E:",
    "# コメント",
)


@given(
    lines=st.lists(st.sampled_from(SNIPPETS), max_size=14),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    last=st.booleans(),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "shift_jis", "iso-2022-jp", "utf-7"]),
)
def test_any_assembled_python_keeps_every_promise(lines: list[str], end: str, last: bool, encoding: str) -> None:
    if not encoding.startswith("utf-8"):
        lines = [f"# coding: {encoding}", *(line.replace("ä", "あ") for line in lines)]
    check((end.join(lines) + end * last).encode(encoding))


# --- files that people wrote ----------------------------------------------------------------------------------------


def real_files() -> list[Path]:
    roots = [Path(sysconfig.get_paths()["stdlib"])]
    torch = find_spec("torch")
    if torch and torch.origin:
        roots.append(Path(torch.origin).parent)
    return sorted(
        file
        for root in roots
        for file in root.rglob("*.py")
        if "site-packages" not in file.relative_to(root).parts
    )


def check_files(files: list[Path]) -> None:
    lines = 0
    for file in files:
        try:
            lines += len(check(file.read_bytes()).lines)
        except Exception as error:
            error.add_note(str(file))
            raise
    print(f"read {len(files)} files, {lines} lines")


def test_every_fortieth_file_of_python_and_torch_keeps_every_promise(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        check_files(real_files()[::40])


@pytest.mark.exhaustive
def test_every_file_of_python_and_torch_keeps_every_promise(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        check_files(real_files())
