"""
---
title: What is told of a value
summary: A small table from types to summaries, which other distributions may extend.
---
# What is told of a value

A summary looks and never touches: no computation on the value, no method of the author's. For a type that is not
in the table, its bases are asked, and at last only its name is told. Arrays and the like are in a
[file of their own](arrays.html).

Other distributions add types by an entry point in the group `site_builder.summaries`: a callable that is given
`register` and may call it as often as it likes.
"""

from __future__ import annotations

import math
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

from site_builder import installed
from site_builder.record.model import Value
from site_builder.record.neutral import neutral
from site_builder.record.objects import attributes

ITEMS_AT_MOST = 8
"""Members of a sequence that are told."""
DEPTH_AT_MOST = 2
"""Sequences within each other whose members are told."""
TEXT_AT_MOST = 80
"""Characters of a short value."""
NUMBERS_AT_MOST = 128
"""Numbers of a tensor that are told one by one."""
COPIED_AT_MOST = 1024
"""Numbers of a tensor that is copied, to be looked at when the examples have ended."""


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
    >>> describe(Fraction(1, 2)).text
    '1/2'
    """
    _SUMMARIES[type_name] = Summary(describe, key, copy, numbers)
    _BY_TYPE.clear()


def extend() -> None:
    """Let installed distributions register theirs."""
    for point in installed.points():
        point.load()(register)


class Values:
    """Values by number: equal numbers for values of which the same is told."""

    def __init__(self) -> None:
        self.known: list[Value] = []
        self._numbers: dict[Value, int] = {}
        self._keys: dict[tuple[type, Hashable], int] = {}
        self._nothing = self._enter(describe(None))

    def number(self, value: Any) -> int:
        if value is None:
            return self._nothing
        kind = type(value)
        if kind in _PLAIN and value == value and value != 0:
            # The usual case, without a call more than it needs.
            number = self._keys.get((kind, value))
            if number is not None:
                return number
        summary = _BY_TYPE.get(kind) or _summary(kind)
        try:
            if summary is _SEQUENCE or summary is _MAPPING:
                key: tuple[type, Hashable] = (kind, self._members_key(value, 1))
            elif summary.key is not None:
                key = (kind, summary.key(value))
            else:
                return self._enter(describe(value))
            number = self._keys.get(key)
        except Exception:
            return self._enter(_thing(value))
        if number is None:
            number = self._keys[key] = self._enter(self._described(value))
        return number

    def _described(self, value: Any, depth: int = 0) -> Value:
        """What is told of a value. That of a member is mostly known."""
        kind = type(value)
        summary = _BY_TYPE.get(kind) or _summary(kind)
        if summary is not _SEQUENCE and summary is not _MAPPING:
            return describe(value) if depth == 0 else self.known[self.number(value)]
        try:
            return _members(value, depth, self._described)
        except Exception:
            return _thing(value)

    def _members_key(self, value: Any, depth: int) -> Hashable:
        """As fine as what is told of the members: theirs, as far as they are told."""
        base = _base(type(value))
        size: int = base.__len__(value)
        if depth > DEPTH_AT_MOST:
            return size
        parts: list[Hashable] = [size]
        if base is dict or base is OrderedDict:
            for name, item in islice(base.items(value), ITEMS_AT_MOST):
                parts.append((self.number(name), self._member_key(item, depth)))
        else:
            for item in islice(base.__iter__(value), ITEMS_AT_MOST):
                # Tensors and numbers, most of the time.
                key = (_BY_TYPE.get(type(item)) or _summary(type(item))).key
                if key is None:
                    parts.append(self._member_key(item, depth))
                else:
                    parts.append((type(item), key(item)))
        return tuple(parts)

    def _member_key(self, item: Any, depth: int) -> Hashable:
        kind = type(item)
        summary = _BY_TYPE.get(kind) or _summary(kind)
        if summary is _SEQUENCE or summary is _MAPPING:
            return kind, self._members_key(item, depth + 1)
        return self.number(item)

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
        try:
            assert summary.numbers is not None
            numbers = summary.numbers(copy)
            if len(numbers) > NUMBERS_AT_MOST:
                return replace(told, stats=statistics(numbers))
            plain = numbers.tolist() if hasattr(numbers, "tolist") else numbers
            return replace(told, data=tuple(map(_digits, plain)))
        except Exception:
            # What has no numbers after all, such as a tensor on the device `meta`.
            return told

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


def name_of(kind: type) -> str:
    module = kind.__module__
    return kind.__qualname__ if module in ("builtins", "__main__") else f"{module}.{kind.__qualname__}"


def statistics(numbers: Any) -> tuple[str, ...]:
    """The least, the greatest, the mean and the standard deviation."""
    if hasattr(numbers, "aminmax"):
        numbers = numbers if numbers.is_floating_point() else numbers.double()
        found = [*numbers.aminmax(), numbers.mean(), numbers.std(correction=0)]
    elif hasattr(numbers, "min"):
        found = [numbers.min(), numbers.max(), numbers.mean(), numbers.std()]
    else:
        mean = sum(numbers) / len(numbers)
        spread = (sum((number - mean) ** 2 for number in numbers) / len(numbers)) ** 0.5
        found = [min(numbers), max(numbers), mean, spread]
    return tuple(f"{float(number):.4g}" for number in found)


def _digits(number: Any) -> str:
    """All of a whole number, four digits of any other."""
    return str(int(number)) if isinstance(number, int) else f"{number:.4g}"


# ---- Python's own


def _thing(value: Any) -> Value:
    return Value("object", name_of(type(value)))


def _scalar(value: Any) -> Value:
    kind = type(value)
    # A subclass may print itself as it likes: it is asked as what it is underneath.
    base = next(base for base in _SCALARS if issubclass(kind, base))
    if issubclass(kind, (str, bytes)):
        # More than is told need not be printed.
        value = base.__getitem__(value, slice(4 * TEXT_AT_MOST))
    text = neutral(base.__repr__(value))
    if len(text) > TEXT_AT_MOST:
        text = text[: TEXT_AT_MOST - 1] + "…"
    return Value("scalar", name_of(kind), text=text)


def _scalar_key(value: Any) -> Hashable:
    if type(value) not in _PLAIN:
        text: str = next(base for base in _SCALARS if issubclass(type(value), base)).__repr__(value)
        return text
    # NaN is unequal to itself, and -0.0 equal to 0.0.
    return repr(value) if value != value or value == 0 else value


def _text_key(value: Any) -> Hashable:
    base = str if isinstance(value, str) else bytes
    key: Hashable = base.__getitem__(value, slice(4 * TEXT_AT_MOST))
    return key


def _printed(value: Any) -> Value:
    """A `range` or a `slice`: short, and always printed alike."""
    return Value("scalar", name_of(type(value)), text=neutral(str(value))[:TEXT_AT_MOST])


def _named(value: Any) -> Value:
    """A function or a class: what it is called."""
    module = getattr(value, "__module__", None)
    name = f"{module}.{value.__qualname__}" if module and module != "builtins" else value.__qualname__
    return Value("object", name_of(type(value)), text=neutral(name)[:TEXT_AT_MOST])


def _member(value: Any) -> Value:
    """A member of an enumeration."""
    name = attributes(value).get("_name_")
    return Value("scalar", name_of(type(value)), text=f"{type(value).__qualname__}.{name}"[:TEXT_AT_MOST])


def _members(value: Any, depth: int = 0, tell: Callable[[Any, int], Value] | None = None) -> Value:
    tell = tell or describe
    kind = type(value)
    is_mapping = issubclass(kind, dict)
    base = _base(kind)
    size = base.__len__(value)
    names: tuple[str, ...] = ()
    items: tuple[Value, ...] = ()
    if depth < DEPTH_AT_MOST:
        first = list(islice(base.items(value) if is_mapping else base.__iter__(value), ITEMS_AT_MOST))
        items = tuple(tell(item[1] if is_mapping else item, depth + 1) for item in first)
        if is_mapping:
            names = tuple(_key_name(key) for key, _ in first)
        elif isinstance(fields := getattr(kind, "_fields", None), tuple):
            names = tuple(map(str, fields[:ITEMS_AT_MOST]))
    return Value("mapping" if is_mapping else "sequence", name_of(kind), size=size, items=items, names=names)


def _base(kind: type) -> Any:
    """A collection is asked as what it is underneath: a subclass may do as it likes."""
    return kind if kind in _COLLECTIONS else next(base for base in _COLLECTIONS if issubclass(kind, base))


def _key_name(key: Any) -> str:
    told = describe(key, DEPTH_AT_MOST)
    return told.text or told.type


def _collection(value: Any) -> Value:
    """Without an order that is the same every time, only how many there are."""
    base: Any = set if isinstance(value, set) else frozenset
    return Value("sequence", name_of(type(value)), size=base.__len__(value))


_SCALARS: tuple[Any, ...] = (bool, int, float, complex, str, bytes, type(None))
_COLLECTIONS: tuple[Any, ...] = (OrderedDict, dict, list, tuple, deque)
_PLAIN = frozenset({int, float, bool})
_THING = Summary(_thing, lambda value: None)
_SEQUENCE = Summary(_members)
_MAPPING = Summary(_members)

for _type in ("int", "float", "complex", "bool", "NoneType"):
    _SUMMARIES[f"builtins.{_type}"] = Summary(_scalar, _scalar_key)
for _type in ("function", "builtin_function_or_method", "type"):
    _SUMMARIES[f"builtins.{_type}"] = Summary(_named, lambda value: (value.__module__, value.__qualname__))
for _type in ("str", "bytes"):
    _SUMMARIES[f"builtins.{_type}"] = Summary(_scalar, _text_key)
for _type in ("builtins.list", "builtins.tuple", "collections.deque"):
    _SUMMARIES[_type] = _SEQUENCE
_SUMMARIES["builtins.dict"] = _SUMMARIES["collections.OrderedDict"] = _MAPPING
_SUMMARIES["enum.Enum"] = _SUMMARIES["enum.IntEnum"] = _SUMMARIES["enum.StrEnum"] = Summary(_member)
_SUMMARIES["enum.IntFlag"] = _SUMMARIES["enum.Enum"]
for _type in ("builtins.set", "builtins.frozenset"):
    _SUMMARIES[_type] = Summary(_collection)
for _type in ("builtins.range", "builtins.slice"):
    _SUMMARIES[_type] = Summary(_printed)
