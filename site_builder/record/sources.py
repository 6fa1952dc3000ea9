"""
---
title: The files that are run
summary: Whether they are still what the builder has read.
---
# The files that are run

The builder reads a file, makes a page and a key of it, and a little later another process imports that file. In the
meantime its author may have saved it. What is kept under a key must come from what the key was made of, so every file
of the site is compared as it is imported, also one that an example imports late.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType
from typing import Any

from site_builder.cache import digest
from site_builder.model import SourceFile

Read = Mapping[str, tuple[str, str]]
"""Files that the builder has read, and digests of what was in them, by the names of modules."""


def import_root(source: SourceFile) -> str:
    """The folder that a module has to be imported from to have its name; empty where none gives it that name."""
    tail = (
        os.sep + source.module.replace(".", os.sep) + (f"{os.sep}__init__.py" if source.is_package else ".py")
    )
    return (source.file.removesuffix(tail) or os.sep) if source.file.endswith(tail) else ""


class Sources(MetaPathFinder):
    """Finds the modules of the site where Python does, and calls `tell` with the name of each that has changed."""

    def __init__(self, read: Read, tell: Callable[[str], object]) -> None:
        self.read = read
        self.tell = tell

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name not in self.read:
            return None
        spec = PathFinder.find_spec(name, path, target)
        return spec and self.compared(spec)

    def compared(self, spec: ModuleSpec) -> ModuleSpec:
        """The same, compared when it is loaded. An installed copy of a module is no file of the site."""
        known = self.read.get(spec.name)
        if (
            known
            and type(spec.loader) is SourceFileLoader
            and os.path.realpath(spec.loader.path) == os.path.realpath(known[0])
        ):
            spec.loader = _Compared(spec.name, spec.loader.path, self)
        return spec

    def same(self, name: str, data: bytes) -> bool:
        if name not in self.read or self.read[name][1] == digest(data).hex():
            return True
        self.tell(name)
        return False


class _Compared(SourceFileLoader):
    def __init__(self, name: str, path: str, sources: Sources) -> None:
        super().__init__(name, path)
        self.sources = sources

    def get_code(self, fullname: str) -> CodeType | None:
        # Where Python has compiled it before, it would not look into the file.
        self.get_data(self.path)
        return super().get_code(fullname)

    def get_data(self, path: str) -> bytes:
        data = super().get_data(path)
        if path == self.path:
            self.sources.same(self.name, data)
        return data
