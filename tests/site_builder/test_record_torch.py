"""What is recorded of tensors and neural modules, against torch's own hooks and against numbers worked out by hand."""

from __future__ import annotations

import doctest
import importlib
from collections import Counter
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from site_builder.config import Config
from site_builder.discover import discover
from site_builder.parse import parse
from site_builder.record import Recorded, record_pages
from site_builder.record.model import Class, Value
from tests.site_builder.recording import Seen, pages, write

torch = pytest.importorskip("torch")

ROOT = Path(__file__).resolve().parents[2]
TINY = '''
"""
>>> import torch
>>> attention = Attention(heads=2, width=12)
>>> x = torch.randn(3, 5, 12, requires_grad=True)
>>> attention(x).shape
torch.Size([3, 5, 12])
>>> twice = Twice.apply(x)
>>> twice.sum().backward()
>>> Child(4).size, Plain()(x).shape
(4, torch.Size([3, 5, 12]))
>>> shrink([torch.ones(4, 2), torch.ones(3, 2)]).dtype
torch.float64
>>> normal(torch.tensor([1.0, 3.0]), 2)
tensor([0.5000, 1.5000])
"""

import numpy as np
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, heads, width):
        super().__init__()
        self.project = nn.Linear(width, width, bias=False)
        self.again = self.project
        self.heads = heads
        self.frozen = nn.Parameter(torch.zeros(7), requires_grad=False)

    def forward(self, x):
        heads = self.project(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        x = nn.functional.scaled_dot_product_attention(heads, heads, heads)
        x = x.transpose(1, 2).flatten(-2)
        return x + x.exp()


class Plain(nn.Module):
    def forward(self, x):
        return x.relu()


class Parent(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size


class Child(Parent):
    pass


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, grad):
        doubled = 2 * grad
        return doubled


def shrink(tensors):
    for tensor in tensors:
        half = tensor[::2]
        array = np.ones(len(half), dtype="int16")
        scalar = np.float32(0.5)
    half = half.double()
    return half


def normal(s, d):
    s = s / d
    return s
'''


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Recorded]:
    folder = write(tmp_path_factory.mktemp("torch"), tiny=TINY)
    model = discover(Config(root=ROOT, packages=("labml_nn/transformers/feed_forward.py",))).sources[0]
    every = [*pages(folder), parse(model, Path(model.file).read_bytes())]
    every = [page for page in every if page.url != "index.html" or page.source.module != "pkg"]
    return folder, record_pages(Config(root=ROOT), every)


@pytest.fixture(scope="module")
def seen(recorded: tuple[Path, Recorded]) -> Seen:
    folder, found = recorded
    assert [str(fault) for fault in found.diagnostics] == []
    return Seen(folder, "tiny.html", found.records["tiny.html"])


def test_a_tensor_tells_its_shape_its_type_and_its_device(seen: Seen) -> None:
    (value,) = seen.statement("heads = ").writes[0].values
    assert value == Value("tensor", "torch.Tensor", (3, 2, 5, 6), "float32", "cpu")


def test_the_shapes_that_a_loop_gives_are_all_told(seen: Seen) -> None:
    assert seen.writes("half = tensor") == {"half": ["[2, 2]"]}
    assert seen.writes("for tensor in") == {"tensor": ["[4, 2]", "[3, 2]"]}
    assert [value.dtype for value in seen.statement("half = half").writes[0].values] == ["float64"]


def test_arrays_and_their_numbers_are_told(seen: Seen) -> None:
    (array,) = seen.statement("array = ").writes[0].values
    assert (array.kind, array.shape, array.dtype) == ("array", (2,), "int16")
    (scalar,) = seen.statement("scalar = ").writes[0].values
    assert (scalar.kind, scalar.text, scalar.dtype) == ("scalar", "0.5", "float32")


def test_a_backward_pass_is_a_call(seen: Seen) -> None:
    (call,) = seen.function("Twice.backward").calls
    assert call.result == Value("tensor", "torch.Tensor", (3, 5, 12), "float32", "cpu")
    assert seen.record.examples[call.examples[0]].source == "twice.sum().backward()\n"
    assert seen.writes("doubled") == {"doubled": ["[3, 5, 12]"]}


def test_a_walk_shows_numbers(seen: Seen) -> None:
    walk = seen.function("normal").walk
    assert walk is not None
    assert walk.arguments[0].value.data == ("1", "3")
    assert walk.steps[0].writes[0].value.data == ("0.5", "1.5")
    attention = seen.function("Attention.forward").walk
    assert attention is not None
    assert len(attention.arguments[0].value.stats) == 4


def named(seen: Seen) -> dict[str, Class]:
    return {one.name: one for one in seen.record.classes}


def test_a_module_tells_its_arguments_and_parameters(seen: Seen) -> None:
    (attention,) = named(seen)["Attention"].constructions
    assert [(name.name, name.value.text) for name in attention.arguments] == [("heads", "2"), ("width", "12")]
    assert (attention.parameters, attention.trainable) == (151, 144), "a shared weight counts once"
    (child,) = named(seen)["Child"].constructions
    assert [(name.name, name.value.text) for name in child.arguments] == [("size", "4")]
    assert "Parent" not in named(seen)
    assert named(seen)["Plain"].constructions[0].arguments == ()


def test_operations_are_counted_with_those_of_fused_attention(seen: Seen) -> None:
    flops = named(seen)["Attention"].flops
    assert flops is not None
    projection = 2 * (3 * 5) * 12 * 12
    attention = 2 * (3 * 2) * 5 * 5 * (6 + 6)
    assert flops.total == projection + attention
    assert flops.uncounted == ("add", "exp")
    assert [(name.name, name.value.shape) for name in flops.arguments] == [("x", (3, 5, 12))]
    assert named(seen)["Child"].flops is None, "it was never called"


def test_the_calls_of_a_real_page_are_those_that_forward_hooks_see(recorded: tuple[Path, Recorded]) -> None:
    _, found = recorded
    record = found.records["index.html"]
    module = importlib.import_module("labml_nn.transformers.feed_forward")
    hooked: Counter[tuple[Any, ...]] = Counter()

    def hook(layer: Any, args: Any, result: Any) -> None:
        if type(layer) is module.FeedForward:
            hooked[tuple(args[0].shape), tuple(result.shape)] += 1

    handle = torch.nn.modules.module.register_module_forward_hook(hook)
    try:
        doctest.testmod(module)
    finally:
        handle.remove()
    told: Counter[tuple[Any, ...]] = Counter()
    (forward,) = [function for function in record.functions if function.name == "FeedForward.forward"]
    for call in forward.calls:
        assert call.result is not None
        told[call.arguments[0].value.shape, call.result.shape] += call.times
    assert told == hooked
    assert forward.times == sum(hooked.values())
    layer = module.FeedForward(d_model=6, d_ff=24)
    (construction, *_) = next(one for one in record.classes if one.name == "FeedForward").constructions
    assert construction.parameters == sum(weight.numel() for weight in layer.parameters())


def test_two_runs_give_the_same_bytes(tmp_path: Path, recorded: tuple[Path, Recorded]) -> None:
    text = dedent(TINY)
    again = record_pages(Config(root=tmp_path), pages(write(tmp_path, tiny=text)))
    assert again.records["tiny.html"].to_bytes() == recorded[1].records["tiny.html"].to_bytes()
