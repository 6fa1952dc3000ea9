"""
---
title: What a page asks of its site
summary: Every fact about other pages is the answer to a question, and a page keeps those that it asked.
---
# What a page asks of its site

A woven page depends on its own source and on what it was told of the others: where a name leads, which anchors a page
has, what its neighbours are called. All of that is asked here, and the site's `log` keeps each question with its
answer. As long as a later site would answer all of them alike, the page need not be woven again,
whatever else has changed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

from markupsafe import Markup

from site_builder.config import Config
from site_builder.index import Index, Target, href
from site_builder.lazy import regex
from site_builder.likeness import nearest

_LINE = regex(r"L[1-9]\d{0,8}")
P = ParamSpec("P")
Answer = TypeVar("Answer")

Log = dict[tuple[str, tuple[Any, ...]], Any]
"""What was answered, by the name of the question and what it was about."""


class Names(NamedTuple):
    """What other pages call a page: its title and summary, typeset, and the summary as plain text."""

    title: Markup = Markup("")
    summary: Markup = Markup("")
    plain: str = ""
    covered: bool = True
    """Whether anything of the page is in the language."""


class Lines(NamedTuple):
    """Of a page, the lines of its file where its sections begin, and the first and last of each run of code lines."""

    starts: tuple[int, ...] = ()
    code: tuple[int, ...] = ()


_BESIDE = "\0"
"""What stands between two ids and in none."""


def listed(ids: Iterable[str]) -> str:
    """In order, each between two bounds."""
    return _BESIDE.join(("", *sorted(ids), ""))


class Around(NamedTuple):
    """The pages around one page, by URL."""

    ancestors: tuple[str, ...]
    children: tuple[str, ...]
    siblings: tuple[str, ...]
    previous: str | None
    next: str | None


def question(method: Callable[P, Answer]) -> Callable[P, Answer]:
    """Notes the answer where there is a log, and asks nothing twice. What it is about is given without names."""
    name = method.__name__
    _QUESTIONS.add(name)

    @wraps(method)
    def asked(*arguments: P.args, **named: P.kwargs) -> Answer:
        if named:
            raise TypeError(f"{name} is asked without names: {', '.join(named)}")
        site: Any = arguments[0]
        if site.log is None:
            return method(*arguments, **named)
        key = (name, arguments[1:])
        if key not in site.log:
            site.log[key] = method(*arguments, **named)
        answer: Answer = site.log[key]
        return answer

    return asked


_QUESTIONS: set[str] = set()


@dataclass(frozen=True, eq=False, repr=False)
class Site:
    """What is the same for all pages."""

    config: Config
    index: Index
    anchors: Mapping[str, str]
    """
    Every id of every page that a link may name, by the page's URL, but for those of lines: `listed`, as a text is read
    back from the disk sooner than a hundred words, of which hardly one is asked for.
    """
    lines: Mapping[str, Lines] = field(default_factory=dict)
    assets: frozenset[str] = frozenset()
    titles: Mapping[str, Mapping[str, Names]] = field(default_factory=dict)
    """Title and summary of every page, by language and URL."""
    languages: tuple[str, ...] = ("en",)
    uncovered: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The pages that are not made in a language, by URL."""
    log: Log | None = None
    answers: Log = field(default_factory=dict)
    """To what it was asked without a log."""

    def asking(self) -> Site:
        """The same site with an empty log."""
        return replace(self, log={})

    def still(self, log: Log) -> bool:
        """Whether it would answer all of that alike. Pages ask much the same, and nothing is worked out twice."""
        answers = self.answers
        for asked in log:
            if asked not in answers:
                name, about = asked
                if name not in _QUESTIONS:
                    return False
                answers[asked] = getattr(self, name)(*about)
        return log.items() <= answers.items()

    # ---- where pages stand

    @question
    def url(self, page_url: str, lang: str) -> str:
        """Where the page stands in that language, from the site's root; where it has none, in that of the source."""
        return (
            f"{lang}/{page_url}" if self.covers(page_url, lang) and lang != self.config.language else page_url
        )

    @question
    def covers(self, page_url: str, lang: str) -> bool:
        """Whether the page is made in that language too."""
        return page_url not in self.uncovered.get(lang, ())

    def abroad(self, page_url: str, lang: str) -> str:
        """The language of a page that is not made in that one, else nothing."""
        return "" if self.covers(page_url, lang) else self.config.language

    def href(self, from_url: str, to_url: str, lang: str, anchor: str = "") -> str:
        """The address of one page as another in that language writes it."""
        if from_url == to_url:
            return href(from_url, to_url, anchor)
        return href(self.url(from_url, lang), self.url(to_url, lang), anchor)

    @question
    def around(self, url: str) -> Around:
        index = self.index
        return Around(
            index.ancestors(url),
            index.children(url),
            index.siblings(url),
            index.previous(url),
            index.next(url),
        )

    # ---- what they are called, and what is on them

    @question
    def names(self, url: str, lang: str) -> Names:
        return self.titles.get(lang, {}).get(url, Names())

    @question
    def title(self, url: str, lang: str) -> Markup:
        """Its title alone: who shows no more of it does not depend on its summary."""
        return self.titles.get(lang, {}).get(url, Names()).title

    @question
    def name(self, url: str) -> str:
        """The last part of the module's name."""
        card = self.index.card(url)
        return card.source.module.rpartition(".")[2] if card else ""

    @question
    def has_page(self, url: str) -> bool:
        return self.index.card(url) is not None

    @question
    def has_image(self, url: str) -> bool:
        return url in self.assets

    @question
    def place(self, url: str, anchor: str) -> str:
        """
        The id that a link leads to which names a section, a heading, an element or a line; empty where there is none.
        What stands in a line of prose is shown where its section begins.
        """
        if _BESIDE not in anchor and listed([anchor]) in self.anchors.get(url, ""):
            return anchor
        card, lines = self.index.card(url), self.lines.get(url, Lines())
        if not (card and lines.code and _LINE.fullmatch(anchor) and int(anchor[1:]) <= card.length):
            return ""
        number = int(anchor[1:])
        runs = bisect_right(lines.code, number)
        if runs % 2 or (runs and lines.code[runs - 1] == number):
            return anchor
        section = bisect_right(lines.starts, number)
        return f"section-{section}" if section else "top"

    # ---- what a name means

    @question
    def knows(self, package: str) -> bool:
        return self.index.knows(package)

    @question
    def resolve(self, dotted: str) -> Target | None:
        return self.index.resolve(dotted)

    # ---- what was meant by a wrong one

    @question
    def nearest_page(self, url: str) -> str:
        return nearest(url, self.index.order)

    @question
    def nearest_anchor(self, url: str, anchor: str) -> str:
        return nearest(anchor, self.anchors.get(url, "").split(_BESIDE))
