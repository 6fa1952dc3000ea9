"""
---
title: The words of the templates
summary: Buttons, labels and messages are translated through a catalogue of their own.
---
# The words of the templates

What a template says stands in `_("…")`; Jinja's own extractor finds it. The builder ships the catalogues of some
languages. A project's `_interface.po` is read over them, and is asked only for what they lack.

A script asks for nothing: what it may say stands in the page, in attributes that a template fills. A text that counts
is there in all its [forms](speech.html).

A template puts these words into attributes and sets them without another escaping, so none of them may bring
HTML of its own, and one whose placeholders are wrong is not used at all.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from gettext import GNUTranslations, NullTranslations
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import DEFAULT_KEYWORDS, extract
from babel.messages.mofile import write_mo
from jinja2 import TemplateSyntaxError

from site_builder.errors import Diagnostic, SiteError
from site_builder.translate.catalogue import Catalogue, Entry, header
from site_builder.translate.comparing import hidden, mismatches
from site_builder.translate.locales import locale, plurals
from site_builder.translate.merging import obsolete

_OPTIONS = {"newstyle_gettext": "true", "trim_blocks": "true", "lstrip_blocks": "true", "silent": "false"}
_KEYWORDS = {**DEFAULT_KEYWORDS, "plural_forms": (1, 2)}
_UNSAFE = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


def messages(folders: Mapping[str, Path]) -> tuple[Entry, ...]:
    """Everything that the templates in these folders say, each text once; the keys name the folders in references."""
    found: dict[tuple[str, str], Entry] = {}
    for name, folder in folders.items():
        for file in sorted(file for file in folder.rglob("*.html") if file.is_file()):
            shown = f"{name}/{file.relative_to(folder).as_posix()}"
            for source, plural, context in _extracted(file, shown):
                entry = found.setdefault((context, source), Entry(source, context=context))
                files = entry.files if shown in entry.files else (*entry.files, shown)
                found[context, source] = replace(entry, plural=entry.plural or plural, files=files)
    return tuple(found.values())


def merged(wanted: Iterable[Entry], old: Catalogue) -> Catalogue:
    """The catalogue for these texts, with every translation and comment of the old one."""
    known: dict[tuple[str, str], Entry] = {}
    for entry in sorted(old.entries, key=lambda entry: entry.obsolete):
        known.setdefault((entry.context, entry.source), entry)
    kept: list[Entry] = []
    used: list[Entry] = []
    count = plurals(old.lang)[0]
    for message in wanted:
        last = known.get((message.context, message.source))
        if last and last.plural == message.plural:
            used.append(last)
            kept.append(replace(last, files=message.files, obsolete=False))
        else:
            kept.append(replace(message, forms=("",) * count if message.plural else ()))
    rule = "nplurals={}; plural={};".format(*plurals(old.lang))
    top = old.header or header(old.lang, rule)
    if "Plural-Forms:" not in top and any(entry.plural for entry in kept):
        top = f'{top}\n"Plural-Forms: {rule}\\n"'
    return replace(old, entries=(*kept, *obsolete(old.entries, used)), header=top)


def usable(catalogue: Catalogue) -> tuple[tuple[Entry, ...], tuple[Diagnostic, ...]]:
    """The entries that may be shown, and what is wrong with the others."""
    good: list[Entry] = []
    faults: list[Diagnostic] = []
    count = plurals(catalogue.lang)[0]
    for entry in catalogue.entries:
        if entry.text and not entry.stale and not entry.obsolete:
            found = (
                *hidden(catalogue.path, entry, entry.source, catalogue.lang),
                *mismatches(catalogue.path, entry, entry.source, placeholders=True),
            )
            if entry.plural and len(entry.forms) != count:
                found += (_miscounted(catalogue.path, entry, count),)
            faults += found
            if not found:
                good.append(entry)
    return tuple(good), tuple(faults)


def translations(lang: str, catalogues: Iterable[Catalogue]) -> NullTranslations:
    """What the templates ask for their words; a later catalogue is read over an earlier one."""
    result = NullTranslations()
    for catalogue in catalogues:
        compiled = Catalog(locale=locale(lang))
        for entry in usable(catalogue)[0]:
            forms = tuple(form.translate(_UNSAFE) for form in entry.forms or (entry.text,))
            if entry.plural:
                compiled.add((entry.source, entry.plural), forms, context=entry.context or None)
            else:
                compiled.add(entry.source, forms[0], context=entry.context or None)
        data = io.BytesIO()
        write_mo(data, compiled)
        data.seek(0)
        found = GNUTranslations(data)
        found.add_fallback(result)
        result = found
    return result


def _extracted(file: Path, shown: str) -> Iterator[tuple[str, str, str]]:
    """Text, plural and context of every message of one template."""
    try:
        with file.open("rb") as stream:
            found = list(extract("jinja2.ext:babel_extract", stream, _KEYWORDS, options=_OPTIONS))
    except TemplateSyntaxError as error:
        raise SiteError(str(error.message), path=shown, line=error.lineno) from error
    for _, message, _, context in found:
        source, plural = message[:2] if isinstance(message, tuple) else (message, "")
        yield source, plural, context or ""


def _miscounted(path: str, entry: Entry, count: int) -> Diagnostic:
    return Diagnostic(
        path,
        entry.line,
        1,
        "translation-plural",
        f"a counted word has {count} forms in this language, and this one has {len(entry.forms)}",
        f"write msgstr[0] to msgstr[{count - 1}]; until then the source's words are shown",
    )
