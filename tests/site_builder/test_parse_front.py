"""Front matter: what it may say, and where exactly it is wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from site_builder.model import FrontMatter, Page, Paper, ProseLine, SourceFile
from site_builder.parse import front, mapping, parse


def page_of(text: str, name: str = "module.py") -> Page:
    return parse(
        SourceFile(name, name, "package.module", "module.html", False, name.endswith(".md")), text.encode()
    )


def front_of(yaml: str) -> Page:
    """The page of a module whose front matter is this; its first line is line 3 of the file."""
    return page_of(f'r"""\n---\n{yaml}---\nText.\n"""\n')


def faults(page: Page) -> list[str]:
    return [f"{fault.line}:{fault.column} {fault.code} {fault.message}" for fault in page.diagnostics]


def test_every_key_is_read() -> None:
    page = front_of(
        """\
title: Attention
summary: Every position asks.
papers:
  - title: Attention Is All You Need
    authors: Vaswani et al.
    year: 2017
    url: https://arxiv.org/abs/1706.03762
  - title: Another
    authors: [A, B]
symbols:
  d_k: d_k
  Q: [query, self.query]
  K_{t'}: key
macros:
  \\R: \\mathbb{R}
order: [mha, xl]
redirect_from: [/old.html, older/page.html]
"""
    )
    assert page.diagnostics == ()
    assert page.intro.text == "Text."
    front = page.front
    assert front == FrontMatter(
        title="Attention",
        summary="Every position asks.",
        papers=(
            Paper("Attention Is All You Need", "Vaswani et al.", 2017, "https://arxiv.org/abs/1706.03762"),
            Paper("Another", "A, B"),
        ),
        symbols=(("d_k", ("d_k",)), ("Q", ("query", "self.query")), ("K_{t'}", ("key",))),
        macros=(("\\R", "\\mathbb{R}"),),
        order=("mha", "xl"),
        redirect_from=("old.html", "older/page.html"),
        positions=front.positions,
    )
    assert (page.title, page.summary) == ("Attention", "Every position asks.")


@pytest.mark.parametrize(
    ("key", "place"),
    [
        ("title", (3, 9)),
        ("symbols", (4, 1)),
        ("symbols.Q", (5, 3)),
        ("papers.0", (7, 5)),
        ("papers.0.title", (7, 12)),
        ("redirect_from.1", (8, 20)),
    ],
)
def test_every_key_and_item_remembers_its_place(key: str, place: tuple[int, int]) -> None:
    page = front_of("title: 'A'\nsymbols:\n  Q: query\npapers:\n  - title: B\nredirect_from: [a, b]\n")
    position = page.front.position(key)
    assert position is not None
    assert (position.path, position.line, position.column) == ("module.py", *place)


def test_places_are_right_in_an_indented_docstring_and_after_wide_characters() -> None:
    page = page_of('"""\n    ---\n    title: ä\n    summary: [é, x]\n    ---\n    Text.\n    """\n')
    assert faults(page) == ["4:14 front-value `summary` must be text"]
    assert (page.title, page.title_position.column if page.title_position else 0) == ("ä", 12)


@pytest.mark.parametrize(
    ("yaml", "fault"),
    [
        ("titel: A\n", "3:1 front-unknown-key `titel` is not a key of the front matter"),
        ("papers:\n  - title: A\n    author: B\n", "5:5 front-unknown-key `author` is not a key of a paper"),
        ("title: [a]\n", "3:8 front-value `title` must be text"),
        ("title: A\nsummary:\n", "4:9 front-value `summary` is empty"),
        ("title: A\ntitle: B\n", "4:1 front-value `title` is given twice"),
        ('title: "\\ud800"\n', "3:8 front-value `title` holds half a character"),
        ("papers: A\n", "3:9 front-value `papers` must be a list"),
        ("papers:\n  - A\n", "4:5 front-value `papers.0` must be made of keys and values"),
        ("papers:\n  - year: 2017\n", "4:5 front-value a paper needs a title"),
        ("papers:\n  - {title: A, year: 17}\n", "4:22 front-value `17` is not a year"),
        ("papers:\n  - {title: A, url: example}\n", "4:21 front-value `example` is not a web address"),
        ("symbols: [a]\n", "3:10 front-value `symbols` must be made of keys and values"),
        ("symbols:\n  Q: 3x\n", "4:6 front-value `3x` is not an identifier"),
        ("macros:\n  R: x\n", "4:6 front-value `R` is not the name of a macro"),
        ("order: a\n", "3:8 front-value `order` must be a list"),
        ("redirect_from: ../a\n", "3:16 front-value `../a` is not an address inside the site"),
        ("redirect_from: //a\n", "3:16 front-value `/a` is not an address inside the site"),
        ("redirect_from: a/..\n", "3:16 front-value `a/..` is not an address inside the site"),
        ("redirect_from: a//b\n", "3:16 front-value `a//b` is not an address inside the site"),
        ("redirect_from: 'http://a'\n", "3:16 front-value `http://a` is not an address inside the site"),
        ("? [a]\n: b\n", "3:3 front-value a key must be text"),
        (
            "title: a: b\n",
            "3:9 front-syntax the front matter is not YAML: mapping values are not allowed here",
        ),
        ("title: *a\n", "3:8 front-syntax the front matter is not YAML: found undefined alias 'a'"),
        ("ti\x07tle: a\n", "3:3 front-syntax the front matter holds a character that YAML does not allow"),
        ('title: "\\UFFFFFFFF"\n', "3:9 front-syntax the front matter is not YAML that can be read"),
        ("[" * 3000 + "\n", "3:1 front-syntax the front matter is not YAML that can be read"),
        ("- a\n", "3:1 front-syntax the front matter must be made of keys and values"),
    ],
)
def test_a_fault_is_reported_once_at_its_line_and_column(yaml: str, fault: str) -> None:
    page = front_of(yaml)
    assert faults(page) == [fault]
    assert page.diagnostics[0].hint
    assert page.intro.text == "Text."


def test_an_unknown_key_names_the_nearest_known_one() -> None:
    assert front_of("titel: A\n").diagnostics[0].hint == "did you mean `title`?"
    assert "`redirect_from`" in front_of("zzz: A\n").diagnostics[0].hint


def test_a_wrong_key_costs_no_other() -> None:
    page = front_of("title: A\nsummary: [x]\nsymbols:\n  Q: 1\n  K: key\n")
    assert (page.front.title, page.front.symbols) == ("A", (("K", ("key",)),))


def test_values_that_yaml_takes_for_something_else_stay_text() -> None:
    page = front_of("title: 1.0\nsummary: no\nsymbols:\n  y: on\n")
    assert (page.front.title, page.front.summary, page.front.symbols) == ("1.0", "no", (("y", ("on",)),))
    assert page.diagnostics == ()


def test_yaml_makes_no_objects() -> None:
    assert front_of("title: !!python/object/apply:os.getcwd []\n").front.title == ""
    assert front_of("title: !!python/name:os.getcwd x\n").front.title == "x"


def test_unclosed_front_matter_is_reported_and_the_text_kept() -> None:
    page = page_of('"""\n---\ntitle: A\n\nText.\n"""\n')
    assert faults(page) == ["2:1 front-syntax the front matter is not closed"]
    assert page.intro.text == "title: A\n\nText."


@pytest.mark.parametrize("first", ["----", "--- x", "Text.\n\n---"])
def test_only_a_first_line_of_three_dashes_opens_front_matter(first: str) -> None:
    page = page_of(f'"""\n{first}\nbroken: [\n---\n"""\n')
    assert page.diagnostics == ()
    assert page.intro.text.startswith(first)


def test_front_matter_of_a_class_is_prose() -> None:
    page = page_of('class A:\n    """\n    ---\n    titel: x\n    ---\n    """\n')
    assert page.diagnostics == ()
    assert page.sections[0].prose.text == "---\ntitel: x\n---"


def test_a_markdown_file_has_front_matter_too() -> None:
    page = page_of("---\ntitle: A\nnope: 1\n---\n\n# B\n\nText.\n", "page.md")
    assert (page.title, page.intro.text) == ("A", "Text.")
    assert faults(page) == ["3:1 front-unknown-key `nope` is not a key of the front matter"]
    assert [(section.start, section.end, section.code) for section in page.sections] == [(1, 9, ())]


VALUES = st.one_of(
    st.sampled_from(
        'Attention|null|Null|no|yes|true|a: b|a:b|a #b|a#b|1.0|- a|it\'s|"a"|[a]|é, ü|数式|a\tb|a  b'.split(
            "|"
        )
    ),
    st.text(
        st.one_of(st.characters(), st.sampled_from("aZ _-.,;:#'\"[]{}()!&*?|>%@`\\~\t\u00a0")), max_size=12
    ),
)
LINES = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(["title", "summary", "title", "summary", " title", "titel", "order"]),
        st.sampled_from([": ", ": ", ": ", ":", " : ", ":  "]),
        VALUES,
        st.sampled_from(["", "", " ", "\t", " # note"]),
    ),
)


@given(st.lists(LINES, max_size=3))
def test_what_is_read_without_yaml_is_what_yaml_would_say(texts: list[str]) -> None:
    lines = tuple(ProseLine(text, "page.py", 3 + row, 5) for row, text in enumerate(texts))
    words = front._words(lines)
    if words is not None:
        assert (words, ()) == mapping.read(lines)


def test_a_title_and_a_summary_in_plain_words_need_no_yaml() -> None:
    lines = [
        ProseLine("title: Multi-head attention (2017)", "page.py", 3, 1),
        ProseLine("summary: Which positions, and how much — that is all. ", "page.py", 4, 1),
    ]
    assert front._words(lines) == mapping.read(lines)[0] != FrontMatter()
