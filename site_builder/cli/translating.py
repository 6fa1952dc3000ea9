"""
---
title: What translators' commands ask
summary: Which languages, and which pages.
---
# What translators' commands ask

The pages come from the first half of the pipeline: what a translator is given depends on the sources alone.
"""

from __future__ import annotations

from site_builder.cli.build import configured
from site_builder.config import Config
from site_builder.errors import SiteError
from site_builder.model import Page


def chosen(lang: tuple[str, ...]) -> tuple[Config, tuple[str, ...]]:
    """The configuration, and the translations that the command is about."""
    config = configured((), None, lang)
    if not config.all_languages[1:]:
        raise SiteError(
            f"there is no language to translate into but {config.language!r}, that of the sources",
            hint="name one under languages in [tool.site_builder]",
        )
    languages = tuple(code for code in config.built_languages if code != config.language)
    if not languages:
        raise SiteError(f"{config.language!r} is what the sources are written in", hint="name a translation")
    return config, languages


def pages_of(config: Config) -> tuple[Page, ...]:
    """Every page of the configured packages, in reading order."""
    from site_builder.site import read
    from site_builder.site.workers import default_jobs

    return tuple(read(config, default_jobs()).pages.values())
