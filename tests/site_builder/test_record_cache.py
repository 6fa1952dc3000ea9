"""What runs again after an edit, and what does not."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import pytest

from site_builder import installed
from site_builder.cache import Store, digest
from site_builder.config import Config
from site_builder.index import Card
from site_builder.model import Page
from site_builder.parse import encode
from site_builder.record import Limits, code_digest
from site_builder.record.keys import Keys
from site_builder.site import Shelf, build, stores
from tests.site_builder.recording import Seen, pages, record, record_pages, write

BASE = '''
"""
# Base

Prose about it.

>>> double(3)
6
"""

# A comment.
def double(x):
    return 2 * x  # trailing
'''
USER = '''
"""
>>> quadruple(1)
4
"""
from pkg.base import double


def quadruple(x):
    y = double(x)
    return double(y)
'''
EXAMPLE_USER = '"""\n>>> from pkg import base\n>>> base.double(1)\n2\n"""\n'
TRANSITIVE = '"""\n>>> f()\n16\n"""\nfrom . import user\n\n\ndef f():\n    return user.quadruple(4)\n'
PASSED_ON = '"""\n>>> f()\n1\n"""\nfrom pkg import other_name\n\n\ndef f():\n    return other_name()\n'
STRANGER = '"""\n>>> other_name()\n1\n"""\n\n\ndef other_name():\n    return 1\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, base=BASE, user=USER, example_user=EXAMPLE_USER, transitive=TRANSITIVE)
    write(tmp_path, passed_on=PASSED_ON, stranger=STRANGER)
    # Every page runs this first; it would make all pages depend on all others.
    init = "from pkg.base import double\nfrom pkg.stranger import other_name\n"
    (tmp_path / "pkg" / "__init__.py").write_text(init, "utf-8")
    return tmp_path


def edit(folder: Path, module: str, old: str, new: str) -> None:
    file = folder / "pkg" / f"{module}.py"
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


def ran(folder: Path, store: Store) -> set[str]:
    recorded = record(folder, store=store)
    assert recorded.diagnostics == ()
    return {url.removesuffix(".html") for url in recorded.ran}


def test_an_edit_runs_exactly_the_pages_that_import_what_it_changed(folder: Path) -> None:
    store = Store()
    everything = {"base", "user", "example_user", "transitive", "passed_on", "stranger"}
    assert ran(folder, store) == everything
    assert ran(folder, store) == set()
    edit(folder, "base", "2 * x", "x + x")
    assert ran(folder, store) == {"base", "user", "example_user", "transitive"}
    edit(folder, "stranger", "return 1", "return 3 - 2")
    assert ran(folder, store) == {"stranger", "passed_on"}
    edit(folder, "base", "x + x", "2 * x")
    edit(folder, "stranger", "return 3 - 2", "return 1")
    assert ran(folder, store) == set(), "what it was before is still known"


def test_an_edit_of_prose_runs_nothing_and_the_record_fits_the_moved_lines(tmp_path: Path) -> None:
    write(tmp_path, base=BASE.replace("6", "7"))
    store = Store()
    (fault,) = record(tmp_path, store=store).diagnostics
    assert fault.line == 7
    edit(tmp_path, "base", "Prose about it.", "Prose about it,\nand\nmore.")
    edit(tmp_path, "base", "# A comment.", "# Another\n#\n# comment.\n")
    edit(tmp_path, "base", "  # trailing", "")
    recorded = record(tmp_path, store=store)
    assert recorded.ran == ()
    assert [moved.line for moved in recorded.diagnostics] == [9]
    assert Seen(tmp_path, "base.html", recorded.records["base.html"]).runs("return 2 * x") == 1


def test_an_edit_of_an_example_runs_its_page_alone(folder: Path) -> None:
    store = Store()
    ran(folder, store)
    edit(folder, "user", ">>> quadruple(1)\n4", ">>> quadruple(2)\n8")
    assert ran(folder, store) == {"user", "transitive"}


def test_what_was_edited_after_it_was_read_is_not_run_and_not_kept(folder: Path) -> None:
    store = Store()
    config = Config(root=folder, packages=("pkg",))
    read = pages(folder)
    edit(folder, "base", "2 * x", "3 * x")
    recorded = record_pages(config, read, store=store)
    touched = {"base", "user", "example_user", "transitive"}
    assert {fault.path for fault in recorded.diagnostics} == {f"pkg/{name}.py" for name in touched}
    assert {fault.code for fault in recorded.diagnostics} == {"module-changed"}
    for name in touched:
        assert not any(example.ran for example in recorded.records[f"{name}.html"].examples)
    edit(folder, "base", "3 * x", "2 * x")
    assert ran(folder, store) == touched


def test_a_file_that_grew_or_shrank_after_it_was_read_has_no_statements_on_its_page(tmp_path: Path) -> None:
    write(tmp_path, base=BASE)
    read = pages(tmp_path)
    (tmp_path / "pkg" / "base.py").write_text(BASE + "\n\ndef more(x):\n    return x\n", "utf-8")
    recorded = record_pages(Config(root=tmp_path, packages=("pkg",)), read)
    assert recorded.records["base.html"].statements == ()
    assert [fault.code for fault in recorded.diagnostics] == ["module-changed"]


def test_a_run_that_was_cut_short_is_not_kept(tmp_path: Path) -> None:
    write(tmp_path, slow='"""\n>>> while True: pass\n"""\n')
    store = Store()
    limits = Limits(seconds=1)
    assert record(tmp_path, store=store, limits=limits).ran == ("slow.html",)
    assert record(tmp_path, store=store, limits=limits).ran == ("slow.html",)


def test_whoever_builds_again_and_again_runs_what_took_too_long_once(tmp_path: Path) -> None:
    """Until its code, or the time that it may take, is another; and who comes later runs it again."""
    write(tmp_path, slow='"""\n>>> while True: pass\n"""\n', quick='"""\n>>> 1\n1\n"""\n')
    config = Config(root=tmp_path, packages=("pkg",), output="site", execute=True, example_seconds=1)
    shelf = Shelf(stores.opened(config), keep=True)

    def ran(config: Config, shelf: Shelf) -> int:
        """How many pages were run; it is said each time what is wrong with them."""
        runs: list[int] = []
        report = build(config, shelf=shelf, progress=lambda what, done, total: runs.append(what == "running"))
        assert [fault.code for fault in report.diagnostics] == ["example-time"]
        assert f"{config.example_seconds} seconds" in report.diagnostics[0].message
        return sum(runs)

    assert ran(config, shelf) == 2
    edit(tmp_path, "quick", ">>> 1\n1", ">>> 2\n2")
    assert ran(config, shelf) == 1
    assert ran(config, shelf) == 0
    edit(tmp_path, "slow", "True", "1")
    assert ran(config, shelf) == 1
    assert ran(config, Shelf(stores.opened(config), keep=True)) == 1
    assert ran(replace(config, example_seconds=2), shelf) == 1


def test_whoever_builds_again_and_again_runs_what_needs_too_much_memory_once(tmp_path: Path) -> None:
    write(tmp_path, large='"""\n>>> x = bytearray(10**10)\n"""\n', other='"""# Other"""\n')
    config = Config(root=tmp_path, packages=("pkg",), output="site", execute=True, example_megabytes=300)
    shelf = Shelf(stores.opened(config), keep=True)

    def ran() -> bool:
        stages: set[str] = set()
        report = build(config, shelf=shelf, progress=lambda what, done, total: stages.add(what))
        assert [fault.code for fault in report.diagnostics] == ["example-memory"]
        return "running" in stages

    assert ran()
    edit(tmp_path, "other", "# Other", "# Another")
    assert not ran()


def test_the_version_of_a_checkout_that_is_worked_on_is_known_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_arrays.egg-info").mkdir()
    (tmp_path / "my_arrays.egg-info" / "PKG-INFO").write_text("Name: my-arrays\nVersion: 1.5\n")
    monkeypatch.syspath_prepend(tmp_path)
    installed._versions.cache_clear()
    assert installed.version("my.arrays") == "1.5"
    monkeypatch.undo()
    installed._versions.cache_clear()
    assert installed.version("my.arrays") == ""
    assert installed.version("pytest") == pytest.__version__


def keys_of(found: Collection[Page]) -> Keys:
    data = {page.source.module: encode(page) for page in found}
    cards = [Card.of(page, digest(data[page.source.module])) for page in found]
    return Keys(cards, lambda card: data[card.source.module], Store())


def test_a_package_that_imports_a_part_which_is_not_there_from_itself_has_a_key(tmp_path: Path) -> None:
    write(tmp_path, one="from pkg import part\n")
    (tmp_path / "pkg" / "__init__.py").write_text("from pkg.part import part\n")
    assert keys_of(pages(tmp_path)).needed("pkg.one") == {"pkg", "pkg.one"}


def test_a_file_that_was_edited_after_it_was_read_leaves_no_facts_about_what_it_was(tmp_path: Path) -> None:
    write(tmp_path, one="x = 1\n")
    found = [page for page in pages(tmp_path) if page.source.module == "pkg.one"]
    cards = [Card.of(page, digest(encode(page))) for page in found]
    store = Store()
    meanwhile = Keys(cards, lambda card: b"'''\n>>> 1\n1\n'''\nx = 2\n", store)
    assert not meanwhile.has_examples(cards[0])
    assert not Keys(cards, lambda card: b"x = 1\n", store).has_examples(cards[0])


def test_names_that_a_package_passes_on_lead_to_the_module_that_defines_them(folder: Path) -> None:
    keys = keys_of(pages(folder))
    assert keys.needed("pkg.passed_on") == {"pkg", "pkg.passed_on", "pkg.stranger"}
    assert keys.needed("pkg.stranger") == {"pkg", "pkg.stranger"}
    assert keys.needed("pkg.transitive") == {"pkg", "pkg.transitive", "pkg.user", "pkg.base"}


def test_an_example_depends_on_what_it_imports_by_dots(tmp_path: Path) -> None:
    (write(tmp_path, base=BASE) / "pkg" / "inner").mkdir()
    (tmp_path / "pkg" / "inner" / "__init__.py").touch()
    text = '"""\n>>> from ..base import double\n>>> from . import other\n>>> double(1)\n2\n"""\n'
    (tmp_path / "pkg" / "inner" / "page.py").write_text(text, "utf-8")
    (tmp_path / "pkg" / "inner" / "other.py").touch()
    keys = keys_of(pages(tmp_path))
    assert keys.needed("pkg.inner.page") == {
        "pkg",
        "pkg.base",
        "pkg.inner",
        "pkg.inner.other",
        "pkg.inner.page",
    }


def test_a_page_finds_loaded_what_it_needs_itself_and_no_more(tmp_path: Path) -> None:
    plain = '"""\n>>> import sys\n>>> "torch" in sys.modules, "numpy" in sys.modules\n(False, False)\n"""\n'
    write(
        tmp_path,
        a='"""\n>>> 1\n1\n"""\nimport pkg.deep\n',
        deep="import pkg.deeper",
        deeper="import numpy",
        z=plain,
    )
    found = {page.source.module: page for page in pages(tmp_path)}
    keys = keys_of(found.values())
    assert keys.loads(keys.cards["pkg.a"]) == ("numpy.random",)
    assert keys.loads(keys.cards["pkg.z"]) == ()
    for jobs in (1, 2):
        assert record(tmp_path, jobs=jobs).diagnostics == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x = 1", "# more\nx = 1  # and more\n\n"),
        ("def f():\n    return 1", "def f():\n  'Doc.'\n  # why\n\n  return 1\n"),
        ("class A:\n    'a'; x = 1", "class A:\n    'b'; x = 1"),
        (
            "def f():\n    '''\n    T.\n\n    >>> 1\n    1\n    '''",
            "def f():\n    '''\n    >>> 1\n    1\n\n    T\n    '''",
        ),
        ("x = (1,\n     2)", "x = (1,  # one\n     2)"),
    ],
)
def test_prose_has_no_part_in_the_digest_of_code(one: str, other: str) -> None:
    assert code_digest(one.encode()) == code_digest(other.encode())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x = 1", "x = 2"),
        ("x = '# a'", "x = '# b'"),
        ("x = f'{a} b'", "x = f'{a} c'"),
        ("def f():\n    '''\n    >>> 1\n    1\n    '''", "def f():\n    '''\n    >>> 2\n    1\n    '''"),
        ("if x:\n    a\nb", "if x:\n    a\n    b"),
        ("x = 1\n'text'", "x = 1\n'other'"),
        ("é = '''y'''; 'a'", "é = '''y'''; 'b'"),
        ("x = (", "x = ["),
    ],
)
def test_code_and_examples_have(one: str, other: str) -> None:
    assert code_digest(one.encode()) != code_digest(other.encode())
