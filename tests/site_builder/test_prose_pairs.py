"""
Markdown and the HTML it becomes, in `prose_pairs/*.txt`: a line `=== what it shows`, the Markdown, a line `--->`, the
HTML. To add a pair needs no Python. A formula stands in the HTML as `<math>source</math>`.
"""

from __future__ import annotations

import html
from pathlib import Path

import pytest

from site_builder import prose
from site_builder.model import Prose, ProseLine

PAIRS = [
    pytest.param(*pair.rstrip("\n").split("\n--->\n"), id=f"{path.stem}: {title}")
    for path in sorted((Path(__file__).parent / "prose_pairs").glob("*.txt"))
    for title, _, pair in (
        part.partition("\n") for part in ("\n" + path.read_text("utf-8")).split("\n=== ")[1:]
    )
]


@pytest.mark.parametrize(("markdown", "expected"), PAIRS)
def test_markdown_becomes_html(markdown: str, expected: str) -> None:
    lines = tuple(ProseLine(line, "page.md", n, 1) for n, line in enumerate(markdown.split("\n"), 1))
    rendered = prose.render(
        Prose(lines),
        typeset=lambda tex, display: f"<math>{html.escape(tex, quote=False)}</math>",
        link=lambda target: target,
        prefix="p",
    )
    assert rendered.html == expected
