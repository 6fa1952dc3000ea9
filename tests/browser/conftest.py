"""Pages in a real browser: Debian's Chromium, or the one that `CHROMIUM` names."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.site_builder.starting import REPOSITORY, site_builder

__all__ = ["REPOSITORY", "Tab", "Visit", "run_builder", "shown", "watched"]

Tab = Callable[..., Page]
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


@dataclass
class Visit:
    """A page in a browser, and everything that went wrong while it was there."""

    page: Page
    messages: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def open(self, target: Path | str) -> Page:
        return shown(self.page, target)


class Desk:
    """
    Readers of all kinds, as Playwright's options of a context. To open a context takes as long as to open two pages:
    readers alike sit at one, each before a page that is closed when they go.
    """

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.contexts: dict[str, BrowserContext] = {}

    def open(self, **kind: Any) -> Page:
        kind = {"viewport": {"width": 1440, "height": 900}, **kind}
        name = json.dumps(kind, sort_keys=True)
        if name not in self.contexts:
            self.contexts[name] = self.browser.new_context(**kind)
        return self.contexts[name].new_page()


def leave(page: Page) -> None:
    """Closes it. What it keeps in the browser must not greet who comes next."""
    page.evaluate("() => { try { localStorage.clear(); } catch { /* a page of nowhere has none */ } }")
    page.close()


@pytest.fixture(scope="session")
def desk(chromium: Browser) -> Desk:
    return Desk(chromium)


@pytest.fixture
def tab(desk: Desk) -> Iterator[Tab]:
    """Opens a blank page for a reader of some kind, for as long as the test runs."""
    opened: list[Page] = []

    def one(**kind: Any) -> Page:
        opened.append(desk.open(**kind))
        return opened[-1]

    yield one
    for page in opened:
        leave(page)


@pytest.fixture
def visit(tab: Tab) -> Visit:
    return watched(tab())


def watched(page: Page) -> Visit:
    visit = Visit(page)
    visit.page.on("console", lambda message: visit.messages.append(message.text))
    visit.page.on("pageerror", lambda error: visit.messages.append(str(error)))
    visit.page.on("request", lambda request: visit.requests.append(request.url))
    return visit


def shown(page: Page, target: Path | str) -> Page:
    """The page, once it is drawn with its own fonts."""
    page.goto(target.as_uri() if isinstance(target, Path) else target)
    page.evaluate("document.fonts.ready")
    return page
