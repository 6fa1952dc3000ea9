"""What is recorded of plain Python, each page by the real process."""

from __future__ import annotations

from pathlib import Path

import pytest

from site_builder.config import Config, load
from site_builder.discover import discover
from site_builder.errors import SiteError
from site_builder.parse import parse
from site_builder.record import Limits, Outline
from site_builder.record.model import MODULE, Record, Value
from tests.site_builder.recording import Seen, record, record_pages, write

SOURCE = '''
"""
# Everything

>>> scale([4.0, 6.0], 2)
[2.0, 3.0]
>>> scale([4.0], 4)
[1.0]
>>> box = Box(3).grow(by=2)
>>> box.size
5
>>> targets()
>>> [catch("7"), catch("seven")]
[7, -1]
>>> list(count(3))
[0, 1, 2]
>>> one_line(2)
5
>>> guarded(False)
'no'
>>> spread([1, 2, 3])
6
"""

LIMIT = 10


class Box:
    kind = "box"

    def __init__(self, size):
        self.size = size
        self.__secret = (size, "s")

    def grow(self, *, by):
        self.size += by
        return self

    def never(self):
        return 1


def scale(s, d):
    s = [x / d for x in s]
    return s


def targets():
    first, (second, *rest) = 1, (2, 3, 4)
    table = {}
    table["key"] = 1
    annotated: int = 5
    if (walrus := first + 1) > 1:
        pass
    with open(__file__) as file:
        inside = 1
    match [1, [2, 3]]:
        case [one, [*more]]:
            matched = one


def catch(text):
    number = -1
    try:
        number = int(text)
        good = True
    except ValueError as error:
        bad = str(error)
    return number


def count(n):
    for i in range(n):
        received = yield i
        after = i


def one_line(x): y = x * 2; z = y + 1; return z


def guarded(yes):
    if yes: return "yes"
    return "no"


def spread(numbers):
    total = 0
    for number in numbers:
        total = (
            total
            + number
        )
    return total


if LIMIT < 5:
    unreached = True
'''


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    folder = write(tmp_path_factory.mktemp("everything"), everything=SOURCE)
    recorded = record(folder)
    assert recorded.diagnostics == ()
    return Seen(folder, "everything.html", recorded.records["everything.html"])


def test_a_statement_tells_what_it_wrote_though_the_name_had_a_value_before(seen: Seen) -> None:
    assert [value.items for value in seen.statement("s = ").writes[0].values] == [
        (Value("scalar", "float", text="2.0"), Value("scalar", "float", text="3.0")),
        (Value("scalar", "float", text="1.0"),),
    ]


def test_attributes_are_written_under_the_name_that_they_have_in_the_code(seen: Seen) -> None:
    assert seen.writes("self.size = ") == {"self.size": ["3"]}
    assert seen.writes("self.size += ") == {"self.size": ["5"]}
    assert list(seen.writes("self.__secret")) == ["self.__secret"]


@pytest.mark.parametrize(
    ("source", "written"),
    [
        ("first, (second", {"first": ["1"], "second": ["2"], "rest": ["list"]}),
        ('table["key"]', {"table": ["dict"]}),
        ("annotated", {"annotated": ["5"]}),
        ("if (walrus", {"walrus": ["2"]}),
        ("with open", {"file": ["_io.TextIOWrapper"]}),
        ("match [", {"one": ["1"], "more": ["list"]}),
        ("for i in", {"i": ["0", "1", "2"]}),
        ("received", {"received": ["None"]}),
        ("LIMIT", {"LIMIT": ["10"]}),
        ("kind", {"kind": ["'box'"]}),
    ],
)
def test_every_kind_of_target_is_seen(seen: Seen, source: str, written: dict[str, list[str]]) -> None:
    assert seen.writes(source) == written


def test_what_raised_wrote_nothing_and_its_handler_did(seen: Seen) -> None:
    assert seen.runs("number = int(text)") == 2
    assert seen.writes("number = int(text)") == {"number": ["7"]}
    assert seen.runs("good") == 1
    assert seen.writes("try:") == {"error": ["ValueError"]}
    assert seen.runs("bad") == 1


def test_statements_that_share_a_line_are_told_apart(seen: Seen) -> None:
    assert seen.writes("y = x") == {"y": ["4"]}
    assert seen.writes("z = y") == {"z": ["5"]}
    assert seen.runs('if yes: return "yes"') == 1
    assert seen.runs('return "yes"') == 0
    assert seen.runs('return "no"') == 1


def test_a_statement_on_several_lines_runs_once_a_round(seen: Seen) -> None:
    assert seen.runs("total = (") == 3
    assert seen.writes("total = (") == {"total": ["1", "3", "6"]}
    assert seen.runs("for number in") == 1


def test_what_no_example_ran_has_no_runs_and_counts_in_the_share(seen: Seen) -> None:
    assert seen.runs("return 1") == 0
    assert seen.runs("unreached") == 0
    inside = [statement for statement in seen.record.statements if statement.in_function]
    assert seen.record.share == (len(inside) - 2, len(inside))


def test_a_call_tells_its_arguments_its_result_and_its_examples(seen: Seen) -> None:
    grow = seen.function("Box.grow")
    (call,) = grow.calls
    assert [(argument.name, argument.value.text) for argument in call.arguments] == [("by", "2")]
    assert [(number.name, number.value.text) for number in call.owner] == [("self.size", "5")]
    assert call.result is not None
    assert call.result.type == "pkg.everything.Box"
    assert [seen.record.examples[index].source for index in call.examples] == ["box = Box(3).grow(by=2)\n"]
    good, bad = seen.function("catch").calls
    assert [step.writes[0].name for step in bad.writes] == ["number", "error", "bad"]
    assert (good.times, bad.times, bad.raised) == (1, 1, "")


def test_one_call_can_be_walked_through_in_order(seen: Seen) -> None:
    walk = seen.function("spread").walk
    assert walk is not None
    told = [(write.name, write.value.text) for step in walk.steps for write in step.writes]
    assert told == [
        ("total", "0"),
        ("number", "1"),
        ("total", "1"),
        ("number", "2"),
        ("total", "3"),
        ("number", "3"),
        ("total", "6"),
    ]
    assert walk.result == Value("scalar", "int", text="6")


def test_examples_have_their_real_output(seen: Seen) -> None:
    first = seen.record.examples[0]
    assert (first.owner, first.source, first.output, first.passed) == (
        MODULE,
        "scale([4.0, 6.0], 2)\n",
        "[2.0, 3.0]\n",
        True,
    )


def test_a_record_survives_its_bytes(seen: Seen) -> None:
    data = seen.record.to_bytes()
    assert Record.from_bytes(data) == seen.record
    assert Record.from_bytes(data).to_bytes() == data
    with pytest.raises(ValueError, match="Record"):
        Record.from_bytes(b"[[], [1]]")


def test_two_runs_of_one_state_give_the_same_bytes(tmp_path: Path, seen: Seen) -> None:
    text = '''
    """
    >>> import random, time, os
    >>> x = draw(object()), {"b", "a"}, time.time(), os.getpid()
    >>> print(object(), os.getcwd())  # doctest: +ELLIPSIS
    <object object at ...
    """
    import random

    def draw(thing):
        """
        >>> draw(1) == draw(1)
        False
        """
        number = random.random()
        words = list({"c", "a", "b"})
        return number, repr(thing)
    '''
    write(tmp_path, everything=SOURCE, chance=text)
    first, again = record(tmp_path), record(tmp_path, jobs=2)
    assert first.diagnostics == again.diagnostics == ()
    assert {url: one.to_bytes() for url, one in first.records.items()} == {
        url: one.to_bytes() for url, one in again.records.items()
    }
    assert first.records["everything.html"] == seen.record


def test_a_failing_example_is_told_where_it_stands_and_where_it_raised(tmp_path: Path) -> None:
    write(
        tmp_path,
        wrong='''
        """
        Prose.

        >>> ratio(1, 2)
        0.25
        >>> x = ratio(1, 0)
        >>> x
        1
        >>> ratio(4, 2)
        2.0
        """


        def ratio(a, b):
            return a / b
        ''',
    )
    recorded = record(tmp_path)
    assert [str(fault).partition(" —")[0] for fault in recorded.diagnostics] == [
        "pkg/wrong.py:5:1: example-failed this example gives 0.5, not 0.25",
        "pkg/wrong.py:7:1: example-failed this example raises ZeroDivisionError: division by zero",
    ]
    found = recorded.records["wrong.html"]
    raising = found.examples[1]
    assert (raising.error, raising.passed) == ("ZeroDivisionError: division by zero", False)
    assert raising.raised_at == Seen(tmp_path, "wrong.html", found).statement("return a / b").ordinal
    assert [example.passed for example in found.examples] == [False, False, False, True]


def test_expected_exceptions_and_options_are_compared_as_doctest_does(tmp_path: Path) -> None:
    write(
        tmp_path,
        fits='''
        """
        >>> int("x")
        Traceback (most recent call last):
            ...
        ValueError: invalid literal for int() with base 10: 'x'
        >>> list(range(99))  # doctest: +ELLIPSIS
        [0, 1, ..., 98]
        >>> never()  # doctest: +SKIP
        >>> print("a\\\\n\\\\nb")
        a
        <BLANKLINE>
        b
        """
        ''',
    )
    recorded = record(tmp_path)
    assert recorded.diagnostics == ()
    assert [example.ran for example in recorded.records["fits.html"].examples] == [True, True, False, True]


def test_a_module_that_cannot_be_imported_is_said_at_the_line_that_fails(tmp_path: Path) -> None:
    write(tmp_path, absent='"""\n>>> 1\n1\n"""\n\nimport no_such_module_anywhere\n')
    recorded = record(tmp_path)
    (fault,) = recorded.diagnostics
    assert str(fault).startswith("pkg/absent.py:6:1: module-import this module cannot be imported")
    assert "No module named 'no_such_module_anywhere'" in fault.message
    assert [example.ran for example in recorded.records["absent.html"].examples] == [False]


def test_a_docstring_that_doctest_cannot_read_is_said_and_the_others_run(tmp_path: Path) -> None:
    write(tmp_path, torn='"""\nProse.\n\n>>>1\n1\n"""\n\n\ndef f():\n    """\n    >>> f()\n    """\n')
    recorded = record(tmp_path)
    (fault,) = recorded.diagnostics
    assert str(fault).startswith("pkg/torn.py:4:1: example-syntax")
    assert [example.passed for example in recorded.records["torn.html"].examples] == [True]


def test_only_pages_with_examples_that_may_run_are_imported(tmp_path: Path) -> None:
    trace = tmp_path / "ran"
    spoil = f"open({str(trace)!r}, 'a').write(__name__)\n"
    write(tmp_path, quiet=spoil, chosen='"""\n>>> 1\n1\n"""\n', other=f'"""\n>>> 1\n1\n"""\n{spoil}')
    recorded = record(tmp_path, "chosen", "quiet")
    assert list(recorded.records) == ["chosen.html"]
    assert not trace.exists()


def test_threads_of_an_example_are_followed_too(tmp_path: Path) -> None:
    write(
        tmp_path,
        threaded='''
        """
        >>> import threading
        >>> thread = threading.Thread(target=work, args=(3,))
        >>> thread.start()
        >>> thread.join()
        """

        def work(n):
            doubled = n * 2
        ''',
    )
    recorded = record(tmp_path)
    seen = Seen(tmp_path, "threaded.html", recorded.records["threaded.html"])
    assert seen.writes("doubled") == {"doubled": ["6"]}


def test_the_recorder_records_its_own_package() -> None:
    """Modules that the recording process has loaded already are loaded once more, where it can see them."""
    root = Path(__file__).resolve().parents[2]
    (source,) = discover(Config(root=root, packages=("site_builder/cache.py",))).sources
    page = parse(source, Path(source.file).read_bytes())
    (found,) = record_pages(Config(root=root), [page]).records.values()
    assert found.module == "site_builder.cache"
    assert all(example.passed for example in found.examples)
    assert [function.times for function in found.functions if function.name == "digest"] > [0]
    assert found.statements[0].runs == 1


def test_limits_come_from_the_configuration(tmp_path: Path) -> None:
    table = 'example_seconds = 5\nexample_megabytes = 100\nexample_options = ["ELLIPSIS"]'
    (tmp_path / "pyproject.toml").write_text(f"[tool.site_builder]\n{table}\n", "utf-8")
    assert Limits.of(load(tmp_path)) == Limits(seconds=5, megabytes=100, options=("ELLIPSIS",))


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("example_seconds = 0", "must be a whole number above zero"),
        ("example_seconds = true", "must be a whole number above zero"),
        ('example_options = ["ELIPSIS"]', "doctest has no option 'ELIPSIS'"),
    ],
)
def test_limits_that_mean_nothing_are_refused(tmp_path: Path, line: str, says: str) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.site_builder]\n{line}\n", "utf-8")
    with pytest.raises(SiteError, match=says):
        load(tmp_path)


HEADS = b"""
@cache
@other(
    1,
)
def first(
    x,
):
    '''Prose.'''
    if (
        x
    ):
        # Why.

        return 1
    for i in x:
        while i: i = i // 2
        for j in (
            i,
        ):
            continue
        else:
            return j

    try:
        y = (
            i
        )
    finally:
        pass
    match y:
        # One.
        case 1:
            return
"""


def test_the_head_of_a_statement_ends_before_what_is_in_it_and_before_its_comments() -> None:
    outline = Outline.of(HEADS)
    rows = HEADS.decode().splitlines()
    heads = {}
    for ordinal, line in enumerate(outline.lines):
        first, last = outline.head(ordinal)
        heads[type(line.node).__name__, line.node.lineno] = [row.strip() for row in rows[first - 1 : last]]
    assert heads["FunctionDef", 6] == ["@cache", "@other(", "1,", ")", "def first(", "x,", "):"]
    assert heads["If", 10] == ["if (", "x", "):"]
    assert heads["For", 18] == ["for j in (", "i,", "):"]
    assert heads["While", 17] == ["while i: i = i // 2"]
    assert heads["Try", 25] == ["try:"]
    assert heads["Assign", 26] == ["y = (", "i", ")"]
    assert heads["Match", 31] == ["match y:"]


def test_the_loops_of_a_statement_are_those_that_run_it_again() -> None:
    outline = Outline.of(HEADS)
    loops = {
        line.node.lineno: [outline.lines[loop].node.lineno for loop in outline.loops(ordinal)]
        for ordinal, line in enumerate(outline.lines)
    }
    assert (loops[16], loops[18], loops[21]) == ([16], [16, 18], [16, 18])
    # Its `else` is not run again by the loop that it belongs to.
    assert (loops[23], loops[26]) == ([16], [])
    (first,) = outline.names
    assert [outline.lines[n].node.lineno for n in outline.returns(first)] == [15, 23, 34]
