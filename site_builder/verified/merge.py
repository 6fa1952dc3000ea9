"""
---
title: What a new run changes
summary: The file after some tests ran again, from the file before.
---
# What a new run changes

Tests need not all run for the file to be made anew. What is true of it afterwards:

* a test that ran as a whole and passed has exactly the findings that it reported just now;
* of a test with cases that did not run (left out by `-k`, skipped for want of a package) the larger error stands;
* a test that failed has no findings, and neither has one that is gone from its file, or whose file is gone;
* a test that did not run keeps its findings while the module's code is still the code that it tested;
* a module that no test spoke of stays as it was, and is dropped once it is no page any more.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from site_builder.verified.model import Finding, Module, largest, rounded
from site_builder.verified.verify import Comparison


@dataclass(frozen=True, slots=True)
class Heard:
    """A comparison in a test that passed, and the digest of the code that it tested."""

    test: str
    code: str
    comparison: Comparison

    @property
    def finding(self) -> Finding:
        seen = self.comparison
        return Finding(seen.against, seen.what, seen.dtype, rounded(seen.error), self.test)


@dataclass(frozen=True)
class Run:
    """What one run of the tests gave. Tests are named without their cases."""

    heard: tuple[Heard, ...] = ()
    whole: Collection[str] = frozenset()
    """Tests of which every case ran and passed."""
    failed: Collection[str] = frozenset()
    is_gone: Callable[[str], bool] = lambda test: False
    """Whether there is no such test any more."""
    is_page: Callable[[str], bool] = lambda module: True


def merged(old: Mapping[str, Module], run: Run) -> dict[str, Module]:
    """The modules after the run."""
    heard: dict[str, list[Heard]] = {}
    for one in run.heard:
        if one.test not in run.failed:
            heard.setdefault(one.comparison.module, []).append(one)
    result = {}
    for name in sorted({*old, *heard}):
        if name not in heard and not run.is_page(name):
            continue
        codes = {one.code for one in heard.get(name, ())} or {old[name].code}
        # Two codes: the file was edited while the tests ran, and nobody knows what was tested.
        if len(codes) > 1:
            continue
        code = codes.pop()
        findings = [*_kept(old.get(name), code, run), *(one.finding for one in heard.get(name, ()))]
        if findings:
            result[name] = Module(code, largest(findings))
    return result


def _kept(module: Module | None, code: str, run: Run) -> Iterator[Finding]:
    if module is not None and module.code == code:
        for found in module.findings:
            again = found.test in run.whole or found.test in run.failed
            if not again and not run.is_gone(found.test):
                yield found
