"""
---
title: Footnotes
summary: Numbered in the order in which the text refers to them, and gathered at the end.
---
# Footnotes

The number of a note is its place in the order of reading, whatever its label is. Its id is made from the label and
from a prefix for the section: each section of a page is rendered on its own, and two of them may have a note of
the same name.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator

from site_builder.blocks import Block, Container, ContainerKind


class Notes:
    """
    The footnotes of one prose, of which there are none without a `root`. `prefix` keeps their ids apart from those of
    the page's other sections.
    """

    def __init__(self, root: Container | None, prefix: str):
        self.prefix = re.sub(r"\s+", "-", prefix)
        self.defined: dict[str, Container] = {}
        for note in _notes(root) if root else ():
            self.defined.setdefault(note.info.casefold(), note)
        self.numbers: dict[str, int] = {}
        self.uses: dict[str, int] = {}

    def reference(self, label: str) -> str | None:
        """HTML of a reference to the note, unless there is none of that name."""
        key = label.casefold()
        if key not in self.defined:
            return None
        number = self.numbers.setdefault(key, len(self.numbers) + 1)
        self.uses[key] = self.uses.get(key, 0) + 1
        return (
            f'<sup class="footnote-ref" id="{self.back(key, self.uses[key])}">'
            f'<a href="#{self.target(key)}" role="doc-noteref">{number}</a></sup>'
        )

    def target(self, key: str) -> str:
        return html.escape(f"fn-{self.prefix}-{key}" if self.prefix else f"fn-{key}")

    def back(self, key: str, use: int) -> str:
        name = f"fnref-{self.prefix}-{key}" if self.prefix else f"fnref-{key}"
        return html.escape(name if use == 1 else f"{name}-{use}")

    def section(self, flow: Callable[[Container], str]) -> str:
        """All notes: those referred to in order, then the others."""
        if not self.defined:
            return ""
        others = [key for key in self.defined if key not in self.numbers]
        items = []
        for key in (*self.numbers, *others):
            links = "".join(
                f' <a class="footnote-back" role="doc-backlink" href="#{self.back(key, use)}">↩</a>'
                for use in range(1, self.uses.get(key, 0) + 1)
            )
            inner = flow(self.defined[key])
            inner = f"{inner[:-4]}{links}</p>" if inner.endswith("</p>") else inner + links
            items.append(f'<li id="{self.target(key)}">{inner}</li>')
        return "\n".join(
            ('<section class="footnotes" role="doc-endnotes">', "<ol>", *items, "</ol>", "</section>")
        )


def _notes(container: Container) -> Iterator[Container]:
    for child in container.children:
        if isinstance(child, Block):
            continue
        if child.kind is ContainerKind.FOOTNOTE:
            yield child
        yield from _notes(child)
