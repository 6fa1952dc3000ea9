"""Where readers sit: pages in a browser, opened as seldom as what is asked of them allows."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page

Tab = Callable[..., Page]
Reading = Callable[..., "Visit"]

SCREEN = {"width": 1440, "height": 900}
COMMON = {"viewport": SCREEN, "color_scheme": "light"}

SETTLE = """() => {
    getSelection().removeAllRanges();
    document.activeElement?.blur();
    localStorage.clear();
    history.replaceState(null, "", location.pathname);
    scrollTo({ top: 0, behavior: "instant" });
}"""

DRAWN = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""Until a frame has been drawn, and whoever watches for sizes has heard of it."""


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
    readers alike sit at one. And to open a page takes longer than most of what is asked of it: a few stay open.
    """

    ROOM = 6

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.contexts: dict[str, BrowserContext] = {}
        self.kept: dict[str, Visit] = {}

    def blank(self, **kind: Any) -> Page:
        name = named(kind)
        if name not in self.contexts:
            self.contexts[name] = self.browser.new_context(**COMMON | kind)
        return self.contexts[name].new_page()

    def page(self, target: Path, **kind: Any) -> Visit:
        name = f"{target} {named(kind)}"
        visit = self.kept.pop(name, None)
        if visit is None:
            visit = watched(self.blank(**kind))
            visit.open(target)
        self.kept[name] = visit
        return visit

    def settle(self, visit: Visit, target: Path) -> None:
        """The page as it was when it had been opened; or it is opened again next time."""
        page = visit.page
        if page.url.partition("#")[0] == target.as_uri():
            page.set_viewport_size(SCREEN)  # type: ignore[arg-type]
            page.mouse.move(0, 0)
            for _ in range(2):
                page.keyboard.press("Escape")
            page.evaluate(SETTLE)
        else:
            self.leave(visit)
        while len(self.kept) > self.ROOM:
            self.leave(next(iter(self.kept.values())))

    def leave(self, visit: Visit) -> None:
        self.kept = {name: other for name, other in self.kept.items() if other is not visit}
        leave(visit.page)


def named(kind: dict[str, Any]) -> str:
    return json.dumps(COMMON | kind, sort_keys=True)


def leave(page: Page) -> None:
    """Closes it. What it keeps in the browser must not greet who comes next."""
    page.evaluate("() => { try { localStorage.clear(); } catch { /* a page of nowhere has none */ } }")
    page.close()


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
