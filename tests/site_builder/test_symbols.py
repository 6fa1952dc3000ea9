r"""Symbols on a page: from the front matter to the formulas, the code and the legend, through the whole pipeline."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape
from pathlib import Path

import pytest

from site_builder import highlight
from site_builder.config import Config
from site_builder.site import make
from site_builder.symbols import occurrences

FRONT = '''r"""
---
title: Attention
symbols:
  Q: [query, self.query]
  S_{ij}: scores
---
# Attention

The scores $S_{ij} = Q_i \\cdot K_j$ of all pairs, with `query` in code, `self.query` and `other`.

    >>> scores = attend(query=2, key=3)
    >>> scores
    6
"""
'''
CODE = '''

def attend(query, key):
    """What comes in is `query: [seq_len, d_k]`."""
    # The product $Q K^\\top$
    return query * key  # query


class Layer:
    def __init__(self, query):
        self.query = query
        self.other.query = f"query {query}"
'''


@dataclass(frozen=True)
class Made:
    html: str
    faults: list[str]


def made(tmp_path: Path, text: str) -> Made:
    """The page of a package of two, with what is wrong with it."""
    package = tmp_path / "pack"
    package.mkdir(exist_ok=True)
    (package / "__init__.py").write_text('"""# Pack"""\n', encoding="utf-8")
    (package / "page.py").write_text(text, encoding="utf-8")
    done = make(Config(root=tmp_path, packages=("pack",), execute=False, cache=""))
    return Made(done.files["page.html"].decode(), [str(fault) for fault in done.diagnostics])


def shown(html: str) -> str:
    return unescape(re.sub("<[^>]*>", "", html))


def marked(html: str, number: int) -> list[str]:
    """The code that bears a symbol's number."""
    return [shown(found) for found in re.findall(rf'<i data-s="{number}">(.*?)</i>', html)]


def line(html: str, number: int) -> str:
    found = re.search(
        rf'<span class="line[^"]*" id="L{number}">.*?(?=<span class="line|</code>)', html, re.DOTALL
    )
    assert found
    return found[0]


def at(text: str, part: str) -> int:
    """The number of the first line that holds the part."""
    return text[: text.index(part)].count("\n") + 1


def test_formulas_code_examples_claims_and_code_spans_bear_the_number_of_their_symbol(tmp_path: Path) -> None:
    ran = made(tmp_path, FRONT + CODE)
    html = ran.html
    text = FRONT + CODE
    assert ran.faults == []
    assert marked(line(html, at(text, "def attend")), 1) == ["query"]
    assert marked(line(html, at(text, "self.query = query")), 1) == ["query", "query"]
    assert html.count('class="enclosing" data-s="1"') == 2
    assert html.count('class="enclosing" data-s="2"') == 1
    assert '<code><i data-s="1">query</i></code>' in html
    assert '<code><i data-s="1">self.query</i></code>' in html
    assert "<code>other</code>" in html
    assert '<i data-s="1">query</i>: [seq_len, d_k]</code>' in html
    (example,) = re.findall(r'<figure class="example">.*?</figure>', html, re.DOTALL)
    assert marked(example, 1) == ["query"]
    assert marked(example, 2) == ["scores", "scores"]


def test_marks_change_no_letter_of_the_page(tmp_path: Path) -> None:
    with_symbols = made(tmp_path, FRONT + CODE).html
    front = re.sub(r"symbols:\n(  .*\n)+", "\n\n\n", FRONT)
    without = made(tmp_path, front + CODE).html
    for number in range(at(FRONT + CODE, "def attend"), (FRONT + CODE).count("\n") + 1):
        if f'id="L{number}"' in with_symbols:
            bare = re.sub(r'(?<!<)<i data-s="\d+">(.*?)</i>(?!</i>)', r"\1", line(with_symbols, number))
            assert shown(bare) == shown(line(without, number))
    note = re.compile(r'<div class="intro">.*?</div>', re.DOTALL)
    assert shown(note.findall(with_symbols)[0]) == shown(note.findall(without)[0])


def test_the_legend_has_every_symbol_with_its_identifiers_in_the_author_s_order(tmp_path: Path) -> None:
    html = made(tmp_path, FRONT + CODE).html
    (legend,) = re.findall(r'<ul class="legend">.*?</ul>', html, re.DOTALL)
    entries = re.findall(r"<li>(.*?)</li>", legend, re.DOTALL)
    assert [re.findall(r'class="entry" data-s="(\d)"', entry) for entry in entries] == [["1"], ["2"]]
    names = [re.findall(r"<code>(.*?)</code>", entry) for entry in entries]
    assert [[shown(name) for name in row] for row in names] == [["query", "self.query"], ["scores"]]
    assert all('class="katex"' in entry for entry in entries)


def test_a_page_without_symbols_has_no_legend(tmp_path: Path) -> None:
    html = made(tmp_path, '"""# Page\n\n$x + x$"""\n').html
    assert "legend" not in html
    assert 'data-e="1"' in html


@pytest.mark.parametrize(
    ("symbols", "expected"),
    [
        ("Z: query", "5:3: symbol-unused no formula of the page has the symbol `Z`"),
        ("Q: [query, nothing]", "5:14: symbol-unused no code of the page has the identifier `nothing`"),
        ("Q: other.query", "5:6: symbol-unused no code of the page has the identifier `other.query`"),
        ("Q: layer.query", "did you mean"),
        (r"\frac{: query", r"5:3: symbol-syntax `\frac{`:"),
    ],
)
def test_what_ties_nothing_together_is_reported_where_it_is_declared(
    tmp_path: Path, symbols: str, expected: str
) -> None:
    front = re.sub(r"(symbols:\n)(  .*\n)+", lambda found: f"{found[1]}  {symbols}\n", FRONT)
    (fault,) = made(tmp_path, front + CODE).faults
    assert expected in fault


def test_an_identifier_means_one_symbol(tmp_path: Path) -> None:
    front = FRONT.replace("S_{ij}: scores", "K: query")
    (fault,) = made(tmp_path, front + CODE).faults
    assert "6:6: symbol-twice `query` already means `Q`" in fault


@pytest.mark.parametrize(
    ("source", "name", "expected"),
    [
        ("query = query.T @ self.query", "query", [1, 9]),
        ("query = query.T @ self.query", "self.query", [24]),
        ("self.query.weight", "self.query", [6]),
        ("other.self.query", "self.query", []),
        ("f(x).query", "query", []),
        ("    .query(1)", "query", []),
        ("(*query, ...)", "query", [3]),
        ("x[...].query, query", "query", [15]),
        ("attend(query=query)", "query", [8, 14]),
        ("def f(query: Tensor): pass", "query", [7]),
        ("'query' # query", "query", []),
        ('f"{query} query"', "query", [4]),
        ("queries, query_2, query", "query", [19]),
        ("attn.scores + scores", "attn.scores", [6]),
        ("self . query", "self.query", [8]),
        ("größe = größe", "größe", [1, 9]),
        ("def f(: query ]", "query", [9]),
    ],
)
def test_a_bare_name_is_the_variable_and_a_dotted_one_the_attribute(
    source: str, name: str, expected: list[int]
) -> None:
    (tokens,) = highlight.python([source])
    found = occurrences(tokens, {name: 1})
    assert [place.column for place in found] == expected
    last = name.rpartition(".")[2]
    assert all(source[place.column - 1 : place.end - 1] == last for place in found)


def test_a_mark_lies_inside_of_the_link_to_the_definition(tmp_path: Path) -> None:
    text = '"""\n---\nsymbols:\n  f: attend\n---\n# Page\n\n$f$"""\n\n\ndef attend(x):\n    return attend(x - 1)\n'
    html = made(tmp_path, text).html
    assert '<i data-s="1">attend</i></a>(' in line(html, at(text, "return")).replace('<i class="p">', "")
