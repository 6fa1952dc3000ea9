"""
---
title: What flows down the pipeline
summary: A page, its sections, and the prose that still knows which line of the file it came from.
---
# What flows down the pipeline

Every stage takes some of these values and returns others. All of them are frozen: a stage that wants a
different page makes a new one, so that pages can be worked on in any order and in several processes.

Plain values of which there are many are named tuples, made and read from the cache in a fraction of a dataclass's time.
What inherits, or keeps what it has worked out once, is a frozen dataclass. It has no `slots` where every build reads it
again: pickle fills such a value in C, and asks Python about each field of one that has them.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from site_builder.errors import Diagnostic


class Position(NamedTuple):
    """A place in a file; line and column count from one, columns in characters."""

    path: str
    line: int
    column: int


class ProseLine(NamedTuple):
    """
    One line of prose without its comment sign, quotes or common indentation, and where its first character
    stands. `raw` is false in a docstring whose backslashes Python would read as escapes.
    """

    text: str
    path: str
    line: int
    column: int
    raw: bool = True


class BlockState(StrEnum):
    """How a block that is shown in its source language came to be so, or who translated it but a person."""

    MISSING = "missing"
    STALE = "stale"
    MACHINE = "machine"


class BlockMark(NamedTuple):
    """
    What a translated page tells of one block: its state, the line of its entry in the catalogue (0: it has none),
    and, of a stale one, the translation of the former text.
    """

    state: BlockState
    line: int = 0
    former: tuple[ProseLine, ...] = ()


@dataclass(frozen=True)
class Prose:
    """
    Markdown text that remembers its origin. `states` marks blocks that a translation left in the source
    language: the index of the block's first line in `lines`, and why.
    """

    lines: tuple[ProseLine, ...] = ()
    states: tuple[tuple[int, BlockState], ...] = ()

    @cached_property
    def text(self) -> str:
        return "\n".join(line.text for line in self.lines)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The offset in `text` at which each line begins."""
        return tuple(accumulate((len(line.text) + 1 for line in self.lines), initial=0))[: len(self.lines)]

    def line_at(self, offset: int) -> int:
        """The index of the line that holds the character at `offset` of `text`."""
        return max(bisect_right(self.starts, offset) - 1, 0)

    def position(self, offset: int) -> Position:
        """Where the character at `offset` of `text` stands in its file."""
        index = self.line_at(offset)
        line = self.lines[index]
        return Position(line.path, line.line, line.column + offset - self.starts[index])

    def is_from(self, path: str) -> bool:
        """Whether all of it was typed in that file."""
        return all(line.path == path for line in self.lines)

    def __bool__(self) -> bool:
        return any(line.text.strip() for line in self.lines)


class Kind(StrEnum):
    """What a section stands for, which decides how much air the page gives it."""

    MODULE = "module"
    CLASS = "class"
    FUNCTION = "function"
    METHOD = "method"
    COMMENT = "comment"
    CODE = "code"


class Section(NamedTuple):
    """
    A stretch of whole lines of the file, and the prose that stands beside it.

    `start` and `end` (exclusive) partition the file. `code` holds the numbers of the lines that are shown as
    code: without prose, without blank lines at either end. `scope` is the qualified name of the definition that
    the section opens or lies in, empty at module level.
    """

    kind: Kind
    start: int
    end: int
    prose: Prose
    code: tuple[int, ...]
    scope: str
    anchor: str

    def __reduce__(self) -> tuple[type[Section], tuple[Kind, int, int, Prose, tuple[int, ...], str, str]]:
        return Section, (self.kind, self.start, self.end, self.prose, self.code, self.scope, self.anchor)

    @property
    def shown(self) -> bool:
        return bool(self.code) or bool(self.prose)


class Definition(NamedTuple):
    """A class, function or method (`kind`), or a module-level name, and the section that shows it."""

    name: str
    kind: str
    line: int
    column: int
    anchor: str


class Reference(NamedTuple):
    """An identifier in the code (one line, columns from one, end exclusive) and the absolute dotted name it means."""

    line: int
    column: int
    end_column: int
    target: str


@dataclass(frozen=True)
class Paper:
    """What a page says about the paper that it is about."""

    title: str
    authors: str = ""
    year: int | None = None
    url: str = ""


class FrontMatter(NamedTuple):
    """The keys that may stand between the `---` lines; `positions` tells where each was written."""

    title: str = ""
    summary: str = ""
    papers: tuple[Paper, ...] = ()
    symbols: tuple[tuple[str, tuple[str, ...]], ...] = ()
    macros: tuple[tuple[str, str], ...] = ()
    order: tuple[str, ...] = ()
    redirect_from: tuple[str, ...] = ()
    positions: tuple[tuple[str, Position], ...] = ()

    def position(self, key: str) -> Position | None:
        return dict(self.positions).get(key)


class SourceFile(NamedTuple):
    """One file that becomes a page: where it is, what it is called, where its page goes."""

    path: str
    """As messages show it: relative to the project, with forward slashes."""
    file: str
    """As the operating system finds it."""
    module: str
    """Dotted name: `labml_nn.transformers.mha`; a package's own name for its `__init__.py`."""
    url: str
    """Relative to the root of one language: `transformers/mha.html`."""
    is_package: bool
    is_markdown: bool = False


@dataclass(frozen=True)
class Page:
    """A parsed file."""

    source: SourceFile
    lines: tuple[str, ...]
    """Every line with its terminator; joined and encoded again they are the file."""
    encoding: str
    front: FrontMatter
    title: str
    """From the front matter, else the first `#` heading, else the module's last name."""
    intro: Prose
    """The module docstring without front matter and title heading."""
    sections: tuple[Section, ...]
    definitions: tuple[Definition, ...] = ()
    references: tuple[Reference, ...] = ()
    exports: tuple[tuple[str, str], ...] = ()
    """Names bound at module level to something defined elsewhere: `(name, absolute dotted target)`."""
    imports: tuple[str, ...] = ()
    """Absolute dotted names that the module imports."""
    bases: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Classes of the module, by their qualified names, with the absolute dotted names of what they inherit from."""
    diagnostics: tuple[Diagnostic, ...] = ()
    title_position: Position | None = None
    summary: str = ""

    @property
    def url(self) -> str:
        return self.source.url
