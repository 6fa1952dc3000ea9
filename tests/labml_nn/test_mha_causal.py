"""Attention that sees no future: told so, masked so, or taken in pieces, it is one and the same."""

import copy
import warnings
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from labml_nn.transformers.fused_attention import fused_attention
from labml_nn.transformers.mha import KeysAndValues, MultiHeadAttention, causal_mask
from site_builder.verified import Verify
from tests.labml_nn.differences import verify_derivatives

HEADS, D_MODEL, D_K = 3, 15, 5
SEQ_LEN, BATCH_SIZE = 7, 2

FORMS = pytest.mark.parametrize("readable", [False, True], ids=["fused", "readable"])


def layer(readable: bool, dtype: torch.dtype = torch.float64) -> MultiHeadAttention:
    attention = MultiHeadAttention(HEADS, D_MODEL, dropout_prob=0.0).to(dtype)
    attention.keep_attn = readable
    return attention


def sequence(length: int = SEQ_LEN, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(length, BATCH_SIZE, D_MODEL, dtype=dtype, requires_grad=True)


def slopes(y: Tensor, attention: nn.Module, x: Tensor, keep: bool = False) -> list[Tensor]:
    weight = torch.linspace(-1, 1, y.numel(), dtype=y.dtype).view_as(y)
    wanted = [x, *attention.parameters()]
    return list(torch.autograd.grad((y * weight).sum(), wanted, retain_graph=keep))


# --- against what nobody here wrote ---


@FORMS
def test_value_and_gradients_are_those_of_x_transformers(readable: bool, verified: Verify) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = pytest.importorskip("x_transformers.x_transformers").Attention(
            dim=D_MODEL, dim_head=D_K, heads=HEADS, causal=True
        )
    other = other.double()
    attention = layer(readable)
    maps = [
        (attention.query.linear, other.to_q),
        (attention.key.linear, other.to_k),
        (attention.value.linear, other.to_v),
        (attention.output, other.to_out),
    ]
    # That layer has no biases at all.
    with torch.no_grad():
        for ours, theirs in maps:
            ours.bias.zero_()
            ours.weight.copy_(theirs.weight)

    x = sequence()
    y = attention(query=x, key=x, value=x, is_causal=True)
    expected = other(x.transpose(0, 1)).transpose(0, 1)
    # That layer takes the softmax in float32, whatever the rest is in.
    of = MultiHeadAttention if readable else (MultiHeadAttention, fused_attention)
    same: dict[str, Any] = {"against": "x_transformers.Attention", "of": of, "rtol": 1e-5, "atol": 1e-6}
    verified(y, expected, **same)

    weight = torch.linspace(-1, 1, y.numel(), dtype=y.dtype).view_as(y)
    our_slopes = torch.autograd.grad((y * weight).sum(), [x] + [ours.weight for ours, _ in maps])
    their_slopes = torch.autograd.grad((expected * weight).sum(), [x] + [theirs.weight for _, theirs in maps])
    verified(our_slopes, their_slopes, what="gradients", **same)


# --- told, or masked ---


@FORMS
@pytest.mark.parametrize(("seq_len_q", "seq_len_k"), [(7, 7), (4, 9), (9, 4), (1, 6), (1, 1)])
def test_told_that_it_is_causal_it_does_what_the_mask_says(
    readable: bool, seq_len_q: int, seq_len_k: int
) -> None:
    attention = layer(readable)
    query, key = sequence(seq_len_q), sequence(seq_len_k)
    mask = torch.arange(seq_len_k)[None, :, None] <= torch.arange(seq_len_q)[:, None, None]
    masked = attention(query=query, key=key, value=key, mask=mask)
    told = attention(query=query, key=key, value=key, is_causal=True)
    torch.testing.assert_close(told, masked, rtol=1e-12, atol=1e-12)
    for x in (query, key):
        told_slopes, masked_slopes = slopes(told, attention, x, True), slopes(masked, attention, x, True)
        for ours, theirs in zip(told_slopes, masked_slopes, strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-11, atol=1e-11)


@FORMS
def test_a_mask_besides_hides_more(readable: bool) -> None:
    attention, x = layer(readable), sequence()
    padding = torch.ones(1, SEQ_LEN, BATCH_SIZE, dtype=torch.bool)
    padding[0, :3, 1] = False
    both = torch.ones(SEQ_LEN, SEQ_LEN, 1, dtype=torch.bool).tril(0)
    expected = attention(query=x, key=x, value=x, mask=padding & torch.stack([both[..., 0].tril()] * 2, -1))
    told = attention(query=x, key=x, value=x, mask=padding, is_causal=True)
    torch.testing.assert_close(told, expected, rtol=1e-12, atol=1e-12)
    # The first queries of the second item see nothing but what is hidden.
    torch.testing.assert_close(told[:3, 1], attention.output.bias.expand(3, -1))


@FORMS
def test_causal_it_has_second_derivatives(readable: bool, verified: Verify) -> None:
    attention = MultiHeadAttention(heads=2, d_model=4, dropout_prob=0.0).double()
    attention.keep_attn = readable
    x = torch.randn(3, 1, 4, dtype=torch.float64, requires_grad=True)

    def call(x: Tensor) -> Tensor:
        return attention(query=x, key=x, value=x, is_causal=True)

    assert torch.autograd.gradcheck(call, x)
    assert torch.autograd.gradgradcheck(call, x)
    of = MultiHeadAttention if readable else (MultiHeadAttention, fused_attention)
    verify_derivatives(verified, call, x, of=of)


def test_causal_and_compiled_it_computes_the_same() -> None:
    attention, x = layer(readable=False, dtype=torch.float32), sequence(dtype=torch.float32)
    torch.compiler.reset()
    compiled = torch.compile(attention, backend="aot_eager", fullgraph=True)
    y = compiled(query=x, key=x, value=x, is_causal=True)
    expected = attention(query=x, key=x, value=x, is_causal=True)
    torch.testing.assert_close(y, expected)
    for ours, theirs in zip(slopes(y, attention, x), slopes(expected, attention, x), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)


def test_no_table_is_made_for_the_kernel_that_knows_it_is_causal(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    kernel = F.scaled_dot_product_attention

    def watched(*tensors: Tensor, **settings: object) -> Tensor:
        seen.append((settings["attn_mask"], settings["is_causal"]))
        return kernel(*tensors, **settings)

    monkeypatch.setattr(F, "scaled_dot_product_attention", watched)
    x = sequence()
    layer(readable=False)(query=x, key=x, value=x, is_causal=True)
    assert seen == [(None, True)]


def test_the_kernel_is_told_or_masked_but_not_both() -> None:
    x = torch.randn(3, 2, HEADS, D_K)
    mask = causal_mask(3, 3)
    with pytest.raises(ValueError, match="mask or is_causal, not both"):
        fused_attention(x, x, x, mask, 1.0, is_causal=True)


# --- in pieces ---


@FORMS
@pytest.mark.parametrize("lengths", [[1] * 7, [4, 1, 2], [3, 4], [7], [1, 6]], ids=str)
def test_piece_by_piece_it_is_the_whole_in_value_and_gradient(readable: bool, lengths: list[int]) -> None:
    attention, x = layer(readable), sequence()
    whole = attention(query=x, key=x, value=x, is_causal=True)

    state, found = None, []
    for piece in x.split(lengths):
        y, state = attention.step(piece, state)
        found.append(y)
    y = torch.cat(found)

    torch.testing.assert_close(y, whole, rtol=1e-12, atol=1e-12)
    for ours, theirs in zip(slopes(y, attention, x), slopes(whole, attention, x), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-11, atol=1e-11)


def test_a_state_can_be_continued_twice() -> None:
    attention, x = layer(readable=False), sequence()
    _, state = attention.step(x[:4])
    before = KeysAndValues(state.key.clone(), state.value.clone())
    one, _ = attention.step(x[4:], state)
    attention.step(-x[4:], state)
    again, _ = attention.step(x[4:], state)
    assert torch.equal(one, again)
    assert torch.equal(state.key, before.key)
    assert torch.equal(state.value, before.value)


def test_nothing_is_kept_in_the_layer_between_steps() -> None:
    attention, x = layer(readable=False), sequence()
    names = set(vars(attention))
    attention.step(x[:4])
    assert set(vars(attention)) == names
    first, _ = copy.deepcopy(attention).step(x[4:])
    alone, _ = attention.step(x[4:])
    assert torch.equal(first, alone)


def test_scores_of_a_subclass_are_used_in_steps_too() -> None:
    class Nearest(MultiHeadAttention):
        def get_scores(self, query: Tensor, key: Tensor) -> Tensor:
            return -torch.cdist(query.permute(1, 2, 0, 3), key.permute(1, 2, 0, 3)).permute(2, 3, 0, 1)

    attention, x = Nearest(HEADS, D_MODEL, dropout_prob=0.0).double(), sequence()
    whole = attention(query=x, key=x, value=x, is_causal=True)
    first, state = attention.step(x[:3])
    second, _ = attention.step(x[3:], state)
    torch.testing.assert_close(torch.cat([first, second]), whole, rtol=1e-9, atol=1e-9)


def test_a_state_of_another_batch_is_refused_with_both_numbers() -> None:
    attention = layer(readable=False)
    _, state = attention.step(sequence())
    with pytest.raises(ValueError, match=r"batch of 1, but the state is from a batch of 2"):
        attention.step(torch.randn(1, 1, D_MODEL, dtype=torch.float64), state)


def test_a_state_of_other_heads_is_refused_with_both_numbers() -> None:
    _, state = MultiHeadAttention(5, D_MODEL).double().step(sequence())
    with pytest.raises(ValueError, match=r"heads and d_k \[5, 3\].*\[3, 5\]"):
        layer(readable=False).step(sequence(), state)


def test_an_empty_piece_changes_nothing_in_the_state() -> None:
    attention, x = layer(readable=False), sequence()
    whole = attention(query=x, key=x, value=x, is_causal=True)
    nothing, state = attention.step(x[:0])
    first, state = attention.step(x[:3], state)
    still_nothing, state = attention.step(x[:0], state)
    second, _ = attention.step(x[3:], state)
    assert nothing.shape == still_nothing.shape == x[:0].shape
    torch.testing.assert_close(torch.cat([first, second]), whole)
