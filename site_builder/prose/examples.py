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
    typed = source.split("\n")
    lines = [[t for t in line if t.text != "\n"] for line in highlight.python([f"{one}\n" for one in typed])]
    if ["".join(t.text for t in line) for line in lines] != typed:
        lines = [[highlight.Token("", one)] for one in typed]
    parts = [_hanging("in", line, "... " if n else ">>> ") for n, line in enumerate(lines)]
    if step.want:
        want = re.sub(r"^<BLANKLINE>$", "", step.want, flags=re.MULTILINE)
        parts += [_hanging("out", [highlight.Token("", line)]) for line in want.split("\n")]
    return "".join(parts)


def _hanging(cls: str, line: Sequence[highlight.Token], prompt: str = "") -> str:
    """A line that goes on under its own beginning where it does not fit, not under the prompt."""
    content, width = highlight.hanging_html(line)
    indent = f' style="--i:{width}"' if width else ""
    prompt = f'<span class="ps">{html.escape(prompt)}</span>' if prompt else ""
    return f'<span class="{cls}"{indent}>{prompt}{content}\n</span>'
