"""What scripts say comes through the catalogues too: the accented language, once every script has spoken."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from site_builder.translate.escaped import escaped

from .conftest import Visit, run_builder

SOURCE = '''"""
---
title: Sums
summary: How to add.
symbols:
  s: total
---
# Sums

![A chart](chart.png)

The sum $s$ is of `total`.
"""


def add(values):
    """
    ## Add

    Adds, and counts $s$.

    >>> add([1, 2, 3])
    6
    """
    total = 0
    for value in values:
        # `total` grows.
        total += value
    return total
'''


@pytest.fixture(scope="module")
def pseudo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pseudo")
    (folder / "pkg").mkdir()
    (folder / "pkg" / "__init__.py").write_text('"""\n---\ntitle: All\nsummary: Of it.\n---\n"""\n', "utf-8")
    (folder / "pkg" / "sums.py").write_text(SOURCE, "utf-8")
    (folder / "pkg" / "chart.png").write_bytes(b"")
    (folder / "pyproject.toml").write_text(
        '[tool.site_builder]\npackages = ["pkg"]\ntitle = "Sums"\n', "utf-8"
    )
    run_builder("translate", "pseudo", "-o", "site", cwd=folder)
    return folder / "site"


def test_nothing_that_a_script_says_escapes_translation(pseudo: Path, visit: Visit) -> None:
    page = visit.open(pseudo / "en-XA" / "sums.html")
    seen: list[str] = []

    def look() -> None:
        # What is found, and what a step is read out as, does not tell code from words.
        mixed = "#search-found p, #steps [role=status]"
        page.eval_on_selector_all(mixed, "all => all.forEach(one => one.replaceChildren())")
        seen.extend(escaped(page.content()))

    page.get_by_role("button", name="⟦Ţĥéɱé⟧").click()
    page.locator(".legend .entry").first.click()
    expect(page.locator(".lit")).to_be_visible()
    look()
    page.locator("[data-walk]").first.click()
    expect(page.locator("#steps .nth")).not_to_be_empty()
    for _ in range(4):
        page.locator("#steps .on").click()
        look()
    page.locator("#steps .shut").click()
    page.keyboard.press("/")
    page.keyboard.type("add")
    expect(page.locator("#search .tally")).to_contain_text("óƒ")
    look()
    page.keyboard.press("Control+a")
    page.keyboard.type("nowhere to be found")
    expect(page.locator("#search .tally")).to_contain_text("⟦Ñóţĥíñğ")
    look()
    assert list(dict.fromkeys(seen)) == []
    assert visit.messages == []


def test_a_page_from_right_to_left_keeps_its_code_from_left_to_right_and_scrolls_nowhere(
    pseudo: Path, visit: Visit
) -> None:
    page = visit.open(pseudo / "ar-XB" / "sums.html")
    sides = page.evaluate(
        """() => {
            const side = selector => document.querySelector(selector).getBoundingClientRect();
            return {
                note: side(".pair:not(.opener) .note").left, code: side(".pair:not(.opener) .code").left,
                wide: document.documentElement.scrollWidth - innerWidth,
                pre: getComputedStyle(document.querySelector("pre")).direction,
                math: getComputedStyle(document.querySelector(".katex")).direction,
            };
        }"""
    )
    assert sides["note"] > sides["code"]
    assert sides["wide"] <= 0
    assert (sides["pre"], sides["math"]) == ("ltr", "ltr")
