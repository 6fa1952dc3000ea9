"""
---
title: What is carried along
summary: The state of one conversion, shared by the rules.
---
# What is carried along

A rule that meets something nested (the text of a note, the description of a parameter) hands the lines back to the
converter through `Context.convert`, so that the rules need not import one another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from site_builder.prose.docstyles.inline import inline
from site_builder.prose.docstyles.references import References
from site_builder.prose.docstyles.shapes import Block, Kind, fence

__all__ = ["Context", "State"]

DEEPEST = 8
"""Nesting that nobody writes by hand; what lies deeper is shown as typed."""


@dataclass(slots=True)
class Context:
    references: References
    run: Callable[[State], list[Block]]
    adornments: list[str] = field(default_factory=list)
    """Underlines in the order in which they appeared: reST gives each the next level."""
    depth: int = 0

    def convert(self, lines: Sequence[str]) -> list[Block]:
        """The Markdown of nested lines, whose common indentation is gone already."""
        if self.depth >= DEEPEST:
            return [fence(lines)] if any(line.strip() for line in lines) else []
        self.depth += 1
        blocks = self.run(State(list(lines), self))
        self.depth -= 1
        return blocks

    def inline(self, text: str) -> str:
        return inline(text, self.references)

    def paragraph(self, text: str) -> Block:
        return Block(Kind.PARAGRAPH, self.inline(text))


@dataclass(slots=True)
class State:
    """Lines being read, and the blocks made of them so far."""

    lines: list[str]
    context: Context
    out: list[Block] = field(default_factory=list)
    unclosed: set[str] = field(default_factory=set)
    """Fences that nothing below closes: looked for once."""

    def blank(self, at: int) -> bool:
        return at >= len(self.lines) or not self.lines[at].strip()

    def indented(self, at: int) -> bool:
        return at < len(self.lines) and self.lines[at].startswith(" ") and not self.blank(at)

    def filled(self, at: int) -> int:
        """The next line from `at` on that is not blank."""
        while at < len(self.lines) and self.blank(at):
            at += 1
        return at

    def body(self, at: int) -> int:
        """The end of the indented block that begins at or after `at`: the last of its lines, plus one."""
        end = at
        while at < len(self.lines):
            if self.blank(at):
                at += 1
            elif self.lines[at].startswith(" "):
                at += 1
                end = at
            else:
                break
        return end

    def add(self, *blocks: Block) -> None:
        self.out += [block for block in blocks if block.text]
