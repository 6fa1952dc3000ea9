"""
---
title: What a record depends on
summary: The code of a page and of what it imports, without its prose.
---
# What a record depends on

A record is kept under a digest of the tokens of the page's module, without comments and docstrings but with the
examples in them, and of the same of every module that it imports from the packages being built. So a better
sentence runs nothing, and a changed line of code runs the pages that use it.

Which modules those are is read from the import statements, of the module and of its examples. A name that a
package only passes on, as `from package import Name` gets it, leads to the module that defines it, and to the
package's own tokens; but not to all else that the package imports. The packages around a module run before it,
so their tokens count too.
"""

from __future__ import annotations

import ast
import io
import json
import platform
import sys
import tokenize
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from site_builder.cache import Store, digest
from site_builder.index import Card
from site_builder.installed import computing
from site_builder.record.outline import Outline
from site_builder.record.sources import Read

FACTS = "record-facts"
LOADED = ("numpy.random", "torch")
"""Imported once for all pages that need them. Whoever needs one of them has all that stand before it."""
GROWTH = 8
"""How many parts of a name may be no modules of the site."""
_SILENT = frozenset({tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER})
_LAYOUT = frozenset({tokenize.INDENT, tokenize.DEDENT, tokenize.NEWLINE})


def code_digest(data: bytes) -> bytes:
    """
    A digest of what a module does: of its tokens and its examples. It is the same in every version of Python.

    >>> code_digest(b"x = 1  # one") == code_digest(b"'''Prose.'''\\n\\nx = 1")
    True
    >>> code_digest(b"x = 1") == code_digest(b"'''>>> x'''\\nx = 1")
    False
    """
    try:
        outline = Outline.of(data)
        return digest(*_tokens(data), "", *_examples(outline))
    except (SyntaxError, ValueError, tokenize.TokenError, RecursionError, MemoryError):
        # What Python cannot read is taken as it is.
        return digest(data)


def _tokens(data: bytes) -> Iterator[str]:
    docstrings = _docstrings(data)
    text = io.BytesIO(data)
    lines: list[str] | None = None
    depth = 0
    opened = (0, 0)
    skipped = False
    for token in tokenize.tokenize(text.readline):
        name = tokenize.tok_name[token.type]
        if name in ("FSTRING_START", "TSTRING_START"):
            if depth == 0:
                opened = token.start
            depth += 1
        elif name in ("FSTRING_END", "TSTRING_END"):
            depth -= 1
            if depth == 0:
                lines = lines or _lines(data)
                yield f"{tokenize.STRING}:{_between(lines, opened, token.end)}"
        elif depth or token.type in _SILENT:
            continue
        elif token.type == tokenize.STRING and any(start <= token.start < end for start, end in docstrings):
            skipped = True
        elif (
            skipped
            and token.type in (tokenize.NEWLINE, tokenize.OP)
            and token.string in ("", "\n", "\r\n", ";")
        ):
            skipped = False
        elif token.type in _LAYOUT:
            yield tokenize.tok_name[token.type]
        else:
            yield f"{token.type if token.type == tokenize.STRING else ''}:{token.string}"


def _docstrings(data: bytes) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Where docstrings stand, in lines and characters."""
    lines = _lines(data)
    found = []
    for node in ast.walk(ast.parse(data)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                end_line, end_column = first.end_lineno or first.lineno, first.end_col_offset or 0
                found.append(
                    (
                        (first.lineno, _characters(lines, first.lineno, first.col_offset)),
                        (end_line, _characters(lines, end_line, end_column)),
                    )
                )
    return found


def _lines(data: bytes) -> list[str]:
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return io.TextIOWrapper(io.BytesIO(data), encoding).read().splitlines(keepends=True)


def _characters(lines: list[str], line: int, column: int) -> int:
    row = lines[line - 1] if line <= len(lines) else ""
    return len(row.encode("utf-8")[:column].decode("utf-8", "ignore"))


def _between(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    rows = lines[start[0] - 1 : end[0]]
    rows[-1] = rows[-1][: end[1]]
    rows[0] = rows[0][start[1] :]
    return "".join(rows)


def _examples(outline: Outline) -> Iterator[str]:
    for docstring in outline.docstrings:
        yield f"{docstring.owner} {docstring.fault}"
        for example in docstring.examples:
            yield example.source
            yield example.want


@dataclass(frozen=True, slots=True)
class Facts:
    """What one file says by itself. `imports` are those of its examples, names told as members of modules."""

    code: bytes
    examples: bool
    imports: tuple[str, ...]

    @staticmethod
    def of(data: bytes) -> Facts:
        try:
            outline = Outline.of(data)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return Facts(code_digest(data), False, ())
        return Facts(code_digest(data), bool(outline.docstrings), tuple(_imports(outline)))

    def to_bytes(self) -> bytes:
        return json.dumps([self.code.hex(), self.examples, self.imports]).encode()

    @staticmethod
    def from_bytes(data: bytes) -> Facts:
        code, examples, imports = json.loads(data)
        return Facts(bytes.fromhex(code), bool(examples), tuple(imports))


def _imports(outline: Outline) -> Iterator[str]:
    for docstring in outline.docstrings:
        for example in docstring.examples:
            if "import" not in example.source:
                continue
            try:
                tree = ast.parse(example.source)
            except (SyntaxError, ValueError):
                continue
            for node in ast.walk(tree):
                if isinstance(node, ast.Import):
                    yield from (alias.name for alias in node.names)
                elif isinstance(node, ast.ImportFrom):
                    # Dots remain: which module they start from is known later.
                    start = "." * node.level + (node.module or "")
                    dot = "." if node.module else ""
                    yield from (f"{start}{dot}{alias.name}" for alias in node.names)


class Keys:
    """
    The keys of pages, of which all are known by module. What single files say is kept in the store; `read` gives the
    bytes of a file of which it says nothing yet.
    """

    def __init__(self, cards: Iterable[Card], read: Callable[[Card], bytes], store: Store) -> None:
        self.cards = {card.source.module: card for card in cards if not card.source.is_markdown}
        self.facts: dict[str, Facts] = {}
        self.digests = {module: card.digest for module, card in self.cards.items()}
        keys = {module: digest(data, recorder(), sys.version) for module, data in self.digests.items()}
        known = store.get_many(FACTS, keys.values())
        fresh: dict[bytes, bytes] = {}
        for module, key in keys.items():
            if key in known:
                self.facts[module] = Facts.from_bytes(known[key])
            else:
                data = read(self.cards[module])
                self.facts[module] = Facts.of(data)
                # A file that was edited meanwhile says nothing of what it was.
                if digest(data) == self.digests[module]:
                    fresh[key] = self.facts[module].to_bytes()
        store.put_many(FACTS, fresh)

    def has_examples(self, card: Card) -> bool:
        facts = self.facts.get(card.source.module)
        return facts is not None and facts.examples and self.cards[card.source.module] is card

    def key(self, card: Card, settings: Iterable[str], extensions: Iterable[str] = ()) -> bytes:
        module = card.source.module
        needed = sorted({module, *self.needed(module)})
        code = (f"{name} {self.facts[name].code.hex()}" for name in needed)
        return digest(module, *versions(), *extensions, "", *settings, "", *code)

    def read(self, card: Card) -> Read:
        """The files whose code is in the key."""
        needed = {card.source.module, *self.needed(card.source.module)}
        return {
            name: (str(Path(self.cards[name].source.file).absolute()), self.digests[name].hex())
            for name in sorted(needed)
        }

    def needed(self, module: str) -> set[str]:
        """The modules whose code a record depends on: what it imports, what they import, the packages around."""
        deep: set[str] = set()
        shallow: set[str] = set()
        waiting = [module, *self._examples(module)]
        seen: set[str] = set()
        while waiting:
            dotted = waiting.pop()
            if dotted in seen:
                continue
            seen.add(dotted)
            owner, rest = self._split(dotted)
            if not owner:
                continue
            shallow.update(self._around(owner))
            passed_on = self._passed_on(owner, rest)
            if passed_on:
                shallow.add(owner)
                waiting.append(passed_on)
            elif owner not in deep:
                deep.add(owner)
                waiting.extend(self.cards[owner].imports)
        return deep | shallow

    def loads(self, card: Card) -> tuple[str, ...]:
        """What of `LOADED` is imported, by the page's module or by anything that is imported with it."""
        waiting = [card.source.module, *self._examples(card.source.module)]
        seen: set[str] = set()
        tops: set[str] = set()
        while waiting:
            dotted = waiting.pop()
            tops.add(dotted.partition(".")[0])
            owner, _ = self._split(dotted)
            for module in (owner, *self._around(owner)) if owner else ():
                if module not in seen:
                    seen.add(module)
                    waiting.extend(self.cards[module].imports)
        last = max(
            (number for number, name in enumerate(LOADED, 1) if name.partition(".")[0] in tops), default=0
        )
        return LOADED[:last]

    def _examples(self, module: str) -> Iterator[str]:
        """What the examples of a module import, by absolute names."""
        package = module if self.cards[module].source.is_package else module.rpartition(".")[0]
        for name in self.facts[module].imports:
            rest = name.lstrip(".")
            parts = package.split(".")
            up = len(name) - len(rest) - 1
            if up < 0:
                yield name
            elif up < len(parts):
                yield ".".join([*parts[: len(parts) - up], rest])

    def _split(self, dotted: str) -> tuple[str, str]:
        module, rest = dotted, ""
        while module and module not in self.cards:
            module, _, last = module.rpartition(".")
            rest = f"{last}.{rest}" if rest else last
        return module, rest

    def _passed_on(self, module: str, name: str) -> str:
        """Where a name is from that the module imports only to hand it on."""
        if name.count(".") > GROWTH:
            # `from package.part import part` without such a module: the name would grow for ever.
            return ""
        first, dot, rest = name.partition(".")
        targets: Mapping[str, str] = dict(self.cards[module].exports) if first else {}
        return f"{targets[first]}{dot}{rest}" if first in targets else ""

    def _around(self, module: str) -> Iterator[str]:
        while "." in module:
            module = module.rpartition(".")[0]
            if module in self.cards:
                yield module


@cache
def versions() -> tuple[str, ...]:
    """Of Python, of what computes, and of the recorder, which is its own source."""
    found = [platform.python_implementation(), sys.version]
    found += computing()
    found.append(recorder().hex())
    return tuple(found)


@cache
def recorder() -> bytes:
    folder = Path(__file__).parent
    return digest(*(file.read_bytes() for file in sorted(folder.glob("*.py"))))
