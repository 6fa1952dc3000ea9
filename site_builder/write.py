"""
---
title: Write
summary: Only what changed, each file at one stroke, and nothing that is not ours.
---
# Write

The manifest in the output folder names every file that a build wrote. It is the whole of our claim: a file that it
does not name is never replaced or removed.

A build claims first, with every name that it may come to write, then writes, and at last keeps of its claim what it
has written. So whoever is killed half way leaves nothing behind that the next build would not know for ours.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Set
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from site_builder.atomic import WAITING, put
from site_builder.cache import digest
from site_builder.config import MANIFEST
from site_builder.errors import SiteError


class Seen(NamedTuple):
    """A file as it was left: what is in it, and by what it is known again without being read."""

    digest: bytes
    size: int
    time: int
    inode: int
    touched: int
    """The time that nobody can set back, where the system has one."""

    @staticmethod
    def of(file: Path, content: bytes) -> Seen:
        status = file.stat()
        return Seen(content, status.st_size, status.st_mtime_ns, status.st_ino, status.st_ctime_ns)

    def still(self, status: os.stat_result) -> bool:
        return self[1:] == (status.st_size, status.st_mtime_ns, status.st_ino, status.st_ctime_ns)


class Written(NamedTuple):
    """How many files were new or changed, were as before, and were removed."""

    changed: int
    same: int
    removed: int


class Output(NamedTuple):
    """
    Where files are put. What is `lying` there already, as far as it is known, is not compared byte by byte. An equal
    file is left alone unless all are to be written `anew`.
    """

    folder: Path
    lying: Mapping[str, Seen] = {}
    anew: bool = False

    def put(self, url: str, data: bytes) -> tuple[Seen, bool]:
        """Makes the file hold the data, and tells whether it had to be written."""
        file, content = self.folder / url, digest(data)
        known = self.lying.get(url)
        if known and known.digest == content and not self.anew:
            return known, False
        changed = put(file, data, even_if_equal=self.anew or known is not None)
        return Seen.of(file, content), changed


def claim(folder: Path, names: Collection[str], keep: Callable[[str], bool] = lambda name: False) -> int:
    """
    Prepares `folder` for files of those names (relative URLs): says that they are ours, and removes what was ours and
    is none of them, except for what is to `keep`. Tells how many were removed.

    Raises:
        SiteError: the folder holds files and no manifest of ours, or a file of ours would replace a foreign one.
    """
    if folder.exists() and not folder.is_dir():
        raise SiteError(f"{folder} is a file", hint="name a folder with -o")
    ours = owned(folder)
    if ours is None:
        if folder.is_dir() and any(folder.iterdir()):
            raise SiteError(
                f"{folder} is not empty and was not written by site_builder",
                hint="name another folder with -o, or empty it yourself",
            )
        ours = frozenset()
    wanted = frozenset(names)
    if foreign := _foreign(folder, wanted, ours):
        raise SiteError(f"{foreign} is in the way and is not ours", hint="move it elsewhere")
    folder.mkdir(parents=True, exist_ok=True)
    if not wanted <= ours:
        _say(folder, ours | wanted)
    _sweep(folder, ours | wanted)
    # Ghosts go first: what was a file may have to become a folder.
    ghosts = sorted(name for name in ours - wanted if not keep(name))
    for name in ghosts:
        _remove(folder, name)
    return len(ghosts)


def _foreign(folder: Path, wanted: Set[str], ours: Set[str]) -> Path | None:
    """What somebody else has put where a file or a folder of ours is to be."""
    for name in sorted(wanted - ours):
        place = folder / name
        if os.path.lexists(place) and not (place.is_dir() and _emptied(folder, place, ours)):
            return place
    top = folder.resolve()
    for inner in sorted(_folders(wanted)):
        place = folder / inner
        if _real(place):
            continue
        usable = place.is_dir() and place.resolve().is_relative_to(top)
        # A file of ours goes before the folder comes; a link would lead us out of our own.
        ours_to_go = inner in ours and not place.is_symlink()
        if place.exists() and not usable and not ours_to_go:
            return place
    return None


def _real(folder: Path) -> bool:
    """Whether it is a folder and no link; asked of the outer ones first, it lies where it seems to."""
    try:
        return stat.S_ISDIR(os.lstat(folder).st_mode)
    except OSError:
        return False


def _folders(names: Iterable[str]) -> set[str]:
    """All folders that files of these names lie in, however deep."""
    found: set[str] = set()
    for name in names:
        while (name := name.rpartition("/")[0]) and name not in found:
            found.add(name)
    return found


def _emptied(folder: Path, inner: Path, ours: Set[str]) -> bool:
    """Whether nothing but what is ours lies in a folder, so that it goes when our files go."""
    if inner.is_symlink():
        return False
    files = (file for file in inner.rglob("*") if not file.is_dir() or file.is_symlink())
    return all(file.relative_to(folder).as_posix() in ours for file in files)


def settle(folder: Path, names: Collection[str], keep: Callable[[str], bool] = lambda name: False) -> int:
    """
    Ends what `claim` began: of all that was claimed those names are there, and no other. Tells how many files of an
    earlier build were removed.
    """
    ours = owned(folder) or frozenset()
    ghosts = [name for name in sorted(ours - set(names)) if not keep(name)]
    # Of a name that the file system does not take there is no file, and no complaint either.
    there = [name for name in ghosts if os.path.isfile(folder / name)]  # noqa: PTH113
    for name in there:
        _remove(folder, name)
    _say(folder, (ours | set(names)) - set(ghosts))
    return len(there)


def owned(folder: Path) -> frozenset[str] | None:
    """The files that the manifest in `folder` names, or `None` where there is no manifest."""
    try:
        names = [*json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["files"]]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SiteError(f"{folder / MANIFEST} cannot be read: {error}", hint="remove the folder") from error
    # A manifest that someone edited must not lead us outside the folder.
    return frozenset(name for name in names if isinstance(name, str) and _inside(name))


def _inside(name: str) -> bool:
    return name[:1] != "/" and not (".." in name and ".." in Path(name).parts)


def _say(folder: Path, names: Iterable[str]) -> None:
    text = json.dumps({"files": sorted(names)}, ensure_ascii=False, indent=0) + "\n"
    put(folder / MANIFEST, text.encode())


def _sweep(folder: Path, names: Iterable[str]) -> None:
    """Removes what a build that was killed has left half written."""
    for inner in ("", *_folders(names)):
        with suppress(OSError), os.scandir(folder / inner) as entries:
            for entry in entries:
                process = entry.name.removeprefix(WAITING).partition("-")[0]
                if entry.name.startswith(WAITING) and process.isdecimal() and not _alive(int(process)):
                    Path(entry.path).unlink(missing_ok=True)


def _alive(process: int) -> bool:
    if process == os.getpid():
        return False
    if sys.platform == "win32":
        return True  # asking would end it
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        # Not ours to ask, or not the number of a process.
        pass
    return True


def _remove(folder: Path, name: str) -> None:
    """The file, and the folders that it leaves empty."""
    path = folder / name
    # A link on the way, or a folder that the manifest was made to name, is not ours to follow or remove.
    if path.is_dir() or not path.parent.resolve().is_relative_to(folder.resolve()):
        return
    with suppress(FileNotFoundError, NotADirectoryError):
        path.unlink()
    for parent in path.parents:
        if parent == folder:
            break
        try:
            parent.rmdir()
        except FileNotFoundError:
            # Whoever was to make it was killed.
            continue
        except OSError:
            break
