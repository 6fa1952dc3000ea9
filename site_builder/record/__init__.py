"""
---
title: The evidence
summary: Runs the examples of pages, in processes of their own, and says what each statement produced.
order:
  [crew, supervise, worker, sandbox, examples, tracer, follower, codes, outline, targets, notes, values, arrays,
  objects, modules, model, keys, sources, limits, neutral, processes, faults, timing]
---
# The evidence

    recorded = record_pages(config, pages)
    recorded.records[url]   # a Record
    recorded.diagnostics    # faults, at the lines of today

A [`Record`](model.html) speaks of statements and docstrings by their ordinals, so that a cached one fits a page
whose prose has moved. [`Outline.of`](outline.html) says which lines those are now.

Only pages with examples have a record. Running them runs the author's code: whether that may be done is for the
caller to know, from `config.execute`.

Three kinds of processes take part. The builder hands out tasks ([crew](crew.html)); one process
[watches](supervise.html) and forks; its children [run one page each](worker.html). Inside a child, the
[tracer](tracer.html) and the [follower](follower.html) see the statements go by.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from site_builder.cache import Store
from site_builder.config import Config
from site_builder.errors import Diagnostic
from site_builder.model import Page
from site_builder.record.crew import run, task
from site_builder.record.keys import Keys, code_digest
from site_builder.record.limits import Limits
from site_builder.record.model import Fault, Record
from site_builder.record.outline import Outline, outline_of
from site_builder.record.timing import timed
from site_builder.record.values import extensions

__all__ = [
    "Limits",
    "Outline",
    "Record",
    "Recorded",
    "code_digest",
    "diagnostics",
    "outline_of",
    "record_pages",
    "timed",
]

KIND = "record"


@dataclass(frozen=True)
class Recorded:
    """Records by URL, what is wrong, and which pages were really run."""

    records: Mapping[str, Record] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()
    ran: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    """The pages with examples that were not run, since only what is known was asked for."""


def record_pages(
    config: Config,
    pages: Sequence[Page],
    *,
    only: Collection[str] | None = None,
    store: Store | None = None,
    jobs: int = 1,
    limits: Limits | None = None,
    progress: Callable[[int, int], None] | None = None,
    known: bool = False,
) -> Recorded:
    """
    The records of those pages that have examples, run where the store does not know them. `pages` are all that
    are built, since a record depends on what its page imports of them; `only` are the URLs of those that may run.
    `known=True` runs nothing at all: pages whose record the store lacks have none.
    """
    limits = limits or Limits.of(config)
    store = store if store is not None else Store()
    keys = Keys(pages, store)
    settings, plugins = (repr(limits.output), repr(limits.flags)), extensions()
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
    if known:
        missing = []
    tasks = [task(page, limits, keys.loads(page), keys.read(page)) for _, page in missing]
    for done in run(tasks, max(1, jobs)):
        key, page = missing[done.place]
        records[page.url] = done.record
        if done.lasting:
            store.put(KIND, key, done.record.to_bytes())
        if progress:
            progress(len(records), len(wanted))
    told = [page for page in wanted.values() if page.url in records]
    faults = [fault for page in told for fault in diagnostics(page, records[page.url])]
    return Recorded(
        {page.url: records[page.url] for page in told},
        tuple(sorted(faults)),
        tuple(page.url for _, page in missing),
        tuple(page.url for page in wanted.values() if page.url not in records),
    )


def diagnostics(page: Page, record: Record) -> tuple[Diagnostic, ...]:
    """What went wrong, said of the lines at which it now stands."""
    if not record.faults:
        return ()
    outline = outline_of(page)
    return tuple(
        Diagnostic(page.source.path, *_place(outline, record, fault), fault.code, fault.message, fault.hint)
        for fault in record.faults
    )


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
