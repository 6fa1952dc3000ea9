"""
---
title: Survey
summary: One walk over the syntax tree that notes all bindings and all uses of names.
---
# Survey

The walk visits the tree in the order in which Python would run it, so that each binding and each use can be
given a time. It keeps its own stack: a sum of three thousand terms is a tree three thousand levels deep, and
Python's call stack is not.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Any, NamedTuple

from site_builder.parse.nodes import (
    Function,
    annotations_of,
    arguments_of,
    chain,
    children,
    defaults_of,
    is_static,
    wraps,
)
from site_builder.parse.scopes import (
    Binding,
    Bound,
    Class,
    Kind,
    Scope,
    Statement,
    SuperUse,
    Survey,
    Use,
    below,
)


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


_VARIABLE = _Bind("", Bound.VARIABLE)
_Item = ast.AST | _Bind
_COMPREHENSION = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class _Walk:
    def __init__(self, module: str, is_package: bool) -> None:
        self.package = module if is_package else module.rpartition(".")[0]
        self.found = Survey(Scope(Kind.MODULE, None, module))
        self.stack: list[tuple[_Item, _Context]] = []
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
                self.then(children(item), context)

    def then(self, items: Sequence[_Item], context: _Context) -> None:
        """These come next, before whatever was already waiting."""
        self.stack.extend(zip(reversed(items), repeat(context)))

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

    def use(self, node: ast.expr, context: _Context) -> Use | None:
        members, value = chain(node)
        if not isinstance(value, ast.Name):
            return None
        return Use(value, members, context.scope, self.time, context.lazy)

    def attribute(self, node: ast.Attribute, context: _Context) -> None:
        members, value = chain(node)
        if isinstance(value, ast.Name):
            self.found.uses.append(Use(value, members, context.scope, self.time, context.lazy))
            return
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "super":
            owner = [self.use(argument, context) for argument in value.args[:1]]
            if None not in owner:
                self.found.supers.append(SuperUse(members[0], context.scope, owner[0] if owner else None))
        self.then([value], context)

    def targets(self, nodes: Iterable[ast.expr], bound: _Bind, context: _Context) -> list[_Item]:
        """
        What assigning to these does: names are bound as `bound`, the objects behind members and items are
        read.
        """
        items: list[_Item] = []
        waiting = list(nodes)[::-1]
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.Name):
                items.append(self.named(node.id, bound, context))
            elif isinstance(node, ast.Tuple | ast.List):
                waiting.extend(node.elts[::-1])
            elif isinstance(node, ast.Starred):
                waiting.append(node.value)
            else:
                items.append(node)
        return items

    def named(self, name: str, bound: _Bind, context: _Context) -> _Bind:
        lasts = bound.kind in (Bound.DATA, Bound.DEFINITION)
        target = below(context.scope, name) if lasts else None
        return _Bind(name, bound.kind, target, bound.again, bound.absent)

    # ---- statements that bind

    def assign(self, node: ast.Assign, context: _Context) -> None:
        absent = isinstance(node.value, ast.Constant) and node.value.value is None
        again = len(node.targets) == 1 and wraps(node.value, node.targets[0])
        self.then(
            [
                node.value,
                *self.targets(node.targets, _Bind("", Bound.DATA, again=again, absent=absent), context),
            ],
            context,
        )

    def annotated(self, node: ast.AnnAssign, context: _Context) -> None:
        if node.simple or node.value is not None:
            self.then(
                self.targets([node.target], _Bind("", Bound.DATA, again=node.value is None), context), context
            )
        if node.value is not None:
            self.then([node.value], context)
        self.then([node.annotation], context._replace(lazy=True))

    def augmented(self, node: ast.AugAssign, context: _Context) -> None:
        self.then(
            [node.value, *self.targets([node.target], _Bind("", Bound.DATA, again=True), context)], context
        )

    def alias(self, node: ast.AST, context: _Context) -> None:
        """`type Name[T] = value`, which is evaluated only when somebody asks."""
        name: ast.Name = getattr(node, "name")  # noqa: B009 - ast.TypeAlias is younger than Python 3.11
        types = self.type_parameters(node, name.id, context)
        self.then([getattr(node, "value")], types._replace(lazy=True))  # noqa: B009
        self.then([self.named(name.id, _Bind("", Bound.DATA), context)], context)

    def walrus(self, node: ast.NamedExpr, context: _Context) -> None:
        scope = context.scope
        while scope.kind is Kind.COMPREHENSION and scope.parent is not None:
            scope = scope.parent
        self.then([_Bind(node.target.id, Bound.VARIABLE)], context._replace(scope=scope))
        self.then([node.value], context)

    def loop(self, node: ast.For | ast.AsyncFor, context: _Context) -> None:
        bound = self.targets([node.target], _VARIABLE, context)
        self.then([node.iter, *bound, *node.body, *node.orelse], context)

    def with_item(self, node: ast.withitem, context: _Context) -> None:
        bound = self.targets([node.optional_vars], _VARIABLE, context) if node.optional_vars else []
        self.then([node.context_expr, *bound], context)

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
        self.found.declaring.append(context.scope)

    # ---- one arm or the other

    def arm(self, nodes: Sequence[ast.AST], number: int, context: _Context) -> None:
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
        types = context._replace(scope=Scope(Kind.TYPES, context.scope, below(context.scope, name)))
        for parameter in parameters:
            self.bind(_Bind(getattr(parameter, "name"), Bound.VARIABLE), types)  # noqa: B009
        # Bounds and defaults are read before the header, which matters to nobody: type parameters are lazy.
        self.then(parameters, types._replace(lazy=True))
        return types

    def function(self, node: Function, context: _Context) -> None:
        dotted = below(context.scope, node.name)
        types = self.type_parameters(node, node.name, context)
        body = Scope(Kind.FUNCTION, types.scope, dotted)
        self.parameters(node.args, body)
        if context.scope.kind is Kind.CLASS and not is_static(node):
            for receiver in [*node.args.posonlyargs, *node.args.args][:1]:
                body.bindings[receiver.arg] = [Binding(Bound.RECEIVER, self.time, (), context.scope.dotted)]
        self.then(node.body, _Context(body))
        self.then([_Bind(node.name, Bound.DEFINITION, dotted, again=bool(node.decorator_list))], context)
        self.then(annotations_of(node), types._replace(lazy=True))
        self.then([*node.decorator_list, *defaults_of(node.args)], context)

    def lambda_(self, node: ast.Lambda, context: _Context) -> None:
        body = Scope(Kind.FUNCTION, context.scope, context.scope.dotted)
        self.parameters(node.args, body)
        self.then([node.body], context._replace(scope=body))
        self.then(defaults_of(node.args), context)

    def parameters(self, node: ast.arguments, scope: Scope) -> None:
        for argument in arguments_of(node):
            scope.bindings.setdefault(argument.arg, []).append(Binding(Bound.VARIABLE, self.time, ()))

    def class_(self, node: ast.ClassDef, context: _Context) -> None:
        dotted = below(context.scope, node.name)
        types = self.type_parameters(node, node.name, context)
        scope = Scope(Kind.CLASS, types.scope, dotted)
        self.then([_Bind(node.name, Bound.DEFINITION, dotted)], context)
        self.then(node.body, _Context(scope))
        self.then([*node.bases, *node.keywords], types)
        self.then(node.decorator_list, context)
        bases = (base.value if isinstance(base, ast.Subscript) else base for base in node.bases)
        named = (self.use(base, types) for base in bases)
        self.found.classes.append(Class(scope, tuple(use for use in named if use)))

    def comprehension(self, node: _COMPREHENSION, context: _Context) -> None:
        scope = Scope(Kind.COMPREHENSION, context.scope, context.scope.dotted)
        inside = context._replace(scope=scope)
        items: list[_Item] = []
        for number, generator in enumerate(node.generators):
            if number:
                items.append(generator.iter)
            items.extend([*self.targets([generator.target], _VARIABLE, inside), *generator.ifs])
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
