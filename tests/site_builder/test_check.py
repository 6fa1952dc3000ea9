"""`python -m site_builder check`, as an author meets it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from textwrap import dedent

import pytest

from .claiming import numbers
from .conftest import REPOSITORY, Builder, site_builder

RIGHT = '''
"""
# Agreement

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


def project(folder: Path, package: str = "pkg", *, cache: Path | None = None, **modules: str) -> Path:
    table = f'[tool.site_builder]\npackages = ["{package}"]\n'
    table += f'cache = "{cache.as_posix()}"\n' if cache else ""
    (folder / "pyproject.toml").write_text(table, "utf-8")
    (folder / package).mkdir()
    for name, text in {"__init__": "", **modules}.items():
        (folder / package / f"{name}.py").write_text(dedent(text).lstrip(), "utf-8")
    return folder


def rows(table: str) -> dict[str, list[str]]:
    return {line.split()[0]: line.split()[1:] for line in table.splitlines()}


def test_a_right_page_passes_and_its_row_tells_what_ran_and_what_is_proven(tmp_path: Path) -> None:
    done = site_builder("check", cwd=project(tmp_path, m=RIGHT))
    assert (done.returncode, done.stderr) == (0, "2 pages checked; no faults\n")
    assert rows(done.stdout)["m.html"] == ["3", "4", "75", "3", "0", "0"]


def test_it_writes_nothing(tmp_path: Path) -> None:
    project(tmp_path, m=RIGHT)
    before = sorted(tmp_path.rglob("*"))
    assert site_builder("check", "--clean", cwd=tmp_path).returncode == 0
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("right", "wrong", "claimed", "recorded"),
    [
        ("`scores: [seq_len_q, seq_len_k]`", "`scores: [seq_len_q, d_k]`", [7, 5], [7, 11]),
        ("id,jd->ij", "id,jd->ji", [7, 11], [11, 7]),
    ],
    ids=["claim", "code"],
)
def test_where_claim_and_code_part_it_exits_with_1_and_shows_both_shapes(
    tmp_path: Path, right: str, wrong: str, claimed: list[int], recorded: list[int]
) -> None:
    source = RIGHT.replace(right, wrong).replace("(7, 11)\n", "(...)\n")
    done = site_builder("check", cwd=project(tmp_path, m=source))
    line = 1 + next(n for n, text in enumerate(source.lstrip().splitlines()) if "`scores:" in text)
    assert done.returncode == 1
    found = [text for text in done.stderr.splitlines() if text.startswith(f"pkg/m.py:{line}:7: claim-false")]
    assert [list(numbers(text)) for text in found] == [[claimed, recorded]]
    assert rows(done.stdout)["m.html"][-3:] == ["2", "0", "1"]


@pytest.mark.parametrize(
    ("right", "wrong", "where"),
    [
        (
            "`scores: [seq_len_q, seq_len_k, batch_size, heads]`",
            "`scores: [seq_len_q, seq_len_k, batch_size]`",
            "`scores: [seq_len_q, seq_len_k, batch_size]`",
        ),
        ('"ibhd,jbhd->ijbh"', '"ibhd,jbhd->jibh"', "`return: [seq_len_q, seq_len_k, batch_size, heads]`"),
    ],
    ids=["claim", "einsum"],
)
def test_attention_with_a_wrong_claim_or_another_einsum_is_caught(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, right: str, wrong: str, where: str
) -> None:
    # What typesetting all its formulas gave is kept for the other case.
    cache = tmp_path_factory.getbasetemp() / "checked"
    folder = project(tmp_path, "labml_nn", cache=cache) / "labml_nn" / "transformers"
    folder.mkdir()
    (folder / "__init__.py").touch()
    for name in ("mha.py", "fused_attention.py"):
        shutil.copy(REPOSITORY / "labml_nn" / "transformers" / name, folder)
    page = folder / "mha.py"
    source = page.read_text("utf-8").replace(right, wrong)
    page.write_text(source, "utf-8")
    number, text = next((n, text) for n, text in enumerate(source.splitlines(), 1) if where in text)
    done = site_builder("check", cwd=tmp_path)
    assert done.returncode == 1
    place = f"labml_nn/transformers/mha.py:{number}:{text.index(where) + 1}: claim-false {where}"
    found = [line for line in done.stderr.splitlines() if line.startswith(place)]
    assert len(found) == 1, done.stderr
    assert [len(shape) for shape in numbers(found[0])] == ([3, 4] if "scores" in wrong else [4, 4])


def test_a_claim_about_nothing_is_a_fault_of_the_page(tmp_path: Path) -> None:
    done = site_builder("check", cwd=project(tmp_path, m=RIGHT.replace("`key:", "`kee:")))
    assert done.returncode == 1
    assert re.search(r"pkg/m\.py:\d+:7: claim-unknown .* did you mean key\?", done.stderr)


def test_a_failing_example_is_a_fault_of_the_page(tmp_path: Path) -> None:
    done = site_builder("check", cwd=project(tmp_path, m=RIGHT.replace("(7, 11)", "(7, 12)")))
    assert done.returncode == 1
    assert "pkg/m.py:5:1: example" in done.stderr


def test_paths_that_the_configuration_does_not_name_run_only_when_told_to(tmp_path: Path) -> None:
    project(tmp_path, m=RIGHT)
    (tmp_path / "pyproject.toml").unlink()
    done = site_builder("check", "pkg", cwd=tmp_path)
    assert "--exec" in done.stderr
    assert rows(done.stdout)["m.html"] == ["0", "3", "0"]
    told = site_builder("check", "--exec", "pkg", cwd=tmp_path)
    assert rows(told.stdout)["m.html"] == ["3", "4", "75", "3", "0", "0"]


def test_it_finds_what_a_strict_build_finds(tiny: Path, build: Builder) -> None:
    page = tiny / "tiny" / "translated.py"
    page.write_text('"""\n# A page\n\n[nowhere](nowhere.html), $\\frac{1$\n"""\n', "utf-8")
    built = build(tiny, "--strict")
    checked = site_builder("check", "-q", cwd=tiny)
    assert built.status == checked.returncode == 1
    assert checked.stderr.splitlines() == built.faults
    assert len(built.faults) > 1


def test_what_is_not_there_is_wrong_usage(tmp_path: Path) -> None:
    assert site_builder("check", "nowhere", cwd=tmp_path).returncode == 2
