"""
---
title: Codes of claims
summary: What can be wrong with what a page says of shapes.
---
# Codes of claims

Whether a claim is well formed, and speaks of something, is known without running anything. Only a record can tell
that it is false.
"""

from __future__ import annotations

from site_builder.codes.model import Code

TITLE = "Claims about shapes"

_MODULE = '''
"""
>>> import numpy as np
>>> attend(np.ones((3, 5)), np.ones((4, 5))).shape
(3, 4)
"""


def attend(query, key):
    # {note}
    scores = query @ key.T
    return scores
'''


def _module(note: str) -> str:
    return _MODULE.format(note=note)


CODES = (
    Code(
        "claim-syntax",
        "Code that begins like a claim about a shape cannot be read as one",
        """
Inline code such as `` `scores: [heads, seq_len]` `` is checked against what the examples record. This one begins
so, but a bracket is missing or an axis is neither a name, a number nor a simple product or sum of them. It would be
a claim that nobody checks.

Correct it. What is not meant as a claim is written without the name and the colon.
""",
        wrong=_module("`scores: [queries, keys`"),
        right=_module("`scores: [queries, keys]`"),
        form="python",
    ),
    Code(
        "claim-unknown",
        "A claim speaks of a name that is not there",
        """
In a docstring a claim is about an argument, or about what is returned (`return: […]`). In a comment it is about a
name that the code beside this comment assigns. No such name was found, so the claim can be neither true nor false:
mostly the variable was renamed, or the assignment stands beside the next comment.
""",
        wrong=_module("`score: [queries, keys]`"),
        right=_module("`scores: [queries, keys]`"),
        form="python",
    ),
    Code(
        "claim-false",
        "A claim about a shape is not what the code does",
        """
An example of the page ran this code, and no choice of sizes for the names makes all claims of that call true. The
message gives the recorded shape and the sizes that the other claims fixed. Either the prose is wrong or the code
is: a swapped axis often gives no error, only a worse model.

Names are bound once a call, so examples should choose sizes that differ from each other. Otherwise a mistake hides.
""",
        wrong=_module("`scores: [queries, keys, 1]`"),
        right=_module("`scores: [queries, keys]`"),
        form="python",
    ),
)
