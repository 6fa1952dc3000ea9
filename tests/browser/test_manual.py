"""The manual in a browser: pages of prose, long lines, lists and tables, on a phone and beside their contents."""

from __future__ import annotations

from pathlib import Path

import pytest

from .axe import violations
from .conftest import REPOSITORY, Reading, Tab, run_builder, shown
from .desk import DRAWN

CHAPTERS = ("getting-started", "page-format", "claims", "commands", "codes")


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The chapters alone. What they say of pages around them leads nowhere, which is no fault of theirs."""
    folder = tmp_path_factory.mktemp("manual")
    run_builder("build", str(REPOSITORY / "site_builder/manual"), "-o", str(folder / "site"), cwd=folder)
    return folder / "site"


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_on_a_phone_only_what_is_wide_scrolls_and_in_its_own_place(
    manual: Path, reading: Reading, chapter: str
) -> None:
    page = reading(manual / f"{chapter}.html").page
    page.set_viewport_size({"width": 390, "height": 844})
    page.evaluate(DRAWN)
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    stuck = page.eval_on_selector_all(
        "main pre, main table",
        """cells => cells.filter(cell => cell.scrollWidth > cell.clientWidth + 1).filter(cell => {
            cell.scrollLeft = 9;
            return cell.scrollLeft !== 9 && cell.scrollLeft !== cell.scrollWidth - cell.clientWidth;
        }).map(cell => cell.textContent)""",
    )
    assert stuck == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_scrolls_has_a_shade_at_the_edge_that_more_lies_behind(
    manual: Path, tab: Tab, theme: str
) -> None:
    page = tab(viewport={"width": 390, "height": 844}, color_scheme=theme)
    page.goto((manual / "getting-started.html").as_uri())
    page.add_style_tag(content="pre code { visibility: hidden } html { scroll-behavior: auto !important }")

    def shaded(wide: bool, left: int) -> list[bool]:
        """Whether its two edges differ from paper, when the first of those that scroll or do not is so far scrolled."""
        found = page.evaluate_handle(
            """([wide, left]) => {
                const scrolls = cell => cell.scrollWidth > cell.clientWidth;
                const cell = [...document.querySelectorAll(".note pre")].find(each => scrolls(each) === wide);
                cell.scrollIntoView({ block: "center" });
                cell.scrollLeft = left;
                return cell;
            }""",
            [wide, left],
        ).as_element()
        assert found
        box = found.bounding_box()
        assert box
        edges = [(box["x"] + 2), (box["x"] + box["width"] - 4)]

        def seen() -> list[bytes]:
            clips = ({"x": x, "y": box["y"], "width": 3, "height": box["height"]} for x in edges)
            return [page.screenshot(clip=clip) for clip in clips]  # type: ignore[arg-type]

        was = seen()
        found.evaluate("cell => { cell.style.background = 'none' }")
        plain = seen()
        found.evaluate("cell => { cell.style.background = '' }")
        return [one != other for one, other in zip(was, plain, strict=True)]

    assert shaded(wide=True, left=0) == [False, True]
    assert shaded(wide=True, left=40) == [True, True]
    assert shaded(wide=True, left=9999) == [True, False]
    assert shaded(wide=False, left=0) == [False, False]


def test_a_page_of_prose_has_its_headings_beside_it_and_each_leads_there(
    manual: Path, reading: Reading
) -> None:
    page = reading(manual / "claims.html").page
    links = page.locator("nav[aria-labelledby=side-page] a")
    headings = page.locator(".intro h2")
    assert links.all_inner_texts() == headings.all_inner_texts()
    links.last.click()
    assert page.evaluate("location.hash") == "#a-claim-that-is-none"
    box = headings.last.bounding_box()
    assert box is not None
    assert 0 <= box["y"] < 900


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(manual: Path, tab: Tab, theme: str) -> None:
    assert violations(shown(tab(color_scheme=theme), manual / "commands.html")) == []
