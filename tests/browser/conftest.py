"""Pages in a real browser: Debian's Chromium, or the one that `CHROMIUM` names."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.site_builder.starting import REPOSITORY, site_builder

from .desk import Desk, Reading, Tab, Visit, leave, shown, watched

__all__ = ["REPOSITORY", "Reading", "Tab", "Visit", "run_builder", "shown", "watched"]
# A machine that runs all tests at once may take its time; a faulty page takes for ever.
expect.set_options(timeout=30_000)
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.fail("no Chromium: install Debian's package chromium, or name a browser in CHROMIUM")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-background-networking", "--disable-gpu"]
        )
        yield browser
        browser.close()


def run_builder(*arguments: str, cwd: Path) -> None:
    done = site_builder(*arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of our models, built strictly from the repository: once, however many processes run tests."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder = shared / "our-site"
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            run_builder("build", "labml_nn", "-o", str(shared / "docs"), "--strict", cwd=REPOSITORY)
            (shared / "docs").rename(folder)
    return folder


@pytest.fixture(scope="session")
def desk(chromium: Browser) -> Desk:
    return Desk(chromium)


@pytest.fixture
def tab(desk: Desk) -> Iterator[Tab]:
    """Opens a blank page for a reader of some kind, for as long as the test runs."""
    opened: list[Page] = []

    def blank(**kind: Any) -> Page:
        opened.append(desk.blank(**kind))
        return opened[-1]

    yield blank
    for page in opened:
        leave(page)


@pytest.fixture
def visit(tab: Tab) -> Visit:
    return watched(tab())


@pytest.fixture
def reading(desk: Desk) -> Iterator[Reading]:
    """
    A page that others have read before: for tests that only look, or whose doings a press of Escape undoes. The theme
    and the like, which nothing undoes, are chosen on a page of one's own.
    """
    read: list[tuple[Visit, Path]] = []

    def page(target: Path, **kind: Any) -> Visit:
        read.append((desk.page(target, **kind), target))
        return read[-1][0]

    yield page
    for visit, target in read:
        desk.settle(visit, target)
