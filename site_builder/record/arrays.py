"""
---
title: Tensors, arrays, frames
summary: What is told of values with a shape, of libraries that need not be installed.
---
# Tensors, arrays, frames

Even to ask a tensor for its shape can run the author's code, where that listens to what is done with tensors: a
mode, a subclass, a trace for export. So it is asked under their attention's edge, and its numbers are copied only
where it surely has some.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from functools import cache
from typing import Any

from site_builder.record.model import Value
from site_builder.record.values import ITEMS_AT_MOST, TEXT_AT_MOST, name_of, register


def _tensor_key(value: Any) -> Hashable:
    plain, mode_enabled, tracing_state = _probes()
    if type(value) in plain and not mode_enabled() and tracing_state() is None:
        return value.shape, value.dtype, value.is_cpu or value.device
    with _Unheard(sys.modules["torch"]):
        return tuple(value.shape), value.dtype, value.is_cpu or value.device


def _tensor(value: Any) -> Value:
    with _Unheard(sys.modules["torch"]):
        return Value(
            "tensor",
            name_of(type(value)),
            tuple(int(size) for size in value.shape),
            str(value.dtype).removeprefix("torch."),
            str(value.device),
        )


def _tensor_copy(value: Any) -> Any:
    torch = sys.modules["torch"]
    with _Unheard(torch):
        return _with_numbers(torch, value).clone()


def _tensor_numbers(value: Any) -> Any:
    torch = sys.modules["torch"]
    with _Unheard(torch):
        numbers = _with_numbers(torch, value)
        if numbers.is_quantized:
            numbers = numbers.dequantize()
        if numbers.is_floating_point() and numbers.element_size() < 4:
            numbers = numbers.float()
        return numbers.flatten()


def _with_numbers(torch: Any, value: Any) -> Any:
    """The tensor, if all of its numbers lie in its memory. Where that was given back, to read them ends the process."""
    if type(value) not in _probes()[0] or torch._C._functorch.is_functorch_wrapped_tensor(value):
        raise TypeError("a tensor that is something else")
    if value.layout is not torch.strided or value.is_meta or value.is_nested:
        raise TypeError("a tensor without numbers of its own")
    if not value.is_contiguous() or value.storage_offset():
        steps = zip(value.shape, value.stride(), strict=True)
        needed = value.storage_offset() + sum((size - 1) * stride for size, stride in steps) + 1
    else:
        needed = value.numel()
    if value.numel() and needed * value.element_size() > value.untyped_storage().nbytes():
        raise TypeError("a tensor whose memory was given back")
    return value.detach()


@cache
def _probes() -> tuple[frozenset[type], Callable[[], bool], Callable[[], object]]:
    """Types whose tensors are what they look like, and what says whether somebody listens."""
    torch: Any = sys.modules["torch"]
    plain = frozenset((torch.Tensor, torch.nn.Parameter, getattr(torch.nn, "Buffer", torch.Tensor)))
    return plain, torch._C._is_torch_function_mode_enabled, torch._C._get_tracing_state


class _Unheard:
    """A context in which nobody is told of what is done with tensors."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch

    def __enter__(self) -> None:
        torch = self.torch
        self.tracing = torch._C._get_tracing_state()
        if self.tracing is not None:
            torch._C._set_tracing_state(None)
        self.guards = torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch()
        for guard in self.guards:
            guard.__enter__()

    def __exit__(self, *_: object) -> None:
        for guard in reversed(self.guards):
            guard.__exit__(None, None, None)
        if self.tracing is not None:
            self.torch._C._set_tracing_state(self.tracing)


def _array_key(value: Any) -> Hashable:
    return tuple(value.shape), value.dtype


def _array(value: Any) -> Value:
    return Value("array", name_of(type(value)), tuple(int(size) for size in value.shape), str(value.dtype))


def _array_copy(value: Any) -> Any:
    return _own(value).copy()


def _array_numbers(value: Any) -> Any:
    numbers = _own(value).ravel()
    return numbers if numbers.dtype.kind in "biu" else numbers.astype("float64")


def _own(value: Any) -> Any:
    """Without the methods of an author's subclass, and only what consists of numbers."""
    numpy = sys.modules["numpy"]
    if not isinstance(value, numpy.ndarray) or value.dtype.kind not in "biuf":
        raise TypeError("an array without numbers")
    return numpy.ndarray.view(value, numpy.ndarray)


def _number(value: Any) -> Value:
    """A number of numpy's: it prints like Python's."""
    return Value(
        "scalar", name_of(type(value)), dtype=str(value.dtype), text=repr(value.item())[:TEXT_AT_MOST]
    )


def _frame(value: Any) -> Value:
    columns = [str(column)[:TEXT_AT_MOST] for column in list(value.columns)[:ITEMS_AT_MOST]]
    items = tuple(Value("scalar", "dtype", text=str(dtype)) for dtype in list(value.dtypes)[:ITEMS_AT_MOST])
    return Value(
        "frame", name_of(type(value)), tuple(map(int, value.shape)), names=tuple(columns), items=items
    )


def _module(value: Any) -> Value:
    return Value("module", name_of(type(value)))


def _constant(value: Any) -> Value:
    return Value("scalar", name_of(type(value)), text=str(value)[:TEXT_AT_MOST])


def _itself(value: Any) -> Hashable:
    key: Hashable = value
    return key


def _by_type(_: Any) -> Hashable:
    return None


def enter() -> None:
    """Into the table with them."""
    register("torch.Tensor", _tensor, key=_tensor_key, copy=_tensor_copy, numbers=_tensor_numbers)
    register("torch.nn.modules.module.Module", _module, key=_by_type)
    for _kind in ("dtype", "device", "layout", "memory_format"):
        register(f"torch.{_kind}", _constant, key=_itself)
    register("numpy.ndarray", _array, key=_array_key, copy=_array_copy, numbers=_array_numbers)
    register("numpy.generic", _number)
    for _library in ("pandas.core.frame", "pandas", "polars.dataframe.frame"):
        register(f"{_library}.DataFrame", _frame)
    for _library in ("pandas.core.series", "pandas", "polars.series.series"):
        register(f"{_library}.Series", _array)
