"""Blocks go out to translators one by one and come back into the same places."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from site_builder import blocks
from site_builder.model import BlockMark, BlockState, Position, Prose, ProseLine

PAGE = "page.py"
CATALOGUE = "ja.po"

pieces = st.sampled_from(
    [
        *"*_`$|#>-:<[]()\\",
        "\n",
        "\n",
        "\n\n",
        "  ",
        "* ",
        "1. ",
        "> ",
        "$$",
        "a",
        "word",
        "|---|",
        "```",
        "[^1]: ",
        ">>> ",
    ]
)
texts = st.lists(pieces, max_size=16).map("".join)
words = st.lists(st.sampled_from("ab 。|-*1.#>:=`[]^\\"), min_size=1, max_size=8).map("".join)


def prose(text: str) -> Prose:
    """The text as it would stand in a docstring with four blanks before it."""
    return Prose(
        tuple(ProseLine(line, PAGE, 11 + n, 5, raw=False) for n, line in enumerate(text.split("\n")))
    )


def translation(*texts: str) -> tuple[ProseLine, ...]:
    return tuple(ProseLine(text, CATALOGUE, 70 + n, 2) for n, text in enumerate(texts))


def written(text: str) -> list[str]:
    return [block.text(text) for block in blocks.split(text) if block.translatable]


def test_translators_get_words_and_never_code_math_or_figures() -> None:
    text = "# Heading\n\n* one\n* `x: [a, b]`\n\n$$x$$\n\n| name | 1 |\n|---|---|\n| $y$ | `z` or two |\n\n>>> 1\n1"
    handed = blocks.translatable(prose(text))
    assert handed == ((0, "Heading"), (1, "one"), (3, "name"), (6, "`z` or two"))


def test_a_translation_of_another_length_keeps_the_markers_of_its_block() -> None:
    text = "> * one\n>   two\n> * three\n\n1. four"
    changed = blocks.replace(
        prose(text), {0: translation("一"), 1: translation("二", "三", "四"), 2: translation("五", "六")}
    )
    assert changed.text == "> * 一\n> * 二\n>   三\n>   四\n\n1. 五\n   六"


def test_headings_cells_and_terms_stay_on_one_line() -> None:
    text = "# A #\n\n| b | c |\n|---|---|\n\nd\n: e"
    changed = blocks.replace(prose(text), {n: translation("一", " 二 ") for n in range(5)})
    assert changed.text == "# 一 二 #\n\n| 一 二 | 一 二 |\n|---|---|\n\n一 二\n: 一\n  二 "


@pytest.mark.parametrize(
    "line",
    [
        "2. x",
        "# x",
        "* x",
        "> x",
        "---",
        "```",
        ": x",
        "[^1]: x",
        ">>> x",
        "<div>",
        "[a]: b.html",
        "+ x",
        "===",
    ],
)
def test_a_translation_that_looks_like_another_block_stays_the_block_it_was(line: str) -> None:
    changed = blocks.replace(
        prose("* one\n\ntwo\nthree"), {0: translation("a", line), 1: translation(line, line)}
    )
    assert [block.kind for block in blocks.split(changed.text)] == ["item", "paragraph"]


def test_a_bar_in_a_translated_cell_does_not_cut_it() -> None:
    changed = blocks.replace(prose("| a |\n|---|"), {0: translation("x | `y|z` | $|w|$ \\| v")})
    assert written(changed.text) == ["x \\| `y|z` \\| $|w|$ \\| v"]


def test_every_character_keeps_the_place_where_it_was_typed() -> None:
    text = "* one\n* two\n\n| a | b |\n|---|---|"
    changed = blocks.replace(prose(text), {1: translation("zwei", "drei"), 3: translation("bé")})
    places = {
        mark: changed.position(changed.text.index(mark)) for mark in ("one", "zwei", "drei", "a |", "bé", "é")
    }
    assert places == {
        "one": Position(PAGE, 11, 7),
        "zwei": Position(CATALOGUE, 70, 2),
        "drei": Position(CATALOGUE, 71, 2),
        "a |": Position(PAGE, 14, 7),
        "bé": Position(CATALOGUE, 70, 2),
        "é": Position(CATALOGUE, 70, 3),
    }
    assert changed.position(changed.text.index("|---|")) == Position(PAGE, 15, 5)


@pytest.mark.parametrize("text", ["one", "* one", "> one", "# one", "one\n---", "| one | two |\n|---|---|"])
def test_prose_with_one_word_of_a_translator_is_not_all_from_its_page(text: str) -> None:
    assert prose(text).is_from(PAGE)
    assert blocks.replace(prose(text), {}).is_from(PAGE)
    changed = blocks.replace(prose(text), {0: translation("eins")})
    assert "eins" in changed.text
    assert not changed.is_from(PAGE)


def test_a_translated_line_is_raw_though_its_source_was_not() -> None:
    changed = blocks.replace(prose("* one\n* two"), {1: translation("zwei")})
    assert [line.raw for line in changed.lines] == [False, True]


def test_blocks_without_a_translation_are_marked_by_their_line() -> None:
    changed = blocks.replace(
        prose("* one\n* two\n\nthree"),
        {0: translation("eins", "zwei")},
        {1: BlockMark(BlockState.MISSING), 2: BlockMark(BlockState.STALE)},
    )
    assert changed.states == ((2, BlockState.MISSING), (4, BlockState.STALE))


def test_blank_lines_of_a_translation_are_left_out_and_an_empty_one_is_none() -> None:
    text = "* one\n\ntwo"
    assert blocks.replace(prose(text), {0: translation("a", "", "b"), 1: translation("", " ")}).text == (
        "* a\n  b\n\ntwo"
    )


def test_prose_without_lines_has_nothing_to_exchange() -> None:
    assert blocks.translatable(Prose()) == ()
    assert blocks.replace(Prose(), {}).text == ""


@given(texts)
def test_blocks_given_back_unchanged_leave_the_text_as_it_was(text: str) -> None:
    same = {number: translation(*block.split("\n")) for number, block in enumerate(written(text))}
    assert blocks.replace(prose(text), same).text == text
    assert blocks.replace(prose(text), {}).text == text


@given(texts)
def test_where_nothing_is_exchanged_every_place_is_that_of_the_source(text: str) -> None:
    source, changed = prose(text), blocks.replace(prose(text), {})
    assert [changed.position(at) for at in range(len(text))] == [
        source.position(at) for at in range(len(text))
    ]


@given(texts, st.lists(words, min_size=1, max_size=3))
def test_a_translation_changes_the_words_of_blocks_and_not_the_blocks(text: str, lines: list[str]) -> None:
    handed = dict(blocks.translatable(prose(text)))
    changed = blocks.replace(prose(text), {number: translation("語", *lines) for number in handed})
    before = [block.kind for block in blocks.split(text)]
    assert [block.kind for block in blocks.split(changed.text)] == before
