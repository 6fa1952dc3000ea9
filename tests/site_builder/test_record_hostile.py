"""Code and objects that a tracer easily disturbs, or that easily disturb a tracer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.site_builder.recording import Seen, record, write

OBJECTS = '''
"""
>>> use(Nasty(), Liar(), Chatty([1, 2]), Whole(3), Text("ab"), Odd(a=1), {Key(): 1})
>>> holder = Holder()
>>> holder.calls
0
>>> big(10**5000, float("nan"), -0.0)
"""

import enum


class Nasty:
    def refuse(self, *_):
        raise SystemExit("an object was touched")

    __getattribute__ = __repr__ = __eq__ = __len__ = __bool__ = __hash__ = __iter__ = refuse


class Liar:
    __class__ = property(Nasty.refuse)


class Chatty(list):
    __len__ = __iter__ = __repr__ = __getitem__ = Nasty.__dict__["refuse"]


class Whole(int):
    __repr__ = __str__ = __eq__ = __hash__ = __format__ = Nasty.__dict__["refuse"]


class Text(str):
    __repr__ = __str__ = __eq__ = __hash__ = __getitem__ = Nasty.__dict__["refuse"]


class Odd(dict):
    __len__ = __iter__ = items = keys = Nasty.__dict__["refuse"]


class Key:
    __repr__ = __eq__ = Nasty.__dict__["refuse"]

    def __hash__(self):
        return 1


class Color(enum.Enum):
    RED = 1
    __str__ = __repr__ = Nasty.__dict__["refuse"]


def use(*things):
    nasty, liar, chatty, whole, text, odd, keyed = things
    color = Color.RED


class Holder:
    __slots__ = ("calls", "held")

    def __init__(self):
        self.calls = 0
        self.size = 3

    @property
    def size(self):
        self.calls += 1
        return self.held

    @size.setter
    def size(self, value):
        self.held = value


def big(huge, nan, zero):
    one = huge
    two = nan
    three = zero
'''

FLOW = '''
"""
>>> chosen(0), chosen(3)
(5, 6)
>>> final()
Traceback (most recent call last):
ValueError: x
>>> rounds(), tries(), breaks()
(3, 3, 2)
>>> doubled(3), outer(2)(3), Inner().go()
(6, 5, 4)
>>> with forgiving() as forgiven:
...     raise KeyError
>>> asyncio.run(gathered())
[0, 1]
>>> factorial(4)
24
>>> deep(10**5)
'deep'
>>> shallow()
1
>>> deleted()
True
"""

import asyncio
import contextlib
import functools
import weakref

fallback = "a global of that name"


def chosen(n):
    y = 5
    if n and (y := n * 2):
        return y
    if n and (fallback := n):
        pass
    return y


def final():
    try:
        raise ValueError("x")
    finally:
        cleaned = True


def rounds():
    n = 0
    while True:
        if n < 3:
            n += 1
        else:
            return n


def tries():
    n = 0
    while True:
        try:
            n += 1
            if n == 3: return n
        except ValueError:
            pass


def breaks():
    n = 0
    while True:
        for step in (1, 2):
            n += step
            break
        if n == 2: return n


def twice(f):
    @functools.wraps(f)
    def wrapper(*args):
        result = f(*args)
        return 2 * result
    return wrapper


@twice
def doubled(x):
    inside = x
    return inside


def outer(a):
    total = 0
    def inner(b):
        nonlocal total
        total = a + b
        return total
    return inner


def make():
    class Local:
        def go(self):
            four = 4
            return four
    return Local


Inner = make()


@contextlib.contextmanager
def forgiving():
    try:
        yield
    except KeyError as error:
        kind = type(error).__name__


async def ticks():
    for i in range(2):
        await asyncio.sleep(0)
        yield i


async def gathered():
    found = []
    async for tick in ticks():
        found = [*found, tick]
    return found


def factorial(n):
    if n == 0: return 1
    product = n * factorial(n - 1)
    return product


def deep(n):
    def go(k):
        return go(k - 1) + 1 if k else 0
    try:
        go(n)
    except RecursionError:
        return "deep"


def shallow():
    back = 1
    return back


def deleted():
    class_ = type("Class", (), {})
    thing = class_()
    reference = weakref.ref(thing)
    del thing
    return reference() is None
'''

STATES = '''
"""
>>> import sys, os, random, warnings, io, threading
>>> sys.settrace(lambda *_: None); threading.settrace(None)
>>> sys.stdout = io.StringIO()
>>> print(f(1))
1
>>> os.mkdir("gone"); os.chdir("gone"); os.rmdir("../gone")
>>> random.seed(9); warnings.simplefilter("error"); os.environ.clear()
>>> f(2)
2
>>> hex(0xFFFFFF)
'0xffffff'
"""

def f(n):
    """
    >>> f(3)
    3
    """
    m = n
    return m
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    places = '"""\n>>> place()\n"""\n\n\ndef place():\n    path = __file__\n'
    return write(folder, objects=OBJECTS, flow=FLOW, states=STATES, places=places, json=places)


@pytest.fixture(scope="module")
def seen(folder: Path) -> dict[str, Seen]:
    recorded = record(folder)
    assert recorded.diagnostics == ()
    return {url.removesuffix(".html"): Seen(folder, url, found) for url, found in recorded.records.items()}


def test_nothing_of_an_author_s_object_is_run_to_tell_of_it(seen: dict[str, Seen]) -> None:
    writes = {write.name: write.values[0] for write in seen["objects"].statement("nasty, liar").writes}
    assert writes["nasty"].type == "pkg.objects.Nasty"
    assert writes["liar"].type == "pkg.objects.Liar"
    assert [item.text for item in writes["chatty"].items] == ["1", "2"]
    assert (writes["whole"].text, writes["text"].text) == ("3", "'ab'")
    assert (writes["odd"].names, writes["odd"].items[0].text) == (("'a'",), "1")
    assert writes["keyed"].names == ("pkg.objects.Key",)
    assert seen["objects"].writes("color = ") == {"color": ["Color.RED"]}


def test_a_property_is_not_asked_for_what_was_written_to_it(seen: dict[str, Seen]) -> None:
    assert seen["objects"].runs("self.calls += 1") == 0
    assert seen["objects"].writes("self.size = ") == {}
    assert seen["objects"].writes("self.held = ") == {"self.held": ["3"]}, (
        "though it has a slot and no dictionary"
    )


def test_numbers_that_python_cannot_print_or_compare_are_told(seen: dict[str, Seen]) -> None:
    assert seen["objects"].writes("one = ") == {"one": ["int"]}
    assert seen["objects"].writes("two = ") == {"two": ["nan"]}
    assert seen["objects"].writes("three = ") == {"three": ["-0.0"]}


def test_a_name_is_written_only_where_its_expression_was_come_to(seen: dict[str, Seen]) -> None:
    assert seen["flow"].runs("if n and (y") == 2
    assert seen["flow"].writes("if n and (y") == {"y": ["6"]}
    assert seen["flow"].writes("if n and (fallback") == {}


def test_what_a_finally_writes_while_an_exception_passes_is_seen(seen: dict[str, Seen]) -> None:
    assert seen["flow"].writes("cleaned") == {"cleaned": ["True"]}


def test_every_round_of_a_loop_without_a_test_runs_what_stands_first_in_it(seen: dict[str, Seen]) -> None:
    assert seen["flow"].runs("if n < 3") == 4
    assert seen["flow"].runs("if n == 3") == 3
    assert seen["flow"].runs("for step in") == 2


@pytest.mark.parametrize(
    ("source", "written"),
    [
        ("result = ", {"result": ["3"]}),
        ("inside = ", {"inside": ["3"]}),
        ("total = a", {"total": ["5"]}),
        ("four", {"four": ["4"]}),
        ("kind", {"kind": ["'KeyError'"]}),
        ("async for", {"tick": ["0", "1"]}),
        ("product", {"product": ["1", "2", "6", "24"]}),
        ("back", {"back": ["1"]}),
    ],
)
def test_whatever_calls_it_a_statement_is_seen(
    seen: dict[str, Seen], source: str, written: dict[str, list[str]]
) -> None:
    assert seen["flow"].writes(source) == written


def test_what_examples_do_to_their_process_does_not_end_the_recording(seen: dict[str, Seen]) -> None:
    assert seen["states"].writes("m = n") == {"m": ["1", "2", "3"]}
    assert seen["states"].record.examples[-2].output == "'0xffffff'\n", "a number is no address"


def test_where_the_package_lies_is_not_told(seen: dict[str, Seen]) -> None:
    assert seen["places"].writes("path = ") == {"path": ["'pkg/places.py'"]}
    assert seen["json"].writes("path = ") == {"path": ["'pkg/json.py'"]}


def test_a_record_is_the_same_wherever_and_however_it_is_made(
    folder: Path, seen: dict[str, Seen], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.chdir(tmp_path)
    other = tmp_path / "another" / "place"
    other.mkdir(parents=True)
    (other / "pkg").symlink_to(folder / "pkg")
    again = record(other / ".." / "place", jobs=2)
    assert {url.removesuffix(".html"): found.to_bytes() for url, found in again.records.items()} == {
        name: one.record.to_bytes() for name, one in seen.items()
    }


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("return 1\n", "module-import this module cannot be imported"),
        ("from pkg import torn\n", "module-import this module cannot be imported"),
    ],
)
def test_what_only_the_compiler_refuses_is_a_fault_of_the_module(
    tmp_path: Path, text: str, says: str
) -> None:
    write(tmp_path, page=f'"""\n>>> 1\n1\n"""\n{text}')
    (tmp_path / "pkg" / "torn.py").write_text("def (:\n", "utf-8")
    (fault,) = record(tmp_path, "page").diagnostics
    assert f"{fault.code} {fault.message}".startswith(says)
    assert "SyntaxError" in fault.message


def test_packages_without_an_init_and_relative_imports_are_found(tmp_path: Path) -> None:
    inner = write(tmp_path) / "pkg" / "inner"
    inner.mkdir()
    (inner / "deep.py").write_text(
        '"""\n>>> from ..base import two\n>>> f() + two\n3\n"""\n\n\ndef f():\n    return 1\n'
    )
    (inner.parent / "base.py").write_text("two = 2\n\nif __name__ == '__main__':\n    raise SystemExit\n")
    recorded = record(tmp_path)
    assert recorded.diagnostics == ()
    assert list(recorded.records) == ["inner/deep.html"]


def test_frames_are_told_by_their_columns(tmp_path: Path) -> None:
    fake = (
        "class DataFrame:\n    shape = (3, 2)\n    columns = ['a', 'b']\n    dtypes = ['int64', 'float64']\n"
    )
    (tmp_path / "pandas.py").write_text(fake, "utf-8")
    text = '"""\n>>> f()\n"""\nimport pandas\n\n\ndef f():\n    frame = pandas.DataFrame()\n'
    write(tmp_path, page=text)
    found = Seen(tmp_path, "page.html", record(tmp_path).records["page.html"])
    (frame,) = found.statement("frame").writes[0].values
    assert (frame.kind, frame.shape, frame.names) == ("frame", (3, 2), ("a", "b"))
    assert [item.text for item in frame.items] == ["int64", "float64"]


def test_a_function_called_very_often_in_many_ways_is_counted_to_the_end(tmp_path: Path) -> None:
    text = '"""\n>>> for i in range(3000): f(i)\n"""\n\n\ndef f(i):\n    j = i + 1\n'
    write(tmp_path, page=text)
    found = Seen(tmp_path, "page.html", record(tmp_path).records["page.html"])
    assert (found.function("f").times, found.function("f").more) == (3000, True)
    (write_,) = found.statement("j = ").writes
    assert (found.runs("j = "), len(write_.values), write_.more) == (3000, 12, True)


def test_a_call_says_which_names_had_more_values_than_it_tells(tmp_path: Path) -> None:
    text = '"""\n>>> for n in (4, 5): f(n)\n"""\n\n\ndef f(n):\n    for i in range(n):\n        j = i % 4\n'
    write(tmp_path, page=text)
    found = Seen(tmp_path, "page.html", record(tmp_path).records["page.html"])
    assert [call.lacking for call in found.function("f").calls] == [(), ("i",)]


def test_what_differs_after_many_calls_that_were_alike_is_seen(tmp_path: Path) -> None:
    text = '"""\n>>> for _ in range(1000): f(1)\n>>> f(2)\n"""\n\n\ndef f(i):\n    j = i + 1\n'
    write(tmp_path, page=text)
    found = Seen(tmp_path, "page.html", record(tmp_path).records["page.html"])
    assert [(call.arguments[0].value.text, call.times) for call in found.function("f").calls] == [
        ("1", 1000),
        ("2", 1),
    ]
    assert found.writes("j = ") == {"j": ["2", "3"]}
    assert found.runs("j = ") == 1001
