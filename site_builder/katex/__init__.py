r"""
---
title: LaTeX in, HTML and MathML out
summary: Math is typeset when the site is built, so that a page needs no script to show it.
order: [source, engine, errors, marks]
---
# LaTeX in, HTML and MathML out

The HTML is for the eye, with the style sheet and fonts in `static/vendor/katex`; the MathML beside it is for
screen readers, and carries the source for whoever copies the equation.

    >>> from site_builder import katex
    >>> html = katex.render(r"\R^{d_k}", macros={"R": r"\mathbb{R}"})
    >>> html.startswith('<span class="katex"><span class="katex-mathml"><math ')
    True
    >>> html.count(r'<annotation encoding="application/x-tex">\R^{d_k}</annotation>')
    1

What is wrong comes with its place, counted in characters of the expression:

    >>> try:
    ...     katex.render(r"\frac{1}{\sqrt{d_k}} \aplha")
    ... except katex.MathError as error:
    ...     print(error.position, error.message, "|", error.hint)
    21 The command \aplha is unknown | did you mean \alpha?
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from site_builder.cache import Store, digest
from site_builder.katex.engine import CPU_SECONDS, ENGINE, LimitError, fingerprint
from site_builder.katex.errors import LIMITS, MathError, printable, reworded
from site_builder.katex.marks import Formula, Marked, joined
from site_builder.katex.source import (
    Source,
    final_comment,
    first_mention,
    first_use,
    named,
    prepare,
    unclosed,
)

__all__ = ["MAX_LENGTH", "Formula", "Marked", "MathError", "Renderer", "render", "version"]

MAX_LENGTH = 10_000

_KIND, _MARKED = "katex", "katex-marked"
# A macro may expand a thousand times, a size reach fifty ems. What KaTeX accepts and LaTeX would not is fine,
# but for a comment without an end: it swallows the rest of the expression.
_OPTIONS = {"maxExpand": 1000, "maxSize": 50, "refuse": ["commentAtEnd"]}


def render(tex: str, display: bool = False, macros: Mapping[str, str] | None = None) -> str:
    r"""
    Typeset an expression, given without its dollar signs.

    `display` sets it as a block: large sums, limits above and below. `macros` maps commands, with or without
    their backslash, to what they stand for. `align` and the other numbering environments set no numbers;
    `\tag` sets one. What an expression defines is forgotten with it. Raises `MathError` for what cannot be
    typeset. Any thread may call it, and so may a process that was forked meanwhile.
    """
    return Renderer(None).render(tex, display, macros)


@cache
def version() -> str:
    """The version of KaTeX, which style sheet and HTML must have in common."""
    return str(ENGINE.call("version", {}))


class Renderer:
    """Typesets what the store does not hold, and puts it there. Complaints are kept as well."""

    def __init__(self, store: Store | None):
        self._store = store
        self._page: dict[bytes, dict[str, Any]] = {}
        """The answers for the page that was marked last, by their keys: it will ask for them again."""

    def render(self, tex: str, display: bool = False, macros: Mapping[str, str] | None = None) -> str:
        """As the function of the same name."""
        source = prepare(tex)
        bodies, macros_json = _normalised(tuple((macros or {}).items()))
        answer = self._answer(source, display, bodies, macros_json)
        if "html" in answer:
            return str(answer["html"])
        error = _error(answer, source, bodies)
        error.position += len(tex) - len(tex.lstrip())
        raise error

    def mark(
        self,
        formulas: Mapping[Formula, int],
        symbols: Sequence[str] = (),
        macros: Mapping[str, str] | None = None,
    ) -> Marked:
        """
        The formulas of a page, each with how often it stands there, with marks around the symbols and around what the
        page has more than once. One that cannot be typeset is left out, and a symbol that cannot be occurs nowhere.
        """
        if not formulas:
            # A site without math needs no KaTeX.
            return Marked({}, (0,) * len(symbols))
        bodies, macros_json = _normalised(tuple((macros or {}).items()))
        # The order in which a translation has them changes nothing.
        sources = {formula: prepare(formula[0]) for formula in sorted(formulas)}
        answers = self._answers(sources, bodies, macros_json)
        plain = {formula: str(answer["html"]) for formula, answer in answers.items() if "html" in answer}
        request = {
            "formulas": [
                {"tex": sources[formula].sent, "display": formula[1], "count": formulas[formula]}
                for formula in plain
            ],
            "symbols": [prepare(tex).sent for tex in symbols],
            "macros": bodies,
            **_OPTIONS,
        }
        answer = self._marks(request, digest(_version_key(), json.dumps(request), macros_json))
        html: dict[Formula, str] = {}
        for (formula, typeset), marked in zip(plain.items(), answer["html"], strict=True):
            if marked is not None:
                html[formula] = joined(typeset, marked)
        return Marked(html, tuple(answer["places"]))

    def _marks(self, request: dict[str, Any], key: bytes) -> dict[str, Any]:
        value = self._store.get(_MARKED, key) if self._store else None
        if value:
            known: dict[str, Any] = json.loads(value)
            return known
        try:
            answer: dict[str, Any] = ENGINE.call("mark", request)
        except LimitError:
            # Then the page has its formulas without marks.
            return {"html": [None] * len(request["formulas"]), "places": [0] * len(request["symbols"])}
        if self._store:
            self._store.put(_MARKED, key, json.dumps(answer).encode())
        return answer

    def _answers(
        self, sources: Mapping[Formula, Source], bodies: dict[str, str], macros_json: str
    ) -> dict[Formula, dict[str, Any]]:
        """Asks the store once for all formulas of a page, and puts there at once what it lacks."""
        keys = {formula: _key(source, formula[1], macros_json) for formula, source in sources.items()}
        known = self._store.get_many(_KIND, keys.values()) if self._store else {}
        self._page = {key: json.loads(value) for key, value in known.items()}
        lasting: dict[bytes, bytes] = {}
        for formula, key in keys.items():
            if key not in self._page:
                answer = self._page[key] = _typeset(sources[formula], formula[1], bodies, keep=True)
                if _lasts(answer):
                    lasting[key] = json.dumps(answer).encode()
        if self._store:
            self._store.put_many(_KIND, lasting)
        return {formula: self._page[key] for formula, key in keys.items()}

    def _answer(
        self, source: Source, display: bool, bodies: dict[str, str], macros_json: str
    ) -> dict[str, Any]:
        if self._store is None:
            return _typeset(source, display, bodies)
        key = _key(source, display, macros_json)
        if key in self._page:
            return self._page[key]
        value = self._store.get(_KIND, key)
        answer: dict[str, Any] = json.loads(value) if value else _typeset(source, display, bodies)
        if value is None and _lasts(answer):
            self._store.put(_KIND, key, json.dumps(answer).encode())
        return answer


def _key(source: Source, display: bool, macros_json: str) -> bytes:
    return digest(_version_key(), source.text, source.sent, "block" if display else "line", macros_json)


def _lasts(answer: Mapping[str, Any]) -> bool:
    """What ran out of time or memory may do better on another day, and a length is soon counted."""
    return answer.get("limit") not in ("time", "memory", "length")


@lru_cache(maxsize=256)
def _normalised(macros: tuple[tuple[str, str], ...]) -> tuple[dict[str, str], str]:
    bodies = named(dict(macros))
    return bodies, json.dumps(bodies)


@cache
def _version_key() -> bytes:
    """Changes with KaTeX, with our script around it and with the options."""
    return digest(fingerprint(), json.dumps(_OPTIONS))


def _typeset(source: Source, display: bool, bodies: dict[str, str], *, keep: bool = False) -> dict[str, Any]:
    """With `keep` the engine remembers what it made until marks are asked for, so that it need not make it again."""
    if len(source.text) > MAX_LENGTH:
        return {"limit": "length"}
    request = {
        "tex": source.sent,
        "source": source.text,
        "display": display,
        "macros": bodies,
        "keep": keep,
        **_OPTIONS,
    }
    try:
        answer: dict[str, Any] = ENGINE.call("typeset", request)
    except LimitError as error:
        if keep and error.what == "memory":
            # What is remembered takes memory too, and no formula shall fail for those beside it.
            return _typeset(source, display, bodies)
        answer = {"limit": error.what}
    return answer


def _error(answer: dict[str, Any], source: Source, bodies: dict[str, str]) -> MathError:
    whole = (0, len(source.text))
    if limit := answer.get("limit"):
        message, hint = LIMITS[limit]
        figure = {"length": MAX_LENGTH, "time": CPU_SECONDS}.get(limit)
        return MathError(message.format(limit=figure), *whole, "math-limit", hint)
    complaint = source.as_written(answer["complaint"])
    if answer["macro"]:
        place = first_use(source.text, answer["macro"], bodies)
    elif answer["position"] is not None:
        place = source.place(answer["position"], answer["length"])
    elif "[commentAtEnd]" in complaint:
        place = final_comment(source.text)
    else:
        place = first_mention(source.text, complaint)
    if place == (len(source.text), 0) and (opening := unclosed(source.text)):
        # What is missing at the end was opened somewhere, and that is where the author has to look.
        place = opening
        if source.text[place[0]] == "{":
            complaint = "Expected '}', got 'EOF'"
    code, message, hint = reworded(complaint)
    if answer["macro"]:
        message += f" (in the macro {printable(answer['macro'])})"
    if answer["meant"] and not hint:
        hint = f"did you mean {answer['meant']}?"
    return MathError(message, *(place or whole), code, hint)
