"""Attention against torch's own layer, the published formula, and what must hold of any attention."""

import copy
import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from labml_nn.transformers.fused_attention import fused_attention
from labml_nn.transformers.mha import (
    MultiHeadAttention,
    PrepareForMultiHeadAttention,
    attention_by_loops,
    masked_softmax,
)
from site_builder.verified import Verify
from tests.labml_nn.differences import verify_derivatives

HEADS, D_MODEL, D_K = 3, 15, 5
SEQ_LEN_Q, SEQ_LEN_K, BATCH_SIZE = 7, 11, 2

FORMS = pytest.mark.parametrize("readable", [False, True], ids=["fused", "readable"])
DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
TOLERANCE = {torch.float32: 2e-5, torch.float64: 1e-12}
# The page of the one form is also that of the kernel which the other form calls.
PAGES = {True: MultiHeadAttention, False: (MultiHeadAttention, fused_attention)}
TORCHS_OWN = "torch.nn.MultiheadAttention"
KERNEL = "torch.nn.functional.scaled_dot_product_attention"


def layer(readable: bool, dtype: torch.dtype = torch.float64, **settings: float) -> MultiHeadAttention:
    attention = MultiHeadAttention(HEADS, D_MODEL, **{"dropout_prob": 0.0, **settings}).to(dtype)
    attention.keep_attn = readable
    return attention


def inputs(dtype: torch.dtype = torch.float64, seq_len_k: int = SEQ_LEN_K) -> dict[str, Tensor]:
    return {
        name: torch.randn(length, BATCH_SIZE, D_MODEL, dtype=dtype, requires_grad=True)
        for name, length in (("query", SEQ_LEN_Q), ("key", seq_len_k), ("value", seq_len_k))
    }


def causal(length: int) -> Tensor:
    return torch.ones(length, length, dtype=torch.bool).tril().unsqueeze(-1)


def with_a_blind_row() -> Tensor:
    """Half of the entries are visible, and in both items of the batch some query sees nothing."""
    mask = torch.rand(SEQ_LEN_Q, SEQ_LEN_K, BATCH_SIZE) > 0.5
    mask[:, 0] = True
    mask[2, :, 0] = mask[5, :, 1] = False
    return mask


def gradients(y: Tensor, attention: nn.Module, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The gradients of a sum with uneven terms, since that of a plain sum can hide a mistake."""
    wanted = {**tensors, **dict(attention.named_parameters())}
    weight = torch.linspace(-1, 1, y.numel(), dtype=y.dtype).view_as(y)
    return dict(zip(wanted, torch.autograd.grad((y * weight).sum(), list(wanted.values())), strict=True))


# --- against what nobody here wrote ---


def torchs_own(attention: MultiHeadAttention) -> nn.MultiheadAttention:
    """Torch's layer, with a copy of our weights."""
    other = nn.MultiheadAttention(D_MODEL, HEADS).to(attention.output.weight.dtype)
    maps = [attention.query.linear, attention.key.linear, attention.value.linear]
    with torch.no_grad():
        other.in_proj_weight.copy_(torch.cat([m.weight for m in maps]))
        other.in_proj_bias.copy_(
            torch.cat([m.bias if m.bias is not None else torch.zeros(D_MODEL) for m in maps])
        )
        other.out_proj.load_state_dict(attention.output.state_dict())
    return other


MASKS = {
    "no mask": None,
    "padding": torch.arange(SEQ_LEN_K)[None, :, None] < torch.tensor([SEQ_LEN_K, 6]),
    "causal, then all": torch.ones(SEQ_LEN_Q, SEQ_LEN_K, dtype=torch.bool).tril(2).unsqueeze(-1),
    "of each item": torch.stack(
        [torch.ones(SEQ_LEN_Q, SEQ_LEN_K, dtype=torch.bool).tril(n) for n in (1, 3)], dim=-1
    ),
}


@FORMS
@DTYPES
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
def test_value_and_gradients_are_those_of_torchs_own_layer(
    readable: bool, dtype: torch.dtype, mask: Tensor | None, verified: Verify
) -> None:
    attention, x = layer(readable, dtype), inputs(dtype)
    other = torchs_own(attention)
    # Torch wants one mask for each item and head, true where a key is hidden.
    hidden = None
    if mask is not None:
        hidden = ~mask.expand(SEQ_LEN_Q, SEQ_LEN_K, BATCH_SIZE).permute(2, 0, 1)
        hidden = hidden.repeat_interleave(HEADS, dim=0)

    ours = attention(**x, mask=mask)
    theirs, _ = other(**x, attn_mask=hidden, need_weights=False)

    same: dict[str, Any] = {"against": TORCHS_OWN, "of": PAGES[readable]}
    same |= {"rtol": TOLERANCE[dtype], "atol": TOLERANCE[dtype]}
    verified(ours, theirs, **same)
    our_slopes, their_slopes = gradients(ours, attention, x), gradients(theirs, other, x)
    maps = ("query", "key", "value")
    for kind in ("weight", "bias"):
        our_slopes[f"in_proj_{kind}"] = torch.cat([our_slopes[f"{m}.linear.{kind}"] for m in maps])
        our_slopes[f"out_proj.{kind}"] = our_slopes[f"output.{kind}"]
    verified({name: our_slopes[name] for name in their_slopes}, their_slopes, what="gradients", **same)


def test_without_bias_it_is_torchs_own_layer_without_those_biases(verified: Verify) -> None:
    attention, x = layer(readable=False, bias=False), inputs()
    theirs, _ = torchs_own(attention)(**x)
    verified(attention(**x), theirs, against=TORCHS_OWN, of=PAGES[False], rtol=1e-12, atol=1e-12)


def test_kept_weights_are_those_of_torchs_own_layer(verified: Verify) -> None:
    attention, x = layer(readable=True), inputs()
    attention(**x)
    _, theirs = torchs_own(attention)(**x, average_attn_weights=False)
    assert attention.attn is not None
    expected = theirs.permute(2, 3, 0, 1)
    verified(
        attention.attn, expected, against=TORCHS_OWN, of=attention, what="weights", rtol=1e-12, atol=1e-12
    )


@FORMS
def test_value_is_that_of_the_published_formula(readable: bool, verified: Verify) -> None:
    """Section 3.2 of Vaswani et al. 2017, one number at a time."""
    attention, mask = layer(readable), with_a_blind_row()
    x = {name: t.detach() for name, t in inputs().items()}
    projected = {}
    for name in ("query", "key", "value"):
        linear = getattr(attention, name).linear
        projected[name] = x[name] @ linear.weight.T + linear.bias

    heads = torch.zeros(SEQ_LEN_Q, BATCH_SIZE, D_MODEL, dtype=torch.float64)
    for b in range(BATCH_SIZE):
        for start in range(0, D_MODEL, D_K):
            q, k, v = (projected[n][:, b, start : start + D_K].tolist() for n in ("query", "key", "value"))
            for i in range(SEQ_LEN_Q):
                seen = [j for j in range(SEQ_LEN_K) if mask[i, j, b]]
                powers = [
                    math.exp(sum(a * b for a, b in zip(q[i], k[j], strict=True)) / D_K**0.5) for j in seen
                ]
                for j, power in zip(seen, powers, strict=True):
                    for d in range(D_K):
                        heads[i, b, start + d] += power / sum(powers) * v[j][d]
    expected = heads @ attention.output.weight.T + attention.output.bias

    formula = "Vaswani et al. 2017, section 3.2, in plain loops"
    y = attention(**x, mask=mask)
    verified(y, expected, against=formula, of=PAGES[readable], rtol=1e-12, atol=1e-12)


def test_the_loops_give_what_torchs_fused_function_gives(verified: Verify) -> None:
    query, key = torch.randn(SEQ_LEN_Q, D_K).double(), torch.randn(SEQ_LEN_K, D_K).double()
    value = torch.randn(SEQ_LEN_K, 4).double()
    mask = MASKS["causal, then all"]
    assert mask is not None
    for visible in (None, mask[..., 0]):
        theirs = F.scaled_dot_product_attention(query[None], key[None], value[None], visible)[0]
        ours = attention_by_loops(query, key, value, visible)
        verified(ours, theirs, against=KERNEL, of=attention_by_loops, rtol=1e-12, atol=1e-12)


def test_the_loops_give_zeros_to_a_query_that_sees_nothing() -> None:
    x = torch.randn(SEQ_LEN_Q, D_K)
    mask = torch.ones(SEQ_LEN_Q, SEQ_LEN_Q, dtype=torch.bool)
    mask[3] = False
    assert attention_by_loops(x, x, x, mask)[3].tolist() == [0.0] * D_K


# --- the two forms are one ---


@settings(max_examples=40, deadline=None)
@given(
    seq_len_q=st.integers(1, 6),
    seq_len_k=st.integers(1, 6),
    batch_size=st.integers(1, 3),
    heads=st.integers(1, 3),
    share_queries=st.booleans(),
    share_batch=st.booleans(),
    seed=st.integers(0, 2**16),
)
def test_both_forms_are_equal_in_value_and_gradient(
    seq_len_q: int,
    seq_len_k: int,
    batch_size: int,
    heads: int,
    share_queries: bool,
    share_batch: bool,
    seed: int,
) -> None:
    torch.manual_seed(seed)
    attention = MultiHeadAttention(heads, 4 * heads, dropout_prob=0.0).double()
    x = {
        name: torch.randn(length, batch_size, 4 * heads, dtype=torch.float64, requires_grad=True)
        for name, length in (("query", seq_len_q), ("key", seq_len_k), ("value", seq_len_k))
    }
    # So many entries are hidden that now and then a whole row is.
    mask = torch.rand(1 if share_queries else seq_len_q, seq_len_k, 1 if share_batch else batch_size) > 0.6
    fused = attention(**x, mask=mask)
    attention.keep_attn = True
    readable = attention(**x, mask=mask)

    torch.testing.assert_close(fused, readable, rtol=1e-12, atol=1e-12)
    fused_slopes, slopes = gradients(fused, attention, x), gradients(readable, attention, x)
    for name, slope in slopes.items():
        torch.testing.assert_close(fused_slopes[name], slope, rtol=1e-11, atol=1e-11, msg=name)


@FORMS
def test_first_and_second_derivatives_are_those_of_finite_differences(
    readable: bool, verified: Verify
) -> None:
    attention = MultiHeadAttention(heads=2, d_model=4, dropout_prob=0.0).double()
    attention.keep_attn = readable
    mask = torch.tensor([[1, 1, 0], [0, 0, 0]], dtype=torch.bool).unsqueeze(-1)
    x = [torch.randn(length, 2, 4, dtype=torch.float64, requires_grad=True) for length in (2, 3, 3)]

    def call(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        return attention(query=query, key=key, value=value, mask=mask)

    assert torch.autograd.gradcheck(call, x)
    assert torch.autograd.gradgradcheck(call, x)
    verify_derivatives(verified, call, *x, of=PAGES[readable])


def test_third_derivatives_of_the_fused_form_are_those_of_the_readable_form() -> None:
    def third(readable: bool) -> Tensor:
        attention.keep_attn = readable
        slope = attention(query=x, key=x, value=x).pow(2).sum()
        for _ in range(3):
            (slope,) = torch.autograd.grad(slope.pow(2).sum(), x, create_graph=True)
        return slope

    attention = layer(readable=False)
    x = 0.1 * torch.randn(4, 1, D_MODEL, dtype=torch.float64)
    x.requires_grad_()
    torch.testing.assert_close(third(False), third(True))


def test_a_gradient_penalty_reaches_the_parameters_when_some_are_frozen() -> None:
    attention, x = layer(readable=False), inputs()
    attention.query.requires_grad_(False)
    (slope,) = torch.autograd.grad(attention(**x).sum(), x["value"], create_graph=True)
    slope.square().sum().backward()
    for name, parameter in attention.named_parameters():
        if name.startswith(("key.linear.weight", "value.linear.weight", "output.weight")):
            assert parameter.grad is not None, name
            assert parameter.grad.count_nonzero() > 0, name


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_one_derivative_is_left_to_the_kernel(compiled: bool) -> None:
    attention, x = layer(readable=False), inputs()
    torch.compiler.reset()
    call = torch.compile(attention, backend="aot_eager") if compiled else attention
    y = call(**x)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as run:
        y.sum().backward()
    used = " ".join(event.key for event in run.key_averages())
    assert "flash_attention_for_cpu_backward" in used
    assert "softmax" not in used


def test_the_fused_form_keeps_no_table_of_weights_for_the_way_back() -> None:
    length = 64
    x = torch.randn(length, 1, D_MODEL)

    def largest_kept(readable: bool) -> int:
        sizes = []
        attention = layer(readable, torch.float32)
        with torch.autograd.graph.saved_tensors_hooks(lambda t: sizes.append(t.numel()), lambda _: None):
            attention(query=x, key=x, value=x)
        return max(sizes)

    assert largest_kept(readable=True) == HEADS * length * length
    assert largest_kept(readable=False) == length * D_MODEL


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_the_transforms_of_torch_func_see_the_same_jacobian_as_autograd() -> None:
    attention = layer(readable=False)

    def call(x: Tensor) -> Tensor:
        return attention(query=x, key=x, value=x).sum(dim=0)

    x = torch.randn(3, 1, D_MODEL, dtype=torch.float64)
    expected = torch.autograd.functional.jacobian(call, x)
    torch.testing.assert_close(torch.func.jacrev(call)(x), expected)


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_gradients_for_each_sample_at_once_are_those_taken_one_by_one() -> None:
    attention = layer(readable=False)
    parameters = {name: p.detach() for name, p in attention.named_parameters()}

    def loss(parameters: dict[str, Tensor], x: Tensor) -> Tensor:
        call = {"query": x, "key": x, "value": x}
        return torch.func.functional_call(attention, parameters, kwargs=call).square().sum()

    samples = torch.randn(4, 3, 1, D_MODEL, dtype=torch.float64)
    slopes = torch.func.grad(loss)
    together = torch.func.vmap(slopes, in_dims=(None, 0))(parameters, samples)
    for name, slope in slopes(parameters, samples[2]).items():
        torch.testing.assert_close(together[name][2], slope, msg=name)


# --- who sees whom ---


@FORMS
@pytest.mark.parametrize("size", [1e4, 1e18])
def test_a_huge_last_key_leaves_the_earlier_rows_as_they_were(readable: bool, size: float) -> None:
    attention = layer(readable, torch.float32)
    x = torch.randn(SEQ_LEN_Q, BATCH_SIZE, D_MODEL)
    huge = x.clone()
    huge[-1] = size
    before = attention(query=x, key=x, value=x, mask=causal(SEQ_LEN_Q))
    after = attention(query=x, key=huge, value=huge, mask=causal(SEQ_LEN_Q))
    torch.testing.assert_close(after[:-1], before[:-1])


@FORMS
def test_no_gradient_flows_back_to_what_is_hidden(readable: bool) -> None:
    attention = layer(readable)
    x = torch.randn(SEQ_LEN_Q, BATCH_SIZE, D_MODEL, dtype=torch.float64, requires_grad=True)
    y = attention(query=x, key=x, value=x, mask=causal(SEQ_LEN_Q))
    (slope,) = torch.autograd.grad(y[3].sum(), x)
    assert slope[:4].abs().amin() > 0
    assert slope[4:].count_nonzero() == 0


@FORMS
def test_a_query_that_sees_nothing_gets_zeros_and_leaves_as_the_bias_of_the_output(
    readable: bool,
) -> None:
    attention, mask = layer(readable), with_a_blind_row()
    y = attention(**inputs(), mask=mask)
    for row, item in ((2, 0), (5, 1)):
        assert torch.equal(y[row, item], attention.output.bias)
        if readable:
            assert attention.attn is not None
            assert attention.attn[row, :, item].count_nonzero() == 0


@FORMS
def test_a_query_that_sees_nothing_leaves_all_gradients_finite(readable: bool) -> None:
    attention, x = layer(readable), inputs()
    y = attention(**x, mask=with_a_blind_row())
    for name, slope in gradients(y, attention, x).items():
        assert slope.isfinite().all(), name


@FORMS
def test_autograd_meets_no_nan_on_the_way_back_from_a_query_that_sees_nothing(
    readable: bool,
) -> None:
    attention, x = layer(readable), inputs()
    with torch.autograd.set_detect_anomaly(True):
        attention(**x, mask=with_a_blind_row()).sum().backward()


def test_no_kernel_is_asked_about_a_query_that_sees_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    masks: list[Tensor] = []
    kernel = F.scaled_dot_product_attention

    def listen(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor, **options: Any) -> Tensor:
        masks.append(attn_mask)
        return kernel(query, key, value, attn_mask, **options)

    monkeypatch.setattr(F, "scaled_dot_product_attention", listen)
    layer(readable=False)(**inputs(), mask=with_a_blind_row())
    assert len(masks) == 1
    assert masks[0].any(dim=-1).all()


@FORMS
def test_if_nobody_sees_anything_all_of_it_is_the_bias(readable: bool) -> None:
    attention = layer(readable)
    y = attention(**inputs(), mask=torch.zeros(1, SEQ_LEN_K, 1, dtype=torch.bool))
    assert torch.equal(y, attention.output.bias.expand_as(y))


@FORMS
@pytest.mark.parametrize("axis", [0, 2], ids=["queries", "batch"])
def test_an_axis_of_one_in_the_mask_is_shared(readable: bool, axis: int) -> None:
    attention, x = layer(readable), inputs()
    mask = with_a_blind_row().narrow(axis, 0, 1)
    whole = mask.expand(SEQ_LEN_Q if axis == 0 else -1, -1, BATCH_SIZE if axis == 2 else -1)
    torch.testing.assert_close(attention(**x, mask=mask), attention(**x, mask=whole))


def test_weights_do_not_change_where_no_row_is_blind() -> None:
    scores, mask = torch.randn(7, 11, 2, 3), torch.rand(7, 11, 2, 1) > 0.3
    mask[:, 4] = True
    usual = scores.masked_fill(~mask, -torch.inf).softmax(dim=1)
    assert torch.equal(masked_softmax(scores, mask), usual)


@FORMS
def test_shuffled_queries_give_shuffled_results(readable: bool) -> None:
    attention, x, order = layer(readable), inputs(), torch.randperm(SEQ_LEN_Q)
    y = attention(**x)
    shuffled = attention(**{**x, "query": x["query"][order]})
    torch.testing.assert_close(shuffled, y[order], rtol=1e-12, atol=1e-12)


@FORMS
def test_shuffled_keys_give_the_same_results(readable: bool) -> None:
    attention, x, order = layer(readable), inputs(), torch.randperm(SEQ_LEN_K)
    y = attention(**x)
    shuffled = attention(query=x["query"], key=x["key"][order], value=x["value"][order])
    torch.testing.assert_close(shuffled, y, rtol=1e-12, atol=1e-12)


@FORMS
def test_items_of_a_batch_do_not_hear_of_each_other(readable: bool) -> None:
    attention, x, mask = layer(readable), inputs(), with_a_blind_row()
    together = attention(**x, mask=mask)
    for b in range(BATCH_SIZE):
        alone = attention(**{n: t[:, b : b + 1] for n, t in x.items()}, mask=mask[..., b : b + 1])
        torch.testing.assert_close(alone, together[:, b : b + 1], rtol=1e-12, atol=1e-12)


@FORMS
def test_the_only_key_is_taken_whole_whatever_the_query(readable: bool) -> None:
    attention, x = layer(readable), inputs(seq_len_k=1)
    expected = attention.output(attention.value.linear(x["value"])).expand(SEQ_LEN_Q, -1, -1)
    torch.testing.assert_close(attention(**x), expected, rtol=1e-12, atol=1e-12)


# --- dropout, kept weights ---


@FORMS
def test_dropout_is_off_in_evaluation(readable: bool) -> None:
    attention, x = layer(readable, dropout_prob=0.5).eval(), inputs()
    expected = layer(readable)
    expected.load_state_dict(attention.state_dict())
    assert torch.equal(attention(**x), expected(**x))


@FORMS
def test_dropout_leaves_the_result_the_same_on_average(readable: bool) -> None:
    attention = layer(readable, dropout_prob=0.3)
    x = {name: t[:, :1].expand(-1, 20_000, -1) for name, t in inputs().items()}
    dropped = attention(**x)
    assert dropped.std(dim=1).amin() > 0.01
    torch.testing.assert_close(dropped.mean(dim=1), attention.eval()(**x)[:, 0], rtol=0, atol=0.01)


def test_kept_weights_are_from_before_dropout() -> None:
    attention = layer(readable=True, dropout_prob=0.5)
    attention(**inputs())
    assert attention.attn is not None
    torch.testing.assert_close(
        attention.attn.sum(dim=1), torch.ones(SEQ_LEN_Q, BATCH_SIZE, HEADS, dtype=torch.float64)
    )


def test_no_weights_are_kept_unless_asked_for() -> None:
    attention = layer(readable=False)
    attention(**inputs())
    assert attention.attn is None


def test_weights_of_an_earlier_call_do_not_stay() -> None:
    attention = layer(readable=True)
    attention(**inputs())
    attention.keep_attn = False
    attention(**inputs())
    assert attention.attn is None


# --- what a subclass may change ---


class SeesAllAlike(MultiHeadAttention):
    def get_scores(self, query: Tensor, key: Tensor) -> Tensor:
        return torch.zeros(query.shape[0], key.shape[0], *query.shape[1:3], dtype=query.dtype)


class SeesOnlyThePast(MultiHeadAttention):
    def prepare_mask(self, mask: Tensor, query_shape: torch.Size, key_shape: torch.Size) -> Tensor:
        return super().prepare_mask(mask & causal(SEQ_LEN_Q), query_shape, key_shape)


def test_scores_of_a_subclass_are_used() -> None:
    attention, x = SeesAllAlike(HEADS, D_MODEL, 0.0).double(), inputs()
    expected = attention.output(attention.value.linear(x["value"]).mean(dim=0))
    torch.testing.assert_close(attention(**x), expected.expand(SEQ_LEN_Q, -1, -1))


def test_scores_of_a_single_object_are_used() -> None:
    attention, other, x = (
        layer(readable=False),
        SeesAllAlike(HEADS, D_MODEL, 0.0).double(),
        inputs(),
    )
    other.load_state_dict(attention.state_dict())
    attention.get_scores = other.get_scores  # type: ignore[method-assign]
    torch.testing.assert_close(attention(**x), other(**x))


@FORMS
def test_the_mask_of_a_subclass_is_used(readable: bool) -> None:
    attention = SeesOnlyThePast(HEADS, D_MODEL, 0.0)
    attention.keep_attn = readable
    plain = layer(readable, torch.float32)
    plain.load_state_dict(attention.state_dict())
    x = torch.randn(SEQ_LEN_Q, BATCH_SIZE, D_MODEL)
    everything = torch.ones(1, SEQ_LEN_Q, 1, dtype=torch.bool)
    torch.testing.assert_close(
        attention(query=x, key=x, value=x, mask=everything),
        plain(query=x, key=x, value=x, mask=causal(SEQ_LEN_Q)),
    )


# --- a module among modules ---

MAPS = ["query.linear", "key.linear", "value.linear", "output"]


@pytest.mark.parametrize(
    ("bias", "biased"), [(True, MAPS), (False, ["value.linear", "output"])], ids=["bias", "no bias"]
)
def test_the_state_has_exactly_these_names(bias: bool, biased: list[str]) -> None:
    state = MultiHeadAttention(HEADS, D_MODEL, bias=bias).state_dict()
    assert set(state) == {f"{m}.weight" for m in MAPS} | {f"{m}.bias" for m in biased}
    assert all(t.shape[0] == D_MODEL for t in state.values())


@FORMS
def test_a_copy_made_after_a_call_computes_the_same(readable: bool) -> None:
    attention, x = layer(readable), inputs()
    y = attention(**x)
    assert torch.equal(copy.deepcopy(attention)(**x), y)


@FORMS
@pytest.mark.parametrize("masked", [False, True], ids=["no mask", "mask"])
def test_compiled_it_computes_the_same(readable: bool, masked: bool) -> None:
    attention, x = layer(readable, torch.float32), inputs(torch.float32)
    mask = with_a_blind_row() if masked else None
    torch.compiler.reset()
    compiled = torch.compile(attention, backend="aot_eager", fullgraph=True)
    ours, eager = compiled(**x, mask=mask), attention(**x, mask=mask)
    torch.testing.assert_close(ours, eager)
    slopes = gradients(ours, attention, x)
    for name, slope in gradients(eager, attention, x).items():
        torch.testing.assert_close(slopes[name], slope, rtol=1e-5, atol=1e-5, msg=name)


@FORMS
def test_under_autocast_it_computes_in_bfloat16_what_it_computes_in_float32(readable: bool) -> None:
    attention, x, mask = layer(readable, torch.float32), inputs(torch.float32), with_a_blind_row()
    with torch.autocast("cpu", torch.bfloat16):
        y = attention(**x, mask=mask)
    assert y.dtype == torch.bfloat16
    torch.testing.assert_close(y.float(), attention(**x, mask=mask), rtol=0.05, atol=0.02)
    for name, slope in gradients(y, attention, x).items():
        assert slope.dtype == torch.float32
        assert slope.isfinite().all(), name


@FORMS
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_in_half_precision_it_computes_what_it_computes_in_float64(
    readable: bool, dtype: torch.dtype
) -> None:
    attention, x, mask = layer(readable), inputs(), with_a_blind_row()
    expected = attention(**x, mask=mask)
    y = attention.to(dtype)(**{name: t.to(dtype) for name, t in x.items()}, mask=mask)
    assert y.dtype == dtype
    torch.testing.assert_close(y.double(), expected, rtol=0.05, atol=0.02)


def test_checkpointing_gives_the_same_gradients() -> None:
    attention, x = layer(readable=False), inputs()
    expected = gradients(attention(**x), attention, x)
    y = torch.utils.checkpoint.checkpoint(attention, use_reentrant=False, **x)
    for name, slope in gradients(y, attention, x).items():
        torch.testing.assert_close(slope, expected[name], msg=name)


def test_the_heads_of_a_projection_are_consecutive_slices() -> None:
    prepare = PrepareForMultiHeadAttention(D_MODEL, HEADS, D_K, bias=True)
    x = torch.randn(4, 2, 3, D_MODEL)
    assert torch.equal(torch.cat(prepare(x).unbind(dim=-2), dim=-1), prepare.linear(x))


# --- what is refused ---

GOOD = {"query": (7, 2, 15), "key": (11, 2, 15), "value": (11, 2, 15), "mask": (7, 11, 2)}
BAD_CALLS = {
    "a query of the wrong width": ({"query": (7, 2, 14)}, ["query", "[7, 2, 14]", "d_model = 15"]),
    "a value of the wrong width": (
        {"value": (11, 2, 16)},
        ["value", "[11, 2, 16]", "d_model = 15"],
    ),
    "a key without a batch": (
        {"key": (11, 15)},
        ["key", "[11, 15]", "[seq_len, batch_size, d_model]"],
    ),
    "fewer values than keys": ({"value": (10, 2, 15)}, ["length 11", "length 10"]),
    "batches of two sizes": ({"query": (7, 1, 15)}, ["batch size", "1, 2 and 2"]),
    "a mask for too many queries": ({"mask": (8, 11, 2)}, ["[8, 11, 2]", "[7 or 1, 11, 2 or 1]"]),
    "a mask for too few keys": ({"mask": (7, 10, 2)}, ["[7, 10, 2]", "[7 or 1, 11, 2 or 1]"]),
    "a mask for one key of many": ({"mask": (7, 1, 2)}, ["[7, 1, 2]", "[7 or 1, 11, 2 or 1]"]),
    "a mask for too many items": ({"mask": (7, 11, 3)}, ["[7, 11, 3]", "[7 or 1, 11, 2 or 1]"]),
    "a mask without a batch": ({"mask": (7, 11)}, ["[7, 11]", "[7 or 1, 11, 2 or 1]"]),
}


@pytest.mark.parametrize(("changes", "words"), BAD_CALLS.values(), ids=BAD_CALLS.keys())
def test_a_call_that_does_not_fit_is_refused_with_its_numbers(
    changes: dict[str, tuple[int, ...]], words: list[str]
) -> None:
    shapes = {**GOOD, **changes}
    mask = torch.ones(shapes.pop("mask"), dtype=torch.bool)
    with pytest.raises(ValueError) as refusal:  # noqa: PT011
        MultiHeadAttention(HEADS, D_MODEL)(**{n: torch.zeros(s) for n, s in shapes.items()}, mask=mask)
    for word in words:
        assert word in str(refusal.value)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.uint8])
def test_a_mask_that_is_not_boolean_is_refused(dtype: torch.dtype) -> None:
    with pytest.raises(ValueError, match=f"{dtype}.* must be torch.bool"):
        layer(readable=False)(**inputs(), mask=torch.zeros(SEQ_LEN_Q, SEQ_LEN_K, 1, dtype=dtype))


@pytest.mark.parametrize(("heads", "d_model"), [(4, 15), (0, 15), (-3, 15), (1, 0), (1, -2)])
def test_heads_that_cannot_share_the_width_are_refused(heads: int, d_model: int) -> None:
    with pytest.raises(ValueError, match=f"d_model = {d_model} .*heads = {heads}"):
        MultiHeadAttention(heads, d_model)


def test_the_fused_form_on_its_own_takes_the_scale_it_is_given(verified: Verify) -> None:
    query, key = torch.randn(7, 2, 3, 5).double(), torch.randn(11, 2, 3, 5).double()
    scores = torch.einsum("ibhd,jbhd->ijbh", query, key) * 0.7
    expected = torch.einsum("ijbh,jbhd->ibhd", scores.softmax(dim=1), key)
    ours = fused_attention(query, key, key, None, 0.7)
    verified(ours, expected, against="torch.softmax between two torch.einsum", of=fused_attention)
