"""Tiny packages that are recorded as a build would."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from site_builder.cache import Store
from site_builder.config import Config
from site_builder.discover import discover
from site_builder.model import Page
from site_builder.parse import encode, parse
from site_builder.record import Limits, Recorded, outline_of, record_pages
from site_builder.record.model import Function, Record, Statement


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
    urls = [f"{name}.html" for name in only] or None
    return record_pages(config, pages(folder, package), only=urls, store=store, limits=limits, jobs=jobs)


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
