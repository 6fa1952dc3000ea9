r"""
---
title: Symbols
summary: Ties the letters of the formulas to the variables that hold them.
order: [identifiers]
---
# Symbols

The front matter of a page says which identifiers a symbol means: `Q: [query, self.query]`. What that matches is told in
[the manual](../manual/symbols.md). The symbols are numbered in the author's order, and everything that a reader sees
of one, in a formula, in a line of code, in the legend, bears its number. Where a symbol stands in the formulas is
found by `site_builder.katex`, where its identifiers stand in the code [here](identifiers.html).

A symbol that no formula has, or an identifier that no line of code has, ties nothing to anything, and is reported.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from site_builder.errors import Diagnostic
from site_builder.likeness import nearest
from site_builder.model import Page, Position
from site_builder.symbols.identifiers import Place, chains, occurrences

__all__ = ["Place", "Symbol", "chains", "faults", "misspelt", "occurrences", "owners", "symbols"]


class Symbol(NamedTuple):
    """A symbol as its author typed it, and the dotted identifiers that hold it; `number` counts from one."""

    number: int
    tex: str
    names: tuple[str, ...]


def symbols(page: Page) -> tuple[Symbol, ...]:
    """The symbols of the page, in the order in which its front matter has them."""
    return tuple(Symbol(number, tex, names) for number, (tex, names) in enumerate(page.front.symbols, 1))


def owners(declared: Iterable[Symbol]) -> dict[str, int]:
    """The number of the symbol that each identifier means: the first that claims it."""
    found: dict[str, int] = {}
    for symbol in declared:
        for name in symbol.names:
            found.setdefault(name, symbol.number)
    return found


def misspelt(page: Page, symbol: Symbol, message: str) -> Diagnostic:
    """The report of a symbol that cannot be typeset."""
    place = _place(page, f"symbols.{symbol.tex}")
    hint = "write what stands between the dollar signs of a formula"
    return Diagnostic(
        place.path, place.line, place.column, "symbol-syntax", f"`{symbol.tex}`: {message}", hint
    )


def faults(
    page: Page, declared: Sequence[Symbol], formulas: Sequence[int], code: Collection[str]
) -> Iterator[Diagnostic]:
    """
    What is declared and does not occur. `formulas` counts for each symbol where it stands in formulas; `code` are the
    dotted names in lines of code, examples and claims.
    """
    found = set(code)
    first = owners(declared)
    typed = {symbol.number: symbol.tex for symbol in declared}
    for symbol, count in zip(declared, formulas, strict=True):
        if not count:
            yield _unused(
                page,
                f"symbols.{symbol.tex}",
                f"no formula of the page has the symbol `{symbol.tex}`",
                "write it as the formulas do, or remove it",
            )
        for order, name in enumerate(symbol.names):
            key = f"symbols.{symbol.tex}.{order}"
            if name not in found:
                yield _unused(
                    page, key, f"no code of the page has the identifier `{name}`", _meant(name, found)
                )
            elif first[name] != symbol.number:
                place = _place(page, key)
                message = f"`{name}` already means `{typed[first[name]]}`"
                hint = "give each identifier to one symbol"
                yield Diagnostic(place.path, place.line, place.column, "symbol-twice", message, hint)


def _meant(name: str, known: set[str]) -> str:
    """The identifier that the author may have had in mind: another attribute of that name, or one spelt alike."""
    last = name.rpartition(".")[2]
    same = sorted(
        (other for other in known if other.rpartition(".")[2] == last), key=lambda one: (len(one), one)
    )
    near = same[0] if same else nearest(name, sorted(known))
    return f"did you mean `{near}`?" if near else "name what the code calls it, or remove it"


def _unused(page: Page, key: str, message: str, hint: str) -> Diagnostic:
    place = _place(page, key)
    return Diagnostic(place.path, place.line, place.column, "symbol-unused", message, hint)


def _place(page: Page, key: str) -> Position:
    return page.front.position(key) or page.front.position("symbols") or Position(page.source.path, 1, 1)
