"""Code as Chromium lays it out: where its lines break, and what is read back."""

from __future__ import annotations

import re
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from site_builder import highlight

from .conftest import Tab

STYLE = """
<style>
  pre { width: 12ch; font: 14px monospace; margin: 0 }
  .src { white-space: pre-wrap; display: block }
  .nb, .o { white-space: nowrap }
</style>
"""

BREAKS = """() => [...document.querySelectorAll('.src')].map(line => {
  const found = [], walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT), range = document.createRange();
  let before = null, offset = 0;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    for (let i = 0; i < node.length; i++, offset++) {
      range.setStart(node, i); range.setEnd(node, i + 1);
      const box = range.getBoundingClientRect();
      if (!box.width) continue;
      if (before !== null && box.top > before + 4) found.push(offset);
      before = box.top;
    }
  }
  return found;
})"""


@pytest.fixture
def page(tab: Tab) -> Page:
    return tab()


def show(page: Page, lines: list[str]) -> list[str]:
    """The lines in a column that is much too narrow; what their `.src` holds."""
    shown = (highlight.line_html(n, tokens) for n, tokens in enumerate(highlight.python(lines), 1))
    page.set_content(f"<!doctype html><meta charset=utf-8>{STYLE}<pre><code>{''.join(shown)}</code></pre>")
    read: list[str] = page.evaluate(
        "() => [...document.querySelectorAll('.src')].map(line => line.textContent)"
    )
    return read


def test_every_character_that_html_can_carry_is_read_back(page: Page) -> None:
    lines = [
        "\tx = '&lt; \x0b\x1b\x7f\x85\x9f\u2028\ufffe\ufeff'\f\r\n",
        "  \r",
        "a\r",
        "\f\n",
        "y = '<b>' & 1",
    ]
    assert show(page, lines) == lines


def test_lines_break_only_behind_spaces_and_where_they_are_allowed_to(page: Page) -> None:
    path = Path(sysconfig.get_paths()["stdlib"], "argparse.py")
    lines = path.read_text("utf-8").splitlines(keepends=True)[600:1200]
    assert show(page, lines) == lines
    broken = 0
    for number, (source, breaks) in enumerate(zip(lines, page.evaluate(BREAKS), strict=True)):
        (tokens,) = highlight.python([source])
        html = re.sub(r'^.*?<span class="src"[^>]*>', "", highlight.line_html(1, tokens))
        text = re.sub(r"<(?!wbr).*?>", "", html)
        allowed = {len(re.sub("&[^;]+;", ".", part)) for part in _before_each(text, "<wbr>")}
        for place in breaks:
            broken += 1
            assert source[place - 1].isspace() or place in allowed, (number, source, place)
    assert broken > 500


def _before_each(text: str, mark: str) -> Iterator[str]:
    parts = text.split(mark)
    for count in range(1, len(parts)):
        yield "".join(parts[:count])
