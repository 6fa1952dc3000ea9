"""A recorded call, walked through statement by statement, in a page opened from a folder."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from .axe import violations
from .conftest import Reading, Tab, Visit, run_builder, shown

SOURCE = '''"""
# Sums

>>> running([3, 1])
[3, 4]
>>> softmax(np.array([[0.0, 1.0, -2.0], [4.0, 4.0, 4.0]])).shape
(2, 3)
>>> stack(3).shape
(2, 1, 2, 3)
>>> large(40, 50).shape
(40, 50)
>>> endless(150)
150
"""

import numpy as np


def running(numbers):
    """
    ## A running sum

    Each number is added to those before it.
    """
    total = 0
    sums = []
    # Take them one by one.
    for number in numbers:
        total = total + number  # the sum so far
        sums.append(total)
    return sums


def softmax(scores):
    """
    ## Weights

    Large numbers are kept from overflowing.
    """
    scores = scores - scores.max(
        axis=-1, keepdims=True
    )
    weights = np.exp(scores)
    return weights / weights.sum(-1, keepdims=True)


def stack(n):
    """
    ## Slices

    Four axes, one of them of length one.
    """
    grid = np.arange(4 * n).reshape(2, 1, 2, n) - 5
    return grid


def large(rows, columns):
    """
    ## Large

    Too many numbers to be read.
    """
    mixed = np.linspace(0.0, 1.0, rows * columns)
    return mixed.reshape(rows, columns)


def endless(count):
    """
    ## Long

    More steps than are recorded.
    """
    total = 0
    for _ in range(count):
        total += 1
    return total


def unseen(value):
    """
    No example calls this.
    """
    value += 1
    return value
'''


@pytest.fixture(scope="module")
def sums(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny site in two languages."""
    folder = tmp_path_factory.mktemp("sums")
    (folder / "pkg").mkdir()
    (folder / "pkg" / "__init__.py").touch()
    (folder / "pkg" / "sums.py").write_text(SOURCE, "utf-8")
    (folder / "pyproject.toml").write_text(
        '[tool.site_builder]\npackages = ["pkg"]\nlanguages = ["en", "ja"]\n', "utf-8"
    )
    run_builder("build", "-o", "site", "--strict", cwd=folder)
    return folder / "site"


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=f"Step through {name}", exact=True)


def walk(page: Page, name: str) -> Locator:
    """Opens the walk of a function and gives the panel."""
    button(page, name).click()
    panel = page.get_by_role("region", name="Step through")
    expect(panel.locator(".nth")).to_contain_text("step 0 of")
    return panel


def lit(page: Page) -> list[str]:
    """The text of the lines that are lit."""
    texts: list[str] = page.eval_on_selector_all(
        ".line.at", "lines => lines.map(line => line.querySelector('.src').textContent.trim())"
    )
    return texts


def cells(table: Locator) -> list[list[float]]:
    rows: list[list[str]] = table.evaluate(
        "table => [...table.tBodies[0].rows].map(row => [...row.querySelectorAll('td')].map(cell => cell.textContent))"
    )
    return [[float(text.replace("−", "-")) for text in row] for row in rows]


def test_nothing_is_loaded_before_it_is_asked_for_and_then_one_script(sums: Path, visit: Visit) -> None:
    page = visit.open(sums / "sums.html")
    steps = (sums / "steps").as_uri()
    assert not any(request.startswith(steps) for request in visit.requests)
    known = {*visit.requests}
    walk(page, "running")
    page.keyboard.press("Escape")
    walk(page, "softmax")
    # When the browser fetches the icon is its own affair.
    later = [
        request for request in visit.requests if request not in known and not request.endswith("/icon.svg")
    ]
    assert later == [f"{steps}/sums.js"]
    assert sum(request.startswith(steps) for request in visit.requests) == 1
    assert visit.messages == []


def test_arrow_keys_walk_from_line_to_line_and_home_and_end_go_all_the_way(
    sums: Path, reading: Reading
) -> None:
    page = reading(sums / "sums.html").page
    panel = walk(page, "running")
    assert lit(page) == ["def running(numbers):"]
    loop = [
        "for number in numbers:",
        "total = total + number  # the sum so far",
        "sums.append(total)",
    ]
    expected = ["total = 0", "sums = []", *loop, *loop, loop[0], "return sums"]
    for number, line in enumerate(expected, 1):
        page.keyboard.press("ArrowRight")
        expect(panel.locator(".nth")).to_contain_text(f"step {number} of {len(expected)}")
        assert lit(page) == [line]
    page.keyboard.press("ArrowRight")
    assert lit(page) == ["return sums"]
    page.keyboard.press("ArrowLeft")
    assert lit(page) == ["for number in numbers:"]
    page.keyboard.press("Home")
    assert lit(page) == ["def running(numbers):"]
    page.keyboard.press("End")
    assert lit(page) == ["return sums"]


def test_slider_and_buttons_lead_to_the_same_steps(sums: Path, reading: Reading) -> None:
    page = reading(sums / "sums.html").page
    panel = walk(page, "running")
    slider = panel.get_by_role("slider", name="Step")
    slider.fill("4")
    assert lit(page) == ["total = total + number  # the sum so far"]
    expect(panel.locator(".value")).to_have_text("total 3")
    panel.get_by_role("button", name="Next step").click()
    assert lit(page) == ["sums.append(total)"]
    panel.get_by_role("button", name="Previous step").click()
    expect(slider).to_have_value("4")
    # With the focus on a button the keys still walk.
    page.keyboard.press("End")
    assert lit(page) == ["return sums"]


def test_loops_say_which_round_it_is(sums: Path, reading: Reading) -> None:
    page = reading(sums / "sums.html").page
    panel = walk(page, "running")
    slider = panel.get_by_role("slider")
    for step, words in {2: "", 4: "round 1", 7: "round 2", 9: "the loop ends"}.items():
        slider.fill(str(step))
        expect(panel.locator(".nth")).to_have_text(f"step {step} of 10" + (f" · {words}" if words else ""))


def test_a_statement_of_several_lines_is_lit_as_a_whole(sums: Path, reading: Reading) -> None:
    page = reading(sums / "sums.html").page
    panel = walk(page, "softmax")
    page.keyboard.press("ArrowRight")
    assert lit(page) == ["scores = scores - scores.max(", "axis=-1, keepdims=True", ")"]
    expect(panel.locator(".stmt code")).to_have_text("scores = scores - scores.max(axis=-1, keepdims=True)")


def test_small_arrays_show_their_numbers(sums: Path, reading: Reading) -> None:
    page = reading(sums / "sums.html").page
    panel = walk(page, "softmax")
    expect(panel.locator(".stmt code")).to_contain_text(">>> softmax(np.array(")
    assert cells(panel.locator("table")) == [[0, 1, -2], [4, 4, 4]]
    page.keyboard.press("End")
    expect(panel.locator(".value .given")).to_contain_text("result [2, 3] float64")
    powers = [math.exp(-1), 1, math.exp(-3)]
    expected = [[power / sum(powers) for power in powers], [1 / 3] * 3]
    for found, wanted in zip(cells(panel.locator("table")), expected, strict=True):
        assert found == pytest.approx(wanted, rel=1e-3)
    tints = panel.locator("tbody td").evaluate_all(
        "cells => cells.map(cell => parseFloat(cell.style.getPropertyValue('--heat')))"
    )
    assert max(range(6), key=tints.__getitem__) == 1


def test_more_than_two_axes_are_shown_slice_by_slice(sums: Path, reading: Reading) -> None:
    page = reading(sums / "sums.html").page
    panel = walk(page, "stack")
    expect(panel.locator(".value")).to_have_text("n 3")
    page.keyboard.press("ArrowRight")
    tables = panel.locator("table")
    assert tables.locator("caption").all_inner_texts() == ["[0, 0, :, :]", "[1, 0, :, :]"]
    assert cells(tables.nth(0)) == [[-5, -4, -3], [-2, -1, 0]]
    assert cells(tables.nth(1)) == [[1, 2, 3], [4, 5, 6]]
    below = tables.nth(0).locator("td.below")
    assert below.all_inner_texts() == ["−5", "−4", "−3", "−2", "−1"]


def test_large_arrays_show_statistics(sums: Path, reading: Reading) -> None:
    page = reading(sums / "sums.html").page
    panel = walk(page, "large")
    page.keyboard.press("ArrowRight")
    figures = dict(
        zip(panel.locator("dt").all_inner_texts(), panel.locator("dd").all_inner_texts(), strict=True)
    )
    assert (figures["least"], figures["greatest"], figures["mean"]) == ("0", "1", "0.5")
    # Of n equally spaced numbers from 0 to 1 the variance is (n + 1) / 12 (n − 1).
    assert float(figures["deviation"]) == pytest.approx(math.sqrt(2001 / (12 * 1999)), rel=1e-3)
    expect(panel.locator(".value table")).to_have_count(0)


def test_escape_and_the_cross_close_it_and_give_the_focus_back(sums: Path, reading: Reading) -> None:
    page = reading(sums / "sums.html").page
    opener = button(page, "softmax")
    opener.focus()
    page.keyboard.press("Enter")
    panel = page.locator("#steps")
    expect(panel.get_by_role("slider")).to_be_focused()
    expect(opener).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(opener).to_be_focused()
    expect(opener).to_have_attribute("aria-expanded", "false")
    assert lit(page) == []
    page.keyboard.press("Enter")
    panel.get_by_role("button", name="Close").click()
    expect(panel).to_be_hidden()
    expect(opener).to_be_focused()


def test_each_step_is_announced_once_in_words(sums: Path, reading: Reading) -> None:
    page = reading(sums / "sums.html").page
    panel = walk(page, "running")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(panel.get_by_role("status")).to_have_text("for number in numbers:; number: 3")
    expect(panel.get_by_role("slider")).to_have_attribute("aria-valuetext", "step 3 of 10 · round 1")


@pytest.mark.parametrize("width", [1440, 390])
def test_no_line_moves_when_one_is_lit_and_the_lit_one_is_in_sight(
    sums: Path, reading: Reading, width: int
) -> None:
    page = reading(sums / "sums.html").page
    page.set_viewport_size({"width": width, "height": 600})
    places = """() => [...document.querySelectorAll('main .line, main .note > *')].map(element => {
        const box = element.getBoundingClientRect();
        return [box.left, box.top + scrollY, box.width, box.height];
    })"""
    page.evaluate("scrollTo(0, 0)")
    before = page.evaluate(places)
    panel = walk(page, "running")
    slider = panel.get_by_role("slider")
    for step in range(11):
        slider.fill(str(step))
        line, bar, top = page.evaluate(
            """() => ['.line.at', '.bar', '#steps'].map(name => document.querySelector(name).getBoundingClientRect())
                .map(box => [box.top, box.bottom])"""
        )
        assert bar[1] <= line[0]
        assert line[1] <= top[0]
    page.evaluate("scrollTo(0, 0)")
    assert page.evaluate(places) == before


def test_on_a_phone_everything_fits_and_can_be_touched(sums: Path, reading: Reading) -> None:
    page = reading(sums / "sums.html").page
    panel = walk(page, "softmax")
    page.keyboard.press("End")
    for width in (320, 390):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") == width
    for target in (*panel.get_by_role("button").all(), panel.get_by_role("slider"), button(page, "softmax")):
        box = target.bounding_box()
        assert box is not None
        assert box["height"] >= 44
        assert box["width"] >= 44
    box = panel.bounding_box()
    assert box is not None
    assert (box["x"], box["width"], box["y"] + box["height"]) == (0, 390, 844)
    assert box["height"] <= 844 / 2


CONTRASTS = """elements => {
    const canvas = document.createElement("canvas"), pen = canvas.getContext("2d", { willReadFrequently: true });
    const paint = (...colours) => {
        for (const colour of colours) { pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1); }
        const parts = [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3).map(part => part / 255);
        const [red, green, blue] = parts.map(part => part <= .04045 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4);
        return .2126 * red + .7152 * green + .0722 * blue;
    };
    return elements.map(element => {
        const grounds = [];
        for (let around = element; around; around = around.parentElement) {
            grounds.unshift(getComputedStyle(around).backgroundColor);
        }
        // Behind the code lies a ground that no element around it has.
        if (element.closest("main")) grounds.splice(1, 0, "GROUND");
        const ground = paint(...grounds), ink = paint(...grounds, getComputedStyle(element).color);
        return (Math.max(ground, ink) + .05) / (Math.min(ground, ink) + .05);
    });
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_and_tints_leave_the_contrast(sums: Path, tab: Tab, theme: str) -> None:
    page = shown(tab(color_scheme=theme), sums / "sums.html")
    walk(page, "running").get_by_role("slider").fill("4")
    running = violations(page)
    ground = {"light": "#f7f6f2", "dark": "#13110f"}[theme]
    contrasts = CONTRASTS.replace("GROUND", ground)
    line = page.eval_on_selector_all(".line.at .src, .line.at :is(i, .ln)", contrasts)
    page.keyboard.press("Escape")
    walk(page, "stack")
    page.keyboard.press("End")
    stack = violations(page, "#steps")
    numbers = page.eval_on_selector_all("#steps :is(td, th, caption, .kind, .stmt code)", contrasts)
    assert running == []
    assert stack == []
    assert len(line) > 3
    assert min(line) >= 4.5
    assert len(numbers) > 12
    assert min(numbers) >= 4.5


def test_a_call_that_went_on_for_too_long_says_so_at_its_end(sums: Path, reading: Reading) -> None:
    page = reading(sums / "sums.html").page
    panel = walk(page, "endless")
    expect(panel.locator(".more")).to_be_empty()
    page.keyboard.press("End")
    expect(panel.locator(".nth")).to_contain_text("step 200 of 200")
    expect(panel.locator(".more")).to_have_text("Recorded up to here; the call went on.")


def test_a_record_that_cannot_be_loaded_says_so_and_closes(sums: Path, visit: Visit, tmp_path: Path) -> None:
    lost = shutil.copytree(sums, tmp_path / "site")
    shutil.rmtree(lost / "steps")
    page = visit.open(lost / "sums.html")
    button(page, "running").click()
    expect(page.locator("#steps .values")).to_have_text("The recorded steps could not be loaded.")
    page.keyboard.press("Escape")
    expect(button(page, "running")).to_be_focused()
    # Whoever puts it back need not load the page anew.
    shutil.copytree(sums / "steps", lost / "steps")
    walk(page, "running")
    assert lit(page) == ["def running(numbers):"]


def test_only_functions_that_ran_have_a_button(sums: Path, reading: Reading) -> None:
    page = reading(sums / "sums.html").page
    assert page.locator("[data-walk] .hidden").all_inner_texts() == [
        "running",
        "softmax",
        "stack",
        "large",
        "endless",
    ]


def test_without_scripts_there_is_no_button_and_no_panel(sums: Path, tab: Tab) -> None:
    page = shown(tab(java_script_enabled=False), sums / "sums.html")
    expect(page.locator(".walk").first).to_be_hidden()
    expect(page.locator("#steps")).to_be_hidden()


def test_it_speaks_japanese(sums: Path, reading: Reading) -> None:
    page = reading(sums / "ja" / "sums.html").page
    page.get_by_role("button", name="ステップ実行 running").click()
    panel = page.get_by_role("region", name="ステップ実行")
    expect(panel.locator(".nth")).to_have_text("ステップ 0 / 10 · 呼び出しの開始")
    panel.get_by_role("slider").fill("7")
    expect(panel.locator(".nth")).to_have_text("ステップ 7 / 10 · 2 周目")


def test_the_code_that_is_copied_is_the_code(sums: Path, reading: Reading) -> None:
    page = reading(sums / "sums.html").page
    copied = page.evaluate(
        """() => {
            getSelection().selectAllChildren(document.querySelector('pre:has(.walk)'));
            return String(getSelection());
        }"""
    )
    assert "Step through" not in copied


def test_attention_is_walked_with_the_names_of_its_axes(site: Path, reading: Reading) -> None:
    visit = reading(site / "transformers/mha.html")
    page = visit.page
    panel = walk(page, "MultiHeadAttention.forward")
    given = panel.locator(".given").all_inner_texts()
    assert any(text.startswith("query") and "seq_len" in text and "d_model]" in text for text in given)
    expect(panel.locator("dl").first).to_contain_text("deviation")
    assert visit.messages == []
