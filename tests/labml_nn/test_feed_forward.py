"""The feed-forward network against torch's own layers and the formulas of Shazeer 2020."""

import copy
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from labml_nn.transformers import FeedForward
from site_builder.verified import Verify
from tests.labml_nn.differences import verify_derivatives

D_MODEL, D_FF = 6, 10

DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
TOLERANCE = {torch.float32: 2e-5, torch.float64: 1e-12}


def gated(activation: Callable[[Tensor], Tensor], **settings: bool) -> FeedForward:
    return FeedForward(D_MODEL, D_FF, 0.0, activation, is_gated=True, **settings).double()


def sequence(dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(7, 2, D_MODEL, dtype=dtype, requires_grad=True)


class NoAttention(nn.MultiheadAttention):
    """Attention that finds nothing, so that only the other half of torch's layer is at work."""

    def forward(self, query: Tensor, *_: object, **__: object) -> tuple[Tensor, None]:  # type: ignore[override]
        return torch.zeros_like(query), None


@DTYPES
@pytest.mark.parametrize("activation", [F.relu, F.gelu], ids=["relu", "gelu"])
def test_value_and_gradients_are_those_of_torchs_own_layer(
    dtype: torch.dtype, activation: Callable[[Tensor], Tensor], verified: Verify
) -> None:
    ours = FeedForward(D_MODEL, D_FF, 0.0, activation).to(dtype)
    theirs = nn.TransformerEncoderLayer(
        D_MODEL, 2, D_FF, dropout=0.0, activation=activation, norm_first=True, dtype=dtype
    )
    theirs.self_attn = NoAttention(D_MODEL, 2)
    theirs.norm1, theirs.norm2 = nn.Identity(), nn.Identity()  # type: ignore[assignment]
    theirs.linear1.load_state_dict(ours.layer1.state_dict())
    theirs.linear2.load_state_dict(ours.layer2.state_dict())
    x = sequence(dtype)
    same: dict[str, Any] = {"against": "torch.nn.TransformerEncoderLayer", "of": ours}
    same |= {"rtol": TOLERANCE[dtype], "atol": TOLERANCE[dtype]}

    y, expected = x + ours(x), theirs(x)
    verified(y, expected, **same)
    pairs = (
        torch.autograd.grad(out.square().sum(), [x, *first.parameters(), *second.parameters()])
        for out, first, second in (
            (y, ours.layer1, ours.layer2),
            (expected, theirs.linear1, theirs.linear2),
        )
    )
    verified(*pairs, what="gradients", **same)


def test_glu_is_torchs_own_glu_between_two_maps(verified: Verify) -> None:
    network, x = gated(torch.sigmoid), sequence()
    halves = torch.cat([network.linear_v(x), network.layer1(x)], dim=-1)
    expected = network.layer2(F.glu(halves, dim=-1))
    verified(network(x), expected, against="torch.nn.functional.glu", of=network, rtol=1e-12, atol=1e-12)


def normal_cdf(z: float) -> float:
    return (1 + math.erf(z / math.sqrt(2))) / 2


def sigmoid(z: float) -> float:
    return 1 / (1 + math.exp(-z))


# What a gate lets through, from equations 4 and 5 of Shazeer 2020.
VARIANTS: dict[str, tuple[Callable[[Tensor], Tensor], Callable[[float], float]]] = {
    "GLU": (torch.sigmoid, sigmoid),
    "Bilinear": (nn.Identity(), lambda z: z),
    "ReGLU": (F.relu, lambda z: max(0.0, z)),
    "GEGLU": (F.gelu, lambda z: z * normal_cdf(z)),
    "SwiGLU": (F.silu, lambda z: z * sigmoid(z)),
}


@pytest.mark.parametrize(("activation", "formula"), VARIANTS.values(), ids=VARIANTS.keys())
@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
def test_each_gate_is_that_of_the_published_formula(
    activation: Callable[[Tensor], Tensor], formula: Callable[[float], float], bias: bool, verified: Verify
) -> None:
    network = gated(activation, bias1=bias, bias2=bias, bias_gate=bias)
    x = torch.randn(D_MODEL, dtype=torch.float64)

    def affine(linear: nn.Linear, row: list[float]) -> list[float]:
        biases = linear.bias.tolist() if linear.bias is not None else [0.0] * linear.out_features
        sums = (sum(w * r for w, r in zip(ws, row, strict=True)) for ws in linear.weight.tolist())
        return [s + b for s, b in zip(sums, biases, strict=True)]

    gates = [formula(z) for z in affine(network.layer1, x.tolist())]
    values = affine(network.linear_v, x.tolist())
    expected = affine(network.layer2, [g * v for g, v in zip(gates, values, strict=True)])
    published = "Shazeer 2020, equations 4 and 5, in plain loops"
    verified(network(x).tolist(), expected, against=published, of=network, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("is_gated", [False, True], ids=["plain", "gated"])
def test_first_and_second_derivatives_are_those_of_finite_differences(
    is_gated: bool, verified: Verify
) -> None:
    network = FeedForward(3, 4, 0.0, F.silu, is_gated).double()
    x = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(network, x)
    assert torch.autograd.gradgradcheck(network, x)
    verify_derivatives(verified, network, x, of=network)


def test_positions_do_not_hear_of_each_other() -> None:
    network, x = gated(F.silu), sequence()
    changed = x.detach().clone()
    changed[3] += 1.0
    same = torch.isclose(network(changed), network(x)).all(dim=-1).all(dim=-1)
    assert same.tolist() == [True, True, True, False, True, True, True]


@pytest.mark.parametrize("shape", [(D_MODEL,), (1, D_MODEL), (1, 1, D_MODEL), (4, 3, 2, D_MODEL)])
def test_any_number_of_axes_may_stand_before_the_width(shape: tuple[int, ...]) -> None:
    network, x = gated(F.silu), torch.randn(shape, dtype=torch.float64)
    y = network(x)
    assert y.shape == x.shape
    torch.testing.assert_close(y.reshape(-1, D_MODEL)[-1], network(x.reshape(-1, D_MODEL)[-1]))


def test_dropout_falls_on_the_hidden_units_in_training_only() -> None:
    network, x = FeedForward(D_MODEL, D_FF, dropout=1.0).double(), sequence()
    torch.testing.assert_close(network(x), network.layer2.bias.expand_as(x))
    hidden = F.relu(network.layer1(x))
    torch.testing.assert_close(network.eval()(x), network.layer2(hidden))


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({}, "layer1.weight layer1.bias layer2.weight layer2.bias"),
        ({"bias1": False}, "layer1.weight layer2.weight layer2.bias"),
        ({"bias2": False}, "layer1.weight layer1.bias layer2.weight"),
        (
            {"is_gated": True},
            "layer1.weight layer1.bias layer2.weight layer2.bias linear_v.weight linear_v.bias",
        ),
        (
            {"is_gated": True, "bias_gate": False},
            "layer1.weight layer1.bias layer2.weight layer2.bias linear_v.weight",
        ),
    ],
)
def test_the_state_has_exactly_these_names(settings: dict[str, bool], names: str) -> None:
    state = FeedForward(D_MODEL, D_FF, **settings).state_dict()
    assert set(state) == set(names.split())


def test_an_activation_with_weights_is_trained_with_its_own_layer_only() -> None:
    first, second = (FeedForward(D_MODEL, D_FF, activation=nn.PReLU()) for _ in range(2))
    shared = {id(p) for p in first.parameters()} & {id(p) for p in second.parameters()}
    assert not shared
    assert "activation.weight" in first.state_dict()


def test_the_default_activation_has_nothing_to_share() -> None:
    assert not isinstance(FeedForward(D_MODEL, D_FF).activation, nn.Module)


def test_a_copy_made_after_a_call_computes_the_same() -> None:
    network, x = gated(F.gelu), sequence()
    y = network(x)
    assert torch.equal(copy.deepcopy(network)(x), y)


def test_a_saved_state_gives_the_same_network() -> None:
    network, other, x = gated(F.gelu), gated(F.gelu), sequence()
    assert not torch.equal(network(x), other(x))
    other.load_state_dict(network.state_dict())
    assert torch.equal(network(x), other(x))


@pytest.mark.parametrize("is_gated", [False, True], ids=["plain", "gated"])
def test_compiled_it_computes_the_same(is_gated: bool) -> None:
    network, x = FeedForward(D_MODEL, D_FF, 0.0, F.silu, is_gated), sequence(torch.float32)
    torch.compiler.reset()
    compiled = torch.compile(network, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), network(x))
    slopes = [torch.autograd.grad(f(x).square().sum(), x)[0] for f in (compiled, network)]
    torch.testing.assert_close(*slopes)


def test_under_autocast_it_computes_in_bfloat16_what_it_computes_in_float32() -> None:
    network, x = FeedForward(D_MODEL, D_FF, 0.0, F.silu, is_gated=True), sequence(torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        y = network(x)
    assert y.dtype == torch.bfloat16
    torch.testing.assert_close(y.float(), network(x), rtol=0.05, atol=0.02)


def test_an_input_of_the_wrong_width_is_refused_with_both_numbers() -> None:
    with pytest.raises(ValueError, match=r"\[7, 2, 5\].*d_model = 6"):
        FeedForward(D_MODEL, D_FF)(torch.zeros(7, 2, 5))


@pytest.mark.parametrize(("d_model", "d_ff"), [(0, 10), (6, 0), (6, -1)])
def test_a_width_below_one_is_refused_with_both_numbers(d_model: int, d_ff: int) -> None:
    with pytest.raises(ValueError, match=f"d_model = {d_model} and d_ff = {d_ff}"):
        FeedForward(d_model, d_ff)
