"""
---
title: What claims speak of
summary: From the place where a claim stands to the argument, result or statement that it is about.
---
# What claims speak of

Where a claim stands decides what it is about: in the docstring of a function the arguments on entry and the
result; in that of a class the arguments of `__init__` and the attributes that its methods write; in a comment, or in
the docstring of a module, what the statements beside it write.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from site_builder.claims.model import INTRO, RETURN, Claim
from site_builder.errors import Diagnostic
from site_builder.likeness import nearest
from site_builder.model import Kind, Page, Section
from site_builder.record.model import MODULE
from site_builder.record.outline import FUNCTIONS, LOOPS, Outline

_HEADED = (
    *FUNCTIONS,
    *LOOPS,
    ast.ClassDef,
    ast.If,
    ast.With,
    ast.AsyncWith,
    ast.Try,
    ast.TryStar,
    ast.Match,
)


@dataclass(frozen=True)
class Group:
    """Claims of one section for one name: at least one must be true. `statements` are those of the section."""

    claims: tuple[Claim, ...]
    statements: frozenset[int] = frozenset()

    @property
    def path(self) -> tuple[str, ...]:
        """How to come from the named value to the one that is meant."""
        return tuple(self.claims[0].name.split(".")[1:])


@dataclass
class Topics:
    """Groups by what they speak of: functions, statements and classes by their ordinals, names as they read."""

    entry: dict[int, dict[str, list[Group]]] = field(default_factory=dict)
    results: dict[int, list[Group]] = field(default_factory=dict)
    writes: dict[int, dict[str, list[Group]]] = field(default_factory=dict)
    returns: dict[int, list[Group]] = field(default_factory=dict)
    fields: dict[int, dict[str, Group]] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)


def assign(page: Page, outline: Outline, claims: Iterable[Claim]) -> Topics:
    """Every claim to what it speaks of, and a diagnostic for each that speaks of nothing."""
    sorter = _Sorter(page, outline)
    grouped: dict[tuple[int, str], list[Claim]] = {}
    for claim in claims:
        grouped.setdefault((claim.section, claim.name), []).append(claim)
    for (section, name), alternatives in grouped.items():
        sorter.place(section, name, tuple(alternatives))
    return sorter.topics


def variables(outline: Outline) -> frozenset[str]:
    """The names that the statements of the module write."""
    return frozenset(target.name for n in outline.inside(MODULE) for target in outline.lines[n].targets)


def parameters(node: ast.stmt) -> tuple[str, ...]:
    """The names of a function's arguments."""
    if not isinstance(node, FUNCTIONS):
        return ()
    given = node.args
    single = [one for one in (given.vararg, given.kwarg) if one]
    return tuple(one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs, *single))


class _Sorter:
    def __init__(self, page: Page, outline: Outline) -> None:
        self.page = page
        self.outline = outline
        self.topics = Topics()

    def place(self, number: int, name: str, claims: tuple[Claim, ...]) -> None:
        if number == INTRO:
            self.beside(name, claims, self.outline.inside(MODULE))
            return
        section = self.page.sections[number]
        definition = self.definition(section)
        if definition is None:
            self.beside(name, claims, list(self.statements(section)))
        elif isinstance(self.outline.lines[definition].node, ast.ClassDef):
            self.of_class(definition, name, claims)
        else:
            self.of_function(definition, name, claims)

    # ---- docstrings

    def definition(self, section: Section) -> int | None:
        """The function or class whose docstring stands beside the section."""
        if section.kind not in (Kind.CLASS, Kind.FUNCTION, Kind.METHOD):
            return None
        within = range(section.start, section.end)
        for ordinal, name in self.outline.names.items():
            if name == section.scope and self.outline.lines[ordinal].start[0] in within:
                return ordinal
        return None

    def of_function(self, function: int, name: str, claims: tuple[Claim, ...]) -> None:
        group = Group(claims)
        first = name.partition(".")[0]
        known = parameters(self.outline.lines[function].node)
        if first == RETURN:
            self.topics.results.setdefault(function, []).append(group)
        elif first in known:
            self.topics.entry.setdefault(function, {}).setdefault(first, []).append(group)
        else:
            self.unknown(claims, f"is no argument of {self.outline.names[function]}", known)

    def of_class(self, definition: int, name: str, claims: tuple[Claim, ...]) -> None:
        group = Group(claims)
        methods = self.outline.inside(definition)
        makers = [
            n for n in methods if getattr(self.outline.lines[n].node, "name", "") in ("__init__", "__new__")
        ]
        first = name.partition(".")[0]
        known: list[str] = []
        for maker in makers:
            known += (names := parameters(self.outline.lines[maker].node))
            if first in names and first != "self":
                self.topics.entry.setdefault(maker, {}).setdefault(first, []).append(group)
                return
        wanted = name if name.startswith("self.") else f"self.{name}"
        places = [
            (n, target)
            for method in methods
            for n in self.outline.inside(method)
            for target in self.targets(n)
            if target.startswith("self.")
        ]
        written = [ordinal for ordinal, target in places if target == wanted]
        if written:
            for ordinal in written:
                self.topics.writes.setdefault(ordinal, {}).setdefault(wanted, []).append(group)
            return
        if any(name in self.targets(n) for n in methods):
            self.topics.fields.setdefault(definition, {})[name] = group
            return
        what = f"is no argument and no attribute of {self.outline.names[definition]}"
        self.unknown(claims, what, (*known, *(target for _, target in places)))

    # ---- comments

    def statements(self, section: Section) -> Iterator[int]:
        """Those that begin beside the note; of one that began before it, a part of which the note speaks."""
        for ordinal, line in enumerate(self.outline.lines):
            begins = section.start <= line.start[0] < section.end
            reaches = line.start[0] < section.end and line.end[0] >= section.start
            if begins or (reaches and not isinstance(line.node, _HEADED)):
                yield ordinal

    def beside(self, name: str, claims: tuple[Claim, ...], statements: Sequence[int]) -> None:
        group = Group(claims, frozenset(statements))
        known: list[str] = []
        found = False
        for ordinal in statements:
            line = self.outline.lines[ordinal]
            known += self.targets(ordinal)
            if name == RETURN and isinstance(line.node, ast.Return):
                self.topics.returns.setdefault(ordinal, []).append(group)
                found = True
            if name not in self.targets(ordinal):
                continue
            found = True
            if isinstance(line.node, ast.AnnAssign) and line.node.value is None:
                if line.scope != MODULE and isinstance(self.outline.lines[line.scope].node, ast.ClassDef):
                    self.topics.fields.setdefault(line.scope, {})[name] = group
            else:
                self.topics.writes.setdefault(ordinal, {}).setdefault(name, []).append(group)
        if not found:
            self.unknown(claims, "is nothing that the code beside this note assigns", known)

    def targets(self, ordinal: int) -> list[str]:
        line = self.outline.lines[ordinal]
        if isinstance(line.node, ast.AnnAssign) and line.node.value is None:
            return [ast.unparse(line.node.target)]
        return [target.name for target in line.targets]

    def unknown(self, claims: tuple[Claim, ...], what: str, known: Iterable[str]) -> None:
        names = [name for name in dict.fromkeys(known) if name not in ("self", "cls")]
        for claim in claims:
            near = nearest(claim.name, names)
            hint = f"did you mean {near}?" if near else f"known here: {', '.join(names)}" if names else ""
            message = f"`{claim.text}`: {claim.name} {what}"
            self.topics.diagnostics.append(Diagnostic.at(claim.position, "claim-unknown", message, hint))
