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
from dataclasses import dataclass
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


@dataclass(slots=True, eq=False, repr=False)
class Binding:
    """What gives a name its meaning."""

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


class Scope:
    """
    Where names are bound; `dotted` is the absolute dotted name of what opens it. `declared` are names that `global`
    (the module's scope) or `nonlocal` (None: to be found) place elsewhere.
    """

    __slots__ = ("bindings", "declared", "dotted", "kind", "meanings", "parent")

    def __init__(self, kind: Kind, parent: Scope | None, dotted: str) -> None:
        self.kind, self.parent, self.dotted = kind, parent, dotted
        self.bindings: dict[str, list[Binding]] = {}
        self.declared: dict[str, Scope | None] = {}
        self.meanings: dict[str, Meaning | None] = {}


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


class Survey:
    """What one walk over a module found; `declaring` are scopes with a `global` or `nonlocal` statement."""

    def __init__(self, module: Scope) -> None:
        self.module = module
        self.uses: list[Use] = []
        self.supers: list[SuperUse] = []
        self.classes: list[Class] = []
        self.statements: list[Statement] = []
        self.stars: list[str] = []
        self.declaring: list[Scope] = []


def below(scope: Scope, name: str) -> str:
    """The absolute dotted name of what the scope binds."""
    return f"{scope.dotted}.{name}" if scope.dotted else name
