"""
---
title: Saying that a claim is false
summary: The claim, what was recorded, and the numbers that its names had.
---
# Saying that a claim is false

To decide whether the note or the code is wrong, an author needs three things: the claim with numbers in place of
its names, the shape that was recorded, and the example that made it. All three go into one sentence, with the
numbers that the names had at that moment.
"""

from __future__ import annotations

from collections.abc import Mapping

from site_builder.claims.axes import Axis
from site_builder.claims.frames import ENTRY
from site_builder.claims.model import RETURN, Claim
from site_builder.claims.solving import Failure
from site_builder.errors import Diagnostic
from site_builder.record.model import MODULE, Record
from site_builder.record.outline import Outline


def fault(outline: Outline, record: Record, failure: Failure) -> Diagnostic:
    claim = failure.item.group.claims[0]
    message = f"`{claim.text}`{_said(failure, claim)} the recorded shape is {list(failure.item.shape)}"
    message += _in_example(outline, record, failure.frame.example)
    if failure.numbers:
        message += f", where {', '.join(_binding(failure, name) for name in failure.numbers)}"
    entered = failure.item.event is None and failure.item.time == ENTRY
    code = (
        "what the function returns" if claim.name.startswith(RETURN) else f"the code that makes {claim.name}"
    )
    hint = "correct the claim" if entered else f"correct the claim, or {code}"
    return Diagnostic.at(claim.position, "claim-false", message, hint)


def _said(failure: Failure, claim: Claim) -> str:
    """The claim in numbers, as far as they are known."""
    others = len(failure.item.group.claims) - 1
    if others:
        return f" is false, and so {'is its alternative' if others == 1 else 'are its alternatives'}:"
    known = {name: numbers[0] for name, numbers in failure.numbers.items() if len(numbers) == 1}
    axes = [axis.text for axis in claim.axes]
    sizes = [" or ".join(_size(one, known) for one in axis.choices) for axis in claim.axes]
    return f" says [{', '.join(sizes)}], but" if sizes != axes else " is false:"


def _size(axis: Axis, known: Mapping[str, int]) -> str:
    size = None if axis.is_ellipsis else axis.value(known)
    return axis.text if size is None else str(size)


def _binding(failure: Failure, name: str) -> str:
    """`seq_len = 7`; `self.` in front says that the number is an attribute."""
    numbers = failure.numbers[name]
    frame = failure.frame
    owned = name not in frame.numbers and frame.owner.get(name) == numbers[0]
    return f"{'self.' if owned else ''}{name} = {' or '.join(map(str, numbers))}"


def _in_example(outline: Outline, record: Record, number: int) -> str:
    if number == MODULE or number >= len(record.examples):
        return ""
    example = record.examples[number]
    docstring = outline.docstring(example.owner)
    return f" in the example of line {docstring.line_of(example.number)}" if docstring else ""
