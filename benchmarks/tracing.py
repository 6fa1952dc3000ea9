"""
What recording costs: the examples of pages, traced against untraced.

    python benchmarks/tracing.py [transformers/mha feedback …] [--rounds 5] [--package labml_nn] [--quick]

Every number is a ratio of processor time, traced / untraced, of the same examples, in processes forked from the same
one, in turns, the best of several rounds each. Imports are no part of it: they are the same for both, and most of a
page's time. Pages whose examples take less than a fifth of a second count in the sum only: below that, a ratio
says more of the clock than of the tracer. The goal is that recording at most doubles the time.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

from site_builder.config import load
from site_builder.discover import discover
from site_builder.model import Page
from site_builder.parse import parse
from site_builder.record import Limits
from site_builder.record.timing import timed

GOAL = 2.0
TOLD_FROM = 0.2
"""Seconds of examples from which a page's own ratio is held against the goal."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.strip().partition("\n")[0])
    parser.add_argument("pages", nargs="*", help="parts of the addresses of pages; all, if there are none")
    parser.add_argument("--package", default="labml_nn")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="two rounds")
    arguments = parser.parse_args()
    rounds = 2 if arguments.quick else arguments.rounds
    root = Path(__file__).resolve().parents[1]
    config = load(root)
    pages = [page for page in _pages(root, arguments.package) if _wanted(page, arguments.pages)]
    print(f"{'page':44} {'untraced s':>11} {'traced s':>9} {'ratio':>6}   goal ≤ {GOAL:.0f}")
    sums: defaultdict[bool, float] = defaultdict(float)
    for page, plain, traced in timed(pages, Limits.of(config), rounds):
        sums[False] += plain
        sums[True] += traced
        told = plain >= TOLD_FROM
        verdict = "" if not told else "ok" if traced <= GOAL * plain else "MISSED"
        print(
            f"{page.url:44} {plain:11.3f} {traced:9.3f} {traced / max(plain, 1e-9):6.2f}   {verdict}",
            flush=True,
        )
    if sums[False]:
        ratio = sums[True] / sums[False]
        verdict = "ok" if ratio <= GOAL else "MISSED"
        print(f"{'all of them':44} {sums[False]:11.3f} {sums[True]:9.3f} {ratio:6.2f}   {verdict}")


def _pages(root: Path, package: str) -> list[Page]:
    from site_builder.config import Config

    sources = discover(Config(root=root, packages=(package,))).sources
    return [parse(source, Path(source.file).read_bytes()) for source in sources if not source.is_markdown]


def _wanted(page: Page, parts: list[str]) -> bool:
    return not parts or any(part in page.url for part in parts)


if __name__ == "__main__":
    main()
