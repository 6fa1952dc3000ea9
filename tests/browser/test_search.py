"""Search, from a folder, by keyboard, in both languages."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from .conftest import Reading, Visit, run_builder

PAPERS_AND_TOOL = {
    "pyproject.toml": """
        [tool.site_builder]
        packages = ["papers", "tool"]
        languages = ["en", "ja", "zh"]
        translated = { ja = ["tool/mask.py"], zh = ["nothing/*"] }
    """,
    "papers/__init__.py": '"""# Papers"""\n',
    "papers/future.py": '''
        """# Who may see what"""


        def causal_mask(n):
            """## A mask"""
            mask = n
            # Here it is.
            return mask
    ''',
    "tool/__init__.py": '"""# The tool\\n\\nFor whom it is."""\nimport os\n',
    "tool/manual.md": "# The manual\n\n## How a mask is shown\n\nIn grey.\n",
    "tool/says.md": "# Claims\n\nWhat a page says.\n",
    "tool/long.md": f"# Long\n\n{' '.join(f'words{number:03}' for number in range(60))}\n",
    "tool/mask.py": '''
        """# The mask of the claims"""


        def mask(claims):
            """A mask, a mask, a mask."""
            return claims


        def claims():
            return mask
    ''',
}


@pytest.fixture(scope="module")
def two_packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Papers, and after them a tool with a manual and its own source, of which another language has a page or none."""
    folder = tmp_path_factory.mktemp("packages")
    for name, text in PAPERS_AND_TOOL.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(textwrap.dedent(text).lstrip(), "utf-8")
    run_builder("build", "--no-exec", "-o", "site", cwd=folder)
    return folder / "site"


def look(page: Page, words: str, key: str = "/") -> list[str]:
    """Opens the search by a key, types, and gives the addresses found."""
    if not page.locator("dialog#search[open]").count():
        page.keyboard.press(key)
    # First nothing, so that what was found before is not taken for the answer.
    for text in ("", words):
        page.locator("#search input").fill(text)
    page.wait_for_function("document.querySelector('#search .tally').textContent !== ''")
    found: list[str] = page.eval_on_selector_all("#search li a", "links => links.map(a => a.href)")
    return found


def containing(site: Path, lang: str, words: str) -> int:
    """How many sections hold the text, by the index itself, read as data."""
    text = (site / "search" / f"{lang}.js").read_text("utf-8")
    index = text.partition("\nsearchWords(")[0].rstrip()
    pages = json.loads(re.sub("[\ufff9\ufffb]", "", index).removeprefix("searchIndex(").removesuffix(");"))
    count = 0
    for _, title, sections in pages:
        for anchor, heading, names, body in sections:
            count += any(
                words.lower() in part.lower() for part in (heading if anchor else title, names, body)
            )
    return count


@pytest.mark.parametrize("key", ["/", "Control+k"])
def test_a_key_opens_it_arrows_choose_and_enter_goes_there(site: Path, reading: Reading, key: str) -> None:
    visit = reading(site / "index.html")
    page = visit.page
    found = look(page, "get_scores", key)
    assert found[0].endswith("transformers/mha.html#MultiHeadAttention.get_scores")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url("**/transformers/mha.html#MultiHeadAttention.get_scores")
    expect(page.locator("dialog#search")).to_be_hidden()
    assert visit.messages == []


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ("MultiHeadAttention", "transformers/mha.html#MultiHeadAttention"),
        ("clone_module_list", "utils.html#clone_module_list"),
        ("feed-forward", "transformers/feed_forward.html"),
    ],
)
def test_the_definition_comes_before_its_uses(site: Path, reading: Reading, words: str, place: str) -> None:
    assert look(reading(site / "index.html").page, words)[0].endswith(place)


@pytest.mark.parametrize("words", ["attention is all you need", "Vaswani"])
def test_a_paper_is_found_by_its_title_and_by_who_wrote_it(site: Path, reading: Reading, words: str) -> None:
    found = look(reading(site / "index.html").page, words)
    assert any(address.endswith("transformers/mha.html") for address in found)


@pytest.mark.parametrize(
    ("words", "places"),
    [
        # In papers, in prose, and only then in the source of a later package: where a definition begins.
        ("mask", ["future.html#causal_mask", "tool/manual.html#how-a-mask-is-shown", "tool/mask.html#mask"]),
        ("claims", ["tool/says.html", "tool/mask.html#claims", "tool/mask.html"]),
    ],
)
def test_what_readers_come_for_is_found_before_the_source_of_other_packages(
    two_packages: Path, reading: Reading, words: str, places: list[str]
) -> None:
    found = look(reading(two_packages / "index.html").page, words)
    assert [address.partition("/site/")[2] for address in found[:3]] == places


@pytest.mark.parametrize("url", ["ja/tool/mask.html", "zh/all-pages.html"])
def test_the_first_package_is_that_of_the_site_whatever_pages_a_language_has(
    two_packages: Path, reading: Reading, url: str
) -> None:
    visit = reading(two_packages / url)
    found = look(visit.page, "mask")
    places = [address.partition("/site/")[2].removeprefix("ja/") for address in found[:3]]
    assert places == [
        "future.html#causal_mask",
        "tool/manual.html#how-a-mask-is-shown",
        "tool/mask.html#mask",
    ]
    assert visit.messages == []


def test_what_was_found_is_shown_in_whole_words_below_its_heading(
    two_packages: Path, reading: Reading
) -> None:
    page = reading(two_packages / "index.html").page
    look(page, "mask")
    # All that the section says is its heading.
    expect(page.locator("#search li").first.locator("p")).to_have_count(0)
    look(page, "words030")
    first, *words, last = page.locator("#search li p").first.inner_text().split()
    assert (first, last) == ("…", "…")
    assert "words030" in words
    assert [word for word in words if not re.fullmatch(r"words\d{3}", word)] == []


@pytest.mark.parametrize("words", ["d_k", "head", "dropout_prob"])
def test_identifiers_are_found_by_part(site: Path, reading: Reading, words: str) -> None:
    page = reading(site / "index.html").page
    look(page, words)
    assert page.locator("#search .tally").inner_text().split()[-2] == str(containing(site, "en", words))


@pytest.mark.parametrize("words", ["注意機構", "ヘッド", "の和"])
def test_in_japanese_it_finds_exactly_the_sections_that_contain_the_text(
    site: Path, reading: Reading, words: str
) -> None:
    page = reading(site / "ja" / "index.html").page
    found = look(page, words)
    expected = containing(site, "ja", words)
    assert len(found) == min(expected, 40)
    assert all("/ja/" in address for address in found)


@pytest.mark.parametrize(
    ("lang", "words", "marked"),
    [
        # What Japanese pages do not say, and what a translation must not say.
        ("ja", "Softmax", "ソフトマックス"),
        ("ja", "アテンション", "注意機構"),
        ("ja", "positional encodings", "位置エンコーディング"),
        ("en", "マルチヘッド注意機構", "multi-head attention"),
        ("zh", "多头注意力", "多头注意力"),
    ],
)
def test_a_term_is_found_by_its_word_in_another_language(
    site: Path, reading: Reading, lang: str, words: str, marked: str
) -> None:
    visit = reading(site / ("" if lang == "en" else lang) / "index.html")
    page = visit.page
    assert look(page, words)
    assert marked in {text.lower() for text in page.locator("#search mark").all_inner_texts()}
    assert visit.messages == []


def test_a_snippet_shows_words_and_no_source_of_formulas_or_examples(site: Path, reading: Reading) -> None:
    page = reading(site / "index.html").page
    for words in ("softmax", "sqrt", "torch.zeros", "d_k"):
        assert look(page, words)
        for text in page.locator("#search li p").all_inner_texts():
            assert not re.search(r"\\[A-Za-z]{2,}|[_^]\{|>>>", text), text
    # They are searched all the same.
    assert len(look(page, r"\sqrt")) == min(containing(site, "en", r"\sqrt"), 40) > 0


def test_who_types_faster_than_the_index_comes_is_not_told_that_nothing_was_found(
    site: Path, visit: Visit
) -> None:
    held: list[Route] = []
    visit.page.route("**/search/*.js", lambda route: held.append(route))
    page = visit.open(site / "index.html")
    with page.expect_request("**/search/*.js"):
        page.keyboard.press("/")
    page.locator("#search input").fill("head")
    expect(page.locator("#search .tally")).to_have_text("")
    held.pop().continue_()
    expect(page.locator("#search .tally")).to_contain_text("of")
    assert visit.messages == []


def test_what_a_language_lacks_is_found_in_the_language_of_the_source(site: Path, reading: Reading) -> None:
    visit = reading(site / "zh" / "transformers" / "index.html")
    page = visit.page
    found = look(page, "MultiHeadAttention")
    assert found[0].endswith("/zh/transformers/mha.html#MultiHeadAttention")
    # A page that there is in Chinese is not found a second time.
    assert not [address for address in found if address.endswith("our-site/transformers/mha.html")]
    found = look(page, "clone_module_list")
    assert found[0].endswith("our-site/utils.html#clone_module_list")
    link = page.locator("#search li a").first
    assert (link.get_attribute("lang"), link.get_attribute("hreflang")) == ("en", "en")
    expect(link.locator(".abroad .hidden")).to_have_text("English")
    page.keyboard.press("Enter")
    page.wait_for_url("**/our-site/utils.html#clone_module_list")
    expect(page.locator("#languages a")).to_have_text(["English", "日本語"])
    assert visit.messages == []


def test_two_words_must_both_occur_and_nothing_is_said_to_be_nothing(site: Path, reading: Reading) -> None:
    page = reading(site / "index.html").page
    both = look(page, "softmax mask")
    assert both
    assert len(both) < len(look(page, "mask"))
    assert look(page, "qqzz-nowhere") == []
    expect(page.locator("#search .tally")).to_have_text("Nothing contains this.")
    page.keyboard.press("Escape")
    expect(page.locator("dialog#search")).to_be_hidden()
