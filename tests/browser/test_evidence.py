"""The evidence on real pages: shapes against axes written by hand and against hooks; the switch; nothing moves."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import Page, expect

from labml_nn.transformers.mha import MultiHeadAttention
from site_builder.cache import digest
from site_builder.claims import Verdict, check
from site_builder.claims.coverage import coverage
from site_builder.config import load
from site_builder.index import Card
from site_builder.model import Page as SourcePage
from site_builder.parse import encode
from site_builder.record import Record, Recording
from site_builder.site import read
from site_builder.site.stores import close, opened
from site_builder.weave import Evidence

from .axe import violations
from .conftest import REPOSITORY, Reading, Visit

MHA = "transformers/mha.html"

SIZES = {"seq_len_q": 7, "seq_len_k": 11, "batch_size": 2, "heads": 3, "d_k": 5, "d_model": 15}

FORWARD = {
    "query = self.query(query)": "[seq_len_q, batch_size, heads, d_k]",
    "key = self.key(key)": "[seq_len_k, batch_size, heads, d_k]",
    "value = self.value(value)": "[seq_len_k, batch_size, heads, d_k]",
    "x = self.attend_in_either_form(query, key, value, mask, is_causal)": "[seq_len_q, batch_size, heads, d_k]",
    "x = x.flatten(-2)": "[seq_len_q, batch_size, heads * d_k]",
    "return self.output(x)": "[seq_len_q, batch_size, d_model]",
}
"""The tensor assignments of `MultiHeadAttention.forward` and its result, with the axes that the method gives them."""


def shapes(page: Page, scope: str) -> dict[str, str]:
    """What stands at the end of each line of a method, by the text of the line."""
    found: dict[str, str] = page.evaluate(
        """scope => Object.fromEntries(
            [...document.querySelectorAll(`[id="${scope}"], [id^="${scope}:"]`)]
              .flatMap(section => [...section.querySelectorAll(".line")])
              .filter(line => line.querySelector(".rec"))
              .map(line => [line.querySelector(".src").textContent.trim(),
                            (line.querySelector(".axes") ?? line.querySelector(".rec")).textContent]))""",
        scope,
    )
    return found


def test_the_page_names_the_axes_of_every_tensor_that_forward_assigns(site: Path, reading: Reading) -> None:
    shown = shapes(reading(site / MHA).page, "MultiHeadAttention.forward")
    assert {line: shown.get(line) for line in FORWARD} == FORWARD
    assert re.fullmatch(
        r"\[.+, .+, .+, 1\] bool", shown["mask = self.prepare_mask(mask, query.shape, key.shape)"]
    )
    assert len(shown) == len(FORWARD) + 1


def test_the_axes_on_the_page_are_the_sizes_that_forward_hooks_see(site: Path, reading: Reading) -> None:
    seen: dict[str, tuple[int, ...]] = {}
    attention = MultiHeadAttention(SIZES["heads"], SIZES["d_model"])

    def hook(name: str) -> Any:
        return lambda module, given, result: seen.update({name: tuple(result.shape)})

    for name in ("query", "key", "value"):
        getattr(attention, name).register_forward_hook(hook(f"{name} = self.{name}({name})"))
    attention.output.register_forward_pre_hook(
        lambda module, given: seen.update({"x = x.flatten(-2)": tuple(given[0].shape)})
    )
    attention.output.register_forward_hook(hook("return self.output(x)"))
    x, memory = torch.randn(7, 2, 15), torch.randn(11, 2, 15)
    attention(query=x, key=memory, value=memory)

    shown = shapes(reading(site / MHA).page, "MultiHeadAttention.forward")
    assert len(seen) == 5
    for line, shape in seen.items():
        axes = shown[line].strip("[]").split(", ")
        assert tuple(eval(axis, {}, dict(SIZES)) for axis in axes) == shape, line


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, tuple[SourcePage, Evidence]]:
    """Our pages and what was recorded of them. The build of the site has just run the examples."""
    config = replace(load(REPOSITORY), packages=("labml_nn",))
    source = read(config).pages
    sources = {page.source.module: encode(page) for page in source.values() if not page.source.is_markdown}
    cards = [Card.of(page, digest(sources.get(page.source.module, b""))) for page in source.values()]
    recording = Recording(config, cards, lambda card: sources[card.source.module], opened(config))
    found = recording.known(recording.keys)
    close(config)
    assert found.keys() == recording.keys.keys()
    records = {url: Record.from_bytes(found[url]) if url in found else None for url in source}
    return {url: (page, Evidence(records[url], check(page, records[url]))) for url, page in source.items()}


def test_every_model_page_claims_its_public_tensors_and_every_third_that_it_assigns(
    pages: dict[str, tuple[SourcePage, Evidence]],
) -> None:
    models = {url: known for url, known in pages.items() if url.startswith(("transformers/", "data/"))}
    covered = {url: coverage(page, evidence.record) for url, (page, evidence) in models.items()}
    assert {url: one.missing for url, one in covered.items() if one.missing} == {}
    assert {url for url, one in covered.items() if 3 * one.claimed < one.assignments} == set()
    assert sum(one.assignments for one in covered.values()) > 300


# What only subclasses do.
ABSTRACT = {
    ("transformers/aft/full.html", "return: [heads, seq_len_q or 1, seq_len_k]"),
    ("transformers/aft/full.html", "return: [groups, seq_len_q, columns]"),
    ("transformers/aft/window.html", "return: [heads, stop - start, window]"),
}


def test_what_our_pages_claim_was_seen_but_for_what_subclasses_have_to_do(
    pages: dict[str, tuple[SourcePage, Evidence]],
) -> None:
    judged = [(url, one) for url, (_, evidence) in pages.items() for one in evidence.checked.claims]
    assert len(judged) > 700
    unproven = {(url, one.claim.text) for url, one in judged if one.verdict is not Verdict.PROVEN}
    assert unproven == ABSTRACT


def functions(page: SourcePage) -> bool:
    return any(one.kind in ("class", "function") for one in page.definitions)


def test_every_page_with_formulas_ties_symbols_to_its_code(
    site: Path, pages: dict[str, tuple[SourcePage, Evidence]]
) -> None:
    models = [url for url, (page, _) in pages.items() if url.startswith("transformers/") and functions(page)]
    written = {url: (site / url).read_text("utf-8") for url in models}
    formulas = {url for url, text in written.items() if 'class="katex"' in text}
    assert len(formulas) > 15
    assert {url for url in formulas if 'class="legend' not in written[url]} == set()


@pytest.mark.parametrize("width", [1440, 390])
def test_pointing_at_a_shape_shows_its_numbers_and_moves_nothing(
    site: Path, reading: Reading, width: int
) -> None:
    page = reading(site / MHA).page
    page.set_viewport_size({"width": width, "height": 900})
    elements = "[...document.querySelectorAll('.src, .rec, .note > *')]"
    places = f"() => JSON.stringify({elements}.map(one => one.getBoundingClientRect()))"
    shape = page.locator("[id='MultiHeadAttention.forward:query'] .rec").first
    shape.scroll_into_view_if_needed()
    before = page.evaluate(places)
    sizes = shape.locator(".sizes")
    expect(sizes).to_be_hidden()
    shape.focus()
    expect(sizes).to_be_visible()
    assert re.match(r"\[\d+, \d+, \d+, \d+\]", sizes.inner_text())
    assert page.evaluate(places) == before


def test_the_switch_takes_the_shapes_away_and_is_remembered(site: Path, visit: Visit) -> None:
    page = visit.open(site / "transformers" / "feed_forward.html")
    switch = page.get_by_role("button", name="Shapes beside the code")
    shape = page.locator(".rec").first
    expect(switch).to_have_attribute("aria-pressed", "true")
    expect(shape).to_be_visible()
    switch.focus()
    page.keyboard.press("Enter")
    expect(shape).to_be_hidden()
    page.reload()
    expect(switch).to_have_attribute("aria-pressed", "false")
    expect(shape).to_be_hidden()
    switch.click()
    expect(shape).to_be_visible()


def test_what_is_copied_from_the_code_is_the_source_without_shapes_or_prompts(
    site: Path, reading: Reading
) -> None:
    page = reading(site / MHA).page
    copied = page.evaluate(
        """() => {
            const range = document.createRange();
            const section = document.getElementById("MultiHeadAttention.forward:query");
            range.selectNodeContents(section.querySelector("pre"));
            getSelection().removeAllRanges();
            getSelection().addRange(range);
            return getSelection().toString();
        }"""
    )
    lines = [line.strip() for line in copied.splitlines() if line.strip()]
    assert lines == ["query = self.query(query)", "key = self.key(key)", "value = self.value(value)"]


def test_what_is_copied_from_an_example_has_no_prompts(site: Path, reading: Reading) -> None:
    page = reading(site / MHA).page
    copied = page.evaluate(
        """() => {
            getSelection().selectAllChildren(document.querySelector(".example code"));
            return getSelection().toString();
        }"""
    )
    assert copied.startswith("prepare = PrepareForMultiHeadAttention(")
    assert ">>>" not in copied
    assert "torch.Size([7, 2, 3, 5])" in copied


def test_without_javascript_the_shapes_and_the_rings_are_there(site: Path, reading: Reading) -> None:
    page = reading(site / MHA, java_script_enabled=False).page
    assert page.locator(".rec").first.is_visible()
    assert page.locator(".cold").count() > 0
    assert not page.locator("#shapes").is_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_where_a_shape_shows_its_numbers(site: Path, reading: Reading, theme: str) -> None:
    page, section = reading(site / MHA, color_scheme=theme).page, "[id='MultiHeadAttention.forward:query']"
    page.locator(f"{section} .rec").first.focus()
    expect(page.locator(f"{section} .sizes").first).to_be_visible()
    assert violations(page, section) == []
