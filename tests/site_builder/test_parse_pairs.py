"""Pairs of a source and the page that it becomes; `parse_pairs/README.txt` tells how to add one."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from site_builder.model import Page, SourceFile
from site_builder.parse import parse

PAIRS = Path(__file__).parent / "parse_pairs"
HEAD = re.compile(r"^===== (.+) =====\n", re.MULTILINE)


def pairs() -> Iterator[tuple[str, str, str]]:
    for file in sorted(PAIRS.glob("*.txt")):
        if file.name == "README.txt" or (file.name == "python312.txt" and sys.version_info < (3, 12)):
            continue
        _, *parts = HEAD.split(file.read_text(encoding="utf-8"))
        for title, body in zip(parts[::2], parts[1::2], strict=True):
            source, expected = body.split("-----\n")
            yield title, source, without_trailing_blanks(expected)


def without_trailing_blanks(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.rstrip().split("\n"))


def drawn(page: Page) -> str:
    """The page as the pairs write it."""
    rows = []
    if page.title != "name":
        rows.append(f"title: {page.title}")
    rows += [f"intro | {line.text}" for line in page.intro.lines]
    for section in page.sections:
        if section.shown:
            rows.append(f"[{section.kind}] {section.anchor}")
            rows += [f"    | {line.text}" for line in section.prose.lines]
            rows += [f"    {number} {page.lines[number - 1].rstrip()}" for number in section.code]
    rows += [f"! {d.line}:{d.column} {d.code}: {d.message}" for d in page.diagnostics]
    return without_trailing_blanks("\n".join(rows))


@pytest.mark.parametrize(("source", "expected"), [pytest.param(*pair, id=title) for title, *pair in pairs()])
def test_a_source_becomes_the_page_that_its_pair_shows(source: str, expected: str) -> None:
    page = parse(SourceFile("name.py", "name.py", "package.name", "name.html", False), source.encode())
    assert drawn(page) == expected
