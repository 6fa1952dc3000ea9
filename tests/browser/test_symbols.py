r"""Symbols and repeated expressions: what lights up, by pointer, key and touch; and that nothing moves by it."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from .axe import violations
from .conftest import Reading, Tab, Visit, run_builder, shown, watched
from .desk import DRAWN

MHA = "transformers/mha.html"
PAGE = r'''r"""
---
title: Attention
symbols:
  Q: [query, self.query]
  K: key
  d_k: d_k
---
# Attention

Of queries $Q$ and keys $K$ we take $Q K^\top$, and divide:

$$S = \frac{Q K^\top}{\sqrt{d_k}}, \qquad z + z$$

Neither $S^Q$ nor the word `query` alone is all of it. [A link](#attend) and a second $S$.

    >>> attend(query=2, key=3, d_k=4)
    3.0
"""


def attend(query, key, d_k):
    r"""What $e^{Q K^\top}$ is made of, but for $z$."""
    scores = query * key
    # Now by the root of $d_k$.
    return scores / d_k ** 0.5


class Layer:
    """One more step, with scores of its own."""

    def forward(self, query):
        scores = attend(self.query(query), 1, 2)
        return scores
'''


@pytest.fixture(scope="module")
def attention(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with all that can light up."""
    folder = tmp_path_factory.mktemp("symbols")
    (folder / "pack").mkdir()
    (folder / "pack" / "__init__.py").write_text('"""# Pack"""\n', encoding="utf-8")
    (folder / "pack" / "page.py").write_text(PAGE, encoding="utf-8")
    run_builder("build", "pack", "--no-exec", "-o", "site", "--strict", cwd=folder)
    return folder / "site" / "page.html"


@pytest.fixture
def phone(tab: Tab) -> Visit:
    return watched(tab(viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True))


def lit(page: Page) -> list[str]:
    """The text of everything that is lit, legend apart."""
    found: list[str] = page.eval_on_selector_all(
        "main :is(.note, pre) .alight", "all => all.map(one => one.textContent.replace(/\u200b/g, ''))"
    )
    return found


def painted(page: Page, name: str = "places") -> list[str]:
    """The words that are painted over."""
    found: list[str] = page.evaluate("name => [...(CSS.highlights.get(name) ?? [])].map(String)", name)
    return found


def boxes(page: Page) -> str:
    """The height of the page, and where every line of text and of code stands in it: as text, which is read faster."""
    found: str = page.evaluate(
        """() => {
            // What sticks stands elsewhere when the page is scrolled.
            const at = scrollY, found = [document.documentElement.scrollHeight];
            scrollTo({ top: 0, behavior: "instant" });
            const parts = "main :is(p, li, h1, h2), .line, .eq, .src, .entry, .example .in";
            for (const part of document.querySelectorAll(parts)) {
                const range = new Range();
                range.selectNodeContents(part);
                for (const box of range.getClientRects()) found.push([box.x, box.y + scrollY, box.width, box.height]);
            }
            scrollTo({ top: at, behavior: "instant" });
            return JSON.stringify(found);
        }"""
    )
    return found


def word(page: Page, text: str, line: str) -> tuple[float, float]:
    """The middle of a word in the line of code that holds some text."""
    place = page.evaluate(
        """([word, line]) => {
            const src = [...document.querySelectorAll(".src")].find(one => one.textContent.includes(line));
            const texts = document.createTreeWalker(src, NodeFilter.SHOW_TEXT);
            for (let text; (text = texts.nextNode());) {
                const at = text.data.indexOf(word);
                if (at < 0) continue;
                const range = new Range();
                range.setStart(text, at);
                range.setEnd(text, at + word.length);
                src.scrollIntoView({ block: "center", behavior: "instant" });
                const box = range.getBoundingClientRect();
                return [box.x + box.width / 2, box.y + box.height / 2];
            }
        }""",
        [text, line],
    )
    return place[0], place[1]


def formula(page: Page, number: int) -> Locator:
    return page.locator(f'.note .katex-html [data-s="{number}"]')


QUERIES = {"Q", "query"}


def test_pointing_at_a_symbol_in_an_equation_lights_its_variable_in_the_code(
    attention: Path, reading: Reading
) -> None:
    visit = reading(attention)
    page = visit.page
    formula(page, 1).first.hover()
    expect(page.locator("pre .line .alight")).to_have_count(5)
    assert set(lit(page)) == QUERIES
    bold = page.locator(".bears .src").all_inner_texts()
    assert len(bold) == 4
    assert all("query" in line for line in bold)
    expect(page.locator(".lit")).to_contain_text("query, self.query")
    page.mouse.move(2, 2)
    expect(page.locator(".alight")).to_have_count(0)
    expect(page.locator(".lit")).to_be_hidden()
    assert visit.messages == []


def test_pointing_at_the_variable_lights_the_symbol_in_every_equation(
    attention: Path, reading: Reading
) -> None:
    page = reading(attention).page
    page.mouse.move(*word(page, "query", "scores = query"))
    expect(page.locator(".note .katex-html .alight")).to_have_count(formula(page, 1).count())
    assert set(lit(page)) == QUERIES


def test_the_legend_does_the_same_by_keyboard_alone(attention: Path, reading: Reading) -> None:
    page = reading(attention).page
    entries = page.locator(".legend button")
    expect(entries).to_have_count(3)
    entries.first.focus()
    expect(page.locator("pre .line .alight")).to_have_count(5)
    page.keyboard.press("Tab")
    expect(entries.nth(1)).to_be_focused()
    assert set(lit(page)) == {"K", "K⊤", "key"}
    page.keyboard.press("Enter")
    expect(entries.nth(1)).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Tab")
    assert set(lit(page)) == {"K", "K⊤", "key"}
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".nearest")).to_have_count(1)
    expect(page.locator(".lit .count")).to_contain_text("/")
    page.keyboard.press("Escape")
    expect(page.locator(".alight")).to_have_count(0)
    expect(entries.nth(1)).to_have_attribute("aria-pressed", "false")


def test_what_is_held_stays_until_escape_or_a_press_elsewhere(attention: Path, reading: Reading) -> None:
    page = reading(attention).page
    formula(page, 1).first.click()
    formula(page, 2).first.hover()
    page.mouse.move(2, 400)
    page.wait_for_timeout(300)
    assert set(lit(page)) == QUERIES
    page.locator("h1").click()
    expect(page.locator(".alight")).to_have_count(0)
    formula(page, 1).first.click()
    expect(page.locator(".lit [data-turn='1']")).to_be_visible()
    page.locator(".lit [data-turn='0']").click()
    expect(page.locator(".alight")).to_have_count(0)


def test_the_bar_leads_from_place_to_place_and_round(attention: Path, reading: Reading) -> None:
    page = reading(attention).page
    formula(page, 3).first.click()
    count = page.locator(".lit .count")
    total = int(count.inner_text())
    assert total == page.locator('main :is(.note, pre) [data-s="3"]').count()
    seen = set()
    for _ in range(total):
        page.locator(".lit [data-turn='1']").click()
        expect(page.locator(".nearest")).to_be_in_viewport()
        seen.add(count.inner_text())
    assert seen == {f"{place}/{total}" for place in range(1, total + 1)}


def test_while_one_is_lit_the_others_fall_to_ink(attention: Path, reading: Reading) -> None:
    page = reading(attention).page
    colour = "one => getComputedStyle(one).color"
    ink = page.locator("main").evaluate(colour)
    other = formula(page, 2).first
    assert other.evaluate(colour) != ink
    formula(page, 1).first.click()
    expect(other).to_have_css("color", ink)
    assert formula(page, 1).first.evaluate(colour) != ink


def test_pressing_an_expression_shows_where_else_it_stands_and_again_what_it_is_part_of(
    attention: Path, reading: Reading
) -> None:
    page = reading(attention).page
    page.locator(".note [data-e]", has_text="z").first.click()
    assert lit(page) == ["z", "z", "z"]
    page.keyboard.press("Escape")
    assert lit(page) == []
    formula(page, 1).nth(1).click()
    assert set(lit(page)) == QUERIES
    formula(page, 1).nth(1).click()
    assert lit(page) == ["Q", "K⊤"] * 3
    expect(page.locator(".lit .count")).to_have_text("3")
    formula(page, 1).nth(1).click()
    assert lit(page) == []


def test_pressing_an_identifier_shows_its_other_places_in_code(attention: Path, reading: Reading) -> None:
    page = reading(attention).page
    page.mouse.click(*word(page, "scores", "return scores / d_k"))
    assert painted(page) == ["scores"] * 4
    expect(page.locator(".lit")).to_contain_text("scores")
    page.locator(".lit [data-turn='1']").click()
    assert painted(page, "place") == ["scores"]
    page.keyboard.press("Escape")
    assert painted(page) == []
    page.mouse.click(*word(page, "Layer", "class Layer"))
    assert painted(page) == []


def test_selecting_by_dragging_lights_nothing_and_links_lead_where_they_led(
    attention: Path, reading: Reading
) -> None:
    page = reading(attention).page
    x, y = word(page, "scores", "return scores / d_k")
    page.mouse.move(x - 30, y)
    page.mouse.down()
    page.mouse.move(x + 60, y, steps=6)
    page.mouse.up()
    assert page.evaluate("String(getSelection())") != ""
    page.mouse.move(2, 2)
    expect(page.locator(".lit")).to_be_hidden()
    page.locator("a", has_text="A link").click()
    assert page.url.endswith("#attend")
    expect(page.locator(".lit")).to_be_hidden()


def test_a_touch_lights_and_a_touch_elsewhere_ends_it(attention: Path, phone: Visit) -> None:
    page = phone.open(attention)
    formula(page, 1).first.tap()
    assert set(lit(page)) == QUERIES
    expect(page.locator(".lit .count")).to_be_visible()
    page.locator(".summary, .note p").first.tap(position={"x": 300, "y": 4})
    expect(page.locator(".alight")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    places = page.eval_on_selector_all(
        ".legend .entry", "all => all.map(one => one.getBoundingClientRect()).map(box => [box.x, box.height])"
    )
    assert places[0][0] == places[1][0] < places[2][0]
    assert all(height >= 44 for _, height in places)


def test_nothing_moves_by_a_pixel_whatever_is_lit(site: Path, reading: Reading) -> None:
    page = reading(site / MHA).page
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate("document.activeElement.blur()")
        page.evaluate(DRAWN)
        before = boxes(page)
        assert before.count("[") > 500
        for number in (1,) if width == 390 else (8,):
            formula(page, number).first.evaluate("one => scrollBy(0, one.getBoundingClientRect().y - 400)")
            formula(page, number).first.click()
            assert lit(page)
            assert boxes(page) == before
            page.keyboard.press("Escape")
        page.mouse.click(*word(page, "dropout", "self.dropout ="))
        assert painted(page)
        assert boxes(page) == before
        page.keyboard.press("Escape")
        assert boxes(page) == before


def test_on_a_real_page_q_and_the_queries_of_the_code_light_each_other(site: Path, reading: Reading) -> None:
    page = reading(site / MHA).page
    formula(page, 1).first.hover()
    in_code = page.locator("pre .line .alight")
    expect(in_code.first).to_be_attached()
    assert set(in_code.all_inner_texts()) == {"query"}
    equations = page.locator(".note .katex-html .alight").all_text_contents()
    assert all(text.startswith("Q") for text in equations)
    page.mouse.move(2, 2)
    expect(page.locator(".alight")).to_have_count(0)
    page.mouse.move(*word(page, "query", "query = self.query(query)"))
    expect(page.locator(".note .katex-html .alight")).to_have_count(len(equations))


def test_the_bar_has_room_for_what_is_lit(site: Path, reading: Reading) -> None:
    page = reading(site / MHA).page
    for width in (320, 700, 1000, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        page.locator(".legend button").first.click()
        bar = page.locator(".bar").bounding_box()
        assert bar
        assert page.evaluate("document.documentElement.scrollWidth") == width
        for button in page.locator(".lit [data-turn]").all():
            box = button.bounding_box()
            assert box
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
        page.keyboard.press("Escape")


@pytest.mark.parametrize("theme", [pytest.param("light", marks=pytest.mark.exhaustive), "dark"])
def test_axe_finds_nothing_while_something_is_lit(site: Path, reading: Reading, theme: str) -> None:
    page = reading(site / MHA, color_scheme=theme).page
    for index in (0, 6):
        page.locator(".legend button").nth(index).click()
        page.evaluate("Promise.allSettled(document.getAnimations().map(each => each.finished))")
        # At rest the whole page is looked at elsewhere. Here are all kinds of what changes on it.
        assert {"Q", "query"} <= set(lit(page)) or index
        assert violations(page, ".bar", ".intro", "[id='MultiHeadAttention.forward:query']") == []


def test_without_javascript_the_colours_and_the_legend_are_there(attention: Path, tab: Tab) -> None:
    page = shown(tab(java_script_enabled=False), attention)
    colours = {formula(page, n).first.evaluate("one => getComputedStyle(one).color") for n in (1, 2, 3)}
    assert len(colours) == 3
    expect(page.locator(".legend .entry")).to_have_count(3)
    expect(page.locator(".legend button")).to_have_count(0)
    expect(page.locator(".lit")).to_be_hidden()
