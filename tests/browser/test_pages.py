"""What a reader meets: opened from a folder, at any width, in either theme, by mouse or keyboard."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image, ImageChops
from playwright.sync_api import expect

from ..site_builder.conftest import code_lines
from ..site_builder.test_build import Reader
from .axe import violations
from .conftest import REPOSITORY, Reading, Tab, Visit, shown
from .desk import DRAWN

PAGES = (
    "index.html",
    "transformers/index.html",
    "transformers/mha.html",
    "all-pages.html",
    "ja/transformers/mha.html",
)
MHA = "transformers/mha.html"


@pytest.mark.parametrize("url", PAGES)
def test_a_page_opened_from_a_folder_asks_nobody_and_complains_of_nothing(
    site: Path, reading: Reading, url: str
) -> None:
    visit = reading(site / url)
    assert visit.messages == []
    assert [request for request in visit.requests if not request.startswith("file://")] == []


def test_all_pages_can_be_reached_from_the_home_page_by_its_links(site: Path) -> None:
    found: set[Path] = set()
    todo = [site.resolve() / "index.html"]
    while todo:
        file = todo.pop()
        if file in found:
            continue
        found.add(file)
        links = {link.partition("#")[0] for link in Reader(file.read_text("utf-8")).links}
        todo += [(file.parent / link).resolve() for link in links if link and "//" not in link]
    assert {file for file in found if not file.is_file()} == set()
    lost = set(site.resolve().rglob("404.html"))
    assert {file for file in found if file.suffix == ".html"} == set(site.resolve().rglob("*.html")) - lost


def test_every_line_of_code_reads_back_equal_to_the_source_beside_its_own_number(
    site: Path, reading: Reading
) -> None:
    file = REPOSITORY / "labml_nn" / "transformers" / "mha.py"
    source = file.read_text("utf-8").splitlines(keepends=True)
    page = reading(site / MHA).page
    lines: list[list[str]] = page.eval_on_selector_all(
        ".line",
        "lines => lines.map(e => [e.querySelector('.ln').dataset.n, e.querySelector('.src').textContent])",
    )
    numbers = [int(number) for number, _ in lines]
    assert numbers == sorted(set(numbers))
    assert [text for _, text in lines] == [source[number - 1] for number in numbers]
    blank = {number for number in numbers if not source[number - 1].strip()}
    assert set(numbers) - blank == code_lines(file.read_bytes())


def test_copied_code_has_no_line_numbers_and_copied_examples_no_prompts(site: Path, reading: Reading) -> None:
    page = reading(site / MHA).page
    copied = page.evaluate(
        """() => {
            const block = [...document.querySelectorAll('pre')].find(e => e.querySelectorAll('.line').length > 3);
            getSelection().selectAllChildren(block);
            return [getSelection().toString(), [...block.querySelectorAll('.src')].map(e => e.textContent).join('')];
        }"""
    )
    assert copied[0].rstrip("\n") == copied[1].rstrip("\n")
    example = page.evaluate(
        """() => { getSelection().selectAllChildren(document.querySelector('.example pre'));
                   return getSelection().toString(); }"""
    )
    assert "prepare(x).shape" in example
    assert ">>>" not in example


IN_BOTH_THEMES = [
    pytest.param(url, theme, marks=pytest.mark.exhaustive if theme == other else ())
    for url, other in zip(PAGES, ("dark", "light", "", "dark", "light"), strict=True)
    for theme in ("light", "dark")
]
"""Each page in one theme, and one page with everything on it in both; the rest of them at leisure."""


@pytest.mark.parametrize(("url", "theme"), IN_BOTH_THEMES)
def test_axe_finds_nothing(site: Path, reading: Reading, url: str, theme: str) -> None:
    assert violations(reading(site / url, color_scheme=theme).page) == []


@pytest.mark.parametrize("url", [*PAGES, "ja/index.html"])
def test_no_page_scrolls_sideways_at_any_width(site: Path, reading: Reading, url: str) -> None:
    page = reading(site / url).page
    for width in (320, 390, 600, 768, 999, 1000, 1024, 1280, 1440, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(DRAWN)
        over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert over == 0, f"{over} px at {width}"


def test_what_scrolls_in_its_own_cell_is_reached_by_keyboard(site: Path, reading: Reading) -> None:
    page = reading(site / MHA).page
    page.set_viewport_size({"width": 320, "height": 900})
    page.evaluate(DRAWN)
    cells: list[list[object]] = page.eval_on_selector_all(
        ".eq, main pre", "cells => cells.map(e => [e.scrollWidth > e.clientWidth + 1, e.tabIndex])"
    )
    assert all(index == 0 for wide, index in cells if wide)
    assert all(index == -1 for wide, index in cells if not wide)


def test_note_and_code_share_their_first_baseline(site: Path, reading: Reading) -> None:
    page = reading(site / MHA).page
    gaps: list[float] = page.evaluate(
        """() => [...document.querySelectorAll('.pair.k-comment')].filter(e => !e.matches('.tall')).map(pair => {
            const probe = host => { const mark = document.createElement('span'); mark.style.cssText =
                'display:inline-block;width:0;height:0'; host.prepend(mark);
                const y = mark.getBoundingClientRect().bottom; mark.remove(); return y; };
            const note = pair.querySelector('.note p, .note h2, .note h3'), code = pair.querySelector('.src');
            return note && code && !note.querySelector('.eq') ? Math.abs(probe(note) - probe(code)) : 0;
        })"""
    )
    assert len(gaps) > 10
    assert max(gaps) < 1


def test_the_theme_is_remembered_and_set_before_the_first_paint(site: Path, visit: Visit) -> None:
    page = visit.open(site / "transformers" / "index.html")
    light = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    page.locator("#theme").click()
    page.locator("#theme").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    dark = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert light != dark
    page.add_init_script(
        "new MutationObserver(() => { if (document.body && !window.first) window.first = "
        "document.documentElement.dataset.theme }).observe(document, {childList: true, subtree: true})"
    )
    visit.open(site / "index.html")
    assert page.evaluate("window.first") == "dark"


def test_another_language_opens_at_the_same_section(site: Path, visit: Visit) -> None:
    page = visit.open(site / MHA)
    page.evaluate(
        "document.getElementById('MultiHeadAttention.get_scores').scrollIntoView({ behavior: 'instant' })"
    )
    page.evaluate(DRAWN)
    # By the mouse itself: Playwright's own click scrolls the page on its way to a sticky bar.
    button = page.locator("[popovertarget=languages]").bounding_box()
    assert button
    page.mouse.click(button["x"] + 5, button["y"] + 5)
    page.locator("#languages a[hreflang=ja]").click()
    page.wait_for_url("**/ja/transformers/mha.html#*")
    assert page.evaluate("document.documentElement.lang") == "ja"
    assert page.url.partition("#")[2].startswith("MultiHeadAttention.get_scores")
    place = page.evaluate(
        "document.getElementById('MultiHeadAttention.get_scores').getBoundingClientRect().top"
    )
    assert abs(place) < 300


def test_a_page_reads_fully_without_javascript(site: Path, reading: Reading) -> None:
    page = reading(site / MHA, java_script_enabled=False).page
    expect(page.locator("h1")).to_have_text("Multi-head attention")
    expect(page.locator("#MultiHeadAttention h2").first).to_be_visible()
    expect(page.locator(".katex-html").first).to_be_visible()
    expect(page.locator("#search-open")).to_be_hidden()


def test_math_can_be_read_by_a_screen_reader(site: Path, reading: Reading) -> None:
    page = reading(site / MHA).page
    assert page.locator(".katex").count() == page.locator(".katex math").count() > 50
    assert page.locator(".katex-html:not([aria-hidden=true])").count() == 0
    focusable = "[aria-hidden=true] :is(a, button, input, [tabindex])"
    assert page.locator(focusable).count() == 0


def test_the_first_tab_leads_past_the_bar_to_the_text(site: Path, visit: Visit) -> None:
    page = visit.open(site / "transformers" / "index.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    expect(page.locator(".skip")).to_be_in_viewport()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "top"


def test_an_old_number_and_a_line_are_anchors_too(site: Path, visit: Visit) -> None:
    page = visit.open(f"{(site / MHA).as_uri()}#section-12")
    page.wait_for_function("scrollY > 300")
    last = page.locator(".line").last.get_attribute("id")
    page.goto(f"{(site / MHA).as_uri()}#{last}")
    expect(page.locator(f"#{last}")).to_be_in_viewport()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_an_equation_that_fits_shows_nothing_of_the_shade_for_those_that_scroll(
    site: Path, tab: Tab, theme: str
) -> None:
    page = shown(tab(color_scheme=theme, device_scale_factor=2), site / "transformers/mha.html")
    equation = page.locator(".eq").first
    assert equation.evaluate("cell => cell.scrollWidth === cell.clientWidth")

    def seen() -> Image.Image:
        return Image.open(io.BytesIO(equation.screenshot())).convert("RGB")

    was = seen()
    equation.evaluate("cell => { cell.style.background = 'none' }")
    # Paper that fades into paper may be a shade off, which nobody sees.
    assert ImageChops.difference(was, seen()).point(lambda level: level > 3).getbbox() is None
