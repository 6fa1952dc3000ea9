"""What a translated page tells of its blocks, and where it sends whoever would mend them."""

from __future__ import annotations

from pathlib import Path

import pytest

from site_builder import blocks
from site_builder.config import Config
from site_builder.model import BlockMark, BlockState, Prose, ProseLine
from site_builder.prose import render
from site_builder.translate import Localised
from site_builder.translate.catalogue import Place
from site_builder.weave.told import Told

MISSING, STALE, MACHINE = BlockState.MISSING, BlockState.STALE, BlockState.MACHINE
WORDS = {
    "missing": "none",
    "stale": "old",
    "machine": "draft",
    "former": "was",
    "translate": "do",
    "improve": "mend",
}


def lines(text: str, path: str = "page.md") -> tuple[ProseLine, ...]:
    return tuple(ProseLine(row, path, number, 1) for number, row in enumerate(text.split("\n"), 1))


def shown(text: str, marks: dict[int, BlockState]) -> str:
    """The elements of the page in order, and the labels between them."""
    left = blocks.replace(
        Prose(lines(text)), {}, {number: BlockMark(state) for number, state in marks.items()}
    )
    html = render(
        left,
        typeset=lambda tex, _: f"<math>{tex}</math>",
        link=lambda target: target,
        prefix="",
        label=lambda mark: f"[{mark.state}]",
    ).html
    return " ".join(row if row.startswith("[") else row[1] for row in html.split("\n") if row[1:2] != "/")


@pytest.mark.parametrize(
    ("text", "marks", "told"),
    [
        ("a\n\nb\n\nc", {0: MISSING, 1: MISSING}, "p p [missing] p"),
        ("a\n\nb\n\nc", {0: MISSING, 2: MISSING}, "p [missing] p p [missing]"),
        ("a\n\nb\n\nc", {0: STALE, 1: STALE}, "p [stale] p [stale] p"),
        ("a\n\nb\n\nc", {0: MACHINE, 1: MACHINE, 2: MISSING}, "p p [machine] p [missing]"),
        ("a\n\n$$x$$\n\nb\n\nc", {0: MISSING, 1: MISSING}, "p p p [missing] p"),
        ("a\n\n$$x$$\n\nb", {0: MISSING}, "p [missing] p p"),
        ("* a\n* b\n\nc", {1: MISSING}, "u l l [missing] p"),
        ("a[^1]\n\n[^1]: b", {1: STALE}, "p s o l [stale]"),
    ],
)
def test_a_run_of_blocks_is_told_of_once_after_its_last_and_a_stale_block_always(
    text: str, marks: dict[int, BlockState], told: str
) -> None:
    assert shown(text, marks) == told


def page(catalogue: str, states: dict[Place, BlockState | None]) -> Localised:
    return Localised(Prose(), Prose(), Prose(), (), states, catalogue=catalogue)


def told(
    *states: BlockState | None,
    catalogue: str = "translations/ja/a.po",
    host: str = "https://github.com/a/b",
    lang: str = "ja",
) -> Told:
    found = {Place("@intro", number): state for number, state in enumerate(states)}
    config = Config(Path("/"), repository_url=host)
    return Told(page(catalogue, found), config, lang, WORDS, lambda text: f"<p>{text.text}</p>")


def test_a_label_leads_to_the_line_of_the_entry() -> None:
    label = told(None, MISSING).label(BlockMark(MISSING, 12))
    assert 'href="https://github.com/a/b/blob/main/translations/ja/a.po#L12">do</a>' in label
    assert ">none" in label
    assert "#L" not in told(None, MISSING).label(BlockMark(MISSING))


def test_the_former_translation_is_opened_beside_a_stale_block() -> None:
    label = told(None, STALE).label(BlockMark(STALE, 3, lines("former words")))
    assert label.startswith('<details class="told" data-state="stale"><summary>old')
    assert "<p>former words</p>" in label


@pytest.mark.parametrize(
    ("catalogue", "host"),
    [("", "https://github.com/a/b"), ("/elsewhere/a.po", "https://github.com/a/b"), ("a.po", "")],
)
def test_without_a_catalogue_on_a_host_nobody_is_sent_anywhere(catalogue: str, host: str) -> None:
    one = told(None, MISSING, catalogue=catalogue, host=host)
    assert "href" not in one.label(BlockMark(MISSING, 12))
    assert one.catalogue == one.fields()["line_url"] == one.fields()["catalogue_url"] == ""


@pytest.mark.parametrize(
    ("states", "whole"),
    [
        ((MISSING, MISSING), "missing"),
        ((MACHINE, MACHINE), "machine"),
        ((MISSING, None), ""),
        ((STALE, STALE), ""),
        ((None, None), ""),
    ],
)
def test_what_holds_of_the_whole_page_is_told_once(states: tuple[BlockState | None, ...], whole: str) -> None:
    one = told(*states)
    assert one.fields()["whole"] == whole
    assert bool(one.label(BlockMark(MISSING))) is not bool(whole)


@pytest.mark.parametrize(
    ("states", "share"),
    [
        ((MISSING, MISSING, None), 33),
        ((MISSING, MISSING, MACHINE, None, MISSING), 40),
        ((MISSING, MISSING, STALE), 0),
        ((MISSING, None), None),
        ((MISSING, STALE, None, None), None),
        ((MISSING, MISSING), None),
    ],
)
def test_where_most_of_a_page_is_missing_the_top_says_how_much_is_there(
    states: tuple[BlockState | None, ...], share: int | None
) -> None:
    one = told(*states)
    assert one.fields()["share"] == share
    assert bool(one.label(BlockMark(MISSING))) is (share is None and set(states) != {MISSING})
    assert bool(one.label(BlockMark(STALE))) is (set(states) != {MISSING})


def test_the_direction_of_what_is_not_translated_is_said_where_it_differs() -> None:
    assert [told(MISSING, lang=lang).source_dir for lang in ("ja", "ar", "he")] == ["", "ltr", "ltr"]
