"""
---
title: Weave
summary: One page's cells joined with prose, code and links.
order: [site, targets, links, code, signs, evidence, told, walks, model]
---
# Weave

Here the two halves of a page meet: the sections that the parser cut, with their prose typeset and their code
highlighted, in rows of note and code. Every link is settled here too, so what leaves is ready for a template.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from markupsafe import Markup, escape

from site_builder import highlight, katex, prose
from site_builder.errors import Diagnostic
from site_builder.index import href
from site_builder.model import BlockState, Kind, Page, Paper, Prose, ProseLine, Section
from site_builder.translate import Localised
from site_builder.translate.speech import direction, native_name
from site_builder.weave.code import Code
from site_builder.weave.evidence import Evidence, Margin
from site_builder.weave.links import Links
from site_builder.weave.model import Cited, CodeBlock, LanguageLink, Link, Pair, SearchEntry, TocEntry, Woven
from site_builder.weave.signs import Signs, shapes
from site_builder.weave.site import Names, Site
from site_builder.weave.targets import anchors, headings, lines, typed
from site_builder.weave.told import Told

__all__ = ["Evidence", "Names", "Site", "anchors", "bare", "headings", "lines", "names", "public", "weave"]


NOTHING = Evidence()


def weave(
    page: Page,
    local: Localised,
    site: Site,
    typesetter: katex.Renderer,
    lang: str,
    evidence: Evidence = NOTHING,
    words: Mapping[str, str] = MappingProxyType({}),
) -> Woven:
    """One page in one language. `words` are what stands beneath examples and beside claims, by name."""
    return _Weaver(page, local, site, typesetter, lang, Margin(page, evidence, words)).woven()


def names(
    page: Page, local: Localised, typesetter: katex.Renderer, *, opening_line: bool, source_lang: str = "en"
) -> Names:
    """
    The page's title and summary as other pages show them: typeset, without links, faults left to the page itself.
    Where the author wrote no summary, the first sentence may serve (`opening_line`).
    """
    macros = dict(page.front.macros)

    def shown(text: Prose) -> tuple[Markup, str]:
        if not text:
            return Markup(""), ""
        rendered = prose.render(
            text,
            typeset=lambda tex, display: typesetter.render(tex, display, macros),
            link=lambda target: target,
            prefix="title",
            source_lang=source_lang,
            trusted=page.source.path,
        )
        html, plain = _unwrapped(rendered)
        return _unlinked(html), plain

    title, _ = shown(local.title)
    summary, plain = shown(local.summary)
    if opening_line and not local.summary:
        summary, plain = shown(Prose((ProseLine(page.summary, page.source.path, 1, 1),)))
        # A first sentence that long was not written as a summary: a licence, a list.
        if len(plain) > LONGEST_OPENING:
            summary, plain = Markup(""), plain[:LONGEST_OPENING].rpartition(" ")[0] + " …"
    covered = not local.states or any(state in (None, BlockState.MACHINE) for state in local.states.values())
    return Names(title, summary, plain, covered)


def _unlinked(html: str) -> Markup:
    """What is to stand inside a link."""
    return Markup(re.sub(r"</?a\b[^>]*>", "", html))


LONGEST_OPENING = 160
"""Characters of a first sentence that may stand for a summary."""


def _unwrapped(rendered: prose.Rendered) -> tuple[Markup, str]:
    """One paragraph without its tags, and as plain text on one line."""
    plain = " ".join(rendered.text.split())
    inner = re.fullmatch(r"\s*<p([^>]*)>(.*)</p>\s*", rendered.html, re.DOTALL)
    if inner is None:
        return Markup(escape(plain)), plain
    html = f"<span{inner[1]}>{inner[2]}</span>" if inner[1] else inner[2]
    return Markup(html), plain


class _Weaver:
    """Collects, while one page is woven, what its parts have in common."""

    def __init__(
        self,
        page: Page,
        local: Localised,
        site: Site,
        typesetter: katex.Renderer,
        lang: str,
        margin: Margin,
    ):
        self.margin = margin
        self.page, self.local, self.site, self.typesetter, self.lang = page, local, site, typesetter, lang
        self.links = Links(page, lang, site)
        self.diagnostics: list[Diagnostic] = [*page.diagnostics, *local.diagnostics]
        self.translated = lang != site.config.language
        self.tokens = highlight.python(page.lines)
        self.signs = Signs(page, local, typesetter, self.tokens, shapes(margin.checked))
        self.ids = headings(page)
        self.named = frozenset(typed(page)) if self.translated else frozenset()
        self.told = Told(local, site.config, lang, margin.words, self.former) if self.translated else None

    def woven(self) -> Woven:
        page, site, config = self.page, self.site, self.site.config
        title, summary = self.inline(self.local.title), self.inline(self.local.summary)
        intro = self.render(self.local.intro, "intro", self.ids[0], example=self.margin.example, place=-1)
        pairs, toc, search = self.cells()
        if page.source.is_markdown:
            toc = tuple(_entry(heading) for heading in intro.headings)
        around = site.around(page.url)
        found = _parts(intro, title[1], page.source.module) if page.source.is_markdown else ()
        # A reader looks for a paper and finds the page that is about it.
        cited = "\n".join(f"{paper.title} {paper.authors}" for paper in page.front.papers)
        first, *more = found or (SearchEntry("", title[1], page.source.module, intro.searched),)
        opening = (first._replace(text=f"{first.text}\n{cited}"), *more)
        return Woven(
            **_placed(site, page.url, self.lang),
            is_package=page.source.is_package,
            is_broken=any(found.code in ("python-syntax", "encoding") for found in page.diagnostics),
            title=title[0],
            title_text=title[1],
            summary=summary[0],
            summary_text=summary[1] or site.names(page.url, self.lang).plain,
            intro=Markup(intro.html),
            pairs=pairs,
            toc=toc,
            crumbs=tuple(self.link(other) for other in (*around.ancestors, page.url)),
            children=tuple(self.link(other, summed_up=True) for other in around.children),
            siblings=tuple(self.link(other) for other in around.siblings),
            previous=self.neighbour(around.previous),
            next=self.neighbour(around.next),
            papers=tuple(
                _cited(paper, meaning)
                for paper, meaning in zip(page.front.papers, self.local.papers, strict=True)
            ),
            source_path=page.source.path if _inside(page.source.path) else "",
            source_name=page.source.path.rpartition("/")[2],
            source_url=config.source_link(page.source.path) if _inside(page.source.path) else "",
            **(self.told.fields() if self.told else {}),
            tally=self.margin.tally(),
            verified=self.margin.verified,
            was_verified=self.margin.was_verified,
            signs=self.signs.legend(),
            search=(*opening, *search),
            diagnostics=tuple(sorted(set(self.diagnostics))),
            unkept=tuple(self.signs.diagnostics()),
        )

    def render(
        self,
        text: Prose,
        prefix: str,
        ids: tuple[str, ...] = (),
        example: prose.Told | None = None,
        place: int | None = None,
        *,
        telling: bool = True,
    ) -> prose.Rendered:
        """
        `place` is the section's index, where what is known of claims is to stand beside them; `telling` of blocks that
        are not translated needs room after them.
        """
        rendered = prose.render(
            text,
            typeset=self.signs.typeset,
            link=self.links.settle,
            prefix=prefix,
            source_lang=self.site.config.language,
            source_dir=self.told.source_dir if self.told else "",
            catalogue=self.told.catalogue if self.told else "",
            label=self.told.label if self.told and telling else None,
            heading_ids=ids,
            example=example,
            example_words=self.margin.words,
            signs=self.signs.example,
            trusted=self.page.source.path if self.translated else None,
            named=self.named,
        )
        self.diagnostics += rendered.diagnostics
        if place is None:
            return rendered
        return rendered._replace(html=self.signs.named(self.margin.marked(rendered.html, place)))

    def inline(self, text: Prose) -> tuple[Markup, str]:
        """A title or summary, and the same as plain text."""
        return _unwrapped(self.render(text, "title", telling=False)) if text else (Markup(""), "")

    def former(self, text: Prose) -> str:
        """A translation that is no longer shown: no place for symbols, and its faults are nobody's business."""
        macros = dict(self.page.front.macros)
        return prose.render(
            text,
            typeset=lambda tex, display: self.typesetter.render(tex, display, macros),
            link=self.links.settle,
            prefix="former",
            trusted=self.page.source.path,
        ).html

    def cells(self) -> tuple[tuple[Pair, ...], tuple[TocEntry, ...], tuple[SearchEntry, ...]]:
        pairs: list[Pair] = []
        toc: list[TocEntry] = []
        search: list[SearchEntry] = []
        code = Code(self.page, self.lang, self.site, self.margin, self.tokens, self.signs)
        for order, section in enumerate(self.page.sections):
            if section.kind is Kind.MODULE or not section.shown:
                continue
            number = len(search) + 1
            note = Markup("")
            title, heading, plain = Markup(""), "", ""
            if text := self.local.sections[order]:
                rendered = self.render(
                    text,
                    section.anchor,
                    self.ids[order + 1],
                    example=self.margin.example,
                    place=order,
                )
                note, plain = Markup(rendered.html), rendered.searched
                if rendered.headings:
                    title, heading = _unlinked(rendered.headings[0].html), rendered.headings[0].text
                    # A search shows it above the rest.
                    plain = plain.removeprefix(heading).lstrip()
            if _in_contents(section, bool(title), bool(note)):
                name = section.scope.rpartition(".")[2] if section.kind in _DEFINING else ""
                toc.append(TocEntry(f"#{section.anchor}", section.kind, title, name))
            names = " ".join(dict.fromkeys([section.scope, *code.names(section)]))
            search.append(SearchEntry(section.anchor, heading, names, plain))
            block = (
                CodeBlock(section.anchor, number, section.kind, code.html(section)) if section.code else None
            )
            opens = note or section.kind in (Kind.CLASS, Kind.FUNCTION) or not pairs
            if opens:
                blocks = (block,) if block else ()
                costs = self.margin.costs(section)
                pairs.append(Pair(section.anchor, number, section.kind, note, blocks, _tall(note), costs))
            elif block:
                pairs[-1] = pairs[-1]._replace(blocks=(*pairs[-1].blocks, block))
        return tuple(pairs), tuple(toc), tuple(search)

    def link(self, url: str, *, summed_up: bool = False) -> Link:
        return Link(
            self.site.href(self.page.url, url, self.lang),
            self.site.title(url, self.lang),
            self.site.name(url),
            self.site.names(url, self.lang).summary if summed_up else Markup(""),
            current=url == self.page.url,
            lang=self.site.abroad(url, self.lang),
        )

    def neighbour(self, url: str | None) -> Link | None:
        return self.link(url) if url else None


def _parts(intro: prose.Rendered, title: str, module: str) -> tuple[SearchEntry, ...]:
    """A page without sections, as search sees it: what stands below each of its headings."""
    lines = intro.searched.split("\n")
    starts, at = [0], 0
    for heading in intro.headings:
        # A heading is a line of its own, after that of the one before.
        at = next((n for n in range(at, len(lines)) if lines[n] == heading.text), at)
        starts.append(at)
        at += 1
    names = [("", title), *((heading.id, heading.text) for heading in intro.headings)]
    ends = [*starts[1:], len(lines)]
    return tuple(
        SearchEntry(anchor, name, "" if anchor else module, "\n".join(lines[start + bool(anchor) : end]))
        for (anchor, name), start, end in zip(names, starts, ends, strict=True)
    )


def _entry(heading: prose.Heading) -> TocEntry:
    """A heading of a page without sections; what is below the first level stands further in."""
    kind = Kind.COMMENT if heading.level <= 2 else Kind.METHOD
    return TocEntry(f"#{heading.id}", kind, _unlinked(heading.html), "")


def bare(site: Site, page_url: str, lang: str) -> Woven:
    """What a template needs for a page that no source stands behind, such as the list of all pages."""
    home, empty = site.href(page_url, "index.html", lang), Markup("")
    return Woven(
        **_placed(site, page_url, lang),
        is_package=False,
        is_broken=False,
        title=empty,
        title_text="",
        summary=empty,
        summary_text="",
        intro=empty,
        pairs=(),
        toc=(),
        crumbs=(Link(home, site.title("index.html", lang), site.name("index.html"), Markup("")),),
        children=(),
        siblings=(),
        previous=None,
        next=None,
        papers=(),
        source_path="",
        source_name="",
        source_url="",
    )


def _placed(site: Site, page_url: str, lang: str) -> dict[str, Any]:
    """Where a page stands: on the site, among its languages, on the web."""
    base, url = site.config.base_url, site.url(page_url, lang)
    others = {code: site.url(page_url, code) for code in site.languages if site.covers(page_url, code)}
    addresses = [(code, base + public(other)) for code, other in others.items()] if base else []
    return {
        "url": url,
        "page_url": page_url,
        "lang": lang,
        "direction": direction(lang),
        "root": href(url, "index.html").removesuffix("index.html"),
        "home": site.href(page_url, "index.html", lang),
        "contents": site.href(page_url, "all-pages.html", lang),
        "languages": tuple(
            LanguageLink(code, native_name(code), href(url, other), code == lang)
            for code, other in others.items()
        ),
        "canonical": dict(addresses).get(lang, ""),
        "alternates": (*addresses, ("x-default", addresses[0][1])) if len(addresses) > 1 else (),
    }


def _cited(paper: Paper, meaning: ProseLine | None) -> Cited:
    shown = Cited(paper.title, paper.authors, paper.year, paper.url)
    return replace(shown, translation=meaning.text, line=meaning.line) if meaning else shown


_DEFINING = (Kind.CLASS, Kind.FUNCTION, Kind.METHOD)


def _in_contents(section: Section, titled: bool, noted: bool) -> bool:
    """Definitions a reader would look for, and any comment that bears a heading."""
    if section.kind not in _DEFINING:
        return titled
    depth = section.scope.count(".")
    return titled or section.kind is not Kind.METHOD or (depth == 1 and (noted or "__" not in section.scope))


def _tall(note: str) -> bool:
    """Whether the note opens with math so high that baselines cannot be matched."""
    return re.match(r'\s*<p[^>]*><span class="eq"', note) is not None


def public(url: str) -> str:
    """The URL as a web server serves it: a folder for its index page."""
    return url.removesuffix("index.html") if url == "index.html" or url.endswith("/index.html") else url


def _inside(path: str) -> bool:
    """Whether the file lies in the project: others' places on this machine are nobody's business."""
    return bool(path) and not path.startswith(("/", "..")) and ":" not in path
