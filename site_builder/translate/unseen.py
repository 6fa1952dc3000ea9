r"""
---
title: What nobody sees
summary: Control characters, and those that turn the direction of what follows, stay out of a translation.
---
# What nobody sees

Some characters change a text without being seen in it. After one of those that turn the direction, a reader sees `abc`
where `cba` is written; a control character is in no font, and some readers of HTML stop at it. Whoever reviews a
translation passes over them, so they are looked for here. What the source has itself, its translation may have too. A
reference such as `&#8238;` is the character that it names.

    >>> unseen("Sums", "So\u202emmen&#x200e;", "de")
    ('U+202E RIGHT-TO-LEFT OVERRIDE', 'U+200E LEFT-TO-RIGHT MARK')
    >>> unseen("a\u00a0b", "a\u00a0b\n", "de")
    ()

The flag of a part of a country is a black flag and the part's name in tags that nobody sees. Whole, it is one sign. A
tag anywhere else, or more of them than such a name has, is a text of its own that only machines read.

    >>> scotland = "".join(map(chr, (0x1F3F4, *(0xE0000 + ord(letter) for letter in "gbsct"), 0xE007F)))
    >>> unseen("Edinburgh", f"Edinburgh {scotland}", "de")
    ()
    >>> unseen("Edinburgh", f"Edinburgh {scotland[:-1]}", "de")[0]
    'U+E0067 TAG LATIN SMALL LETTER G'

Languages that are written from right to left need the marks that only say where a full stop belongs. They need no
override, but for the pseudo-language that is made of them.

    >>> unseen("Sums", "\u202eSums\u202c\u200f", "he")
    ('U+202E RIGHT-TO-LEFT OVERRIDE', 'U+202C POP DIRECTIONAL FORMATTING')
    >>> unseen("Sums", "\u202eSums\u202c", MIRRORED)
    ()
"""

from __future__ import annotations

import unicodedata
from html import unescape

from site_builder.lazy import regex
from site_builder.translate.locales import MIRRORED, locale

_UNSEEN = regex(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f"  # what controls a terminal, but for tabs and the ends of lines
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"  # what turns the direction
    r"\u2028\u2029\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"  # ends of lines that are none, notes, tags
    r"\ud800-\udfff]"  # halves of characters
)
_FLAG = regex(
    r"\U0001f3f4[\U000e0061-\U000e007a]{2}[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,3}\U000e007f"
)
_MARKS = frozenset("\u061c\u200e\u200f")
_TURNS = frozenset("\u202c\u202e")


def unseen(source: str, translation: str, lang: str = "") -> tuple[str, ...]:
    """The characters that a translation brings and should not, by number and name, each once."""
    if translation.isascii() and translation.isprintable() and "&" not in translation:
        return ()
    found = dict.fromkeys(_UNSEEN.findall(_FLAG.sub("", unescape(translation))))
    if not found:
        return ()
    allowed = set(unescape(source)) | _of(lang)
    return tuple(
        f"U+{ord(one):04X} {unicodedata.name(one, 'a control character')}"
        for one in found
        if one not in allowed
    )


def _of(lang: str) -> frozenset[str]:
    """What the language needs of them."""
    known = locale(lang)
    marks = _MARKS if known and known.text_direction == "rtl" else frozenset()
    return marks | _TURNS if lang == MIRRORED else marks
