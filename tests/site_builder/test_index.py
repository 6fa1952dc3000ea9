"""What names mean across pages, and where each page stands among the others."""

from __future__ import annotations

import pickle
import time
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from site_builder import index
from site_builder.model import Page, SourceFile
from site_builder.parse import parse


def page(
    module: str, text: str = "", *, root: str = "pkg", package: bool | None = None, url: str = ""
) -> Page:
    """The page of a module; a name that ends in `.` is a package."""
    is_package = module.endswith(".") if package is None else package
    module = module.rstrip(".")
    path = "/".join(module.split(".")[1:] if module.partition(".")[0] == root else module.split("."))
    address = url or (f"{path}/index.html".lstrip("/") if is_package else f"{path}.html")
    file = f"{module.replace('.', '/')}{'/__init__' if is_package else ''}.py"
    return parse(SourceFile(file, file, module, address, is_package), text.encode())


def site(**modules: str) -> index.Index:
    """A package `pkg`: names with `__` for dots, and `_` at the end for a package."""
    pages = [
        page(
            f"pkg.{name.rstrip('_').replace('__', '.')}{'.' if name.endswith('_') else ''}".replace(
                "pkg.home", "pkg"
            ),
            text,
        )
        for name, text in modules.items()
    ]
    return index.build(pages)


def place(found: index.Target | None) -> str | None:
    return f"{found.url}#{found.anchor}" if found else None


ATTENTION = '''
"""# Attention"""
import math

LIMIT = 3


class Attention:
    """A class."""

    def forward(self):
        """A method."""

    class Inner:
        """Inside."""

        def deep(self):
            """Deep."""


def loss():
    """A function."""
'''


@pytest.mark.parametrize(
    ("dotted", "expected", "title"),
    [
        ("pkg", "index.html#", "pkg"),
        ("pkg.mha", "mha.html#", "pkg.mha"),
        ("pkg.mha.Attention", "mha.html#Attention", "pkg.mha.Attention"),
        ("pkg.mha.Attention.forward", "mha.html#Attention.forward", "pkg.mha.Attention.forward"),
        ("pkg.mha.Attention.Inner.deep", "mha.html#Attention.Inner.deep", "pkg.mha.Attention.Inner.deep"),
        ("pkg.mha.loss", "mha.html#loss", "pkg.mha.loss"),
    ],
)
def test_a_dotted_name_leads_to_the_section_that_shows_it(dotted: str, expected: str, title: str) -> None:
    found = site(home_="", mha=ATTENTION).resolve(dotted)
    assert (place(found), found.title if found else "") == (expected, title)


def test_data_leads_to_the_section_that_it_opens_else_to_its_line() -> None:
    tree = site(home_="", data="import os\nOTHER = 1\n\n# How many.\nLIMIT = 3\nLEAST = 1\n")
    assert place(tree.resolve("pkg.data.OTHER")) == "data.html#L2"
    assert place(tree.resolve("pkg.data.LIMIT")) == "data.html#module:LIMIT"
    assert place(tree.resolve("pkg.data.LEAST")) == "data.html#L6"


@pytest.mark.parametrize(
    "dotted",
    [
        "",
        ".",
        "pkg.",
        "pkg..mha",
        "torch",
        "pkg.other",
        "pkg.mha.Attention.x",
        "pkg.mha.loss.x",
        "pkg.mha.math.sqrt",
        "mha",
    ],
)
def test_what_the_site_does_not_show_is_not_found(dotted: str) -> None:
    assert site(home_="", mha=ATTENTION).resolve(dotted) is None


def test_a_name_is_followed_through_packages_that_export_it() -> None:
    tree = site(
        home_="from .layers import Attention as Attend, mha",
        layers_="from pkg.layers.mha import Attention",
        layers__mha=ATTENTION,
    )
    for dotted in ("pkg.Attend.forward", "pkg.layers.Attention.forward", "pkg.mha.Attention.forward"):
        assert place(tree.resolve(dotted)) == "layers/mha.html#Attention.forward", dotted
    assert place(tree.resolve("pkg.mha")) == "layers/mha.html#"


def test_packages_that_import_each_other_in_a_circle_end_the_search() -> None:
    tree = site(
        home_="from .a import x, f", a="from .b import x, f", b="from .a import x, f\nfrom pkg import *"
    )
    assert tree.resolve("pkg.x") is None
    assert tree.resolve("pkg.b.y") is None


def test_stars_are_searched_the_last_first_and_private_names_stay_at_home() -> None:
    tree = site(
        home_="from .a import *\nfrom .b import *\nfrom . import *",
        a="def f():\n    '''f'''\ndef only():\n    '''only'''\ndef _hidden():\n    '''hidden'''",
        b="from .c import *\ndef g():\n    '''g'''",
        c="def f():\n    '''f'''",
    )
    assert place(tree.resolve("pkg.f")) == "c.html#f"
    assert place(tree.resolve("pkg.only")) == "a.html#only"
    assert tree.resolve("pkg._hidden") is None
    assert tree.resolve("pkg.nothing") is None


def test_what_a_module_defines_hides_what_a_star_brings() -> None:
    tree = site(home_="", a="from .b import *\nf = 1", b="def f():\n    '''f'''")
    found = tree.resolve("pkg.a.f")
    assert found is not None
    assert found.url == "a.html"


HIERARCHY = {
    "base": (
        "class Base:\n    def run(self):\n        'r'\n    def stop(self):\n        's'\n"
        "    def only(self):\n        'o'\n"
    ),
    "left": "from .base import Base\nclass Left(Base):\n    def stop(self):\n        's'\n",
    "right": "from . import base\nclass Right(base.Base):\n    def run(self):\n        'r'\n",
    "child": (
        "from .left import Left\nfrom pkg.right import Right as R\n"
        "class Child(Left, R):\n    def stop(self):\n        'c'\n        super().stop()\n        self.run()\n"
    ),
}


@pytest.mark.parametrize(
    ("dotted", "expected"),
    [
        ("pkg.child.Child.stop", "child.html#Child.stop"),
        ("pkg.child.Child.run", "right.html#Right.run"),
        ("pkg.child.Child.only", "base.html#Base.only"),
        ("pkg.child.Child.super().stop", "left.html#Left.stop"),
        ("pkg.child.Child.super().run", "right.html#Right.run"),
        ("pkg.base.Base.super().run", None),
        ("pkg.child.Child.missing", None),
    ],
)
def test_methods_are_inherited_in_pythons_order(dotted: str, expected: str | None) -> None:
    assert place(site(home_="", **HIERARCHY).resolve(dotted)) == expected


def test_the_references_of_a_page_lead_through_base_classes() -> None:
    tree = site(home_="", **HIERARCHY)
    child = page("pkg.child", HIERARCHY["child"])
    found = {(r.line, place(tree.resolve(r.target))) for r in child.references}
    assert {
        (6, "left.html#Left.stop"),
        (7, "right.html#Right.run"),
        (3, "left.html#Left"),
        (3, "right.html#Right"),
    } <= found


def test_a_part_of_a_package_that_is_not_on_the_site_ends_the_search() -> None:
    built = site(
        home_="from pkg.gone import *\nfrom pkg.lost import lost\nfrom pkg.one import *",
        one="from pkg.missing import *\nfrom pkg import thing\n",
    )
    for name in ("pkg.nothing", "pkg.lost", "pkg.one.nothing", "pkg.one.thing", "pkg.gone.nothing"):
        assert built.resolve(name) is None


def test_a_name_may_make_a_detour_through_a_module_that_is_no_page() -> None:
    built = site(home_="import pkg.posix as path\nfrom pkg.path import curdir", posix="curdir = 1")
    assert place(built.resolve("pkg.curdir")) == "posix.html#module:curdir"


def test_classes_that_are_their_own_bases_end_the_search() -> None:
    tree = site(
        home_="",
        a="from .b import B\nclass A(B): ...\nclass Me(Me.Inner, Me): ...",
        b="from .a import A\nclass B(A): ...",
    )
    assert tree.resolve("pkg.a.A.f") is None
    assert tree.resolve("pkg.a.Me.f") is None


def test_a_tower_of_diamonds_is_searched_once() -> None:
    lines = ["class L0: ...", "class R0: ..."]
    lines += [
        f"class L{n}(L{n - 1}, R{n - 1}): ...\nclass R{n}(L{n - 1}, R{n - 1}): ..." for n in range(1, 300)
    ]
    tree = site(home_="", tower="\n".join(lines))
    assert tree.resolve("pkg.tower.L299.missing") is None


# ---- order


def test_pages_are_read_home_first_and_depth_first_by_order_and_then_by_name() -> None:
    tree = index.build(
        [
            page("pkg.zebra"),
            page("pkg.Beta"),
            page("pkg.alpha"),
            page("pkg.deep.inner", "'''text'''"),
            page("pkg.deep."),
            page("pkg.", "'''\n---\norder: [zebra, deep]\n---\n'''"),
            page("pkg.deep.more.leaf"),
        ]
    )
    assert tree.diagnostics == ()
    assert tree.order == (
        "index.html",
        "zebra.html",
        "deep/index.html",
        "deep/inner.html",
        "deep/more/leaf.html",
        "alpha.html",
        "Beta.html",
    )
    assert tree.children("index.html") == ("zebra.html", "deep/index.html", "alpha.html", "Beta.html")
    assert tree.siblings("alpha.html") == tree.children("index.html")
    assert tree.ancestors("deep/more/leaf.html") == ("index.html", "deep/index.html")
    assert tree.parent("deep/more/leaf.html") == "deep/index.html"
    assert tree.parent("index.html") is None
    assert (tree.previous("index.html"), tree.next("index.html")) == (None, "zebra.html")
    assert (tree.previous("Beta.html"), tree.next("Beta.html")) == ("alpha.html", None)


def test_previous_and_next_are_each_others_reverse() -> None:
    tree = site(home_="", a="", b_="", b__c="", b__d_="", b__d__e="", f="")
    for here, there in zip(tree.order, tree.order[1:], strict=False):
        assert (tree.next(here), tree.previous(there)) == (there, here)


def test_without_a_home_page_the_top_pages_are_each_others_siblings() -> None:
    tree = index.build([page("b"), page("a"), page("c.", "")])
    assert tree.order == ("a.html", "b.html", "c/index.html")
    assert tree.siblings("b.html") == tree.order
    assert tree.parent("b.html") is None


def test_an_unknown_url_has_no_place() -> None:
    tree = site(home_="")
    assert tree.card("x.html") is None
    assert [tree.parent("x.html"), tree.previous("x.html"), tree.next("x.html")] == [None, None, None]
    assert tree.children("x.html") == tree.siblings("x.html") == tree.ancestors("x.html") == ()


def test_a_name_in_order_that_is_no_child_is_reported_where_it_stands() -> None:
    tree = site(home_="'''\n---\ntitle: T\norder: [mah, utils]\n---\n'''", mha="", utils="")
    (fault,) = tree.diagnostics
    assert str(fault) == (
        "pkg/__init__.py:4:1: front-value order names 'mah', but there is no such page below this one"
        " — did you mean 'mha'?"
    )


# ---- addresses


def test_of_two_sources_for_one_url_the_first_is_taken() -> None:
    first, second = page("pkg.guide", "ONE = 1"), page("pkg.guide", "TWO = 2")
    tree = index.build([first, second])
    assert tree.card("guide.html") == index.Card.of(first) != index.Card.of(second)
    (fault,) = tree.diagnostics
    assert (fault.code, fault.line, fault.column) == ("url-conflict", 1, 1)
    assert "pkg/guide.py" in fault.message


def test_a_package_named_like_a_language_is_reported_and_left_out() -> None:
    tree = index.build(
        [page("pkg."), page("pkg.ja."), page("pkg.ja.x"), page("pkg.jar"), page("pkg.fr")], ["ja", "fr"]
    )
    assert tree.order == ("index.html", "fr.html", "jar.html")
    assert [(fault.code, fault.path) for fault in tree.diagnostics] == [
        ("url-conflict", "pkg/ja/__init__.py"),
        ("url-conflict", "pkg/ja/x.py"),
    ]


def test_an_old_url_that_is_taken_is_reported_where_it_stands() -> None:
    front = "'''\n---\nredirect_from: [{}]\n---\n'''"
    tree = site(home_="", a=front.format("old.html, b.html"), b=front.format("old.html, free.html"))
    assert [(f.path, f.line, f.column, f.code) for f in tree.diagnostics] == [
        ("pkg/a.py", 3, 1, "url-conflict"),
        ("pkg/b.py", 3, 1, "url-conflict"),
    ]
    assert "b.html is the page made from pkg/b.py" in tree.diagnostics[0].message
    assert "old.html is already redirected by pkg/a.py" in tree.diagnostics[1].message


@pytest.mark.parametrize(
    ("here", "there", "anchor", "expected"),
    [
        ("index.html", "index.html", "", "index.html"),
        ("a/b.html", "a/b.html", "", "b.html"),
        ("a/b.html", "a/b.html", "C.forward:scores", "#C.forward:scores"),
        ("a/b.html", "a/c.html", "C.forward:x-2", "c.html#C.forward:x-2"),
        ("a/b.html", "index.html", "", "../index.html"),
        ("index.html", "a/b/index.html", "", "a/b/index.html"),
        ("a/b/c.html", "d/e.html", "L12", "../../d/e.html#L12"),
        ("a.html", "日本語/頁 1.html", "節", "%E6%97%A5%E6%9C%AC%E8%AA%9E/%E9%A0%81%201.html#%E7%AF%80"),
        ("日本語/x.html", "日本語/y.html", "", "y.html"),
        ("a.html", "b:c.html", "", "b%3Ac.html"),
        ("a.html", "b#?%.html", 'a b"<>', "b%23%3F%25.html#a%20b%22%3C%3E"),
        ("a.html", "bad\udcff.html", "", "bad%FF.html"),
    ],
)
def test_links_are_relative_and_percent_encoded(here: str, there: str, anchor: str, expected: str) -> None:
    assert index.href(here, there, anchor) == expected


SEGMENT = st.text(
    st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=6
).filter(lambda text: text not in (".", ".."))
URL = st.lists(SEGMENT, min_size=1, max_size=4).map(lambda parts: "/".join(parts) + ".html")


@given(URL, URL, st.text(st.characters(exclude_categories=["Cs"]), max_size=6))
def test_a_browser_that_follows_the_link_arrives(here: str, there: str, anchor: str) -> None:
    base = "file:///site/folder/" + index.href("x.html", here)
    arrived = urlsplit(urljoin(base, index.href(here, there, anchor)))
    assert unquote(arrived.path) == f"/site/folder/{there}"
    assert unquote(arrived.fragment) == anchor


# ---- size


def test_the_index_travels_to_another_process() -> None:
    tree = pickle.loads(pickle.dumps(site(home_="", mha=ATTENTION)))
    assert place(tree.resolve("pkg.mha.loss")) == "mha.html#loss"


@pytest.mark.exhaustive
def test_eight_times_the_pages_take_about_eight_times_as_long() -> None:
    def pages(count: int) -> list[Page]:
        made = [page("pkg.")]
        for number in range(count):
            before = f"from .m{number - 1} import *\n" if number % 20 else ""
            made.append(page(f"pkg.m{number}", f"{before}class C{number}:\n    def f(self): ...\n"))
        return made

    def seconds(made: list[Page]) -> float:
        start = time.process_time()
        tree = index.build(made)
        for url in tree.order:
            tree.siblings(url), tree.ancestors(url), tree.next(url)
        for number in range(len(made) - 1):
            assert tree.resolve(f"pkg.m{number}.C{number - number % 20}.f") is not None
        return time.process_time() - start

    few, many = pages(40), pages(320)
    assert min(seconds(many) for _ in range(3)) < 20 * min(seconds(few) for _ in range(3))
