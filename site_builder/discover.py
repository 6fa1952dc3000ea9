"""
---
title: Which files are pages
summary: Packages, folders and single modules become a list of sources, each with its URL.
---
# Which files are pages

The only question that is asked of the disk before anything is read: which files are there, what is each called
as a module, and where will its page stand.
"""

from __future__ import annotations

import fnmatch
import importlib.util
import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path, PurePath
from typing import NamedTuple

from site_builder.config import MANIFEST, Config
from site_builder.errors import SiteError
from site_builder.likeness import nearest
from site_builder.model import SourceFile

SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules", "site-packages", "__pypackages__"})
PAGE_SUFFIXES = frozenset({".py", ".md"})
ASSET_SUFFIXES = frozenset({".svg", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif"})


class Asset(NamedTuple):
    """An image that lies beside the modules and goes with them."""

    url: str
    file: str


class Found(NamedTuple):
    sources: tuple[SourceFile, ...]
    assets: tuple[Asset, ...]


def discover(config: Config) -> Found:
    """
    Everything that the site is made of, in a fixed order.

    The first of `config.packages` stands at the site's root, each further one in a folder of its name; a single
    module is that place's only page. A folder without `__init__.py` or `index.md` is given a page that only lists
    what lies below: its `file` is empty.

    Raises:
        SiteError: a package is neither a path nor installed, or nothing at all was found.
    """
    sources: list[SourceFile] = []
    assets: list[Asset] = []
    for place, name in enumerate(dict.fromkeys(config.packages)):
        target = locate(config.root, name)
        prefix = "" if place == 0 else f"{target.stem}/"
        if target.is_file():
            if target.suffix not in PAGE_SUFFIXES:
                raise SiteError(f"{target} is neither a module nor a Markdown file")
            module = _source(
                _shown(config.root, target), str(target), target.name, "", package_name(target.parent)
            )
            sources.append(module._replace(url=f"{prefix}index.html"))
        else:
            files, images = _walk(config, target, prefix)
            sources += files
            assets += images
    if not sources:
        raise SiteError(
            "nothing to build",
            hint="name a package or folder, or set packages in [tool.site_builder] of pyproject.toml",
        )
    homes = {source.url for source in sources}
    for place, name in enumerate(config.packages):
        target = locate(config.root, name)
        home = "index.html" if place == 0 else f"{target.stem}/index.html"
        if home not in homes:
            sources.insert(0, SourceFile(_shown(config.root, target), "", target.stem, home, is_package=True))
            homes.add(home)
    return Found(tuple(sources), tuple(assets))


def locate(root: Path, name: str) -> Path:
    """The file or folder that `name` means: a path, or an installed package or module."""
    path = root / name
    if path.exists():
        return Path(os.path.normpath(path))
    if name.replace(".", "").isidentifier():
        try:
            spec = importlib.util.find_spec(name.partition(".")[0])
        except (ImportError, ValueError):
            spec = None
        if spec and spec.origin and spec.origin.endswith(".py"):
            origin = Path(spec.origin)
            base = origin.parent if origin.name == "__init__.py" else origin
            inner = base.joinpath(*name.split(".")[1:])
            for candidate in (inner, inner.with_suffix(".py")):
                if candidate.exists():
                    return candidate
    here = [each.stem for each in root.iterdir() if _may_be_meant(each)] if root.is_dir() else []
    near = nearest(name, here)
    hint = f"did you mean {near!r}?" if near else f"looked in {root}"
    raise SiteError(f"{name!r} is neither a path nor an installed package", hint=hint)


def _may_be_meant(path: Path) -> bool:
    return path.suffix in PAGE_SUFFIXES or (path / "__init__.py").is_file() or (path / "index.md").is_file()


def package_name(folder: Path) -> str:
    """The dotted name of the package that `folder` is, empty if it is none."""
    parts: list[str] = []
    while (folder / "__init__.py").is_file() and folder.name:
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts)


def _walk(config: Config, top: Path, prefix: str) -> tuple[list[SourceFile], list[Asset]]:
    sources: list[SourceFile] = []
    assets: list[Asset] = []
    package = package_name(top)
    for file, relative, shown in _files(config.root, top):
        if config.exclude and any(fnmatch.fnmatch(shown, pattern) for pattern in config.exclude):
            continue
        if relative.endswith(_ASSETS):
            assets.append(Asset(prefix + relative, file))
        else:
            sources.append(_source(shown, file, relative, prefix, package))
    return sources, assets


_ASSETS, _WANTED = tuple(ASSET_SUFFIXES), tuple(PAGE_SUFFIXES | ASSET_SUFFIXES)


def _files(root: Path, top: Path) -> Iterator[tuple[str, str, str]]:
    """
    What may be a page or an image, without what a build of ours wrote, wherever it lies: the file, its path from `top`,
    and the path that messages show. Text throughout, since a path object of each takes longer than all else.
    """
    waiting = [""]
    while waiting:
        below = waiting.pop()
        folder = top / below
        try:
            with os.scandir(folder) as entries:
                # Of a module and a text that would be the same page, the module comes first.
                found = sorted(entries, key=lambda entry: (not entry.name.endswith(".py"), entry.name))
        except OSError:
            continue
        folders = {entry.name: entry for entry in found if _is_folder(entry)}
        names = [entry for entry in found if entry.name not in folders]
        if any(entry.name == MANIFEST for entry in names):
            continue
        head, inside = str(folder / "_")[:-1], _inside(root, folder)
        shown = head.replace(os.sep, "/") if inside is None else (inside / "_").as_posix()[:-1]
        for entry in names:
            name = entry.name
            if name.endswith(_WANTED) and not name.startswith("."):
                file = head + name
                yield file, below + name, _shown(root, Path(file)) if entry.is_symlink() else shown + name
        waiting += (
            f"{below}{name}/"
            for name in sorted(folders, reverse=True)
            if not (name.startswith(".") or name in SKIPPED_FOLDERS or folders[name].is_symlink())
        )


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


@lru_cache(maxsize=4096)
def _source(shown: str, file: str, relative: str, prefix: str, package: str) -> SourceFile:
    stem, _, suffix = relative.rpartition(".")
    folder, name = os.path.split(file)
    is_package = name in ("__init__.py", "index.md")
    own = "__init__" if name == "__init__.py" else "index" * is_package
    url = f"{stem.removesuffix('__init__')}index.html" if name == "__init__.py" else f"{stem}.html"
    dotted = stem.replace("/", ".").removesuffix(own).strip(".")
    module = ".".join(part for part in (package, dotted) if part) or Path(folder).name
    return SourceFile(shown, file, module, prefix + url, is_package, is_markdown=suffix == "md")


def _shown(root: Path, file: Path) -> str:
    """The path as messages show it: relative to the root where it lies below."""
    if file.is_symlink():
        file = file.resolve()
    inside = _inside(root, file.parent)
    return file.as_posix() if inside is None else (inside / file.name).as_posix()


@lru_cache(maxsize=1024)
def _inside(root: Path, folder: Path) -> PurePath | None:
    """Where in the root the folder lies. Finding out costs more than all else, and is the same for its files."""
    folder, root = folder.resolve(), root.resolve()
    return folder.relative_to(root) if folder.is_relative_to(root) else None
