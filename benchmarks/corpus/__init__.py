"""
Made-up packages with the densities of real pages: 60 sections, 180 lines of code and notes and 14 expressions a page.

No page equals another: names, sentences and formulas are put together from the page's own numbers, so that nothing is
typeset or highlighted once for all.
"""

from __future__ import annotations

import random
from pathlib import Path

LINES, SECTIONS, EXPRESSIONS = 180, 60, 14
FOLDER = 20
"""Pages of one package: what a person would still find their way in."""

WORDS = """
    query key value mask score weight layer norm head token batch gate state memory window position rate sum mean
    gradient input output product bias scale vector matrix softmax residual kernel decay feature step loss
""".split()
_PIECES = (
    r"\frac{{{a}_{{{i}}}}}{{\sqrt{{d_{{{b}}}}}}}",
    r"\sum_{{j={i}}}^{{n}} {a}_j {b}_{{j - {i}}}",
    r"\mathop{{softmax}}\left({a}^{{\top}} {b}_{{{i}}}\right)",
    r"\sigma({a}_{{{i}}}) \odot {b}",
    r"\begin{{pmatrix}} {a} & {i} \\ {b} & 1 \end{{pmatrix}}",
    r"\lVert {a} - {b}_{{{i}}} \rVert^2",
)


def write(folder: Path, pages: int, name: str = "pkg") -> None:
    """A package of that many pages, in folders of twenty, below `folder`."""
    top = folder / name
    top.mkdir(parents=True)
    (top / "__init__.py").write_text(f'"""\n# {name}\n\n{pages} pages.\n"""\n', "utf-8")
    made, place = 1, 0
    while made < pages:
        below = top / f"part_{place:03}"
        below.mkdir()
        (below / "__init__.py").write_text(f'"""\n# Part {place}\n\nSome pages.\n"""\n', "utf-8")
        made += 1
        for _ in range(min(FOLDER - 1, pages - made)):
            (below / f"page_{made:04}.py").write_text(page(made, f"{name}.part_{place:03}"), "utf-8")
            made += 1
        place += 1


def page(number: int, package: str) -> str:
    """One module; each imports from the one before it, so that names lead from page to page."""
    dice = random.Random(number)
    lines = [
        'r"""',
        "---",
        f"title: Page {number}",
        f"summary: {_sentence(dice)}",
        "---",
        f"# Page {number}",
        "",
    ]
    lines += [_sentence(dice), "", "$$" + _formula(dice) + "$$", '"""', ""]
    before = number - 1
    if before % FOLDER > 1:
        lines += [f"from {package}.page_{before:04} import Thing{before}", ""]
    lines += [f"class Thing{number}:", f'    r"""Holds ${_formula(dice)}$; {_sentence(dice)}"""', ""]
    expressions, sections = 2, 3
    while sections < SECTIONS:
        word = dice.choice(WORDS)
        lines += [f"    def {word}_{sections}(self, x, y={sections}):"]
        if expressions < EXPRESSIONS:
            expressions += 1
            lines.append(f"        # {_sentence(dice)} Here ${_formula(dice)}$ is meant.")
        else:
            lines.append(f"        # {_sentence(dice)}")
        lines.append(f"        {word} = x * {dice.randrange(90)} + self.scale(y)")
        sections += 2
        if len(lines) < LINES * sections // SECTIONS:
            lines += [f"        # {_sentence(dice)}", f"        for part in range({dice.randrange(9)}):"]
            lines += [f"            {word} += Thing{number}.limit * part  # in place"]
            sections += 1
        lines += [f"        return {word}", ""]
    lines += ["    limit = 3", "", "    def scale(self, y):", "        return y", ""]
    return "\n".join(lines)


def _sentence(dice: random.Random) -> str:
    a, b, c = dice.sample(WORDS, 3)
    return f"The {a} of {dice.randrange(1000)} {b}s is what `{c}_{dice.randrange(100)}` *later* needs."


def _formula(dice: random.Random) -> str:
    pieces = dice.sample(_PIECES, 2)
    return " + ".join(
        piece.format(a=dice.choice("QKVWXYZ"), b=dice.choice("abcdxyz"), i=dice.randrange(1000))
        for piece in pieces
    )
