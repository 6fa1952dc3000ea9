"""What a page imports of the project is in its key, though it is no page."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import cast

import pytest

from site_builder.cache import Store, digest
from site_builder.config import Config
from site_builder.discover import discover
from site_builder.index import Card
from site_builder.parse import parse
from site_builder.record import Recording
from site_builder.serve import watched
from site_builder.serve.live import Live
from site_builder.serve.watch import watching
from site_builder.site import build

from .starting import site_builder
from .test_watch import Loop, Tab, wait_until

PAGE = '''
"""
# Page

>>> from late import found
>>> answer()
42
"""
import helpers
import loose.part
from tools.deep import f
from pkg import hidden, passed


def answer():
    return 42
'''
FILES = {
    "pkg/__init__.py": "from tools.passing import passed\n",
    "pkg/page.py": PAGE,
    "pkg/alone.py": '"""\n>>> 1\n1\n"""\nimport json, unheard_of\n',
    "pkg/base.py": "x = 1\n",
    "pkg/hidden.py": "from . import base\n",
    "pkg/sub/hidden.py": "",
    "helpers.py": "from shapes import area\n",
    "shapes.py": "area = 1\n",
    "late.py": "found = 1\n",
    "loose/part.py": "x = 1\n",
    "tools/__init__.py": "",
    "tools/deep.py": "from . import near\nfrom .near import y\n",
    "tools/near.py": "y = 1\n",
    "tools/passing.py": "passed = 1\n",
    "tools/unused.py": "x = 1\n",
    "stranger.py": "x = 1\n",
    "venv/lib/python3/site-packages/helpers.py": "x = 1\n",
}
IMPORTED = (
    *("pkg/hidden.py", "pkg/base.py", "helpers.py", "shapes.py", "late.py", "loose/part.py"),
    *("tools/__init__.py", "tools/deep.py", "tools/near.py", "tools/passing.py"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


def recording(folder: Path, exclude: tuple[str, ...] = ("*/hidden.py",)) -> Recording:
    config = Config(root=folder, packages=("pkg",), exclude=exclude)
    data = {source: Path(source.file).read_bytes() for source in discover(config).sources}
    cards = [Card.of(parse(source, read), digest(read)) for source, read in data.items()]
    return Recording(config, cards, lambda card: data[card.source], Store())


def changed(folder: Path, name: str, text: str) -> set[str]:
    """The pages whose keys are other ones once the file is."""
    before = recording(folder).keys
    old = (folder / name).read_text("utf-8")
    (folder / name).write_text(text, "utf-8")
    after = recording(folder).keys
    (folder / name).write_text(old, "utf-8")
    return {url for url in after if after[url] != before[url]}


@pytest.mark.parametrize("name", IMPORTED)
def test_code_that_a_page_imports_in_whatever_way_is_in_its_key(folder: Path, name: str) -> None:
    assert changed(folder, name, FILES[name] + "z = 2\n") == {"page.html"}
    assert changed(folder, name, f'"""Prose."""\n{FILES[name]}  # and more\n') == set()


@pytest.mark.parametrize("name", [name for name in FILES if name not in IMPORTED and name[:4] != "pkg/"])
def test_what_no_page_imports_is_in_no_key(folder: Path, name: str) -> None:
    assert changed(folder, name, FILES[name] + "z = 2\n") == set()


def test_a_module_that_was_missed_is_in_the_key_once_it_is_there(folder: Path) -> None:
    before = recording(folder).keys
    for path in (folder / "unheard_of.py", folder / "unheard_of" / "__init__.py"):
        path.parent.mkdir(exist_ok=True)
        path.touch()
        after = recording(folder).keys
        path.unlink()
        assert {url for url in after if after[url] != before[url]} == {"alone.html"}
    (folder / "unheard_of").rmdir()


def test_a_file_that_cannot_be_read_as_python_is_in_the_key_as_it_is(folder: Path) -> None:
    assert changed(folder, "helpers.py", "x = (\n") == {"page.html"}


# ---- builds


def project(folder: Path, **helpers: str) -> Config:
    """A page that shows what a helper says."""
    (folder / "pkg").mkdir()
    (folder / "pkg" / "__init__.py").write_text('"""# Package"""\n')
    text = '"""\n# Page\n\n>>> helpers.word()\n\'one\'\n"""\nimport helpers\n'
    (folder / "pkg" / "page.py").write_text(text)
    for name, word in helpers.items():
        write(folder, name, word)
    return Config(root=folder, packages=("pkg",), output="site", example_options=("ELLIPSIS",), execute=True)


def write(folder: Path, name: str, word: str) -> None:
    (folder / f"{name}.py").write_text(f"def word():\n    return {word!r}\n")


def test_a_page_whose_run_failed_stays_as_it_is_while_it_is_tried_again(tmp_path: Path) -> None:
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("from pkg.inner import value\n")
    (package / "inner.py").write_text("def value(:\n")
    (package / "page.py").write_text('"""# Page\n\n>>> 1\n1\n"""\n')
    (package / "other.md").write_text("# Other\n")
    config = Config(root=tmp_path, packages=("pkg",), execute=True)
    live = Live(lambda: config, tmp_path / "copy", lambda line: None)
    live.attach(cast("asyncio.AbstractEventLoop", Loop()))
    live.rebuild()
    tab, before = Tab(live, "page.html"), live.read("page.html")
    (package / "other.md").write_text("# Other\n\nIt says more.\n")
    live.rebuild()
    for told in tab.told():
        assert "page.html" not in told["changed"]
        assert "module-import" in {fault["code"] for fault in told["diagnostics"]}
    assert live.read("page.html") == before
    (package / "inner.py").write_text("def value(): return 1\n")
    live.rebuild()
    assert tab.told()[-1]["diagnostics"] == []
    assert live.read("page.html") != before


def test_a_build_after_an_edit_of_a_helper_has_something_to_do(tmp_path: Path) -> None:
    config = project(tmp_path)

    def said() -> dict[str, int]:
        return {fault.code: fault.line for fault in build(config).diagnostics}

    assert "module-import" in said()
    write(tmp_path, "helpers", "one")
    assert said() == {}
    assert build(config).changed == ()
    write(tmp_path, "helpers", "two")
    assert said() == {"example-failed": 4}


def test_a_pipe_that_is_called_like_an_imported_module_keeps_nobody_waiting(tmp_path: Path) -> None:
    project(tmp_path)

    def said() -> str:
        done = site_builder("build", "pkg", "--exec", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stderr

    os.mkfifo(tmp_path / "helpers.py")
    assert "module-import" in said()
    assert " 0 files written, " in said()
    (tmp_path / "helpers.py").unlink()
    write(tmp_path, "helpers", "one")
    assert "no faults" in said()
    (tmp_path / "helpers.py").unlink()
    os.mkfifo(tmp_path / "helpers.py")
    assert "module-import" in said()


def test_while_it_is_served_a_helper_is_watched_also_one_that_is_yet_to_be_written(tmp_path: Path) -> None:
    config = project(tmp_path)
    live = Live(lambda: config, tmp_path / "copy", lambda line: None)
    live.rebuild()

    def shown(text: str) -> bool:
        return text in (live.read("page.html") or b"").decode()

    assert not shown("two")
    with watching(lambda: watched(config, live.beside), live.rebuild):
        write(tmp_path, "helpers", "two")
        wait_until(lambda: shown("two"))
        write(tmp_path, "helpers", "three")
        wait_until(lambda: shown("three"))
    folders = watched(config, live.beside).files
    assert tmp_path / "helpers.py" in folders
    assert not any(path.name in ("json", "json.py") for path in folders)
