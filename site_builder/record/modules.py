"""
---
title: What the page's neural modules cost
summary: With which arguments they were made, how many parameters they have, how much a forward pass computes.
---
# What the page's neural modules cost

Parameters are counted where the examples make a module anyway. Operations are counted by torch's own counter,
and that in a run of its own: the counter is between torch and every operator, where the tracer must not see it.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

from site_builder.record.model import Class, Construction, Flops, Named
from site_builder.record.values import Values, describe

CONSTRUCTIONS_AT_MOST = 8

# Operators that are arithmetic though torch does not tag them as such,
_ARITHMETIC = frozenset(
    "_softmax _log_softmax softmax log_softmax sum mean prod cumsum cumprod var std norm linalg_vector_norm"
    " mkldnn_rnn_layer _native_multi_head_attention _transformer_encoder_layer_fwd _cdist_forward _fft_r2c _fft_c2c"
    " _fft_c2r index_add index_add_ scatter_add scatter_add_ trace dot mv native_layer_norm"
    " native_group_norm native_batch_norm _fused_rms_norm logsumexp var_mean amax amin".split()
)
# and operators that torch tags as pointwise though they only move, compare or choose.
_MOVING = frozenset(
    "clone copy copy_ where fill fill_ masked_fill masked_fill_ _to_copy eq ne lt le gt ge logical_and logical_or"
    " logical_not logical_xor bitwise_and bitwise_or bitwise_not bitwise_xor isnan isinf isfinite zeros_like"
    " ones_like full_like bernoulli bernoulli_ native_dropout detach alias tril triu tril_ triu_ zero_ eq_"
    " bitwise_and_ bitwise_or_ logical_and_ logical_not_ sign neg abs relu relu_".split()
)


class Kinds:
    """Which types are classes of the page and `nn.Module`s."""

    def __init__(self, module: str, names: dict[int, str]) -> None:
        self.module = module
        self.ordinals = {name: ordinal for ordinal, name in names.items()}
        self._known: dict[type, int | None] = {}

    def ordinal(self, kind: type) -> int | None:
        if kind not in self._known:
            torch = sys.modules.get("torch")
            ours = kind.__module__ == self.module and torch is not None and issubclass(kind, torch.nn.Module)
            name = kind.__qualname__.replace(".<locals>", "")
            self._known[kind] = self.ordinals.get(name) if ours else None
        return self._known[kind]


class Modules:
    """Notes every module of the page that is constructed."""

    def __init__(self, kinds: Kinds, values: Values) -> None:
        self.kinds = kinds
        self.values = values
        self._fresh: dict[int, tuple[Any, tuple[tuple[str, int], ...]]] = {}
        self._made: dict[type, dict[tuple[Any, ...], int]] = {}

    def constructed(self, thing: object, frame: FrameType) -> None:
        """An `__init__` begins: the first for an object is that of its own class."""
        if self.kinds.ordinal(type(thing)) is None or id(thing) in self._fresh:
            return
        code = frame.f_code
        count = code.co_argcount + code.co_kwonlyargcount
        names = code.co_varnames[:count]
        rest = code.co_varnames[count : count + bool(code.co_flags & 4) + bool(code.co_flags & 8)]
        values = frame.f_locals
        told = [name for name in names[1:] if name in values] + [name for name in rest if values.get(name)]
        # The object is held until the example ends, so that its identity is its own.
        self._fresh[id(thing)] = (thing, tuple((name, self.values.number(values[name])) for name in told))

    def settle(self) -> None:
        """An example has ended: what it made is complete."""
        for thing, arguments in self._fresh.values():
            made = self._made.setdefault(type(thing), {})
            look = (arguments, *_parameters(thing))
            if look in made or len(made) < CONSTRUCTIONS_AT_MOST:
                made[look] = made.get(look, 0) + 1
        self._fresh.clear()

    def classes(self) -> tuple[Class, ...]:
        found = []
        for kind, made in self._made.items():
            ordinal = self.kinds.ordinal(kind)
            if ordinal is not None:
                constructions = tuple(
                    Construction(
                        tuple(Named(name, self.values.known[value]) for name, value in arguments),
                        parameters,
                        trainable,
                        times,
                    )
                    for (arguments, parameters, trainable), times in made.items()
                )
                found.append(Class(ordinal, kind.__qualname__.replace(".<locals>", ""), constructions))
        return tuple(sorted(found, key=lambda one: one.ordinal))


def _parameters(thing: Any) -> tuple[int | None, int | None]:
    try:
        every = list(thing.parameters())
        return sum(p.numel() for p in every), sum(p.numel() for p in every if p.requires_grad)
    except Exception:
        # Lazy modules do not know yet, and unfinished ones have none.
        return None, None


class Counter:
    """Counts the operations of the first forward pass of each class."""

    def __init__(self, kinds: Kinds) -> None:
        self.kinds = kinds
        self.found: dict[int, Flops] = {}

    def install(self) -> None:
        """From here on, every call of a module is looked at. Without torch there are none."""
        torch = sys.modules.get("torch")
        if torch is None:
            return
        original: Callable[..., Any] = torch.nn.Module.__call__

        def call(module: Any, *args: Any, **kwargs: Any) -> Any:
            ordinal = self.kinds.ordinal(type(module))
            if ordinal is None or ordinal in self.found:
                return original(module, *args, **kwargs)
            given = _given(module, args, kwargs)
            return self._counted(ordinal, lambda: original(module, *args, **kwargs), given)

        torch.nn.Module.__call__ = call

    def _counted(self, ordinal: int, call: Callable[[], Any], given: Sequence[tuple[str, Any]]) -> Any:
        counting, listing, names = _modes()
        arguments = tuple(Named(name, describe(value)) for name, value in given)
        # Calls of the same class further in belong to this count.
        self.found[ordinal] = Flops(0, (), arguments)
        try:
            with listing, counting:
                result = call()
        except BaseException:
            del self.found[ordinal]
            raise
        counted = counting.get_total_flops()
        self.found[ordinal] = Flops(int(counted), tuple(sorted(names)), arguments)
        return result


def _given(module: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> list[tuple[str, Any]]:
    """The arguments of a forward pass by name."""
    try:
        return list(inspect.signature(module.forward).bind(*args, **kwargs).arguments.items())
    except (TypeError, ValueError):
        return [*((str(place), value) for place, value in enumerate(args)), *kwargs.items()]


def prepare() -> None:
    """
    Let torch load now what it loads late, for its counter as for its optimisers: in the process that all others
    are copies of, where no tracer makes it slow.
    """
    torch = sys.modules.get("torch")
    if torch is not None:
        counting, listing, _ = _modes()
        with listing, counting:
            torch.nn.functional.linear(torch.zeros(1, 1), torch.zeros(1, 1))


def _modes() -> tuple[Any, Any, set[str]]:
    """Torch's counter, and a mode that lists the arithmetic which it does not count."""
    import importlib

    torch = sys.modules["torch"]
    flop_counter = importlib.import_module("torch.utils.flop_counter")
    dispatch = importlib.import_module("torch.utils._python_dispatch")
    mapping = {}
    fused = getattr(torch.ops.aten, "_scaled_dot_product_flash_attention_for_cpu", None)
    if fused is not None and fused not in flop_counter.flop_registry:
        mapping[fused] = _fused_attention
    known = {*flop_counter.flop_registry, *mapping}
    names: set[str] = set()

    class Listing(dispatch.TorchDispatchMode):  # type: ignore[misc,name-defined]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            name = func.overloadpacket.__name__
            if func.overloadpacket not in known and name not in _MOVING:
                tagged = torch.Tag.pointwise in func.tags
                if tagged or name in _ARITHMETIC:
                    names.add(name.rstrip("_") or name)
            return func(*args, **(kwargs or {}))

    return flop_counter.FlopCounterMode(display=False, custom_mapping=mapping), Listing(), names


def _fused_attention(query: Any, key: Any, value: Any, *_: Any, **__: Any) -> int:
    """Two matrix products: every query with every key, and their weights with the values."""
    batch, heads, queries, width = query
    keys, value_width = key[-2], value[-1]
    return int(2 * batch * heads * queries * keys * (width + value_width))
