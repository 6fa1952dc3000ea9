"""What becomes of translations while a page changes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from site_builder.model import BlockState
from site_builder.translate.catalogue import Catalogue, Entry, Place, read, write
from site_builder.translate.matching import Match, Unit, match
from site_builder.translate.merging import memory, merged

Sections = dict[str, list[str]]


def units(page: Sections) -> tuple[Unit, ...]:
    return tuple(
        Unit(Place(name, number), text) for name, texts in page.items() for number, text in enumerate(texts)
    )


def update(page: Sections, old: Catalogue, others: tuple[Catalogue, ...] = ()) -> Catalogue:
    """Merged, written to a file and read again."""
    found, faults = read(
        "ja/page.po", "ja", write(merged(units(page), old, memory((old, *others))), "page.html")
    )
    assert faults == ()
    assert found
    return found


def translated(page: Sections) -> Catalogue:
    """The catalogue of the page, each text translated by itself in brackets."""
    new = update(page, Catalogue("ja/page.po", "ja", ()))
    return replace(new, entries=tuple(replace(entry, text=f"[{entry.source}]") for entry in new.entries))


def states(page: Sections, catalogue: Catalogue) -> dict[str, str]:
    """How each block is shown: by its translation, or why not."""
    return {shown.unit.text: _shown(shown) for shown in match(units(page), catalogue.entries)}


def _shown(found: Match) -> str:
    return found.entry.text if found.state is None and found.entry else str(found.state)


BEFORE: Sections = {"a": ["one", "two", "three"], "b": ["four"], "c": ["two"]}


def test_a_changed_text_is_stale_and_becomes_current_again_when_it_is_restored() -> None:
    changed = BEFORE | {"a": ["one", "two and a half", "three"]}
    old = translated(BEFORE)
    new = update(changed, old)
    for catalogue in (old, new):
        assert states(changed, catalogue) == {
            "one": "[one]",
            "two and a half": "stale",
            "three": "[three]",
            "four": "[four]",
            "two": "[two]",
        }
        assert "stale" not in states(BEFORE, catalogue).values()
    stale = next(entry for entry in new.entries if entry.stale)
    assert (stale.source, stale.previous, stale.text) == ("two and a half", "two", "[two]")
    assert update(BEFORE, new) == update(BEFORE, old)


def test_of_two_blocks_that_said_the_same_only_the_changed_one_is_stale() -> None:
    changed = BEFORE | {"c": ["two, too"]}
    assert states(changed, translated(BEFORE)) == {
        "one": "[one]",
        "two": "[two]",
        "three": "[three]",
        "four": "[four]",
        "two, too": "stale",
    }


def test_what_moves_to_another_section_keeps_its_translation_and_what_takes_its_place_is_missing() -> None:
    moved = {"a": ["new", "two", "three"], "b": ["four", "one"], "c": ["two"]}
    assert states(moved, translated(BEFORE))["one"] == "[one]"
    assert states(moved, translated(BEFORE))["new"] == "missing"


def test_what_moves_to_another_page_keeps_its_translation() -> None:
    other = translated({"x": ["one", "only there"]})
    new = update({"a": ["one"]}, Catalogue("ja/new.po", "ja", ()), (other,))
    assert [(entry.source, entry.text, entry.stale) for entry in new.entries] == [("one", "[one]", False)]


def test_a_text_inserted_before_a_changed_one_does_not_take_its_translation() -> None:
    page = {"a": ["first", "inserted", "one", "two"]}
    old = translated({"a": ["first", "one", "two"]})
    assert states(page, old)["inserted"] == "missing"
    later = {"a": ["first", "two!"]}
    three = translated({"a": ["zero", "first", "two"]})
    assert states(later, three) == {"first": "[first]", "two!": "stale"}


def test_a_paragraph_that_is_only_wrapped_anew_stays_translated() -> None:
    old = translated({"a": ["one long\nline of words"]})
    page = {"a": ["one\nlong line of\nwords"]}
    assert states(page, old) == {"one\nlong line of\nwords": "[one long\nline of words]"}
    assert [entry.source for entry in update(page, old).entries] == ["one\nlong line of\nwords"]


def test_a_text_that_is_gone_is_kept_as_obsolete_and_comes_back_with_its_text() -> None:
    shorter = BEFORE | {"b": []}
    old = translated(BEFORE)
    old = replace(
        old,
        entries=tuple(
            replace(e, comments=("# four is a good number",) * (e.source == "four")) for e in old.entries
        ),
    )
    gone = update(shorter, old)
    assert [(e.source, e.text, e.comments) for e in gone.entries if e.obsolete] == [
        ("four", "[four]", ("# four is a good number",))
    ]
    assert states(BEFORE, gone)["four"] == "[four]"
    back = update(BEFORE, gone)
    assert [e for e in back.entries if e.obsolete] == []
    assert next(e.comments for e in back.entries if e.source == "four") == ("# four is a good number",)


def test_an_entry_that_a_person_calls_fuzzy_is_not_shown() -> None:
    old = translated({"a": ["one", "two"]})
    doubted = replace(old, entries=tuple(replace(e, stale=e.source == "one") for e in old.entries))
    assert states({"a": ["one", "two"]}, update({"a": ["one", "two"]}, doubted)) == {
        "one": "stale",
        "two": "[two]",
    }


def test_texts_told_apart_by_their_context_stay_apart() -> None:
    places = {"a": Place("a", 0), "b": Place("b", 0)}
    entries = (
        Entry("key", "鍵", places=(places["a"],)),
        Entry("key", "キー", context="b", places=(places["b"],)),
    )
    page = {"a": ["key"], "b": ["key"]}
    new = update(page, Catalogue("ja/page.po", "ja", entries))
    assert [(found.unit.place.anchor, _shown(found)) for found in match(units(page), new.entries)] == [
        ("a", "鍵"),
        ("b", "キー"),
    ]
    assert [(entry.context, entry.text) for entry in new.entries] == [("", "鍵"), ("b", "キー")]


PAGES = st.dictionaries(
    st.sampled_from("abc"),
    st.lists(st.sampled_from(["one", "two", "three", "four", "five"]), max_size=5),
    max_size=3,
)


@given(PAGES, st.lists(PAGES, min_size=1, max_size=4))
def test_whatever_happens_to_a_page_no_translation_is_lost_and_a_second_update_changes_nothing(
    first: Sections, later: list[Sections]
) -> None:
    catalogue = translated(first)
    written = Counter(entry.text for entry in catalogue.entries)
    for page in later:
        catalogue = update(page, catalogue)
        assert set(written) <= {entry.text for entry in catalogue.entries}
        assert write(update(page, catalogue), "page.html") == write(catalogue, "page.html")
        for found in match(units(page), catalogue.entries):
            assert found.entry
            assert found.state is not None or found.entry.text == f"[{found.unit.text}]"
            known = f"[{found.unit.text}]" in written
            assert (found.state is None) == known
    assert {entry.source for entry in update(first, catalogue).entries if entry.stale} == set()


@given(PAGES, PAGES)
def test_the_page_is_shown_alike_before_and_after_the_update(first: Sections, second: Sections) -> None:
    old = translated(first)
    before, after = match(units(second), old.entries), match(units(second), update(second, old).entries)
    for was, now in zip(before, after, strict=True):
        assert _shown(was) == _shown(now) or {was.state, now.state} == {BlockState.STALE, BlockState.MISSING}
