"""Real files, with Python's own compiler as the judge of what is local and what is global."""

from __future__ import annotations

import ast
import dis
import sysconfig
import tokenize
import types
import warnings
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

from site_builder.model import Reference
from site_builder.parse import names

MODULE = "package.module"
GLOBAL = frozenset({"LOAD_GLOBAL", "LOAD_NAME"})
LOCAL = frozenset({"LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_DEREF", "LOAD_CLOSURE", "LOAD_CLASSDEREF"})


class Place(NamedTuple):
    """A stretch of one line in bytes of UTF-8, as the compiler counts."""

    line: int
    start: int
    end: int


def files() -> list[Path]:
    torch = find_spec("torch")
    roots = [Path(sysconfig.get_paths()["stdlib"])]
    roots += [Path(torch.origin).parent] if torch and torch.origin else []
    return [
        path
        for root in roots
        for path in sorted(root.rglob("*.py"))
        if "site-packages" not in path.parts[len(root.parts) :]
    ]


def loads(code: types.CodeType) -> dict[Place, set[str]]:
    """By which instructions the compiler reads the name at each place."""
    found: dict[Place, set[str]] = {}
    waiting = [code]
    while waiting:
        code = waiting.pop()
        waiting.extend(constant for constant in code.co_consts if isinstance(constant, types.CodeType))
        for instruction in dis.get_instructions(code):
            where = instruction.positions
            if where and where.lineno == where.end_lineno and instruction.opname in GLOBAL | LOCAL:
                place = Place(where.lineno or 0, where.col_offset or 0, where.end_col_offset or 0)
                found.setdefault(place, set()).add(instruction.opname)
    return found


def bound_once(tree: ast.Module) -> set[str]:
    """Names that a definition or an import at the top of the module binds, and nothing else anywhere."""
    everywhere: Counter[str] = Counter()
    top: set[str] = set()
    for node in ast.walk(tree):
        new: list[str] = []
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            new = [node.name]
        elif isinstance(node, ast.Import | ast.ImportFrom) and not getattr(node, "level", 0):
            new = [alias.asname or alias.name.partition(".")[0] for alias in node.names]
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            everywhere[node.id] += 1
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
            everywhere[node.name or ""] += 1
        everywhere.update(new)
        if node in tree.body:
            top.update(new)
    return {name for name in top if everywhere[name] == 1}


def check(path: Path) -> int:
    """Hold every reference of a file against the compiler; the number of references."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with tokenize.open(path) as file:
                text = file.read()
            tree, code = ast.parse(text), compile(text, str(path), "exec", dont_inherit=True)
        except (SyntaxError, UnicodeDecodeError):
            return 0
    lines = [f"{line}\n" for line in text.split("\n")]
    found = names.analyse(tree, lines, MODULE, False)
    read = loads(code)
    bare = {
        Place(node.lineno, node.col_offset, node.end_col_offset or 0): node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name)
    }
    exports, once = dict(found.exports), bound_once(tree)
    linked: set[Place] = set()
    for reference, place in zip(found.references, places(found.references, lines), strict=True):
        linked.add(place)
        text = lines[reference.line - 1][reference.column - 1 : reference.end_column - 1]
        assert text.isidentifier(), (path, reference)
        if place not in bare:
            assert text == reference.target.rpartition(".")[2], (path, reference)
            continue
        assert bare[place] == text, (path, reference)
        how = read.get(place, set())
        below = reference.target.removeprefix(f"{MODULE}.")
        imported = any(f"{name}.".startswith(f"{reference.target}.") for name in found.imports)
        if how & LOCAL:
            assert imported or below.count("."), (path, reference, how)
        elif how:
            # A class reads what it binds itself in the same way as what the module binds.
            own = "LOAD_NAME" in how and (imported or below.endswith(f".{text}"))
            assert own or reference.target in (f"{MODULE}.{text}", exports.get(text)), (path, reference, how)
    for place, how in read.items():
        if bare.get(place) in once and how <= {"LOAD_GLOBAL"}:
            assert place in linked, (path, place, bare[place])
    return len(linked)


def places(references: tuple[Reference, ...], lines: list[str]) -> Iterator[Place]:
    for reference in references:
        line = lines[reference.line - 1]
        start = len(line[: reference.column - 1].encode())
        yield Place(
            reference.line, start, start + len(line[reference.column - 1 : reference.end_column - 1].encode())
        )


def test_the_compiler_agrees_on_a_sample_of_the_standard_library_and_torch() -> None:
    assert sum(check(path) for path in files()[::250]) > 1_000


@pytest.mark.exhaustive
def test_the_compiler_agrees_on_all_of_the_standard_library_and_torch() -> None:
    assert sum(check(path) for path in files()) > 500_000
