"""What is watched, what counts as a change, and what comes of a burst."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from watchdog.events import (
    FileClosedEvent,
    FileClosedNoWriteEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileOpenedEvent,
    FileSystemEvent,
)

from site_builder.config import Config
from site_builder.errors import SiteError
from site_builder.serve import watched
from site_builder.serve.app import permitted
from site_builder.serve.live import Live
from site_builder.serve.state import State, marked
from site_builder.serve.watch import Burst, Handler, Watched, watching
from site_builder.site import weaving, workers
from site_builder.site.pages import Task


def wait_until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not done():
        assert time.monotonic() < end
        time.sleep(0.01)


def saved(file: Path) -> bool:
    """Once more each time: on a busy machine a new folder is watched a while after it was heard of."""
    return file.write_text("") == 0


@pytest.mark.parametrize(
    "name", ["a.py", "sub/a.md", "a.jpeg", "a.gif", "a.webp", "a.avif", "ja/a.po", "a.html"]
)
def test_whatever_a_page_is_made_from_counts(name: str, tmp_path: Path) -> None:
    touched: list[int] = []
    handler = Handler(lambda finished=False: touched.append(1), tmp_path)
    handler.on_any_event(FileModifiedEvent(str(tmp_path / name)))
    handler.on_any_event(FileMovedEvent(str(tmp_path / "a.tmp"), str(tmp_path / name)))
    assert len(touched) == 2


@pytest.mark.parametrize(
    "name",
    [
        ".venv/lib/a.py",
        "node_modules/a.js",
        "docs/a.html",
        "docs/ja/a.html",
        "__pycache__/a.py",
        ".a.py",
        "a.txt~",
    ],
)
def test_what_a_build_writes_and_what_is_not_ours_does_not(name: str, tmp_path: Path) -> None:
    touched: list[int] = []
    handler = Handler(lambda finished=False: touched.append(1), tmp_path, frozenset({tmp_path / "docs"}))
    handler.on_any_event(FileModifiedEvent(str(tmp_path / name)))
    assert touched == []


def test_reading_is_no_change(tmp_path: Path) -> None:
    touched: list[int] = []
    handler = Handler(lambda finished=False: touched.append(1), tmp_path)
    handler.on_any_event(FileOpenedEvent(str(tmp_path / "a.py")))
    handler.on_any_event(FileClosedNoWriteEvent(str(tmp_path / "a.py")))
    assert touched == []


def test_a_folder_that_holds_the_sources_is_not_left_out(tmp_path: Path) -> None:
    touched: list[int] = []
    handler = Handler(lambda finished=False: touched.append(1), tmp_path / "package", frozenset({tmp_path}))
    handler.on_any_event(FileModifiedEvent(str(tmp_path / "package" / "a.py")))
    assert touched == [1]


def test_twenty_quick_saves_are_one_call_or_two() -> None:
    calls: list[int] = []
    burst = Burst(lambda interrupted: calls.append(1))
    burst.start()
    for _ in range(20):
        burst.touch()
    wait_until(lambda: bool(calls))
    time.sleep(0.2)
    burst.stop()
    assert len(calls) <= 2


def test_a_call_that_fails_is_told_and_the_next_change_is_heard(caplog: pytest.LogCaptureFixture) -> None:
    calls: list[int] = []

    def act(interrupted: Callable[[], bool]) -> None:
        calls.append(1)
        raise RuntimeError("the terminal is gone")

    burst = Burst(act)
    burst.start()
    with caplog.at_level(logging.ERROR):
        burst.touch()
        wait_until(lambda: len(calls) == 1)
        burst.touch()
        wait_until(lambda: len(calls) == 2)
        burst.stop()
    assert "the terminal is gone" in caplog.text


@pytest.mark.parametrize("poll", [False, True])
def test_a_folder_that_comes_later_is_watched_from_then_on(poll: bool, tmp_path: Path) -> None:
    calls: list[int] = []
    later = tmp_path / "far" / "translations"
    with watching(lambda: Watched(frozenset({later})), lambda interrupted: calls.append(1), poll=poll):
        (later / "ja").mkdir(parents=True)
        wait_until(lambda: bool(calls))
        time.sleep(0.8)
        before = len(calls)
        wait_until(lambda: saved(later / "ja" / "index.po") and len(calls) > before)


def test_a_package_that_is_configured_later_is_watched_from_then_on(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    config = Config(root=tmp_path, packages=("one",))
    calls: list[int] = []
    with watching(lambda: watched(config), lambda interrupted: calls.append(1)):
        config = Config(root=tmp_path, packages=("one", "two"))
        (tmp_path / "pyproject.toml").write_text("")
        wait_until(lambda: bool(calls))
        time.sleep(0.3)
        before = len(calls)
        wait_until(lambda: saved(tmp_path / "two" / "a.py") and len(calls) > before)


def test_a_folder_that_was_put_in_the_place_of_another_is_watched(tmp_path: Path) -> None:
    package, other = tmp_path / "package", tmp_path / "other"
    package.mkdir()
    other.mkdir()
    calls: list[int] = []
    with watching(lambda: Watched(frozenset({package})), lambda interrupted: calls.append(1)):
        package.rename(tmp_path / "old")
        other.rename(package)
        wait_until(lambda: bool(calls))
        time.sleep(0.3)
        before = len(calls)
        wait_until(lambda: saved(package / "a.py") and len(calls) > before)


def test_the_output_and_the_cache_are_not_watched(tmp_path: Path) -> None:
    found = watched(Config(root=tmp_path, packages=(".",)))
    assert tmp_path in found.folders
    assert {tmp_path / "docs", tmp_path / ".site_builder_cache"} == found.ignored


def site(folder: Path) -> Callable[[], Config]:
    (folder / "one.py").write_text('"""# One\n\nIts text.\n"""\n')
    return lambda: Config(root=folder, packages=("one.py",), cache="", theme="theme")


def test_a_browser_that_comes_late_is_told_the_current_build_first(tmp_path: Path) -> None:
    live = Live(site(tmp_path), tmp_path / "copy", lambda line: None)
    live.rebuild()
    first = live.state.build
    live.rebuild()
    queue = live.subscribe()
    told = queue.get_nowait()
    assert told is not None
    assert f'"build": "{live.state.build}"' in told
    assert first != live.state.build


def test_an_edited_template_shows_at_the_next_build(tmp_path: Path) -> None:
    live = Live(site(tmp_path), tmp_path / "copy", lambda line: None)
    live.rebuild()
    template = tmp_path / "theme" / "templates" / "page.html"
    template.parent.mkdir(parents=True)
    for text in ("the first", "the second"):
        template.write_text(text)
        live.rebuild()
        assert (live.read("index.html") or b"").decode().strip() == text


def test_edited_words_of_the_interface_show_at_the_next_build(tmp_path: Path) -> None:
    (tmp_path / "theme" / "templates").mkdir(parents=True)
    (tmp_path / "theme" / "templates" / "page.html").write_text("{% trans %}A word{% endtrans %}")
    (tmp_path / "translations" / "de").mkdir(parents=True)
    base = site(tmp_path)()
    config = Config(**{**vars(base), "languages": ("en", "de")})
    live = Live(lambda: config, tmp_path / "copy", lambda line: None)
    for word in ("Wort", "Worte"):
        head = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n\n'
        (tmp_path / "translations" / "de" / "_interface.po").write_text(
            f'{head}msgid "A word"\nmsgstr "{word}"\n'
        )
        live.rebuild()
        assert (live.read("de/index.html") or b"").decode().strip() == word


def test_only_what_the_build_wrote_is_read(tmp_path: Path) -> None:
    live = Live(site(tmp_path), tmp_path / "copy", lambda line: None)
    live.rebuild()
    (tmp_path / "copy" / "stray.html").write_text("not ours")
    assert live.read("index.html")
    for name in ("stray.html", "../one.py", ".site_builder.json", str(tmp_path / "one.py"), ""):
        assert live.read(name) is None


@pytest.mark.parametrize("verbose", [False, True])
def test_a_fault_of_the_builder_ends_nothing_and_says_how_to_see_where(verbose: bool, tmp_path: Path) -> None:
    def reload() -> Config:
        raise ZeroDivisionError("none")

    said: list[str] = []
    live = Live(reload, tmp_path / "copy", said.append, verbose=verbose)
    live.rebuild()
    assert said[0].startswith("a fault of the builder: ZeroDivisionError: none — ")
    assert ("Traceback" in said[0], "-v" in said[0]) == (verbose, not verbose)
    assert live.state.message["error"] == "ZeroDivisionError: none"


def test_a_failing_terminal_and_a_closed_loop_do_not_end_the_rebuilding(tmp_path: Path) -> None:
    def say(line: str) -> None:
        raise BrokenPipeError

    live = Live(site(tmp_path), tmp_path / "copy", say)
    loop = asyncio.new_event_loop()
    live.attach(loop)
    loop.close()
    live.rebuild()
    assert live.read("index.html")
    (tmp_path / "one.py").unlink()
    live.rebuild()
    assert live.state.message["error"]


class Loop:
    """One that calls at once, so that what browsers are told can be read in its order."""

    def call_soon_threadsafe(self, function: Callable[..., object], *arguments: object) -> None:
        function(*arguments)


class Tab:
    """What a browser that shows one page is told."""

    def __init__(self, live: Live, url: str) -> None:
        self.queue = live.subscribe(url)
        self.greeting = self.told()[0]

    def told(self) -> list[dict[str, Any]]:
        return [json.loads(self.queue.get_nowait() or "") for _ in range(self.queue.qsize())]


@pytest.fixture
def live(tmp_path: Path) -> Live:
    """Three pages, of which the first lists the others by their titles; each built before."""
    for name in ("__init__", "one", "two"):
        (tmp_path / "pkg" / f"{name}.py").parent.mkdir(exist_ok=True)
        (tmp_path / "pkg" / f"{name}.py").write_text(f'"""# Page {name}"""\n')
    (tmp_path / "theme").mkdir()
    config = Config(root=tmp_path, packages=("pkg",), cache="", theme="theme")
    live = Live(lambda: config, tmp_path / "copy", lambda line: None)
    live.attach(cast("asyncio.AbstractEventLoop", Loop()))
    live.rebuild()
    return live


def test_the_page_that_is_looked_at_is_told_of_before_the_others_are_made(live: Live, tmp_path: Path) -> None:
    tab, home = Tab(live, "one.html"), Tab(live, "index.html")
    seen, tell = [], live._tell

    def look(state: State) -> None:
        seen.append(b"Changed" in (live.read("all-pages.html") or b""))
        tell(state)

    live._tell = look  # type: ignore[method-assign]
    (tmp_path / "pkg" / "one.py").write_text('"""# Changed"""\n')
    live.rebuild()
    early, late = tab.told()
    assert "<title>Changed" in early["page"]
    assert early["changed"] == ["index.html", "one.html"]
    assert (early["before"], late["before"]) == (tab.greeting["build"], early["build"])
    assert late["page"] is None
    assert "all-pages.html" in late["changed"]
    assert "one.html" not in late["changed"]
    assert ["Changed" in (told["page"] or "") for told in home.told()] == [True, False]
    assert seen == [False, True]


def test_a_server_that_found_everything_made_has_all_at_hand_after_its_second_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("__init__", "one", "two"):
        (tmp_path / "pkg" / f"{name}.py").parent.mkdir(exist_ok=True)
        (tmp_path / "pkg" / f"{name}.py").write_text(f'"""# Page {name}"""\n')
    config = Config(root=tmp_path, packages=("pkg",))
    Live(lambda: config, tmp_path / "copy", lambda line: None).rebuild()
    live = Live(lambda: config, tmp_path / "copy", lambda line: None)
    live.rebuild(postpone=True)
    live.rebuild()
    # What is not at hand now has to be made again.
    (tmp_path / config.cache / "store.sqlite").unlink()
    woven: list[str] = []

    def spread(function: Callable[..., Any], tasks: Sequence[Task], *more: Any) -> list[Any]:
        woven.extend(task.url for task in tasks)
        return workers.spread(function, tasks, *more)

    monkeypatch.setattr(weaving, "spread", spread)
    (tmp_path / "pkg" / "one.py").write_text('"""# Page one"""\n\nx = 1\n')
    live.rebuild()
    assert woven == ["one.html"]


def test_a_style_sheet_that_was_saved_before_a_build_failed_is_loaded_after_the_next(
    live: Live, tmp_path: Path
) -> None:
    tab = Tab(live, "one.html")
    (tmp_path / "theme" / "static" / "css").mkdir(parents=True)
    (tmp_path / "theme" / "static" / "css" / "page.css").write_text("p {}")
    broken = tmp_path / "theme" / "templates" / "page.html"
    broken.parent.mkdir()
    broken.write_text("{% if %}")
    live.rebuild()
    assert live.state.message["error"]
    broken.unlink()
    live.rebuild()
    assert tab.told()[-1]["look"] != tab.greeting["look"]
    before = live.state.look
    (tmp_path / "pkg" / "one.py").write_text('"""# Page one\n\nMore.\n"""\n')
    live.rebuild()
    assert live.state.look == before


def test_pages_that_nobody_looks_at_are_told_of_once(live: Live, tmp_path: Path) -> None:
    tab = Tab(live, "two.html")
    (tmp_path / "pkg" / "one.py").write_text('"""# Page one\n\nIt says more.\n"""\n')
    live.rebuild()
    (told,) = tab.told()
    assert told["page"] is None
    assert {"one.html", "search/en.js"} <= {*told["changed"]}
    live.leave(tab.queue)
    assert live.seen == frozenset()


def test_what_is_said_of_other_pages_holds_while_they_are_not_made(live: Live, tmp_path: Path) -> None:
    (tmp_path / "pkg" / "two.py").write_text('"""# Page two\n\n[nowhere](nothing.html)\n"""\n')
    live.rebuild()
    tab = Tab(live, "one.html")
    (tmp_path / "pkg" / "one.py").write_text('"""# Page one\n\n[nowhere](neither.html)\n"""\n')
    live.rebuild()
    for told in tab.told():
        assert [found["path"] for found in told["diagnostics"]] == ["pkg/one.py", "pkg/two.py"]


def test_after_a_build_that_broke_off_every_page_is_asked_for(live: Live, tmp_path: Path) -> None:
    """What it had changed by then, it may have told to nobody."""
    tab, home = Tab(live, "one.html"), Tab(live, "all-pages.html")
    contents = tmp_path / "theme" / "templates" / "contents.html"
    contents.parent.mkdir(parents=True)
    contents.write_text("{% for")
    (tmp_path / "pkg" / "one.py").write_text('"""# Changed"""\n')
    live.rebuild()
    early, failed = tab.told()
    assert "<title>Changed" in early["page"]
    assert "contents.html" in failed["error"]
    assert failed["build"] == early["build"]
    contents.unlink()
    live.rebuild()
    _, _, first, last = home.told()
    assert (first["error"], first["before"], last["before"]) == ("", "", first["build"])
    assert "all-pages.html" in last["changed"]
    assert b"Changed" in (live.read("all-pages.html") or b"")


def test_a_save_while_the_rest_is_made_is_not_lost(live: Live, tmp_path: Path) -> None:
    tab, tell = Tab(live, "one.html"), live._tell
    source = tmp_path / "pkg" / "one.py"

    def save(state: State) -> None:
        tell(state)
        source.write_text('"""# Second"""\n')

    source.write_text('"""# First"""\n')
    live._tell = save  # type: ignore[method-assign]
    live.rebuild()
    live._tell = tell  # type: ignore[method-assign]
    live.rebuild()
    pages = [told["page"] for told in tab.told()]
    assert ["Second" in (page or "") for page in pages] == [False, False, True, False]
    assert b"Second" in (live.read("all-pages.html") or b"")


@pytest.mark.parametrize(
    ("event", "finished"),
    [
        (FileClosedEvent("a.py"), True),
        (FileMovedEvent("a.tmp", "a.py"), True),
        (FileModifiedEvent("a.py"), False),
        (FileMovedEvent("a.py", "a.tmp"), False),
        (FileDeletedEvent("a.py"), False),
    ],
)
def test_a_file_is_finished_when_it_was_closed_or_took_the_place_of_another(
    event: FileSystemEvent, finished: bool, tmp_path: Path
) -> None:
    told: list[bool] = []
    handler = Handler(lambda finished=False: told.append(finished), tmp_path)
    event.src_path = str(tmp_path / str(event.src_path))
    event.dest_path = str(tmp_path / str(event.dest_path)) if event.dest_path else ""
    handler.on_any_event(event)
    assert told == [finished]


@pytest.mark.parametrize(
    ("header", "host", "expected"),
    [
        ("localhost:8000", "127.0.0.1", True),
        ("127.0.0.1:8000", "127.0.0.1", True),
        ("[::1]:8000", "::1", True),
        ("evil.example:8000", "127.0.0.1", False),
        ("10.0.0.1:8000", "127.0.0.1", False),
        ("", "127.0.0.1", False),
        ("", "0.0.0.0", False),
        ("evil.example", "0.0.0.0", False),
        ("evil.example:8000", "::", False),
        ("10.0.0.1:8000", "0.0.0.0", True),
        ("[fe80::2]:8000", "::", True),
        ("10.0.0.1.evil.example", "0.0.0.0", False),
        ("[::1].evil.example", "127.0.0.1", False),
        (os.uname().nodename if hasattr(os, "uname") else "localhost", "0.0.0.0", True),
    ],
)
def test_only_our_own_names_are_answered(header: str, host: str, expected: bool) -> None:
    assert permitted(header, host) is expected


def test_the_script_stands_at_the_end_of_the_body_whatever_the_page_quotes() -> None:
    page = b"<body><script>const end = '</body>'</script></body></html>"
    shown = marked("a.html", page, State(build="1"))
    assert shown.startswith(b"<body><script>const end = '</body>'</script><script src=")
    assert shown.endswith(b"</script></body></html>")
    assert marked("404.html", b"no page", State()).startswith(b"no page<script")


def test_a_watcher_that_cannot_watch_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from watchdog.observers.inotify import InotifyObserver as Observer

    def refuse(self: object) -> None:
        raise OSError(28, "inotify watch limit reached")

    monkeypatch.setattr(Observer, "start", refuse)
    with (
        pytest.raises(SiteError, match="inotify watch limit"),
        watching(lambda: Watched(frozenset({tmp_path})), lambda interrupted: None),
    ):
        pass
