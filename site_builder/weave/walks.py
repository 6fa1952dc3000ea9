"""
---
title: Calls to walk through
summary: Which recorded calls a reader is offered statement by statement, and at which line.
---
# Calls to walk through

Of each function that its examples called, the record keeps one call in full. It is offered where there is
something to see: two statements or more, and from a constructor only if it computes an array, since the rest of
what constructors do is to pass names on.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from site_builder.record import Outline, Record
    from site_builder.record.model import Function, Walk

FEWEST = 2
"""Statements that make a walk."""


def offered(record: Record | None) -> tuple[tuple[Function, Walk], ...]:
    """The functions with a walk worth taking, in the order of their ordinals."""
    functions = record.functions if record else ()
    return tuple(
        (function, function.walk)
        for function in functions
        if function.walk and _worthwhile(function, function.walk)
    )


def buttons(record: Record, outline: Outline, word: str) -> Mapping[int, str]:
    """What opens each walk, by the line with the function's name. A script shows them."""
    return {
        outline.lines[function.ordinal].node.lineno: _button(function, word)
        for function, _ in offered(record)
    }


def _button(function: Function, word: str) -> str:
    return (
        f'<button type="button" class="walk scripted" data-walk="{function.ordinal}" aria-expanded="false"'
        f' aria-controls="steps">{html.escape(word)}'
        f'<span class="hidden"> {html.escape(function.name)}</span></button>'
    )


def _worthwhile(function: Function, walk: Walk) -> bool:
    if len(walk.steps) < FEWEST:
        return False
    if function.name.rpartition(".")[2] != "__init__":
        return True
    return any(written.value.shape is not None for step in walk.steps for written in step.writes)
