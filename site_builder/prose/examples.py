"""
---
title: Examples
summary: "What a doctest shows a reader: what is typed, and what comes out."
---
# Examples

An example is cut into steps just as `doctest` cuts it, so that what is shown is what is run. Where the record
tells what came of a step, the page shows that output. Where it is not what the author expected, that stands right
below it; of the other steps a word under the example says whether they ran. Without a record it shows what the author
typed.
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
    with what its author expects. `words` are what is said of outcomes, as the templates call them; `signs` finds
    the identifiers to mark in a line.
    """
    typed = [(step, example(step.source, places[step.first]) if example else None) for step in steps(lines)]
    body = "".join(_shown(step, outcome, words, signs) for step, outcome in typed)
    caption = _caption([outcome for _, outcome in typed], words) if example else ""
    return f'<figure class="example"><pre><code>{body}</code></pre>{caption}</figure>'


def _caption(outcomes: Sequence[Outcome | None], words: Mapping[str, str]) -> str:
    """What is to be said of all steps but for those that went wrong: at these it is said already."""
    idle = [outcome for outcome in outcomes if outcome is None or outcome.state == "idle"]
    if not idle and any(outcome and outcome.state == "failed" for outcome in outcomes):
        return ""
    stopped = next((outcome.stopped for outcome in idle if outcome and outcome.stopped), 0)
    state = "idle" if idle else "passed"
    word = "behind" if stopped else "partly" if 0 < len(idle) < len(outcomes) else state
    return f'<figcaption class="{state}"><span>{_said(words, word, stopped)}</span></figcaption>'


def _said(words: Mapping[str, str], word: str, line: int = 0) -> str:
    return html.escape(words.get(word, "").replace("{line}", str(line)))


def _shown(step: Step, outcome: Outcome | None, words: Mapping[str, str], signs: Signs | None) -> str:
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
    if outcome and outcome.state == "failed":
        parts.append(_verdict(step, outcome, words))
    return "".join(parts)


def _verdict(step: Step, outcome: Outcome, words: Mapping[str, str]) -> str:
    """What is wrong with the output above it, and below that what its author expected."""
    word = "stopped" if outcome.stopped else "failed" if step.want else "unexpected"
    wanted = _blank_lines(step.want).split("\n") if step.want else []
    lines = "".join(_hanging("want", [highlight.Token("", line)]) for line in wanted)
    return f'<span class="verdict" dir="auto">{_said(words, word)}\n</span>{lines}'


def _blank_lines(want: str) -> str:
    return re.sub(r"^<BLANKLINE>$", "", want, flags=re.MULTILINE)


def _hanging(cls: str, line: Sequence[highlight.Token], prompt: str = "", signs: highlight.Signs = ()) -> str:
    """A line that goes on under its own beginning where it does not fit, not under the prompt."""
    content, width = highlight.hanging_html(line, signs)
    indent = f' style="--i:{width}"' if width else ""
    prompt = f'<span class="ps">{html.escape(prompt)}</span>' if prompt else ""
    return f'<span class="{cls}"{indent}>{prompt}{content}\n</span>'
