"""The scanner finds what Pygments finds, or says that it is unsure."""

from __future__ import annotations

import importlib.util
import sysconfig
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pygments.token import Name

from site_builder.highlight import python
from site_builder.highlight.formatted import parts
from site_builder.highlight.reader import lexer
from site_builder.highlight.scanner import UnsureError, scanned
from site_builder.highlight.statements import statement
from site_builder.highlight.tokens import lexed
from site_builder.highlight.words import KINDS
from tools import write_words

REPOSITORY = Path(__file__).parents[2]

SURE = [
    "",
    "x = 1\n",
    '"""A docstring\n\nof three lines with \\""" an end that Python would not see.\n',
    "x = '''a\nb'''  # why\n'''doc'''; r'''\\'''\n",
    '    u\'\'\'doc\'\'\'\n    Rb""""doc"""\n',
    "'' '' \"\" 'a''b' b'\\'' r'\\'' r'\\\\' '\\\\' 'a\\\nb'\n",
    "'%s {} {{ {a.b} %(b)d' \"{!r:>{w}}\" '{:<3}' '{'\n",
    "f'{x}' f\"{a['b']:>{w}.2f} {{}} {y!r} {z = }\" rf'{x}\\d' f'''{x}\n{{}}''' 'a'f'b{c}''d'\n",
    "f'{x.max(y)} {None if self else print}' f'' F\"it's\"\n",
    "f'{a == b}{c[1:2]!r}{d:{w}.{p}}{{{e}}}' f\"{f(x, y=[(1)])=}{g if not h else 'i'}{len(j) - 1:>{k}}\" t'{x}'\n"
    "f'{type(x).__name__} {self.print} {a <= b != c} {x=}{{{y = !s:}}}' rf'\\{x}\\\\{y}' f'{lambda: 1}{c_}{a:=5}'\n",
    "f'{def_}' f'{(x:=1)}{torch.Tensor}' import torch\nf'{torch.Tensor} {Tensor:%Y}' f'{b'x'}'\n",
    "raise A from None\nraise B from c.d\nfrom a import *  # all\nx = \\",
    "import os, torch.nn as nn\nfrom a.b import (c,  # d\n  e as f,\n  Max)\nfrom . import g; import h\n"
    "f.X, nn.Y, Max, x.Max\n",
    "from __future__ import annotations\n\nimport a, \\\n  b\nfrom .. import c\nfrom ...d import *\n",
    "if x: import y\ntry: from z import Z\nexcept Z.z as e: raise A(b) from e\n\nraise A from None\n",
    "def f(self): yield from g\n",
    "class C(torch.nn.Module, metaclass=M):\n  async def __init__(cls, *, x=...) -> int: pass\n",
    "def print(): pass\ndef match(): pass\nclass int: pass\ndef __add__(self): return self.__add__\n",
    "@property\n@a.b.setter\n@functools.wraps(f)\ndef g(): return a @ b @c.d\n",
    "match x:\n  case [a, *b] if c: pass\n  case -1 | None: pass\n\tcase P(x_y=0): pass\n  case _:\n",
    "match = 1\nmatch: int\nx.match(case)\ncase, match = 2, 3\n",
    "1_000 0x_fF 0b1 0o17 1.5e-3 1. .5 1j 1e5j 3.real 1if x else 2 0xfor\n",
    "a[1:=2], (b := c) != d == e -> f ** g // h << i >> j ~k ^ l | m & n @= o ... .p\n",
    "x.print, x.ValueError, x.self, x.None, x.__name__, __name__, x.X\n",
    "return not in is and or True, False, Ellipsis, NotImplemented, lambda: await_\n",
    "x = a + \\\n    b\\\n\n\n\n",
    "# \ud800 é\n'é' # 変数\n\t x\n",
]

UNSURE = [
    "é = 1",
    "x = 'open\n",
    '"""open\n',
    "f'''{\nx}'''",
    "f'{x",
    "match in x:\n",
    "match(x)\n",
    "  case _ if x:\n",
    "  case (x, _):\n",
    "lazy import x\n",
    "'{a['x']}'",
    "'\\N{BULLET}'",
    "$ ? !",
    "import(a)",
    "from x.y\nimport z",
    "from x import as\n",
    "import a as\nb",
    "import a,\nb",
    "@a b.c",
    "@a.f'{x}'",
    "@a.import b",
    "  \f x",
    "from a import (b",
    "import a\n, b",
    "raise a from b\n\nimport c\n",
    "def (",
    "class\nC: pass",
    "a. print",
    "1.print",
    "ur'x'",
]
"""Here it leaves the whole file to Pygments."""


@pytest.mark.parametrize("source", SURE)
def test_common_code_is_read_without_pygments_and_comes_out_alike(source: str) -> None:
    assert scanned(source) == list(lexed(source))


STATEMENTS = [
    "import a",
    "import a.b as c,  print_, d as e",
    "from a.b  import c as d, ValueError, print, self, __name__",
    "from .. import g",
    "from ..a import b",
    "from a import (\n  b,\n  c as d, e\n)",
    "from a import (b)",
    "from __future__ import annotations",
    "from a import *",
    "from a import b  ",
    "from a import (  # why\n  b,  # c, (d\n\n  # e\n  f\n)",
    "from None",
    "from a.b",
    "@a",
    "@property",
    "@a.b.setter",
]


@pytest.mark.parametrize("text", STATEMENTS)
def test_plain_imports_and_decorators_are_cut_as_by_pygments(text: str) -> None:
    found = statement(text)
    assert found
    expected = [(kind, part) for _, kind, part in lexer().get_tokens_unprocessed(text)]
    assert [part for _, part in found] == [part for _, part in expected]
    # Nobody sees of what kind a space is.
    assert [kind for kind, part in found if part.strip()] == [kind for kind, part in expected if part.strip()]


@pytest.mark.parametrize(
    "text",
    [
        "import print",
        "import a as b.c",
        "from None.x",
        "from None import x",
        "from a import if",
        "@a.property",
    ],
)
def test_statements_that_are_not_plain_are_told_apart(text: str) -> None:
    assert statement(text) is None


def test_the_words_are_those_of_pygments() -> None:
    for word in sorted({*write_words.candidates(), *KINDS}):
        _, (_, kind, _), *_ = lexer().get_tokens_unprocessed(f";{word} ")
        assert KINDS.get(word, Name) is kind, f"{word!r}: run python tools/write_words.py"


@pytest.mark.parametrize("text", ["f'{x}'", "f'{a[b[c(d)]]!r:>{w}}'", "f'{{}}'", "f'{x = }{a != b}'"])
def test_an_f_string_that_is_plain_needs_no_pygments(text: str) -> None:
    found = parts(text, 0, len(text))
    assert found
    assert "".join(part[0] for part in found) == text


@pytest.mark.parametrize(
    "text",
    [
        "f'{class}'",
        "f'{x.a @ b}'",
        "f'{a[b[c[d[e[f]]]]]}'",
        "f'{ {1: 2}[1]}'",
        "f'{1e5pass}'",
        "f'{x:{w}'s'}'",
    ],
)
def test_an_f_string_that_is_not_plain_is_told_apart(text: str) -> None:
    assert parts(text, 0, len(text)) is None


@pytest.mark.parametrize("source", UNSURE)
def test_what_the_expression_does_not_cover_is_left_to_pygments(source: str) -> None:
    text = f"x = 1\n{source}"
    with pytest.raises(UnsureError):
        scanned(text)
    lines = text.split("\n")
    assert [list(row) for row in python(lines)] == list(lexed(text))


PIECES = [
    *"x . .. ... , ; : := = == != @ + -> ** ( ) [ ] { } # \\ % ! 0 1 1. .5 1e5 0x1f 1_0 j \" ' \"\"\" ''' ` $".split(),
    *"def class import from as yield async for if match case lazy lambda None True self cls print int".split(),
    *"__init__ __name__ ValueError torch Tensor f F r R b rb ur u f' f\" rf''' {x} {x!r:>{w}} {{ }} {a[ :'<".split(),
    *"\\n \\' \\\" \\\\ \\N{ %s @property @a.b".split(),
    *"é _ n't".split(),
    "yield from ",
    "\n",
    "\n",
    "\n",
    "\n    ",
    " ",
    " ",
    " ",
    "  ",
    "\t",
    "\f",
    "\v",
    "\\\n",
    "import a\n",
    "from a import b",
    " from e\n",
    "x = 'y'\n",
    'f"{x}"',
]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
@example("from a import (b, c as d)\nd.E")
@example("import a;from b import c\nimport d as e #\ne.F")
def test_any_text_comes_out_alike_or_not_at_all(source: str) -> None:
    text = "\n".join(line if line.strip() else "" for line in source.split("\n"))
    try:
        found = scanned(text)
    except UnsureError:
        return
    assert found == list(lexed(text))


@pytest.mark.exhaustive
@pytest.mark.parametrize("tree", ["stdlib", "torch"])
def test_whole_trees_come_out_alike_and_few_files_are_left_to_pygments(tree: str) -> None:
    if tree == "stdlib":
        root = Path(sysconfig.get_paths()["stdlib"])
        files = [file for file in root.rglob("*.py") if "site-packages" not in file.parts]
    else:
        found = importlib.util.find_spec("torch")
        if found is None or found.origin is None:
            pytest.skip("torch is not installed")
        files = list(Path(found.origin).parent.rglob("*.py"))
    unsure = 0
    for file in files:
        lines = file.read_bytes().decode("latin-1").split("\n")
        text = "\n".join(line if line.strip() else "" for line in lines)
        try:
            assert scanned(text) == list(lexed(text)), file
        except UnsureError:
            unsure += 1
    assert unsure < len(files) / 10
