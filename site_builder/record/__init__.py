"""
---
title: The evidence
summary: Runs the examples of pages, in processes of their own, and says what each statement produced.
order:
  [crew, supervise, worker, sandbox, examples, tracer, follower, codes, outline, targets, notes, values, arrays,
  objects, modules, model, keys, facts, beside, sources, limits, neutral, processes, faults, timing]
---
# The evidence

    recording = Recording(config, cards, read, store)
    recording.known(urls)       # records that the store has, as bytes
    recording.run(urls, page)   # runs the examples of these pages: URL, Record, and whether it would be the same again

So a build, which has cards of all pages, parses only what it runs; `diagnostics` tells what went wrong, at the lines of
today.

A [`Record`](model.html) speaks of statements and docstrings by their ordinals, so that a cached one fits a page
whose prose has moved. [`Outline.of`](outline.html) says which lines those are now.

Only pages with examples have a record. Running them runs the author's code: whether that may be done is for the
caller to know, from `config.execute`.

Three kinds of processes take part. The builder hands out tasks ([crew](crew.html)); one process
[watches](supervise.html) and forks; its children [run one page each](worker.html). Inside a child, the
[tracer](tracer.html) and the [follower](follower.html) see the statements go by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from site_builder import installed
from site_builder.cache import Store, digest
from site_builder.config import Config
from site_builder.errors import Diagnostic
from site_builder.index import Card
from site_builder.lazy import later
from site_builder.model import Page

if TYPE_CHECKING:
    from site_builder.record.facts import code_digest
    from site_builder.record.limits import Limits
    from site_builder.record.model import Fault, Record
    from site_builder.record.outline import Outline, outline_of

__all__ = [
    "Limits",
    "Outline",
    "Record",
    "Recording",
    "code_digest",
    "diagnostics",
    "outline_of",
]

KIND, FAILED = "record", "failed"
"""What records are kept as: those that tell something, and those of a run that something around the page ended."""
PASSING = ("module-changed", "module-import", "record-failed")
"""The codes of what may be over a moment later. Of time and memory the next run, on the same machine, says the same."""

# A page without examples needs none of these.
_HOMES = {
    "Limits": "limits",
    "Outline": "outline",
    "Record": "model",
    "code_digest": "facts",
    "outline_of": "outline",
}
__getattr__ = later(__name__, _HOMES)


class Recording:
    """
    The records of a site. A record depends on what its page imports, so `cards` are those of all pages; `read` gives
    the bytes of a card's file, `state` the digest of any other, and `page` the page of a URL that has to be run.

    What another run might end otherwise, such as an example that took too long, is not kept in the store. A build that
    somebody starts runs it again: the machine may have been busy, and nobody would think of asking for more than that.
    But one that follows each save must not spend a minute each time on what nobody has touched, while the author waits.
    It hands a `session`, which remembers that too, by the key and the limits, as long as the process lives.
    """

    def __init__(
        self,
        config: Config,
        cards: Iterable[Card],
        read: Callable[[Card], bytes],
        store: Store,
        limits: Limits | None = None,
        state: Callable[[str], bytes] | None = None,
        session: Store | None = None,
    ) -> None:
        from site_builder.record.beside import Project, digest_of
        from site_builder.record.keys import Keys
        from site_builder.record.limits import Limits

        self.limits, self.store, self.session = limits or Limits.of(config), store, session
        cards = tuple(cards)
        project = Project(config.root, (card.source for card in cards), store, state or digest_of)
        self._keys = Keys(cards, read, store, project)
        settings, plugins = (repr(self.limits.output), repr(self.limits.flags)), installed.extensions()
        self._cards = {card.url: card for card in self._keys.cards.values() if self._keys.has_examples(card)}
        self.keys = {url: self._keys.key(card, settings, plugins) for url, card in self._cards.items()}
        """Of the pages that have examples: what their records are kept under."""
        self.project = project
        """What of it the keys depend on besides the pages."""

    def known(self, urls: Iterable[str]) -> dict[str, bytes]:
        """The records that the store has of these pages, as bytes."""
        from site_builder.record.model import Record

        found: dict[str, bytes] = {}
        wanted = {self.keys[url]: url for url in urls if url in self.keys}
        for key, data in self.store.get_many(KIND, wanted).items():
            with suppress(ValueError):
                Record.from_bytes(data)
                found[wanted[key]] = data
        return found

    def fleeting(self, urls: Iterable[str]) -> dict[str, bytes]:
        """Those that the store does not have and the session remembers."""
        return self._remembered(KIND, urls)

    def failed(self, urls: Iterable[str]) -> dict[str, bytes]:
        """What came of the last run of these pages, where something around them kept it from being more."""
        return self._remembered(FAILED, urls)

    def _remembered(self, kind: str, urls: Iterable[str]) -> dict[str, bytes]:
        wanted = {self._fleeting(url): url for url in urls if url in self.keys}
        found = self.session.get_many(kind, wanted) if self.session else {}
        return {wanted[key]: data for key, data in found.items()}

    def _fleeting(self, url: str) -> bytes:
        """With more time or more memory it may go otherwise."""
        return digest(self.keys[url], repr(self.limits))

    def run(
        self,
        urls: Sequence[str],
        page: Callable[[str], Page],
        jobs: int = 1,
        interrupted: Callable[[], bool] | None = None,
    ) -> Iterator[tuple[str, Record, bool]]:
        """
        Runs the examples of these pages. Each record comes with whether it would be the same another time. What still
        runs when `interrupted` says so is ended and does not come.
        """
        # Imported late: a build that runs nothing has no need of it.
        from site_builder.record.crew import run, task

        tasks = [
            task(
                page(url), self.limits, self._keys.loads(self._cards[url]), self._keys.read(self._cards[url])
            )
            for url in urls
        ]
        for done in run(tasks, max(1, jobs), interrupted):
            url = urls[done.place]
            if done.lasting:
                self.store.put(KIND, self.keys[url], done.record.to_bytes())
            elif self.session:
                failed = any(fault.code in PASSING for fault in done.record.faults)
                self.session.put(FAILED if failed else KIND, self._fleeting(url), done.record.to_bytes())
            yield url, done.record, done.lasting


def diagnostics(page: Page, record: Record) -> tuple[Diagnostic, ...]:
    """What went wrong, said of the lines at which it now stands."""
    if not record.faults:
        return ()
    from site_builder.record.outline import outline_of

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
