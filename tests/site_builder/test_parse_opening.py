"""Title, introduction, summary and the list of what a module defines."""

from __future__ import annotations

import pytest

from site_builder.model import Page, SourceFile
from site_builder.parse import parse


def page_of(text: str, name: str = "module.py") -> Page:
    return parse(
        SourceFile(name, name, "package.module", "module.html", False, name.endswith(".md")), text.encode()
    )


@pytest.mark.parametrize(
    ("intro", "summary"),
    [
        ("One sentence. Another.", "One sentence."),
        ("One\nsentence\nbroken. Another.", "One sentence broken."),
        ("No full stop", "No full stop"),
        ("## Heading\n\nText. More.", "Text."),
        ("Heading\n=======\n\nText.", "Text."),
        ("package.module\n~~~~~~~~~~~~~~\n\nText.", "Text."),
        ("package.module\n\nText.", "Text."),
        ("```\nx.\n\ny.\n```\n\nText.", "Text."),
        (">>> f()\n1\n\nText.", "Text."),
        ("$$x.$$\n\nText.", "Text."),
        ("* a. b.\n\nText.", "Text."),
        ("![alt](a.png)\n\nText.", "Text."),
        ("<p>x.</p>\n\nText.", "Text."),
        (".. note:: x.\n\nText.", "Text."),
        (":author: A. B.\n\nText.", "Text."),
        ("See `a. b`, $x. y$ and [a. b](c. d). More.", "See `a. b`, $x. y$ and [a. b](c. d)."),
        ("By A. Vaswani et al. in 2017. More.", "By A. Vaswani et al. in 2017."),
        ("Seen, e.g. in Fig. 3. More.", "Seen, e.g. in Fig. 3."),
        ("It is equal. More.", "It is equal."),
        ("Version 1.0 of a.b is out! More.", "Version 1.0 of a.b is out!"),
        ('He said "yes." Then no.', 'He said "yes."'),
        ("最初の文。次の文。", "最初の文。"),
        ("", ""),
    ],
)  # fmt: skip
def test_the_summary_is_the_first_sentence_of_plain_text(intro: str, summary: str) -> None:
    assert page_of(f"# Title\n\n{intro}\n", "page.md").summary == summary


def test_without_any_title_the_page_is_called_like_its_module() -> None:
    assert page_of("x = 1\n").title == "module"
    assert page_of('"""Text."""\n').title == "module"


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("# A title", "A title"),
        ("#  A title ##", "A title"),
        ("# C#", "C#"),
        ("# $x$ and `y`", "$x$ and `y`"),
    ],
)
def test_the_title_is_what_the_heading_says(heading: str, title: str) -> None:
    page = page_of(f'"""\n    {heading}\n\n    Text.\n    """\n')
    assert page.title == title
    assert page.intro.text == "Text."
    assert page.title_position is not None
    assert page.title_position.line == 2
    assert page.title_position.column == 5 + heading.index(title)


def test_a_second_level_heading_is_not_the_title() -> None:
    page = page_of('"""\n## Part\n\nText.\n"""\n')
    assert (page.title, page.intro.text) == ("module", "## Part\n\nText.")


def test_a_markdown_page_is_all_introduction() -> None:
    page = page_of("# Guide\r\n\r\nText  \r\nmore.", "guide.md")
    assert (page.title, page.intro.text) == ("Guide", "Text  \nmore.")
    assert [(section.start, section.end, section.code, section.anchor) for section in page.sections] == [
        (1, 5, (), "")
    ]
    assert page.definitions == ()


def test_definitions_are_listed_with_their_place_and_section() -> None:
    page = page_of(
        "import os\n"
        "X = Y = 1\n"
        "# A pair.\n"
        "a, (b, *c) = os.environ\n"
        "if X:\n"
        "    Z: int\n"
        "    X += 1\n"
        "else: W = 2\n"
        "@os.register\n"
        "class  C:\n"
        "    field = 1\n"
        "    async  def m(self):\n"
        "        local = 1\n"
        "        def inner(): pass\n"
        "        class Inner: pass\n"
        "def f(): pass\n"
        "if f: V = 1\n"
    )
    found = [(d.name, d.kind, d.line, d.column, d.anchor) for d in page.definitions]
    assert found == [
        ("X", "data", 2, 1, "module:import"),
        ("Y", "data", 2, 5, "module:import"),
        ("a", "data", 4, 1, "module:a"),
        ("b", "data", 4, 5, "module:a"),
        ("c", "data", 4, 9, "module:a"),
        ("Z", "data", 6, 5, "module:a"),
        ("W", "data", 8, 7, "module:a"),
        ("C", "class", 10, 8, "C"),
        ("C.m", "method", 12, 16, "C.m"),
        ("C.m.inner", "function", 14, 13, "C.m.inner"),
        ("C.m.Inner", "class", 15, 15, "C.m.Inner"),
        ("f", "function", 16, 5, "f"),
        ("V", "data", 17, 7, "f"),
    ]


def test_prose_lines_know_whether_their_backslashes_are_escapes() -> None:
    page = page_of('"""Not raw."""\n# comment\nx = 1\ndef f():\n    r"""Raw."""\ndef g():\n    """Not."""\n')
    assert [line.raw for line in page.intro.lines] == [False]
    assert [line.raw for section in page.sections for line in section.prose.lines] == [True, True, False]


def test_anchors_do_not_depend_on_what_comments_say() -> None:
    source = "# {}\nx = 1\n# {}\n\n# {}\nx = 2\ndef f():\n    # {}\n    return x\n"
    first = page_of(source.format("a", "b", "c", "d"))
    second = page_of("# Licence.\n# More.\n\n" + source.format("x = 3", "def g():", "note", "class"))
    anchors = [section.anchor for section in first.sections]
    assert anchors == ["module:x", "module:note", "module:x-2", "f", "f:return"]
    assert [section.anchor for section in second.sections] == [
        "module:note",
        "module:x",
        "module:note-2",
        *anchors[2:],
    ]


def test_importing_names_fills_references_exports_and_imports() -> None:
    page = page_of("from package.other import Thing\nThing()\nclass Mine(Thing): pass\n")
    assert page.exports == (("Thing", "package.other.Thing"),)
    assert "package.other" in page.imports[0]
    assert ("package.other.Thing", 2) in [(reference.target, reference.line) for reference in page.references]
    assert page.bases == (("Mine", ("package.other.Thing",)),)
