"""
---
title: What a build depends on
summary: Every input is read once and digested; equal digests, equal site.
---
# What a build depends on

A file is what its bytes are: touching it changes nothing, and no clock is asked. All digests together are the survey's
`fingerprint`: a site made from one with the same fingerprint is the site, and nothing need be done.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache, cached_property
from pathlib import Path
from typing import TypeVar

from site_builder.cache import digest
from site_builder.catalogues import INTERFACE, path_of
from site_builder.config import Config, where
from site_builder.discover import Asset, discover
from site_builder.errors import Diagnostic
from site_builder.installed import computing, extensions, version
from site_builder.model import SourceFile
from site_builder.resources import files_below, resource_root
from site_builder.site.inputs import content, nameable
from site_builder.site.shelf import Shelf

ABSENT = b""
SOURCE = "source"

_UNSEEN = frozenset(
    "root packages output cache exclude verified only mount translated stale_limit example_seconds "
    "example_megabytes example_options draft_provider draft_url draft_model".split()
)
"""Settings that say which pages there are, or what they are made from, but of which no page says anything by itself."""
_TOOLS = ("Jinja2", "Markdown", "Pygments", "babel", "griffelib", "markupsafe", "nh3", "pyyaml", "quickjs-ng")
"""Distributions whose next version may write other bytes."""

File = TypeVar("File", SourceFile, Asset)


@dataclass(frozen=True, eq=False, repr=False)
class Survey:
    """The inputs of one build, by digest. An input that is not there, or cannot be read, has an empty one."""

    config: Config
    sources: tuple[tuple[SourceFile, bytes], ...]
    assets: tuple[tuple[Asset, bytes], ...]
    catalogues: Mapping[tuple[str, str], bytes]
    """By language and page URL."""
    looks: Mapping[str, bytes]
    """By language: the templates, the words that they are given, the terms that translations keep to."""
    static: bytes
    verified: bytes
    """What tests found."""
    faults: tuple[Diagnostic, ...]
    """Of files without a usable name, and of a theme that is not there."""

    @property
    def common(self) -> bytes:
        """What every page may show a part of."""
        return _common(self.looks, self.verified)

    @cached_property
    def settings(self) -> bytes:
        """What any page may say of the configuration, and what it is made with."""
        config = self.config
        told = [
            f"{each.name}={getattr(config, each.name)!r}"
            for each in fields(config)
            if each.name not in _UNSEEN
        ]
        # A page says whether its language covers only a part of the site.
        return digest(builder(), config.site_title, *told, "", *sorted(dict(config.translated)))

    @cached_property
    def fingerprint(self) -> bytes:
        config = self.config
        parts = [
            f"{each.name}={getattr(config, each.name)!r}" for each in fields(config) if each.name != "cache"
        ]
        for file, data in (*self.sources, *self.assets):
            parts += [repr(file), data.hex()]
        parts += [f"{key!r} {data.hex()}" for key, data in sorted(self.catalogues.items())]
        parts += [f"{lang} {data.hex()}" for lang, data in sorted(self.looks.items())]
        if config.execute:
            parts += (*computing(), *extensions())
        return digest(builder(), *parts, self.static, self.verified, repr(self.faults))


def survey(config: Config) -> Survey:
    """
    Raises:
        SiteError: there is nothing to build.
    """
    found, faults = nameable(discover(config))
    urls = [source.url for source in found.sources]
    catalogues = {
        (lang, url): catalogue(config, lang, url) for lang in config.all_languages[1:] for url in urls
    }
    return Survey(
        config,
        tuple(_there(found.sources)),
        tuple(_there(found.assets)),
        catalogues,
        looks(config),
        static(config),
        verified(config),
        (*faults, *_theme(config)),
    )


def _theme(config: Config) -> Iterator[Diagnostic]:
    """It may come yet, so that a build goes on without it."""
    if config.theme and not config.folder(config.theme).is_dir():
        what = f"theme = {config.theme!r}, and there is no such folder"
        hint = "it is to hold templates/ and static/; or take the line out"
        yield Diagnostic("pyproject.toml", where(config, "theme"), 1, "theme-missing", what, hint)


def _there(files: Iterable[File]) -> Iterator[tuple[File, bytes]]:
    """Those that have not vanished meanwhile. What cannot be read has the reason for a digest."""
    for each in files:
        try:
            yield each, _digest(each.file) if each.file else digest(b"")
        except FileNotFoundError:
            continue
        except OSError as error:
            yield each, digest(str(error))


def catalogue(config: Config, lang: str, page_url: str) -> bytes:
    """The digest of a page's catalogue as it is now."""
    return digest_of(config.folder(config.translations) / path_of(lang, page_url))


def common(config: Config) -> bytes:
    """What every page may show a part of, as it is now."""
    return _common(looks(config), verified(config))


def _common(looks: Mapping[str, bytes], verified: bytes) -> bytes:
    return digest(*(f"{lang} {data.hex()}" for lang, data in looks.items()), verified)


def static(config: Config) -> bytes:
    return _tree(_folders(config, "static"))


def verified(config: Config) -> bytes:
    return digest_of(config.folder(config.verified)) if config.verified else ABSENT


def looks(config: Config) -> dict[str, bytes]:
    """Changes whenever a template does, or a file that it may include, or the words that it is given."""
    templates = _tree(_folders(config, "templates"))
    terms = digest(*map(digest_of, sorted(config.folder(config.translations).glob("*.toml"))))
    tops = (resource_root("translations"), config.folder(config.translations))
    return {
        lang: digest(templates, terms, *(digest_of(top / lang / INTERFACE) for top in tops))
        for lang in config.all_languages
    }


@cache
def builder() -> bytes:
    """The builder is its own source, and what it works with."""
    return digest(sys.version, *map(version, _TOOLS), _recalled or _digest_of_source())


_recalled = b""
"""The digest of the builder's source, where an earlier process has read it."""


def recall(shelf: Shelf) -> None:
    """The builder reads its own source only when that has changed: there is more of it than of most sites."""
    global _recalled
    state = None if _recalled else _state_of_source()
    if state is None:
        return
    _recalled = shelf.get(SOURCE, [state]).get(state, b"")
    if not _recalled:
        _recalled = _digest_of_source()
        # While it was read, some of it may have become another.
        if _state_of_source() == state:
            shelf.put(SOURCE, {state: _recalled})


def _state_of_source() -> bytes | None:
    """Another one wherever a file has changed; none while a change may not be told yet."""
    parts = []
    for file in _source():
        try:
            status = os.stat(file)  # noqa: PTH116
        except OSError:
            return None
        if not _is_settled(status):
            return None
        parts.append(f"{file} {_state(status)}")
    return digest(*parts)


def _digest_of_source() -> bytes:
    return digest(*map(digest_of, _source()))


def _source() -> Iterator[str]:
    # The typesetter is a script among the assets; the script that drives it lies beside our modules.
    yield str(resource_root("static") / "vendor/katex/katex.min.js")
    for name, file in files_below(Path(__file__).parents[1]).items():
        if name.endswith((".py", ".js")):
            yield file


def _folders(config: Config, name: str) -> list[Path]:
    theme = [config.folder(config.theme) / name] if config.theme else []
    return [resource_root(name), *theme]


def _tree(folders: Iterable[Path]) -> bytes:
    parts: list[str | bytes] = []
    for folder in folders:
        for name, file in files_below(folder).items():
            parts += [name, digest_of(file)]
        parts.append("")
    return digest(*parts)


SETTLED = 200_000_000
"""Nanoseconds after which a clock has certainly moved on."""

_known: dict[str, tuple[tuple[int, ...], bytes]] = {}
"""What a process that builds again and again has read: the file's state then, and its digest."""


def digest_of(file: Path | str) -> bytes:
    """Of what is in the file now; empty where there is none, and of the reason where it cannot be read."""
    try:
        return _digest(str(file))
    except FileNotFoundError:
        return ABSENT
    except OSError as error:
        return digest(str(error))


def _digest(file: str) -> bytes:
    """
    A file that was changed last long before it was read cannot have changed since without its times telling. Of one
    that has just been saved they may not: it is read again.
    """
    try:
        status = os.stat(file)  # noqa: PTH116 — a path object of each name takes longer than asking the disk
    except FileNotFoundError:
        # A link that leads nowhere is there all the same.
        return digest(content(file))
    state = _state(status)
    known, data = _known.get(file, ((), b""))
    if known != state:
        data = digest(content(file, status))
        if _is_settled(status):
            _known[file] = state, data
    return data


def _state(status: os.stat_result) -> tuple[int, ...]:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _is_settled(status: os.stat_result) -> bool:
    return time.time_ns() - status.st_ctime_ns > SETTLED
