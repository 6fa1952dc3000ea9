"""The splitter: which blocks there are, where they stand, and how they lie in each other."""

from __future__ import annotations

import itertools
import re
import time
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from site_builder import blocks
from site_builder.blocks import Block, BlockKind, Container, ContainerKind

PIECES = """
* | ** | _ | ` | `` | ``` | ~~~ | $ | $$ | \\ | \\$ | [ | ] | ( | ) | ![ | ]( | [^1] | [^1]:  | [x]: http://a.b
<b> | </b> | <div> | </div> | <!-- | --> | <script> | </script> | &amp; | --- | === | #  | ##  | >  | >>>  | ...
*  | -  | 1.  | 2)  | :  | a | word | foo_bar | 数学 | 。 | , | \\begin{align} | \\end{align} | x^2 | { | } | **kwargs
"""
MARKDOWN = [piece for line in PIECES.strip("\n").split("\n") for piece in line.split(" | ")]
MARKDOWN += ["|", "|---|", "\n", "\n", "\n\n", "  ", "    ", "\t", "\r", "\f", "\x00", "\u3000", "\ue000"]
texts = st.lists(st.sampled_from(MARKDOWN) | st.text(max_size=3), max_size=20).map("".join)


# Each of these was, in one tool of this kind or another, a way to make it stand still.
LONG = [
    "word ",
    "* a\n",
    "> ",
    "$$ ",
    "$$ a\n",
    "`` ` ",
    "\\begin{align}\n",
    "<!--\n",
    "<script>\n",
    "[^a]: x\n",
]
LONG += ["a\n: b\n\n", "a|b\n-|-\n", "1. ", ">>> x\n", "\n", "\t", "| ", "```\n\n", "<a b='", "# "]


def kinds(text: str) -> list[tuple[str, str]]:
    return [(block.kind.value, block.text(text)) for block in blocks.split(text)]


def shape(node: Block | Container) -> object:
    """The tree as nested tuples of names."""
    if isinstance(node, Block):
        return node.kind.value
    return (node.kind.value, *(shape(child) for child in node.children))


def test_every_kind_of_block_is_found_where_it_stands() -> None:
    text = r"""# Title
Words
in lines
* item
  $$x$$

| a | b |
|---|---|
| c | d |
: About

Term
: Meaning

>>> 1
1

```python
code
```
<div>html</div>

---

[^n]: Note

[id]: http://a.b
"""
    assert kinds(text) == [
        ("heading", "Title"),
        ("paragraph", "Words\nin lines"),
        ("item", "item"),
        ("math", "$$x$$"),
        *[("cell", "a"), ("cell", "b"), ("table-rule", "|---|---|"), ("cell", "c"), ("cell", "d")],
        ("caption", "About"),
        ("term", "Term"),
        ("definition", "Meaning"),
        ("example", ">>> 1\n1"),
        ("code", "code"),
        ("html", "<div>html</div>"),
        ("rule", "---"),
        ("footnote", "Note"),
        ("reference", "[id]: http://a.b"),
    ]


def test_only_what_people_read_is_translatable() -> None:
    written = {kind for kind in BlockKind if Block(kind, ((0, 0),)).translatable}
    assert written == {"paragraph", "heading", "item", "cell", "term", "definition", "footnote", "caption"}


@pytest.mark.parametrize(
    ("text", "prefix"),
    [
        ("* a", "  "),
        ("10. a", "    "),
        ("> a", "> "),
        ("> * a", ">   "),
        ("* > a", "  > "),
        ("  - a", "    "),
        ("a", ""),
        ("# a", ""),
        ("[^1]: a", "    "),
        ("* * a", "    "),
    ],
)
def test_a_further_line_with_the_prefix_belongs_to_the_same_block(text: str, prefix: str) -> None:
    (block,) = blocks.split(text)
    assert block.prefix == prefix
    if block.kind is not BlockKind.HEADING:
        (longer,) = blocks.split(f"{text}\n{prefix}more")
        assert longer.text(f"{text}\n{prefix}more") == "a\nmore"


def test_the_tree_shows_what_lies_in_what() -> None:
    text = "> * a\n>   1. b\n>\n>      c\n\nd"
    inner = ("list", ("item", "item", "paragraph"))
    quote = ("quote", ("list", ("item", "item", inner)))
    assert shape(blocks.outline(text)) == ("document", quote, "paragraph")


def test_a_formula_that_never_ends_is_a_paragraph_with_the_lines_round_it() -> None:
    assert kinds("a\n$$ x\nb\n\nc") == [("paragraph", "a\n$$ x\nb"), ("paragraph", "c")]
    assert kinds("* $$ x\nb") == [("item", "$$ x\nb")]


def test_a_formula_interrupts_a_paragraph_and_a_list_item() -> None:
    assert kinds("a\n\\begin{align}\nx\n\\end{align}\nb") == [
        ("paragraph", "a"),
        ("math", "\\begin{align}\nx\n\\end{align}"),
        ("paragraph", "b"),
    ]
    assert kinds("1. a\n   $$\n   x\n   $$\n   b")[1:] == [("math", "$$\nx\n$$"), ("paragraph", "b")]


def test_an_example_goes_on_to_the_next_blank_line() -> None:
    text = ">>> f(\n...     1)\n2\n* 3\n\n* item"
    assert kinds(text) == [("example", ">>> f(\n...     1)\n2\n* 3"), ("item", "item")]


def test_an_example_keeps_the_indentation_of_its_output() -> None:
    assert kinds("  >>> x\n    y\n  z") == [("example", ">>> x\n  y\nz")]


def test_a_prompt_inside_of_a_fence_is_code() -> None:
    assert kinds("```\n>>> x\n```") == [("code", ">>> x")]


def test_a_table_row_needs_a_bar_and_its_cells_keep_code_and_math_whole() -> None:
    text = "a | b\n--|--\n`x|y` | $|z|$\nend"
    assert [words for kind, words in kinds(text) if kind == "cell"] == ["a", "b", "`x|y`", "$|z|$"]
    assert kinds(text)[-1] == ("paragraph", "end")


def test_a_line_like_a_table_rule_of_another_width_makes_no_table() -> None:
    assert [kind for kind, _ in kinds("a | b\n|---|")] == ["paragraph"]


def test_two_blanks_at_the_end_of_a_line_stay_because_they_break_it() -> None:
    assert kinds("a  \nb  ") == [("paragraph", "a  \nb")]


def test_the_ideographic_space_is_a_character() -> None:
    assert kinds("\u3000注意\n\u3000機構") == [("paragraph", "\u3000注意\n\u3000機構")]


def test_code_keeps_its_blank_lines_and_its_indentation() -> None:
    assert kinds("* ```\n  a\n\n    b\n  ```") == [("code", "a\n\n  b")]
    assert kinds("    a\n\n      b\n\n") == [("code", "a\n\n  b")]


@given(texts)
def test_spans_are_in_order_and_apart_and_within_their_lines(text: str) -> None:
    spans = [span for block in blocks.split(text) for span in block.spans]
    assert all(0 <= start <= end <= len(text) and "\n" not in text[start:end] for start, end in spans)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))


@given(texts)
def test_no_letter_is_lost_between_the_blocks(text: str) -> None:
    covered = list(text)
    for block in blocks.split(text):
        for start, end in block.spans:
            covered[start:end] = " " * (end - start)
        if block.info:
            # The name of a footnote or of a language stands in the marker.
            covered = list("".join(covered).replace(block.info, " ", 1).ljust(len(text)))[: len(text)]
    rest = re.sub(r"\[\^\S+?\]:|[0-9]{1,9}[.)]|```\S*|~~~\S*", "", "".join(covered))
    assert not [letter for letter in rest if letter.isalpha() and letter.isascii()]


class Structure(HTMLParser):
    """The block elements of a page in order; words are dropped."""

    def __init__(self, html: str):
        super().__init__()
        self.tags: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self.tags.append(f"/{tag}")


ELEMENT = {"quote": "blockquote", "item": "li", "list": "ul", "document": ""}


def elements(node: Block | Container, tight: bool = False) -> list[str]:
    """The elements that the tree stands for."""
    if isinstance(node, Block):
        name = {"heading": f"h{node.level}", "code": "pre", "rule": "hr"}.get(node.kind.value, "p")
        if name == "p" and tight:
            return []
        return [name] if name == "hr" else [name, f"/{name}"]
    name = "ol" if node.kind is ContainerKind.LIST and node.number is not None else ELEMENT[node.kind.value]
    tight = not node.loose if node.kind is ContainerKind.LIST else tight and node.kind is ContainerKind.ITEM
    inner = [tag for child in node.children for tag in elements(child, tight)]
    return [name, *inner, f"/{name}"] if name else inner


# Three signs in a row would be Python's prompt, a single dash below words no heading of ours, and two blanks
# are enough for us to lie in any item; so there are no numbers, no dashes and no wide markers.
MARKS = ["* ", "+ ", "> ", "# "]
lines = st.just("") | st.builds(
    lambda indent, marks, words: indent + "".join(marks) + words,
    st.sampled_from(["", "  "]),
    st.lists(st.sampled_from(MARKS), max_size=3, unique=True),
    st.sampled_from(["a", "b c"]),
)


@given(st.lists(lines, max_size=8).map("\n".join))
def test_lists_and_quotations_are_those_of_commonmark(text: str) -> None:
    html = MarkdownIt("commonmark").render(text)
    expected = [tag for tag in Structure(html).tags if tag.strip("/") not in ("code", "br")]
    assert elements(blocks.outline(text)) == expected


@pytest.mark.exhaustive
@pytest.mark.parametrize("piece", LONG)
def test_ten_times_the_text_takes_no_hundred_times_as_long(piece: str) -> None:
    def seconds(length: int) -> float:
        text = piece * (length // len(piece))
        start = time.process_time()
        blocks.split(text)
        return time.process_time() - start

    short = max(seconds(4_000), 0.005)
    assert seconds(40_000) < 40 * short
