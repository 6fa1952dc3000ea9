"""What `check` asks of a page as it was typed, beyond what a build asks."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from site_builder import config, lint, site
from site_builder.model import Page, SourceFile
from site_builder.parse import parse

from .conftest import REPOSITORY

FRONT = "---\ntitle: A page\nsummary: About something.\n---\n"


def markdown(text: str) -> Page:
    return parse(
        SourceFile("page.md", "/page.md", "page", "page.html", False, is_markdown=True), text.encode()
    )


def module(text: str) -> Page:
    return parse(SourceFile("page.py", "/page.py", "page", "page.html", False), text.encode())


def faults(page: Page) -> list[str]:
    """Each as its place and code."""
    return [f"{found.line}:{found.column} {found.code}" for found in lint.page(page)]


def below(text: str) -> list[str]:
    """The faults of prose below front matter that lacks nothing, lines counted from the prose on."""
    lines = FRONT.count("\n")
    found = (fault.partition(":") for fault in faults(markdown(FRONT + text)))
    return [f"{int(line) - lines}:{rest}" for line, _, rest in found]


# ---- title and summary


def test_a_page_with_title_and_summary_lacks_nothing() -> None:
    assert faults(markdown(FRONT)) == []
    assert faults(module(f'"""\n{FRONT}"""\n')) == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", ["1:1 summary-missing", "1:1 title-missing"]),
        ('"""Some words."""\n', ["1:1 summary-missing", "1:1 title-missing"]),
        ('"""\n# Attention\n\nWords.\n"""\n', ["2:3 summary-missing"]),
        ('"""\n---\nsummary: Words.\n---\n"""\n', ["1:1 title-missing"]),
        ('"""\n---\nsummary: Words.\n---\n# Attention\n"""\n', []),
    ],
    ids=["empty", "docstring", "heading", "summary", "both"],
)
def test_a_title_may_be_a_heading_and_a_summary_is_in_the_front_matter(text: str, wanted: list[str]) -> None:
    assert faults(module(text)) == wanted


def test_of_a_file_that_cannot_be_read_no_title_is_asked() -> None:
    page = module("def attend(:\n")
    assert [found.code for found in page.diagnostics] == ["python-syntax"]
    assert faults(page) == []


def test_of_a_page_without_a_source_nothing_is_asked() -> None:
    page = parse(SourceFile("pkg", "", "pkg", "index.html", True), b"")
    assert faults(page) == []


# ---- images


@pytest.mark.parametrize(
    "text",
    [
        "![The layers](a.svg)",
        "![`code`](a.svg)",
        '<img src="a.svg" alt="The layers">',
        '<img src="a.svg" alt="">',
        "<img alt src=a.svg>",
        "<figure>\n<img\n  src='a.svg'\n  alt='The layers'>\n</figure>",
        "Code like `![](a.svg)` and `<img>`.",
        "```html\n<img src=a.svg>\n![](a.svg)\n```",
        r"Not one: \![](a.svg) or !\[](a.svg)",
        "<!-- <img src=a.svg> -->",
        "An exclamation![^1]\n\n[^1]: A note.",
    ],
)
def test_an_image_with_words_and_what_only_looks_like_an_image_are_fine(text: str) -> None:
    assert [fault for fault in below(text) if "image" in fault] == []


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("![](a.svg)", "1:1"),
        ("Words ![ ](a.svg) and words", "1:7"),
        ("![][layers]\n\n[layers]: a.svg", "1:1"),
        ("* a list\n* ![](a.svg)", "2:3"),
        ("| a | b |\n|---|---|\n| x | ![](a.svg) |", "3:7"),
        ("> quoted ![](a.svg)", "1:10"),
        ("Words <img src=a.svg>", "1:7"),
        ('<img data-alt="no" src="a.svg">', "1:1"),
        ("<figure>\n  <img src='a.svg'>\n</figure>", "2:3"),
        ("$x$ and `code` ![](a.svg)", "1:16"),
    ],
)
def test_an_image_without_words_is_told_where_it_stands(text: str, place: str) -> None:
    assert below(text) == [f"{place} image-alt"]


def test_the_place_in_a_comment_is_that_in_the_file() -> None:
    text = f'"""\n{FRONT}"""\n\n\ndef f():\n    # First\n    # ![](a.svg)\n    return 1\n'
    assert faults(module(text)) == ["11:7 image-alt"]


# ---- headings


@pytest.mark.parametrize(
    "text",
    [
        "## One\n\n### Two\n\n#### Three\n\n## Four\n",
        "## One\n\nWords\n\n## One\n",
        "Words\n",
        "## One\n\n#### `# code` is no heading\n\n".replace("####", "###"),
        "```\n#### In a fence\n```\n",
    ],
)
def test_headings_that_go_down_by_one_level_are_fine(text: str) -> None:
    assert below(text) == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("### One\n", ["1:5 heading-skip"]),
        ("## One\n\n#### Two\n\n#### Three\n", ["3:6 heading-skip"]),
        ("<h3>One</h3>\n", ["1:1 heading-skip"]),
        ("## One\n\n##\n", ["3:3 heading-empty"]),
        ("<h2> </h2>\n", ["1:1 heading-empty"]),
    ],
)
def test_a_heading_that_skips_a_level_or_has_no_words_is_told(text: str, wanted: list[str]) -> None:
    assert below(text) == wanted


def test_levels_go_on_from_one_docstring_to_the_next() -> None:
    opening = f'"""\n{FRONT}"""\n\n\nclass A:\n    """\n    ## A class\n    """\n\n'
    text = opening + '    def f(self):\n        """{} A method"""\n'
    assert faults(module(text.format("###"))) == []
    assert faults(module(text.format("####"))) == ["15:17 heading-skip"]


# ---- links


@pytest.mark.parametrize(
    "text",
    [
        "[words](a.html)",
        "[`code`](a.html)",
        "[$x$](a.html)",
        "[![words](a.svg)](a.html)",
        '<a href="a.html"><img src="a.svg" alt="words"></a>',
        '<a href="a.html" aria-label="words"></a>',
        '<a id="old"></a>',
        "`[](a.html)`",
        "hooks[](a.b)",
        "an empty list [] (of numbers)",
    ],
)
def test_a_link_with_words_and_what_only_looks_like_a_link_are_fine(text: str) -> None:
    assert below(text) == []


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("Words [](a.html)", "1:7"),
        ('<a href="a.html"> </a>', "1:1"),
        ('Words <a class="b" href="a.html"><b></b></a>', "1:7"),
        ('<a href="a.html"><img src="a.svg" alt=""></a>', "1:1"),
    ],
)
def test_a_link_without_words_is_told_where_it_stands(text: str, place: str) -> None:
    assert below(text) == [f"{place} link-empty"]


# ---- ourselves


@pytest.mark.parametrize("package", ["labml_nn", "site_builder"])
def test_our_own_pages_lack_nothing(package: str) -> None:
    settings = dataclasses.replace(config.load(Path(REPOSITORY)), packages=(package,))
    pages = site.read(settings).pages.values()
    assert len(pages) > 40
    assert [str(found) for page in pages for found in lint.page(page)] == []
