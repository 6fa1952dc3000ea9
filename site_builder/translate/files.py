"""
---
title: Where catalogues are
summary: One folder a language, one file a page, one for the interface.
---
# Where catalogues are
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from babel.support import NullTranslations

from site_builder.config import Config
from site_builder.errors import Diagnostic, SiteError
from site_builder.resources import resource_root
from site_builder.translate import interface as words
from site_builder.translate.catalogue import Catalogue, Entry, read

INTERFACE = "_interface.po"

Read = tuple[Catalogue | None, tuple[Diagnostic, ...]]


def path_of(lang: str, page_url: str) -> str:
    """The catalogue of a page, relative to the folder of catalogues."""
    return f"{lang}/{page_url.removesuffix('.html')}.po"


def load(config: Config, lang: str, name: str) -> Read:
    """One catalogue; an empty one where there is no file yet, none and a diagnostic where it cannot be read."""
    shown = (Path(config.translations) / name).as_posix()
    try:
        data = (config.folder(config.translations) / name).read_bytes()
    except FileNotFoundError:
        return Catalogue(shown, lang, ()), ()
    return read(shown, lang, data)


def save(config: Config, name: str, data: bytes) -> bool:
    """Puts the catalogue in its place at one stroke; tells whether it differs from what was there."""
    path = config.folder(config.translations) / name
    if path.is_file() and path.read_bytes() == data:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    waiting = path.with_name(f".{path.name}.new")
    waiting.write_bytes(data)
    waiting.replace(path)
    return True


def names(config: Config, lang: str) -> tuple[str, ...]:
    """Every catalogue of pages that the language has, whether or not there is such a page."""
    folder = config.folder(config.translations)
    found = (file.relative_to(folder).as_posix() for file in (folder / lang).rglob("*.po"))
    return tuple(sorted(name for name in found if name != f"{lang}/{INTERFACE}"))


def read_all(
    config: Config, urls: Iterable[str]
) -> tuple[dict[tuple[str, str], Catalogue], dict[tuple[str, str], tuple[Diagnostic, ...]]]:
    """
    The catalogues of all pages by language and URL, and what is wrong with those that cannot be read. A fault of
    the interface is counted among those of the first page.
    """
    catalogues: dict[tuple[str, str], Catalogue] = {}
    faults: dict[tuple[str, str], tuple[Diagnostic, ...]] = {}
    for lang in config.all_languages[1:]:
        more = interface_faults(config, lang)
        for url in urls:
            catalogue, found = load(config, lang, path_of(lang, url))
            if catalogue:
                catalogues[lang, url] = catalogue
            if found or more:
                faults[lang, url] = (*found, *more)
                more = ()
    return catalogues, faults


def interface(config: Config, lang: str) -> NullTranslations:
    """The words of the templates in one language: ours, and over them the project's own."""
    own, _ = load(config, lang, f"{lang}/{INTERFACE}")
    return words.translations(lang, [catalogue for catalogue in (shipped(config, lang), own) if catalogue])


def shipped(config: Config, lang: str) -> Catalogue | None:
    """The interface's catalogue that comes with the builder, unless the project is the builder's own."""
    folder = resource_root("translations")
    file = folder / lang / INTERFACE
    if not file.is_file() or folder.resolve() == config.folder(config.translations).resolve():
        return None
    return read(file.as_posix(), lang, file.read_bytes())[0]


def wanted_words(config: Config, lang: str) -> tuple[Entry, ...]:
    """What the templates say, and the site of itself, less what the builder's own catalogue has for the language."""
    folders = {"templates": resource_root("templates")}
    if config.theme:
        folders[f"{config.theme}/templates"] = config.folder(config.theme) / "templates"
    ours = shipped(config, lang)
    known = {(entry.context, entry.source) for entry in words.usable(ours)[0]} if ours else set()
    about = (Entry(text, files=("pyproject.toml",)) for text in (config.title, config.description) if text)
    return tuple(
        entry for entry in (*words.messages(folders), *about) if (entry.context, entry.source) not in known
    )


def interface_faults(config: Config, lang: str) -> tuple[Diagnostic, ...]:
    catalogue, found = load(config, lang, f"{lang}/{INTERFACE}")
    try:
        return (*found, *(words.usable(catalogue)[1] if catalogue else ()))
    except SiteError:
        return found
