"""What each identifier of a module means, by Python's own rules of scope."""

from __future__ import annotations

import ast
import sys
import textwrap

import pytest

from site_builder.parse import names

MODULE = "pkg.sub.mod"


def analysed(source: str, module: str = MODULE, is_package: bool = False) -> names.Names:
    text = textwrap.dedent(source).lstrip("\n")
    return names.analyse(ast.parse(text), text.splitlines(keepends=True), module, is_package)


def meanings(source: str, module: str = MODULE, is_package: bool = False) -> list[str]:
    """`line name target` for every reference outside import statements; `.` in front means this module."""
    text = textwrap.dedent(source).lstrip("\n")
    lines = text.splitlines(keepends=True)
    imports = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for line in range(node.lineno, (node.end_lineno or 0) + 1)
    }
    found = analysed(source, module, is_package).references
    return [
        f"{r.line} {lines[r.line - 1][r.column - 1 : r.end_column - 1]} {r.target.replace(module + '.', '.')}"
        for r in found
        if r.line not in imports
    ]


CASES = {
    "a class used in a function further up": (
        """
        def make():
            return Model()
        class Model: ...
        """,
        ["2 Model .Model"],
    ),
    "a local variable that bears the name": (
        """
        class model: ...
        def train(x):
            model = x
            return model
        """,
        [],
    ),
    "a local variable that is bound only after its use": (
        """
        class model: ...
        def train():
            print(model)
            model = 1
        """,
        [],
    ),
    "parameters of every kind": (
        """
        def a(): ...
        def f(a, /): return a
        def g(*a): return a
        def h(*, a): return a
        def i(**a): return a
        k = lambda a: a
        """,
        [],
    ),
    "a default and an annotation belong to the outside, the body to the parameter": (
        """
        def a(): ...
        def f(a: a = a) -> a:
            return a
        """,
        ["2 a .a", "2 a .a", "2 a .a"],
    ),
    "a decorator belongs to the outside": (
        """
        def cached(f): return f
        class C:
            @cached
            def cached(self): ...
        """,
        ["3 cached .cached"],
    ),
    "keyword names are not names": (
        """
        def bias(): ...
        dict(bias=1)
        dict(bias=bias)
        """,
        ["3 bias .bias"],
    ),
    "strings are not names": (
        """
        class Model: ...
        def f(x: "Model") -> "Model": "Model"
        """,
        [],
    ),
    "the definition itself is no reference": ("def f(): ...\nclass C: ...\nx = 1", []),
    "a recursive function": ("def f():\n    return f()", ["2 f .f"]),
    "a nested function": (
        """
        def outer():
            def inner(): ...
            return inner
        """,
        ["3 inner .outer.inner"],
    ),
    "the names of a class are not seen in its methods": (
        """
        def size(): ...
        class C:
            def size(self): ...
            def area(self):
                return size()
        """,
        ["5 size .size"],
    ),
    "the names of a class are seen in its body": (
        """
        class C:
            def forward(self): ...
            __call__ = forward
        """,
        ["3 forward .C.forward"],
    ),
    "the names of a class are not seen in its comprehensions, but for the first iterable": (
        """
        def size(): ...
        class C:
            def size(self): ...
            a = [size for _ in range(3)]
            b = [x for x in size()]
        """,
        ["4 size .size", "5 size .C.size"],
    ),
    "read in a class body before it is bound there": (
        """
        def size(): ...
        class C:
            size: int = size
            other = size
        """,
        ["3 size .size", "4 size .C.size"],
    ),
    "a comprehension's variable": (
        """
        def x(): ...
        a = [x for x in x()]
        b = {x: y for x in [1] for y in x}
        c = x
        """,
        ["2 x .x", "4 x .x"],
    ),
    "a walrus in a comprehension binds outside of it": (
        """
        def y(): ...
        def f(data):
            [y := x for x in data]
            return y
        """,
        [],
    ),
    "a walrus is evaluated before it binds": (
        """
        def y(): ...
        (z := y())
        """,
        ["2 y .y"],
    ),
    "lambda": (
        """
        def f(): ...
        g = lambda x, y=f: (x, y, f)
        """,
        ["2 f .f", "2 f .f"],
    ),
    "global makes it the module's": (
        """
        def f(): ...
        def g():
            global f
            return f
        """,
        ["4 f .f"],
    ),
    "global under a local of the same name": (
        """
        STATE = None
        def outer():
            STATE = 1
            def inner():
                global STATE
                STATE = 2
                return STATE
        """,
        ["7 STATE .STATE"],
    ),
    "nonlocal is a local": (
        """
        def count(): ...
        def outer():
            count = 0
            def inner():
                nonlocal count
                count += 1
                return count
        """,
        [],
    ),
    "for, with, except and del make locals": (
        """
        def a(): ...
        def b(): ...
        def c(): ...
        def d(): ...
        def f(x):
            for a, *b in x: a, b
            with x as (c, _): c
            try: ...
            except E as d: d
        """,
        [],
    ),
    "match captures": (
        """
        class Point: ...
        def x(): ...
        def rest(): ...
        def f(value):
            match value:
                case Point(x=0, y=[x, *others]): x
                case {"a": x, **rest}: rest
                case [1, 2] as x: x
        """,
        ["6 Point .Point"],
    ),
    "an imported module and what is in it": (
        """
        import torch.nn as nn
        from torch import Tensor as T
        def f(x: T): return nn.functional.relu(x)
        """,
        [
            "3 T torch.Tensor",
            "3 nn torch.nn",
            "3 functional torch.nn.functional",
            "3 relu torch.nn.functional.relu",
        ],
    ),
    "import a.b.c binds a": (
        """
        import a.b.c
        a.b.c.C
        """,
        ["2 a a", "2 b a.b", "2 c a.b.c", "2 C a.b.c.C"],
    ),
    "two imports below one package mean the same name": (
        "import a.b\nimport a.c\na.c.f",
        ["3 a a", "3 c a.c", "3 f a.c.f"],
    ),
    "an import inside a function": (
        """
        def load():
            from .data import read
            return read()
        def read(): ...
        """,
        ["3 read pkg.sub.data.read"],
    ),
    "an imported name that is assigned again": ("from a import f\nf = 1\nf", []),
    "an import that may fail": (
        """
        try:
            import numpy as np
        except ImportError:
            np = None
        np.array
        """,
        ["5 np numpy", "5 array numpy.array"],
    ),
    "an import from one of two places": (
        """
        try:
            from fast import f
        except ImportError:
            from slow import f
        f
        """,
        [],
    ),
    "variants of one definition": (
        """
        if A:
            def f(): ...
        elif B:
            def f(): ...
        else:
            f = None
        try:
            class C: ...
        except E:
            class C: ...
        f, C
        """,
        ["11 f .f", "11 C .C"],
    ),
    "a definition that replaces another": ("def f(): ...\ndef f(): ...\nf", []),
    "a body that is not excluded by its branch": ("if A:\n    def f(): ...\ndef f(): ...\nf", []),
    "overloads and setters refine a definition": (
        """
        @overload
        def f(x: int): ...
        @overload
        def f(x: str): ...
        def f(x): ...
        f
        """,
        ["6 f .f"],
    ),
    "a definition that is wrapped": ("def f(): ...\nf = cache(f)\nf", ["2 f .f", "3 f .f"]),
    "data of the module": (
        """
        LIMIT: int
        LIMIT = 3
        LIMIT += 1
        def f(): return LIMIT
        """,
        ["4 LIMIT .LIMIT"],
    ),
    "data that changes": ("x = 1\nx = 2\nx", []),
    "loop variables of the module": ("for item in []: item", []),
    "read before it is bound is somebody else's": (
        """
        print = print
        print
        """,
        ["2 print .print"],
    ),
    "annotations may look ahead": (
        """
        def f(x: Model) -> Model: ...
        class Node:
            next: Node
            other: Model = 1
        class Model: ...
        """,
        ["1 Model .Model", "1 Model .Model", "3 Node .Node", "4 Model .Model"],
    ),
    "self and cls": (
        """
        class Model:
            def forward(self, x): return self.scores(x)
            def scores(self, x): return [self.forward(y) for y in x]
            @classmethod
            def make(cls): return cls.load(lambda self: self.scores)
            @staticmethod
            def load(self): self.scores
        """,
        ["2 scores .Model.scores", "3 forward .Model.forward", "5 load .Model.load"],
    ),
    "self.data is data, even where it is called like a method of a base": (
        """
        class Model(Base):
            def __init__(self): self.mask = 1
            def forward(self): return self.mask
        """,
        [],
    ),
    "a property that is assigned": (
        """
        class C:
            @property
            def size(self): return self._size
            @size.setter
            def size(self, value): self._size = value
            def grow(self):
                self.size = 1
                return self.size
        """,
        ["4 size .C.size", "4 setter .C.size.setter", "8 size .C.size"],
    ),
    "self that was assigned": ("class C:\n    def f(self):\n        self = 1\n        self.f", []),
    "the method of a base": (
        """
        class A:
            class B:
                def f(self):
                    super().f
                    return [super(A, self).g for _ in []]
        """,
        ["4 f .A.B.super().f", "5 A .A", "5 g .A.super().g"],
    ),
    "a method through its class": (
        "class C:\n    def f(self): ...\nC.f(C())",
        ["3 C .C", "3 f .C.f", "3 C .C"],
    ),
    "what a call returns is unknown": ("import a\na.f().g", ["2 a a", "2 f a.f"]),
    "private names inside a class are another name": (
        """
        def __f(): ...
        __f
        class C:
            def g(self): __f
        """,
        ["2 __f .__f"],
    ),
    "the class itself": ("__class__ = 1\nclass C:\n    def f(self): return __class__", []),
    "assigning to a member reads its owner": ("import a\na.b.c = 1\ndel a.d", ["2 a a", "2 b a.b", "3 a a"]),
    "a star may have brought it": (
        """
        from .other import *
        def f(y): return helper, f, y
        """,
        ["2 helper .helper", "2 f .f"],
    ),
    "builtins": ("def f(): return len(range(3)), int", []),
    "a chain over several lines": (
        """
        import torch
        x = (torch
             .nn   # here
             .
             Linear)
        """,
        ["2 torch torch", "3 nn torch.nn", "5 Linear torch.nn.Linear"],
    ),
    "letters of several bytes before the name": (
        """
        import torch
        é, 変数 = "日本語 🎉", torch.nn
        print("🎉🎉", torch . nn, f"é{torch!r:>{torch.size}}")
        """,
        [
            "2 torch torch",
            "2 nn torch.nn",
            "3 torch torch",
            "3 nn torch.nn",
            "3 torch torch",
            "3 torch torch",
            "3 size torch.size",
        ],
    ),
    "f-strings over several lines": (
        '''
        import torch
        x = f"""é {
            torch.nn} {torch
            .size}"""
        ''',
        ["3 torch torch", "3 nn torch.nn", "3 torch torch", "4 size torch.size"],
    ),
    "identifiers in another alphabet": ("class 変数: ...\nx = 変数()", ["2 変数 .変数"]),
}


@pytest.mark.parametrize("case", CASES)
def test_every_identifier_means_what_python_takes_it_for(case: str) -> None:
    source, expected = CASES[case]
    assert meanings(source) == expected


NEWER_CASES = {
    "type parameters hide the module's names": (
        """
        class T: ...
        def f[T](x: T) -> T: return T
        class C[T](Base[T]):
            y: T
        type A[T] = list[T]
        T
        """,
        ["6 T .T"],
    ),
    "decorators and defaults stand outside of the type parameters": (
        """
        def T(): ...
        @T
        def f[T](x=T): ...
        """,
        ["2 T .T", "3 T .T"],
    ),
    "an alias may look ahead": ("type A = list[B]\nclass B: ...\nA", ["1 B .B", "3 A .A"]),
    "a generic method sees the names of its class in its annotations": (
        """
        class C:
            class Inner: ...
            def f[T](self, x: Inner) -> T: return Inner
        """,
        ["3 Inner .C.Inner"],
    ),
}


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters are syntax of Python 3.12")
@pytest.mark.parametrize("case", NEWER_CASES)
def test_type_parameters_have_a_scope_of_their_own(case: str) -> None:
    source, expected = NEWER_CASES[case]
    assert meanings(source) == expected


def import_places(source: str, module: str = MODULE, is_package: bool = False) -> list[tuple[int, int, str]]:
    return [(r.line, r.column, r.target) for r in analysed(source, module, is_package).references]


def test_every_part_of_an_import_is_a_reference() -> None:
    source = "import a.b.c as d, e\nfrom torch.nn import (\n    Linear as L,\n    Module)\n"
    assert import_places(source) == [
        (1, 8, "a"),
        (1, 10, "a.b"),
        (1, 12, "a.b.c"),
        (1, 20, "e"),
        (2, 6, "torch"),
        (2, 12, "torch.nn"),
        (3, 5, "torch.nn.Linear"),
        (4, 5, "torch.nn.Module"),
    ]


def test_an_import_may_go_on_over_a_backslash() -> None:
    source = "é = 1; from \\\n  . \\\n a . b import \\\n c\n"
    assert import_places(source) == [(3, 2, "pkg.sub.a"), (3, 6, "pkg.sub.a.b"), (4, 2, "pkg.sub.a.b.c")]


@pytest.mark.parametrize(
    ("statement", "module", "is_package", "target"),
    [
        ("from .x import f", "pkg.sub.mod", False, "pkg.sub.x.f"),
        ("from ..x import f", "pkg.sub.mod", False, "pkg.x.f"),
        ("from . import f", "pkg.sub.mod", False, "pkg.sub.f"),
        ("from .. import f", "pkg.sub.mod", False, "pkg.f"),
        ("from .x import f", "pkg.sub", True, "pkg.sub.x.f"),
        ("from ..x import f", "pkg.sub", True, "pkg.x.f"),
        ("from . import f", "pkg", True, "pkg.f"),
        ("from ... import f", "a.b.c.d", False, "a.f"),
    ],
)
def test_relative_imports_are_made_absolute(
    statement: str, module: str, is_package: bool, target: str
) -> None:
    found = analysed(f"{statement}\nf", module, is_package)
    assert found.references[-1].target == target
    assert found.imports == (target,)
    assert found.exports == (("f", target),)


@pytest.mark.parametrize(("module", "is_package"), [("pkg.mod", False), ("pkg", True), ("mod", False)])
def test_a_relative_import_that_leaves_the_package_means_nothing(module: str, is_package: bool) -> None:
    assert analysed("from ...x import f\nfrom ... import *\nf", module, is_package) == names.Names(
        (), (), (), ()
    )


def test_exports_are_what_imports_bind_at_module_level() -> None:
    found = analysed(
        """
        from __future__ import annotations
        import a.b
        import a.c as c
        from .x import f as g
        from y import *
        from .z import *
        try: from fast import h
        except ImportError: h = None
        def local(): from w import i
        from v import twice
        twice = 2
        """
    )
    assert found.exports == (
        ("a", "a"),
        ("c", "a.c"),
        ("g", "pkg.sub.x.f"),
        ("h", "fast.h"),
        ("*", "y"),
        ("*", "pkg.sub.z"),
    )
    assert found.imports == (
        "__future__.annotations",
        "a.b",
        "a.c",
        "pkg.sub.x.f",
        "y",
        "pkg.sub.z",
        "fast.h",
        "w.i",
        "v.twice",
    )


def test_bases_are_named_in_full() -> None:
    found = analysed(
        """
        from torch import nn
        class A(nn.Module, Generic[T]): ...
        class B(A, make()):
            class C(A): ...
        def f():
            class D(B.C[int], metaclass=M): ...
        """
    )
    assert found.bases == (
        ("A", ("torch.nn.Module",)),
        ("B", (f"{MODULE}.A",)),
        ("B.C", (f"{MODULE}.A",)),
        ("f.D", (f"{MODULE}.B.C",)),
    )


def test_what_is_bound_only_under_global_belongs_to_the_module() -> None:
    source = """
        def load():
            global np, STATE
            import numpy as np
            STATE = 1
        def use(): return np.array, STATE
        """
    assert meanings(source) == ["5 np numpy", "5 array numpy.array", "5 STATE .STATE"]


def test_a_tree_deeper_than_the_call_stack_is_read() -> None:
    deep: ast.expr = ast.Name("f", ast.Load(), lineno=2, col_offset=0, end_lineno=2, end_col_offset=1)
    for _ in range(30_000):
        deep = ast.BinOp(deep, ast.Add(), ast.Constant(1), lineno=2, col_offset=0)
    tree = ast.parse("def f(): ...\n")
    tree.body.append(ast.Expr(deep))
    found = names.analyse(tree, ["def f(): ...\n", "f\n"], MODULE, False)
    assert [r.target for r in found.references] == [f"{MODULE}.f"]


def test_a_long_chain_of_members_is_followed_only_so_far() -> None:
    source = "import a\n" + "a" + ".b" * 2_000 + "\n"
    found = analysed(source)
    assert len(found.references) == 2 + names.MEMBERS_AT_MOST
