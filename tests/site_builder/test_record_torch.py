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
from site_builder.record.model import Class, Value
from tests.site_builder.recording import Recorded, Seen, pages, record_pages, write

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


ODD = '''
"""
>>> odd()
>>> counted(), heard(), touched()
(1, ['relu'], 0)
>>> torch.vmap(each)(torch.ones(3, 2)).shape
torch.Size([3, 2])
>>> sorted(node.kind() for node in torch.jit.trace(each, torch.ones(2)).graph.nodes())
['aten::mul', 'prim::Constant']
>>> faked()
>>> numbers(torch.tensor([1, 50257]), torch.tensor([True, False]), torch.tensor([1 + 2j]), torch.arange(2000))
>>> make()(torch.ones(2)).shape
torch.Size([2])
>>> Masked()(torch.ones(5, 2, 3, 4)).shape
torch.Size([5, 2, 3, 4])
"""

import numpy as np
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode


def odd():
    meta = torch.empty(3, 4, device="meta")
    sparse = torch.eye(3).to_sparse()
    quantised = torch.quantize_per_tensor(torch.ones(3), 0.5, 0, torch.qint8)
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    half = torch.ones(2, dtype=torch.bfloat16)
    gone = torch.arange(4.0)[::2]
    storage = gone.untyped_storage()
    storage.resize_(0)
    given_back = gone
    forgotten = torch.empty(5)
    records = np.zeros(2, dtype=[("a", "i4"), ("b", "f8")])
    zero = np.array(3)


class Counting(TorchDispatchMode):
    times = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        Counting.times += 1
        return function(*args, **(kwargs or {}))


class Hearing(TorchFunctionMode):
    heard = []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        Hearing.heard.append(function.__name__)
        return function(*args, **(kwargs or {}))


class Touched(torch.Tensor):
    times = 0

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        Touched.times += 1
        return super().__torch_function__(function, types, args, kwargs or {})


def counted():
    x = torch.ones(3)
    with Counting():
        relu(x)
    return Counting.times


def heard():
    x = torch.ones(3)
    with Hearing():
        relu_too(x)
    return Hearing.heard


def touched():
    x = torch.ones(3).as_subclass(Touched)
    Touched.times = 0
    same(x)
    return Touched.times


def relu(x):
    r = x.relu()
    return r


def relu_too(x):
    r = x.relu()
    return r


def same(x):
    it = x
    return it


def each(x):
    w = x * 2
    return w


def faked():
    with FakeTensorMode():
        fake = torch.ones(3, 2)
        result = relu(fake)


def numbers(whole, truth, complex_, large):
    pass


def make():
    class Local(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(3))

        def forward(self, x):
            return x

    return Local()


class Masked(nn.Module):
    def forward(self, q):
        return nn.functional.scaled_dot_product_attention(q, q, q, attn_mask=torch.zeros(3, 3))
'''


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Recorded]:
    folder = write(tmp_path_factory.mktemp("torch"), tiny=TINY, odd=ODD)
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


@pytest.fixture(scope="module")
def odd(recorded: tuple[Path, Recorded]) -> Seen:
    """That its examples pass already says that nobody noticed the recorder."""
    folder, found = recorded
    return Seen(folder, "odd.html", found.records["odd.html"])


@pytest.mark.parametrize(
    ("name", "shape", "data"),
    [
        ("meta", (3, 4), ()),
        ("sparse", (3, 3), ()),
        ("quantised", (3,), ("1", "1", "1")),
        ("nested", None, ()),
        ("half", (2,), ("1", "1")),
        ("given_back", (2,), ()),
        ("forgotten", (5,), ("0",) * 5),
        ("records", (2,), ()),
        ("zero", (), ("3",)),
    ],
)
def test_every_kind_of_tensor_is_told_as_far_as_it_has_numbers(
    odd: Seen, name: str, shape: tuple[int, ...] | None, data: tuple[str, ...]
) -> None:
    walk = odd.function("odd").walk
    assert walk is not None
    (value,) = [write.value for step in walk.steps for write in step.writes if write.name == name]
    assert (value.shape, value.data) == (shape, data)


def test_numbers_are_told_as_what_they_are(odd: Seen) -> None:
    walk = odd.function("numbers").walk
    assert walk is not None
    whole, truth, complex_, large = (argument.value for argument in walk.arguments)
    assert (whole.data, truth.data, complex_.data) == (("1", "50257"), ("1", "0"), ("1+2j",))
    assert large.stats == ("0", "1999", "999.5", "577.4")


def test_tensors_that_stand_for_others_are_told_by_their_shape(odd: Seen) -> None:
    assert odd.writes("w = x") == {"w": ["[2]"]}
    assert odd.writes("fake = ") == {"fake": ["[3, 2]"]}
    assert odd.writes("it = x") == {"it": ["[3]"]}


def test_classes_that_functions_make_are_told_too(odd: Seen) -> None:
    (local,) = [one for one in odd.record.classes if one.name == "make.Local"]
    assert [one.parameters for one in local.constructions] == [3]


def test_attention_with_a_mask_costs_what_its_two_products_do(odd: Seen) -> None:
    flops = named(odd)["Masked"].flops
    assert flops is not None
    queries_with_keys = 2 * (5 * 2) * 3 * 3 * 4
    weights_with_values = 2 * (5 * 2) * 3 * 3 * 4
    assert flops.total == queries_with_keys + weights_with_values


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
