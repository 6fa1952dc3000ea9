"""
---
title: A woven page
summary: Everything a template needs, already typeset; nothing in it has to be looked up again.
---
# A woven page

Templates stay simple because this is all they see: strings, ready-made HTML (`Markup`) and links that are
already relative to the page.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from site_builder.errors import Diagnostic
from site_builder.model import Kind, Paper

if TYPE_CHECKING:
    from site_builder.verified import Row


class Link(NamedTuple):
    """`title` may hold typeset math; `name` is the identifier or module name, where there is one."""

    href: str
    title: Markup
    name: str = ""
    summary: Markup = Markup("")
    current: bool = False
    lang: str = ""
    """The language of the page that it leads to, where that is another than this page's."""


class TocEntry(NamedTuple):
    """An entry in the contents of the page; `title` is empty where only the name is known."""

    href: str
    kind: Kind
    title: Markup
    name: str


class CodeBlock(NamedTuple):
    """
    The code of one section, as the `<span class="line">…</span>` of its lines without anything between them.
    A pair holds several where the later ones have no prose of their own.
    """

    anchor: str
    number: int
    kind: Kind
    html: Markup


class Cost(NamedTuple):
    """The parameters of a class constructed in one way, or the operations of one pass through it."""

    given: str
    parameters: int | None = None
    frozen: int = 0
    """How many of the parameters are not trained."""
    flops: int | None = None
    uncounted: tuple[str, ...] = ()
    """Arithmetic operators that are not among `flops`."""


class Tally(NamedTuple):
    """How far the evidence of a page reaches. `recorded`: its examples were run; `margin`: shapes stand at lines."""

    recorded: bool = False
    waiting: bool = False
    """Whether its examples have yet to run: under `serve`, for as long as they take."""
    lacking: bool = False
    """Whether there are functions and no example that would run them."""
    examples: int = 0
    failed: int = 0
    idle: int = 0
    run: int = 0
    statements: int = 0
    proven: int = 0
    unchecked: int = 0
    false: int = 0
    margin: bool = False

    @property
    def share(self) -> int:
        """Percent of the statements that ran, rounded down: only what ran whole has run whole."""
        return 100 * self.run // self.statements if self.statements else 100

    @property
    def claims(self) -> int:
        return self.proven + self.unchecked + self.false


class Sign(NamedTuple):
    """A symbol in the legend: its number, typeset, the identifiers that hold it, and its shape where that is known."""

    number: int
    html: Markup
    names: tuple[str, ...]
    shape: str = ""


class Pair(NamedTuple):
    """A row of the page: prose on the left (may be empty), code on the right (may be empty)."""

    anchor: str
    number: int
    kind: Kind
    note: Markup
    blocks: tuple[CodeBlock, ...]
    tall: bool = False
    costs: tuple[Cost, ...] = ()


@dataclass(frozen=True, slots=True)
class Cited(Paper):
    """
    A paper as a page shows it: in its own words, and what its title means in the language of the page. `line` is the
    line of the catalogue that says so.
    """

    translation: str = ""
    line: int = 0


class LanguageLink(NamedTuple):
    """`href` leads to the same page in that language; `code` is a BCP 47 tag, `name` what its speakers call it."""

    code: str
    name: str
    href: str
    current: bool


class SearchEntry(NamedTuple):
    """One section as search sees it: all plain text."""

    anchor: str
    title: str
    names: str
    text: str


class Woven(NamedTuple):
    """One page in one language."""

    url: str
    """Relative to the site's root, language folder included: `ja/transformers/mha.html`."""
    page_url: str
    """The same without the language folder."""
    lang: str
    direction: str
    root: str
    """What leads from this page to the site's root: empty, or `../../`. Prefix of every asset."""
    home: str
    """Relative link to the home page of this language."""
    contents: str
    """Relative link to the page that lists all pages of this language."""
    is_package: bool
    is_broken: bool
    """Whether the file could not be read as Python; then all of it is code."""
    title: Markup
    title_text: str
    summary: Markup
    summary_text: str
    intro: Markup
    pairs: tuple[Pair, ...]
    toc: tuple[TocEntry, ...]
    crumbs: tuple[Link, ...]
    children: tuple[Link, ...]
    siblings: tuple[Link, ...]
    previous: Link | None
    next: Link | None
    papers: tuple[Cited, ...]
    languages: tuple[LanguageLink, ...]
    source_path: str
    """As diagnostics name it; empty for a page that no file stands behind."""
    source_name: str
    source_url: str
    canonical: str
    """Absolute, empty when the site has no `base_url`."""
    alternates: tuple[tuple[str, str], ...]
    """`(language, absolute URL)`, `x-default` among them."""
    catalogue_url: str = ""
    """Where the host shows the catalogue of a translated page; `line_url` is the same with `{line}` in it."""
    line_url: str = ""
    whole: str = ""
    """`missing` where no block of the page is translated, `machine` where nobody has read any of it."""
    share: int | None = None
    """Percent of the page that is translated, where most of it is not."""
    told: Markup = Markup("")
    """What a reader is told of title and summary."""
    told_papers: Markup = Markup("")
    """The same of the titles of papers."""
    was_verified: bool = False
    """Whether tests did compare it, but with the code that the page had before."""
    tally: Tally = Tally()
    verified: tuple[Row, ...] | None = None
    """What tests compared it with: the foot of the page. `None`: of no page of this project is that known."""
    signs: tuple[Sign, ...] = ()
    search: tuple[SearchEntry, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    unkept: tuple[Diagnostic, ...] = ()
    """What the front matter says of symbols and the page does not keep: in whatever language, so it is told once."""
