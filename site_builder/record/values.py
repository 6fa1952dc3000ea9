"""
---
title: What is told of a value
summary: A small table from types to summaries, which other distributions may extend.
---
# What is told of a value

A summary looks and never touches: no computation on the value, no method of the author's. For a type that is not
in the table, its bases are asked, and at last only its name is told.

Other distributions add types by an entry point in the group `site_builder.summaries`: a callable that is given
`register` and may call it as often as it likes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable
from dataclasses import replace
from importlib import metadata
from itertools import islice
from typing import Any, NamedTuple

from site_builder.record.model import Value

GROUP = "site_builder.summaries"

ITEMS_AT_MOST = 8
"""Members of a sequence that are told,"""
DEPTH_AT_MOST = 2
"""and how deep."""
TEXT_AT_MOST = 80
"""Characters of a short value."""
NUMBERS_AT_MOST = 128
"""Numbers of a tensor that are told one by one,"""
COPIED_AT_MOST = 1024
"""and up to which they are looked at only afterwards."""

_HIDDEN: list[str] = []
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")


class Summary(NamedTuple):
    """
    How values of one type are told. `key` is quick: values with equal keys are told alike, so that `describe` is
    called once for all of them. For a `Walk`, `copy` gives a value of the same type that nobody will change, and
    `numbers` a flat array of a value's numbers; either may raise.
    """

    describe: Callable[[Any], Value]
    key: Callable[[Any], Hashable] | None = None
    copy: Callable[[Any], Any] | None = None
    numbers: Callable[[Any], Any] | None = None


Shot = tuple[int, Any]
"""A value by its number, and a copy of it, or its statistics, or nothing."""

_SUMMARIES: dict[str, Summary] = {}
_BY_TYPE: dict[type, Summary] = {}


def register(
    type_name: str,
    describe: Callable[[Any], Value],
    *,
    key: Callable[[Any], Hashable] | None = None,
    copy: Callable[[Any], Any] | None = None,
    numbers: Callable[[Any], Any] | None = None,
) -> None:
    """
    Tell values of a type in this way, and those of types that derive from it. The type is named, `torch.Tensor`,
    not imported: whoever never made one need not have it.

    >>> register("fractions.Fraction", lambda value: Value("scalar", "Fraction", text=str(value)))
    >>> from fractions import Fraction
    >>> Values().describe(Fraction(1, 2)).text
    '1/2'
    """
    _SUMMARIES[type_name] = Summary(describe, key, copy, numbers)
    _BY_TYPE.clear()


def extend() -> None:
    """Let installed distributions register theirs."""
    for point in _points():
        point.load()(register)


def extensions() -> tuple[str, ...]:
    """Which distributions would, and in which versions."""
    return tuple(f"{point.value} {point.dist.version if point.dist else ''}".strip() for point in _points())


def _points() -> list[metadata.EntryPoint]:
    return sorted(metadata.entry_points(group=GROUP), key=lambda point: (point.value, point.name))


def hide(folder: str) -> None:
    """From here on, the folder is told as `~`: it is another one every time."""
    _HIDDEN.append(folder)


def neutral(text: str) -> str:
    """Without what is another every time: addresses in memory, and the folder that the examples run in."""
    for folder in _HIDDEN:
        text = text.replace(folder, "~")
    return _ADDRESS.sub("0x…", text) if "0x" in text else text


class Values:
    """Values by number: equal numbers for values of which the same is told."""

    def __init__(self) -> None:
        self.known: list[Value] = []
        self._numbers: dict[Value, int] = {}
        self._keys: dict[tuple[type, Hashable], int] = {}

    def number(self, value: Any) -> int:
        kind = type(value)
        if kind in _PLAIN and value == value and value != 0:
            # The usual case, without a call more than it needs.
            number = self._keys.get((kind, value))
            if number is not None:
                return number
        summary = _BY_TYPE.get(kind) or _summary(kind)
        try:
            if summary is _SEQUENCE:
                key: tuple[type, Hashable] = (kind, self._members_key(value, 1))
            elif summary.key is not None:
                key = (kind, summary.key(value))
            else:
                return self._enter(describe(value))
            number = self._keys.get(key)
        except Exception:
            return self._enter(_thing(value))
        if number is None:
            number = self._keys[key] = self._enter(self.describe(value))
        return number

    def _members_key(self, value: Any, depth: int) -> Hashable:
        """As fine as what is told of the members: theirs, as far as they are told."""
        if depth > DEPTH_AT_MOST:
            return len(value)
        parts: list[Hashable] = [len(value)]
        for item in islice(value, ITEMS_AT_MOST):
            kind = type(item)
            summary = _BY_TYPE.get(kind) or _summary(kind)
            if summary is _SEQUENCE:
                parts.append((kind, self._members_key(item, depth + 1)))
            elif summary is _MAPPING:
                parts.append(self._enter(describe(item, depth)))
            else:
                parts.append(self.number(item))
        return tuple(parts)

    def describe(self, value: Any) -> Value:
        return describe(value)

    def copy(self, value: Any) -> Shot:
        """What is needed to tell of the value's numbers later, when there is time."""
        number = self.number(value)
        told = self.known[number]
        summary = _BY_TYPE.get(type(value)) or _summary(type(value))
        if summary.copy is None or summary.numbers is None or told.shape is None:
            return number, None
        try:
            small = math.prod(told.shape) <= COPIED_AT_MOST
            return number, summary.copy(value) if small else statistics(summary.numbers(value))
        except Exception:
            return number, None

    def told(self, shot: Shot) -> Value:
        """The value with its numbers."""
        told, copy = self.known[shot[0]], shot[1]
        if copy is None:
            return told
        if isinstance(copy, tuple):
            return replace(told, stats=copy)
        summary = _summary(type(copy))
        assert summary.numbers is not None
        try:
            numbers = summary.numbers(copy)
        except Exception:
            return told
        if len(numbers) <= NUMBERS_AT_MOST:
            return replace(told, data=tuple(f"{number:.4g}" for number in numbers))
        return replace(told, stats=statistics(numbers))

    def _enter(self, value: Value) -> int:
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = len(self.known)
            self.known.append(value)
        return number


def describe(value: Any, depth: int = 0) -> Value:
    summary = _BY_TYPE.get(type(value)) or _summary(type(value))
    try:
        if summary is _SEQUENCE or summary is _MAPPING:
            return _members(value, depth)
        return summary.describe(value)
    except Exception:
        # A proxy, a lazy object, a property that raises: then it is only a thing of its type.
        return _thing(value)


def _summary(kind: type) -> Summary:
    found = _THING
    for base in kind.__mro__:
        known = _SUMMARIES.get(f"{base.__module__}.{base.__qualname__}")
        if known is not None:
            found = known
            break
    _BY_TYPE[kind] = found
    return found


def _name(kind: type) -> str:
    module = kind.__module__
    return kind.__qualname__ if module in ("builtins", "__main__") else f"{module}.{kind.__qualname__}"


def statistics(numbers: Any) -> tuple[str, ...]:
    """The least, the greatest, the mean and the standard deviation."""
    if hasattr(numbers, "aminmax"):
        found = [*numbers.aminmax(), numbers.mean(), numbers.std(correction=0)]
    elif hasattr(numbers, "min"):
        found = [numbers.min(), numbers.max(), numbers.mean(), numbers.std()]
    else:
        mean = sum(numbers) / len(numbers)
        spread = (sum((number - mean) ** 2 for number in numbers) / len(numbers)) ** 0.5
        found = [min(numbers), max(numbers), mean, spread]
    return tuple(f"{float(number):.4g}" for number in found)


# ---- Python's own


def _thing(value: Any) -> Value:
    return Value("object", _name(type(value)))


def _scalar(value: Any) -> Value:
    text = neutral(repr(value))
    if len(text) > TEXT_AT_MOST:
        text = text[: TEXT_AT_MOST - 1] + "…"
    return Value("scalar", _name(type(value)), text=text)


def _scalar_key(value: Any) -> Hashable:
    # NaN is unequal to itself, and -0.0 equal to 0.0.
    return repr(value) if value != value or value == 0 else value


def _text_key(value: Any) -> Hashable:
    key: Hashable = value[: 4 * TEXT_AT_MOST]
    return key


def _whole(value: Any) -> Value:
    """An `Enum`, a `dtype`, a `device`: printed shortly and always alike."""
    return Value("scalar", _name(type(value)), text=neutral(str(value))[:TEXT_AT_MOST])


def _named(value: Any) -> Value:
    """A function or a class: what it is called."""
    module = getattr(value, "__module__", None)
    name = f"{module}.{value.__qualname__}" if module and module != "builtins" else value.__qualname__
    return Value("object", _name(type(value)), text=neutral(name)[:TEXT_AT_MOST])


def _members(value: Any, depth: int = 0) -> Value:
    is_mapping = isinstance(value, dict)
    size = len(value)
    names: tuple[str, ...] = ()
    items: tuple[Value, ...] = ()
    if depth < DEPTH_AT_MOST:
        first: list[Any] = []
        for item in value.items() if is_mapping else value:
            if len(first) == ITEMS_AT_MOST:
                break
            first.append(item)
        items = tuple(describe(item[1] if is_mapping else item, depth + 1) for item in first)
        if is_mapping:
            names = tuple(neutral(repr(key))[:TEXT_AT_MOST] for key, _ in first)
        elif isinstance(getattr(value, "_fields", None), tuple):
            names = tuple(map(str, value._fields[:ITEMS_AT_MOST]))
    kind = "mapping" if is_mapping else "sequence"
    return Value(kind, _name(type(value)), size=size, items=items, names=names)


def _collection(value: Any) -> Value:
    """Without an order that is the same every time, only how many there are."""
    return Value("sequence", _name(type(value)), size=len(value))


_PLAIN = frozenset({int, float, bool})
_THING = Summary(_thing)
_SEQUENCE = Summary(_members)
_MAPPING = Summary(_members)

for _type in ("int", "float", "complex", "bool", "NoneType"):
    _SUMMARIES[f"builtins.{_type}"] = Summary(_scalar, _scalar_key)
for _type in ("function", "builtin_function_or_method", "type"):
    _SUMMARIES[f"builtins.{_type}"] = Summary(_named)
for _type in ("str", "bytes"):
    _SUMMARIES[f"builtins.{_type}"] = Summary(_scalar, _text_key)
for _type in ("builtins.list", "builtins.tuple", "collections.deque"):
    _SUMMARIES[_type] = _SEQUENCE
_SUMMARIES["builtins.dict"] = _MAPPING
for _type in ("builtins.set", "builtins.frozenset"):
    _SUMMARIES[_type] = Summary(_collection)
for _type in ("builtins.range", "builtins.slice", "enum.Enum", "torch.dtype", "torch.device"):
    _SUMMARIES[_type] = Summary(_whole)


# ---- arrays


def _tensor_key(value: Any) -> Hashable:
    return tuple(value.shape), value.dtype, value.device


def _tensor(value: Any) -> Value:
    return Value(
        "tensor",
        _name(type(value)),
        tuple(int(size) for size in value.shape),
        str(value.dtype).removeprefix("torch."),
        str(value.device),
    )


def _tensor_copy(value: Any) -> Any:
    return value.detach().clone()


def _tensor_numbers(value: Any) -> Any:
    numbers = value.detach()
    return (
        numbers if numbers.is_floating_point() and numbers.element_size() >= 4 else numbers.double()
    ).flatten()


def _array_key(value: Any) -> Hashable:
    return tuple(value.shape), value.dtype


def _array(value: Any) -> Value:
    return Value("array", _name(type(value)), tuple(int(size) for size in value.shape), str(value.dtype))


def _array_copy(value: Any) -> Any:
    return value.copy()


def _array_numbers(value: Any) -> Any:
    return value.astype("float64").ravel()


def _number(value: Any) -> Value:
    """A number of numpy's: it prints like Python's."""
    return Value("scalar", _name(type(value)), dtype=str(value.dtype), text=repr(value.item())[:TEXT_AT_MOST])


def _frame(value: Any) -> Value:
    columns = [str(column)[:TEXT_AT_MOST] for column in list(value.columns)[:ITEMS_AT_MOST]]
    items = tuple(Value("scalar", "dtype", text=str(dtype)) for dtype in list(value.dtypes)[:ITEMS_AT_MOST])
    return Value("frame", _name(type(value)), tuple(map(int, value.shape)), names=tuple(columns), items=items)


def _module(value: Any) -> Value:
    return Value("module", _name(type(value)))


register("torch.Tensor", _tensor, key=_tensor_key, copy=_tensor_copy, numbers=_tensor_numbers)
register("torch.nn.modules.module.Module", _module)
register("torch.nn.modules.container.ModuleList", _module)
register("numpy.ndarray", _array, key=_array_key, copy=_array_copy, numbers=_array_numbers)
register("numpy.generic", _number)
for _module_name in ("pandas.core.frame", "pandas"):
    register(f"{_module_name}.DataFrame", _frame)
for _module_name in ("pandas.core.series", "pandas"):
    register(f"{_module_name}.Series", _array)
