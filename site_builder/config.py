"""
---
title: Configuration
summary: One table in pyproject.toml, typed; a word that is not known is told its nearest neighbour.
---
# Configuration

`[tool.site_builder]` in `pyproject.toml` is all there is. Each key is a field of `Config`, its type decides what
the table may hold, and its `help` is what the reference says of it. Nothing else reads the file.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from site_builder.errors import SiteError
from site_builder.likeness import nearest

MANIFEST = ".site_builder.json"
"""The file in the output folder that says what is ours; a folder that holds it is never a source."""

DRAFT_PROVIDERS = ("openai", "deepl")


def _key(default: Any, text: str, *, table: bool = False) -> Any:
    """A field that may be set in the table, with its line in the reference. A `table` holds lists of strings."""
    return field(default=default, metadata={"help": text, "table": table})


@dataclass(frozen=True)
class Config:
    """Everything that a build depends on besides the files it reads."""

    root: Path
    """The folder of `pyproject.toml`, or where the command was given."""

    packages: tuple[str, ...] = _key(
        (), "Packages, folders or modules to show; the first is the site's root, and first in a search."
    )
    output: str = _key("docs", "The folder that receives the site.")
    title: str = _key("", "The site's name; by default that of the first package.")
    description: str = _key("", "One sentence about the site, for search engines and previews.")
    base_url: str = _key("", "The address of the published site. Without it no canonical links or sitemap.")
    repository_url: str = _key("", "The repository; each page links to its own file in it.")
    source_url: str = _key("", "Where a source file is shown, with `{path}` and `{line}`; else guessed.")
    language: str = _key("en", "The language that the sources are written in.")
    languages: tuple[str, ...] = _key(
        (), "All languages of the site; others than `language` are translations."
    )
    translations: str = _key("translations", "The folder of the catalogues.")
    stale_limit: int = _key(
        20, "How many blocks of a language may translate an older text before `check` finds fault."
    )
    translated: tuple[tuple[str, tuple[str, ...]], ...] = _key(
        (),
        'The files that have a page in a language, as `{ ja = ["pkg/**"] }`; a language not named has all.',
        table=True,
    )
    exclude: tuple[str, ...] = _key(
        (), "Files to leave out, as patterns relative to the root: `pkg/tests/**`."
    )
    cache: str = _key(".site_builder_cache", "The folder for what need not be worked out twice.")
    example_seconds: int = _key(60, "How long the examples of one page may run.")
    example_megabytes: int = _key(4096, "How much memory they may hold, with all that they start.")
    example_options: tuple[str, ...] = _key(
        (), "How their output is compared, in doctest's words: `ELLIPSIS`, `NORMALIZE_WHITESPACE`."
    )
    verified: str = _key(
        "tests/verified.json",
        "What the tests compared the pages with, as `pytest --verified-write` leaves it.",
    )
    draft_provider: str = _key(
        "", "Who drafts translations when asked to: `openai` (chat completions) or `deepl`."
    )
    draft_url: str = _key("", "The address that is asked; by default the provider's own.")
    draft_model: str = _key("", "The model that is asked, of a provider that has several.")
    theme: str = _key("", "A folder whose `templates/` and `static/` replace files of the same name.")

    execute: bool = False
    """
    Whether the examples of the pages are run, which runs the code of their authors. `load` allows it for the packages
    that the table names; nothing else does without being told to.
    """

    @property
    def site_title(self) -> str:
        """The configured title, else the first package's name."""
        return self.title or Path(self.packages[0] if self.packages else self.root).stem

    only: tuple[str, ...] = ()
    """The languages to build this time, all of them if empty; the pages of the others stay as they are."""

    mount: str = ""
    """The path of the site on its host, with a slash at both ends, where that is not told by `base_url`."""

    @property
    def root_path(self) -> str:
        """The path of the site on its host, empty when it cannot be known."""
        return self.mount or (urlsplit(self.base_url).path if self.base_url else "")

    @property
    def built_languages(self) -> tuple[str, ...]:
        return tuple(code for code in self.all_languages if not self.only or code in self.only)

    def language_of(self, url: str) -> str:
        """The language that a file of the site belongs to, empty for what all share."""
        folder, _, rest = url.partition("/")
        if folder in self.all_languages[1:]:
            return folder
        if folder == "search" and rest.endswith(".js"):
            return rest.removesuffix(".js")
        return self.language if url.endswith(".html") else ""

    @property
    def all_languages(self) -> tuple[str, ...]:
        """The source language first."""
        return (self.language, *(code for code in self.languages if code != self.language))

    def covers(self, lang: str, path: str) -> bool:
        """Whether the site has the page of that file in that language."""
        patterns = dict(self.translated).get(lang)
        return (
            lang == self.language or patterns is None or any(fnmatch.fnmatch(path, one) for one in patterns)
        )

    def folder(self, name: str) -> Path:
        """A configured folder, relative to the root unless it is absolute."""
        return self.root / name

    def source_link(self, path: str, line: int | str = 1) -> str:
        """
        Where the repository host shows `path`, empty when it cannot be known. Of the line `"{line}"` it is a pattern.
        """
        if self.source_url:
            return self.source_url.replace("{path}", path).replace("{line}", str(line))
        if not self.repository_url:
            return ""
        blob = "-/blob" if "gitlab" in (urlsplit(self.repository_url).hostname or "") else "blob"
        place = "" if line == 1 else f"#L{line}"
        return f"{self.repository_url.rstrip('/')}/{blob}/main/{path}{place}"


SETTINGS: Mapping[str, Field[Any]] = {f.name: f for f in fields(Config) if "help" in f.metadata}


def find(start: Path) -> Path | None:
    """The nearest `pyproject.toml` with our table, from `start` upwards."""
    for folder in (start, *start.parents):
        file = folder / "pyproject.toml"
        if file.is_file() and "tool.site_builder" in file.read_text(encoding="utf-8", errors="replace"):
            return file
    return None


def load(start: Path) -> Config:
    """
    The configuration that holds in folder `start`.

    Raises:
        SiteError: the file is not TOML, a key is unknown, or a value has the wrong type.
    """
    file = find(start.resolve())
    if file is None:
        return Config(root=start.resolve())
    import tomllib  # not for who has no such file

    text = file.read_text(encoding="utf-8", errors="replace")
    try:
        table: Any = tomllib.loads(text)
        for name in ("tool", "site_builder"):
            table = table.get(name, {}) if isinstance(table, dict) else None
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"line (\d+)", str(error))
        raise SiteError(f"not TOML: {error}", path=str(file), line=int(place[1]) if place else 1) from error
    if not isinstance(table, dict):
        raise SiteError("tool.site_builder is no table", path=str(file), hint="write [tool.site_builder]")
    values = {key: _value(file, text, key, value) for key, value in table.items()}
    config = Config(root=file.parent, **values)
    return validate(replace(config, execute=bool(config.packages)), str(file), text)


def validate(config: Config, path: str = "", text: str = "") -> Config:
    """
    The same configuration, its addresses in one form. `path` and `text` are of the file that it comes from.

    Raises:
        SiteError: no site could use it.
    """

    def wrong(key: str, what: str, hint: str) -> SiteError:
        return SiteError(what, path=path, line=_line(text, key) if text else 0, hint=hint)

    for key in ("base_url", "repository_url", "source_url", "draft_url"):
        url = getattr(config, key)
        if url and not _is_address(url):
            raise wrong(key, f"{key} = {url!r} is no address", "write it with https://")
    for code in config.all_languages:
        if not re.fullmatch(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*", code):
            raise wrong("languages", f"{code!r} is no language tag", "write en, ja or zh-Hans")
    for lang, _ in config.translated:
        if lang not in config.all_languages[1:]:
            what = f"translated names {lang!r}, which is no translation"
            raise wrong("translated", what, "add it to languages")
    for word in config.example_options:
        import doctest  # a slow one to import

        if word not in doctest.OPTIONFLAGS_BY_NAME:
            near = nearest(word.upper(), doctest.OPTIONFLAGS_BY_NAME, 0)
            raise wrong("example_options", f"doctest has no option {word!r}", f"did you mean {near!r}?")
    if config.draft_provider and config.draft_provider not in DRAFT_PROVIDERS:
        near = nearest(config.draft_provider, DRAFT_PROVIDERS, 0)
        what = f"draft_provider = {config.draft_provider!r} is not known"
        raise wrong("draft_provider", what, f"did you mean {near!r}?")
    return replace(config, base_url=config.base_url.rstrip("/") + "/") if config.base_url else config


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)


def _value(file: Path, text: str, key: str, value: Any) -> Any:
    setting = SETTINGS.get(key)
    if setting is None:
        raise SiteError(
            f"unknown key {key!r} in [tool.site_builder]",
            path=str(file),
            line=_line(text, key),
            hint=f"did you mean {nearest(key, SETTINGS, 0)!r}?",
        )
    assert setting.default is not MISSING
    if setting.metadata["table"]:
        if isinstance(value, dict) and all(_strings(patterns) for patterns in value.values()):
            return tuple((name, tuple(patterns)) for name, patterns in value.items())
        wanted = "a table of lists of strings"
    elif isinstance(setting.default, tuple):
        if _strings(value):
            return tuple(value)
        wanted = "a list of strings"
    elif isinstance(setting.default, int):
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
        wanted = "a whole number above zero"
    else:
        if isinstance(value, str):
            return value
        wanted = "a string"
    raise SiteError(f"{key} = {value!r} must be {wanted}", path=str(file), line=_line(text, key))


def _strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def where(config: Config, key: str) -> int:
    """The line of the table that sets the key."""
    try:
        return _line((config.root / "pyproject.toml").read_text(encoding="utf-8", errors="replace"), key)
    except OSError:
        return 1


def _line(text: str, key: str) -> int:
    """The line of the table that sets `key`, or that opens the table."""
    inside, opened = False, 1
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip().startswith("["):
            inside = line.strip().startswith("[tool.site_builder")
            opened = number if inside else opened
        if inside and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[.=]", line):
            return number
    return opened
