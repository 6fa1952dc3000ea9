"""
---
title: Names
summary: Which identifiers of a module mean something that is defined at module level, here or elsewhere.
---
# Names

Every identifier that means a definition, an import or a member of one gets a `Reference` with the absolute
dotted name that it stands for. Whether a page of the site shows that definition is for the index to say.

In `nn.Linear`, where `nn` is `torch.nn`, there are two: `nn` means `torch.nn` and `Linear` means
`torch.nn.Linear`. In a method of class `C`, `self.forward` means `C.forward`, and `super().forward` means
`C.super().forward`: the index knows the base classes.

A name that is bound more than once at module level means something only if all its bindings mean the same, or
if they are variants of which one comes into being (the arms of an `if` or a `try`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from site_builder.model import Reference
from site_builder.parse.identifiers import Identifiers
from site_builder.parse.scopes import (
    Binding,
    Bound,
    Kind,
    Meaning,
    Scope,
    Statement,
    SuperUse,
    Survey,
    Use,
    below,
)
from site_builder.parse.survey import survey

SUPER = "super()"
"""The part of a target that stands for the classes after this one: `package.module.Class.super().method`."""

MEMBERS_AT_MOST = 16
"""
`a.b.c.….z` is followed this far. Each member's target holds all those before it, so the sum of them is a
square.
"""

BINDINGS_AT_MOST = 16
"""A name with more variants than this means nothing in particular; comparing them in pairs would be slow."""


class Names(NamedTuple):
    """What the names of one module mean."""

    references: tuple[Reference, ...]
    exports: tuple[tuple[str, str], ...]
    """What imports bind at module level: `(name, absolute dotted target)`, and `("*", module)` for a star."""
    imports: tuple[str, ...]
    """Absolute dotted modules and objects, each once, in the order of their statements, from any scope."""
    bases: tuple[tuple[str, tuple[str, ...]], ...]
    """
    The qualified name of every class and the absolute dotted names of its bases, as far as they are known.
    """


def analyse(tree: ast.Module, lines: Sequence[str], module: str, is_package: bool) -> Names:
    """
    All that the names of a module mean, from one walk over its tree. `lines` are those that the tree was made
    from.
    """
    found = survey(tree, module, is_package)
    _settle_declarations(found)
    resolver = _Resolver(found)
    identifiers = Identifiers(lines)
    every = {*resolver.references(identifiers), *_import_references(found.statements, identifiers)}
    references = tuple(sorted(filter(None, every)))
    return Names(references, resolver.exports(), _imports(found.statements), resolver.bases())


class _Resolver:
    def __init__(self, found: Survey) -> None:
        self.found = found
        self.module = found.module
        self.data = self._instance_data()

    def _instance_data(self) -> set[str]:
        """
        `Class.name` for what methods assign through `self`: data, even where a base has a method of that
        name, unless the class itself defines it, as a property.
        """
        data = set()
        for use in self.found.uses:
            if len(use.members) == 1 and isinstance(use.members[0].ctx, ast.Store):
                meaning = self.meaning(use)
                if meaning and meaning.instance:
                    data.add(f"{meaning.target}.{use.members[0].attr}")
        return data - {
            f"{scope.dotted}.{name}"
            for scope, _ in self.found.classes
            for name, bindings in scope.bindings.items()
            if any(binding.kind is Bound.DEFINITION for binding in bindings)
        }

    def references(self, identifiers: Identifiers) -> Iterator[Reference | None]:
        for use in self.found.uses:
            meaning = self.meaning(use)
            if meaning is None:
                continue
            target = meaning.target
            if not meaning.instance:
                yield identifiers.reference(use.name.lineno, use.name.col_offset, use.name.id, target)
            elif use.members and f"{target}.{use.members[0].attr}" in self.data:
                continue
            for member in use.members[:MEMBERS_AT_MOST]:
                target = f"{target}.{member.attr}"
                if isinstance(member.ctx, ast.Load):
                    yield identifiers.member(member, target)
        for call in self.found.supers:
            if owner := self._owner(call):
                yield identifiers.member(call.member, f"{owner}.{SUPER}.{call.member.attr}")

    def _owner(self, call: SuperUse) -> str | None:
        """The class whose bases `super` asks: the one that is named, else the one whose method this is."""
        if call.owner:
            return self.dotted(call.owner)
        around = _class_around(call.scope)
        return around.dotted if around and around is not call.scope else None

    def dotted(self, use: Use) -> str | None:
        """What the last member of a chain means."""
        meaning = self.meaning(use)
        if meaning is None or (meaning.instance and not use.members):
            return None
        return ".".join([meaning.target, *(member.attr for member in use.members)])

    def exports(self) -> tuple[tuple[str, str], ...]:
        named = [
            (name, meaning.target)
            for name, bindings in self.module.bindings.items()
            if any(binding.kind is Bound.IMPORT for binding in bindings)
            and (meaning := _meaning_in(self.module, name))
            and not meaning.target.startswith("__future__.")
        ]
        return (*named, *(("*", module) for module in self.found.stars))

    def bases(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        prefix = f"{self.module.dotted}." if self.module.dotted else ""
        return tuple(
            (scope.dotted.removeprefix(prefix), tuple(filter(None, map(self.dotted, bases))))
            for scope, bases in self.found.classes
        )

    def meaning(self, use: Use) -> Meaning | None:
        """What the name stands for where it is used: the innermost scope that binds it decides."""
        name, start = use.name.id, use.scope
        scope: Scope | None = start
        seen: Scope | None = None
        later: Scope | None = None
        while scope is not None:
            visible = (
                scope.kind is not Kind.CLASS or scope is start or (seen is start and start.kind is Kind.TYPES)
            )
            if visible and name in scope.declared:
                if scope.declared[name] is self.module:
                    return self._global(name, start)
            elif visible and name in scope.bindings:
                direct = scope is start and scope.kind in (Kind.MODULE, Kind.CLASS)
                if not direct or scope.bindings[name][0].time < use.time:
                    return self._global(name, start) if scope is self.module else _meaning_in(scope, name)
                # Read before it is bound: the class's `int: int = 0` asks for the outer one.
                later = later or scope
            seen, scope = scope, scope.parent
        if later and use.lazy:
            return _meaning_in(later, name)
        return self._global(name, start) if not later else None

    def _global(self, name: str, start: Scope) -> Meaning | None:
        if _is_remade(name) and _class_around(start):
            return None
        if name in self.module.bindings:
            return _meaning_in(self.module, name)
        # It may have come with a star; the index can look there, and finds nothing if it is a builtin.
        return Meaning(below(self.module, name)) if self.found.stars else None


def _settle_declarations(found: Survey) -> None:
    """Give what is bound under `global` or `nonlocal` to the scope that these mean."""
    for scope in found.declaring:
        for name, place in scope.declared.items():
            owner = place or _function_binding(scope.parent, name)
            if owner is None or owner is scope:
                continue
            for binding in scope.bindings.pop(name, []):
                binding.again = True
                if binding.kind in (Bound.DATA, Bound.DEFINITION):
                    binding.target = below(owner, name)
                owner.bindings.setdefault(name, []).append(binding)


def _function_binding(scope: Scope | None, name: str) -> Scope | None:
    while scope is not None and (scope.kind is not Kind.FUNCTION or name not in scope.bindings):
        scope = scope.parent
    return scope


def _meaning_in(scope: Scope, name: str) -> Meaning | None:
    if name not in scope.meanings:
        scope.meanings[name] = _agreed(scope, scope.bindings[name])
    return scope.meanings[name]


def _agreed(scope: Scope, bindings: Sequence[Binding]) -> Meaning | None:
    """What all these bindings of one name mean together."""
    bindings = [binding for binding in bindings if binding.kind is not Bound.DELETED]
    kinds = {binding.kind for binding in bindings}
    if not kinds or Bound.VARIABLE in kinds:
        return None
    if Bound.RECEIVER in kinds:
        target = bindings[0].target
        return Meaning(target, instance=True) if target and len(bindings) == 1 else None
    if kinds == {Bound.DATA} and not _is_lasting(scope):
        return None
    if Bound.IMPORT in kinds:
        # `except ImportError: numpy = None` does not give the name another meaning, only none.
        imported = [binding for binding in bindings if binding.kind is Bound.IMPORT]
        others = [binding for binding in bindings if binding.kind is not Bound.IMPORT]
        targets = {binding.target for binding in imported}
        target = imported[0].target
        agreed = len(targets) == 1 and all(other.absent and other.arms for other in others)
        return Meaning(target) if target and agreed else None
    variants = [binding for binding in bindings if not binding.again]
    target = bindings[0].target
    return Meaning(target) if target and _exclude_each_other(variants) else None


def _is_lasting(scope: Scope) -> bool:
    """A function's own data is gone when it returns; only what module and class hold can be pointed at."""
    return scope.kind in (Kind.MODULE, Kind.CLASS)


def _exclude_each_other(bindings: Sequence[Binding]) -> bool:
    """Whether at most one of them happens: each two stand in different arms of one statement."""
    if len(bindings) > BINDINGS_AT_MOST:
        return False
    arms = [dict(binding.arms) for binding in bindings]
    return all(
        any(branch in second and second[branch] != arm for branch, arm in first.items())
        for number, first in enumerate(arms)
        for second in arms[:number]
    )


def _is_remade(name: str) -> bool:
    """Inside a class `__name` is `_Class__name`, and `__class__` is the class."""
    return name == "__class__" or (name.startswith("__") and not name.endswith("__"))


def _class_around(scope: Scope | None) -> Scope | None:
    """The innermost class that the scope is, or lies in."""
    while scope is not None and scope.kind is not Kind.CLASS:
        scope = scope.parent
    return scope


def _imports(statements: Sequence[Statement]) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for node, module in statements:
        for alias in node.names:
            if isinstance(node, ast.Import):
                names[alias.name] = None
            elif module:
                names[module if alias.name == "*" else f"{module}.{alias.name}"] = None
    return tuple(names)


def _import_references(
    statements: Sequence[Statement], identifiers: Identifiers
) -> Iterator[Reference | None]:
    for node, module in statements:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from identifiers.dotted(alias.lineno, alias.col_offset, alias.name, alias.name)
        elif module:
            if node.module:
                yield from identifiers.dotted(node.lineno, node.col_offset, node.module, module, after="from")
            for alias in node.names:
                if alias.name != "*":
                    target = f"{module}.{alias.name}"
                    yield identifiers.reference(alias.lineno, alias.col_offset, alias.name, target)
