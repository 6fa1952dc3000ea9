"""
---
title: A new project
summary: A small project that builds, checks and tests green at once, for authors to start from.
order: [names]
---
# A new project

What `new` writes lies under `project/`, file for file, each with `.in` after its name: so it is nobody's module, test
or page before it is somebody's project. `@package@` and its like are [names](names.html) that are filled in, in paths
and in texts. The settings are not typed there but made from the [configuration](../config.html), so that an author
finds every one of them, with its default.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from site_builder import __version__
from site_builder.config import SETTINGS, Config, validate
from site_builder.errors import SiteError
from site_builder.new.names import Names, choose

__all__ = ["Project", "create", "files"]

_TEMPLATES = Path(__file__).resolve().parent / "project"
_SUFFIX = ".in"


@dataclass(frozen=True)
class Project:
    """What was made, and where."""

    folder: Path
    names: Names
    files: tuple[str, ...]


def create(folder: Path, name: str = "", languages: Iterable[str] = ()) -> Project:
    """
    Starts a project in `folder`, which may be there, with anything in it that is not in the way. All files are
    written or none.

    Raises:
        SiteError: something is in the way, no package can have this name, or a language is none.
    """
    folder = folder.resolve()
    languages = tuple(dict.fromkeys(languages))
    validate(Config(root=folder, languages=languages))
    if Config.language in languages:
        raise SiteError(f"{Config.language!r} is the language of the pages themselves", hint="name another")
    # A project of ours is in its own way before its name is: what is there is told first.
    _refuse(folder, _tops())
    names = choose(name or folder.name)
    _refuse(folder, [names.package])
    made = files(names, languages)
    _write(folder, made)
    return Project(folder, names, tuple(made))


def files(names: Names, languages: tuple[str, ...] = ()) -> dict[str, str]:
    """Every file of the project by its path, in order."""
    words = {
        "package": names.package,
        "distribution": names.distribution,
        "title": names.title,
        "requirement": _requirement(__version__),
        "settings": _settings(names, languages),
    }
    templates = {file.relative_to(_TEMPLATES).as_posix(): file for file in _TEMPLATES.rglob(f"*{_SUFFIX}")}
    return {
        _filled(path, words).removesuffix(_SUFFIX): _filled(file.read_text("utf-8"), words)
        for path, file in sorted(templates.items())
    }


def _filled(text: str, words: Mapping[str, str]) -> str:
    return re.sub(r"@(\w+)@", lambda found: words[found[1]], text)


def _requirement(version: str) -> str:
    """Of the builder: this version, or a later one that breaks nothing."""
    major, minor = version.split(".")[:2]
    following = f"0.{int(minor) + 1}" if major == "0" else str(int(major) + 1)
    return f"annotated-nn>={version},<{following}"


def _settings(names: Names, languages: tuple[str, ...]) -> str:
    """The table of the configuration: each key below its help, and what nobody has chosen yet as a comment."""
    chosen: dict[str, object] = {
        "packages": [names.package],
        "title": names.title,
        "description": "Code beside its explanation, and what it does when it runs.",
        # The workflow looks for these two lines.
        "base_url": "",
        "repository_url": "",
    }
    if languages:
        chosen["languages"] = list(dict.fromkeys((Config.language, *languages)))
    entries = []
    for key, setting in SETTINGS.items():
        # What JSON says of texts, numbers and lists, TOML says too.
        default = {} if setting.metadata["table"] else setting.default
        value = json.dumps(chosen.get(key, default), ensure_ascii=False)
        mark = "" if key in chosen else "# "
        entries.append(f"# {setting.metadata['help']}\n{mark}{key} = {value}")
    return "\n\n".join(entries)


def _tops() -> tuple[str, ...]:
    """What the project has at its top, but for the package."""
    return tuple(
        sorted(path.name.removesuffix(_SUFFIX) for path in _TEMPLATES.iterdir() if "@" not in path.name)
    )


def _refuse(folder: Path, tops: Iterable[str]) -> None:
    """Raises `SiteError` where a person has written what we would write."""
    if folder.exists() and not folder.is_dir():
        raise SiteError(f"{folder} is a file", hint="name a folder, new or empty")
    if here := [name for name in tops if os.path.lexists(folder / name)]:
        raise SiteError(
            f"{folder} is not empty: {', '.join(here)} would be in the way",
            hint="name a folder that is new or empty; nothing was written",
        )


def _write(folder: Path, texts: Mapping[str, str]) -> None:
    """All of it, nothing over anything; where that fails, what was made is taken away again."""
    made: list[Path] = []
    try:
        for path, text in texts.items():
            file = folder / path
            missing = [place for place in file.parents if not place.exists()]
            for place in reversed(missing):
                place.mkdir()
                made.append(place)
            with file.open("xb") as opened:
                made.append(file)
                opened.write(text.encode())
    except BaseException as error:
        left = [str(path) for path in reversed(made) if not _removed(path)]
        if left:
            raise SiteError(f"{error}; of what was begun this is left: {', '.join(left)}") from error
        raise


def _removed(path: Path) -> bool:
    try:
        path.rmdir() if path.is_dir() else path.unlink()
    except OSError:
        return False
    return True
