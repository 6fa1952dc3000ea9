"""Every code of a diagnostic is explained, and what is shown as wrong is wrong."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from site_builder import codes
from site_builder.cli import main
from site_builder.cli.inspection import inspect
from site_builder.codes import CODES, Code
from site_builder.config import load
from tools import write_codes
from tools.keeping import keep

from .conftest import REPOSITORY

SOURCES = REPOSITORY / "site_builder"

SINKS = {"Diagnostic": 3, "at": 1, "LinkError": 0, "Fault": 0, "report": 1, "tell": 1}
"""Functions that are given a code, and as which argument."""

NOT_CODES = frozenset({"record-facts"})
"""A word that looks like a code and names a kind of what is kept in the cache."""

WITHOUT_SAMPLES = frozenset(
    # Some would take a minute or gigabytes, others need a broken disk, a network, a theme or bad luck, and some are
    # about files of which a project has one.
    """
    example-memory example-time glossary-syntax link-external module-changed page-unreachable record-failed
    theme-missing translation-plural translation-stale unreadable verified-file
    """.split()
)


def literals(tree: ast.Module) -> Iterator[str]:
    """Every string that may be a code: given to a sink as it is, or of a family of codes."""
    families = {code.family for code in CODES.values() if "-" in code.name}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            given = node.args[SINKS[name] : SINKS[name] + 1] if name in SINKS else []
            yield from (
                arg.value for arg in given if isinstance(arg, ast.Constant) and isinstance(arg.value, str)
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found = re.fullmatch(r"([a-z]+)-[a-z]+(-[a-z]+)*", node.value)
            if found and found[1] in families:
                yield node.value


@pytest.fixture(scope="module")
def given() -> Mapping[str, str]:
    """The codes in the builder's source, and a file that has each."""
    found: dict[str, str] = {}
    for file in sorted(SOURCES.rglob("*.py")):
        if SOURCES / "codes" not in file.parents:
            for literal in literals(ast.parse(file.read_bytes())):
                found[literal] = file.relative_to(REPOSITORY).as_posix()
    return {literal: file for literal, file in found.items() if literal not in NOT_CODES}


def test_every_code_in_the_source_is_explained(given: Mapping[str, str]) -> None:
    assert {code: file for code, file in given.items() if code not in CODES} == {}


def test_every_code_that_is_explained_is_given_somewhere(given: Mapping[str, str]) -> None:
    assert [code for code in CODES if code not in given] == []


def test_an_entry_has_a_title_on_one_line_and_a_text_of_whole_sentences() -> None:
    for code in CODES.values():
        assert code.title[0].isupper(), code.name
        assert not code.title.endswith("."), code.name
        assert len(code.title) < 90, code.name
        assert code.text.strip().endswith("."), code.name
        assert bool(code.wrong) == bool(code.right), code.name


# ---- the samples, as one project


PROJECT = """
[tool.site_builder]
packages = ["example"]
languages = ["en", "de"]
cache = ""
example_options = ["IGNORE_EXCEPTION_DETAIL"]
"""

GLOSSARY = """
[[term]]
source = "key"
de = ["Schlüssel"]
"""

ATTENTION = '''
"""
---
title: Attention
summary: What the samples link to.
---
"""


def attend(query, key):
    return query @ key
'''


def write(folder: Path, name: str, text: str) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text.lstrip("\n"), "utf-8")


def put(folder: Path, code: Code, word: str, text: str) -> str:
    """Writes a sample into the project, and tells in which file its faults are to be found."""
    name = f"{code.name}_{word}".replace("-", "_").lower()
    if code.form == "po":
        source = re.findall(r'^msgid "(.*)"$', text, re.MULTILINE)
        write(folder, f"example/{name}.md", "\n\n".join(source) + "\n")
        write(folder, f"translations/de/{name}.po", text)
        return f"translations/de/{name}.po"
    suffix = "md" if code.form == "markdown" else "py"
    write(folder, f"example/{name}.{suffix}", text)
    return f"example/{name}.{suffix}"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Mapping[tuple[str, str], set[str]]:
    """Which codes each sample was given, by its own code and `Wrong` or `Right`."""
    folder = tmp_path_factory.mktemp("samples")
    write(folder, "pyproject.toml", PROJECT)
    write(folder, "translations/glossary.toml", GLOSSARY)
    write(folder, "example/__init__.py", '"""\n---\ntitle: Samples\nsummary: All of them.\n---\n"""\n')
    write(folder, "example/attention.py", ATTENTION)
    write(folder, "example/layers.svg", '<svg xmlns="http://www.w3.org/2000/svg"/>\n')
    files = {
        (code.name, word): put(folder, code, word, text)
        for code in CODES.values()
        for word, text in code.samples
    }
    faults = inspect(load(folder), jobs=2).diagnostics
    return {key: {fault.code for fault in faults if fault.path == file} for key, file in files.items()}


def test_every_wrong_sample_is_told_its_code(found: Mapping[tuple[str, str], set[str]]) -> None:
    wrong = {code: given for (code, word), given in found.items() if word == "Wrong"}
    assert {code: given for code, given in wrong.items() if code not in given} == {}


def test_no_right_sample_has_a_fault_but_that_it_is_only_a_piece(
    found: Mapping[tuple[str, str], set[str]],
) -> None:
    right = {code: given for (code, word), given in found.items() if word == "Right"}
    pieces = {"title-missing", "summary-missing"}
    assert {code: given for code, given in right.items() if code in given or given - pieces} == {}


def test_only_what_cannot_be_shown_in_a_file_has_no_sample() -> None:
    assert {code.name for code in CODES.values() if not code.samples} == WITHOUT_SAMPLES


# ---- how they are told


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["check", *arguments])
    said = capsys.readouterr()
    return int(str(ended.value.code)), said.out, said.err


def test_explain_prints_the_entry_and_checks_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, "--explain", "claim-false")
    assert (status, err) == (0, "")
    assert out.startswith("claim-false: ")
    assert CODES["claim-false"].text.strip() in out
    assert "Wrong:" in out
    assert "        # `scores: [queries, keys, 1]`" in out


@pytest.mark.parametrize("arguments", [("--explain", "all"), ("--explain",)], ids=["all", "alone"])
def test_explain_lists_all_codes(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]) -> None:
    status, out, _ = run(capsys, *arguments)
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()] == list(CODES)


def test_an_unknown_code_is_wrong_usage_and_is_told_its_neighbour(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "--explain", "claim-flase")
    assert (status, out) == (2, "")
    assert "'claim-flase'" in err
    assert "did you mean 'claim-false'?" in err


def test_the_chapter_of_the_manual_is_up_to_date() -> None:
    assert write_codes.PAGE.read_text("utf-8") == write_codes.page(), "run python tools/write_codes.py"


def test_a_tool_writes_what_is_out_of_date_and_with_check_only_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = tmp_path / "old.md", tmp_path / "new.md"
    old.write_text("old\n")
    for options, status, text, said in (
        (["--check"], 1, "old\n", "is out of date"),
        ([], 0, "text\n", "rewritten"),
        (["--check"], 0, "text\n", "is up to date"),
    ):
        monkeypatch.setattr(sys, "argv", ["tool", *options])
        assert keep({old: "text\n", new: "text\n"}, "A tool.") == status
        assert old.read_text() == text
        assert new.exists() == (text == "text\n")
        assert capsys.readouterr().out == f"old.md {said}\nnew.md {said}\n"


def test_a_tool_finds_what_it_needs_wherever_it_is_called(tmp_path: Path) -> None:
    tool = REPOSITORY / "tools" / "write_codes.py"
    done = subprocess.run(
        [sys.executable, tool, "--check"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "codes.md is up to date\n"), done.stderr


def test_the_chapter_has_a_heading_for_each_code() -> None:
    assert re.findall(r"^### `([a-z-]+)`$", codes.markdown(), re.MULTILINE) == list(CODES)
