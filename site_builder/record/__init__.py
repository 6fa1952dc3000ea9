"""
---
title: The evidence
summary: Runs the examples of pages, in processes of their own, and says what each statement produced.
---
# The evidence

    recorded = record_pages(config, pages, only=urls, store=store, jobs=jobs)
    recorded.records[url]        # a Record
    recorded.diagnostics         # what is wrong with examples, at the lines where they now stand

A [`Record`](model.html) speaks of statements and docstrings by their ordinals, so that a cached one fits a page
whose prose has moved. [`Outline.of`](outline.html) says which lines those are now.

Only pages with examples have a record. Running them runs the author's code: whether that may be done is for the
caller to say, by `only`.
"""

from __future__ import annotations

import doctest
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from site_builder import parse
from site_builder.cache import Store
from site_builder.config import Config
from site_builder.errors import Diagnostic
from site_builder.model import Page
from site_builder.record.crew import Task, run
from site_builder.record.keys import Keys, code_digest
from site_builder.record.model import Fault, Record
from site_builder.record.outline import Outline
from site_builder.record.values import extensions
from site_builder.record.worker import Job

__all__ = [
    "Limits",
    "Outline",
    "Record",
    "Recorded",
    "code_digest",
    "diagnostics",
    "record_pages",
]

KIND = "record"


@dataclass(frozen=True)
class Limits:
    """What the examples of one page may use, and how they are compared: the words of `doctest.OPTIONFLAGS_BY_NAME`."""

    seconds: int = 60
    megabytes: int = 4096
    output: int = 64_000
    options: tuple[str, ...] = ()

    @staticmethod
    def of(config: Config) -> Limits:
        return Limits(config.example_seconds, config.example_megabytes, options=config.example_options)

    @property
    def flags(self) -> int:
        return sum(doctest.OPTIONFLAGS_BY_NAME[name] for name in set(self.options))


@dataclass(frozen=True)
class Recorded:
    """Records by URL, what is wrong, which pages were really run, and the processor time of their examples."""

    records: Mapping[str, Record] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()
    ran: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)


def record_pages(
    config: Config,
    pages: Sequence[Page],
    *,
    only: Collection[str] | None = None,
    store: Store | None = None,
    jobs: int = 1,
    limits: Limits | None = None,
    progress: Callable[[int, int], None] | None = None,
    traced: bool = True,
) -> Recorded:
    """
    The records of those pages that have examples, run where the store does not know them. `pages` are all that
    are built, since a record depends on what its page imports of them; `only` are the URLs of those that may run.
    `traced=False` runs the examples and looks at nothing: what tracing costs is measured against that.
    """
    limits = limits or Limits.of(config)
    store = store if store is not None else Store()
    keys = Keys(pages, store)
    settings, plugins = (repr(limits.output), repr(limits.flags), repr(traced)), extensions()
    wanted = {
        keys.key(page, settings, plugins): page
        for page in pages
        if (only is None or page.url in only) and keys.has_examples(page)
    }
    records: dict[str, Record] = {}
    for key, data in store.get_many(KIND, wanted).items():
        with suppress(ValueError):
            records[wanted[key].url] = Record.from_bytes(data)
    missing = [(key, page) for key, page in wanted.items() if page.url not in records]
    tasks = [Task(page, _outline(page), _job(page, limits, traced)) for _, page in missing]
    seconds: dict[str, float] = {}
    for place, record, took in run(tasks, max(1, jobs)):
        key, page = missing[place]
        records[page.url] = record
        seconds[page.url] = took
        if all(fault.lasting for fault in record.faults):
            store.put(KIND, key, record.to_bytes())
        if progress:
            progress(len(records), len(wanted))
    ordered = {page.url: records[page.url] for page in wanted.values()}
    faults = [fault for page in wanted.values() for fault in diagnostics(page, ordered[page.url])]
    return Recorded(ordered, tuple(sorted(faults)), tuple(page.url for _, page in missing), seconds)


def diagnostics(page: Page, record: Record) -> tuple[Diagnostic, ...]:
    """What went wrong, said of the lines at which it now stands."""
    if not record.faults:
        return ()
    outline = _outline(page)
    return tuple(
        Diagnostic(page.source.path, *_place(outline, record, fault), fault.code, fault.message, fault.hint)
        for fault in record.faults
    )


def _outline(page: Page) -> Outline:
    return Outline.of(parse.encode(page))


def _place(outline: Outline, record: Record, fault: Fault) -> tuple[int, int]:
    if fault.example is not None and fault.example < len(record.examples):
        example = record.examples[fault.example]
        docstring = outline.docstring(example.owner)
        if docstring is not None:
            column = (
                docstring.examples[example.number].indent if example.number < len(docstring.examples) else 0
            )
            return docstring.line_of(example.number), column + 1
    if fault.code == "example-syntax" and fault.statement is not None:
        docstring = outline.docstring(fault.statement)
        return (docstring.fault_line if docstring else 1), 1
    if fault.statement is not None and 0 <= fault.statement < len(outline.lines):
        node = outline.lines[fault.statement].node
        return node.lineno, node.col_offset + 1
    return 1, 1


def _job(page: Page, limits: Limits, traced: bool) -> Job:
    file = Path(page.source.file).absolute()
    parts = page.source.module.split(".")
    inner = file.parent if page.source.is_package else file.with_suffix("")
    root = ""
    if list(inner.parts[-len(parts) :]) == parts:
        root = str(inner.parents[len(parts) - 1])
    return Job(
        page.source.module,
        str(file),
        root,
        limits.seconds,
        limits.megabytes,
        limits.output,
        limits.flags,
        traced,
    )
