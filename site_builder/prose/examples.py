"""
---
title: Examples
summary: "What a doctest shows a reader: what is typed, and what comes out."
---
# Examples

An example is cut into steps just as `doctest` cuts it, so that what is shown is what is run. Where the record
tells what came of a step, the page shows that output, and says below the example whether it was as expected.
Without a record it shows what the author typed.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from site_builder import highlight
from site_builder.lazy import regex
from site_builder.model import Position
from site_builder.prose.model import Outcome

Told = Callable[[str, Position], Outcome | None]
"""What came of a step, by its source and the place of its prompt; `None` where it is none that was run."""
Signs = Callable[[Sequence[highlight.Token]], highlight.Signs]

_CONTROLS = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"} | {0x7F: 0x2421}
"""What a terminal would obey is shown by its sign: a browser would make of it a line break, or nothing."""
_DIRECTIVE = regex(r"[ \t]*#[ \t]*doctest:.*$", re.MULTILINE)


class Step(NamedTuple):
    """One prompt with its further lines, both without prompts, and the output that the author expects."""

    source: str
    want: str
    first: int = 0
    """Which of the lines its prompt stands on."""


def steps(lines: Sequence[str]) -> tuple[Step, ...]:
    """Cut the lines of an example as `doctest` does."""
    made: list[tuple[list[str], list[str], int]] = []
    for number, line in enumerate(lines):
        if line.startswith(">>>"):
            made.append(([line[4:]], [], number))
            continue
        source, want, _ = made[-1]
        if not want and (line == "..." or line.startswith("... ")):
            source.append(line[4:])
        else:
            want.append(line)
    return tuple(Step("\n".join(source), "\n".join(want), first) for source, want, first in made)


def figure(
    lines: Sequence[str],
    places: Sequence[Position] = (),
    example: Told | None = None,
    words: Mapping[str, str] = MappingProxyType({}),
    signs: Signs | None = None,
) -> str:
    """
    All steps of one example, whose lines begin at `places`: each with what came of it where `example` tells, else
    with what its author expects. `words` are what is written beneath, by `Outcome.state`; `signs` finds the
    identifiers to mark in a line.
    """
    typed = [(step, example(step.source, places[step.first]) if example else None) for step in steps(lines)]
    body = "".join(_shown(step, outcome, signs) for step, outcome in typed)
    return f'<figure class="example"><pre><code>{body}</code></pre>{_caption(typed, words) if example else ""}</figure>'


def _caption(typed: Sequence[tuple[Step, Outcome | None]], words: Mapping[str, str]) -> str:
    """The worst that is to be said of any step, and what the author expected where it went wrong."""
    states = [outcome.state if outcome else "idle" for _, outcome in typed]
    state = next(one for one in ("failed", "idle", "passed") if one in states)
    word: str = "partly" if state == "idle" and "passed" in states else state
    stopped = next((outcome.stopped for _, outcome in typed if outcome and outcome.stopped), 0)
    wanted = "\n".join(
        _blank_lines(step.want)
        for (step, _), one in zip(typed, states, strict=True)
        if one == "failed" and step.want
    )
    expected = f"<pre>{html.escape(wanted, quote=False)}</pre>" if wanted else ""
    if stopped:
        word = "stopped" if state == "failed" else "behind"
    elif state == "failed" and not wanted:
        word = "unexpected"
    said = html.escape(words.get(word, "").replace("{line}", str(stopped)))
    return f'<figcaption class="{state}"><span>{said}</span>{expected}</figcaption>'


def _shown(step: Step, outcome: Outcome | None, signs: Signs | None) -> str:
    source = _DIRECTIVE.sub("", step.source)
    typed = source.split("\n")
    lines = [[t for t in line if t.text != "\n"] for line in highlight.python([f"{one}\n" for one in typed])]
    if ["".join(t.text for t in line) for line in lines] != typed:
        lines = [[highlight.Token("", one)] for one in typed]
    parts = [
        _hanging("in", line, "... " if n else ">>> ", signs(line) if signs else ())
        for n, line in enumerate(lines)
    ]
    cls = "out"
    if outcome is None or outcome.state == "idle":
        shown = _blank_lines(step.want)
    else:
        shown = outcome.output.removesuffix("\n")
        if outcome.cut:
            shown += " …"
        if outcome.error:
            shown += ("\n" if shown else "") + outcome.error
        shown = shown.translate(_CONTROLS)
        cls = "out fault" if outcome.state == "failed" else "out"
    if shown:
        parts += [_hanging(cls, [highlight.Token("", line)]) for line in shown.split("\n")]
    return "".join(parts)


def _blank_lines(want: str) -> str:
    return re.sub(r"^<BLANKLINE>$", "", want, flags=re.MULTILINE)


def _hanging(cls: str, line: Sequence[highlight.Token], prompt: str = "", signs: highlight.Signs = ()) -> str:
    """A line that goes on under its own beginning where it does not fit, not under the prompt."""
    content, width = highlight.hanging_html(line, signs)
    indent = f' style="--i:{width}"' if width else ""
    prompt = f'<span class="ps">{html.escape(prompt)}</span>' if prompt else ""
    return f'<span class="{cls}"{indent}>{prompt}{content}\n</span>'
