"""
---
title: One build
summary: From the digests of all inputs to the files that differ.
---
# One build

Each step asks the [shelf](site_builder.site.shelf) first and makes what it lacks. What a step takes from an input that
has changed since it was surveyed is used, but not kept: the next build looks again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property

from site_builder import outputs, record, render, verified
from site_builder.cache import digest
from site_builder.config import Config
from site_builder.errors import Diagnostic
from site_builder.index import Card
from site_builder.model import Page
from site_builder.outputs import Group, steps
from site_builder.site import ledger
from site_builder.site.acquaintance import introduce
from site_builder.site.inputs import content, size, taken, unreadable_image
from site_builder.site.ledger import Beside, Ledger
from site_builder.site.pages import (
    Context,
    Entry,
    Task,
    forget_templates,
    loaded,
    page_key,
    templates,
    woven,
)
from site_builder.site.report import Audience, Progress, Report, StoppedError
from site_builder.site.shelf import Shelf
from site_builder.site.survey import Survey, builder, common, digest_of, static
from site_builder.site.workers import spread
from site_builder.translate import speech
from site_builder.write import Output, Seen, Written, claim, settle

WOVEN, SPEECH = "woven", "speech"

Place = tuple[str, str]
"""The URL of a page and a language."""


def make(
    inputs: Survey,
    last: Ledger,
    shelf: Shelf,
    *,
    jobs: int = 1,
    anew: bool = False,
    progress: Progress | None = None,
    postpone: bool = False,
    interrupted: Callable[[], bool] | None = None,
    audience: Audience | None = None,
) -> Report:
    """Makes the output folder what it would be after a clean build of those inputs, and says what that took."""
    config = inputs.config
    _recall_languages(config, shelf)
    folder = config.folder(config.output)
    work = _Work(inputs, shelf, jobs, progress, interrupted)
    mark = ledger.begin(shelf, folder)
    work.claimed = {*work.names()}
    removed = claim(folder, work.claimed, _kept(config))
    output = Output(folder, last.lying(folder), anew)
    static, *others = work.groups
    # No page is shown without what it looks by.
    work.gather(static, output, last)
    work.weave(output, last, postpone=postpone, audience=audience)
    for group in others:
        work.gather(group, output, last)
    work.images(output)
    removed += settle(folder, work.files, _kept(config))
    return work.finish(output, last, mark, removed)


class _Work:
    """What one build has found out so far."""

    def __init__(
        self,
        inputs: Survey,
        shelf: Shelf,
        jobs: int,
        progress: Progress | None,
        interrupted: Callable[[], bool] | None,
    ) -> None:
        self.inputs, self.shelf, self.jobs, self.progress = inputs, shelf, jobs, progress
        self.interrupted = interrupted
        self.config = inputs.config
        met = introduce(inputs, shelf, jobs, self._report("reading"))
        self.site, self.identity, self.verified = met.site, met.identity, verified.read(inputs.config)
        self.cards, self.steady = met.cards, met.steady
        """Whether the same inputs would give the same again."""
        self.waiting = False
        self.diagnostics = {*inputs.faults, *met.site.index.diagnostics, *self.verified.diagnostics}
        self.recording = None
        if self.config.execute:
            self.recording = record.Recording(
                self.config, self.cards.values(), _source, shelf.store, state=digest_of, session=shelf.session
            )
        self.entries: dict[Place, Entry] = {}
        self.claimed: set[str] = set()
        self.files: dict[str, Seen] = {}
        self.changed: set[str] = set()
        self.taken: dict[bytes, bytes] = {}
        """By the keys of the pages that were taken as they lay, what they had asked."""
        self.fresh: dict[bytes, Entry] = {}
        self.made: dict[str, tuple[bytes, tuple[str, ...]]] = {}
        self.regrouped: set[str] = set()
        """Which of these groups are new."""

    # ---- the pages

    @cached_property
    def places(self) -> dict[Place, str]:
        """Every page in every language that is built now, and where it stands."""
        return {
            (url, lang): self.site.url(url, lang)
            for lang in self.config.built_languages
            for url in self.site.index.order
            if self.site.covers(url, lang)
        }

    def names(self) -> Iterator[str]:
        """Every file that may come to be written."""
        yield from self.places.values()
        yield from (steps.url_of(url) for url in (self.recording.keys if self.recording else ()))
        yield from (url for group in self.groups for url in group.urls)
        yield from (asset.url for asset, _ in self.inputs.assets)

    def weave(
        self, output: Output, last: Ledger, *, postpone: bool, audience: Audience | None = None
    ) -> None:
        """Weaves the pages that nobody has woven from the same, or whose files are not what they should be."""
        context = Context(
            self.site, self.cards, output, self.inputs.catalogues, self.inputs.looks, self.verified
        )
        seen = {place for place, url in self.places.items() if audience and url in audience.urls}
        if not postpone:
            # Examples are run once for all languages.
            pages = {url for url, _ in seen}
            seen = {place for place in self.places if place[0] in pages}
        made = self._weave(seen, context, last, postpone=postpone)
        if audience and made:
            audience.told(self._so_far(made, last))
        self._weave([place for place in self.places if place not in seen], context, last, postpone=postpone)
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
        if postpone and unknown:
            self.waiting = True
            keys |= {place: digest("waiting", keys[place]) for place in keys if place[0] in unknown}
            waiting = {place: key for place, key in keys.items() if place[0] in unknown}
            self._take(waiting, context.output, last)
            lacking = self._lacking(keys)
        self.taken |= {keys[place]: self.entries[place].asked for place in places if place in self.entries}
        fleeting |= self._run(unknown, records) if not postpone else set()
        tasks = [
            Task(url, tuple(languages), records.get(url, b""), postpone and url in unknown)
            for url, languages in lacking.items()
        ]
        report, weight = self._report("weaving"), lambda task: size(self.cards[task.url].source)
        for done in spread(woven, tasks, context, self.jobs, report, weight):
            for lang, entry in done.entries.items():
                self.entries[done.url, lang] = entry
                if not entry.digest or done.url in fleeting:
                    self.steady = False
                else:
                    self.fresh[keys[done.url, lang]] = entry
            for url, (seen, changed) in done.files.items():
                self._put(url, seen, changed)
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
            Written(len(self.changed), len(self.files) - len(self.changed), 0),
            changed=tuple(sorted(self.changed)),
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
        earlier: dict[bytes, Entry] = self.shelf.get(WOVEN, keys.values())
        for place, key in keys.items():
            entry = earlier.get(key)
            if entry is None or output.anew:
                continue
            files = {self.places[place]: entry.digest}
            if entry.steps:
                files[steps.url_of(place[0])] = entry.steps
            lying = {url: output.lying.get(url) for url in files}
            if any(seen is None or seen.digest != files[url] for url, seen in lying.items()):
                continue
            alike = last.identity == self.identity and last.woven.get(key) == entry.asked
            if alike or ((asked := entry.questions) is not None and self.site.still(asked)):
                self.entries[place] = entry
                self.files |= {url: seen for url, seen in lying.items() if seen}

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
            report = self._report("running")
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

    # ---- what is made of all pages

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        config, inputs = self.config, self.inputs
        assets = Group(
            "static",
            tuple(render.static_names(config)),
            lambda: digest(builder(), inputs.static),
            lambda: render.static_files(config),
        )
        others = outputs.beside(
            self.site,
            inputs.settings,
            inputs.looks,
            lambda lang: templates(config, lang, inputs.looks[lang]),
            self._rows,
        )
        return (assets, *others)

    def _rows(self, lang: str) -> list[str]:
        """What the search index has of each page in that language."""
        site = self.site
        return [self.entries[url, lang].search for url in site.index.order if site.covers(url, lang)]

    def gather(self, group: Group, output: Output, last: Ledger) -> None:
        """Makes the files of a group, unless they are those of the last time."""
        key = group.key()
        before, urls = last.groups.get(group.name, (b"", ()))
        lying = {url: output.lying.get(url) for url in urls}
        if (
            key == before
            and not output.anew
            and all(seen and seen.digest == last.files[url].digest for url, seen in lying.items())
        ):
            self.files |= {url: seen for url, seen in lying.items() if seen}
        else:
            files = group.make()
            self.regrouped.add(group.name)
            urls = tuple(files)
            for url, data in files.items():
                self._put(url, *output.put(url, data))
        self.made[group.name] = key, urls

    def images(self, output: Output) -> None:
        root = self.config.root
        for asset, seen in self.inputs.assets:
            if asset.url in self.files:
                self.diagnostics.add(taken(asset, root))
                continue
            lying = output.lying.get(asset.url)
            if lying and lying.digest == seen and not output.anew:
                self.files[asset.url] = lying
                continue
            try:
                data = content(asset.file)
            except FileNotFoundError:
                self.steady = False
            except OSError as error:
                self.diagnostics.add(unreadable_image(asset, root, error))
            else:
                self._put(asset.url, *output.put(asset.url, data))
                self.steady &= digest(data) == seen

    # ---- the end

    def look_again(self) -> None:
        """
        Forgets what was made of templates, words, findings or static files that were edited meanwhile: nobody knows
        what has the old and what the new.
        """
        seen, config = self.inputs, self.config
        used = self.fresh or self.regrouped
        if (used and common(config) != seen.common) or (
            "static" in self.regrouped and static(config) != seen.static
        ):
            self.steady = False
            self.fresh.clear()
            forget_templates()
            for name in self.regrouped:
                del self.made[name]

    def finish(self, output: Output, last: Ledger, mark: bytes, removed: int) -> Report:
        self.look_again()
        self.shelf.put(WOVEN, self.fresh)
        kept = _kept(self.config)
        files = {url: seen for url, seen in output.lying.items() if kept(url)} | self.files
        groups = {name: group for name, group in last.groups.items() if all(map(kept, group[1]))} | self.made
        gone = {url for url in last.files if url not in files}
        diagnostics = tuple(sorted(self.diagnostics))
        pages = len(self.site.index.order)
        tallies = {url: entry.tally for (url, _), entry in self.entries.items()}
        found = self.recording and self.recording.project
        beside = Beside(found.files, found.folders) if found else Beside()
        ledger.write(
            self.shelf,
            output.folder,
            Ledger(
                self.inputs.fingerprint if self.steady else b"",
                files,
                groups,
                self.identity,
                self.taken | {key: entry.asked for key, entry in self.fresh.items()},
                beside,
                diagnostics,
                pages,
                tallies,
                mark,
            ),
        )
        self.shelf.forget()
        return Report(
            diagnostics,
            pages,
            Written(len(self.changed), len(self.files) - len(self.changed), removed),
            tallies=tallies,
            changed=tuple(sorted(self.changed | gone)),
            waiting=self.waiting,
            beside=beside,
        )

    def _put(self, url: str, seen: Seen, changed: bool) -> None:
        assert url in self.claimed, f"{url} was written and never claimed"
        self.files[url] = seen
        if changed:
            self.changed.add(url)

    def _report(self, what: str) -> Callable[[int, int], None] | None:
        progress = self.progress
        return (lambda done, total: progress(what, done, total)) if progress else None


def _kept(config: Config) -> Callable[[str], bool]:
    """Which files of earlier builds stay: those of languages that are not built now."""
    if not config.only:
        return lambda url: False
    built = ("", *config.built_languages)
    # Recorded steps are the same in all languages, so those of a page that has none of these may be asked for too.
    return lambda url: config.language_of(url) not in built or url.startswith("steps/")


def _recall_languages(config: Config, shelf: Shelf) -> None:
    """What is known of the languages of the site is asked once, and not by every build."""
    key = digest(builder(), *config.all_languages)
    said = shelf.get(SPEECH, [key]).get(key)
    if said is None:
        said = {tag: speech.speech(tag) for tag in config.all_languages}
        shelf.put(SPEECH, {key: said})
    speech.recall(said)


def _source(card: Card) -> bytes:
    try:
        return content(card.source.file) if card.source.file else b""
    except OSError:
        return b""
