"""
---
title: Codes of math
summary: What can be wrong with formulas, and with the symbols that tie them to code.
---
# Codes of math

Those of math come from KaTeX, whose complaints are [reworded](../katex/errors.html); those of symbols compare what
the front matter says with the formulas and the code of the page.
"""

from __future__ import annotations

from site_builder.codes.model import Code

TITLE = "Math and symbols"

CODES = (
    Code(
        "math-syntax",
        "A formula cannot be typeset",
        r"""
KaTeX does not understand the formula at the place that the message names: a brace is not closed, a command is
unknown, an `&` stands outside of an environment. The page shows the formula as it was typed.

KaTeX knows most of the math of LaTeX and none of its packages. A command of your own goes under `macros` in the
front matter.
""",
        wrong=r"""
Scores are divided by $\sqrt{d_k$.
""",
        right=r"""
Scores are divided by $\sqrt{d_k}$.
""",
    ),
    Code(
        "math-limit",
        "A formula is too much to typeset",
        """
It is very long, nested very deeply, or takes too much time or memory. Mostly a macro uses itself and expands
without end. So that one formula cannot hold up the whole site, it is given up and shown as typed.
""",
        wrong="""
---
macros:
  \\mean: \\mean x
---
The result is $\\mean$.
""",
        right="""
---
macros:
  \\mean: \\bar x
---
The result is $\\mean$.
""",
    ),
    Code(
        "math-unclosed",
        "A formula begins and does not end",
        r"""
The opening `$$` or `\begin{…}` has no partner before the paragraph ends, so it is shown as text. A formula cannot
go on after a blank line.

A single `$` opens a formula only where no blank comes after it, and closes one only where no blank comes before it and
no digit after it, so that prices and `$HOME` stay what they are. One that is left over is told of where what stands
beside it is math: a command, `_{` or `^{`; an index as in `$x_i` or an exponent, unless the paragraph has no formula
and names variables such as `$HOME`; a single letter in a paragraph with other formulas.

Close it, or write `\$` where dollars are meant.
""",
        wrong="The cost is $$n^2 d and grows fast.\n",
        right="The cost is $$n^2 d$$ and grows fast.\n",
    ),
    Code(
        "math-escape",
        "A docstring with math is not raw",
        r"""
The page shows what was typed, so it looks right. But Python reads `\t` and `\n` in the same docstring as a tab and
a line break: `help()` shows a broken formula, and newer versions of Python warn of the backslashes they do not
know.

Begin the docstring with `r` and three quotes.
""",
        wrong='''
"""
The weights $\\theta$ are learned.
"""
''',
        right='''
r"""
The weights $\\theta$ are learned.
"""
''',
        form="python",
    ),
    Code(
        "symbol-syntax",
        "A symbol in the front matter is not math",
        """
The left side under `symbols` is what stands between the dollar signs of a formula, a single symbol with its index.
This one cannot be typeset, so it can be found in no formula.
""",
        wrong='''
r"""
---
symbols:
  d_: width
---
Scores are divided by $\\sqrt{d_k}$.
"""

width = 64
''',
        right='''
r"""
---
symbols:
  d_k: width
---
Scores are divided by $\\sqrt{d_k}$.
"""

width = 64
''',
        form="python",
    ),
    Code(
        "symbol-unused",
        "A symbol or its variable does not occur on the page",
        """
`symbols` ties letters of the formulas to names in the code, so that a reader can go from one to the other. A side
that occurs nowhere ties nothing: mostly the variable was renamed, or the formula now has another letter.
""",
        wrong='''
r"""
---
symbols:
  d_k: d_model
---
Scores are divided by $\\sqrt{d_k}$.
"""

width = 64
''',
        right='''
r"""
---
symbols:
  d_k: width
---
Scores are divided by $\\sqrt{d_k}$.
"""

width = 64
''',
        form="python",
    ),
    Code(
        "symbol-twice",
        "Two symbols claim the same variable",
        """
A variable can be marked as one symbol only; the first in the front matter has it. Where the code truly holds two
things in one variable, one symbol with both letters, or a second variable, tells the reader more.
""",
        wrong='''
r"""
---
symbols:
  Q: inputs
  K: inputs
---
The scores are $QK$.
"""

inputs = 8
''',
        right='''
r"""
---
symbols:
  Q: queries
  K: keys
---
The scores are $QK$.
"""

queries, keys = 8, 9
''',
        form="python",
    ),
)
