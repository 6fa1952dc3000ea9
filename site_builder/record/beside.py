"""
---
title: Modules beside the pages
summary: "What pages import of the project though it is no page: a helper at its root, a module that is left out."
---
# Modules beside the pages

A page may import what the site does not show: a `helpers.py` beside the package, a module that `exclude` names, a
folder that is no package of the configuration. A record depends on those too, as far as they belong to the *project*:
they lie below the folder of its `pyproject.toml`, and not in Python's own library or in an environment.

No folder is searched. A name that some page imports is looked for in the few places where Python would find it. Which
names were looked for where, and which of them were there, is told: while that and the files that were found stay the
same, the imports mean the same.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from site_builder.cache import Store, digest
from site_builder.discover import SKIPPED_FOLDERS
from site_builder.model import SourceFile
from site_builder.parse import parse
from site_builder.record.facts import code_digest, recorder
from site_builder.record.sources import import_root

FACTS = "beside-facts"
_PACKAGE = "__init__.py"


@dataclass(frozen=True, slots=True)
class Unshown:
    """A module that is no page. Where several folders have one of that name, it is all of them: any may be meant."""

    files: tuple[tuple[str, bytes], ...]
    """With the digests of what is in them."""
    code: bytes
    imports: tuple[str, ...]
    exports: tuple[tuple[str, str], ...]


def content(file: str) -> bytes:
    """
    Raises:
        OSError: it is gone, cannot be read, or is a pipe, which would keep us waiting for ever.
    """
    if not os.path.isfile(file):  # noqa: PTH113
        raise OSError("it is no regular file")
    return Path(file).read_bytes()


def digest_of(file: str) -> bytes:
    """Of what is in a file, empty where there is none."""
    try:
        return digest(content(file))
    except OSError:
        return b""


def listed(folder: str) -> frozenset[str]:
    """The names in a folder; none in what is no folder."""
    try:
        return frozenset(os.listdir(folder))  # noqa: PTH208 — the same without a path object for each name
    except OSError:
        return frozenset()


class Project:
    """
    Finds modules by name. `state` gives the digest of a file; whoever builds again and again has a quicker one.
    """

    def __init__(
        self,
        top: Path,
        sources: Iterable[SourceFile],
        store: Store,
        state: Callable[[str], bytes] = digest_of,
    ) -> None:
        self.store, self.state = store, state
        self.modules: dict[str, Unshown] = {}
        """Those that were found, by name."""
        self.files: dict[str, bytes] = {}
        """Their files, and the digests of what is in these."""
        self._listed: dict[str, frozenset[str]] = {}
        self._asked: dict[str, set[str]] = {}
        self._top = str(top)
        places = dict.fromkeys((*map(import_root, sources), str(top), *sys.path))
        self.roots = tuple(folder for folder in places if folder and self.holds(folder))
        """Where a name without a package of the site before it may lead."""

    def holds(self, folder: str) -> bool:
        """Whether what lies in the folder is of the project."""
        return _holds(self._top, folder)

    def find(self, package: str, name: str, folders: Sequence[str]) -> str:
        """
        The longest part of a dotted name that is a module, with the package before it; empty where none is. It and the
        packages around it are in `modules` then.
        """
        found: dict[str, list[str]] = {}
        parts = name.split(".")
        for folder in folders:
            for length, file in self._along(folder, parts):
                module = ".".join((*filter(None, [package]), *parts[:length]))
                found.setdefault(module, []).append(file)
        for module, files in found.items():
            if module not in self.modules:
                self.modules[module] = self._read(module, files)
        return max(found, key=len, default="")

    def _along(self, folder: str, parts: Sequence[str]) -> Iterator[tuple[int, str]]:
        """The files that are run on the way to a module, and how many parts of the name each stands for."""
        for length, part in enumerate(parts, 1):
            inner = f"{folder}{os.sep}{part}"
            below = self._has(folder, part)
            if below and self._has(inner, _PACKAGE):
                yield length, f"{inner}{os.sep}{_PACKAGE}"
            elif self._has(folder, f"{part}.py"):
                yield length, f"{inner}.py"
                return
            elif not below:
                return
            # A folder is a package also without a file of its own.
            folder = inner

    def _has(self, folder: str, name: str) -> bool:
        if folder not in self._listed:
            self._listed[folder] = listed(folder)
            self._asked[folder] = set()
        self._asked[folder].add(name)
        return name in self._listed[folder]

    @property
    def folders(self) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
        """By folder, the names that were looked for, and those of them that are there."""
        return {
            folder: (tuple(sorted(asked)), tuple(sorted(asked & self._listed[folder])))
            for folder, asked in self._asked.items()
        }

    def _read(self, module: str, files: Sequence[str]) -> Unshown:
        read = tuple((file, self.state(file)) for file in files)
        self.files.update(read)
        key = digest(module, recorder(), parser(), sys.version, *(part for each in read for part in each))
        known = self.store.get(FACTS, key)
        if known is None:
            known = json.dumps([_facts(module, file) for file in files]).encode()
            # What was edited meanwhile says nothing of what it was.
            if all(digest_of(file) == seen for file, seen in read):
                self.store.put(FACTS, key, known)
        facts = json.loads(known)
        return Unshown(
            read,
            digest(*(code for code, _, _ in facts)),
            tuple(name for _, imports, _ in facts for name in imports),
            tuple((name, target) for _, _, exports in facts for name, target in exports),
        )


def _facts(module: str, file: str) -> tuple[str, Sequence[str], Sequence[tuple[str, str]]]:
    """The digest of its code, what it imports, and what it passes on of that."""
    try:
        data = content(file)
    except OSError as error:
        return digest(str(error)).hex(), (), ()
    is_package = Path(file).name == _PACKAGE
    page = parse(SourceFile(file, file, module, "", is_package), data)
    return code_digest(data).hex(), page.imports, page.exports


@cache
def parser() -> bytes:
    """Another parser may find other imports in the same file."""
    folder = Path(__file__).parents[1] / "parse"
    return digest(*(file.read_bytes() for file in sorted(folder.glob("*.py"))))


@lru_cache(maxsize=4096)
def _holds(top: str, folder: str) -> bool:
    top, folder = os.path.realpath(top), os.path.realpath(folder)
    library = os.path.realpath(Path(os.__file__).parent)
    if not _within(folder, top) or _within(folder, library):
        return False
    parts = Path(folder).relative_to(top).parts
    return not any(part.startswith(".") or part in SKIPPED_FOLDERS for part in parts)


def _within(folder: str, other: str) -> bool:
    return folder == other or folder.startswith(other.rstrip(os.sep) + os.sep)
