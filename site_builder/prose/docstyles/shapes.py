"""
---
title: Blocks, and what lines look like
summary: The pieces that a converted docstring is made of, and the guesses about lines that carry no markup.
---
# Blocks, and what lines look like

Much of what docstrings show as a table or an example carries no markup at all, only indentation. Whether such lines
are a program, a table or a paragraph is told from their look alone: columns, signs, sentences.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import Enum, auto
from typing import NamedTuple

from site_builder.lazy import regex

__all__ = [
    "Block",
    "Kind",
    "dedent",
    "fence",
    "is_code",
    "is_columns",
    "is_program",
    "is_statement",
    "item",
    "join",
    "keeps_lines",
    "label",
    "language",
    "literal",
    "quote",
    "width",
]


class Kind(Enum):
    """What a piece of Markdown is, as far as that decides how it can be put inside another."""

    PARAGRAPH = auto()
    LIST = auto()
    QUOTE = auto()
    CODE = auto()
    EXAMPLE = auto()
    MATH = auto()
    OTHER = auto()


class Block(NamedTuple):
    kind: Kind
    text: str


def join(blocks: Iterable[Block]) -> str:
    return "\n\n".join(block.text for block in blocks if block.text)


def width(line: str) -> int:
    """How far a line is indented."""
    return len(line) - len(line.lstrip(" "))


def dedent(lines: Sequence[str]) -> list[str]:
    """Lines without their common indentation and without blank lines at either end."""
    common = min((width(line) for line in lines if line.strip()), default=0)
    cut = [line[common:].rstrip() if line.strip() else "" for line in lines]
    while cut and not cut[0]:
        del cut[0]
    while cut and not cut[-1]:
        del cut[-1]
    return cut


# --- putting pieces together ---


def fence(lines: Sequence[str], name: str = "text") -> Block:
    """Lines as they are, in a fence that none of them can close."""
    body = "\n".join(lines)
    longest = max((len(run) for run in re.findall(r"`{3,}", body)), default=2)
    ticks = "`" * max(longest + 1, 3)
    return Block(Kind.CODE, f"{ticks}{name}\n{body}\n{ticks}")


def literal(lines: Sequence[str], name: str = "") -> list[Block]:
    """A literal block: its doctests as they are, the rest in fences."""
    body = dedent(lines)
    if not any(line.lstrip().startswith(">>>") for line in body):
        return [fence(body, name or language(body))] if body else []
    chunks: list[tuple[bool, list[str]]] = []
    blank = True
    for line in body:
        if not line:
            blank = True
            if chunks:
                chunks[-1][1].append("")
            continue
        example = line.lstrip().startswith(">>>")
        if not chunks or (example and (blank or not chunks[-1][0])) or (blank and chunks[-1][0]):
            chunks.append((example, []))
        chunks[-1][1].append(line)
        blank = False
    return [
        Block(Kind.EXAMPLE, "\n".join(dedent(chunk)))
        if example
        else fence(dedent(chunk), name or language(chunk))
        for example, chunk in chunks
    ]


def indent(text: str, first: str, rest: str) -> str:
    """`text` behind a marker, its later lines under the first."""
    lines = text.split("\n")
    return "\n".join([first + lines[0], *(rest + line if line else "" for line in lines[1:])])


def item(marker: str, blocks: Sequence[Block]) -> str:
    """A list item; what follows its first paragraph stands under it."""
    return indent(_body(blocks), marker, "    ")


def _body(blocks: Sequence[Block]) -> str:
    """Blocks of one item: a list right under a paragraph needs no blank line and then gets no gap."""
    text = ""
    previous: Block | None = None
    for block in blocks:
        tight = (
            previous
            and previous.kind is Kind.PARAGRAPH
            and block.kind is Kind.LIST
            and "\n\n" not in block.text
        )
        text += ("\n" if tight else "\n\n") * bool(text) + block.text
        previous = block
    return text


def quote(blocks: Sequence[Block]) -> list[Block]:
    """Blocks set apart as a quotation; not with an example in it, whose `>>>` would quote three times more."""
    if not blocks or any(
        block.kind in (Kind.EXAMPLE, Kind.QUOTE) or "\n    >>>" in block.text for block in blocks
    ):
        return list(blocks)
    return [Block(Kind.QUOTE, indent(join(blocks), "> ", "> ").replace("\n\n", "\n>\n"))]


def label(name: str, blocks: Sequence[Block]) -> list[Block]:
    """A small heading: in front of a paragraph on its line, else on a line of its own."""
    if blocks and blocks[0].kind is Kind.PARAGRAPH:
        return [Block(Kind.PARAGRAPH, f"**{name}:** {blocks[0].text}"), *blocks[1:]]
    return [Block(Kind.PARAGRAPH, f"**{name}**"), *blocks]


# --- guessing ---

_PYTHON = regex(
    r"""
    from\ [\w.]+\ import\b | import\ [\w.]+(?:\ as\ \w+)?(?:,|\s*$) | (?:async\ )?def\ \w+\( | class\ \w+\s*(?:\(.*\))?:
    | @[\w.]+(?:\(.*\))?$ | (?:async\ )?(?:for|while|with|if|elif|except)\ .*:\s*(?:\#.*)?$ | (?:else|try|finally):
    | (?:return|raise|yield|assert|del|await)\ [\w("'\[{-][^ ]*(?:$|[(,]|\ [-+*/=<>!%|&]|\ (?:if|in|is|not|and|or)\b)
    | print\( | [A-Za-z_][\w.\[\]'",\ ]*\ (?:=|\+=|-=|\*=|/=|:=)\ ?\S
    | [A-Za-z_][\w.]*(?:\[[^\]]*\])?\(.*\)?,?\s*(?:\#.*)?$ | [A-Za-z_]\w*=\S | [)\]}]+,?$ | \#\s
    """,
    re.VERBOSE,
)
# A gap of two blanks behind the end of a sentence is only an old habit.
_GAP = regex(r"(?<=[^\s.?!]) {2,}(?=\S)|(?<=[.?!]) {3,}(?=\S)|(?<=[.?!]) {2}(?=[^\sA-Z])")
_WIDE_GAP = regex(r"\S {3,}\S")
_STATEMENT = regex(
    r"from [\w.]+ import |import [\w.]+|(?:async )?def \w+\(|class \w+.*:|@\w+|[A-Za-z_][\w.\[\]'\"]* = \S|"
    r"(?:for|with|if|while) .*:(?:\s+#.*)?$"
)
_COLUMNS = regex(r"[^\s.?!:;,] {2,}\S|\S {3,}\S|\S\t+\S")
_SHELL = regex(
    r"(?:\$|%|#!|>|\.\.\.|\.\./|\./)\s?\S|(?:pip|python\d?|git|cd|export|conda|sudo|curl|make|npm) [\w./-]+"
)
_MARKUP = regex(r"</?[A-Za-z!?][^<>]*>|[{;]\s*$|^\s*[}\])]|\{[{%]")
_OPTION = regex(r"--?[A-Za-z][\w-]*(?:[ =][\w<>\[\]]+)?(?:, --?[\w-]+(?:[ =][\w<>\[\]]+)?)*(?:\s{2,}|$)")
_DASHED = regex(r"--?[A-Za-z]")
_SENTENCE = regex(r"(?:\b[A-Za-z][a-z']*[,;]? ){4,}|\b[a-z]+ [a-z]+[.!?]$")
_SIGNS = frozenset("=<>(){}[];|/\\+*#@%&^~\"'_`-:0123456789")


def is_columns(lines: Sequence[str]) -> bool:
    """Whether lines without markup are a table or a drawing: their gaps stand below one another, or are wide."""
    filled = _sample(lines) if len(lines) > 1 else []
    if len(filled) < 2 or not any("  " in line for line in filled):
        return False
    gaps = Counter(end for line in filled for end in {match.end() for match in _GAP.finditer(line)})
    wide = sum(1 for line in filled if _WIDE_GAP.search(line))
    if wide * 3 >= len(filled) * 2:
        return True
    if not gaps:
        return False
    column = min(gaps, key=lambda end: (-gaps[end], end))
    # A line that goes on under the second column counts, one that only happens to have a word there does not.
    sure = gaps[column] + sum(1 for line in filled if width(line) == column)
    return sure > 1 and sum(_fits(line, column) for line in filled) * 10 >= len(filled) * 6


def _fits(line: str, column: int) -> bool:
    """Whether a line has its second column here, with the first one filled or left blank."""
    if len(line) <= column or line[column] == " " or line[column - 1] != " ":
        return False
    return len(line[:column].split()) <= 3


def is_code(lines: Sequence[str]) -> bool:
    """Whether indented lines without markup are to be shown as typed, in monospace."""
    filled = _sample(lines)
    if not filled or any(line.lstrip().startswith(">>>") for line in filled):
        return False
    score = sum(_codeness(line.strip()) for line in filled)
    return score * 2 > len(filled) or is_columns(filled) or _is_enumeration(filled)


def is_statement(line: str) -> bool:
    """Whether a line is Python that no sentence looks like."""
    return not line.rstrip().endswith(".") and bool(_PYTHON.match(line))


def is_program(lines: Sequence[str]) -> bool:
    """Whether every line at the margin is a statement, and one of them plainly so."""
    margin = [line for line in _sample(lines) if not line.startswith(" ")]
    return any(_STATEMENT.match(line) for line in margin) and all(is_statement(line) for line in margin)


def _is_enumeration(filled: Sequence[str]) -> bool:
    """Short lines without punctuation: a list of names."""
    return len(filled) > 1 and all(
        len(line) <= 40 and line[-1] not in ".,;:!?" and not _SENTENCE.search(line) for line in filled
    )


def keeps_lines(lines: Sequence[str]) -> bool:
    """
    Whether lines end where their author wanted them to. A line of running text ends where the next word would not
    have fitted.
    """
    filled = [line.strip() for line in _sample(lines)]
    widest = max((len(line) for line in filled), default=0)
    early = sum(
        len(line) + 1 + len(following.split(" ", 1)[0]) <= widest and line[-1] not in ".,;:!?"
        for line, following in itertools.pairwise(filled)
    )
    return len(filled) > 2 and early * 10 >= (len(filled) - 1) * 6


def _sample(lines: Sequence[str]) -> list[str]:
    """The lines that are not blank, as far as a guess needs them."""
    return [line[:400].rstrip() for line in lines if line.strip()][:400]


def _codeness(line: str) -> float:
    """How much one line looks like code, from -1 (a sentence) to 1."""
    if "``" in line or ":`" in line or line.startswith(".. ") or line.endswith("::"):
        # Markup for prose: whoever writes it means the lines to be read.
        return -1
    if _OPTION.match(line) or _SHELL.match(line):
        return 1
    if _DASHED.match(line):
        return 0 if _SENTENCE.search(line) else 1
    if _PYTHON.match(line):
        return 0.4 if _SENTENCE.search(line) and line.endswith(".") else 1
    if _COLUMNS.search(line):
        return 0.6 if _SENTENCE.search(line) else 1
    if _MARKUP.search(line):
        return 0 if _SENTENCE.search(line) else 1
    if _SENTENCE.search(line):
        return -1
    signs = sum(character in _SIGNS for character in line)
    visible = sum(not character.isspace() for character in line)
    if signs * 4 >= visible:
        return 0.8
    return 0.6 if " " not in line else 0


def language(lines: Sequence[str]) -> str:
    """The language of a literal block that does not name it."""
    filled = [line.strip() for line in _sample(lines)]
    python = sum(1 for line in filled if _PYTHON.match(line) and not _SENTENCE.search(line))
    if python * 2 >= len(filled) > 0 and not any(_SHELL.match(line) for line in filled[:1]):
        return "python"
    return "text"
