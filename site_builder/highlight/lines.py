"""
---
title: Lines of code
summary: One line as HTML, with its number, its links, and the places where it may be broken.
---
# Lines of code

A browser breaks lines at spaces, but also inside `a-b`, `->` or `x[0][1]`. So what stands between two spaces,
a *chunk*, is kept together where it holds such a place. A long chunk may be broken after an opening bracket
or a comma and before the dot of a chained call, in a string or comment after a comma or a slash. An
identifier never breaks.

Read back, the text of `.src` is the line with its terminator. HTML cannot carry a NUL or half a surrogate
pair: there stands U+FFFD.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from html import escape
from itertools import accumulate, pairwise

from site_builder.highlight.classes import Token
from site_builder.lazy import regex

Links = Mapping[int, tuple[int, str, str]]
"""By the column (from one) at which an identifier begins: the column behind it, `href` and `title`."""

Signs = Sequence[tuple[int, int, int]]
"""Identifiers that mean a symbol: the column (from one) at which each begins, the column behind it, the number."""

LONG = 22
"""A chunk with more characters than this may be broken."""
TAB = 4
"""Columns between tab stops, as in the style sheet."""

_SPECIAL = regex("[&<>\r\f\0\ud800-\udfff]")
_REFERENCES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;", "\f": "&#12;"}
_CHUNK = regex(r"\S+")
_BREAKABLE = regex(
    r"""-(?![!$),./:;?\]}])(?=\S)"""
    r"""|[!/?|}](?![-!"'),./:;?\]|}])(?=\S)"""
    r"""|[!"#%&)*+,.:;=>?\\\]|}~](?=[(<\[{])"""
    r"""|[^\x00-\x7f]"""
)
"""
Behind what a browser breaks a chunk: a hyphen before nearly anything, other marks before an opening bracket
(as measured in Chromium for all pairs of ASCII characters), a few more by the Unicode rules that other
browsers follow, and ideographs.
"""
_LONG_CHUNK = regex(rf"\S{{{LONG + 1}}}")
_PLACE = regex(r"\((?!\))|[\[{](?=[^\s)\]}]{8})|,|[)\]](?=\.)|[-;&]|/(?!/)")
"""Behind what a long chunk may be broken."""
_AFTER_IN_CODE, _AFTER_IN_TEXT = frozenset("([{,)]"), frozenset(",-/;&")
_TEXT = ("g", "c")
"""The classes whose text is for people; what stands in the others is for Python."""

_WBR, _OPEN, _CLOSE = "<wbr>", '<span class="nb">', "</span>"


def line_html(
    number: int,
    tokens: Sequence[Token],
    links: Links = {},  # noqa: B006
    *,
    signs: Signs = (),
    tail: str = "",
    cold: str = "",
) -> str:
    """
    One line of the file as `<span class="line" id="L38">`: its number, which is not part of the text, and its
    text. A screen reader is told the bare number, which is the same in every language. `tail` is markup that stands
    at the end of the line; `cold` says in words that nothing ever ran it.
    """
    css, label = "line", str(number)
    if cold:
        css, label = "line cold", f'{number}: {escape(cold)}" title="{escape(cold)}'
    lead, width, content = _line(tokens, links, signs)
    if lead:
        lead = f'<span class="in">{lead}</span>'
    return (
        f'<span class="{css}" id="L{number}"><a class="ln" href="#L{number}" data-n="{number}"'
        f' aria-label="{label}" tabindex="-1"></a><span class="src" style="--i:{width}">'
        f"{lead}{content}</span>{tail}</span>"
    )


def hanging_html(tokens: Sequence[Token], signs: Signs = ()) -> tuple[str, int]:
    """A line that stands in the prose, with the places where it may be broken, and the width of its indent."""
    lead, width, content = _line(tokens, signs=signs)
    return lead + content, width


def _line(tokens: Sequence[Token], links: Links = {}, signs: Signs = ()) -> tuple[str, int, str]:  # noqa: B006
    """The indent, its width in columns, and what follows it."""
    body = "".join([token.text for token in tokens]).rstrip("\r\n")
    code = body.lstrip(" \t\f")
    indent = len(body) - len(code) if code else 0
    spots = [found.start() for found in _BREAKABLE.finditer(body)]
    marks = _breaks(body, tokens, spots) if spots or _LONG_CHUNK.search(code) else []
    if links or signs:
        more = (*_link_marks(links, len(body)), *_sign_marks(signs, len(body)))
        marks = sorted([*marks, *more], key=_nesting)
    lead, width = _lead(body[:indent]) if indent else ("", 0)
    if marks or not tokens or (indent and len(tokens[0].text) != indent):
        content = "".join(_pieces(tokens, indent, marks))
    else:
        content = inline_html(tokens[1:] if indent else tokens)
    return lead, width, content


@lru_cache(maxsize=256)
def _lead(indent: str) -> tuple[str, int]:
    """An indent as HTML, and its width in columns."""
    return _text(indent), len(indent.expandtabs(TAB).replace("\f", ""))


def inline_html(tokens: Sequence[Token]) -> str:
    """Tokens without anything round them."""
    return "".join(map(_MADE.__getitem__, tokens))


def _text(text: str) -> str:
    if not _SPECIAL.search(text):
        return text
    return _SPECIAL.sub(lambda found: _REFERENCES.get(found[0], "\ufffd"), text)


def _styled(cls: str, text: str) -> str:
    return f'<i class="{cls}">{_text(text)}</i>' if cls else _text(text)


class _Made(dict[Token, str]):
    """Tokens as HTML. Most stand in a file many times, and are found faster than made."""

    def __missing__(self, token: Token) -> str:
        if len(self) >= MOST:
            self.clear()
        self[token] = _styled(*token)
        return self[token]


MOST = 10_000
"""So many are kept at a time."""
_MADE = _Made()


Mark = tuple[int, str]
"""An offset in the line and the markup that stands there."""


_SIGNED = "</i>"
_RANKS = {_SIGNED: 0, "</a>": 1, _CLOSE: 2, _WBR: 3, _OPEN: 4}
"""At one place what closes comes first, the inner before the outer; last of all a link opens, and a sign in it."""


def _nesting(mark: Mark) -> tuple[int, int]:
    return mark[0], _RANKS.get(mark[1], 5 if mark[1].startswith("<a") else 6)


def _pieces(tokens: Sequence[Token], start: int, marks: Sequence[Mark]) -> Iterator[str]:
    """The tokens from an offset on, cut wherever a mark stands."""
    begin, place = 0, 0
    for token in tokens:
        cls, text = token
        end, offset = begin + len(text), max(begin, start)
        while place < len(marks) and marks[place][0] < end:
            at, markup = marks[place]
            if at > offset:
                yield _styled(cls, text[offset - begin : at - begin])
                offset = at
            yield markup
            place += 1
        if offset == begin:
            yield _MADE[token]
        elif end > offset:
            yield _styled(cls, text[offset - begin :])
        begin = end
    for _, markup in marks[place:]:
        yield markup


def _link_marks(links: Links, length: int) -> Iterator[Mark]:
    done = 1
    for column in sorted(links):
        end, href, title = links[column]
        if done <= column < end <= length + 1:
            yield column - 1, _opening(href, title)
            yield end - 1, "</a>"
            done = end


@lru_cache(maxsize=1024)
def _opening(href: str, title: str) -> str:
    tip = f' title="{escape(title)}"' if title else ""
    return f'<a class="ref" href="{escape(href)}"{tip}>'


def _sign_marks(signs: Signs, length: int) -> Iterator[Mark]:
    for column, end, number in signs:
        if end <= length + 1:
            yield column - 1, f'<i data-s="{number}">'
            yield end - 1, _SIGNED


def _breaks(body: str, tokens: Sequence[Token], spots: Sequence[int]) -> list[Mark]:
    """Where the browser may break chunks, and where it is kept from it. `spots` are where it might."""
    starts = list(accumulate([len(token.text) for token in tokens], initial=0))
    marks: list[Mark] = []
    for chunk in _CHUNK.finditer(body):
        start, end = chunk.span()
        found = spots[bisect_left(spots, start) : bisect_left(spots, end)]
        cuts = [start, end]
        if end - start > LONG:
            cuts[1:1] = _cuts(body, start, end, tokens, starts)
        elif not found:
            continue
        for here, there in pairwise(cuts):
            if here != start:
                marks.append((here, _WBR))
            if found and _would_break(body, here, there, tokens, starts, found):
                marks += [(here, _OPEN), (there, _CLOSE)]
    return sorted(marks, key=_nesting)


def _cuts(body: str, start: int, end: int, tokens: Sequence[Token], starts: Sequence[int]) -> Iterator[int]:
    """Where a long chunk may be broken. A short string in it stays whole."""
    for found in _PLACE.finditer(body, start, end):
        if found.end() == end:
            return
        number = bisect_right(starts, found.start()) - 1
        if tokens[number].cls not in _TEXT:
            if found[0] in _AFTER_IN_CODE:
                yield found.end()
        elif found[0] in _AFTER_IN_TEXT and min(end, starts[number + 1]) - max(start, starts[number]) > LONG:
            yield found.end()


def _would_break(
    body: str, start: int, end: int, tokens: Sequence[Token], starts: Sequence[int], spots: Sequence[int]
) -> bool:
    """Whether a browser, left alone, might break this stretch."""
    for spot in spots:
        if not start <= spot < end:
            continue
        sign, is_last = body[spot], spot + 1 == end
        if is_last and sign.isascii():
            continue  # nothing follows that it could be broken from
        number = bisect_right(starts, spot) - 1
        if tokens[number].cls == "o" and starts[number + 1] >= end and starts[number] <= start:
            continue  # one operator, which the style sheet keeps together
        if sign == "-" and spot == start and body[spot + 1].isdigit():
            continue  # a minus sign stays with its number
        if sign.isascii() or tokens[number].cls not in _TEXT:
            return True
    return False
