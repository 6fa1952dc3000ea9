"""A reader in another language: what the page says of itself, how it is set, and the way to it and back."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

from .axe import violations
from .conftest import Reading, Tab, run_builder, shown
from .desk import DRAWN
from .translated import write

SUMS, ALONE = "sums.html", "alone.html"
CATALOGUE = "https://github.com/example/tongues/blob/main/translations/ja/sums.po"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tongues")
    write(folder)
    run_builder("build", "--no-exec", cwd=folder)
    return folder


@pytest.fixture
def page(tab: Tab) -> Page:
    return tab(locale="en-GB")


Read = Callable[[str], Page]


@pytest.fixture
def read(reading: Reading, project: Path) -> Read:
    """A page that others have read before, by its URL."""
    return lambda url: reading(project / "site" / url, locale="en-GB").page


def open_page(page: Page, project: Path, url: str) -> Page:
    return shown(page, project / "site" / url)


def line_of(project: Path, address: str | None) -> str:
    """What the catalogue has on the line that the address names."""
    assert address
    name, _, number = address.partition("#L")
    assert name == CATALOGUE
    rows = (project / "translations" / "ja" / "sums.po").read_text("utf-8").splitlines()
    return rows[int(number) - 1]


def test_every_language_has_the_same_anchors_and_symbols_and_names_the_others(project: Path) -> None:
    site = project / "site"
    pages = {lang: (site / lang / SUMS).read_text("utf-8") for lang in ("", "ja", "ar", "zh-Hans")}
    for what in (r' id="(?!fn)([^"]+)"', r'data-s="(\d+)"'):
        found = {
            lang: sorted(re.findall(what, text[text.index("<main") : text.index("</main>")]))
            for lang, text in pages.items()
        }
        assert found[""]
        assert found["ja"] == found["ar"] == found["zh-Hans"] == found[""], what
    root = "https://example.org/tongues/"
    for lang, text in pages.items():
        assert f'<link rel="canonical" href="{root}{lang + "/" if lang else ""}{SUMS}">' in text
        alternates = dict(re.findall(r'rel="alternate" hreflang="([^"]+)" href="([^"]+)"', text))
        assert alternates == {
            **{code: f"{root}{code}/{SUMS}" for code in ("ja", "ar", "zh-Hans")},
            "en": root + SUMS,
            "x-default": root + SUMS,
        }


def test_a_stale_block_shows_its_source_and_the_former_translation_on_demand_without_scripts(
    project: Path, tab: Tab
) -> None:
    page = open_page_without_script(tab, project)
    block = page.get_by_text("A sentence that changed.")
    expect(block).to_have_attribute("lang", "en")
    told = block.locator("xpath=following-sibling::*[1]")
    expect(told.locator("summary")).to_have_text("原文が更新されています 以前の訳")
    expect(told.get_by_text("以前の 文 です。")).to_be_hidden()
    told.locator("summary").click()
    expect(told.get_by_text("以前の 文 です。")).to_be_visible()
    assert "A sentence that changed." in line_of(project, told.locator("a").get_attribute("href"))


def open_page_without_script(tab: Tab, project: Path, url: str = f"ja/{SUMS}") -> Page:
    page = tab(locale="ja-JP", java_script_enabled=False)
    page.goto((project / "site" / url).as_uri())
    return page


def test_a_run_of_missing_blocks_and_a_draft_are_told_of_once_after_them(project: Path, read: Read) -> None:
    note = read(f"ja/{SUMS}").locator("#Adder > .note")
    told = note.locator("> .told")
    assert told.evaluate_all("all => all.map(e => [e.dataset.state, e.previousElementSibling.tagName])") == [
        ["machine", "P"],
        ["missing", "P"],
    ]
    assert "機械翻訳（未確認） この翻訳を改善する" in told.first.inner_text()
    expect(note.get_by_text("機械の言葉です。")).to_have_class("drafted")
    assert "まだ翻訳されていません 翻訳する" in told.last.inner_text()
    assert 'msgid "an item that is new"' in line_of(project, told.last.locator("a").get_attribute("href"))


def test_a_page_without_any_translation_says_so_once_at_the_top(project: Path, page: Page) -> None:
    told = open_page(page, project, f"ja/{ALONE}").locator(".told")
    expect(told).to_have_count(1)
    expect(told).to_have_text("このページはまだ翻訳されていません。原文のまま表示しています。")
    assert page.locator("main .fallback").count() > 2


def test_the_contents_say_the_language_of_a_heading_that_is_not_translated(read: Read) -> None:
    page = read(f"ar/{SUMS}")
    expect(page.locator(".side .toc [lang=en][dir=ltr]")).to_have_text("An adder")


@pytest.mark.parametrize("url", [SUMS, "all-pages.html"])
def test_the_switch_keeps_the_section_and_the_place_within_it(project: Path, page: Page, url: str) -> None:
    open_page(page, project, url)
    page.set_viewport_size({"width": 1440, "height": 300})
    page.evaluate("scrollTo(0, document.body.scrollHeight * .6)")
    page.wait_for_function("scrollY > 50")
    line = "[...document.querySelectorAll('.line, .tree .name')].findLast(e => e.getBoundingClientRect().top < 280)"
    text, top = page.evaluate(f"(e => [e.id || e.textContent, e.getBoundingClientRect().top])({line})")
    page.evaluate("document.querySelector('#languages').showPopover()")
    page.locator("#languages a[hreflang=ja]").evaluate("link => link.click()")
    page.wait_for_url(f"**/ja/{url}#*")
    assert page.evaluate("document.documentElement.lang") == "ja"
    names = "[...document.querySelectorAll('.line, .tree .name')]"
    wanted = f"{names}.find(e => (e.id || e.textContent) === {json.dumps(text)})"
    page.wait_for_function(f"Math.abs({wanted}.getBoundingClientRect().top - {top}) < 60")


def test_without_scripts_the_switch_leads_to_the_same_page(project: Path, tab: Tab) -> None:
    page = open_page_without_script(tab, project, SUMS)
    page.locator("[popovertarget=languages]").click()
    page.locator("#languages a[hreflang=ja]").click()
    expect(page.locator("html")).to_have_attribute("lang", "ja")
    expect(page.locator(".offer")).to_have_count(0)


def test_the_page_for_no_page_speaks_every_language(project: Path) -> None:
    text = (project / "site" / "ja" / "404.html").read_text("utf-8")
    assert "ページが見つかりません" in text
    links = re.findall(r'<li><a href="([^"]+)" hreflang="([^"]+)"', text)
    assert ("/tongues/404.html", "en") in links
    assert ("/tongues/ar/404.html", "ar") in links
    assert 'href="/tongues/ja/index.html"' in text


def test_the_language_of_the_browser_is_offered_until_the_reader_decides(project: Path, tab: Tab) -> None:
    page = tab(locale="ja-JP")
    open_page(page, project, SUMS)
    note = page.locator(".offer")
    expect(note).to_have_text("このページは日本語でも読めます×")
    expect(note).to_have_attribute("lang", "ja")
    assert page.evaluate("performance.getEntriesByType('layout-shift').length") == 0
    note.get_by_role("button", name="閉じる").click()
    expect(note).to_have_count(0)
    open_page(page, project, "index.html")
    page.wait_for_load_state()
    assert page.evaluate("[typeof languageOffers, document.querySelectorAll('.offer').length]") == [
        "undefined",
        0,
    ]


def test_a_lost_page_of_another_language_is_answered_in_that_language_too(project: Path, page: Page) -> None:
    site, lost = project / "site", "https://example.org/tongues/ja/lost.html"

    def answer(route: Route) -> None:
        file = site / urlsplit(route.request.url).path.removeprefix("/tongues/")
        found = file.is_file()
        route.fulfill(path=file if found else site / "404.html", status=200 if found else 404)

    page.route("https://example.org/**", answer)
    page.goto(lost)
    expect(page.locator("h1")).to_have_text("Page not found")
    expect(page.locator(".offer a")).to_have_attribute("href", re.compile("/tongues/ja/404.html$"))
    page.locator(".offer a").click()
    expect(page.locator("h1")).to_have_text("ページが見つかりません")


@pytest.mark.parametrize("choice", [".offer a", "#languages a[hreflang=ja]"])
def test_following_the_offer_is_a_choice_and_so_is_the_menu(project: Path, tab: Tab, choice: str) -> None:
    page = tab(locale="ja-JP")
    open_page(page, project, SUMS)
    expect(page.locator(".offer")).to_be_visible()
    page.evaluate("document.querySelector('#languages').showPopover()")
    page.locator(choice).evaluate("link => link.click()")
    page.wait_for_url(f"**/ja/{SUMS}")
    open_page(page, project, SUMS)
    assert page.evaluate("typeof languageOffers") == "undefined"


@pytest.mark.parametrize(
    ("locale", "url", "offered"),
    [
        ("en-US", SUMS, []),
        ("ja", f"ja/{SUMS}", []),
        ("ja", ALONE, []),
        ("zh-CN", SUMS, [["zh-Hans", "ltr"]]),
        ("ar-EG", SUMS, [["ar", "rtl"]]),
        ("zh-TW", SUMS, []),
        ("de", SUMS, []),
    ],
)
def test_only_a_language_that_the_page_has_and_is_not_in_is_offered(
    project: Path, tab: Tab, locale: str, url: str, offered: list[list[str]]
) -> None:
    page = tab(locale=locale)
    open_page(page, project, url)
    page.wait_for_load_state("networkidle")
    assert page.locator(".offer").evaluate_all("all => all.map(e => [e.lang, e.dir])") == offered
    if offered == [["ar", "rtl"]]:  # nobody has translated the interface
        expect(page.locator(".offer a")).to_have_text("العربية")


def test_a_pencil_beside_a_block_leads_to_its_line_in_the_catalogue(project: Path, read: Read) -> None:
    page = read(f"ja/{SUMS}")
    for text in ("足し算のしかたです。", "足し算について", "何もないところから始めます。", "訳された項目"):
        block = page.locator(".note").get_by_text(text)
        block.hover()
        pencil = page.get_by_role("link", name="この翻訳を改善する").and_(page.locator(".mender"))
        expect(pencil).to_be_visible()
        assert text in line_of(project, pencil.get_attribute("href"))
        tops = [one.evaluate("e => e.getBoundingClientRect().top") for one in (pencil, block)]
        assert abs(tops[0] - tops[1]) < 12
    assert page.locator(".foot .mend").get_attribute("href") == CATALOGUE
    page.locator("#Adder .perma").first.focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "mender"


def style(page: Page, selector: str, name: str) -> str:
    return str(page.locator(selector).first.evaluate(f"e => getComputedStyle(e).{name}"))


def test_japanese_is_set_as_japanese_and_what_is_english_in_it_as_english(read: Read) -> None:
    page = read(f"ja/{SUMS}")
    assert style(page, "#Adder h2", "wordBreak") == "auto-phrase"
    assert style(page, "main p", "textAutospace") == "normal"
    assert "Hiragino Mincho ProN" in style(page, "main p", "fontFamily")
    assert [style(page, ".intro em", name) for name in ("fontStyle", "fontWeight")] == ["normal", "700"]
    assert style(page, "pre .src", "wordBreak") == "normal"
    stale = "p.fallback"
    assert "Mincho" not in style(page, stale, "fontFamily")
    assert style(page, stale, "wordBreak") == "normal"
    expect(page.locator("cite")).to_have_attribute("lang", "en")
    # A compound of two loanwords may break between them.
    assert page.locator("#Adder h2").inner_html().startswith("フィードバック<wbr>トランス")
    page = read(f"zh-Hans/{SUMS}")
    assert "Songti SC" in style(page, "main p", "fontFamily")
    assert style(page, "q", "quotes") == '"“" "”" "‘" "’"'


def test_a_page_from_right_to_left_keeps_code_and_math_from_left_to_right(read: Read) -> None:
    page = read(f"ar/{SUMS}")
    assert page.evaluate("document.documentElement.dir") == "rtl"
    assert {style(page, one, "direction") for one in ("pre", ".katex", "p.fallback")} == {"ltr"}
    order = (".code .ln", ".code .src", ".pair:not(.opener) > .note")
    lefts = [page.locator(one).first.evaluate("e => e.getBoundingClientRect().left") for one in order]
    assert lefts == sorted(lefts)
    assert page.locator(".prev").evaluate("e => getComputedStyle(e, '::before').content").startswith('"→')
    for width in (320, 390, 768, 1000, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(DRAWN)
        sides = page.evaluate("[document.documentElement.scrollWidth - innerWidth, scrollX]")
        assert sides[0] <= 0, f"{sides} at {width}"


def test_style_sheets_name_no_side(project: Path) -> None:
    for file in sorted((project / "site" / "static" / "css").glob("*.css")):
        rules = re.sub(r"/\*.*?\*/", "", file.read_text("utf-8"), flags=re.DOTALL)
        sides = re.findall(r"[\w-]*\b(?<!inline-)(?:left|right)\b[\w-]*\s*[:;}]", rules)
        assert sides == [], file.name


@pytest.mark.parametrize(
    ("url", "theme"), [(f"ja/{SUMS}", "light"), (f"ja/{SUMS}", "dark"), (f"ar/{SUMS}", "light")]
)
def test_axe_finds_nothing_with_all_marks_open(project: Path, tab: Tab, url: str, theme: str) -> None:
    page = open_page(tab(color_scheme=theme, locale="zh-CN"), project, url)
    expect(page.locator(".offer")).to_be_visible()
    page.evaluate("document.querySelectorAll('details').forEach(e => e.open = true)")
    page.locator(".note [data-line]").first.hover()
    assert violations(page) == []


def test_on_paper_the_marks_stay_and_the_ways_to_mend_them_go(project: Path, page: Page) -> None:
    open_page(page, project, f"ja/{SUMS}").emulate_media(media="print")
    expect(page.locator(".told").first).to_be_visible()
    assert page.locator(".mend").evaluate_all("all => all.filter(e => e.checkVisibility()).length") == 0
