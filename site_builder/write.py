"""
---
title: Write
summary: Only what changed, each file at one stroke, and nothing that is not ours.
---
# Write

The manifest in the output folder names every file that a build wrote. It is the whole of our claim: a file that it
does not name is never replaced or removed.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from site_builder.config import MANIFEST
from site_builder.errors import SiteError


@dataclass(frozen=True, slots=True)
class Written:
    """How many files were new or changed, were as before, and were removed."""

    changed: int
    same: int
    removed: int


def write(
    folder: Path,
    files: Mapping[str, bytes],
    *,
    clean: bool = False,
    keep: Callable[[str], bool] = lambda name: False,
) -> Written:
    """
    Makes `folder` hold exactly `files` (by relative URL) besides whatever is not ours. An older file of ours that
    `keep` names stays too: a build of one language leaves the others in place.

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
    if foreign := [name for name in sorted(files) if name not in ours and (folder / name).exists()]:
        raise SiteError(f"{folder / foreign[0]} is in the way and is not ours", hint="move it elsewhere")
    folder.mkdir(parents=True, exist_ok=True)
    # The claim comes first: if the build is killed half way, the next one still knows what is ours.
    _claim(folder, ours | set(files))
    # Ghosts go first: what was a file may have to become a folder.
    ghosts = sorted(name for name in ours - set(files) if not keep(name))
    for name in ghosts:
        _remove(folder, name)
    kept = ours - set(files) - set(ghosts)
    changed = sum(put(folder / name, data, even_if_equal=clean) for name, data in sorted(files.items()))
    _claim(folder, kept | set(files))
    return Written(changed, len(files) - changed, len(ghosts))


def owned(folder: Path) -> frozenset[str] | None:
    """The files that the manifest in `folder` names, or `None` where there is no manifest."""
    try:
        names = [*json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["files"]]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SiteError(f"{folder / MANIFEST} cannot be read: {error}", hint="remove the folder") from error
    # A manifest that someone edited must not lead us outside the folder.
    return frozenset(n for n in names if isinstance(n, str) and ".." not in Path(n).parts and n[:1] != "/")


def _claim(folder: Path, names: frozenset[str] | set[str]) -> None:
    text = json.dumps({"files": sorted(names)}, ensure_ascii=False, indent=0) + "\n"
    put(folder / MANIFEST, text.encode())


def put(path: Path, data: bytes, *, even_if_equal: bool = False) -> bool:
    """Replaces the file at one stroke; tells whether it had to."""
    if not even_if_equal:
        try:
            if path.stat().st_size == len(data) and path.read_bytes() == data:
                return False
        except OSError:
            pass
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".site_builder-", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return True


def _remove(folder: Path, name: str) -> None:
    """The file, and the folders that it leaves empty."""
    path = folder / name
    # A link on the way, or a folder that the manifest was made to name, is not ours to follow or remove.
    if path.is_dir() or not path.parent.resolve().is_relative_to(folder.resolve()):
        return
    path.unlink(missing_ok=True)
    for parent in path.parents:
        if parent == folder:
            break
        try:
            parent.rmdir()
        except OSError:
            break
