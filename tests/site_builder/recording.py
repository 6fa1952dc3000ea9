"""Tiny packages that are recorded as a build would."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

from site_builder.cache import Store, digest
from site_builder.config import Config
from site_builder.discover import discover
from site_builder.errors import Diagnostic
from site_builder.index import Card
from site_builder.model import Page
from site_builder.parse import encode, parse
from site_builder.record import Limits, Recording, diagnostics, outline_of
from site_builder.record.model import Function, Record, Statement


@dataclass(frozen=True)
class Recorded:
    """Records by URL, what is wrong, and which pages were really run."""

    records: Mapping[str, Record]
    diagnostics: tuple[Diagnostic, ...] = ()
    ran: tuple[str, ...] = ()


def write(folder: Path, **modules: str) -> Path:
    """A package `pkg` in the folder, with these modules."""
    package = folder / "pkg"
    package.mkdir(exist_ok=True)
    (package / "__init__.py").touch()
    for name, text in modules.items():
        (package / f"{name}.py").write_text(dedent(text), "utf-8")
    return folder


def pages(folder: Path, package: str = "pkg") -> list[Page]:
    sources = discover(Config(root=folder, packages=(package,))).sources
    return [parse(source, Path(source.file).read_bytes()) for source in sources]


def record(
    folder: Path,
    *only: str,
    store: Store | None = None,
    limits: Limits | None = None,
    package: str = "pkg",
    jobs: int = 1,
) -> Recorded:
    config = Config(root=folder, packages=(package,))
    urls = [f"{name}.html" for name in only]
    return record_pages(config, pages(folder, package), *urls, store=store, limits=limits, jobs=jobs)


def record_pages(
    config: Config,
    parsed: Sequence[Page],
    *only: str,
    store: Store | None = None,
    limits: Limits | None = None,
    jobs: int = 1,
) -> Recorded:
    """Records those of the pages that have examples and are among `only`, as a build does that has just parsed them."""
    # The first page of a module is the one that its name means.
    by_url = {page.url: page for page in reversed(parsed)}
    sources = {page.source.module: encode(page) for page in parsed if not page.source.is_markdown}
    cards = [Card.of(page, digest(sources.get(page.source.module, b""))) for page in parsed]
    recording = Recording(config, cards, lambda card: sources[card.source.module], store or Store(), limits)
    wanted = [url for url in recording.keys if not only or url in only]
    records = {url: Record.from_bytes(data) for url, data in recording.known(wanted).items()}
    missing = tuple(url for url in wanted if url not in records)
    records |= {url: found for url, found, _ in recording.run(missing, by_url.__getitem__, jobs)}
    faults = (fault for url in wanted for fault in diagnostics(by_url[url], records[url]))
    return Recorded({url: records[url] for url in wanted}, tuple(sorted(faults)), missing)


class Seen:
    """One record, read by the source of its statements."""

    def __init__(self, folder: Path, url: str, found: Record, package: str = "pkg") -> None:
        page = next(page for page in pages(folder, package) if page.url == url)
        self.record = found
        self.source = encode(page).decode().splitlines()
        self.outline = outline_of(page)

    def statement(self, source: str) -> Statement:
        """The statement whose line begins with this."""
        ordinals = [
            ordinal
            for ordinal, line in enumerate(self.outline.lines)
            if self.source[line.node.lineno - 1][line.node.col_offset :].startswith(source)
        ]
        assert len(ordinals) == 1, (source, ordinals)
        return next(found for found in self.record.statements if found.ordinal == ordinals[0])

    def runs(self, source: str) -> int:
        return self.statement(source).runs

    def writes(self, source: str) -> dict[str, list[str]]:
        """What was written, a value as its shape, else as its text, else as its type."""
        return {
            write.name: [
                str(list(value.shape)) if value.shape is not None else value.text or value.type
                for value in write.values
            ]
            for write in self.statement(source).writes
        }

    def function(self, name: str) -> Function:
        return next(function for function in self.record.functions if function.name == name)
