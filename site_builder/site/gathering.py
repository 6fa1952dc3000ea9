"""
---
title: The files of all pages
summary: What is made once for the site, from its pages or beside them.
---
# The files of all pages

The search index, the list of all pages, the style sheets: each group of files has a key of all that it is made from,
and is made if that is another than the last time.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from site_builder import outputs, render
from site_builder.cache import digest
from site_builder.outputs import Group
from site_builder.site.inputs import content, taken, unreadable_image
from site_builder.site.ledger import Ledger
from site_builder.site.pages import Entry, templates
from site_builder.site.survey import builder
from site_builder.site.weaving import Weaving
from site_builder.write import Output


class Gathering:
    """`made` are the groups that are there now, by name: their key and their files. `anew` are those that were made."""

    def __init__(self, pages: Weaving) -> None:
        self.pages = pages
        self.inputs, self.site, self.files = pages.inputs, pages.site, pages.files
        self.made: dict[str, tuple[bytes, tuple[str, ...]]] = {}
        self.anew: set[str] = set()

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        config, inputs = self.inputs.config, self.inputs
        assets = Group(
            "static",
            tuple(render.static_names(config)),
            lambda: digest(builder(), inputs.static),
            lambda: render.static_files(config),
        )
        others = outputs.beside(
            self.site,
            inputs.settings,
            inputs.looks,
            lambda lang: templates(config, lang, inputs.looks[lang]),
            lambda lang: [entry.row_digest for entry in self._entries(lang)],
            lambda lang: [entry.row for entry in self._entries(lang)],
        )
        return (assets, *others)

    def _entries(self, lang: str) -> Iterator[Entry]:
        """The pages in that language, in reading order."""
        site = self.site
        return (self.pages.entries[url, lang] for url in site.index.order if site.covers(url, lang))

    def gather(self, group: Group, output: Output, last: Ledger) -> None:
        """Makes the files of a group, unless they are those of the last time."""
        key = group.key()
        before, urls = last.groups.get(group.name, (b"", ()))
        lying = {url: output.lying.get(url) for url in urls}
        if (
            key == before
            and not output.anew
            and all(seen and seen.digest == last.files[url].digest for url, seen in lying.items())
        ):
            self.files.leave({url: seen for url, seen in lying.items() if seen})
        else:
            files = group.make()
            self.anew.add(group.name)
            urls = tuple(files)
            for url, data in files.items():
                self.files.put(url, *output.put(url, data))
        self.made[group.name] = key, urls

    def images(self, output: Output) -> None:
        root = self.inputs.config.root
        for asset, seen in self.inputs.assets:
            if asset.url in self.files.lying:
                self.pages.diagnostics.add(taken(asset, root))
                continue
            lying = output.lying.get(asset.url)
            if lying and lying.digest == seen and not output.anew:
                self.files.leave({asset.url: lying})
                continue
            try:
                data = content(asset.file)
            except FileNotFoundError:
                self.pages.steady = False
            except OSError as error:
                self.pages.diagnostics.add(unreadable_image(asset, root, error))
            else:
                self.files.put(asset.url, *output.put(asset.url, data))
                self.pages.steady &= digest(data) == seen
