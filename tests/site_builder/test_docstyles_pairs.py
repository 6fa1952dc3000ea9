"""Pairs of a docstring and its Markdown; `docstyle_pairs/README.txt` tells how to add one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from site_builder.prose.docstyles import to_markdown

PAIRS = Path(__file__).parent / "docstyle_pairs"
HEAD = re.compile(r"^===== (.+)\n", re.MULTILINE)


def pairs() -> Iterator[tuple[str, str, str, str]]:
    for file in sorted(PAIRS.glob("*.txt")):
        if file.name == "README.txt":
            continue
        _, *parts = HEAD.split(file.read_text(encoding="utf-8"))
        for title, body in zip(parts[::2], parts[1::2], strict=True):
            source, expected = body.rstrip("\n").split("\n--->\n")
            yield f"{file.stem}: {title}", "auto" if file.stem == "markdown" else "rest", source, expected


@pytest.mark.parametrize(
    ("style", "source", "expected"), [pytest.param(*pair, id=title) for title, *pair in pairs()]
)
def test_a_docstring_becomes_the_markdown_that_its_pair_shows(style: str, source: str, expected: str) -> None:
    assert (to_markdown(source, style) or "(Markdown)") == expected
