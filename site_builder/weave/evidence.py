"""
---
title: What stands in the margin
summary: The shape that each line made, the lines that nothing ran, what examples printed, what a class costs.
---
# What stands in the margin

A record speaks of statements by their ordinals. Here they become lines again, as they stand now.
"""

from __future__ import annotations

import ast
import html
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from site_builder.claims import Checked, Shape, Verdict
from site_builder.lazy import regex
from site_builder.model import Kind, Page, Position, Section
from site_builder.prose import Outcome, Told
from site_builder.weave.model import Cost, Tally
from site_builder.weave.walks import buttons

if TYPE_CHECKING:
    from site_builder.record import Outline, Record
    from site_builder.record.model import Construction, Example, Flops, Statement, Value
    from site_builder.verified import Row

COMMON = ("float32", "float64", "")
"""Number types that go without saying."""
SHORT = 16
"""Characters of a number, or of a few, that may stand at the end of a line."""
COSTS = 2
"""Of so many ways to construct a class the parameters are shown."""


class Evidence(NamedTuple):
    """What running a page's examples gave, if they were run, and what that says of its claims."""

    record: Record | None = None
    checked: Checked = Checked()
    verified: tuple[Row, ...] | None = None
    """What tests compared the page with; `None` in a project that does not say of any."""
    was_verified: bool = False
    """Whether they compared the code that it has, or had before."""
    sought: bool = False
    """Whether examples would have been run, had there been any."""
    waiting: bool = False
    """Whether there are, and they have yet to run."""


class Margin:
    """Everything that a page shows of its record, by line and by section."""

    def __init__(self, page: Page, evidence: Evidence, words: Mapping[str, str]):
        self.page, self.words = page, words
        self.record, self.checked = evidence.record, evidence.checked
        self.sought, self.waiting = evidence.sought, evidence.waiting
        self.verified, self.was_verified = evidence.verified, evidence.was_verified
        self.tails: dict[int, list[str]] = {}
        self.cold: set[int] = set()
        self.raised: dict[int, str] = {}
        self.examples: dict[int, Example] = {}
        self.stopped = 0
        """The line of the example with which the run of the page ended before its time."""
        self.walks: Mapping[int, str] = {}
        self.outline: Outline | None = None
        if self.record is not None:
            # Imported late: most pages have no record.
            from site_builder.record import outline_of

            self.outline = outline_of(page)
            self._fill(self.outline, self.record)
            self.walks = buttons(self.record, self.outline, words.get("walk", ""))

    def _fill(self, outline: Outline, record: Record) -> None:
        ran = {statement.ordinal: statement for statement in record.statements}
        crowd = Counter(line.node.lineno for line in outline.lines)
        for ordinal, line in enumerate(outline.lines):
            statement = ran.get(ordinal)
            first = line.node.lineno
            if statement and not statement.runs and not _is_stub(line.node):
                self.cold.add(first)
            alone = crowd[first] == 1
            if tail := _tail(line.node, ordinal, outline, statement, self.checked, alone):
                self.tails.setdefault(first, []).append(tail)
        docstrings = {docstring.owner: docstring for docstring in outline.docstrings}
        ended = next((fault.example for fault in record.faults if fault.ends), None)
        for place, example in enumerate(record.examples):
            if docstring := docstrings.get(example.owner):
                prompt = docstring.line_of(example.number)
                self.examples[prompt] = example
                self.stopped = prompt if place == ended else self.stopped
            if example.error and not example.passed and example.raised_at is not None:
                self.raised[outline.lines[example.raised_at].node.lineno] = example.error

    def tail(self, number: int) -> str:
        """What stands at the end of a line of the file."""
        made = "".join(self.tails.get(number, ()))
        if error := self.raised.get(number):
            made += f'<span class="rec fault">{html.escape(error)}</span>'
        return made + self.walks.get(number, "")

    def is_cold(self, number: int) -> bool:
        return number in self.cold

    @property
    def example(self) -> Told | None:
        """What to ask of the examples of the page, by where their prompts stand; none where nothing was run."""
        return self._told if self.record is not None else None

    def _told(self, source: str, place: Position) -> Outcome | None:
        found = self.examples.get(place.line) if place.path == self.page.source.path else None
        # Prose is as it was typed, an example as Python read it: they may differ in backslashes.
        if found is None or _bare(found.source) != _bare(source):
            return None
        state = "idle" if not found.ran else "passed" if found.passed else "failed"
        is_behind = not found.ran and place.line > self.stopped
        stopped = self.stopped if is_behind or place.line == self.stopped else 0
        return Outcome(state, found.output, found.error, found.cut, stopped)

    def marked(self, made: str, section: int) -> str:
        """The prose with what is known of each claim in it."""
        if self.record is None:
            return made

        def mark(found: re.Match[str]) -> str:
            verdict = self.checked.verdict(section, html.unescape(found[1]))
            if verdict is None:
                return found[0]
            word = html.escape(self.words.get(str(verdict), ""))
            sign = f'<span class="sign" title="{word}"><span class="hidden">{word}</span></span>'
            if verdict is Verdict.FALSE:
                sign += self._recorded(section, html.unescape(found[1]))
            return f'<code class="claim {verdict}">{found[1]}</code>{sign}'

        return _CODE.sub(mark, made)

    def _recorded(self, section: int, text: str) -> str:
        """What a false claim meets with, as the diagnostic says it."""
        places = {
            (judged.claim.position.line, judged.claim.position.column)
            for judged in self.checked.claims
            if judged.claim.section == section and judged.claim.text == " ".join(text.split())
        }
        for fault in self.checked.diagnostics:
            if fault.code == "claim-false" and (fault.line, fault.column) in places:
                shown = re.search(r"the recorded shape is (\[[^\]]*\])", fault.message)
                return f'<code class="recorded">{html.escape(shown[1])}</code>' if shown else ""
        return ""

    def costs(self, section: Section) -> tuple[Cost, ...]:
        """What the class that the section opens was constructed with, and what that amounts to."""
        if self.record is None or self.outline is None or section.kind is not Kind.CLASS:
            return ()
        found = next((one for one in self.record.classes if one.name == section.scope), None)
        if found is None:
            return ()
        # Equal numbers need not be told twice, whatever it is that makes no difference to them.
        made = {one.parameters: _cost(one) for one in reversed(found.constructions) if one.parameters}
        return (*list(reversed(made.values()))[:COSTS], *([_flops(found.flops)] if found.flops else []))

    def tally(self) -> Tally:
        """How far the evidence of the page reaches."""
        record, checked = self.record, self.checked
        examples = record.examples if record else ()
        run, statements = record.share if record else (0, 0)
        return Tally(
            recorded=record is not None,
            waiting=self.waiting,
            lacking=self.sought and self.record is None and _has_functions(self.page),
            examples=len(examples),
            failed=sum(example.ran and not example.passed for example in examples),
            idle=sum(not example.ran for example in examples),
            run=run,
            statements=statements,
            proven=checked.count(Verdict.PROVEN),
            unchecked=checked.count(Verdict.UNCHECKED),
            false=checked.count(Verdict.FALSE),
            margin=bool(self.tails),
        )


def _has_functions(page: Page) -> bool:
    return any(section.kind in (Kind.FUNCTION, Kind.METHOD) for section in page.sections)


_NUMBER = regex(r"-?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?|-?inf|nan")
_CODE = regex(r"(?<!<pre>)<code>([^<]*:[^<]*\[[^<]*\][^<]*)</code>")


def _bare(source: str) -> str:
    return source.replace("\\", "").rstrip("\n")


def _is_stub(node: ast.stmt) -> bool:
    """`...`, which stands where something is declared and nothing can run."""
    return (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.value.value is Ellipsis
    )


def _tail(
    node: ast.stmt,
    ordinal: int,
    outline: Outline,
    statement: Statement | None,
    checked: Checked,
    alone: bool,
) -> str:
    """What the statement gave, in short. On a line with others (not `alone`) names must say of which it is told."""
    if isinstance(node, ast.Return):
        return _returned(ordinal, outline, checked)
    shapes = checked.shapes.get(ordinal, ())
    if shapes:
        alike = alone and len({(shape.axes, shape.sizes) for shape in shapes}) == 1
        return "".join(
            _shape(shape, "" if alike else shape.name) for shape in (shapes[:1] if alike else shapes)
        )
    if not isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)) or isinstance(
        node.value, ast.Constant
    ):
        return ""
    if not alone or not outline.in_function(ordinal):
        return ""
    writes = statement.writes if statement else ()
    values = [write.values[0] for write in writes if len(write.values) == 1 and not write.more]
    text = ", ".join(value.text for value in values if _NUMBER.fullmatch(value.text))
    # All that the line gives, each always the same: half of it, or one number of many, would mislead.
    told = text and len(values) == len(writes) == text.count(", ") + 1 and len(text) <= SHORT
    return f'<span class="rec num">{html.escape(text)}</span>' if told else ""


def _returned(ordinal: int, outline: Outline, checked: Checked) -> str:
    """A function's result, beside its only `return`."""
    scope = outline.lines[ordinal].scope
    shape = checked.results.get(scope)
    return _shape(shape) if shape and outline.returns(scope) == (ordinal,) else ""


def _shape(shape: Shape, name: str = "") -> str:
    """Axes by name, and by number for whoever points at them. The two stand in one place: nothing moves."""
    kind = next(iter(_kinds(shape.values)), "")
    named = f"[{', '.join(shape.axes)}]{kind}"
    numbers = " · ".join(f"[{', '.join(map(str, sizes))}]" for sizes in shape.sizes[:3]) + kind
    numbers += " …" if shape.more or len(shape.sizes) > 3 else ""
    before = f'<span class="of">{html.escape(name)}</span> ' if name else ""
    if numbers == named:
        return f'<span class="rec">{before}{html.escape(named)}</span>'
    return (
        f'<span class="rec" tabindex="0">{before}<span class="axes">{html.escape(named)}</span>'
        f'<span class="sizes">{html.escape(numbers)}</span></span>'
    )


def _kinds(values: tuple[Value, ...]) -> Iterator[str]:
    types = {value.dtype for value in values}
    if len(types) == 1 and not types <= set(COMMON):
        yield f" {types.pop()}"


def _cost(made: Construction) -> Cost:
    """What tells sizes: modules and other objects among the arguments do not."""
    plain = [one for one in made.arguments if one.value.kind == "scalar" and one.value.text != "None"]
    parameters = made.parameters or 0
    return Cost(
        given=", ".join(f"{one.name}={one.value.text}" for one in plain),
        parameters=parameters,
        frozen=parameters - (parameters if made.trainable is None else made.trainable),
    )


def _flops(flops: Flops) -> Cost:
    shown = [
        f"{one.name}: [{', '.join(map(str, one.value.shape))}]"
        for one in flops.arguments
        if one.value.shape is not None
    ]
    return Cost(given=", ".join(shown), flops=flops.total, uncounted=tuple(map(_in_words, flops.uncounted)))


def _in_words(operator: str) -> str:
    """`layer norm` for torch's own `native_layer_norm`."""
    return operator.strip("_").removeprefix("native_").replace("_", " ")
