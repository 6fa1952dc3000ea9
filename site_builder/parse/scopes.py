"""
---
title: Scopes
summary: Which scope binds a name, and which scope asks for it.
---
# Scopes

Python decides at compile time in which scope a name lives. A link from code must follow the same rules, or a
local variable called `model` would lead to a class of that name. These are the facts that are gathered for
it: every *binding* with its scope, and every *use*. [One walk](survey.html) collects them; [what they
mean](names.html) is decided afterwards, because a function may use what the module binds only further down.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import NamedTuple


class Kind(Enum):
    MODULE = "module"
    CLASS = "class"
    FUNCTION = "function"
    COMPREHENSION = "comprehension"
    TYPES = "types"
    """
    Holds the type parameters of what stands inside it; unlike a function it sees the names of its class.
    """


class Bound(StrEnum):
    """By what a name is bound. Each name asks for a set of these, and a text has its hash at hand."""

    DEFINITION = "def, class"
    DATA = "assignment"
    IMPORT = "import"
    RECEIVER = "self, cls"
    VARIABLE = "parameter, loop, with, except, capture"
    DELETED = "del"


@dataclass(slots=True)
class Binding:
    kind: Bound
    time: int
    """When it happens if the module is read from top to bottom."""
    arms: tuple[tuple[int, int], ...]
    """Which arm of which `if`, `try` or `match` it stands in, outermost first."""
    target: str | None = None
    """
    The absolute dotted name of what is bound; None for a variable, and for an import that leads nowhere.
    """
    again: bool = False
    """It only refines what the name already means: a property's setter, `+=`, `f = cache(f)`."""
    absent: bool = False
    """`name = None`, which beside an import says that the name is not to be had."""


@dataclass(slots=True, eq=False)
class Scope:
    kind: Kind
    parent: Scope | None
    dotted: str
    """The absolute dotted name of what opens the scope."""
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    declared: dict[str, Scope | None] = field(default_factory=dict)
    """Names that `global` (the module's scope) or `nonlocal` (None: to be found) place elsewhere."""
    meanings: dict[str, Meaning | None] = field(default_factory=dict)


class Meaning(NamedTuple):
    """What a name stands for; `instance` for `self` and `cls`, whose members are the class's."""

    target: str
    instance: bool = False


class Use(NamedTuple):
    """A name that is read, and the members asked of it: `nn` and `Linear` in `nn.Linear`."""

    name: ast.Name
    members: Sequence[ast.Attribute]
    scope: Scope
    time: int
    lazy: bool
    """Inside an annotation, which may speak of what is defined further down."""


class SuperUse(NamedTuple):
    """`super().name`, or `super(Class, self).name`."""

    member: ast.Attribute
    scope: Scope
    owner: Use | None


class Class(NamedTuple):
    scope: Scope
    bases: tuple[Use, ...]


class Statement(NamedTuple):
    """An import, and the absolute dotted module that a `from` names (None where it leaves the package)."""

    node: ast.Import | ast.ImportFrom
    module: str | None


@dataclass(slots=True)
class Survey:
    module: Scope
    uses: list[Use] = field(default_factory=list)
    supers: list[SuperUse] = field(default_factory=list)
    classes: list[Class] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    stars: list[str] = field(default_factory=list)
    declaring: list[Scope] = field(default_factory=list)
    """Scopes with a `global` or `nonlocal` statement."""


def below(scope: Scope, name: str) -> str:
    """The absolute dotted name of what the scope binds."""
    return f"{scope.dotted}.{name}" if scope.dotted else name
