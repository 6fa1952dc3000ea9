"""
---
title: What a comparison leaves behind
summary: Rows of evidence, and the file that keeps them, as values and as bytes.
---
# What a comparison leaves behind

The file is JSON, one finding a line, so that a change of it can be read in a review:

    {
      "mypackage.layer": {
        "code": "5f0c…",
        "findings": [
          {"against": "torch.nn.Linear", "what": "values", "dtype": "float32", "error": "1e-06", "test": "tests/…"}
        ]
      }
    }

`code` is a digest of what the module did when the tests ran: of its tokens without prose, and of its examples.
It names no version of anything, so that the same sources give the same file everywhere. Errors are rounded up to a
power of ten, because their later digits belong to one machine.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from decimal import Decimal
from typing import Any

EXACT = "exact"
"""In place of an error where every number was the same."""

PARTS = ("values", "gradients", "second derivatives")
"""What is usually compared, in the order of the page."""


@dataclass(frozen=True, slots=True, order=True)
class Row:
    """What the page says: with what it was compared, what of it, and the largest error that any test saw."""

    against: str
    what: str
    dtype: str
    error: str

    @property
    def shown(self) -> str:
        """
        >>> Row("torch.nn.Linear", "values", "float32", "1e-06").shown
        '1e-6'
        """
        return self.error if self.error == EXACT else f"1e{int(self.error.partition('e')[2])}"


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """The same for one test, all of its cases together."""

    against: str
    what: str
    dtype: str
    error: str
    test: str

    @property
    def key(self) -> tuple[str, ...]:
        return self.test, self.against, self.what, self.dtype


@dataclass(frozen=True)
class Module:
    """What was found of a module while its code had this digest."""

    code: str
    findings: tuple[Finding, ...]

    @property
    def rows(self) -> tuple[Row, ...]:
        largest: dict[tuple[str, str, str], str] = {}
        for found in self.findings:
            key = (found.against, found.what, found.dtype)
            largest[key] = larger(found.error, largest.get(key, EXACT))
        return tuple(sorted((Row(*key, error) for key, error in largest.items()), key=_reading_order))


class MalformedError(ValueError):
    """The file is none of ours; where, and why."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.line, self.column = line, column


def rounded(error: float) -> str:
    """
    The next power of ten that is not smaller.

    >>> [rounded(error) for error in (0.0, 3e-7, 1e-6, 20)]
    ['exact', '1e-06', '1e-06', '1e+02']
    """
    if error == 0:
        return EXACT
    digits = Decimal(repr(float(error)))
    power = digits.adjusted()
    return f"1e{power + (digits != Decimal(1).scaleb(power)):+03d}"


def larger(error: str, other: str) -> str:
    """
    >>> larger("1e-06", "1e-15"), larger("exact", "1e-06")
    ('1e-06', '1e-06')
    """
    return max(error, other, key=lambda text: 0.0 if text == EXACT else float(text))


def to_bytes(modules: Mapping[str, Module]) -> bytes:
    """The file: everything in order, one finding a line."""
    parts = []
    for name, module in sorted(modules.items()):
        lines = ",\n".join(f"      {_json(asdict(found))}" for found in sorted(module.findings, key=_order))
        parts.append(
            f'  {_json(name)}: {{\n    "code": {_json(module.code)},\n    "findings": [\n{lines}\n    ]\n  }}'
        )
    return ("{\n" + ",\n".join(parts) + "\n}\n" if parts else "{}\n").encode()


def from_bytes(data: bytes) -> dict[str, Module]:
    """The modules again; raises `MalformedError`."""
    try:
        text = data.decode("utf-8")
        table = json.loads(text)
    except json.JSONDecodeError as error:
        raise MalformedError(f"not JSON: {error.msg}", error.lineno, error.colno) from error
    except (UnicodeDecodeError, RecursionError) as error:
        raise MalformedError(f"not JSON: {error}") from error
    if not isinstance(table, dict):
        raise MalformedError("not a table of modules")
    modules = {}
    for name, entry in table.items():
        try:
            modules[name] = Module(_text(entry["code"]), tuple(map(_finding, entry["findings"])))
        except (TypeError, KeyError, ValueError, AttributeError) as error:
            place = text.find(_json(name))
            line = text.count("\n", 0, place) + 1 if place >= 0 else 1
            raise MalformedError(f"what it says of {name} is not understood", line) from error
    return modules


def _finding(entry: Any) -> Finding:
    values = [_text(entry[field.name]) for field in fields(Finding)]
    if len(entry) != len(values):
        raise ValueError("more than a finding")
    found = Finding(*values)
    # What cannot be compared cannot be shown either.
    if found.error != EXACT and not 0 < float(found.error) < float("inf"):
        raise ValueError("no error")
    return found


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value


def _order(found: Finding) -> tuple[str, ...]:
    return found.against, found.what, found.dtype, found.test


def _reading_order(row: Row) -> tuple[str, int, str, str]:
    usual = PARTS.index(row.what) if row.what in PARTS else len(PARTS)
    return row.against, usual, row.what, row.dtype


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def largest(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """One finding of each test, oracle, part and dtype: that with the largest error."""
    found: dict[tuple[str, ...], Finding] = {}
    for one in findings:
        known = found.setdefault(one.key, one)
        if larger(one.error, known.error) != known.error:
            found[one.key] = one
    return tuple(sorted(found.values(), key=_order))
