"""
---
title: Where catalogues are
summary: One folder a language, one file a page, one for the interface.
---
# Where catalogues are

A page's catalogue is `<language>/<page>.po` below the configured folder, so a translator finds it by the address
of the page. What templates say has one catalogue of its own. A file is replaced at one stroke: after an
interruption there is the old one or the new one, never half of one.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from gettext import NullTranslations
from pathlib import Path
from typing import TYPE_CHECKING

from site_builder.atomic import put
from site_builder.catalogues import GLOSSARY, INTERFACE
from site_builder.config import Config
from site_builder.errors import Diagnostic, SiteError
from site_builder.resources import resource_root

if TYPE_CHECKING:
    from site_builder.translate.catalogue import Catalogue, Entry
    from site_builder.translate.glossary import Term

Read = tuple["Catalogue | None", tuple[Diagnostic, ...]]


def load(config: Config, lang: str, name: str) -> Read:
    """
    One catalogue, with the terms that it is held to; an empty one where there is no file yet, none and a diagnostic
    where it cannot be read.
    """
    # Imported late, as below: a page in its own language has no catalogue.
    from site_builder.translate.catalogue import Catalogue, read

    shown = (Path(config.translations) / name).as_posix()
    agreed = () if name == f"{lang}/{INTERFACE}" else terms(config, lang)[0]
    try:
        data = (config.folder(config.translations) / name).read_bytes()
    except FileNotFoundError:
        return Catalogue(shown, lang, (), terms=agreed), ()
    except OSError as error:
        return None, (_unreadable(shown, error),)
    found, faults = read(shown, lang, data)
    return found and replace(found, terms=agreed), faults


def save(config: Config, name: str, data: bytes) -> bool:
    """Puts the catalogue in its place at one stroke; tells whether it differs from what was there."""
    return put(config.folder(config.translations) / name, data)


def names(config: Config, lang: str) -> tuple[str, ...]:
    """Every catalogue of pages that the language has, whether or not there is such a page."""
    folder = config.folder(config.translations)
    found = (file.relative_to(folder).as_posix() for file in (folder / lang).rglob("*.po"))
    return tuple(sorted(name for name in found if name != f"{lang}/{INTERFACE}"))


def terms(config: Config, lang: str) -> tuple[tuple[Term, ...], tuple[Diagnostic, ...]]:
    """What the project's glossary decides for the language."""
    shown = (Path(config.translations) / GLOSSARY).as_posix()
    try:
        text = (config.folder(config.translations) / GLOSSARY).read_text("utf-8")
    except FileNotFoundError:
        return (), ()
    except OSError as error:
        return (), (_unreadable(shown, error),)
    except UnicodeDecodeError:
        fault = "the glossary is not written in UTF-8"
        return (), (Diagnostic(shown, 1, 1, "glossary-syntax", fault, "save it in that encoding"),)
    return _parsed(shown, text, lang)


@lru_cache(maxsize=16)
def _parsed(shown: str, text: str, lang: str) -> tuple[tuple[Term, ...], tuple[Diagnostic, ...]]:
    from site_builder.translate import glossary

    return glossary.parse(shown, text, lang)


def interface(config: Config, lang: str) -> NullTranslations:
    """The words of the templates in one language: ours, and over them the project's own."""
    tops = (resource_root("translations"), config.folder(config.translations))
    if not any((top / lang / INTERFACE).exists() for top in tops):
        return NullTranslations()
    from site_builder.translate import interface as words

    own, _ = load(config, lang, f"{lang}/{INTERFACE}")
    return words.translations(lang, [catalogue for catalogue in (shipped(config, lang), own) if catalogue])


def shipped(config: Config, lang: str) -> Catalogue | None:
    """The interface's catalogue that comes with the builder, unless the project is the builder's own."""
    folder = resource_root("translations")
    file = folder / lang / INTERFACE
    if not file.is_file() or folder.resolve() == config.folder(config.translations).resolve():
        return None
    from site_builder.translate.catalogue import read

    return read(file.as_posix(), lang, file.read_bytes())[0]


def wanted_words(config: Config, lang: str) -> tuple[Entry, ...]:
    """What the templates say, and the site of itself, less what the builder's own catalogue has for the language."""
    from site_builder.translate import interface as words
    from site_builder.translate.catalogue import Entry

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
    """What is wrong with what all pages of a language have in common: the words of the templates, and the glossary."""
    from site_builder.translate import interface as words

    catalogue, found = load(config, lang, f"{lang}/{INTERFACE}")
    found += terms(config, lang)[1]
    try:
        return (*found, *(words.usable(catalogue)[1] if catalogue else ()))
    except SiteError:
        return found


def _unreadable(shown: str, error: OSError) -> Diagnostic:
    reason = (error.strerror or str(error)).lower()
    hint = "make it readable, or move it away"
    return Diagnostic(shown, 1, 1, "unreadable", f"this file cannot be read: {reason}", hint)
