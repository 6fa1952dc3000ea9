"""
---
title: Stars that are no emphasis
summary: In `*args and **kwargs` nothing is emphasised.
---
# Stars that are no emphasis

CommonMark's rule of flanking: a run of stars can open emphasis where text follows, and close it where text
precedes. Python-Markdown is laxer, and would set half a signature in italics. So stars and underscores that pair with
none are escaped here. East Asian writing has no blanks round emphasis, so its letters count as borders.
"""

from __future__ import annotations

from site_builder.lazy import regex

_RUN = regex(r"\\[\s\S]|\*+|_+")
_DUNDER = regex(r"(?<![\w*])__[a-z][a-z0-9_]*__(?!\w)")
_EAST_ASIAN = regex(r"[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef]")


def settle(text: str) -> str:
    """The text with every star and underscore that is only itself escaped."""
    if "*" not in text and "_" not in text:
        return text
    dunders = [mark.span() for mark in _DUNDER.finditer(text)] if "__" in text else []
    literal: list[tuple[int, int]] = []
    waiting: dict[str, list[tuple[int, int]]] = {"*": [], "_": []}
    next_dunder = 0
    for run in _RUN.finditer(text):
        mark = run[0][0]
        if mark == "\\":
            continue
        while next_dunder < len(dunders) and dunders[next_dunder][1] <= run.start():
            next_dunder += 1
        special = next_dunder < len(dunders) and dunders[next_dunder][0] <= run.start()
        opens, closes = _flanks(text, run.start(), run.end(), mark)
        if special or len(run[0]) > 3:
            literal.append(run.span())
        elif closes and waiting[mark]:
            waiting[mark].pop()
        elif opens:
            waiting[mark].append(run.span())
        else:
            literal.append(run.span())
    literal += [*waiting["*"], *waiting["_"]]
    if not literal:
        return text
    parts: list[str] = []
    at = 0
    for start, end in sorted(literal):
        parts += (text[at:start], "".join(f"\\{c}" for c in text[start:end]))
        at = end
    return "".join((*parts, text[at:]))


def _flanks(text: str, start: int, end: int, mark: str) -> tuple[bool, bool]:
    before = text[start - 1] if start else " "
    after = text[end] if end < len(text) else " "
    left = not after.isspace() and (not _punctuation(after) or _border(before))
    right = not before.isspace() and (not _punctuation(before) or _border(after))
    if mark == "_" and _word(before) and _word(after):
        return False, False
    return left, right


def _punctuation(character: str) -> bool:
    return not character.isalnum() and not character.isspace() and not _slot(character)


def _border(character: str) -> bool:
    return character.isspace() or _punctuation(character) or _east_asian(character)


def _word(character: str) -> bool:
    return character.isalnum() and not _east_asian(character)


def _east_asian(character: str) -> bool:
    return not character.isascii() and bool(_EAST_ASIAN.match(character))


def _slot(character: str) -> bool:
    return "\ue000" <= character <= "\uf8ff"
