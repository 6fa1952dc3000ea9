"""
---
title: Verified against
summary: "What the tests compared a page with, and how near they came: shown while it is true."
order: [plugin, verify, model, merge]
---
# Verified against

A test that holds a module against something that others wrote says so in one line, by the fixture of our
[pytest plugin](plugin.html):

    def test_the_layer_is_torchs_own(verified):
        …
        verified(ours, theirs, against="torch.nn.MultiheadAttention", of=MultiHeadAttention)

`pytest --verified-write` collects what such tests saw into one [file](model.html), which is committed. A page
lists what the file says of its module, but only while the code is the code that was tested: a better sentence
changes nothing, a changed line hides all of it until the tests have run again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from site_builder.errors import Diagnostic
from site_builder.lazy import later

if TYPE_CHECKING:
    from site_builder.config import Config
    from site_builder.index import Card
    from site_builder.model import Page
    from site_builder.verified.model import Module, Row
    from site_builder.verified.verify import Verify

__all__ = ["Row", "Verified", "Verify", "code_of", "read"]


# A project whose tests say nothing needs none of these.
__getattr__ = later(__name__, {"Module": "model", "Row": "model", "Verify": "verify"})


@dataclass(frozen=True, eq=False, repr=False)
class Verified:
    """What the file says. `exists` is false in a project that has none, of whose pages nothing is to be said."""

    exists: bool = False
    modules: Mapping[str, Module] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()

    @cached_property
    def packages(self) -> frozenset[str]:
        """Those that tests compare with others' work. Of the rest nobody said that they would."""
        return frozenset(map(_top, self.modules))

    def about(self, page: Page | Card) -> Module | None:
        """
        All that was ever found of the page, true or not. Nothing without a file, or with one that is about other
        packages than the page's; else at least an empty entry.
        """
        if not self.exists or (self.modules and _top(page.source.module) not in self.packages):
            return None
        from site_builder.verified.model import Module

        return (not page.source.is_markdown and self.modules.get(page.source.module)) or Module("", ())

    def was(self, page: Page) -> bool:
        """Whether something was found of the page, be it of the code that it had before."""
        found = self.about(page)
        return found is not None and bool(found.findings)

    def rows(self, page: Page) -> tuple[Row, ...] | None:
        """What is true of this page: nothing (`()`) once its code is another. `None` where `about` has nothing."""
        found = self.about(page)
        if found is None:
            return None
        return found.rows if found.findings and found.code == _digest(page) else ()


def read(config: Config) -> Verified:
    """The file that the configuration names. One that is none of ours is a diagnostic, and says nothing."""
    file = config.folder(config.verified)
    if not config.verified or not file.is_file():
        return Verified()
    from site_builder.verified.model import MalformedError, from_bytes

    try:
        return Verified(True, from_bytes(file.read_bytes()))
    except (MalformedError, OSError) as error:
        line, column = (error.line, error.column) if isinstance(error, MalformedError) else (1, 1)
        hint = "delete it, and let `pytest --verified-write` make it again"
        return Verified(
            diagnostics=(Diagnostic(config.verified, line, column, "verified-file", str(error), hint),)
        )


def _top(module: str) -> str:
    return module.partition(".")[0]


def code_of(file: Path) -> str:
    """What the findings of a module stand and fall with."""
    # Only who writes or shows findings pays for what can digest code, not every run of the tests.
    from site_builder.record import code_digest

    return code_digest(file.read_bytes()).hex()


def _digest(page: Page) -> str:
    from site_builder.parse import encode
    from site_builder.record import code_digest

    return code_digest(encode(page)).hex()
