"""AFT against the published formula, aft-pytorch, and what must hold of any causal average."""

import copy
import math
import warnings
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from benchmarks.plain import aft as plain
from labml_nn.transformers.aft import AFTConv, AFTFull, AFTLocal, AFTSimple
from labml_nn.transformers.aft.blocks import average_piece_by_piece, causal_average
from labml_nn.transformers.aft.full import AttentionFree
from labml_nn.transformers.aft.stable import (
    RunningMaximum,
    SharedMaximum,
    average,
    average_by_formula,
    stays_in_range,
)
from labml_nn.transformers.aft.window import AttentionFreeWithWindow
from site_builder.verified import Verify
from tests.labml_nn.differences import verify_derivatives

D_MODEL, BATCH_SIZE, SEQ_LEN = 6, 2, 11

VARIANTS: dict[str, Callable[[int], AttentionFree]] = {
    "full": lambda seq_len: AFTFull(D_MODEL, seq_len),
    "factored": lambda seq_len: AFTFull(D_MODEL, seq_len, rank=4),
    "simple": lambda seq_len: AFTSimple(D_MODEL),
    "local": lambda seq_len: AFTLocal(D_MODEL, seq_len, 3),
    "wide local": lambda seq_len: AFTLocal(D_MODEL, seq_len, seq_len - 1),
    "conv": lambda seq_len: AFTConv(D_MODEL, 3, 4),
}
EACH = pytest.mark.parametrize("kind", VARIANTS)


def layer(kind: str, seq_len: int = SEQ_LEN, dtype: torch.dtype = torch.float64) -> AttentionFree:
    """Biases that begin at zero would hide most mistakes."""
    aft = VARIANTS[kind](seq_len).to(dtype)
    for name, parameter in aft.named_parameters():
        if name in ("pos_bias", "u", "v"):
            nn.init.normal_(parameter)
    return aft


def sequence(seq_len: int = SEQ_LEN, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(seq_len, BATCH_SIZE, D_MODEL, dtype=dtype, requires_grad=True)


def causal(seq_len_q: int, seq_len_k: int) -> Tensor:
    return torch.ones(seq_len_q, seq_len_k, dtype=torch.bool).tril().unsqueeze(-1)


def look_up(aft: AttentionFree, t: int, u: int, feature: int) -> float:
    """The bias w of query t and key u, from the definition of each variant."""
    if isinstance(aft, AFTFull):
        if aft.rank is None:
            return float(aft.pos_bias[t, u])
        return sum(float(a * b) for a, b in zip(aft.u[t], aft.v[u], strict=True))
    if isinstance(aft, AFTSimple) or abs(t - u) >= aft.window:  # type: ignore[operator]
        return 0.0
    if isinstance(aft, AFTConv):
        return float(aft.pos_bias[feature // (D_MODEL // aft.heads), u - t + aft.window - 1])
    assert isinstance(aft, AFTLocal)
    return float(aft.pos_bias[t, u - t + aft.window - 1] if aft.is_band else aft.pos_bias[t, u])


def by_loops(aft: AttentionFree, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
    """Equation 2 of Zhai et al. 2021, one number at a time."""
    q, k, v = aft.query(query).tolist(), aft.key(key).tolist(), aft.value(value).tolist()
    y = torch.zeros_like(query)
    for t in range(len(q)):
        for b in range(len(q[0])):
            seen = range(len(k))
            if mask is not None:
                whole = mask.expand(len(q), len(k), len(q[0]))
                seen = [u for u in seen if whole[t, u, b]]  # type: ignore[assignment]
            for d in range(D_MODEL):
                exponents = [k[u][b][d] + look_up(aft, t, u, d) for u in seen]
                highest = max(exponents, default=0.0)
                weights = [math.exp(e - highest) for e in exponents]
                terms = (w * v[u][b][d] for w, u in zip(weights, seen, strict=True))
                total = sum(terms) / sum(weights) if weights else 0.0
                y[t, b, d] = total / (1 + math.exp(-q[t][b][d]))
    return aft.output(y)


def random_mask(seq_len_q: int, seq_len_k: int, batch_size: int) -> Tensor:
    """Half of it is visible, and one row sees nothing."""
    mask = torch.rand(seq_len_q, seq_len_k, batch_size) > 0.5
    mask[2, :, 0] = False
    return mask


MASKS: dict[str, Callable[[int, int], Tensor | None]] = {
    "no mask": lambda q, k: None,
    "causal": causal,
    "shared": lambda q, k: random_mask(q, k, 1),
    "of each item": lambda q, k: random_mask(q, k, BATCH_SIZE),
    "padding": lambda q, k: torch.arange(k)[None, :, None] >= torch.tensor([0, 3]),
    "padding for all": lambda q, k: torch.arange(k)[None, :, None] >= 3,
}


# --- against the formula ---

FORMULA = "Zhai et al. 2021, equation 2, in plain loops"


def pages(aft: AttentionFree, mask: Tensor | None, is_causal: bool) -> tuple[object, ...]:
    """The layer's own page and those of what it calls: the average of all keys, or that by blocks."""
    if isinstance(aft, AttentionFreeWithWindow) and is_causal and (mask is None or len(mask) == 1):
        return aft, AttentionFree, AttentionFreeWithWindow, causal_average
    return aft, AttentionFree, average


@EACH
@pytest.mark.parametrize("is_causal", [False, True], ids=["", "told that it is causal"])
@pytest.mark.parametrize("mask_name", MASKS)
@pytest.mark.parametrize(("seq_len_q", "seq_len_k"), [(7, 7), (5, 11), (11, 5)])
@torch.no_grad()
def test_value_is_that_of_the_published_formula(
    kind: str, mask_name: str, is_causal: bool, seq_len_q: int, seq_len_k: int, verified: Verify
) -> None:
    aft, mask = layer(kind), MASKS[mask_name](seq_len_q, seq_len_k)
    query, key, value = sequence(seq_len_q), sequence(seq_len_k), sequence(seq_len_k)
    seen = mask
    if is_causal:
        seen = causal(seq_len_q, seq_len_k) if mask is None else mask & causal(seq_len_q, seq_len_k)
    y = aft(query=query, key=key, value=value, mask=mask, is_causal=is_causal)
    expected = by_loops(aft, query, key, value, seen)
    verified(y, expected, against=FORMULA, of=pages(aft, mask, is_causal), rtol=1e-11, atol=1e-11)


def slopes(y: Tensor, aft: nn.Module, *x: Tensor) -> list[Tensor]:
    weight = torch.linspace(-1, 1, y.numel(), dtype=y.dtype).view_as(y)
    return list(torch.autograd.grad((y * weight).sum(), [*x, *aft.parameters()]))


@pytest.mark.parametrize("kind", ["simple", "local", "conv"])
@pytest.mark.parametrize("seq_len", [1, 31, 32, 33, 64, 150])
def test_the_blocks_give_value_and_gradients_of_the_causal_table(kind: str, seq_len: int) -> None:
    aft, x = layer(kind, max(seq_len, 7)), sequence(seq_len)
    told = aft(query=x, key=x, value=x, is_causal=True)
    masked = aft(query=x, key=x, value=x, mask=causal(seq_len, seq_len))
    torch.testing.assert_close(told, masked, rtol=1e-11, atol=1e-11)
    for ours, expected in zip(slopes(told, aft, x), slopes(masked, aft, x), strict=True):
        torch.testing.assert_close(ours, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("window", [32, 33, 34, 60])
def test_the_blocks_are_right_where_the_window_ends_with_them(window: int) -> None:
    key, value = (torch.randn(1, 150, 3, dtype=torch.float64) for _ in range(2))
    band = torch.randn(1, 150, window, dtype=torch.float64)
    expected = average_piece_by_piece(key, value, band)
    torch.testing.assert_close(causal_average(key, value, band), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("form", [SharedMaximum, RunningMaximum, average], ids=lambda form: form.__name__)
@pytest.mark.parametrize("hidden", [False, True], ids=["all visible", "some hidden"])
def test_first_and_second_derivatives_are_those_of_finite_differences(
    form: object, hidden: bool, verified: Verify
) -> None:
    key, value = (torch.randn(2, 4, 3, dtype=torch.float64, requires_grad=True) for _ in range(2))
    bias = torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True)
    mask = random_mask(3, 4, 2).permute(2, 0, 1) if hidden else torch.ones(2, 3, 4, dtype=torch.bool)

    def function(key: Tensor, value: Tensor, bias: Tensor) -> Tensor:
        apply: Callable[..., Tensor] = getattr(form, "apply", form)  # type: ignore[arg-type]
        return apply(key, value, bias.masked_fill(~mask, -torch.inf))

    assert torch.autograd.gradcheck(function, (key, value, bias))
    assert torch.autograd.gradgradcheck(function, (key, value, bias))
    verify_derivatives(verified, function, key, value, bias, of=form)


@pytest.mark.parametrize("jump", [0.0, 1e4], ids=["one maximum", "block by block"])
def test_derivatives_of_the_causal_average_are_those_of_finite_differences(
    jump: float, verified: Verify
) -> None:
    key, value = (torch.randn(1, 66, 1, dtype=torch.float64) for _ in range(2))
    key[:, 65] += jump
    band = torch.randn(1, 66, 2, dtype=torch.float64)
    inputs = tuple(t.requires_grad_() for t in (key, value, band))
    assert torch.autograd.gradcheck(causal_average, inputs, fast_mode=True)
    assert torch.autograd.gradgradcheck(causal_average, inputs, fast_mode=True)
    verify_derivatives(verified, causal_average, *inputs, of=causal_average)


# --- against aft-pytorch ---


@pytest.mark.parametrize("kind", ["full", "simple", "local"])
def test_value_is_that_of_aft_pytorch(kind: str, verified: Verify) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = pytest.importorskip("aft_pytorch")
    window = {"s": 3} if kind == "local" else {}
    other = getattr(theirs, f"AFT{kind.capitalize()}")(SEQ_LEN, D_MODEL, D_MODEL, **window)
    aft = layer(kind, dtype=torch.float32)
    for ours, name in (("query", "to_q"), ("key", "to_k"), ("value", "to_v"), ("output", "project")):
        getattr(other, name).load_state_dict(getattr(aft, ours).state_dict())
    if kind != "simple":
        other.wbias.data = aft.get_bias(SEQ_LEN, SEQ_LEN)[0].detach().clone()
    x = sequence(dtype=torch.float32).detach()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = other(x.transpose(0, 1)).transpose(0, 1)
    y = aft(query=x, key=x, value=x)
    verified(y, expected, against=f"aft_pytorch.AFT{kind.capitalize()}", of=aft, rtol=1e-5, atol=1e-5)


def test_the_plain_definition_of_the_benchmark_computes_the_same() -> None:
    aft = layer("local")
    assert isinstance(aft, AFTLocal)
    x, mask = sequence(), causal(SEQ_LEN, SEQ_LEN)
    expected = plain.local_from(aft)(query=x, key=x, value=x, mask=mask)
    torch.testing.assert_close(aft(query=x, key=x, value=x, is_causal=True), expected)


# --- numbers far apart ---


@EACH
@pytest.mark.parametrize("huge", [200.0, 1e4])
@pytest.mark.parametrize("seq_len", [11, 75])
def test_a_huge_last_key_is_not_noticed_by_earlier_rows(kind: str, huge: float, seq_len: int) -> None:
    aft = layer(kind, seq_len, torch.float32)
    key, value = (torch.randn(seq_len, BATCH_SIZE, D_MODEL) for _ in range(2))
    changed = key.clone()
    changed[-1] = huge

    def average_of(key: Tensor) -> tuple[Tensor, Tensor]:
        key.requires_grad_()
        y = aft.get_average(key, value, seq_len, None, is_causal=True)[:-1]
        return y, torch.autograd.grad(y.square().sum(), key)[0]

    (before, slope_before), (after, slope_after) = average_of(key), average_of(changed)
    torch.testing.assert_close(after, before, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(slope_after, slope_before, rtol=1e-4, atol=1e-5)
    assert not slope_after[-1].any()


@EACH
@pytest.mark.parametrize("huge", [200.0, 1e4])
def test_a_huge_last_key_leaves_every_gradient_finite(kind: str, huge: float) -> None:
    aft, x = layer(kind, dtype=torch.float32), sequence(dtype=torch.float32)
    key = torch.cat([x[:-1], x[-1:] * huge])
    y = aft(query=x, key=key, value=x, is_causal=True)
    for slope in slopes(y, aft, x):
        assert slope.isfinite().all()


@EACH
@torch.no_grad()
def test_in_float32_a_huge_last_key_gives_what_loops_in_float64_give(kind: str, verified: Verify) -> None:
    aft = layer(kind)
    nn.init.eye_(aft.key.weight)
    x, key = sequence(), sequence()
    key[-1] = 200.0
    expected = by_loops(aft, x, key, x, causal(SEQ_LEN, SEQ_LEN))
    y = aft.float()(query=x.float(), key=key.float(), value=x.float(), is_causal=True)
    verified(y, expected.float(), against=FORMULA, of=pages(aft, None, True), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("peak", [30.0, 80.0, 300.0])
def test_peaks_of_keys_and_of_biases_may_lie_far_apart(peak: float) -> None:
    key, value = torch.randn(1, 9, 5), torch.randn(1, 9, 5)
    bias = torch.randn(1, 7, 9)
    key[:, 2] += peak
    bias[:, :, 6] += peak
    exact = average_by_formula(key.double(), value.double(), bias.double())
    torch.testing.assert_close(average(key, value, bias).double(), exact, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("rise", [0.0, 40.0, 55.0, 61.0, 63.0, 80.0, 100.0, 1000.0])
def test_whatever_the_rise_value_and_gradient_are_those_of_float64(rise: float) -> None:
    key, value = torch.randn(1, 100, 2), torch.randn(1, 100, 2)
    key[:, 80:] += rise
    band = torch.randn(1, 100, 3)

    def both(dtype: torch.dtype) -> list[Tensor]:
        inputs = [t.to(dtype).requires_grad_() for t in (key, value, band)]
        form = causal_average if dtype == torch.float32 else average_piece_by_piece
        x = form(*inputs)
        return [x.double(), *(g.double() for g in torch.autograd.grad(x.square().sum(), inputs))]

    for ours, expected in zip(both(torch.float32), both(torch.float64), strict=True):
        torch.testing.assert_close(ours, expected, rtol=2e-4, atol=2e-4)


def test_keys_that_are_high_altogether_do_not_call_for_the_scan() -> None:
    key, bias = torch.randn(1, 7, 5) + 1e3, torch.randn(1, 7, 7)
    hidden = torch.ones(1, 7, 7).triu(1).bool()
    assert stays_in_range(key, bias.masked_fill(hidden, -torch.inf))
    key[:, -1] += 1e3
    assert not stays_in_range(key, bias.masked_fill(hidden, -torch.inf))


@EACH
@pytest.mark.parametrize("is_causal", [False, True])
def test_a_row_that_sees_nothing_gives_zeros_and_harms_no_gradient(kind: str, is_causal: bool) -> None:
    aft, x = layer(kind), sequence()
    for mask in (random_mask(SEQ_LEN, SEQ_LEN, BATCH_SIZE), torch.zeros(1, SEQ_LEN, 1, dtype=torch.bool)):
        y = aft(query=x, key=x, value=x, mask=mask, is_causal=is_causal)
        torch.testing.assert_close(y[2, 0], aft.output.bias)
        assert all(slope.isfinite().all() for slope in slopes(y, aft, x))


def test_padding_in_front_of_a_causal_sequence_is_as_good_as_none() -> None:
    aft, x = layer("conv"), sequence(70)
    mask = torch.arange(70)[None, :, None] >= 5
    y = aft(query=x, key=x, value=x, mask=mask, is_causal=True)
    shorter = x[5:]
    expected = aft(query=shorter, key=shorter, value=shorter, is_causal=True)
    torch.testing.assert_close(y[5:], expected)
    assert all(slope.isfinite().all() for slope in slopes(y, aft, x))


# --- step by step ---


@EACH
@pytest.mark.parametrize("pieces", [(11,), (1,) * 11, (4, 1, 6)], ids=str)
def test_a_sequence_in_pieces_is_the_sequence_as_a_whole(kind: str, pieces: tuple[int, ...]) -> None:
    aft, x, state = layer(kind), sequence(), None
    whole = aft(query=x, key=x, value=x, is_causal=True)
    parts = []
    for piece in x.split(list(pieces)):
        y, state = aft.step(piece, state)  # type: ignore[operator]
        parts.append(y)
    joined = torch.cat(parts)
    torch.testing.assert_close(joined, whole, rtol=1e-11, atol=1e-11)
    for ours, expected in zip(slopes(joined, aft, x), slopes(whole, aft, x), strict=True):
        torch.testing.assert_close(ours, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("kind", ["simple", "local", "conv"])
@torch.no_grad()
def test_long_pieces_go_block_by_block(kind: str) -> None:
    aft, x = layer(kind, 150), sequence(150)
    whole = aft(query=x, key=x, value=x, is_causal=True)
    first, state = aft.step(x[:70])  # type: ignore[operator]
    size = [t.shape for t in state]
    second, state = aft.step(x[70:], state)  # type: ignore[operator]
    torch.testing.assert_close(torch.cat([first, second]), whole, rtol=1e-11, atol=1e-11)
    assert [t.shape for t in state] == size


@EACH
@torch.no_grad()
def test_a_state_can_be_continued_twice(kind: str) -> None:
    aft, x = layer(kind), sequence()
    _, state = aft.step(x[:4])  # type: ignore[operator]
    first, _ = aft.step(x[4:], state)  # type: ignore[operator]
    second, _ = aft.step(x[4:], state)  # type: ignore[operator]
    assert torch.equal(first, second)


# --- a module like any other ---

PROJECTIONS = {f"{m}.{p}" for m in ("query", "key", "value", "output") for p in ("weight", "bias")}


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("full", {"pos_bias": (11, 11)}),
        ("factored", {"u": (11, 4), "v": (11, 4)}),
        ("simple", {}),
        ("local", {"pos_bias": (11, 5)}),
        ("wide local", {"pos_bias": (11, 11)}),
        ("conv", {"pos_bias": (3, 7)}),
    ],
)
def test_the_state_has_exactly_these_names(kind: str, more: dict[str, tuple[int, ...]]) -> None:
    state = layer(kind).state_dict()
    assert set(state) == PROJECTIONS | set(more)
    assert {name: tuple(state[name].shape) for name in more} == more


def test_without_bias_only_the_output_has_one() -> None:
    state = AFTLocal(D_MODEL, SEQ_LEN, 3, bias=False).state_dict()
    assert {name for name in state if name.endswith(".bias")} == {"output.bias"}


@pytest.mark.parametrize("has_mask", [False, True], ids=["table only", "with its mask"])
@pytest.mark.parametrize("window", [3, 6, 20])
def test_a_checkpoint_with_the_whole_table_computes_the_same(window: int, has_mask: bool) -> None:
    aft, x = AFTLocal(D_MODEL, SEQ_LEN, window).double(), sequence()
    model = nn.Sequential(aft)
    old = dict(model.state_dict())
    table = old["0.pos_bias"] = torch.randn(SEQ_LEN, SEQ_LEN, dtype=torch.float64)
    inside = AFTLocal.create_local_mask(SEQ_LEN, window)
    if has_mask:
        old["0.local_mask"] = inside
    before = dict(old)
    model.load_state_dict(old, strict=True)
    assert old.keys() == before.keys()

    full = AFTFull(D_MODEL, SEQ_LEN).double()
    state = {name.removeprefix("0."): t for name, t in before.items() if name != "0.local_mask"}
    full.load_state_dict({**state, "pos_bias": table * inside})
    expected = full(query=x, key=x, value=x)
    torch.testing.assert_close(aft(query=x, key=x, value=x), expected)
    told = aft(query=x, key=x, value=x, is_causal=True)
    torch.testing.assert_close(told, full(query=x, key=x, value=x, is_causal=True))


def test_the_window_is_less_than_its_size_away() -> None:
    inside = AFTLocal.create_local_mask(SEQ_LEN, 4)
    expected = [[abs(t - u) < 4 for u in range(SEQ_LEN)] for t in range(SEQ_LEN)]
    assert inside.tolist() == expected


@EACH
def test_every_parameter_gets_a_gradient(kind: str) -> None:
    # A bias on the keys is a factor above and below the bar, and is left at about zero.
    aft, x = layer(kind), sequence()
    aft(query=x, key=x, value=x).square().sum().backward()
    for name, parameter in aft.named_parameters():
        assert parameter.grad is not None, name
        assert name == "key.bias" or parameter.grad.any(), name


@EACH
def test_a_copy_made_after_a_call_and_a_loaded_state_compute_the_same(kind: str) -> None:
    aft, other, x = layer(kind), layer(kind), sequence()
    y = aft(query=x, key=x, value=x, is_causal=True)
    assert torch.equal(copy.deepcopy(aft)(query=x, key=x, value=x, is_causal=True), y)
    other.load_state_dict(aft.state_dict())
    assert torch.equal(other(query=x, key=x, value=x, is_causal=True), y)


@EACH
@pytest.mark.parametrize("is_causal", [False, True])
def test_under_autocast_the_average_is_taken_in_float32(kind: str, is_causal: bool) -> None:
    aft, x = layer(kind, dtype=torch.float32), sequence(dtype=torch.float32)
    exact = aft(query=x, key=x, value=x, is_causal=is_causal)
    with torch.autocast("cpu", torch.bfloat16):
        y = aft(query=x, key=x, value=x, is_causal=is_causal)
        stepped, _ = aft.step(x)  # type: ignore[operator]
    assert y.dtype == torch.bfloat16
    torch.testing.assert_close(y.float(), exact, rtol=0.1, atol=0.05)
    if is_causal:
        torch.testing.assert_close(stepped, y, rtol=0.05, atol=0.02)
    assert all(slope.isfinite().all() for slope in slopes(y.float(), aft, x))


@EACH
@pytest.mark.parametrize("is_causal", [False, True])
def test_a_module_in_bfloat16_stays_in_bfloat16(kind: str, is_causal: bool) -> None:
    aft, x = layer(kind, dtype=torch.bfloat16), sequence(dtype=torch.bfloat16)
    y = aft(query=x, key=x, value=x, is_causal=is_causal)
    assert y.dtype == torch.bfloat16
    assert all(slope.isfinite().all() for slope in slopes(y, aft, x))


# Torch looks at `.grad` of whatever goes into a graph, here a second graph behind the average.
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf:UserWarning")
@pytest.mark.parametrize("kind", ["full", "simple", "local", "conv"])
def test_compiled_it_computes_the_same(kind: str) -> None:
    aft, x = layer(kind), sequence()
    torch.compiler.reset()
    compiled = torch.compile(aft, backend="aot_eager")
    y, expected = (f(query=x, key=x, value=x, is_causal=True) for f in (compiled, aft))
    torch.testing.assert_close(y, expected)
    for ours, other in zip(slopes(y, aft, x), slopes(expected, aft, x), strict=True):
        torch.testing.assert_close(ours, other)


@EACH
@pytest.mark.parametrize("is_causal", [False, True])
def test_a_batch_and_a_length_of_one_will_do(kind: str, is_causal: bool) -> None:
    aft, x = layer(kind), torch.randn(1, 1, D_MODEL, dtype=torch.float64)
    expected = aft.output(torch.sigmoid(aft.query(x)) * aft.value(x))
    torch.testing.assert_close(aft(query=x, key=x, value=x, is_causal=is_causal), expected)


@pytest.mark.parametrize("kind", ["simple", "local", "conv"])
def test_causal_memory_grows_with_the_length_only(kind: str) -> None:
    """All that is kept for the way back, in numbers for each position."""

    def kept(seq_len: int) -> int:
        sizes: dict[int, int] = {}

        def note(t: Tensor) -> Tensor:
            sizes[t.untyped_storage().data_ptr()] = t.untyped_storage().nbytes()
            return t

        aft, x = layer(kind, seq_len, torch.float32), sequence(seq_len, torch.float32)
        parameters = sum(p.nbytes for p in aft.parameters())
        with torch.autograd.graph.saved_tensors_hooks(note, lambda t: t):
            aft(query=x, key=x, value=x, is_causal=True)
        return sum(sizes.values()) - parameters

    assert kept(1024) < 2.2 * kept(512)


# --- input that does not fit ---


@pytest.mark.parametrize("kind", ["full", "factored", "local", "wide local"])
@pytest.mark.parametrize("is_causal", [False, True])
def test_a_sequence_longer_than_what_was_learned_is_refused(kind: str, is_causal: bool) -> None:
    aft, x = layer(kind), sequence(12)
    with pytest.raises(ValueError, match=r"12 positions.*seq_len = 11"):
        aft(query=x, key=x, value=x, is_causal=is_causal)
    _, state = aft.step(x[:11])  # type: ignore[operator]
    with pytest.raises(ValueError, match=r"12 positions.*seq_len = 11"):
        aft.step(x[11:], state)  # type: ignore[operator]


@EACH
def test_masks_that_do_not_fit_are_refused(kind: str) -> None:
    aft, x = layer(kind), sequence()
    for shape in ((11, 11), (11, 10, 1), (10, 11, 1), (11, 1, 1), (11, 11, 3)):
        with pytest.raises(ValueError, match=r"must have \[11 or 1, 11, 2 or 1\]"):
            aft(query=x, key=x, value=x, mask=torch.ones(shape, dtype=torch.bool))
    with pytest.raises(ValueError, match=r"float32.*bool"):
        aft(query=x, key=x, value=x, mask=torch.zeros(11, 11, 1))


def test_a_state_of_another_batch_is_refused() -> None:
    for kind in VARIANTS:
        aft, x = layer(kind), sequence()
        _, state = aft.step(x[:4])  # type: ignore[operator]
        with pytest.raises(ValueError, match=r"batch of 1.*batch of 2"):
            aft.step(x[4:, :1], state)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AFTFull(0, 11), "d_model = 0"),
        (lambda: AFTFull(6, 0), "seq_len = 0"),
        (lambda: AFTFull(6, 11, rank=0), "rank = 0"),
        (lambda: AFTLocal(6, 11, 0), "local_window_size = 0"),
        (lambda: AFTConv(6, 4, 3), "d_model = 6.*heads = 4"),
        (lambda: AFTConv(6, 3, 0), "local_window_size = 0 must"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_sizes_that_cannot_be_are_refused(make: Callable[[], nn.Module], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@EACH
def test_an_empty_piece_is_read_without_a_trace(kind: str) -> None:
    aft, x = layer(kind), sequence()
    whole = aft(query=x, key=x, value=x, is_causal=True)
    nothing, state = aft.step(x[:0])  # type: ignore[operator]
    first, state = aft.step(x[:4], state)  # type: ignore[operator]
    still_nothing, state = aft.step(x[:0], state)  # type: ignore[operator]
    second, _ = aft.step(x[4:], state)  # type: ignore[operator]
    assert nothing.shape == still_nothing.shape == x[:0].shape
    torch.testing.assert_close(torch.cat([first, second]), whole)


@EACH
@pytest.mark.parametrize("is_causal", [False, True])
def test_without_keys_all_leave_as_the_bias_and_without_queries_nobody_does(
    kind: str, is_causal: bool
) -> None:
    aft, x = layer(kind), sequence()
    y = aft(query=x, key=x[:0], value=x[:0], is_causal=is_causal)
    torch.testing.assert_close(y, aft.output.bias.expand_as(x))
    assert aft(query=x[:0], key=x, value=x, is_causal=is_causal).shape == x[:0].shape


@EACH
@pytest.mark.parametrize("masks", [None, 0, 1])
@pytest.mark.parametrize("is_causal", [False, True])
def test_of_an_empty_batch_there_is_nothing_to_say_and_nothing_to_learn(
    kind: str, is_causal: bool, masks: int | None
) -> None:
    aft, x = layer(kind), sequence()[:, :0]
    mask = None if masks is None else torch.ones(len(x), len(x), masks, dtype=torch.bool)
    y = aft(query=x, key=x, value=x, mask=mask, is_causal=is_causal)
    assert y.shape == x.shape
    assert all(slope.eq(0).all() for slope in slopes(y, aft))
    first, state = aft.step(x[:4])  # type: ignore[operator]
    second, _ = aft.step(x[4:], state)  # type: ignore[operator]
    assert torch.cat([first, second]).shape == x.shape


@EACH
@pytest.mark.parametrize("is_causal", [False, True])
def test_gradients_asked_for_under_autocast_are_those_asked_for_outside(kind: str, is_causal: bool) -> None:
    aft, x = layer(kind, dtype=torch.float32), sequence(dtype=torch.float32)
    key, value = aft.key(x).detach().requires_grad_(), aft.value(x).detach().requires_grad_()

    def average_slopes(inside: bool) -> tuple[Tensor, ...]:
        y = aft.get_average(key, value, len(x), None, is_causal).square().sum()
        with torch.autocast("cpu", torch.bfloat16, enabled=inside):
            return torch.autograd.grad(y, [key, value])

    for inside, outside in zip(average_slopes(True), average_slopes(False), strict=True):
        assert torch.equal(inside, outside)


def test_a_window_wider_than_the_sequence_costs_no_more_than_the_sequence() -> None:
    sizes: list[int] = []

    def note(t: Tensor) -> Tensor:
        sizes.append(t.untyped_storage().nbytes())
        return t

    aft, x = AFTConv(D_MODEL, 3, 1000).double(), sequence()
    nn.init.normal_(aft.pos_bias)
    with torch.autograd.graph.saved_tensors_hooks(note, lambda t: t):
        y = aft(query=x, key=x, value=x, is_causal=True)
    assert max(sizes) < 200_000
    mask = causal(len(x), len(x))
    torch.testing.assert_close(y, aft(query=x, key=x, value=x, mask=mask))


@pytest.mark.parametrize("kind", ["simple", "local", "conv"])
def test_a_window_holds_on_to_nothing_but_what_it_keeps(kind: str) -> None:
    aft, x = layer(kind), sequence()
    _, state = aft.step(x)  # type: ignore[operator]
    assert all(t.untyped_storage().nbytes() == t.nbytes for t in state)


def test_a_state_of_another_layer_is_refused_with_both_numbers() -> None:
    x = torch.randn(7, 2, 6)
    for aft, other in (
        (AFTFull(6, 11), AFTFull(9, 11)),
        (AFTLocal(6, 11, 3), AFTLocal(9, 11, 3)),
    ):
        _, state = other.step(torch.randn(7, 2, 9))
        with pytest.raises(ValueError, match=r"d_model = 6.*\[9\]"):
            aft.step(x, state)  # type: ignore[arg-type]
    _, state = AFTLocal(6, 11, 5).step(x)
    with pytest.raises(ValueError, match=r"4 positions in its window.*window of 3 keeps 2"):
        AFTLocal(6, 20, 3).step(x, state)
