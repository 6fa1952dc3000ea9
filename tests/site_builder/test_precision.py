"""A build does what an edit asks for and no more; and what was edited while it ran is not taken for done."""

from __future__ import annotations

import os
import pickle
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from site_builder.cache import Store
from site_builder.config import MANIFEST, Config, load
from site_builder.record import Recording
from site_builder.site import Report, Shelf, acquaintance, build, pages, reading, weaving, workers
from site_builder.site.inputs import content
from site_builder.site.survey import builder
from site_builder.write import Output

from .conftest import FIXTURES, REPOSITORY
from .editing import files

# The package has a function of the same name.
survey: Any = sys.modules["site_builder.site.survey"]

BOTH = ("en", "ja")
INNER = '"""# Inner\n\nNothing to see."""\n\n\ndef first():\n    return 1\n'


@dataclass
class Done:
    """What one build took up."""

    report: Report
    read: set[str]
    woven: dict[str, tuple[str, ...]]
    ran: list[str]

    @property
    def changed(self) -> set[str]:
        return set(self.report.changed)


@dataclass
class Site:
    folder: Path
    config: Config
    shelf: Shelf

    def build(self, progress: Callable[[str, int, int], None] | None = None, **changes: Any) -> Done:
        done = Done(Report((), 0, None), set(), {}, [])  # type: ignore[arg-type]
        spread, run = workers.spread, Recording.run

        def watched(function: Any, tasks: Any, *more: Any) -> Any:
            if function is pages.woven:
                done.woven |= {task.url: task.languages for task in tasks}
            else:
                done.read |= {task.source.url for task in tasks}
            return spread(function, tasks, *more)

        def noted(self: Recording, urls: Any, *more: Any) -> Any:
            done.ran += urls
            return run(self, urls, *more)

        with pytest.MonkeyPatch.context() as patch:
            for stage in (acquaintance, weaving):
                patch.setattr(stage, "spread", watched)
            patch.setattr(Recording, "run", noted)
            done.report = build(replace(self.config, **changes), shelf=self.shelf, progress=progress)
        return done

    def edit(self, name: str, old: str, new: str) -> None:
        path = self.folder / name
        text = path.read_text("utf-8")
        assert old in text
        path.write_text(text.replace(old, new), "utf-8")

    def write(self, name: str, text: str | bytes) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)

    def is_clean(self) -> bool:
        """Whether the output is what a build from nothing would give."""
        clean = replace(self.config, output="clean", cache="")
        shutil.rmtree(self.folder / "clean", ignore_errors=True)
        build(clean, shelf=Shelf(Store()), clean=True)
        return files(self.folder / "clean") == files(self.config.folder(self.config.output))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> tuple[Site, dict[str, bytes]]:
    folder = Path(shutil.copytree(FIXTURES / "tiny", tmp_path_factory.mktemp("precise") / "tiny"))
    site = Site(folder, replace(load(folder), execute=False, theme="theme"), Shelf(Store()))
    site.write("tiny/deep/__init__.py", '"""# Deep"""\n')
    site.write("tiny/deep/inner.py", INNER)
    site.edit("tiny/essay.md", "See ", "See [what comes](tiny.deep.inner.later) and ")
    site.write("tiny/deep/dot.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>")
    site.write("theme/static/mine.css", "p {}")
    site.write("theme/templates/redirect.html", "<p>{{ target }}</p>")
    site.write(
        "translations/ja/_interface.po", 'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n'
    )
    site.write("translations/glossary.toml", "")
    site.write("tests/verified.json", "{}")
    return site, files(folder)


@pytest.fixture
def site(project: tuple[Site, dict[str, bytes]]) -> Site:
    """One project for all tests, as it was, and built."""
    site, before = project
    for name in files(site.folder).keys() - before.keys():
        if not name.startswith(("site/", ".site_builder_cache/")):
            (site.folder / name).unlink()
    for name, data in before.items():
        site.write(name, data)
    site.build()
    return site


def test_a_touch_is_no_edit(site: Site) -> None:
    for path in (site.folder / "tiny").rglob("*"):
        os.utime(path)
    done = site.build()
    assert (done.read, done.woven, done.changed) == (set(), {}, set())


def test_better_prose_is_the_matter_of_its_page_alone(site: Site) -> None:
    site.edit("tiny/sums.py", "Nothing is carried.", "Nothing at all is carried.")
    done = site.build()
    assert done.read == {"sums.html"}
    assert done.woven == {"sums.html": BOTH}
    assert done.changed == {"sums.html", "ja/sums.html", "search/en.js", "search/ja.js"}


def test_a_title_is_the_matter_of_the_pages_that_show_it(site: Site) -> None:
    site.edit("tiny/sums.py", "title: Sums", "title: Totals")
    done = site.build()
    assert done.read == {"sums.html"}
    assert done.woven == dict.fromkeys(["index.html", "sums.html", "essay.html", "deep/index.html"], BOTH)
    assert "all-pages.html" in done.changed


def test_a_new_function_is_the_matter_of_the_page_that_waited_for_it(site: Site) -> None:
    faults = site.build().report.diagnostics
    assert [fault.code for fault in faults] == ["link-unknown-object"]
    site.edit("tiny/deep/inner.py", "def first", "def later():\n    return 2\n\n\ndef first")
    done = site.build()
    assert done.woven == dict.fromkeys(["essay.html", "deep/inner.html"], BOTH)
    assert done.report.diagnostics == ()


def test_a_catalogue_is_the_matter_of_its_page_in_its_language(site: Site) -> None:
    site.edit("translations/ja/sums.po", "の和は次のとおりです。", "の和です。")
    done = site.build()
    assert done.woven == {"sums.html": ("ja",)}
    assert done.changed == {"ja/sums.html", "search/ja.js"}


def test_a_translated_title_is_the_matter_of_that_language(site: Site) -> None:
    site.edit("translations/ja/sums.po", 'msgstr "和"', 'msgstr "総和"')
    done = site.build()
    assert done.woven == dict.fromkeys(["index.html", "sums.html", "essay.html", "deep/index.html"], ("ja",))
    assert all(url.startswith(("ja/", "search/ja")) for url in done.changed)


def test_a_template_is_the_matter_of_all_pages_and_reads_none(site: Site) -> None:
    site.write("theme/templates/partials/foot.html", "<p>The end.</p>")
    done = site.build()
    assert done.read == set()
    assert set(done.woven) == {
        *("index.html", "sums.html", "essay.html", "deep/index.html", "deep/inner.html"),
    }
    assert set(done.woven.values()) == {BOTH}


def test_words_of_the_interface_are_the_matter_of_their_language(site: Site) -> None:
    head = (site.folder / "translations/ja/_interface.po").read_text("utf-8")
    site.write("translations/ja/_interface.po", f'{head}\nmsgid "All pages"\nmsgstr "全部"\n')
    done = site.build()
    assert set(done.woven.values()) == {("ja",)}
    assert "ja/all-pages.html" in done.changed
    assert all(url.startswith(("ja/", "search/ja", "old/ja")) for url in done.changed)


@pytest.mark.parametrize("changes", [{"stale_limit": 3}, {"exclude": ("nothing/*",)}, {"draft_model": "any"}])
def test_a_setting_that_no_page_shows_is_the_matter_of_none(site: Site, changes: dict[str, Any]) -> None:
    done = site.build(**changes)
    assert (done.read, done.woven, done.changed) == (set(), {}, set())


def test_a_static_file_is_copied_and_that_is_all(site: Site) -> None:
    site.write("theme/static/mine.css", "p { color: red }")
    done = site.build()
    assert (done.read, done.woven, done.changed) == (set(), {}, {"static/mine.css"})


def test_an_image_is_the_matter_of_the_page_that_shows_it(site: Site) -> None:
    site.edit("tiny/deep/inner.py", "Nothing to see.", "![a dot](point.svg)")
    site.build()
    site.write("tiny/deep/point.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>")
    done = site.build()
    assert done.woven == {"deep/inner.html": BOTH}
    site.write("tiny/deep/point.svg", "<svg xmlns='http://www.w3.org/2000/svg' id='other'/>")
    done = site.build()
    assert (done.woven, done.changed) == ({}, {"deep/point.svg"})


def test_a_page_that_is_renamed_is_the_matter_of_those_that_lead_there(site: Site) -> None:
    (site.folder / "tiny/deep/inner.py").rename(site.folder / "tiny/deep/other.py")
    done = site.build()
    assert done.read == {"deep/other.html"}
    assert done.woven == dict.fromkeys(["deep/index.html", "deep/other.html"], BOTH)
    assert {"deep/inner.html", "ja/deep/inner.html", "deep/other.html"} <= done.changed
    assert not (site.folder / "site/deep/inner.html").exists()


def test_one_language_leaves_the_others_alone(site: Site) -> None:
    before = (site.folder / "site/sums.html").read_bytes()
    site.edit("tiny/sums.py", "Nothing is carried.", "Nothing at all is carried.")
    done = site.build(only=("ja",))
    assert set(done.woven.values()) == {("ja",)}
    assert {url.removeprefix("search/").removeprefix("ja")[:1] for url in done.changed} == {"/", "."}
    assert (site.folder / "site/sums.html").read_bytes() == before
    assert set(site.build().woven) == {"sums.html"}
    assert (site.folder / "site/sums.html").read_bytes() != before
    assert site.is_clean()


def test_another_version_of_the_builder_makes_every_file_anew(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    put, made = Output.put, set()

    def noted(self: Output, url: str, data: bytes) -> Any:
        made.add(url)
        return put(self, url, data)

    monkeypatch.setattr(Output, "put", noted)
    for module in ("survey", "reading", "line", "gathering", "ledger"):
        monkeypatch.setattr(sys.modules[f"site_builder.site.{module}"], "builder", lambda: b"another")
    site.build()
    assert made == files(site.folder / "site").keys() - {MANIFEST}


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the builder, and nothing known of it."""
    copy = shutil.copytree(
        REPOSITORY / "site_builder", tmp_path / "builder", ignore=shutil.ignore_patterns("__pycache__")
    )
    monkeypatch.setattr(survey, "__file__", str(copy / "site" / "survey.py"))
    monkeypatch.setattr(survey, "_recalled", b"")
    monkeypatch.setattr(survey, "_known", {})
    return copy


@pytest.mark.parametrize("name", ["site/line.py", "katex/engine.js"])
def test_whatever_the_builder_works_with_makes_another_version_of_it(name: str, source: Path) -> None:
    assert builder.__wrapped__() == builder()
    (source / name).write_bytes((source / name).read_bytes() + b"\n")
    assert builder.__wrapped__() != builder()


def recalled(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> tuple[bytes, int]:
    """What another process would call the builder, and how many files it would read for that."""
    read: list[str] = []

    def noted(file: str, status: os.stat_result | None = None) -> bytes:
        read.append(file)
        return content(file, status)

    monkeypatch.setattr(survey, "content", noted)
    monkeypatch.setattr(survey, "_recalled", b"")
    survey._known.clear()
    survey.recall(shelf)
    return builder.__wrapped__(), len(read)


def test_the_source_of_the_builder_is_read_again_only_where_it_has_changed(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(survey, "SETTLED", -(10**18))
    shelf = Shelf(Store())
    first, read = recalled(shelf, monkeypatch)
    assert read == len([*survey._source()])
    assert first == builder()
    assert recalled(shelf, monkeypatch) == (first, 0)
    # As long as before, and said to be as old.
    file = source / "site" / "line.py"
    before, text = file.stat(), file.read_bytes()
    file.write_bytes(text.replace(b"One build", b"Any build"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    second, read = recalled(shelf, monkeypatch)
    assert read == len([*survey._source()])
    assert second != first
    assert recalled(shelf, monkeypatch) == (second, 0)
    file.unlink()
    assert recalled(shelf, monkeypatch)[0] not in (first, second)


def test_a_builder_that_was_just_saved_is_read_each_time(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(survey, "SETTLED", 10**18)
    shelf = Shelf(Store())
    for _ in range(2):
        same, read = recalled(shelf, monkeypatch)
        assert read == len([*survey._source()])
        assert same == builder()


def test_what_was_recalled_of_the_builder_from_a_strangers_cache_is_not_believed(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(survey, "SETTLED", -(10**18))
    store = Store()
    state = survey._state_of_source()
    assert state
    store.put(survey.SOURCE, state, b"x" * 16 + pickle.dumps(b"another"))
    assert recalled(Shelf(store), monkeypatch)[0] == builder()


def test_better_prose_runs_no_example_and_other_code_runs_those_that_import_it(tmp_path: Path) -> None:
    shelf = Shelf(Store())
    site = Site(tmp_path, Config(root=tmp_path, packages=("pkg",), output="site", execute=True), shelf)
    site.write("pkg/__init__.py", "")
    site.write("pkg/base.py", '"""Twice.\n\n>>> twice(2)\n4\n"""\n\n\ndef twice(x):\n    return 2 * x\n')
    site.write("pkg/user.py", '"""Uses.\n\n>>> twice(3)\n6\n"""\nfrom pkg.base import twice\n')
    site.write("pkg/stranger.py", '"""Alone.\n\n>>> 1 + 1\n2\n"""\n')
    assert sorted(site.build().ran) == ["base.html", "stranger.html", "user.html"]
    site.edit("pkg/base.py", '"""Twice.', '"""Twice as much.')
    assert site.build().ran == []
    site.edit("pkg/base.py", "2 * x", "3 * x")
    done = site.build()
    assert sorted(done.ran) == ["base.html", "user.html"]
    assert {fault.path for fault in done.report.diagnostics} == {"pkg/base.py", "pkg/user.py"}


MEANWHILE = {
    "a source, when it is read": ("tiny/essay.md", "reading"),
    "a source, when it is woven": ("tiny/sums.py", "weaving"),
    "a catalogue": ("translations/ja/sums.po", "weaving"),
    "a template": ("theme/templates/redirect.html", "weaving"),
    "the words of a language": ("translations/ja/_interface.po", "weaving"),
    "the glossary": ("translations/glossary.toml", "reading"),
    "what tests found": ("tests/verified.json", "reading"),
    "a static file": ("theme/static/mine.css", "weaving"),
    "an image": ("tiny/deep/dot.svg", "weaving"),
}


@pytest.mark.parametrize("what", MEANWHILE)
def test_what_is_edited_while_a_build_runs_and_put_back_is_as_it_was(site: Site, what: str) -> None:
    name, stage = MEANWHILE[what]
    before = (site.folder / name).read_bytes()

    def edit(now: str, done: int, total: int) -> None:
        if now == stage and done == 1:
            site.write(name, before[:-1] + b"\n# more\n")

    shutil.rmtree(site.folder / "site")
    site.shelf = Shelf(Store())
    site.build(edit)
    assert (site.folder / name).read_bytes() != before
    site.write(name, before)
    site.build()
    assert site.is_clean()


LONG = '''
def f(x):
    """
    >>> f(1)
    3
    """
    y = x + 1
    z = y + 1
    return z
'''
SHORT = "def f(x): return x\n"


@pytest.mark.parametrize(("stage", "cache"), [("introduced", ".site_builder_cache"), ("woven", "")])
def test_a_page_that_became_another_meanwhile_bears_no_record_of_what_it_was(
    stage: str, cache: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "pkg" / "one.py"
    file.parent.mkdir()
    (tmp_path / "pkg" / "__init__.py").touch()
    file.write_text(LONG)
    config = Config(root=tmp_path, packages=("pkg",), cache=cache, execute=True)
    shelf = Shelf(Store())
    build(config, shelf=shelf)
    html = tmp_path / "docs" / "one.html"
    assert 'class="rec' in html.read_text("utf-8")

    def spread(function: Any, tasks: Any, *more: Any) -> Any:
        # Half of a file is there when it is read, and all of it when its examples are looked for.
        if function.__name__ == stage:
            file.write_text(SHORT)
        done = workers.spread(function, tasks, *more)
        if stage == "introduced":
            file.write_text(LONG)
        return done

    with monkeypatch.context() as patch:
        for module in (acquaintance, weaving):
            patch.setattr(module, "spread", spread)
        # As a page of a large site, which is read back to be woven.
        patch.setattr(reading, "AT_HAND", 0)
        file.write_text(LONG + "\n# One more.\n")
        build(config, shelf=shelf)
    shown = html.read_text("utf-8")
    assert ('id="L9"' in shown, 'class="rec' in shown) == (False, False)
    build(config, shelf=shelf)
    shown = html.read_text("utf-8")
    assert ('id="L9"' in shown, 'class="rec' in shown) == (stage == "introduced",) * 2


def test_what_could_not_be_imported_around_a_page_is_tried_again(tmp_path: Path) -> None:
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("from pkg.inner import value\n")
    (package / "inner.py").write_text("def value(:\n")
    (package / "page.py").write_text('"""# Page\n\n>>> 1\n1\n"""\n')
    config = Config(root=tmp_path, packages=("pkg",), execute=True)
    shelf = Shelf(Store(), keep=True)
    assert "module-import" in {found.code for found in build(config, shelf=shelf).diagnostics}
    (package / "inner.py").write_text("def value(): return 1\n")
    assert build(config, shelf=shelf).diagnostics == ()
