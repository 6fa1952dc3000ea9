"""The pipeline as a program calls it."""

from __future__ import annotations

import gc
import json
import os
import weakref
from dataclasses import replace
from pathlib import Path

import pytest

import site_builder
from site_builder import cache
from site_builder.config import Config, load
from site_builder.errors import SiteError
from site_builder.model import Page, SourceFile
from site_builder.site import make, workers
from site_builder.site.pages import File, introduced
from site_builder.site.reading import parsed


def test_the_public_build_writes_the_site_and_says_what_it_did(tiny: Path) -> None:
    config = load(tiny)
    report = site_builder.build(config)
    assert report.pages > 1
    assert report.diagnostics == ()
    assert report.written.changed > report.pages
    assert (tiny / config.output / "index.html").read_text("utf-8").startswith("<!doctype html>")
    again = site_builder.build(config, jobs=2)
    assert again.written.changed == 0


def test_what_was_no_more_wanted_before_a_build_is_not_kept_by_it(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("# A page\n")

    class Circle:
        def __init__(self) -> None:
            self.itself = self

    config = Config(root=tmp_path, packages=("page.md",), cache="")
    # To import what a build needs makes much, and looks for garbage by the way.
    make(config)
    circle = weakref.ref(Circle())
    make(config)
    gc.collect(1)
    assert circle() is None, "it lies among what is old, where hardly anybody looks"


def test_a_page_that_another_process_has_woven_is_not_kept(tmp_path: Path) -> None:
    folder = tmp_path / "text"
    folder.mkdir()
    for number in range(workers.FEW):
        (folder / f"{number}.md").write_text(f"# Page {number}\n\n[](0.md)\n")
    config = Config(root=tmp_path, packages=("text",))
    make(config)
    # All are woven for this one, which has the most to weave and so is not done here.
    edited = folder / "0.md"
    edited.write_text("# Another title\n" + "\nMore.\n" * 10)
    make(config, jobs=2)
    pages = [thing for thing in gc.get_objects() if type(thing) is Page]
    assert not [page for page in pages if page.source.file == str(edited)]


def test_what_cannot_be_read_is_a_diagnostic_and_a_page_or_no_image(tmp_path: Path) -> None:
    (tmp_path / "astray.py").symlink_to("nowhere.py")
    (tmp_path / "astray.png").symlink_to("nowhere.png")
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "folder.py").mkdir()
    for name, reason in [
        ("astray", "leads to no file"),
        ("pipe", "no regular file"),
        ("folder", "no regular file"),
    ]:
        source = SourceFile(f"{name}.py", str(tmp_path / f"{name}.py"), name, f"{name}.html", False)
        page, _ = parsed(source)
        assert [fault.code for fault in page.diagnostics] == ["unreadable"]
        assert reason in page.diagnostics[0].message
        assert page.diagnostics[0].hint


def test_an_image_that_cannot_be_read_is_a_diagnostic(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "__init__.py").write_text('"""# One"""\n')
    (tmp_path / "one" / "picture.png").mkdir()
    (tmp_path / "one" / "astray.png").symlink_to("nowhere.png")
    made = make(Config(root=tmp_path, packages=("one",), cache=""))
    assert [(fault.path, fault.code) for fault in made.diagnostics] == [("one/astray.png", "unreadable")]
    assert not {name for name in made.files if name.endswith("astray.png")}


def test_what_vanished_meanwhile_is_no_page(tmp_path: Path) -> None:
    gone = SourceFile("gone.py", str(tmp_path / "gone.py"), "gone", "gone.html", False)
    assert introduced(Config(root=tmp_path, cache=""), File(gone, b"", {})) is None


def test_a_name_that_is_not_unicode_is_a_diagnostic(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "__init__.py").write_text('"""# One"""\n')
    try:
        Path(os.fsdecode(os.fsencode(tmp_path / "one") + b"/\xff.py")).write_text("")
    except OSError:
        pytest.skip("this file system takes no such name")
    made = make(Config(root=tmp_path, packages=("one",), cache=""))
    assert [fault.path for fault in made.diagnostics if fault.code == "unreadable"] == ["one/\\udcff.py"]
    assert set(made.files) >= {"index.html"}


def test_a_build_closes_the_store(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[cache.Store] = []
    close = cache.Store.close

    def noted(store: cache.Store) -> None:
        closed.append(store)
        close(store)

    monkeypatch.setattr(cache.Store, "close", noted)
    site_builder.build(load(tiny))
    assert closed
    assert all(store._database is None for store in closed)


def test_a_worker_closes_its_store_when_it_ends(tmp_path: Path) -> None:
    """What `close` notes is on the disk once the workers are gone, whoever did the work."""
    from site_builder.site.workers import spread

    marks = [tmp_path / str(number) for number in range(16)]
    spread(_use_a_store, marks, os.getpid(), 2)
    ended = {path.read_text() for path in tmp_path.glob("*.closed")}
    assert ended
    # One task is done by the process that asks for them.
    assert {path.read_text() for path in marks} - {str(os.getpid())} == ended


def _use_a_store(parent: int, mark: Path) -> None:
    from site_builder.site import pages

    mark.write_text(str(os.getpid()))
    if os.getpid() != parent and not hasattr(pages, "_noted"):
        close = cache.Store.close

        def noted(store: cache.Store) -> None:
            close(store)
            (mark.parent / f"{os.getpid()}.closed").write_text(str(os.getpid()))

        setattr(cache.Store, "close", noted)  # noqa: B010
        pages._noted = True  # type: ignore[attr-defined]
        pages.renderer(Config(root=mark.parent))


def test_a_file_that_is_saved_while_it_is_read_is_not_taken_for_what_it_was(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from site_builder.site import inputs, reading

    sums = tiny / "tiny" / "sums.py"
    before = sums.read_bytes()
    after = before.replace(b"Nothing is carried.", b"All is carried.")
    read = inputs.content

    def saved_meanwhile(file: str) -> bytes:
        data = read(file)
        if Path(file) == sums and data == before:
            sums.write_bytes(after)
        return data

    monkeypatch.setattr(reading, "content", saved_meanwhile)
    config = load(tiny)
    site_builder.build(config)
    monkeypatch.undo()
    page = tiny / config.output / "sums.html"
    for data, words in (
        (after, "All is carried."),
        (before, "Nothing is carried."),
        (after, "All is carried."),
    ):
        sums.write_bytes(data)
        site_builder.build(config)
        assert words in page.read_text("utf-8")


def test_a_catalogue_that_cannot_be_read_costs_its_page_the_language(tiny: Path) -> None:
    catalogue = tiny / "translations" / "ja" / "sums.po"
    catalogue.unlink()
    catalogue.mkdir()
    made = make(replace(load(tiny), cache=""))
    assert [(fault.path, fault.code) for fault in made.diagnostics] == [
        ("translations/ja/sums.po", "unreadable")
    ]
    assert b"Nothing is carried." in made.files["ja/sums.html"]


def test_what_is_made_to_be_looked_at_is_made_once(tiny: Path) -> None:
    config = load(tiny)
    first, second = make(config), make(config)
    assert first.report.written.changed > 0
    assert second.report.written.changed == 0
    assert first.files == second.files
    assert not (tiny / config.output).exists()
    assert (tiny / config.cache / ".gitignore").exists()


def test_a_question_is_asked_without_names() -> None:
    from site_builder import index
    from site_builder.weave import Site

    site = Site(Config(root=Path()), index.build([]), {}).asking()
    with pytest.raises(TypeError, match="lang"):
        site.names("a.html", lang="ja")


def test_a_page_and_a_folder_of_one_name_are_a_conflict(tmp_path: Path) -> None:
    package = tmp_path / "pack"
    (package / "foo.html").mkdir(parents=True)
    for name in ("__init__.py", "foo.py", "foo.html/__init__.py"):
        (package / name).write_text('"""# A page"""\n')
    made = make(Config(root=tmp_path, packages=("pack",), cache=""))
    assert [fault.code for fault in made.diagnostics] == ["url-conflict"]
    assert "index.html" in made.files


def test_a_cache_that_somebody_else_has_pickled_is_not_read(tmp_path: Path) -> None:
    import pickle

    from site_builder.site.ledger import Ledger
    from site_builder.site.shelf import SEAL, pickled, unpickled

    sound = pickled(Ledger(pages=3))
    assert unpickled(sound) == Ledger(pages=3)
    forged = pickle.dumps(Ledger(pages=4))
    assert unpickled(sound[:SEAL] + forged) is None
    assert unpickled(bytes(SEAL) + forged) is None
    assert unpickled(sound[:-1]) is None


def test_recorded_steps_stay_when_one_language_is_built(tiny: Path) -> None:
    config = load(tiny)
    assert config.execute
    walked = (
        '"""# Walked\n\n>>> twice(3)\n6\n"""\n\n\ndef twice(x):\n    y = x + x\n    z = y\n    return z\n'
    )
    (tiny / "tiny" / "walked.py").write_text(walked)
    partly = replace(config, translated=(("ja", ("tiny/__init__.py",)),))
    site_builder.build(partly)
    steps = tiny / config.output / "steps" / "walked.js"
    assert steps.is_file()
    site_builder.build(replace(partly, only=("ja",)))
    assert steps.is_file()


def test_a_language_alone_is_not_woven_again_and_says_what_holds_for_all_of_them(tiny: Path) -> None:
    sums = tiny / "tiny" / "sums.py"
    sums.write_text(sums.read_text().replace("papers:", "symbols: {q: nowhere}\npapers:"))
    config = replace(load(tiny), execute=False)
    first = site_builder.build(config)
    assert {fault.code for fault in first.diagnostics} == {"symbol-unused"}
    stages: list[str] = []
    again = site_builder.build(
        replace(config, only=("ja",)), progress=lambda stage, done, total: stages.append(stage)
    )
    assert "weaving" not in stages
    assert again.diagnostics == first.diagnostics


def test_what_lies_behind_a_linked_folder_of_a_theme_is_part_of_it(tiny: Path) -> None:
    mine = tiny / "mine"
    (tiny / "theme" / "templates").mkdir(parents=True)
    mine.mkdir()
    (tiny / "theme" / "templates" / "own").symlink_to(mine)
    (tiny / "theme" / "templates" / "404.html").write_text('{% include "own/words.html" %}')
    config = replace(load(tiny), theme="theme", base_url="https://example.org/", execute=False)
    for words in ("one", "two"):
        (mine / "words.html").write_text(words)
        site_builder.build(config)
        assert (tiny / config.output / "404.html").read_text() == words


def test_a_fault_in_a_theme_is_told_with_its_line(tiny: Path) -> None:
    page = tiny / "theme" / "templates" / "page.html"
    page.parent.mkdir(parents=True)
    config = replace(load(tiny), theme="theme", cache="", execute=False)
    for text, line in (("one\n{{ page.contnts }}", 2), ("{% if %}", 1)):
        page.write_text(text)
        with pytest.raises(SiteError) as raised:
            make(config)
        assert (raised.value.path, raised.value.line) == (str(page), line)


def test_a_theme_that_is_not_there_is_a_diagnostic(tiny: Path) -> None:
    made = make(replace(load(tiny), theme="nowhere", cache="", execute=False))
    assert [(fault.path, fault.code) for fault in made.diagnostics] == [("pyproject.toml", "theme-missing")]


def test_an_anchor_that_the_author_has_typed_can_be_linked_to(tmp_path: Path) -> None:
    text = '# A page\n\n<a id="old"></a> [one](#old) [two](#top) [three](#new)\n'
    (tmp_path / "page.md").write_text(text)
    made = make(Config(root=tmp_path, packages=("page.md",), cache=""))
    assert [fault.column for fault in made.diagnostics] == [text.splitlines()[2].index("#new") + 1]


def test_the_contents_of_a_page_show_code_in_headings_as_code_and_hold_no_link_inside_another(
    tmp_path: Path,
) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "__init__.py").write_text('"""# One"""\n')
    (tmp_path / "one" / "page.md").write_text("# A page\n\n## `one` and [two](#three)\n\n## Three\n")
    (tmp_path / "one" / "module.py").write_text('"""# M"""\n\n# ## `one` and [two](page.html)\nx = 1\n')
    made = make(Config(root=tmp_path, packages=("one",), cache=""))
    assert made.diagnostics == ()
    shown = '<span class="title"><code>one</code> and two</span></a>'
    assert shown in made.files["page.html"].decode()
    assert shown in made.files["module.html"].decode()


def test_a_search_finds_the_parts_of_a_page_without_code(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("# A page\n\nFirst.\n\n## One\n\nMore.\n\n## Two\n\nLast.\n")
    made = make(Config(root=tmp_path, packages=("page.md",), cache=""))
    table = json.loads(made.files["search/en.js"].decode().removeprefix("searchIndex(").removesuffix(");\n"))
    assert [(anchor, title, text) for anchor, title, _, text in table[0][2]] == [
        ("", "A page", "First."),
        ("one", "One", "More."),
        ("two", "Two", "Last."),
    ]
