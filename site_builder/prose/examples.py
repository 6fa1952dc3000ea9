"""
---
title: Examples
summary: "What a doctest shows a reader: what is typed, and what comes out."
---
# Examples
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from site_builder import highlight

_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*doctest:.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Step:
    """One prompt with its further lines, both without prompts, and the output that the author expects."""

    source: str
    want: str


def steps(lines: Sequence[str]) -> tuple[Step, ...]:
    """Cut the lines of an example as `doctest` does."""
    made: list[tuple[list[str], list[str]]] = []
    for line in lines:
        if line.startswith(">>>"):
            made.append(([line[4:]], []))
            continue
        source, want = made[-1]
        if not want and (line == "..." or line.startswith("... ")):
            source.append(line[4:])
        else:
            want.append(line)
    return tuple(Step("\n".join(source), "\n".join(want)) for source, want in made)


def figure(lines: Sequence[str], example: Callable[[str, str], str] | None = None) -> str:
    """All steps of one example, each by the callback or as it stands in the source."""
    if example:
        body = "".join(example(step.source, step.want) for step in steps(lines))
    else:
        body = f"<pre><code>{''.join(map(_plain, steps(lines)))}</code></pre>"
    return f'<figure class="example">{body}</figure>'


def _plain(step: Step) -> str:
    source = _DIRECTIVE.sub("", step.source)
    shown = highlight.block(source, "python").removesuffix("\n").split("\n")
    if len(shown) != source.count("\n") + 1:
        shown = html.escape(source, quote=False).split("\n")
    parts = [
        f'<span class="in">{_prompt("... " if n else ">>> ")}{line}\n</span>' for n, line in enumerate(shown)
    ]
    if step.want:
        want = re.sub(r"^<BLANKLINE>$", "", step.want, flags=re.MULTILINE)
        parts.append(f'<span class="out">{html.escape(want, quote=False)}\n</span>')
    return "".join(parts)


def _prompt(text: str) -> str:
    return f'<span class="ps">{html.escape(text)}</span>'
