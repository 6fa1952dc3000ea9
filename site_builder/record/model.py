"""
---
title: What a run leaves behind
summary: The record of a page's examples, as values and as bytes.
---
# What a run leaves behind

Everything is counted, named or measured; nothing tells one run from the next. No address, clock or file name of
the machine is in it, and numbers are kept as they are printed, so that one state of the sources gives one record,
byte for byte.

Statements are known by their *ordinal*: their place among all statements of the module, docstrings not counted.
Prose may grow above them and the record still fits.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")

MODULE = -1
"""The ordinal that stands for the module itself, and for its import among the examples."""


@dataclass(frozen=True, slots=True)
class Value:
    """
    What is told of a value. Two values of which the same is told are one.

    `kind` is `tensor`, `array`, `frame`, `scalar`, `sequence`, `mapping`, `module`, `object`, or whatever a
    registered summary says. `text` is a short value as Python prints it; `items` are the first members of a
    sequence or mapping, `names` their keys or a frame's columns, `size` how many there are. `data` holds all
    numbers of a small tensor and `stats` the least, greatest, mean and deviation of a large one, both only in the
    steps of a `Walk`.
    """

    kind: str
    type: str
    shape: tuple[int, ...] | None = None
    dtype: str = ""
    device: str = ""
    text: str = ""
    size: int | None = None
    items: tuple[Value, ...] = ()
    names: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    stats: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Named:
    """A name as the code has it (`scores`, `self.attn`) and a value that it had."""

    name: str
    value: Value


@dataclass(frozen=True, slots=True)
class Write:
    """The distinct values that a statement gave to a name, in the order of their appearance; `more`: not all."""

    name: str
    values: tuple[Value, ...]
    more: bool = False


@dataclass(frozen=True, slots=True)
class Statement:
    """
    A statement that can run, and how often it did, by the examples or at import. A loop counts how often it was
    come to, not its rounds: those are the runs of its body.
    """

    ordinal: int
    runs: int
    writes: tuple[Write, ...] = ()
    in_function: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """A statement that ended, and what it gave to which names."""

    ordinal: int
    writes: tuple[Named, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """
    Calls of one function that looked alike: one frame, for claims and for the names of axes.

    `writes` holds one step for every write with a value that this statement had not given to the name before.
    `owner` is the whole numbers that are attributes of `self`, when the call ended.
    `times` takes it that calls which came after many alike, and were not looked at, were like the last that was.
    """

    function: int
    arguments: tuple[Named, ...]
    result: Value | None
    raised: str
    writes: tuple[Step, ...]
    owner: tuple[Named, ...]
    examples: tuple[int, ...]
    """Indices in `Record.examples`; `MODULE` for the import. The first few."""
    times: int
    lacking: tuple[str, ...] = ()
    """Names that may have had other values in between."""


@dataclass(frozen=True, slots=True)
class Walk:
    """One call of a function, statement by statement. `cut`: it went on longer than it is told here."""

    function: int
    arguments: tuple[Named, ...]
    steps: tuple[Step, ...]
    result: Value | None
    example: int
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Function:
    """How often the function of this ordinal was called, and in how many ways; `more`: not all are told."""

    ordinal: int
    name: str
    times: int
    calls: tuple[Call, ...] = ()
    more: bool = False
    walk: Walk | None = None


@dataclass(frozen=True, slots=True)
class Construction:
    """Modules that were made with the same arguments. `parameters` is unknown where torch cannot count them yet."""

    arguments: tuple[Named, ...]
    parameters: int | None
    trainable: int | None
    times: int


@dataclass(frozen=True, slots=True)
class Flops:
    """
    The floating point operations of one forward pass: a multiplication and an addition are two. `uncounted` names
    the arithmetic operators that are left out, which are those without a matrix product.
    """

    total: int
    uncounted: tuple[str, ...]
    arguments: tuple[Named, ...]


@dataclass(frozen=True, slots=True)
class Class:
    """A class of the page that is an `nn.Module` and was constructed."""

    ordinal: int
    name: str
    constructions: tuple[Construction, ...]
    flops: Flops | None = None


@dataclass(frozen=True, slots=True)
class Example:
    """
    One prompt: what was typed, what came out, and how that compares.

    `owner` is the ordinal of the definition whose docstring holds it, `number` its place in there. `error` is the
    last line of a traceback, empty where nothing was raised; `raised_at` is the statement of the page's own code
    that raised. `passed` is false too where nothing ran.
    """

    owner: int
    number: int
    source: str
    want: str
    output: str
    error: str
    passed: bool
    ran: bool = True
    cut: bool = False
    raised_at: int | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """
    What went wrong: at an example, at a statement, or for the page. `lasting`: it would go wrong again. `ends`: what
    comes after it on the page was not run.
    """

    code: str
    message: str
    hint: str = ""
    example: int | None = None
    statement: int | None = None
    lasting: bool = True
    ends: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """All that a page's examples gave."""

    module: str
    examples: tuple[Example, ...] = ()
    statements: tuple[Statement, ...] = ()
    functions: tuple[Function, ...] = ()
    classes: tuple[Class, ...] = ()
    faults: tuple[Fault, ...] = ()

    @property
    def share(self) -> tuple[int, int]:
        """How many of the statements in functions ran, and how many there are."""
        inside = [statement.runs > 0 for statement in self.statements if statement.in_function]
        return sum(inside), len(inside)

    def to_bytes(self) -> bytes:
        values: dict[Value, int] = {}
        body = _plain(self, values)
        table = [
            [_plain(getattr(value, field.name), values) for field in dataclasses.fields(Value)]
            for value in values
        ]
        return json.dumps([table, body], ensure_ascii=True, separators=(",", ":")).encode("ascii")

    @staticmethod
    def from_bytes(data: bytes) -> Record:
        """The record again; `ValueError` for what is none."""
        try:
            table, body = json.loads(data)
            values: list[Value] = []
            for row in table:
                values.append(_made(Value, row, values))
            return _made(Record, body, values)
        except (TypeError, KeyError, IndexError, AttributeError) as error:
            raise ValueError(f"no record: {error}") from error


def _plain(thing: Any, values: dict[Value, int]) -> Any:
    """Lists, numbers and strings; a `Value` becomes its place in a table in which members come before owners."""
    if isinstance(thing, Value):
        if thing not in values:
            for item in thing.items:
                _plain(item, values)
            values[thing] = len(values)
        return values[thing]
    if dataclasses.is_dataclass(thing):
        return [_plain(getattr(thing, field.name), values) for field in dataclasses.fields(thing)]
    if isinstance(thing, tuple):
        return [_plain(item, values) for item in thing]
    return thing


def _made(kind: type[T], row: list[Any], values: list[Value]) -> T:
    hints: tuple[Any, ...] = _hints(kind)  # type: ignore[arg-type]
    if len(row) != len(hints):
        raise ValueError(f"a {kind.__name__} of {len(row)} fields")
    return kind(*(_typed(hint, item, values) for hint, item in zip(hints, row, strict=True)))


@cache
def _hints(kind: type) -> tuple[Any, ...]:
    hints = get_type_hints(kind)
    return tuple(hints[field.name] for field in dataclasses.fields(kind))


def _typed(hint: Any, item: Any, values: list[Value]) -> Any:
    if hint is Value:
        return values[item]
    if get_origin(hint) is tuple:
        return tuple(_typed(get_args(hint)[0], member, values) for member in item)
    if dataclasses.is_dataclass(hint):
        return _made(hint, item, values)  # type: ignore[arg-type]
    if get_origin(hint) is Union or get_args(hint):
        return None if item is None else _typed(get_args(hint)[0], item, values)
    return item
