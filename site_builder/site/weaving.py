"""
---
title: The pages of one build
summary: Which of them lie there as they would be woven, and what the others are woven from.
---
# The pages of one build

A page has a key, of all that it depends on by itself, and a log of what it asked of the others. If both are as they
were when it was woven, it is not woven again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cached_property, partial

from site_builder import record, verified
from site_builder.cache import digest
from site_builder.errors import Diagnostic
from site_builder.model import Page
from site_builder.site.acquaintance import Acquaintance
from site_builder.site.files import Files
from site_builder.site.inputs import size
from site_builder.site.ledger import Ledger
from site_builder.site.pages import Context, Entry, Task, woven
from site_builder.site.reading import loaded, page_key, source_of
from site_builder.site.report import Audience, Progress, Report, StoppedError, telling
from site_builder.site.shelf import Shelf
from site_builder.site.survey import Survey, digest_of
from site_builder.site.workers import spread
from site_builder.weave.site import Log
from site_builder.write import Output

WOVEN, ASKED = "woven", "asked"

Place = tuple[str, str]
"""The URL of a page and a language."""


class Weaving:
    """What has been found out of the pages so far."""

    def __init__(
        self,
        inputs: Survey,
        met: Acquaintance,
        shelf: Shelf,
        files: Files,
        *,
        jobs: int,
        progress: Progress | None,
        interrupted: Callable[[], bool] | None,
    ) -> None:
        self.inputs, self.shelf, self.files = inputs, shelf, files
        self.jobs, self.progress, self.interrupted = jobs, progress, interrupted
        self.config = inputs.config
        self.site, self.identity, self.cards = met.site, met.identity, met.cards
        self.verified = verified.read(inputs.config)
        self.steady = met.steady
        """Whether the same inputs would give the same again."""
        self.waiting = False
        """Whether examples were postponed."""
        self.diagnostics = {*inputs.faults, *met.site.index.diagnostics, *self.verified.diagnostics}
        self.recording = None
        if self.config.execute:
            self.recording = record.Recording(
                self.config,
                self.cards.values(),
                partial(source_of, self.config),
                shelf.store,
                state=digest_of,
                session=shelf.session,
            )
        self.entries: dict[Place, Entry] = {}
        self.taken: dict[bytes, bytes] = {}
        """By the keys of the pages that were taken as they lay, the digest of what they had asked."""
        self.fresh: dict[bytes, Entry] = {}
        """By the keys of the pages that were woven now."""
        self.logs: dict[bytes, bytes] = {}
        """What these have asked, pickled, by its digest: the same page may have asked something else before."""

    @cached_property
    def places(self) -> dict[Place, str]:
        """Every page in every language that is built now, and where it stands."""
        return {
            (url, lang): self.site.url(url, lang)
            for lang in self.config.built_languages
            for url in self.site.index.order
            if self.site.covers(url, lang)
        }

    def weave(
        self, output: Output, last: Ledger, *, postpone: bool, audience: Audience | None = None
    ) -> None:
        """Weaves the pages that nobody has woven from the same, or whose files are not what they should be."""
        context = Context(
            self.site, self.cards, output, self.inputs.catalogues, self.inputs.looks, self.verified
        )
        seen = [place for place, url in self.places.items() if audience and url in audience.urls]
        if not postpone:
            # Examples are run once for all languages.
            pages = {url for url, _ in seen}
            seen = [place for place in self.places if place[0] in pages]
        made = self._weave(seen, context, last, postpone=postpone)
        if audience and made:
            audience.told(self._so_far(made, last))
        first = frozenset(seen)
        self._weave([place for place in self.places if place not in first], context, last, postpone=postpone)
        self.steady &= not self.waiting
        self.diagnostics |= self._said()

    def _weave(
        self, places: Collection[Place], context: Context, last: Ledger, *, postpone: bool
    ) -> list[Task]:
        """Tells what had to be done."""
        keys = {place: self._key(place) for place in places}
        self._take(keys, context.output, last)
        lacking = self._lacking(keys)
        records, fleeting, unknown = self._records(lacking)
        postponed: set[str] = set()
        if postpone and unknown and self.recording:
            self.waiting = True
            # What failed for a reason that may have gone is tried again, and stays as it is until then.
            failed = self.recording.failed(unknown)
            records |= failed
            fleeting |= {*failed}
            postponed = {*unknown} - failed.keys()
            waiting = {place: digest("waiting", key) for place, key in keys.items() if place[0] in postponed}
            keys |= waiting
            self._take(waiting, context.output, last)
            lacking = self._lacking(keys)
        self.taken |= {keys[place]: self.entries[place].asked for place in places if place in self.entries}
        fleeting |= self._run(unknown, records) if not postpone else set()
        tasks = [
            Task(url, tuple(languages), records.get(url, b""), url in postponed)
            for url, languages in lacking.items()
        ]
        report, weight = telling(self.progress, "weaving"), lambda task: size(self.cards[task.url].source)
        for done in spread(woven, tasks, context, self.jobs, report, weight):
            for lang, entry in done.entries.items():
                self.entries[done.url, lang] = entry
                if not entry.digest or done.url in fleeting:
                    self.steady = False
                else:
                    self.fresh[keys[done.url, lang]] = entry
                    self.logs[entry.asked] = done.logs[lang]
            for url, (seen, changed) in done.files.items():
                self.files.put(url, seen, changed)
        return tasks

    def _said(self) -> set[Diagnostic]:
        """What is said of the pages that are there."""
        said: set[Diagnostic] = set()
        spoken: dict[str, Entry] = {}
        for place in self.places:
            if entry := self.entries.get(place):
                said.update(entry.diagnostics)
                spoken.setdefault(place[0], entry)
        for entry in spoken.values():
            said.update(entry.unkept)
        return said

    def _so_far(self, tasks: list[Task], last: Ledger) -> Report:
        """What was said of other pages than these is still to be confirmed, and holds until then."""
        paths = {self.cards[task.url].source.path for task in tasks}
        said = self._said() | {found for found in last.diagnostics if found.path not in paths}
        return Report(
            tuple(sorted(self.diagnostics | said)),
            len(self.site.index.order),
            self.files.written(),
            changed=tuple(sorted(self.files.changed)),
        )

    def _key(self, place: Place) -> bytes:
        """What a page depends on, but for what it asks of the others."""
        url, lang = place
        card = self.cards[url]
        return digest(
            page_key(card.source, card.digest),
            self._common[lang],
            self.inputs.catalogues.get((lang, url), b""),
            self.recording.keys.get(url, b"") if self.recording else b"",
            repr(self.verified.about(card)),
            # The first page of a language tells what is wrong with what all of them have in common.
            str(url == self.site.index.order[0]),
        )

    @cached_property
    def _common(self) -> dict[str, bytes]:
        """What of that is the same for all pages of a language."""
        inputs, config = self.inputs, self.config
        return {
            lang: digest(inputs.settings, inputs.looks[lang], lang, str(config.execute))
            for lang in config.built_languages
        }

    def _take(self, keys: Mapping[Place, bytes], output: Output, last: Ledger) -> None:
        """What was woven before and would come out alike, as far as its files are there."""
        earlier: dict[bytes, Entry] = {} if output.anew else self.shelf.get(WOVEN, keys.values())
        alike = {key for key, entry in earlier.items() if last.woven.get(key) == entry.asked}
        if last.identity != self.identity:
            alike.clear()
        # What a page has asked is read where it has to be asked again. Who keeps values reads all of it with the first
        # build, so that no edit has to wait for it.
        wanted = [entry.asked for key, entry in earlier.items() if self.shelf.keep or key not in alike]
        logs: dict[bytes, Log] = self.shelf.get(ASKED, wanted)
        for place, key in keys.items():
            entry = earlier.get(key)
            if entry is None:
                continue
            files = {self.places[place]: entry.digest}
            if entry.steps:
                # Only pages that were run have any.
                from site_builder.outputs import steps

                files[steps.url_of(place[0])] = entry.steps
            lying = {url: output.lying.get(url) for url in files}
            if any(seen is None or seen.digest != files[url] for url, seen in lying.items()):
                continue
            if key in alike or (entry.asked in logs and self.site.still(logs[entry.asked])):
                self.entries[place] = entry
                self.files.leave({url: seen for url, seen in lying.items() if seen})

    def _lacking(self, keys: Mapping[Place, bytes]) -> dict[str, list[str]]:
        """By page, the languages in which it is not there."""
        lacking: dict[str, list[str]] = {}
        for url, lang in keys:
            if (url, lang) not in self.entries:
                lacking.setdefault(url, []).append(lang)
        return lacking

    def _records(self, urls: Mapping[str, list[str]]) -> tuple[dict[str, bytes], set[str], list[str]]:
        """The records of these pages, those of them that might be others the next time, and the pages without one."""
        if self.recording is None:
            return {}, set(), []
        found = self.recording.known(urls)
        fleeting = self.recording.fleeting(url for url in urls if url not in found)
        found |= fleeting
        return found, {*fleeting}, [url for url in urls if url in self.recording.keys and url not in found]

    def _run(self, urls: list[str], records: dict[str, bytes]) -> set[str]:
        """Runs examples; tells of which pages the outcome might be another the next time."""
        fleeting = set()
        if self.recording and urls:
            report = telling(self.progress, "running")
            runs = self.recording.run(urls, self._page, self.jobs, self.interrupted)
            for ran, (url, found, lasting) in enumerate(runs, 1):
                records[url] = found.to_bytes()
                if not lasting:
                    fleeting.add(url)
                if report:
                    report(ran, len(urls))
            if any(url not in records for url in urls):
                raise StoppedError
        return fleeting

    def _page(self, url: str) -> Page:
        return loaded(self.config, self.cards[url])[0]
