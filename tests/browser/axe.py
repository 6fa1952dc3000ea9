"""What axe, which knows the rules of accessibility, finds wrong on a page."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

SCRIPT = Axe().axe_script
# What is right comes back too if it is not left behind, and takes longer on its way than axe does to find it.
RUN = """async parts => {
    const where = parts.length ? { include: parts.map(part => [part]) } : document;
    const found = await axe.run(where, { resultTypes: ["violations"] });
    return found.violations.flatMap(one => one.nodes.map(node => `${one.id}: ${one.help}: ${node.html}`));
}"""


def violations(page: Page, *parts: str) -> list[str]:
    """A line for each fault: of the page as it stands, or of some parts of it."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(SCRIPT)
    found: list[str] = page.evaluate(RUN, parts)
    return found
