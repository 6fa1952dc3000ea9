"""
---
title: What a translated page tells
summary: Which blocks are not what a reader of the language expects, and where a translator can mend that.
---
# What a translated page tells

A block without a translation, or with that of a former text, stands in the words of its author; what a machine
translated stands as it is until somebody has read it. After each a line says so, in the language of the page, and
leads to the entry in the catalogue. Where it holds for the whole page it is said once, at the top; and where most of a
page is not translated, the top says how much is, and a hairline beside each other block is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from markupsafe import Markup

from site_builder.blocks import Exchanged
from site_builder.config import Config
from site_builder.model import BlockMark, BlockState, Prose
from site_builder.translate import Localised
from site_builder.translate.speech import direction

_WHOLE = (BlockState.MISSING, BlockState.MACHINE)

_LINE = Markup('<p class="told" role="note" data-state="{state}">{what}{link}</p>')
_FORMER = Markup(
    '<details class="told" data-state="stale"><summary>{what} <span class="more">{name}</span></summary>'
    '<div class="former">{text}</div>{link}</details>'
)
_LINK = Markup(' <a class="mend" href="{address}">{words}</a>')


class Told:
    """What one page in one language tells. `former` typesets a translation that is no longer shown."""

    def __init__(
        self,
        local: Localised,
        config: Config,
        lang: str,
        words: Mapping[str, str],
        former: Callable[[Prose], str],
    ):
        self.local, self.config, self.words, self.former = local, config, words, former
        self.catalogue = local.catalogue if self._address(1) else ""
        self.whole = local.whole if local.whole in _WHOLE else None
        mostly = 2 * local.blocks.count(BlockState.MISSING) > len(local.blocks)
        self.share = local.share if mostly and not self.whole else None
        """Percent of the page that is translated, where that is so little that it is told at the top."""
        other = direction(config.language)
        self.source_dir = other if other != direction(lang) else ""

    def label(self, mark: BlockMark) -> str:
        """What stands after a block, or after a run of blocks of which this is the first."""
        state = mark.state
        if self.whole or (self.share is not None and state is BlockState.MISSING):
            return ""
        said = self._word("translate" if state is BlockState.MISSING else "improve")
        address = self._address(mark.line or 1)
        link = _LINK.format(address=address, words=said) if address else ""
        what = self._word(state)
        if not mark.former:
            return _LINE.format(state=state.value, what=what, link=link)
        text = Markup(self.former(Prose(mark.former)))
        return _FORMER.format(what=what, name=self._word("former"), text=text, link=link)

    def opening(self) -> Markup:
        """The same for title and summary, of which there is but one line to tell."""
        told: dict[BlockState, BlockMark] = {}
        for prose in (self.local.title, self.local.summary):
            if isinstance(prose, Exchanged):
                for _, mark in prose.marks:
                    told.setdefault(mark.state, mark)
        return Markup("\n".join(filter(None, map(self.label, told.values()))))

    def fields(self) -> dict[str, Any]:
        """What a template is given of it."""
        pattern = self.config.source_link(self.local.catalogue, "{line}") if self.catalogue else ""
        return {
            "catalogue_url": self._address(1),
            "line_url": pattern,
            "whole": self.whole or "",
            "share": self.share,
            "told": self.opening(),
            "told_papers": Markup("").join(map(self.label, self.local.drafts[:1])),
        }

    def _word(self, name: str) -> Markup:
        """A word of the templates, which is HTML already."""
        return Markup(self.words.get(name, ""))

    def _address(self, line: int) -> str:
        """Where the host shows that line of the catalogue, empty where there is no catalogue or no host."""
        path = self.local.catalogue
        outside = not path or path.startswith(("/", "..")) or ":" in path
        return "" if outside else self.config.source_link(path, line)
