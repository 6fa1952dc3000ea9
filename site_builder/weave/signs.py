"""
---
title: Symbols on the page
summary: The formulas of a page are marked together, for what makes a mark is that it stands elsewhere too.
---
# Symbols on the page

Whether `x` stands a second time is known only when all formulas have been seen. So they are collected first, marked,
and handed out one by one while the prose is rendered. Lines of code and code spans bear the same numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from markupsafe import Markup

from site_builder import katex, prose, symbols
from site_builder.claims import Checked
from site_builder.errors import Diagnostic
from site_builder.highlight import Token
from site_builder.lazy import regex
from site_builder.model import Kind, Page
from site_builder.symbols import Place, Symbol
from site_builder.translate import Localised
from site_builder.weave.model import Sign

_SPAN = regex(r"""(?<!<pre>)<code(?: class="claim [^"]*")?>([^\W\d][\w.]*(?:: \[[^<]*\])?)</code>""")
_DOTTED = regex(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")


class Signs:
    """The formulas of one page in one language with their marks, the identifiers of its code, and the legend."""

    def __init__(
        self,
        page: Page,
        local: Localised,
        typesetter: katex.Renderer,
        tokens: Sequence[Sequence[Token]],
        shapes: Mapping[str, str] = MappingProxyType({}),
    ):
        self.page, self.typesetter, self.shapes = page, typesetter, shapes
        self.macros = dict(page.front.macros)
        self.symbols = symbols.symbols(page)
        self.owners = symbols.owners(self.symbols)
        sections = [
            text
            for section, text in zip(page.sections, local.sections, strict=True)
            if section.shown and section.kind is not Kind.MODULE
        ]
        texts = (local.title, local.summary, local.intro, *sections)
        found = Counter(formula for text in texts for formula in prose.formulas(text))
        self.marked = typesetter.mark(found, [symbol.tex for symbol in self.symbols], self.macros)
        self.places: Mapping[int, tuple[Place, ...]] = {}
        self.seen: set[str] = set()
        if self.symbols:
            self.places = dict(enumerate((symbols.occurrences(line, self.owners) for line in tokens), 1))
            shown = [number for section in page.sections for number in section.code]
            self.seen = {name for number in shown for name in symbols.chains(tokens[number - 1])}

    def typeset(self, tex: str, display: bool) -> str:
        """HTML of a formula of the page."""
        known = self.marked.html.get((tex, display))
        return known if known is not None else self.typesetter.render(tex, display, self.macros)

    def line(self, number: int) -> tuple[Place, ...]:
        """The identifiers of a line of the file that mean a symbol."""
        return self.places.get(number, ())

    def example(self, tokens: Sequence[Token]) -> tuple[Place, ...]:
        """The same of a line of an example."""
        if not self.symbols:
            return ()
        self.seen.update(symbols.chains(tokens))
        return symbols.occurrences(tokens, self.owners)

    def named(self, html: str) -> str:
        """The prose with such identifiers marked in code spans: those that are nothing else, and claims of shapes."""
        return _SPAN.sub(self._span, html) if self.owners else html

    def _span(self, found: re.Match[str]) -> str:
        names = _DOTTED.sub(self._name, found[1])
        return f"{found[0].partition('>')[0]}>{names}</code>"

    def _name(self, found: re.Match[str]) -> str:
        self.seen.add(found[0])
        number = self.owners.get(found[0])
        return f'<i data-s="{number}">{found[0]}</i>' if number else found[0]

    def legend(self) -> tuple[Sign, ...]:
        """The symbols that can be shown."""
        return tuple(sign for symbol in self.symbols if (sign := self._sign(symbol)))

    def _sign(self, symbol: Symbol) -> Sign | None:
        try:
            html = self.typesetter.render(symbol.tex, False, self.macros)
        except katex.MathError:
            return None
        shape = next((self.shapes[name] for name in symbol.names if name in self.shapes), "")
        return Sign(symbol.number, Markup(html), symbol.names, shape)

    def diagnostics(self) -> Iterator[Diagnostic]:
        """What the front matter says of symbols and the page, now that all of it was seen, does not keep."""
        whole = []
        for symbol in self.symbols:
            try:
                self.typesetter.render(symbol.tex, False, self.macros)
                whole.append(symbol)
            except katex.MathError as error:
                yield symbols.misspelt(self.page, symbol, error.message)
        counts = [self.marked.places[symbol.number - 1] for symbol in whole]
        yield from symbols.faults(self.page, whole, counts, self.seen)


def shapes(checked: Checked) -> dict[str, str]:
    """The shape that each name has most often, in words: one whose axes have names, if there is such a one."""
    found: dict[str, Counter[str]] = {}
    for made in (*checked.arguments.values(), *checked.shapes.values()):
        for shape in made:
            if any(axis.isidentifier() for axis in shape.axes):
                found.setdefault(shape.name, Counter())[f"[{', '.join(shape.axes)}]"] += 1
    return {name: counts.most_common(1)[0][0] for name, counts in found.items()}
