"""
---
title: Render
summary: Woven pages through templates, in memory.
---
# Render

Templates are Jinja. A project's own file of the same name is found before ours, so that any part can be replaced
without copying the rest. What a template asks for and does not get is an error, never an empty string.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache, cached_property, lru_cache
from gettext import NullTranslations
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

import jinja2
from markupsafe import Markup, escape

from site_builder.config import Config
from site_builder.errors import SiteError
from site_builder.resources import files_below, resource_root
from site_builder.translate.speech import native_name, plural_forms
from site_builder.weave.model import Woven


class Node(NamedTuple):
    """One page in the tree of all pages."""

    title: Markup
    name: str
    href: str
    summary: Markup
    children: tuple[Node, ...] = ()
    lang: str = ""
    """The language of the page, where the list is in another."""


class _Compiled(jinja2.BytecodeCache):
    """
    Templates are compiled once for all languages, and after an edit only the one that was edited. What comes from the
    disk as code is run, so the next process finds it in no folder of a project, where anyone may have put it, but
    in one of the user's own, which Jinja makes and checks.
    """

    def __init__(self) -> None:
        self.known: dict[str, tuple[str, CodeType | None]] = {}
        self.kept: jinja2.FileSystemBytecodeCache | None = None
        with suppress(RuntimeError, OSError):
            self.kept = jinja2.FileSystemBytecodeCache(pattern="site_builder_%s.cache")

    def load_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
        checksum, code = self.known.get(bucket.key, ("", None))
        if checksum == bucket.checksum:
            bucket.code = code
        elif self.kept:
            with suppress(OSError, ValueError, EOFError, TypeError):
                self.kept.load_bytecode(bucket)

    def dump_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
        self.known[bucket.key] = bucket.checksum, bucket.code
        if self.kept:
            with suppress(OSError):
                self.kept.dump_bytecode(bucket)


_COMPILED = _Compiled()


class Templates:
    """The templates of one site in one language."""

    def __init__(self, config: Config, lang: str, translations: NullTranslations | None = None):
        folders = [resource_root("templates")]
        if config.theme:
            folders.insert(0, config.folder(config.theme) / "templates")
        self.environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(folders),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            extensions=["jinja2.ext.i18n"],
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
            bytecode_cache=_COMPILED,
        )
        # The extension adds these two methods to the environment; its type does not know.
        environment: Any = self.environment
        self.translations = translations or NullTranslations()
        environment.install_gettext_translations(self.translations, newstyle=True)

        # What the extension has for `_` translates anew what every page says. A page says some fifty sentences.
        @cache
        def said(text: str) -> Markup:
            return Markup(self.translations.gettext(text)) % {}

        def saying(text: str, **values: Any) -> Markup:
            return Markup(self.translations.gettext(text)) % values if values else said(text)

        @cache
        def forms(one: str, many: str) -> str:
            found = plural_forms(self.translations, lang, one, many)
            return json.dumps(found, ensure_ascii=False, sort_keys=True)

        self.environment.filters["soft"] = soft
        self.environment.globals["_"] = saying
        self.environment.globals["native_name"] = native_name
        self.environment.globals["plural_forms"] = forms
        self.environment.globals["site"] = {
            "title": self.translations.gettext(config.site_title),
            "description": config.description and self.translations.gettext(config.description),
            "language": config.language,
            # Whether some pages are in the language of the source alone.
            "partial": lang in dict(config.translated),
            "base_url": config.base_url,
            "repository_url": config.repository_url,
        }

    @cached_property
    def words(self) -> Mapping[str, str]:
        """What weaving says by itself, such as beneath an example: templates are where all words stand."""
        with _located():
            module: Any = self.environment.get_template("partials/words.html").module
        return {name: str(word) for name, word in getattr(module, "words", {}).items()}

    def page(self, page: Woven) -> str:
        return self._render("page.html", page, {})

    def contents(self, page: Woven, tree: tuple[Node, ...]) -> str:
        """The page that lists all pages of one language."""
        title = self.translations.gettext("All pages")
        named = page._replace(title=Markup(escape(title)), title_text=title)
        return self._render("contents.html", named, {"tree": tree})

    def not_found(self, page: Woven) -> str:
        """What a web server shows for an address that leads nowhere; its links are absolute paths."""
        title = self.translations.gettext("Page not found")
        return self._render("404.html", page._replace(title=Markup(escape(title)), title_text=title), {})

    def redirect(self, page: Woven, target: str) -> str:
        """A page for an old URL that leads to the new one."""
        return self._render("redirect.html", page, {"target": target})

    def _render(self, name: str, page: Woven, more: Mapping[str, Any]) -> str:
        with _located():
            template = self.environment.get_template(name)
            return template.render(page=page, asset=lambda path: page.root + "static/" + path, **more)


# A name that is HTML already equals the same text that is not.
@lru_cache(maxsize=4096, typed=True)
def soft(name: str) -> Markup:
    """A long name may break after a dot or an underscore."""
    return escape(name).replace(".", Markup(".<wbr>")).replace("_", Markup("_<wbr>"))


@contextmanager
def _located() -> Iterator[None]:
    """
    Raises:
        SiteError: a template is wrong, at the line where it is. Ours may be too, but an author's theme is likelier.
    """
    try:
        yield
    except jinja2.TemplateSyntaxError as error:
        raise SiteError(
            str(error.message), path=error.filename or str(error.name), line=error.lineno
        ) from error
    except jinja2.TemplateNotFound as error:
        raise SiteError(
            f"there is no template {error.name!r}", hint="see templates/ and your theme's"
        ) from error
    except jinja2.TemplateError as error:
        frames = [one for one in traceback.extract_tb(error.__traceback__) if one.filename.endswith(".html")]
        path, line = (frames[-1].filename, frames[-1].lineno or 1) if frames else ("", 0)
        hint = "the chapter on themes tells what a template is given"
        raise SiteError(str(error.message), path=path, line=line, hint=hint) from error


def static_files(config: Config) -> dict[str, bytes]:
    """The files of the theme that every site carries, by URL. What only the build needs stays behind."""
    return {url: Path(file).read_bytes() for url, file in static_names(config).items()}


def static_names(config: Config) -> dict[str, str]:
    """Where those files are."""
    folders = [resource_root("static")]
    if config.theme:
        folders.append(config.folder(config.theme) / "static")
    return {
        f"static/{name}": file
        for folder in folders
        for name, file in files_below(folder).items()
        if not _build_only(name)
    }


def _build_only(name: str) -> bool:
    return (
        name.startswith("dev/")
        or name.rpartition("/")[2].startswith(".")
        or name.endswith(("katex.min.js", "vendor/README.md"))
        or "__pycache__" in name
    )
