"""
---
title: Scopes
summary: One walk over the syntax tree that notes which scope binds a name, and which scope asks for it.
---
# Scopes

Python decides at compile time in which scope a name lives. A link from code must follow the same rules, or a
local variable called `model` would lead to a class of that name. This walk gathers the facts: every *binding*
with its scope, and every *use*. [What they mean](names.html) is decided afterwards, because a function may
use what the module binds only further down.

The walk keeps its own stack. A sum of three thousand terms is a tree three thousand levels deep, and Python's
call stack is not.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

MEMBERS_AT_MOST = 16
"""
`a.b.c.….z` is followed this far. Each member's target holds all those before it, so the sum of them is a
square.
"""


class Kind(Enum):
    MODULE = "module"
    CLASS = "class"
    FUNCTION = "function"
    COMPREHENSION = "comprehension"
    TYPES = "types"
    """
    Holds the type parameters of what stands inside it; unlike a function it sees the names of its class.
    """


class Bound(Enum):
    """By what a name is bound."""

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


@dataclass(frozen=True, slots=True)
class Meaning:
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
    """`super().name`."""

    member: ast.Attribute
    scope: Scope


class ClassBases(NamedTuple):
    dotted: str
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
    classes: list[ClassBases] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    stars: list[str] = field(default_factory=list)


def survey(tree: ast.Module, module: str, is_package: bool) -> Survey:
    """Walk the whole tree once."""
    walk = _Walk(module, is_package)
    walk.run(tree)
    return walk.found


class _Context(NamedTuple):
    scope: Scope
    arms: tuple[tuple[int, int], ...] = ()
    lazy: bool = False


class _Bind(NamedTuple):
    """A binding that takes place only when the walk has passed what stands before it."""

    name: str
    kind: Bound
    target: str | None = None
    again: bool = False
    absent: bool = False


_Item = ast.AST | _Bind
_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
_COMPREHENSION = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class _Walk:
    def __init__(self, module: str, is_package: bool) -> None:
        self.package = module if is_package else module.rpartition(".")[0]
        self.found = Survey(Scope(Kind.MODULE, None, module))
        self.stack: list[tuple[ast.AST | _Bind, _Context]] = []
        self.time = 0
        self.branches = 0

    def run(self, tree: ast.Module) -> None:
        self.stack.append((tree, _Context(self.found.module)))
        while self.stack:
            item, context = self.stack.pop()
            self.time += 1
            visit = _VISITS.get(type(item))
            if visit is not None:
                visit(self, item, context)
            elif isinstance(item, ast.AST):
                self.then(_children(item), context)

    def then(self, items: Iterable[_Item], context: _Context) -> None:
        """These come next, before whatever was already waiting."""
        self.stack.extend([(item, context) for item in items][::-1])

    def leaf(self, node: ast.AST, context: _Context) -> None:
        pass

    def bind(self, item: _Bind, context: _Context) -> None:
        binding = Binding(item.kind, self.time, context.arms, item.target, item.again, item.absent)
        context.scope.bindings.setdefault(item.name, []).append(binding)

    # ---- names

    def name(self, node: ast.Name, context: _Context) -> None:
        if isinstance(node.ctx, ast.Load):
            self.found.uses.append(Use(node, (), context.scope, self.time, context.lazy))
        elif isinstance(node.ctx, ast.Del):
            self.bind(_Bind(node.id, Bound.DELETED), context)
        else:
            self.bind(_Bind(node.id, Bound.VARIABLE), context)

    def attribute(self, node: ast.Attribute, context: _Context) -> None:
        members, value = _chain(node)
        if isinstance(value, ast.Name):
            self.found.uses.append(Use(value, members, context.scope, self.time, context.lazy))
            return
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "super":
            self.found.supers.append(SuperUse(members[0], context.scope))
        self.then([value], context)

    def targets(
        self, nodes: Iterable[ast.expr], kind: Bound, scope: Scope, absent: bool = False
    ) -> list[_Item]:
        """What assigning to these does: names are bound, the objects behind members and items are read."""
        items: list[_Item] = []
        waiting = list(nodes)[::-1]
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.Name):
                items.append(
                    _Bind(
                        node.id, kind, _below(scope, node.id) if kind is Bound.DATA else None, absent=absent
                    )
                )
            elif isinstance(node, ast.Tuple | ast.List):
                waiting.extend(node.elts[::-1])
            elif isinstance(node, ast.Starred):
                waiting.append(node.value)
            else:
                items.append(node)
        return items

    # ---- statements that bind

    def assign(self, node: ast.Assign, context: _Context) -> None:
        absent = isinstance(node.value, ast.Constant) and node.value.value is None
        items = self.targets(node.targets, Bound.DATA, context.scope, absent)
        if len(items) == 1 and isinstance(items[0], _Bind) and _wraps(node.value, items[0].name):
            items = [items[0]._replace(again=True)]
        self.then([node.value, *items], context)

    def annotated(self, node: ast.AnnAssign, context: _Context) -> None:
        items = self.targets([node.target], Bound.DATA, context.scope)
        if node.value is None:
            items = [item._replace(again=True) if isinstance(item, _Bind) else item for item in items]
        self.then(items if node.simple or node.value is not None else (), context)
        if node.value is not None:
            self.then([node.value], context)
        self.then([node.annotation], context._replace(lazy=True))

    def augmented(self, node: ast.AugAssign, context: _Context) -> None:
        items = self.targets([node.target], Bound.DATA, context.scope)
        items = [item._replace(again=True) if isinstance(item, _Bind) else item for item in items]
        self.then([node.value, *items], context)

    def alias(self, node: ast.AST, context: _Context) -> None:
        """`type Name[T] = value`, which is evaluated only when somebody asks."""
        name: ast.Name = getattr(node, "name")  # noqa: B009 - ast.TypeAlias is younger than Python 3.11
        types = self.type_parameters(node, name.id, context)
        self.then([getattr(node, "value")], types._replace(lazy=True))  # noqa: B009
        self.then([_Bind(name.id, Bound.DATA, _below(context.scope, name.id))], context)

    def walrus(self, node: ast.NamedExpr, context: _Context) -> None:
        scope = context.scope
        while scope.kind is Kind.COMPREHENSION and scope.parent is not None:
            scope = scope.parent
        self.then([_Bind(node.target.id, Bound.VARIABLE)], context._replace(scope=scope))
        self.then([node.value], context)

    def loop(self, node: ast.For | ast.AsyncFor, context: _Context) -> None:
        self.then(
            [
                node.iter,
                *self.targets([node.target], Bound.VARIABLE, context.scope),
                *node.body,
                *node.orelse,
            ],
            context,
        )

    def with_item(self, node: ast.withitem, context: _Context) -> None:
        bound = [node.optional_vars] if node.optional_vars else []
        self.then([node.context_expr, *self.targets(bound, Bound.VARIABLE, context.scope)], context)

    def handler(self, node: ast.ExceptHandler, context: _Context) -> None:
        self.then(node.body, context)
        if node.name:
            self.then([_Bind(node.name, Bound.VARIABLE)], context)
        if node.type:
            self.then([node.type], context)

    def capture(self, node: ast.MatchAs | ast.MatchStar, context: _Context) -> None:
        if node.name:
            self.then([_Bind(node.name, Bound.VARIABLE)], context)
        if isinstance(node, ast.MatchAs) and node.pattern:
            self.then([node.pattern], context)

    def mapping(self, node: ast.MatchMapping, context: _Context) -> None:
        if node.rest:
            self.then([_Bind(node.rest, Bound.VARIABLE)], context)
        self.then([*node.keys, *node.patterns], context)

    def declaration(self, node: ast.Global | ast.Nonlocal, context: _Context) -> None:
        place = self.found.module if isinstance(node, ast.Global) else None
        context.scope.declared.update(dict.fromkeys(node.names, place))

    # ---- one arm or the other

    def arm(self, nodes: Iterable[ast.AST], number: int, context: _Context) -> None:
        self.then(nodes, context._replace(arms=(*context.arms, (self.branches, number))))

    def conditional(self, node: ast.If, context: _Context) -> None:
        self.branches += 1
        self.arm(node.orelse, 1, context)
        self.arm(node.body, 0, context)
        self.then([node.test], context)

    def attempt(self, node: ast.Try | ast.TryStar, context: _Context) -> None:
        self.branches += 1
        self.then(node.finalbody, context)
        self.arm(node.orelse, 0, context)
        for number, handler in reversed(list(enumerate(node.handlers, start=1))):
            self.arm([handler], number, context)
        self.arm(node.body, 0, context)

    def match(self, node: ast.Match, context: _Context) -> None:
        self.branches += 1
        for number, case in reversed(list(enumerate(node.cases))):
            self.arm([case], number, context)
        self.then([node.subject], context)

    # ---- what opens a scope

    def type_parameters(self, node: ast.AST, name: str, context: _Context) -> _Context:
        parameters: list[ast.AST] = getattr(node, "type_params", [])
        if not parameters:
            return context
        types = context._replace(scope=Scope(Kind.TYPES, context.scope, _below(context.scope, name)))
        for parameter in parameters:
            self.bind(_Bind(getattr(parameter, "name"), Bound.VARIABLE), types)  # noqa: B009
        # Bounds and defaults are read before the header, which matters to nobody: type parameters are lazy.
        self.then(parameters, types._replace(lazy=True))
        return types

    def function(self, node: _FUNCTION, context: _Context) -> None:
        dotted = _below(context.scope, node.name)
        again = bool(node.decorator_list) and node.name in context.scope.bindings
        decorated = bool(node.decorator_list)
        types = self.type_parameters(node, node.name, context)
        body = Scope(Kind.FUNCTION, types.scope, dotted)
        self.parameters(node.args, body)
        if context.scope.kind is Kind.CLASS and not _is_static(node):
            receiver = [*node.args.posonlyargs, *node.args.args][:1]
            for argument in receiver:
                body.bindings[argument.arg][0].kind = Bound.RECEIVER
                body.bindings[argument.arg][0].target = context.scope.dotted
        self.then(node.body, _Context(body))
        self.then([_Bind(node.name, Bound.DEFINITION, dotted, again=again or decorated)], context)
        self.then(_annotations(node), types._replace(lazy=True))
        self.then([*node.decorator_list, *_defaults(node.args)], context)

    def lambda_(self, node: ast.Lambda, context: _Context) -> None:
        body = Scope(Kind.FUNCTION, context.scope, context.scope.dotted)
        self.parameters(node.args, body)
        self.then([node.body], context._replace(scope=body))
        self.then(_defaults(node.args), context)

    def parameters(self, arguments: ast.arguments, scope: Scope) -> None:
        for argument in _arguments(arguments):
            scope.bindings.setdefault(argument.arg, []).append(Binding(Bound.VARIABLE, self.time, ()))

    def class_(self, node: ast.ClassDef, context: _Context) -> None:
        dotted = _below(context.scope, node.name)
        types = self.type_parameters(node, node.name, context)
        self.then([_Bind(node.name, Bound.DEFINITION, dotted)], context)
        self.then(node.body, _Context(Scope(Kind.CLASS, types.scope, dotted)))
        self.then([*node.bases, *node.keywords], types)
        self.then(node.decorator_list, context)
        bases = []
        for base in node.bases:
            members, value = _chain(base.value if isinstance(base, ast.Subscript) else base)
            if isinstance(value, ast.Name):
                bases.append(Use(value, members, types.scope, self.time, False))
        self.found.classes.append(ClassBases(dotted, tuple(bases)))

    def comprehension(self, node: _COMPREHENSION, context: _Context) -> None:
        scope = Scope(Kind.COMPREHENSION, context.scope, context.scope.dotted)
        inside = context._replace(scope=scope)
        items: list[_Item] = []
        for number, generator in enumerate(node.generators):
            if number:
                items.append(generator.iter)
            items.extend([*self.targets([generator.target], Bound.VARIABLE, scope), *generator.ifs])
        items.extend([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])
        self.then(items, inside)
        # The first iterable is evaluated where the comprehension stands.
        self.then([node.generators[0].iter], context)

    # ---- imports

    def import_(self, node: ast.Import, context: _Context) -> None:
        self.found.statements.append(Statement(node, None))
        for alias in node.names:
            bound = alias.asname or alias.name.partition(".")[0]
            self.bind(_Bind(bound, Bound.IMPORT, alias.name if alias.asname else bound), context)

    def import_from(self, node: ast.ImportFrom, context: _Context) -> None:
        module = self.absolute(node)
        self.found.statements.append(Statement(node, module))
        for alias in node.names:
            if alias.name != "*":
                target = f"{module}.{alias.name}" if module else None
                self.bind(_Bind(alias.asname or alias.name, Bound.IMPORT, target), context)
            elif module:
                self.found.stars.append(module)

    def absolute(self, node: ast.ImportFrom) -> str | None:
        """`from ..x import y` counts its dots from the package that the module lies in."""
        if not node.level:
            return node.module
        parts = self.package.split(".") if self.package else []
        if node.level > len(parts):
            return None
        parts = parts[: len(parts) - node.level + 1]
        return ".".join([*parts, node.module] if node.module else parts)


_VISITS: dict[type, Callable[[_Walk, Any, _Context], None]] = {
    _Bind: _Walk.bind,
    ast.Constant: _Walk.leaf,
    ast.Name: _Walk.name,
    ast.Attribute: _Walk.attribute,
    ast.Assign: _Walk.assign,
    ast.AnnAssign: _Walk.annotated,
    ast.AugAssign: _Walk.augmented,
    ast.NamedExpr: _Walk.walrus,
    ast.For: _Walk.loop,
    ast.AsyncFor: _Walk.loop,
    ast.withitem: _Walk.with_item,
    ast.ExceptHandler: _Walk.handler,
    ast.MatchAs: _Walk.capture,
    ast.MatchStar: _Walk.capture,
    ast.MatchMapping: _Walk.mapping,
    ast.Global: _Walk.declaration,
    ast.Nonlocal: _Walk.declaration,
    ast.If: _Walk.conditional,
    ast.Try: _Walk.attempt,
    ast.TryStar: _Walk.attempt,
    ast.Match: _Walk.match,
    ast.FunctionDef: _Walk.function,
    ast.AsyncFunctionDef: _Walk.function,
    ast.Lambda: _Walk.lambda_,
    ast.ClassDef: _Walk.class_,
    ast.ListComp: _Walk.comprehension,
    ast.SetComp: _Walk.comprehension,
    ast.DictComp: _Walk.comprehension,
    ast.GeneratorExp: _Walk.comprehension,
    ast.Import: _Walk.import_,
    ast.ImportFrom: _Walk.import_from,
}
if sys.version_info >= (3, 12):
    _VISITS[ast.TypeAlias] = _Walk.alias


def _children(node: ast.AST) -> list[_Item]:
    """The parts of a node that can hold names, in the order of the source. Operators cannot."""
    found: list[_Item] = []
    for name in node._fields:
        part = getattr(node, name, None)
        if isinstance(part, list):
            found.extend(item for item in part if isinstance(item, ast.AST))
        elif isinstance(part, ast.AST) and name != "ctx" and name != "op":
            found.append(part)
    return found


def _below(scope: Scope, name: str) -> str:
    return f"{scope.dotted}.{name}" if scope.dotted else name


def _chain(node: ast.expr) -> tuple[list[ast.Attribute], ast.expr]:
    """`a.b.c` as its members `.b`, `.c` and what they are asked of, `a`."""
    members: list[ast.Attribute] = []
    while isinstance(node, ast.Attribute):
        members.append(node)
        node = node.value
    members.reverse()
    return members, node


def _wraps(value: ast.expr, name: str) -> bool:
    """Whether the value is a call on the name itself, as in `f = cache(f)`."""
    return isinstance(value, ast.Call) and any(
        isinstance(arg, ast.Name) and arg.id == name for arg in value.args
    )


def _is_static(node: _FUNCTION) -> bool:
    return any(isinstance(item, ast.Name) and item.id == "staticmethod" for item in node.decorator_list)


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    star = [argument for argument in (arguments.vararg, arguments.kwarg) if argument]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *star]


def _annotations(node: _FUNCTION) -> list[ast.expr]:
    found = [argument.annotation for argument in _arguments(node.args)]
    return [annotation for annotation in [*found, node.returns] if annotation]


def _defaults(arguments: ast.arguments) -> list[ast.expr]:
    return [*arguments.defaults, *(default for default in arguments.kw_defaults if default)]
