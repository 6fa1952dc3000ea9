r'''
---
title: Shape claims
summary: What authors say of shapes, held against what the examples did.
order: [reading, axes, subjects, frames, solving, judging, telling, naming, coverage, model]
---
# Shape claims

A note says which shape a tensor has, as a piece of code: a name, a colon, and the axes in brackets. Such a claim is
checked against every call that the page's examples made. A proven one is marked on the page; a false one is a fault
of the page, and so is one that speaks of nothing.

    def attend(query, key, value):
        r"""
        * `query: [seq_len_q, batch_size, d_k]`
        * `key: [seq_len_k, batch_size, d_k]`
        * `value: [seq_len_k, batch_size, d_v]`
        * `return: [seq_len_q, batch_size, d_v]`
        """
        # How well each query agrees with each key.
        #
        # `scores: [seq_len_q, seq_len_k, batch_size]`
        scores = torch.einsum("ibd,jbd->ijb", query, key)

## What an axis can be

| axis | what it claims |
|---|---|
| `seq_len` | A name. It means one number in the whole call, so the first claim with it says which. |
| `3` | This very number. `1` is an axis of length one, and nothing else. |
| `heads * d_k`, `2 * seq_len - 1` | Arithmetic of names and numbers, with `+`, `-`, `*`, `//` and brackets. |
| `seq_len or 1` | Either of the two: an axis that may be broadcast. |
| `...` | Any number of axes, none included; once in a claim. |

No axes at all, `[]`, is a single number: a loss, say.

If the code itself has an integer of that name, the two must agree. An argument or a variable `seq_len` is the axis
`seq_len`, and where the function has none, an attribute `self.seq_len` is. So a page cannot call something `n` in its
notes that its code calls otherwise, or count with an `n` of its own.

## What a claim speaks of

* In the docstring of a function or method: an argument, as it comes in. `return` is the result.
* In the docstring of a class: an argument of `__init__`, or an attribute that the methods write, `attn` or `self.attn`.
* In a comment: every value that the code beside it gives to this name, `scores`, `self.attn`, the variable of
  a `for`. Beside a `return` statement it can be `return`.
* In the docstring of a module: a variable of the module. Of other names it claims nothing.

Several claims for one name in one note are alternatives: each value must fit one of them. Nobody needs one for an
argument that is `None`.

    * `x: [seq_len, batch_size, d_model]`
    * `x: [batch_size, d_model]`

Of a list or a tuple, the claim speaks of the first tensor in it, or of the length of a plain list of numbers; members
of a named tuple have names, `state.key` and `return.key`. A call that raises an exception claims nothing: its
arguments were there to be refused.

## Loops

What a loop assigns is bound anew each time round. Here `n` is 4, 4 and 2:

    for piece in x.split(4):
        # * `keys: [n, d_k]`
        # * `scores: [n, n]`
        keys = self.key(piece)
        scores = keys @ keys.T

In one round it still means one number. A name that a claim before the loop has bound stays what it is.

## A claim that is none

Code in fences and display math claims nothing, nor does any other code: `x: int`, `x[1:2]`. To *show* a claim,
put it between two backticks on each side: `` `x: [seq_len, d_model]` ``. A claim that was never ended,
or that has an axis such as `-1`, is reported as `claim-syntax`; one whose name the code does not have, as
`claim-unknown`; one that is not true, as `claim-false`, with the shape that was recorded and the numbers that its names
had.
'''

from __future__ import annotations

from site_builder.claims import judging, naming, reading, subjects, telling
from site_builder.claims.coverage import Coverage, coverage
from site_builder.claims.model import Checked, Claim, Judged, Shape, Verdict
from site_builder.model import Page
from site_builder.record import Record, outline_of

__all__ = ["Checked", "Claim", "Coverage", "Judged", "Shape", "Verdict", "check", "coverage"]


def check(page: Page, record: Record | None) -> Checked:
    """
    The claims of a page, judged, and the shapes of its record with the names of their axes. Without a record,
    because nothing ran, claims are unchecked: what is said of them is said of their text alone.
    """
    try:
        outline = outline_of(page)
    except (SyntaxError, ValueError):
        return Checked()
    found = reading.find(page, subjects.variables(outline))
    topics = subjects.assign(page, outline, found.claims)
    known = record or Record(page.source.module)
    judgement = judging.judge(outline, known, topics)
    false = [telling.fault(outline, known, failure) for failure in judgement.faults()]
    statements, arguments, results = naming.shapes(record, judgement) if record else ({}, {}, {})
    return Checked(
        tuple(judgement.verdicts(found.claims)),
        tuple(sorted((*found.diagnostics, *topics.diagnostics, *false))),
        statements,
        arguments,
        results,
    )
