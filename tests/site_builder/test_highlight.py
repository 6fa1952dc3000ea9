"""Code in colour, line by line: nothing is lost, nothing breaks where it should not, links stand where they should."""

from __future__ import annotations

import string
import sysconfig
import textwrap
import time
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from site_builder import highlight
from site_builder.highlight import Token


class Line(HTMLParser):
    """What a reader gets of one line: its text, and for every character the elements that it stands in."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.around: list[tuple[tuple[str, dict[str, str | None]], ...]] = []
        self.breaks: list[int] = []
        self.start: dict[str, str | None] = {}
        self.feed(html)
        self.close()
        assert self.open == [], html

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag == "wbr":
            self.breaks.append(len(self.text))
        else:
            self.open.append((tag, dict(attributes)))
            self.start = self.start or dict(attributes)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        assert ("class", "src") in [item for _, attributes in self.open for item in attributes.items()]
        self.text += data
        self.around += [tuple(self.open[2:])] * len(data)

    def inside(self, name: str) -> str:
        """The characters that stand in an element of this class."""
        return "".join(c for c, around in zip(self.text, self.around, strict=True) if name in classes(around))

    def unbroken(self) -> list[str]:
        """The stretches that are kept on one line."""
        found: list[str] = []
        last = False
        for place, (character, around) in enumerate(zip(self.text, self.around, strict=True)):
            kept = "nb" in classes(around)
            if kept and last and place not in self.breaks:
                found[-1] += character
            elif kept:
                found.append(character)
            last = kept
        return found


def classes(around: tuple[tuple[str, dict[str, str | None]], ...]) -> set[str]:
    return {name for _, attributes in around for name in (attributes.get("class") or "").split()}


def line(source: str, links: highlight.Links | None = None) -> Line:
    (tokens,) = highlight.python([source])
    return Line(highlight.line_html(1, tokens, links or {}))


# ---- nothing is lost


def split(text: str) -> list[str]:
    """Lines as the parser cuts them."""
    lines, start = [], 0
    for place, character in enumerate(text):
        if character == "\n" or (character == "\r" and text[place + 1 : place + 2] != "\n"):
            lines.append(text[start : place + 1])
            start = place + 1
    return [*lines, text[start:]] if start < len(text) else lines


def check(text: str) -> None:
    lines = split(text)
    tokens = highlight.python(lines)
    assert ["".join(token.text for token in row) for row in tokens] == lines
    assert all(token.text for row in tokens for token in row)
    for number, (row, source) in enumerate(zip(tokens, lines, strict=True), 1):
        carried = "".join("\ufffd" if c == "\0" or "\ud800" <= c <= "\udfff" else c for c in source)
        # What Python's reader of HTML drops on the way, a browser does not: see the test in the browser.
        assert Line(highlight.line_html(number, row)).text == carried


WORDS_OF_CODE = 'def |class |import |from | as |x|.|,|@|\'|"|"""|f\'{|{|}|(|)|#|0x1|&<>|é|変'.split("|")
SPACES = ["\\", "\n", "\r\n", "\r", "\t", "\f", "  ", "\ufeff", "\0"]


@given(st.lists(st.sampled_from(WORDS_OF_CODE + SPACES)).map("".join))
@example("'''\n \n\t\n'''\f\n")
@example("\ufeffx = 1\r\n\x0b\x1c\x85\u2028y\r\rz")
@example("x = '\ud800'\n")
def test_the_lines_of_any_text_are_read_back_as_they_were(text: str) -> None:
    check(text)


def test_the_lines_of_real_files_are_read_back_as_they_were() -> None:
    files = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))[::40]
    for path in files:
        check(path.read_bytes().decode("latin-1"))


@pytest.mark.exhaustive
def test_the_lines_of_the_standard_library_are_read_back_as_they_were() -> None:
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).rglob("*.py")):
        check(path.read_bytes().decode("latin-1"))


@pytest.mark.exhaustive
def test_thousands_of_blank_lines_cost_no_more_than_they_are_worth() -> None:
    # A lexer that looks ahead over white space needs minutes for this.
    lines = ["x = 1\n", *["    \t\n"] * 20_000, "y = 2\n"]
    start = time.process_time()
    assert highlight.python(lines)[-2] == (Token("", "    \t"), Token("", "\n"))
    assert time.process_time() - start < 10


# ---- colour


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(self): pass", "k:def n:f p:( p:self p:): k:pass"),
        ("class C(Base): ...", "k:class n:C p:( p:): o:..."),
        ("def __init__(self): x.__init__", "k:def n:__init__ p:( p:self p:): o:."),
        ("x: int = 1.5 if None else -0x_f", "p:: t:int o:= m:1.5 k:if m:None k:else o:- m:0x_f"),
        ("a not in b is not c and not d", "k:not k:in k:is k:not k:and k:not"),
        ("def f(x) -> int: yield", "k:def n:f p:( p:) o:-> t:int p:: k:yield"),
        ("raise ValueError(a) from b", "k:raise t:ValueError p:( p:) k:from"),
        ("@torch.no_grad()", "d:@torch d:. d:no_grad p:()"),
        ("@cached", "d:@cached"),
        ("a @ b", "o:@"),
        ("rb'a' 'b'", "g:rb'a' g:'b'"),
        ("f'{x!r:>4} {{}} {y=}'", "g:f' p:{ p:!r: g:>4 p:} g: {{}}  p:{ p:=} g:'"),
        ("'%s {}' % x", "g:'%s {}' o:%"),
        ("f'{x},{y}'", "g:f' p:{ p:} g:, p:{ p:} g:'"),
        ("x = 1  # why", "o:= m:1 c:# why"),
        ("cls.x, self.y, Ellipsis", "p:cls o:. p:, p:self o:. p:, m:Ellipsis"),
        ("x.max(max)", "o:. p:( t:max p:)"),
        ("match x:", "k:match p::"),
        ("import torch.nn as nn, os", "k:import t:torch o:. t:nn k:as t:nn p:, t:os"),
        ("from ..a import (b as c, D)", "k:from o:.. t:a k:import p:( t:b k:as t:c p:, t:D p:)"),
    ],
)
def test_a_token_has_the_class_of_what_it_is(source: str, expected: str) -> None:
    (tokens,) = highlight.python([source])
    assert " ".join(f"{cls}:{text}" for cls, text in tokens if cls) == expected


def test_imported_names_have_the_colour_of_types_and_so_has_what_is_capitalised_in_them() -> None:
    head = ["import math, torch.optim\n", "from torch import (\n", "  nn as N,\n", "  Tensor)\n"]
    uses = ["N.Linear, N.relu, torch.optim.Adam, math.pi, Tensor\n", "nn, x.N, x.Linear, optim, Linear\n"]
    *_, known, unknown = highlight.python([*head, *uses])
    assert [token.text for token in known if token.cls == "t"] == "N Linear N torch Adam math Tensor".split()
    assert not [token for token in unknown if token.cls == "t"]


def test_a_file_that_does_not_parse_is_coloured_all_the_same() -> None:
    tokens = highlight.python(["def f(:\n", "  return ]]] 'open\n", "class C: $ ?\n"])
    assert [[token.text for token in row if token.cls in ("k", "n")] for row in tokens] == [
        ["def", "f"],
        ["return"],
        ["class", "C"],
    ]


def test_a_docstring_keeps_its_colour_over_blank_lines() -> None:
    tokens = highlight.python(['x = """a\n', "   \n", "\n", 'b"""\n'])
    assert [row[0] for row in tokens[1:]] == [Token("", "   "), Token("", "\n"), Token("g", 'b"""')]


# ---- a line


def test_a_line_carries_its_number_outside_its_text() -> None:
    html = highlight.line_html(38, highlight.python(["    x\n"])[0])
    assert html == (
        '<span class="line" id="L38"><a class="ln" href="#L38" data-n="38" aria-label="38" tabindex="-1"></a>'
        '<span class="src" style="--i:4"><span class="in">    </span>x\n</span></span>'
    )


@pytest.mark.parametrize(
    ("source", "width", "indentation"),
    [
        ("x\n", 0, ""),
        ("\t x\r\n", 5, "\t "),
        ("  \tx", 4, "  \t"),
        ("\f  x\n", 2, "\f  "),
        ("   \n", 0, ""),
        ("\n", 0, ""),
    ],
)
def test_the_indentation_is_measured_in_columns(source: str, width: int, indentation: str) -> None:
    html = highlight.line_html(1, highlight.python([source])[0])
    assert f'style="--i:{width}"' in html
    assert Line(html).inside("in") == indentation
    assert Line(html).text == source


# ---- links


def linked(source: str, links: highlight.Links) -> list[tuple[str, str | None, str | None]]:
    """Text, address and title of each link, in order."""
    found: list[tuple[str, str | None, str | None]] = []
    read = line(source, links)
    for character, around in zip(read.text, read.around, strict=True):
        for tag, attributes in around:
            if tag == "a":
                entry = (attributes["href"], attributes.get("title"))
                if found and found[-1][1:] == entry:
                    found[-1] = (found[-1][0] + character, *entry)
                else:
                    found.append((character, *entry))
    return found


@pytest.mark.parametrize(
    ("source", "column", "end", "text"),
    [
        ("x = nn.Linear(3)", 5, 7, "nn"),
        ("x = nn.Linear(3)", 8, 14, "Linear"),
        ("@torch.no_grad()", 2, 7, "torch"),
        ("@torch.no_grad()", 8, 15, "no_grad"),
        ("    self.forward(a-b)", 10, 17, "forward"),
        ("f'é {Model!r} {x}'", 6, 11, "Model"),
        ("変数 = モデル()", 6, 9, "モデル"),
        ("x = (a-Model-b, c)", 8, 13, "Model"),
        ("Model", 1, 6, "Model"),
        ("self.very_long_name_of_a_method(Model)", 33, 38, "Model"),
    ],
)
def test_a_link_goes_round_exactly_its_identifier(source: str, column: int, end: int, text: str) -> None:
    assert linked(source, {column: (end, 'a.html#b"&', 'a "b" <c>')}) == [(text, 'a.html#b"&', 'a "b" <c>')]


def test_several_links_and_none_that_overlap_or_leave_the_line() -> None:
    links = {1: (3, "#a", "a"), 2: (4, "#b", "b"), 4: (10, "#c", ""), 11: (15, "#d", "d"), 0: (2, "#e", "e")}
    assert linked("aa.Linear(xx\n", links) == [("aa", "#a", "a"), ("Linear", "#c", None)]


def test_a_linked_line_reads_as_it_did() -> None:
    source = "    x = nn.Linear(a-1, nn.functional.softmax, bias=not_a_long_name[0][1])\r\n"
    assert line(source, {9: (11, "#nn", "nn"), 12: (18, "#l", "l"), 24: (26, "#nn", "nn")}).text == source


# ---- where a line may break

BREAKS_BEFORE = {
    "-": "\"#%&'(*+-0123456789<=>@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\^_`abcdefghijklmnopqrstuvwxyz{|~",
    "?": "#$%&(*+-0123456789<=>@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\^_`abcdefghijklmnopqrstuvwxyz{|~",
    **dict.fromkeys('!"#%&)*+,.:;=>\\]|}~', "(<[{"),
}
"""Measured: where Chromium breaks a line between two characters that have no space between them."""


@pytest.mark.parametrize("left", sorted(BREAKS_BEFORE))
def test_short_chunks_never_break(left: str) -> None:
    for right in BREAKS_BEFORE[left]:
        chunk = f"aa{left}{right}bb"
        read = Line(highlight.line_html(1, [Token("", f"x {chunk} y\n")]))
        assert read.unbroken() == [chunk], chunk
        assert read.breaks == []


@pytest.mark.parametrize(
    ("marked", "unbroken"),
    [
        ("x = a - b", []),
        ("def f(x) -> Tensor:", []),
        ("x.unflatten(-1, y)", ["x.unflatten(-1,"]),
        ("self.get_scores(query, key)", []),
        ("self.output(¦x.flatten(¦-2))", []),
        ("very_long_name_of_a_function()", []),
        ("x = [¦very_long_name_of_a_function(", []),
        ("x.transpose(¦0,¦1)¦.reshape(¦2,¦3)", []),
        ("x.transpose(¦a-b,¦c[0][1])", ["a-b,", "c[0][1])"]),
        ('torch.einsum(¦"ibhd,jbhd->ijbh", q)', ['"ibhd,jbhd->ijbh",']),
        ("'https://¦example.org/¦some/¦long/¦path'", []),
        ("# https://¦example.org/¦long-¦name,¦other", []),
        ("f(*[1], **{2}, -x, a=[3])", ["f(*[1],", "**{2},", "-x,", "a=[3])"]),
        ("a[0][1]", ["a[0][1]"]),
        ("変数 = '日本語、日本語'", ["変数"]),
    ],
)
def test_long_chunks_break_at_sensible_places_only(marked: str, unbroken: list[str]) -> None:
    read = line(marked.replace("¦", ""))
    pieces = [read.text[start:end] for start, end in pairwise([0, *read.breaks, len(read.text)])]
    assert "¦".join(pieces) == marked
    assert read.unbroken() == unbroken


WORDS = st.text(string.ascii_letters + string.digits + "_", min_size=1, max_size=30)


@given(st.lists(st.one_of(WORDS, st.sampled_from(list(string.punctuation + " "))), max_size=30).map("".join))
def test_no_identifier_is_ever_broken(text: str) -> None:
    read = line(text)
    for place in read.breaks:
        assert not (text[place - 1].isidentifier() and (text[place].isalnum() or text[place] == "_"))


# ---- fenced blocks


def plain(html: str) -> str:
    reader = HTMLParser(convert_charrefs=True)
    found: list[str] = []
    reader.handle_data = found.append  # type: ignore[method-assign, assignment]
    reader.feed(html)
    reader.close()
    return "".join(found)


@pytest.mark.parametrize(
    "language",
    ["python", "Py", "pycon", "bash", "console", "json", "html", "diff", "toml", "", "no-such", "<b>"],
)
def test_a_fenced_block_keeps_its_text(language: str) -> None:
    code = textwrap.dedent(
        """
        >>> x = {"a": 1} & <b>
          1 # why

        """
    )
    assert plain(highlight.block(code, language)) == code


def test_a_fenced_block_is_coloured_by_its_language() -> None:
    assert highlight.block("def f(): 1\n", "python") == (
        '<i class="k">def</i> <i class="n">f</i><i class="p">():</i> <i class="m">1</i>\n'
    )
    assert '<i class="ps">&gt;&gt;&gt; </i>' in highlight.block(">>> 1\n1\n", "pycon")
    assert '<i class="c"># why\n</i>' in highlight.block("ls # why\n", "sh")
    assert highlight.block("def <f>", "no-such") == "def &lt;f&gt;"
