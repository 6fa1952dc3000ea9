"""The Japanese of our own pages: complete, faithful in math and code, and in the words that the glossary decides."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache

import pytest

from site_builder.catalogues import path_of
from site_builder.config import load
from site_builder.model import Page
from site_builder.translate import files, localise, units
from site_builder.translate.catalogue import Catalogue
from site_builder.translate.matching import match

from .conftest import REPOSITORY, our_pages

CONFIG = load(REPOSITORY)
JAPANESE = re.compile("[\u3041-\u30ff\u4e00-\u9fff]")
NOT_WORDS = re.compile(r"\$\$?.+?\$\$?|`+.+?`+|\]\([^)]*\)", re.S)


@cache
def pages() -> Mapping[str, Page]:
    """Those that the site has in Japanese."""
    return {url: page for url, page in our_pages().items() if CONFIG.covers("ja", page.source.path)}


# By their catalogues: whoever only counts the tests need not read the pages.
URLS = [name.removeprefix("ja/").removesuffix(".po") + ".html" for name in files.names(CONFIG, "ja")]


def test_all_models_and_the_first_chapter_of_the_manual_are_there() -> None:
    covered = {page.source.path for page in pages().values()}
    modules = {file.relative_to(REPOSITORY).as_posix() for file in (REPOSITORY / "labml_nn").rglob("*.py")}
    assert covered == modules | {"site_builder/manual/getting-started.md"}
    assert {*URLS} == pages().keys()


def catalogue(url: str) -> Catalogue:
    found, faults = files.load(CONFIG, "ja", path_of("ja", url))
    assert faults == ()
    assert found
    return found


def translations(url: str) -> list[tuple[str, str]]:
    """Source and translation of every block that is translated."""
    matches = match(units(pages()[url]), catalogue(url).entries)
    return [(one.unit.text, one.entry.text) for one in matches if one.entry and one.state is None]


@pytest.mark.parametrize("url", URLS)
def test_every_block_is_translated_and_keeps_math_code_and_links(url: str) -> None:
    local = localise(pages()[url], catalogue(url))
    assert [place for place, state in local.states.items() if state] == []
    assert [str(fault) for fault in local.diagnostics] == []


@pytest.mark.parametrize("url", URLS)
def test_every_translation_of_more_than_three_words_is_japanese(url: str) -> None:
    found = translations(url)
    assert found
    long = [(source, text) for source, text in found if len(NOT_WORDS.sub(" ", source).split()) > 3]
    assert [source for source, text in long if not JAPANESE.search(NOT_WORDS.sub(" ", text))] == []


@pytest.mark.parametrize("url", URLS)
def test_sentences_end_politely(url: str) -> None:
    """です・ます, throughout: no sentence ends in the plain form."""
    plain = re.compile("(?:である|だ|る|ない|[くぐぬぶむ]|(?<!しょ)う|(?<![まで])す|(?<!まし)(?<!でし)た)$")
    sentences = (part for _, text in translations(url) for part in NOT_WORDS.sub("", text).split("。")[:-1])
    assert [sentence for sentence in sentences if plain.search(sentence)] == []


@pytest.mark.parametrize("url", URLS)
def test_terms_are_those_of_the_glossary(url: str) -> None:
    terms = tomllib.loads((REPOSITORY / "translations" / "glossary.toml").read_text("utf-8"))["term"]
    terms.sort(key=lambda term: -len(term["source"]))
    breaches = []
    for source, text in translations(url):
        left = " ".join(NOT_WORDS.sub(" ", source).split())
        for term in terms:
            word = rf"(?<![\w-]){re.escape(term['source'])}(?:e?s)?(?![\w-])"
            left, count = re.subn(word, " ", left, flags=re.IGNORECASE)
            if count and not any(wanted in text for wanted in term["ja"]):
                breaches.append(f"{term['source']}: {text}")
            if count and any(wrong in text for wrong in term.get("avoid", ())):
                breaches.append(f"{term['source']}, to be avoided: {text}")
    assert breaches == []
