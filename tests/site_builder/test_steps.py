"""Recorded calls as the script that a page loads, from real runs of tiny pages."""

from __future__ import annotations

import gzip
import json
import random
import statistics
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from site_builder.claims import Checked, Shape
from site_builder.model import Page
from site_builder.outputs.steps import LIMIT, script
from site_builder.record.model import Function, Named, Record, Step, Value, Walk
from tests.site_builder.conftest import Builder
from tests.site_builder.recording import pages, record, write

SOURCE = '''
"""
>>> running([3, 1])
[3, 4]
>>> grid(2)
4
>>> shrink(9)
2
>>> weights(np.array([[1.0, 3.0], [5.0, 5.0]])).shape
(2, 2)
>>> float(many(30))
29.0
>>> Plain(3).size
3
>>> Filled(3).table.shape
(3,)
>>> silent(1); short(1)
1
>>> first([2, 1])
1
"""

import functools

import numpy as np


def running(numbers):
    total, sums = 0, []
    # Prose may stand between statements,
    for number in numbers:
        total += number
        sums.append(total)
    return sums


def grid(size):
    count = 0
    for row in range(size):
        for column in range(size):
            count += 1
    return count


def shrink(size):
    while size > 2:
        size = size // 2
    return size


@functools.lru_cache(
    maxsize=None
)
def cached(value):
    value += 1
    return value


def weights(scores):
    scores = scores / scores.sum(
        # and within them.
        axis=-1,
        keepdims=True,
    )
    if (
        scores.size
    ):
        return scores


def many(count):
    numbers = np.arange(float(count * 10)).reshape(count, 10)
    return numbers[:, 0].max() / 10


class Plain:
    def __init__(self, size):
        self.size = size
        self.name = "plain"


class Filled:
    def __init__(self, size):
        self.size = size
        self.table = np.zeros(size)


def silent(value):
    value += cached(value)
    value -= 1


def short(value):
    return value


def first(numbers):
    for number in numbers:
        if number < 2:
            break
    return number
'''


class Told:
    """A file's text, read as what it is: one call with one argument."""

    def __init__(self, data: bytes | None) -> None:
        assert data is not None
        text = data.decode("ascii")
        assert text.startswith("stepThrough({")
        assert text.endswith("});\n")
        self.all: dict[str, Any] = json.loads(text.removeprefix("stepThrough(").removesuffix(");\n"))
        self.values: list[dict[str, Any]] = self.all.get("values", [])

    def walk(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = next(walk for walk in self.all["walks"] if walk["name"] == name)
        return found

    def names(self) -> set[str]:
        return {walk["name"] for walk in self.all["walks"]}

    def given(self, name: str, step: int) -> dict[str, dict[str, Any]]:
        """What a step gave, by name; what the call was given for step 0."""
        walk = self.walk(name)
        pairs = walk["arguments"] if step == 0 else walk["steps"][step - 1][3]
        return {name: self.values[place] for name, place in pairs}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Page, Record]:
    folder = write(tmp_path_factory.mktemp("steps"), sums=SOURCE)
    recorded = record(folder, "sums")
    assert recorded.diagnostics == ()
    return next(page for page in pages(folder) if page.url == "sums.html"), recorded.records["sums.html"]


@pytest.fixture(scope="module")
def told(ran: tuple[Page, Record]) -> Told:
    return Told(script(*ran))


def source(page: Page, first: int, last: int) -> str:
    return "".join(page.lines[first - 1 : last])


def test_each_step_stands_on_the_lines_of_its_statement(ran: tuple[Page, Record], told: Told) -> None:
    lines = [source(ran[0], first, last).strip() for first, last, _, _ in told.walk("running")["steps"]]
    assert lines == [
        "total, sums = 0, []",
        *["for number in numbers:", "total += number", "sums.append(total)"] * 2,
        "for number in numbers:",
        "return sums",
    ]


def test_a_statement_of_several_lines_has_them_all_and_a_compound_one_its_head(
    ran: tuple[Page, Record], told: Told
) -> None:
    divided, asked, returned = (
        source(ran[0], first, last) for first, last, _, _ in told.walk("weights")["steps"]
    )
    assert divided.startswith("    scores = scores / scores.sum(\n")
    assert divided.endswith("keepdims=True,\n    )\n")
    assert asked == "    if (\n        scores.size\n    ):\n"
    assert returned == "        return scores\n"


def test_a_call_begins_at_the_head_of_its_function_decorators_included(
    ran: tuple[Page, Record], told: Told
) -> None:
    assert source(ran[0], *told.walk("cached")["lines"]) == (
        "@functools.lru_cache(\n    maxsize=None\n)\ndef cached(value):\n"
    )


def test_arguments_results_and_scalars_are_told(told: Told) -> None:
    assert told.given("running", 0)["numbers"]["size"] == 2
    totals = [told.given("running", step)["total"]["text"] for step in (1, 3, 6)]
    assert totals == ["0", "3", "4"]
    result = told.values[told.walk("running")["result"]]
    assert [told.values[item]["text"] for item in result["items"]] == ["3", "4"]


def test_rounds_are_counted_loop_by_loop(told: Told) -> None:
    rounds = [lap for _, _, lap, _ in told.walk("grid")["steps"]]
    row = ["{0}", "{0}.1", "{0}.1", "{0}.2", "{0}.2", "end"]
    assert rounds == ["", *(lap.format(1) for lap in row), *(lap.format(2) for lap in row), "end", ""]


def test_a_while_loop_ends_at_its_head_and_a_broken_one_in_its_body(told: Told) -> None:
    assert [step[2] for step in told.walk("shrink")["steps"]] == ["1", "1", "2", "2", "end", ""]
    assert [step[2] for step in told.walk("first")["steps"]] == ["1", "1", "2", "2", "2", ""]


def test_a_small_array_has_all_its_numbers(told: Told) -> None:
    value = told.given("weights", 1)["scores"]
    assert value["shape"] == [2, 2]
    assert [float(number) for number in value["data"].split()] == [0.25, 0.75, 0.5, 0.5]
    assert "stats" not in value


def test_a_large_array_has_its_statistics(told: Told) -> None:
    value = told.given("many", 1)["numbers"]
    numbers = [float(number) for number in range(300)]
    expected = [min(numbers), max(numbers), statistics.fmean(numbers), statistics.pstdev(numbers)]
    assert [float(number) for number in value["stats"].split()] == pytest.approx(expected, rel=1e-3)
    assert "data" not in value


def test_the_example_that_called_is_told(told: Told) -> None:
    assert told.walk("grid")["call"] == "grid(2)"
    assert told.walk("cached")["call"] == "silent(1); short(1)"


def test_only_what_is_worth_walking_through_is_offered(told: Told) -> None:
    assert {"running", "cached", "Filled.__init__", "silent"} <= told.names()
    assert told.names().isdisjoint({"short", "Plain.__init__"})


def test_a_result_that_nobody_returned_is_not_told(told: Told) -> None:
    assert "result" not in told.walk("silent")
    assert "result" in told.walk("shrink")


def test_axes_bear_the_names_that_claims_gave_them(ran: tuple[Page, Record]) -> None:
    _, found = ran
    weights = next(function for function in found.functions if function.name == "weights")
    assert weights.walk is not None
    first = weights.walk.steps[0].ordinal
    checked = Checked(
        shapes={first: (Shape("scores", ("rows", "2"), ((2, 2),), ()),)},
        arguments={weights.ordinal: (Shape("scores", ("...", "columns"), ((2, 2),), ()),)},
        results={weights.ordinal: Shape("return", ("rows", "columns", "no such axis"), ((2, 2),), ())},
    )
    told = Told(script(*ran, checked))
    assert told.given("weights", 0)["scores"]["axes"] == ["", "columns"]
    assert told.given("weights", 1)["scores"]["axes"] == ["rows", ""]
    assert "axes" not in told.values[told.walk("weights")["result"]]


def test_a_page_without_a_walk_has_no_file(ran: tuple[Page, Record]) -> None:
    page, found = ran
    assert script(page, Record(found.module)) is None
    alone = tuple(function for function in found.functions if function.name in ("short", "Plain.__init__"))
    assert len(alone) == 2
    assert script(page, replace(found, functions=alone)) is None


def test_one_record_gives_one_file_byte_for_byte(ran: tuple[Page, Record]) -> None:
    page, found = ran
    assert script(page, found) == script(page, Record.from_bytes(found.to_bytes()))


# ---- the budget


def heavy(found: Record, walks: int, steps: int, numbers: int) -> Record:
    """The record with longer walks: each step gives an array of numbers that no compression makes small."""
    chance = random.Random(1)
    running = next(function for function in found.functions if function.name == "running")
    assert running.walk is not None
    ordinal = running.walk.steps[0].ordinal

    def step() -> Step:
        data = tuple(f"{chance.gauss(0, 1):.4g}" for _ in range(numbers))
        return Step(ordinal, (Named("x", Value("array", "numpy.ndarray", (numbers,), "float64", data=data)),))

    def walk() -> Walk:
        return Walk(running.ordinal, (), tuple(step() for _ in range(steps)), None, 0)

    made = (Function(running.ordinal, "running", 1, walk=walk()) for _ in range(walks))
    return replace(found, functions=tuple(made))


def size(data: bytes | None) -> int:
    assert data is not None
    return len(gzip.compress(data, 9, mtime=0))


def test_what_fits_is_not_cut(ran: tuple[Page, Record]) -> None:
    data = script(ran[0], heavy(ran[1], 2, 60, 128))
    assert size(data) <= LIMIT
    told = Told(data)
    assert not any("cut" in walk for walk in told.all["walks"])
    assert all(len(value["data"].split()) == 128 for value in told.values)


@pytest.mark.parametrize(
    ("walks", "steps", "numbers", "limit", "cut"),
    [
        (2, 200, 128, LIMIT, {"numbers"}),
        (4, 200, 4, 9_000, {"steps"}),
        (30, 200, 20, 20_000, {"numbers", "steps"}),
        (60, 3, 20, 1_000, {"numbers", "steps", "walks"}),
    ],
)
def test_a_file_keeps_to_its_budget_and_says_what_it_lacks(
    ran: tuple[Page, Record], walks: int, steps: int, numbers: int, limit: int, cut: set[str]
) -> None:
    data = script(ran[0], heavy(ran[1], walks, steps, numbers), None, limit)
    assert size(data) <= limit
    told = Told(data)
    shown = told.all["walks"]
    assert ("walks" in cut) == (len(shown) < walks)
    assert all((len(walk["steps"]) < steps) == ("steps" in cut) for walk in shown)
    assert all(walk.get("cut") == 1 for walk in shown) == ("steps" in cut)
    assert any("stats" in value for value in told.values) == ("numbers" in cut)


def test_numbers_that_are_left_out_are_summed_up(ran: tuple[Page, Record]) -> None:
    found = heavy(ran[1], 1, 12, 100)
    told = Told(script(ran[0], found, None, 3_000))
    walk = found.functions[0].walk
    assert walk is not None
    numbers = [float(number) for number in walk.steps[0].writes[0].value.data]
    expected = [min(numbers), max(numbers), statistics.fmean(numbers), statistics.pstdev(numbers)]
    shown = [float(number) for number in told.given("running", 1)["x"]["stats"].split()]
    assert shown == pytest.approx(expected, rel=1e-3)


# ---- the site


def test_a_site_has_one_file_a_page_for_all_languages_and_its_buttons_where_functions_begin(
    tmp_path: Path, build: Builder
) -> None:
    write(tmp_path, sums=SOURCE)
    (tmp_path / "pyproject.toml").write_text(
        '[tool.site_builder]\npackages = ["pkg"]\nlanguages = ["en", "ja"]\n', "utf-8"
    )
    ran = build(tmp_path, "--strict", "--exec")
    assert ran.status == 0, ran.err
    assert [file.name for file in (ran.folder / "steps").rglob("*")] == ["sums.js"]
    told = Told((ran.folder / "steps/sums.js").read_bytes())
    for url, root in (("sums.html", ""), ("ja/sums.html", "../")):
        html = ran.read(url)
        assert f'data-file="{root}steps/sums.js"' in html
        for walk in told.all["walks"]:
            assert html.count(f'data-walk="{walk["function"]}"') == 1
        assert html.count("data-walk=") == len(told.all["walks"])
    silent = ran.read("index.html")
    assert "js/steps.js" not in silent
    assert 'id="steps"' not in silent


def test_nothing_of_it_is_there_when_examples_are_not_run(tmp_path: Path, build: Builder) -> None:
    write(tmp_path, sums=SOURCE)
    ran = build(tmp_path, "--no-exec", "pkg")
    assert ran.status == 0, ran.err
    assert not (ran.folder / "steps").exists()
    assert "data-walk" not in ran.read("sums.html")
