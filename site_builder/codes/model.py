"""
---
title: An entry
summary: A code, what it means, and how the same thing looks wrong and right.
---
# An entry

An entry is written once and shown twice, in a terminal and in the manual. So its text is Markdown that reads well
as it stands, and what it shows as wrong and right are whole small files, which can be tried.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Code:
    """
    `text` is Markdown: what is meant, why it matters, what to do. `wrong` and `right` are whole small files, and `form`
    says what they are: `markdown`, `python`, `po` for entries of a catalogue, `text` for a module that cannot be read.
    A code that no such file can show has neither.
    """

    name: str
    title: str
    text: str
    wrong: str = ""
    right: str = ""
    form: str = "markdown"

    @property
    def family(self) -> str:
        """What stands before the first hyphen."""
        return self.name.partition("-")[0]

    @property
    def samples(self) -> tuple[tuple[str, str], ...]:
        """What is wrong and what is right, each under its word, without blank lines around."""
        both = (("Wrong", self.wrong.strip("\n")), ("Right", self.right.strip("\n")))
        return tuple((word, text) for word, text in both if text)
