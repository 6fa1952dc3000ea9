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

from collections.abc import Callable, Iterator

from site_builder.cache import digest
from site_builder.config import Config
from site_builder.site import ledger, reading
from site_builder.site.acquaintance import introduce
from site_builder.site.files import Files
from site_builder.site.gathering import Gathering
from site_builder.site.ledger import Beside, Ledger
from site_builder.site.pages import forget_templates
from site_builder.site.report import Audience, Progress, Report, telling
from site_builder.site.shelf import Shelf
from site_builder.site.survey import Survey, builder, common, static
from site_builder.site.weaving import ASKED, WOVEN, Weaving
from site_builder.translate import speech
from site_builder.write import Output, claim, settle

SPEECH = "speech"


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
    met = introduce(inputs, shelf, jobs, telling(progress, "reading"))
    files = Files()
    pages = Weaving(inputs, met, shelf, files, jobs=jobs, progress=progress, interrupted=interrupted)
    gathering = Gathering(pages)
    mark = ledger.begin(shelf, folder)
    files.claimed = frozenset(_names(pages, gathering))
    removed = claim(folder, files.claimed, _kept(config))
    output = Output(folder, last.lying(folder), anew)
    assets, *others = gathering.groups
    # No page is shown without what it looks by.
    gathering.gather(assets, output, last)
    pages.weave(output, last, postpone=postpone, audience=audience)
    for group in others:
        gathering.gather(group, output, last)
    gathering.images(output)
    removed += settle(folder, files.lying, _kept(config))
    _look_again(pages, gathering)
    shelf.store.put_many(ASKED, pages.logs)
    shelf.put(WOVEN, pages.fresh)
    done = _ledger(pages, gathering, output, last, mark)
    ledger.write(shelf, folder, done)
    shelf.forget()
    reading.forget()
    return Report(
        done.diagnostics,
        done.pages,
        files.written(removed),
        tallies=done.tallies,
        changed=tuple(sorted(files.changed | {url for url in last.files if url not in done.files})),
        waiting=pages.waiting,
        beside=done.beside,
    )


def _names(pages: Weaving, gathering: Gathering) -> Iterator[str]:
    """Every file that may come to be written."""
    yield from pages.places.values()
    if pages.recording:
        # Only pages that were run have any.
        from site_builder.outputs import steps

        yield from map(steps.url_of, pages.recording.keys)
    yield from (url for group in gathering.groups for url in group.urls)
    yield from (asset.url for asset, _ in pages.inputs.assets)


def _look_again(pages: Weaving, gathering: Gathering) -> None:
    """
    Forgets what was made of templates, words, findings or static files that were edited meanwhile: nobody knows
    what has the old and what the new.
    """
    seen, config = pages.inputs, pages.config
    used = pages.fresh or gathering.anew
    if (used and common(config) != seen.common) or (
        "static" in gathering.anew and static(config) != seen.static
    ):
        pages.steady = False
        pages.fresh.clear()
        pages.logs.clear()
        forget_templates()
        for name in gathering.anew:
            del gathering.made[name]


def _ledger(pages: Weaving, gathering: Gathering, output: Output, last: Ledger, mark: bytes) -> Ledger:
    """What the next build has to know of this one."""
    kept = _kept(pages.config)
    found = pages.recording and pages.recording.project
    return Ledger(
        pages.inputs.fingerprint if pages.steady else b"",
        {url: seen for url, seen in output.lying.items() if kept(url)} | pages.files.lying,
        {name: group for name, group in last.groups.items() if all(map(kept, group[1]))} | gathering.made,
        pages.identity,
        pages.taken | {key: entry.asked for key, entry in pages.fresh.items()},
        Beside(found.files, found.folders) if found else Beside(),
        tuple(sorted(pages.diagnostics)),
        len(pages.site.index.order),
        {url: entry.tally for (url, _), entry in pages.entries.items()},
        mark,
    )


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
