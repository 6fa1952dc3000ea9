"""
---
title: Identifiers in the code
summary: A bare name means the variable, a dotted one the attribute, and neither means the other.
---
# Identifiers in the code

`query` means the variable, the parameter and the keyword of that name, but not the attribute of something else:
`self.query` may well be a layer and not a tensor. Who means the attribute writes it out. Then its last name is marked,
wherever the whole of it stands: `self.query` also in `self.query.weight`, but not in `other.self.query`.

The tokens are those that are shown; so the code between the braces of an f-string counts, a string or a comment does
not, and a file that Python cannot read has its marks too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from site_builder.highlight import Token
from site_builder.lazy import regex

_NAME = regex(r"[^\W\d]\w*")
_WORDS = frozenset({"g", "c", "k", "m"})
"""Classes of tokens that hold no names: strings, comments, keywords, numbers and constants."""


class Place(NamedTuple):
    """Columns count from one; `end` is the column behind the name."""

    column: int
    end: int
    number: int


def occurrences(tokens: Sequence[Token], owners: Mapping[str, int]) -> tuple[Place, ...]:
    """Where in a line the identifiers stand that mean a symbol; `owners` says which means which."""
    if not owners:
        return ()
    return tuple(
        Place(start + 1, end + 1, owners[dotted])
        for start, end, dotted in _chains(tokens)
        if dotted in owners
    )


def chains(tokens: Sequence[Token]) -> Iterator[str]:
    """Every dotted name in the line: of `self.query.weight` also `self.query` and `self`."""
    return (dotted for _, _, dotted in _chains(tokens))


def _chains(tokens: Sequence[Token]) -> Iterator[tuple[int, int, str]]:
    """Where each identifier of the line stands, and its dotted name; an attribute of no name begins with a dot."""
    text = "".join(["0" * len(token.text) if token.cls in _WORDS else token.text for token in tokens])
    dotted, behind = "", 0
    for name in _NAME.finditer(text):
        between = text[behind : name.start()].strip()
        if between == "." and dotted:
            dotted = f"{dotted}.{name[0]}"
        elif between.endswith(".") and not between.endswith(".."):
            dotted = f".{name[0]}"
        else:
            dotted = name[0]
        behind = name.end()
        yield name.start(), name.end(), dotted
