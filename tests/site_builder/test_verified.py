"""What tests compare pages with: the fixture, the file that pytest writes, and the foot of a page that shows it."""

from __future__ import annotations

import ast
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
import torch

from site_builder.cache import Store
from site_builder.config import load
from site_builder.model import Page, SourceFile
from site_builder.parse import parse
from site_builder.serve import watched
from site_builder.site import Shelf, make
from site_builder.verified import Verified, Verify
from site_builder.verified.merge import Heard, Run, merged
from site_builder.verified.model import Finding, MalformedError, Module, from_bytes, rounded, to_bytes
from site_builder.verified.verify import Comparison
from tests.site_builder.conftest import REPOSITORY, Builder

HERE = __name__
ORACLE = "torch.nn.Oracle"


def error_of(ours: Any, expected: Any, **settings: Any) -> dict[str, float]:
    """The largest error by dtype."""
    heard: list[Comparison] = []
    Verify(heard.append)(ours, expected, against=ORACLE, of=HERE, **settings)
    assert {(seen.module, seen.against, seen.what) for seen in heard} == {(HERE, ORACLE, "values")}
    return {seen.dtype: seen.error for seen in heard}


# --- close, and how close ---


@pytest.mark.parametrize(
    ("ours", "expected", "dtype"),
    [
        (1.0, 1.25, "float64"),
        ([3.0, 1.0], [3.0, 1.25], "float64"),
        ((3.0, {"a": [1.0]}), (3.0, {"a": [1.25]}), "float64"),
        (1.0 + 1j, 1.25 + 1j, "complex128"),
        (2, 2.25, "float64"),
        (np.array([[3.0, 1.0]]), np.array([[3.0, 1.25]]), "float64"),
        (np.float32(1), np.float32(1.25), "float32"),
        (torch.tensor([[3.0], [1.0]]), torch.tensor([[3.0], [1.25]]), "float32"),
        (torch.tensor(1.0, requires_grad=True), 1.25, "float32"),
        (torch.tensor([1.0]), np.array([1.25], dtype="float32"), "float32"),
        (torch.tensor([1.0]).bfloat16(), torch.tensor([1.25]).bfloat16(), "bfloat16"),
        (
            {"w": torch.tensor([2.0]), "b": torch.tensor([1.0])},
            {"b": torch.tensor([1.25]), "w": torch.tensor([2.0])},
            "float32",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_whatever_holds_numbers_is_compared_and_the_largest_error_reported(
    ours: Any, expected: Any, dtype: str
) -> None:
    assert error_of(ours, expected, rtol=0, atol=0.3) == {dtype: 0.25}
    with pytest.raises(AssertionError, match=ORACLE):
        error_of(ours, expected, rtol=0, atol=0.2)


def test_each_dtype_has_an_error_of_its_own() -> None:
    ours = [torch.tensor([1.0]), torch.tensor([1.0]).double()]
    expected = [torch.tensor([1.5]), torch.tensor([1.25]).double()]
    assert error_of(ours, expected, rtol=0, atol=1) == {"float32": 0.5, "float64": 0.25}


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64])
@pytest.mark.parametrize("size", [0.0, 1.0, 1000.0])
def test_by_default_it_takes_for_close_what_torch_takes_for_close(dtype: torch.dtype, size: float) -> None:
    found = []
    for step in (0, 1e-9, 1e-8, 1e-6, 5e-6, 2e-5, 1e-4, 1e-3, 0.1, 1, 20):
        ours, expected = (torch.tensor([x], dtype=torch.float64).to(dtype) for x in (size + step, size))
        verdicts = []
        for judge in (torch.testing.assert_close, error_of):
            try:
                judge(ours, expected)
                verdicts.append(True)
            except AssertionError:
                verdicts.append(False)
        assert verdicts[0] == verdicts[1], step
        found.append(verdicts[0])
    assert set(found) == {True, False}


@pytest.mark.parametrize(
    ("ours", "expected", "words"),
    [
        ([1.0, 2.0], [1.0, 3.0], r"\[1\]: 1 of 1 numbers .* 2.0 where 3.0 is expected"),
        (torch.tensor([[1.0, 2], [3, 4]]), torch.tensor([[1.0, 2], [9, 5]]), r"2 of 4 .* at \[1, 0\] is 3.0 where 9.0"),
        ({"a": [1.0]}, {"a": [2.0]}, r"a\[0\]: "),
        ({"a": 1.0}, {"b": 1.0}, "only one of the two has a, b"),
        ([1.0], [1.0, 2.0], "1 where 2 are expected"),
        (torch.zeros(2, 3), torch.zeros(3, 2), r"shape \[2, 3\] where \[3, 2\]"),
        (torch.zeros(1), torch.zeros(()), r"shape \[1\] where \[\]"),
        (torch.zeros(2), torch.zeros(2).double(), "dtype float32 where float64"),
        (None, torch.zeros(2), "None where Tensor is expected"),
        ([1.0], 1.0, "list where 1.0 is expected"),
        (math.nan, math.nan, "nan where nan"),
        (math.inf, 1.0, "inf where 1.0"),
        (1.0, math.inf, "1.0 where inf"),
        (-math.inf, math.inf, "-inf where inf"),
        ({}, {}, "nothing to compare"),
        (torch.zeros(0, 3), torch.zeros(0, 3), "nothing to compare"),
        ("a", "a", "nothing to compare"),
    ],
)  # fmt: skip
def test_what_differs_is_named_with_place_and_both_values(ours: Any, expected: Any, words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        error_of(ours, expected)


def test_an_infinite_number_equals_itself_and_adds_no_error() -> None:
    assert error_of([math.inf, 1.0], [math.inf, 1.0]) == {"float64": 0.0}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"rtol": 0.1}, "atol = None"),
        ({"against": " "}, "must both say something"),
        ({"of": "no.such.module"}, "no.such.module"),
        ({"of": 3}, "of = 3"),
    ],
)
def test_a_call_that_makes_no_sense_is_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Verify()(1.0, 1.0, **{"against": ORACLE, "of": HERE, **settings})


def test_what_is_tested_may_be_named_by_anything_that_its_module_defines() -> None:
    heard: list[Comparison] = []
    of = (Verify, Verify(), merged, json, "json.decoder")
    Verify(heard.append)(1.0, 1.0, against=ORACLE, of=of)
    names = ["site_builder.verified.verify"] * 2 + ["site_builder.verified.merge", "json", "json.decoder"]
    assert [seen.module for seen in heard] == names


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (0, "exact"),
        (1e-7, "1e-07"),
        (1.0000001e-7, "1e-06"),
        (9.99e-7, "1e-06"),
        (1e-5, "1e-05"),
        (1, "1e+00"),
        (1.5, "1e+01"),
        (5e-324, "1e-323"),
    ],
)
def test_errors_are_rounded_up_to_a_power_of_ten(error: float, text: str) -> None:
    assert rounded(error) == text


# --- the file after a run ---


def finding(test: str, error: str = "1e-06", against: str = ORACLE) -> Finding:
    return Finding(against, "values", "float32", error, test)


def heard(test: str, error: float, code: str = "new", module: str = "m") -> Heard:
    return Heard(test, code, Comparison(module, ORACLE, "values", "float32", error))


def errors(modules: dict[str, Module], module: str = "m") -> dict[str, str]:
    return {found.test: found.error for found in modules[module].findings} if module in modules else {}


OLD = {"m": Module("new", (finding("a"), finding("b")))}


def test_a_test_that_ran_as_a_whole_has_what_it_just_found() -> None:
    after = merged(OLD, Run((heard("a", 1e-9),), whole={"a"}))
    assert errors(after) == {"a": "1e-09", "b": "1e-06"}


def test_of_a_test_that_ran_in_part_the_larger_error_stands() -> None:
    assert errors(merged(OLD, Run((heard("a", 1e-9),))))["a"] == "1e-06"
    assert errors(merged(OLD, Run((heard("a", 1e-3),))))["a"] == "1e-03"


def test_of_all_cases_of_a_test_the_largest_error_is_kept() -> None:
    cases = tuple(heard("a", error) for error in (1e-9, 1e-4, 1e-12))
    assert errors(merged({}, Run(cases, whole={"a"}))) == {"a": "1e-04"}


def test_a_test_that_compares_no_longer_loses_its_findings() -> None:
    assert errors(merged(OLD, Run(whole={"a"}))) == {"b": "1e-06"}


def test_a_test_with_a_case_that_failed_loses_all_findings() -> None:
    assert errors(merged(OLD, Run((heard("a", 1e-9),), failed={"a"}))) == {"b": "1e-06"}


def test_a_test_that_is_gone_loses_its_findings() -> None:
    assert errors(merged(OLD, Run(is_gone=lambda test: test == "b"))) == {"a": "1e-06"}


def test_what_was_found_of_other_code_goes_when_a_test_speaks_of_the_new() -> None:
    after = merged(OLD, Run((heard("a", 1e-9, code="newer"),), whole={"a"}))
    assert after["m"].code == "newer"
    assert errors(after) == {"a": "1e-09"}


def test_a_module_that_no_test_spoke_of_stays_until_it_is_no_page() -> None:
    run = Run((heard("c", 1e-9, module="other"),), whole={"c"})
    assert errors(merged(OLD, run)) == {"a": "1e-06", "b": "1e-06"}
    gone = Run(run.heard, run.whole, is_page=lambda module: module == "other")
    assert merged(OLD, gone).keys() == {"other"}


def test_of_a_module_that_was_edited_while_the_tests_ran_nothing_is_known() -> None:
    assert merged(OLD, Run((heard("a", 1e-9), heard("b", 1e-9, code="newer")))) == {}


def test_the_file_is_the_same_whatever_the_order_and_comes_back_as_it_was() -> None:
    findings = [finding("b"), finding("a", "exact"), finding("a", against='"Müller"')]
    some = {"n": Module("1", (finding("c"),)), "m": Module("2", tuple(findings))}
    others = {"m": Module("2", tuple(reversed(findings))), "n": some["n"]}
    assert to_bytes(some) == to_bytes(others)
    assert to_bytes(from_bytes(to_bytes(some))) == to_bytes(some)
    assert json.loads(to_bytes(some))["n"]["findings"][0]["test"] == "c"
    assert from_bytes(to_bytes({})) == {}


ENTRY = '{"m": {"code": "1", "findings": [%s]}}'


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("[]", 1),
        ("{\n<<<<<<< HEAD\n}", 2),
        ('{\n"m": 3}', 2),
        ('{"m": {"code": 1, "findings": []}}', 1),
        (ENTRY % "3", 1),
        (ENTRY % '{"against": "x"}', 1),
        (ENTRY % '{"against": "x", "what": "v", "dtype": "", "error": "small", "test": "t"}', 1),
        (ENTRY % '{"against": "x", "what": "v", "dtype": "", "error": "nan", "test": "t"}', 1),
        (ENTRY % '{"against": "x", "what": "v", "dtype": "", "error": "exact", "test": "t", "more": ""}', 1),
        ("[" * 100_000, 1),
        ("\udc80", 1),
    ],
)
def test_a_file_that_is_none_of_ours_is_refused_at_its_line(text: str, line: int) -> None:
    with pytest.raises(MalformedError) as refusal:
        from_bytes(text.encode("utf-8", "surrogateescape"))
    assert refusal.value.line == line


# --- under the real pytest ---

LAYER = '''
"""
# Layer

Twice as much.
"""


def double(x):
    return 2 * x
'''
OTHER = '"""# Other"""\n\n\ndef triple(x):\n    return 3 * x\n'
TEST_LAYER = """
    import sys

    import pytest
    from pkg.layer import double


    @pytest.mark.parametrize("x", [1.0, 2.0, 100.0])
    def test_cases(x, verified):
        verified(double(x), x + x + 1e-6 * x, against="a sum", of=double, rtol=1e-5, atol=0)
        assert "torch" not in sys.modules and "numpy" not in sys.modules


    @pytest.mark.parametrize("x", [1.0, 2.0])
    def test_that_fails_in_one_case(x, verified):
        verified(double(x), x + x, against="a liar", of=double)
        assert x < 2


    @pytest.mark.xfail(strict=False)
    def test_that_was_to_fail(verified):
        verified(double(1.0), 2.0, against="a surprise", of=double)


    @pytest.fixture
    def broken():
        yield
        raise OSError


    def test_that_fails_at_its_end(verified, broken):
        verified(double(1.0), 2.0, against="a wreck", of=double)


    def test_without_the_fixture():
        open("ran.txt", "a").write("x")
"""
TEST_OTHER = """
    from pkg.other import triple


    def test_triple(verified):
        verified([triple(1), triple(2.0)], [3, 6.0], against="a table", of=triple)


    def test_again(verified):
        verified(triple(2.0), 6.0 + 1e-9, against="a sum", of=triple, what="sums")
"""
SETTINGS = """
    [tool.site_builder]
    packages = ["pkg"]
    {more}

    [tool.pytest.ini_options]
    addopts = ["-p", "site_builder.verified.plugin", "-p", "no:cacheprovider"]
    pythonpath = ["."]
    testpaths = ["tests"]
"""


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(dedent(text), "utf-8")


def make_project(folder: Path) -> Path:
    """A package of two pages, each with its tests."""
    write(
        folder,
        {
            "pyproject.toml": SETTINGS.format(more=""),
            "pkg/__init__.py": '"""# Package"""\n',
            "pkg/layer.py": LAYER,
            "pkg/other.py": OTHER,
            "tests/test_layer.py": TEST_LAYER,
            "tests/test_other.py": TEST_OTHER,
        },
    )
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path)


def run_pytest(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", *arguments],
        cwd=folder,
        env={**environ, "PYTHONPATH": str(REPOSITORY), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


def told(folder: Path) -> dict[str, set[tuple[str, ...]]]:
    modules = from_bytes((folder / "tests/verified.json").read_bytes())
    return {
        name: {(found.against, found.what, found.dtype, found.error) for found in module.findings}
        for name, module in modules.items()
    }


FOUND = {
    "pkg.layer": {("a sum", "values", "float64", "1e-03")},
    "pkg.other": {
        ("a table", "values", "", "exact"),
        ("a table", "values", "float64", "exact"),
        ("a sum", "sums", "float64", "1e-08"),
    },
}


def test_tests_that_pass_are_written_down_by_one_process_as_by_two(project: Path) -> None:
    alone = run_pytest(project, "--verified-write")
    assert alone.returncode == 1, alone.stdout
    assert "tests/verified.json: 4 findings on 2 modules" in alone.stdout
    assert told(project) == FOUND
    assert not (project / "ran.txt").exists(), "a test that compares nothing need not run"
    written = (project / "tests/verified.json").read_bytes()
    (project / "tests/verified.json").unlink()
    together = run_pytest(project, "--verified-write", "-p", "xdist", "-n", "2")
    assert together.returncode == 1, together.stdout
    assert (project / "tests/verified.json").read_bytes() == written


def test_without_the_option_tests_assert_and_nothing_is_written(project: Path) -> None:
    done = run_pytest(project, "-rf")
    assert done.returncode == 1
    assert "1 failed" in done.stdout
    assert "[2.0]" in done.stdout
    assert (project / "ran.txt").exists()
    assert not (project / "tests/verified.json").exists()


def test_a_run_of_some_tests_keeps_what_the_others_found(verified_project: Path) -> None:
    project = verified_project
    text = (project / "tests/test_other.py").read_text("utf-8")
    text = text.replace("def test_again", "def test_once_more")
    (project / "tests/test_other.py").write_text(text.replace("1e-9", "5e-8"), "utf-8")
    (project / "tests/test_layer.py").unlink()
    assert run_pytest(project, "--verified-write", "tests/test_other.py::test_triple").returncode == 0
    assert told(project) == {"pkg.other": FOUND["pkg.other"]}, "only the tests of the missing file are gone"
    assert run_pytest(project, "--verified-write", "-k", "once_more").returncode == 0
    renamed = {*FOUND["pkg.other"], ("a sum", "sums", "float64", "1e-07")} - {
        ("a sum", "sums", "float64", "1e-08")
    }
    assert told(project) == {"pkg.other": renamed}


def test_a_file_that_is_damaged_is_not_written_over(project: Path) -> None:
    (project / "tests/verified.json").write_text("{\n<<<<<<< ours\n}", "utf-8")
    done = run_pytest(project, "--verified-write")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "verified.json:2:1: not JSON" in done.stderr + done.stdout
    assert "Traceback" not in done.stderr + done.stdout
    assert "<<<<<<<" in (project / "tests/verified.json").read_text("utf-8")


def test_a_run_that_was_broken_off_leaves_the_file_as_it_is(verified_project: Path, written: bytes) -> None:
    (verified_project / "tests/test_other.py").write_text("syntax error", "utf-8")
    done = run_pytest(verified_project, "--verified-write")
    assert done.returncode == pytest.ExitCode.INTERRUPTED
    assert (verified_project / "tests/verified.json").read_bytes() == written


# --- on the page ---


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What the tests of the project leave behind."""
    folder = make_project(tmp_path_factory.mktemp("written"))
    run_pytest(folder, "--verified-write")
    return (folder / "tests/verified.json").read_bytes()


@pytest.fixture
def verified_project(project: Path, written: bytes) -> Path:
    (project / "tests/verified.json").write_bytes(written)
    return project


def feet(build: Builder, folder: Path) -> dict[str, str]:
    """By page, what its foot says of tests, after the real command."""
    done = build(folder, "--no-exec")
    assert done.status == 0, done.err
    return {
        page: done.read(f"{page}.html").partition('class="pair verified"')[2].partition("</section>")[0]
        for page in ("index", "layer", "other")
    }


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


def test_the_foot_of_a_page_shows_its_rows_until_its_code_changes(
    verified_project: Path, build: Builder
) -> None:
    file = verified_project / "pkg/layer.py"
    shown = feet(build, verified_project)
    assert "a sum" in shown["layer"]
    assert "1e-3" in shown["layer"]
    assert "a table" in shown["other"]
    assert shown["index"] == "", "a page that defines nothing has nothing to be compared"
    edit(file, "Twice as much.", "Two times as much.")
    edit(file, "return 2 * x", "# As it says.\n    return 2 * x")
    assert feet(build, verified_project) == shown, "prose changes nothing"
    edit(file, "return 2 * x", "return x * 2")
    hidden = feet(build, verified_project)
    assert "a sum" not in hidden["layer"]
    assert "before the code last changed" in hidden["layer"]
    assert hidden["other"] == shown["other"], "another page is not concerned"


def test_a_project_without_the_file_says_nothing(project: Path, build: Builder) -> None:
    assert feet(build, project) == {"index": "", "layer": "", "other": ""}


def test_of_a_package_beside_the_one_that_is_compared_nothing_is_said() -> None:
    def page(module: str) -> Page:
        source = SourceFile(f"{module}.py", "", module, f"{module}.html", is_package=False)
        return parse(source, b"def f(): return 1\n")

    file = Verified(True, {"pkg.layer": Module("", ())})
    assert file.rows(page("pkg.other")) == ()
    assert file.rows(page("tool.other")) is None
    assert Verified(True).rows(page("tool.other")) == (), "a new file is about all there is"


def test_the_file_may_have_another_name(verified_project: Path, build: Builder) -> None:
    (verified_project / "tests/verified.json").rename(verified_project / "evidence.json")
    settings = dedent(SETTINGS).format(more='verified = "evidence.json"')
    (verified_project / "pyproject.toml").write_text(settings, "utf-8")
    assert "a sum" in feet(build, verified_project)["layer"]


def test_who_goes_on_building_sees_new_findings_and_only_those(project: Path, written: bytes) -> None:
    config, shelf = load(project), Shelf(Store(), keep=True)
    assert config.folder("tests/verified.json") in watched(config).files
    before = make(config, shelf=shelf).files
    (project / "tests/verified.json").write_bytes(written)
    after = make(config, shelf=shelf).files
    assert {url for url in before if before[url] != after[url]} == {"layer.html", "other.html"}
    assert after == make(config).files


def test_a_damaged_file_is_one_diagnostic_and_the_site_is_built(
    verified_project: Path, build: Builder
) -> None:
    (verified_project / "tests/verified.json").write_text('{"pkg.layer":\n  3}', "utf-8")
    done = build(verified_project, "--no-exec")
    assert done.status == 0
    [fault] = done.faults
    assert fault.startswith("tests/verified.json:1:1: verified-file ")
    assert 'class="pair verified"' not in done.read("layer.html")
    assert build(verified_project, "--no-exec", "--strict").status == 1


def test_an_oracle_is_text_and_never_markup(verified_project: Path, build: Builder) -> None:
    file = verified_project / "tests/verified.json"
    modules = from_bytes(file.read_bytes())
    found = Finding('a & <b> "c"', "<i>", "float32", "1e-06", "t")
    file.write_bytes(to_bytes({**modules, "pkg.layer": Module(modules["pkg.layer"].code, (found,))}))
    shown = feet(build, verified_project)["layer"]
    assert "a &amp; &lt;b&gt;" in shown
    assert "&lt;i&gt;" in shown


# --- our own ---


def test_the_committed_file_is_as_it_was_written_and_names_tests_that_exist() -> None:
    data = (REPOSITORY / "tests/verified.json").read_bytes()
    modules = from_bytes(data)
    assert to_bytes(modules) == data
    tests = {found.test for module in modules.values() for found in module.findings}
    assert tests
    for test in tests:
        file, _, name = test.partition("::")
        tree = ast.parse((REPOSITORY / file).read_bytes())
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, test


def test_the_builder_reads_the_file_without_what_writes_it() -> None:
    script = "import sys, site_builder.verified; assert not {'pytest', 'torch', 'numpy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True, cwd=REPOSITORY)
