"""`python -m site_builder check`, as an author meets it."""

from __future__ import annotations

import contextlib
import io
import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from rich.console import Console

from site_builder.cli import main, telling
from site_builder.cli.inspection import Inspection
from site_builder.site import Tally

from .claiming import numbers
from .conftest import REPOSITORY, site_builder

OPENING = "---\ntitle: A page\nsummary: About something.\n---\n"

RIGHT = '''
"""
---
title: Agreement
summary: How much of a query is in a key.
---

>>> import numpy as np
>>> agree(np.ones((7, 5)), np.ones((11, 5))).shape
(7, 11)
"""

import numpy as np


def agree(query, key):
    """
    * `query: [seq_len_q, d_k]`
    * `key: [seq_len_k, d_k]`
    """
    # `scores: [seq_len_q, seq_len_k]`
    scores = np.einsum("id,jd->ij", query, key)
    if scores.size > 100:
        scores = scores * 0
    return scores
'''

OPEN_TO_ALL = RIGHT.replace("(7, 11)\n", "(...)\n")
MODULES = {
    "right": RIGHT,
    "claim": OPEN_TO_ALL.replace("`scores: [seq_len_q, seq_len_k]`", "`scores: [seq_len_q, d_k]`"),
    "code": OPEN_TO_ALL.replace("id,jd->ij", "id,jd->ji"),
    "unknown": RIGHT.replace("`key:", "`kee:"),
    "failing": RIGHT.replace("(7, 11)", "(7, 12)"),
    "prose": f'"""\n{OPENING}[nowhere](nowhere.html), $\\frac{{1$\n\n#### Deep\n\n![](a.svg)\n"""\n',
    "bare": '"""Words, and no more."""\n',
}


@dataclass(frozen=True)
class Told:
    """What a command said, and how it ended."""

    status: int
    out: str
    err: str

    @property
    def faults(self) -> list[str]:
        return [line for line in self.err.splitlines() if re.match(r"\S+:\d+:\d+: ", line)]


def run(folder: Path, *arguments: str) -> Told:
    """The command, in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(list(arguments))
        except SystemExit as ended:
            return Told(int(str(ended.code)), out.getvalue(), err.getvalue())
    raise AssertionError("the command did not end")


def project(folder: Path, package: str = "pkg", *, table: str = "", **modules: str) -> Path:
    """A small project whose cache lies outside of it."""
    cache = folder.parent / f"{folder.name}-cache"
    settings = f'packages = ["{package}"]\ncache = "{cache.as_posix()}"\nexample_options = ["ELLIPSIS"]\n'
    (folder / "pyproject.toml").write_text(f"[tool.site_builder]\n{settings}{table}", "utf-8")
    (folder / package).mkdir()
    for name, text in {"__init__": f'"""\n{OPENING}"""\n', **modules}.items():
        (folder / package / f"{name}.py").write_text(dedent(text).lstrip(), "utf-8")
    return folder


def rows(table: str) -> dict[str, list[str]]:
    return {line.split()[0]: line.split()[1:] for line in table.splitlines()}


# ---- one project with a page for each kind of fault


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = project(tmp_path_factory.mktemp("project"), **MODULES)
    (made / "pkg" / "a.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>", "utf-8")
    return made


@pytest.fixture(scope="module")
def told(folder: Path) -> Told:
    """The real command on it, which must write nothing there."""
    before = sorted(folder.rglob("*"))
    done = site_builder("check", "-j2", cwd=folder)
    assert sorted(folder.rglob("*")) == before
    return Told(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def as_json(folder: Path, told: Told) -> Told:
    return run(folder, "check", "--format", "json")


def of(told: Told, module: str) -> list[str]:
    return [fault for fault in told.faults if fault.startswith(f"pkg/{module}.py:")]


def test_a_right_page_has_no_fault_and_its_row_tells_what_ran_and_what_is_proven(told: Told) -> None:
    assert of(told, "right") == []
    assert rows(told.out)["right.html"] == ["3", "4", "75", "3", "0", "0"]


def test_any_fault_makes_it_exit_with_1_and_the_last_line_counts_them(told: Told) -> None:
    assert told.status == 1
    assert told.err.splitlines()[-1] == f"8 pages checked; {len(told.faults)} faults"


@pytest.mark.parametrize(
    ("module", "claimed", "recorded"), [("claim", [7, 5], [7, 11]), ("code", [7, 11], [11, 7])]
)
def test_where_claim_and_code_part_both_shapes_are_shown(
    told: Told, module: str, claimed: list[int], recorded: list[int]
) -> None:
    lines = MODULES[module].lstrip().splitlines()
    line = 1 + next(n for n, text in enumerate(lines) if "`scores:" in text)
    found = of(told, module)
    assert [fault.split()[:2] for fault in found] == [[f"pkg/{module}.py:{line}:7:", "claim-false"]]
    assert list(numbers(found[0])) == [claimed, recorded]
    assert rows(told.out)[f"{module}.html"][-3:] == ["2", "0", "1"]


def test_a_claim_about_nothing_is_a_fault_of_the_page(told: Told) -> None:
    found = of(told, "unknown")
    assert len(found) == 1
    assert re.search(r":\d+:7: claim-unknown .* did you mean key\?", found[0])


def test_a_failing_example_is_a_fault_of_the_page(told: Told) -> None:
    assert [fault.split()[:2] for fault in of(told, "failing")] == [["pkg/failing.py:8:1:", "example-failed"]]


def test_prose_is_asked_for_more_than_a_build_asks(told: Told) -> None:
    assert [fault.split()[:2] for fault in of(told, "prose")] == [
        ["pkg/prose.py:6:11:", "link-broken"],
        ["pkg/prose.py:6:27:", "math-escape"],
        ["pkg/prose.py:6:32:", "math-syntax"],
        ["pkg/prose.py:8:6:", "heading-skip"],
        ["pkg/prose.py:10:1:", "image-alt"],
    ]
    assert [fault.split()[1] for fault in of(told, "bare")] == ["summary-missing", "title-missing"]


def test_it_finds_all_that_a_strict_build_finds(folder: Path, told: Told, tmp_path: Path) -> None:
    built = run(folder, "build", "--strict", "-q", "-o", str(tmp_path / "site"))
    assert built.status == 1
    assert len(built.faults) > 5
    assert set(built.faults) < set(told.faults)


# ---- for other programs


def test_json_is_one_object_on_standard_output_and_nothing_else_is_said(told: Told, as_json: Told) -> None:
    assert (as_json.status, as_json.err) == (1, "")
    found = json.loads(as_json.out)
    assert list(found) == ["diagnostics", "counts", "pages", "external"]


def test_json_has_every_fault_with_its_parts(told: Told, as_json: Told) -> None:
    found = json.loads(as_json.out)
    said = [
        "{path}:{line}:{column}: {code} {message}".format(**one)
        + (f" — {one['hint']}" if one["hint"] else "")
        for one in found["diagnostics"]
    ]
    assert [" ".join(line.split()) for line in said] == told.faults
    counts = found["counts"]
    assert (counts["pages"], counts["faults"]) == (8, len(told.faults))
    assert counts["codes"]["claim-false"] == 2
    assert sum(counts["codes"].values()) == len(told.faults)


def test_json_has_the_evidence_of_each_page(as_json: Told) -> None:
    pages = {page["url"]: page["evidence"] for page in json.loads(as_json.out)["pages"]}
    assert next(iter(pages)) == "index.html"
    assert pages["right.html"] == {"ran": 3, "statements": 4, "proven": 3, "unchecked": 0, "false": 0}
    assert pages["claim.html"]["false"] == 1


# ---- attention itself


def test_attention_with_a_wrong_claim_and_another_einsum_is_caught(tmp_path: Path) -> None:
    inner = project(tmp_path, "labml_nn") / "labml_nn" / "transformers"
    inner.mkdir()
    (inner / "__init__.py").touch()
    models = REPOSITORY / "labml_nn" / "transformers"
    # What attention needs beside itself, without examples of its own: they would take as long as those of attention.
    needed = (models / "fused_attention.py").read_text("utf-8")
    (inner / "fused_attention.py").write_text(needed.replace(">>> ", ""), "utf-8")
    page = inner / "mha.py"
    source = (models / "mha.py").read_text("utf-8")
    wrong = "`scores: [seq_len_q, seq_len_k, batch_size]`"
    source = source.replace("`scores: [seq_len_q, seq_len_k, batch_size, heads]`", wrong)
    source = source.replace('"ibhd,jbhd->ijbh"', '"ibhd,jbhd->jibh"')
    page.write_text(source, "utf-8")
    done = site_builder("check", cwd=tmp_path)
    assert done.returncode == 1
    for claim, ranks in ((wrong, [3, 4]), ("`return: [seq_len_q, seq_len_k, batch_size, heads]`", [4, 4])):
        line, text = next((n, text) for n, text in enumerate(source.splitlines(), 1) if claim in text)
        place = f"labml_nn/transformers/mha.py:{line}:{text.index(claim) + 1}: claim-false {claim}"
        found = [fault for fault in done.stderr.splitlines() if fault.startswith(place)]
        assert len(found) == 1, done.stderr
        assert [len(shape) for shape in numbers(found[0])] == ranks


# ---- what is checked, and in which languages


def test_a_page_in_order_makes_it_exit_with_0(tmp_path: Path) -> None:
    assert run(project(tmp_path), "check") == Told(0, "", "1 page checked; no faults\n")


def test_paths_that_the_configuration_does_not_name_run_only_when_told_to(tmp_path: Path) -> None:
    project(tmp_path, m=RIGHT)
    (tmp_path / "pyproject.toml").unlink()
    done = run(tmp_path, "check", "pkg")
    assert "--exec" in done.err
    assert rows(done.out)["m.html"] == ["0", "3", "0"]
    told = run(tmp_path, "check", "--exec", "pkg")
    assert rows(told.out)["m.html"] == ["3", "4", "75", "3", "0", "0"]


def test_what_is_not_there_is_wrong_usage(tmp_path: Path) -> None:
    assert run(tmp_path, "check", "nowhere").status == 2


def test_one_language_is_checked_as_if_the_others_were_there(tmp_path: Path) -> None:
    project(tmp_path, table='languages = ["en", "de"]\n')
    catalogue = tmp_path / "translations" / "de" / "index.po"
    catalogue.parent.mkdir(parents=True)
    catalogue.write_text('msgid "A page"\nmsgstr "Eine Seite\n', "utf-8")
    assert run(tmp_path, "check", "--lang", "en").status == 0
    german = run(tmp_path, "check", "--lang", "de")
    assert [fault.split()[1] for fault in german.faults] == ["catalogue-syntax"]


def test_a_theme_that_leaves_out_links_and_files_is_told_of_both(tmp_path: Path) -> None:
    project(tmp_path, table='theme = "theme"\n', other=f'"""\n{OPENING}"""\n')
    page = tmp_path / "theme" / "templates" / "page.html"
    page.parent.mkdir(parents=True)
    page.write_text('<img src="logo.png" alt=""><h1>{{ page.title }}</h1>\n', "utf-8")
    done = run(tmp_path, "check")
    assert done.status == 1
    assert [fault.split(" — ")[0] for fault in done.faults] == [
        "all-pages.html:1:1: page-unreachable no links lead from the home page to all-pages.html",
        "index.html:1:1: link-broken the site has no file logo.png; 1 other page asks for it too",
        "pkg/other.py:1:1: page-unreachable no links lead from the home page to other.html",
    ]


# ---- other sites


@pytest.fixture(scope="module")
def host() -> Iterator[str]:
    class Site(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.send_response(int(self.path.strip("/")))
            self.end_headers()

        do_GET = do_HEAD  # noqa: N815 — the name is the server's

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def linked(tmp_path: Path, host: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page that links to the server twice."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return project(tmp_path, m=f'"""\n{OPENING}[one]({host}/200),\n[two]({host}/403).\n"""\n')


def test_other_sites_are_asked_only_when_wanted(linked: Path, host: str) -> None:
    page = linked / "pkg" / "m.py"
    page.write_text(page.read_text("utf-8").replace("/200", "/404"), "utf-8")
    assert run(linked, "check").status == 0
    done = run(linked, "check", "--external")
    assert done.status == 1
    assert done.err.splitlines() == [
        f"pkg/m.py:6:7: link-external {host}/404 answers 404 Not Found — "
        "correct the address, or link to an archived copy",
        f"pkg/m.py:7:7: could not be checked: {host}/403 answers 403 Forbidden",
        "2 links to other sites followed",
        "2 pages checked; 1 fault",
    ]


def test_what_could_not_be_checked_is_no_fault(linked: Path, host: str) -> None:
    done = run(linked, "check", "--external", "--format", "json")
    assert (done.status, done.err) == (0, "")
    assert json.loads(done.out)["external"] == {
        "asked": 2,
        "unchecked": [
            {
                "address": f"{host}/403",
                "reason": "answers 403 Forbidden",
                "places": [{"path": "pkg/m.py", "line": 7, "column": 7}],
            }
        ],
    }


# ---- the table

LONG = "transformers/fast_weights/sequence/experiment_with_a_long_name_of_its_own.html"


def table(width: int, *, terminal: bool) -> list[str]:
    reach = {LONG: Tally(1234, 1234, 11, 22, 33), "utils.html": Tally(3, 4, 0, 0, 0)}
    out = Console(file=io.StringIO(), width=width, force_terminal=terminal, color_system=None, soft_wrap=True)
    telling.table(out, Inspection((), tuple(reach), reach))
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue().splitlines()


def test_a_long_name_is_whole_where_there_is_no_screen() -> None:
    lines = table(80, terminal=False)
    assert len(lines) == 4
    assert lines[1].split() == [LONG, "1,234", "1,234", "100", "11", "22", "33"]


@pytest.mark.parametrize("width", [72, 80, 100])
def test_a_long_name_loses_its_middle_on_a_narrow_screen_and_no_number_is_cut(width: int) -> None:
    lines = table(width, terminal=True)
    assert len(lines) == 4
    assert all(len(line.rstrip()) <= width for line in lines)
    name, *figures = lines[1].split()
    assert re.fullmatch(r"transformers/\S*…\S*own\.html", name)
    assert figures == ["1,234", "1,234", "100", "11", "22", "33"]
