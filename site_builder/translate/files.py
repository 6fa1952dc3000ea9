"""
---
title: Where catalogues are
summary: One folder a language, one file a page, one for the interface.
---
# Where catalogues are
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.support import NullTranslations, Translations

from site_builder.config import Config
from site_builder.errors import Diagnostic
from site_builder.resources import resource_root
from site_builder.translate.catalogue import Catalogue, read

INTERFACE = "_interface.po"


def path_of(lang: str, page_url: str) -> str:
    """The catalogue of a page, relative to the folder of catalogues."""
    return f"{lang}/{page_url.removesuffix('.html')}.po"


def read_all(
    config: Config, urls: Iterable[str]
) -> tuple[dict[tuple[str, str], Catalogue], dict[tuple[str, str], tuple[Diagnostic, ...]]]:
    """The catalogues of all pages by language and URL, and what is wrong with those that cannot be read."""
    catalogues: dict[tuple[str, str], Catalogue] = {}
    faults: dict[tuple[str, str], tuple[Diagnostic, ...]] = {}
    folder = config.folder(config.translations)
    for lang in config.all_languages[1:]:
        for url in urls:
            file = folder / path_of(lang, url)
            if not file.is_file():
                continue
            shown = (Path(config.translations) / path_of(lang, url)).as_posix()
            catalogue, found = read(shown, lang, file.read_bytes())
            if catalogue:
                catalogues[lang, url] = catalogue
            if found:
                faults[lang, url] = found
    return catalogues, faults


def interface(config: Config, lang: str) -> NullTranslations:
    """The words of the templates in one language: ours, and over them the project's own."""
    merged = NullTranslations()
    for folder in (resource_root("translations"), config.folder(config.translations)):
        file = folder / lang / INTERFACE
        if not file.is_file():
            continue
        compiled = io.BytesIO()
        write_mo(compiled, read_po(io.BytesIO(file.read_bytes()), locale=lang.replace("-", "_")))
        compiled.seek(0)
        found = Translations(compiled)
        found.add_fallback(merged)
        merged = found
    return merged
