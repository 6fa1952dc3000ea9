"""
---
title: Close, and how close
summary: Two results are compared number by number, and the largest difference is kept.
---
# Close, and how close

`verified(ours, expected, …)` in a test asserts as `torch.testing.assert_close` does, and tells whoever listens what
was compared and how large the largest error was.

Numbers are compared one by one in Python, so that tensors, arrays and plain floats are treated alike, whole numbers
are compared exactly, and nothing is imported that the test has not imported: whatever can be turned into a list by
`tolist` will do.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Number
from types import ModuleType
from typing import Any

# What torch takes for close: relative to what is expected, and absolute.
_TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """Something of a module that came as near to something else, in one dtype."""

    module: str
    against: str
    what: str
    dtype: str
    error: float


class Verify:
    """
    The fixture `verified`.

    >>> import math
    >>> verified = Verify(lambda seen: print(seen.module, seen.against, seen.error))
    >>> verified([math.exp(x) for x in (0, 1)], [1.0, math.e], against="Euler", of=math.exp)
    math Euler 0.0
    """

    def __init__(self, listener: Callable[[Comparison], object] | None = None) -> None:
        self._listener = listener

    def __call__(
        self,
        ours: Any,
        expected: Any,
        *,
        against: str,
        of: Any,
        what: str = "values",
        rtol: float | None = None,
        atol: float | None = None,
    ) -> None:
        """
        Asserts that `ours` is what `expected` is, and reports it.

        Both may be numbers, tensors, arrays, or sequences and mappings of them, of the same structure, shapes and
        dtypes. `against` names the oracle in the words of the page: `torch.nn.MultiheadAttention`. `of` is what was
        tested, and stands for the module that defines it: a class, a function, an object, a module or its name, or
        a tuple of several. `what` says which part was compared: `values`, `gradients`. `rtol` and `atol`
        are given both or none, as in `torch.testing.assert_close`.

        Raises:
            AssertionError: they are not close, or there is nothing to compare.
            ValueError: the call makes no sense.
        """
        __tracebackhide__ = True
        if (rtol is None) != (atol is None):
            raise ValueError(f"rtol = {rtol} and atol = {atol}, but both or none must be given")
        if not against.strip() or not what.strip():
            raise ValueError(f"against = {against!r} and what = {what!r} must both say something")
        modules = [_module_of(one) for one in (of if isinstance(of, tuple) else (of,))]
        given = None if rtol is None or atol is None else (rtol, atol)
        errors: dict[str, float] = {}
        for leaf in _leaves(ours, expected, ""):
            error, complaint = leaf.judged(given)
            if complaint:
                raise AssertionError(f"not what {against} gives ({what}): {leaf.place}{complaint}")
            if leaf.numbers:
                errors[leaf.dtype] = max(error, errors.get(leaf.dtype, 0.0))
        if not errors:
            raise AssertionError(f"there is nothing to compare with {against} ({what})")
        if self._listener:
            for module in modules:
                for dtype, error in errors.items():
                    self._listener(
                        Comparison(module, " ".join(against.split()), what.strip(), dtype, float(error))
                    )


@dataclass(frozen=True)
class _Leaf:
    """Numbers of one dtype and shape beside those expected; `complaint`: why they cannot even be compared."""

    place: str
    dtype: str = ""
    shape: tuple[int, ...] = ()
    numbers: tuple[Any, ...] = ()
    expected: tuple[Any, ...] = ()
    complaint: str = ""

    def judged(self, given: tuple[float, float] | None) -> tuple[float, str]:
        """The largest error, and what is wrong."""
        if self.complaint:
            return math.inf, self.complaint
        rtol, atol = given or _TOLERANCES.get(self.dtype, (0.0, 0.0))
        largest, worst, far = 0.0, -1, 0
        for place, (x, y) in enumerate(zip(self.numbers, self.expected, strict=True)):
            if x == y:
                continue
            # Not a number is like nothing, not even itself.
            error = abs(x - y)
            if not error <= atol + rtol * abs(y) or math.isinf(abs(y)):
                far += 1
                error = math.inf if math.isnan(error) else error
                worst = place if worst < 0 or error > largest else worst
            largest = max(largest, error)
        if not far:
            return largest, ""
        x, y = self.numbers[worst], self.expected[worst]
        where = f" at {list(_unravelled(worst, self.shape))}" if self.shape else ""
        return largest, (
            f"{far} of {len(self.numbers)} numbers differ by more than rtol = {rtol} and atol = {atol} allow; "
            f"the worst{where} is {x} where {y} is expected"
        )


def _leaves(ours: Any, expected: Any, place: str) -> Iterator[_Leaf]:
    prefix = f"{place}: " if place else ""
    ours, expected = (x.to_numpy() if hasattr(x, "to_numpy") else x for x in (ours, expected))
    if isinstance(ours, Mapping) and isinstance(expected, Mapping):
        if ours.keys() != expected.keys():
            names = sorted(map(str, ours.keys() ^ expected.keys()))
            yield _Leaf(prefix, complaint=f"only one of the two has {', '.join(names)}")
            return
        for name in expected:
            yield from _leaves(ours[name], expected[name], f"{place}.{name}" if place else str(name))
    elif _is_sequence(ours) and _is_sequence(expected):
        if len(ours) != len(expected):
            yield _Leaf(prefix, complaint=f"{len(ours)} where {len(expected)} are expected")
            return
        for number, (one, other) in enumerate(zip(ours, expected, strict=True)):
            yield from _leaves(one, other, f"{place}[{number}]")
    elif _is_numeric(ours) and _is_numeric(expected):
        yield _numeric(ours, expected, prefix)
    elif ours is not expected and (type(ours) is not type(expected) or ours != expected):
        yield _Leaf(prefix, complaint=f"{_told(ours)} where {_told(expected)} is expected")


def _numeric(ours: Any, expected: Any, prefix: str) -> _Leaf:
    shapes = [tuple(getattr(x, "shape", ())) for x in (ours, expected)]
    dtypes = [_dtype(x) for x in (ours, expected)]
    if shapes[0] != shapes[1]:
        return _Leaf(prefix, complaint=f"shape {list(shapes[0])} where {list(shapes[1])} is expected")
    if all(map(_is_array, (ours, expected))) and dtypes[0] != dtypes[1]:
        return _Leaf(prefix, complaint=f"dtype {dtypes[0]} where {dtypes[1]} is expected")
    arrays = [dtype for x, dtype in zip((ours, expected), dtypes, strict=True) if _is_array(x)]
    dtype = arrays[0] if arrays else max(dtypes, key=_PLAIN.index)
    return _Leaf(prefix, dtype, shapes[0], _flat(ours), _flat(expected))


_PLAIN = ("", "float64", "complex128")
"""What Python's own numbers are, the wider last; whole ones are of no dtype."""


def _dtype(x: Any) -> str:
    if _is_array(x):
        return str(getattr(x, "dtype", "")).rpartition(".")[2]
    return _PLAIN[2] if isinstance(x, complex) else _PLAIN[1] if isinstance(x, float) else _PLAIN[0]


def _flat(x: Any) -> tuple[Any, ...]:
    return tuple(x.reshape(-1).tolist()) if _is_array(x) else (x,)


def _is_array(x: Any) -> bool:
    return hasattr(x, "tolist") and hasattr(x, "reshape")


def _is_numeric(x: Any) -> bool:
    return _is_array(x) or isinstance(x, Number)


def _is_sequence(x: Any) -> bool:
    return isinstance(x, Sequence) and not isinstance(x, (str, bytes)) and not _is_array(x)


def _told(x: Any) -> str:
    return type(x).__name__ if _is_array(x) or isinstance(x, (Mapping, Sequence)) else repr(x)


def _unravelled(place: int, shape: Sequence[int]) -> tuple[int, ...]:
    found: tuple[int, ...] = ()
    for size in reversed(shape):
        place, index = divmod(place, size)
        found = (index, *found)
    return found


def _module_of(thing: Any) -> str:
    name = thing if isinstance(thing, str) else thing.__name__ if isinstance(thing, ModuleType) else None
    name = name or getattr(thing, "__module__", None)
    if not isinstance(name, str) or name not in sys.modules:
        raise ValueError(f"of = {thing!r} is of no module that is imported here")
    return name
