"""
---
title: Drafts
summary: A machine fills what is missing, people review it; every answer is checked, and nothing is lost on the way.
order: [work, protecting, providers, settings, sending]
---
# Drafts

`draft` asks a service for the translation of every block that has none. An answer passes the same rules as a person's
work: math, code, links and tags as in the source, the words of the glossary, nothing dangerous. One that does not is
asked for once more with what was wrong, then the block is left missing, with a note in its catalogue.

A draft has the flag `machine` in its catalogue, and the page says so beside it, until somebody has read it and taken
the flag away.

A batch is written as soon as it is checked, into the catalogue as it stands then: somebody may be working on it. So
whatever ends the work, the next run goes on where it stopped.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from site_builder.config import Config
from site_builder.errors import Diagnostic
from site_builder.model import Page
from site_builder.translate import files, upkeep
from site_builder.translate.catalogue import write
from site_builder.translate.drafts.providers import BadAnswerError, Provider, Question, provider
from site_builder.translate.drafts.sending import post
from site_builder.translate.drafts.settings import Settings, settings
from site_builder.translate.drafts.work import Job, Name, batches, filled, jobs
from site_builder.translate.glossary import Term

__all__ = ["Batch", "Drafted", "Settings", "draft", "settings"]

Asked = tuple[Job, Question]


@dataclass(frozen=True)
class Batch:
    """What became of some blocks of one catalogue; of a dry run, the texts that would be sent."""

    name: str
    drafted: int = 0
    refused: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()


@dataclass
class Drafted:
    """
    What a run did; it is kept up to date while the run goes on. `spent` says that the limit or the budget ended it,
    `counted` how many texts were left out because they count something.
    """

    blocks: int = 0
    refused: int = 0
    counted: int = 0
    characters: int = 0
    spent: bool = False
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass
class _Run:
    config: Config
    lang: str
    asked: Settings
    provider: Provider
    report: Callable[[Batch], None]
    wait: Callable[[float], None]
    dry: bool
    done: Drafted

    def batch(self, name: str, url: str, batch: Sequence[Job]) -> bool:
        """Drafts the blocks as far as the budget goes, and tells whether all of them were asked for."""
        room = self.asked.limit - self.done.blocks - self.done.refused if self.asked.limit else len(batch)
        some = self.affordable([(job, Question(job.text.shown)) for job in batch[: max(room, 0)]])
        if some and self.dry:
            self.done.characters += self.size(some)
            self.done.blocks += len(some)
            texts = tuple(question.text for _, question in some)
            self.report(
                Batch(name, len(some), texts=texts, terms=tuple(term.source for term in _terms(some)))
            )
        elif some:
            self.draft(name, url, some)
        self.done.spent = len(some) < len(batch)
        return not self.done.spent

    def draft(self, name: str, url: str, batch: Sequence[Asked]) -> None:
        """Asks, asks once more for what came back wrong, and writes down what is good."""
        drafts: dict[Name, str] = {}
        wrong = self.ask(batch, drafts)
        again = self.affordable(wrong)
        if again:
            wrong = [*self.ask(again, drafts), *wrong[len(again) :]]
        notes = {job.name: question.fault for job, question in wrong}
        self.save(name, url, drafts, notes)
        self.done.blocks += len(drafts)
        self.done.refused += len(notes)
        refused = (f"{job.entry.source}: {question.fault}" for job, question in wrong)
        self.report(Batch(name, len(drafts), tuple(" ".join(text.split()) for text in refused)))

    def ask(self, batch: Sequence[Asked], drafts: dict[Name, str]) -> list[Asked]:
        """Puts good answers among the drafts; gives back what was not answered well, with what was wrong."""
        body = self.body(batch)
        self.done.characters += _length(body)
        one, headers = self.asked, self.provider.headers()
        try:
            answer = post(one.url, body, headers, timeout=one.timeout, tries=one.tries, wait=self.wait)
            texts = self.provider.answers(answer, len(batch))
        except BadAnswerError as error:
            return [(job, Question(question.text, "", str(error))) for job, question in batch]
        wrong: list[Asked] = []
        for (job, question), text in zip(batch, texts, strict=True):
            try:
                drafts[job.name] = job.checked(text)
            except ValueError as error:
                wrong.append((job, Question(question.text, text, str(error))))
        return wrong

    def save(self, name: str, url: str, drafts: dict[Name, str], notes: dict[Name, str]) -> None:
        """Into the file as it is now, since a person may have changed it meanwhile."""
        catalogue, found = files.load(self.config, self.lang, name)
        self.done.diagnostics += found
        if catalogue:
            files.save(self.config, name, write(filled(catalogue, drafts, notes), url))

    def affordable(self, batch: Sequence[Asked]) -> Sequence[Asked]:
        """As many of the blocks, from the first, as the budget still allows."""
        count = len(batch)
        if self.asked.budget:
            while count and self.done.characters + self.size(batch[:count]) > self.asked.budget:
                count -= 1
        return batch[:count]

    def size(self, batch: Sequence[Asked]) -> int:
        return _length(self.body(batch))

    def body(self, batch: Sequence[Asked]) -> Any:
        return self.provider.body([question for _, question in batch], _terms(batch))


def draft(
    config: Config,
    lang: str,
    pages: Sequence[Page],
    asked: Settings,
    *,
    report: Callable[[Batch], None],
    done: Drafted | None = None,
    dry: bool = False,
    wait: Callable[[float], None] = time.sleep,
) -> Drafted:
    """
    Brings the catalogues of one language up to date and fills what is missing. `done` is counted on while the work goes
    on, so that who interrupts it knows how far it came. A dry run reports what would be sent, and writes nothing.

    Raises:
        SiteError: the service does not answer, or refuses to; what was drafted before is kept.
    """
    way = provider(asked, config.language, lang)
    run = _Run(config, lang, asked, way, report, wait, dry, done or Drafted())
    now = upkeep.current(config, lang, pages)
    terms, faults = files.terms(config, lang)
    run.done.diagnostics += (*now.diagnostics, *faults)
    if not dry:
        upkeep.save(config, now)
    entries = (entry for catalogue, _ in now.catalogues.values() for entry in catalogue.entries)
    run.done.counted += sum(bool(entry.plural and not entry.text and not entry.obsolete) for entry in entries)
    for name, (catalogue, url) in now.catalogues.items():
        waiting = jobs(catalogue, terms, interface=not url)
        for batch in batches(waiting, asked.batch):
            if not run.batch(name, url, batch):
                return run.done
    return run.done


def _terms(batch: Sequence[Asked]) -> tuple[Term, ...]:
    return tuple(dict.fromkeys(term for job, _ in batch for term in job.terms))


def _length(body: Any) -> int:
    return len(json.dumps(body, ensure_ascii=False))
