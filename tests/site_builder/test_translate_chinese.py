"""The Chinese of some of our own pages: a third language, which takes its catalogues and nothing else."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import pytest

from site_builder.catalogues import INTERFACE, path_of
from site_builder.config import load
from site_builder.model import Page
from site_builder.translate import files, interface, localise, units
from site_builder.translate.catalogue import Catalogue
from site_builder.translate.matching import match

from .conftest import REPOSITORY, our_pages

CONFIG = load(REPOSITORY)
SAME = re.compile(r"\$\$?.+?\$\$?|`+.+?`+", re.S)
MARKS = re.compile(r"\]\([^)]*\)|[*\[]")
HAN, KANA = re.compile("[\u4e00-\u9fff]"), re.compile("[\u3041-\u30ff]")
FULL_WIDTH = "，。：；？！、（）“”"
CROWDED = re.compile("[\u4e00-\u9fff][A-Za-z0-9_]|[A-Za-z0-9_][\u4e00-\u9fff]")
"""A word of the source, code or math without the space that Chinese has round it."""
MISPLACED = re.compile(f"[{FULL_WIDTH}] | [{FULL_WIDTH}]|[\u4e00-\u9fff][,.:;?!()]")
"""A space beside a sign that brings its own, or a sign of half the width."""


@cache
def pages() -> dict[str, Page]:
    """Those that the site has in Chinese, by the names of their catalogues."""
    covered = (page for page in our_pages().values() if CONFIG.covers("zh", page.source.path))
    return {path_of("zh", page.url): page for page in covered}


NAMES = files.names(CONFIG, "zh")


def catalogue(name: str) -> Catalogue:
    found, faults = files.load(CONFIG, "zh", name)
    assert faults == ()
    assert found
    terms, faults = files.terms(CONFIG, "zh")
    assert faults == ()
    return replace(found, terms=terms)


def translations(name: str) -> list[tuple[str, str]]:
    """The words of every block and of its translation, an `x` for code and math."""
    matches = match(units(pages()[name]), catalogue(name).entries)
    return [(words(one.unit.text), words(one.entry.text)) for one in matches if one.entry]


def words(text: str) -> str:
    return MARKS.sub("", SAME.sub("x", text))


def test_the_pages_on_attention_are_there_and_no_catalogue_is_of_another() -> None:
    names = ("index", "mha", "fused_attention", "relative_mha", "positional_encoding")
    assert {*NAMES} == {"zh/index.po", *(f"zh/transformers/{name}.po" for name in names)}
    assert {*pages()} == {*NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_translated_whole_and_keeps_math_code_links_and_terms(name: str) -> None:
    local = localise(pages()[name], catalogue(name))
    assert [place for place, state in local.states.items() if state] == []
    assert [str(fault) for fault in local.diagnostics] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_translation_of_more_than_three_words_is_chinese(name: str) -> None:
    long = [text for source, text in translations(name) if len(source.split()) > 3]
    assert long
    assert [text for text in long if not HAN.search(text) or KANA.search(text)] == []


@pytest.mark.parametrize("name", NAMES)
def test_signs_have_the_full_width_and_other_letters_a_space(name: str) -> None:
    found = [text for _, text in translations(name)]
    assert [text for text in found if CROWDED.search(text) or MISPLACED.search(text)] == []


def test_the_interface_keeps_its_placeholders() -> None:
    good, faults = interface.usable(catalogue(f"zh/{INTERFACE}"))
    assert [str(fault) for fault in faults] == []
    assert good
