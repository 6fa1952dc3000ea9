"""Reading in segments against reading the whole under a mask, and what must hold of any memory."""

import copy
import itertools
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from labml_nn.transformers.feed_forward import FeedForward
from labml_nn.transformers.mha import MultiHeadAttention
from labml_nn.transformers.relative_mha import RelativeMultiHeadAttention
from labml_nn.transformers.xl import TransformerXL, TransformerXLLayer
from site_builder.verified import Verify
from tests.labml_nn.differences import verify_derivatives

HEADS, D_MODEL, D_FF, BATCH_SIZE = 3, 15, 20, 2


def layer(positions: Any = "learned", dropout_prob: float = 0.0) -> TransformerXLLayer:
    attention = RelativeMultiHeadAttention(HEADS, D_MODEL, dropout_prob, positions=positions, max_len=20)
    return TransformerXLLayer(
        d_model=D_MODEL,
        self_attn=attention,
        feed_forward=FeedForward(D_MODEL, D_FF, dropout_prob),
        dropout_prob=dropout_prob,
    )


def model(
    n_layers: int = 2,
    mem_len: int | None = None,
    dtype: torch.dtype = torch.float64,
    **settings: Any,
) -> TransformerXL:
    """A model in which no two layers are alike and no table is zero."""
    xl = TransformerXL(layer(**settings), n_layers, mem_len).to(dtype)
    for parameter in xl.parameters():
        nn.init.normal_(parameter, std=0.4)
    return xl


def sequence(length: int = 12, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(length, BATCH_SIZE, D_MODEL, dtype=dtype)


def read(xl: TransformerXL, pieces: tuple[Tensor, ...]) -> Tensor:
    mem, results = None, []
    for piece in pieces:
        y, mem = xl(piece, mem)
        results.append(y)
    return torch.cat(results)


def plain_stack(xl: TransformerXL, x: Tensor, visible: Tensor) -> Tensor:
    """The whole sequence at once, layer by layer from its formulas, with a mask and without a memory."""
    rows = torch.arange(len(x))[:, None] - torch.arange(len(x))
    for one in xl.layers:
        assert isinstance(one, TransformerXLLayer)
        attn = one.self_attn
        z = F.layer_norm(x, (D_MODEL,), one.norm_self_attn.weight, one.norm_self_attn.bias)
        q, k, v = (m.linear(z).unflatten(-1, (HEADS, -1)) for m in (attn.query, attn.key, attn.value))
        scores = torch.einsum("ibhd,jbhd->ijbh", q + attn.query_pos_bias, k)
        scores += torch.einsum("ibhd,ijhd->ijbh", q, attn.key_pos_embeddings[attn.max_len - rows])
        scores += attn.key_pos_bias[attn.max_len - rows].unsqueeze(2)
        scores = (scores / 5**0.5).masked_fill(~visible[..., None, None], -torch.inf)
        attended = torch.einsum("ijbh,jbhd->ibhd", scores.softmax(dim=1), v).flatten(-2)
        x = x + attn.output(attended)
        z = F.layer_norm(x, (D_MODEL,), one.norm_ff.weight, one.norm_ff.bias)
        x = x + one.feed_forward.layer2(F.relu(one.feed_forward.layer1(z)))
    return F.layer_norm(x, (D_MODEL,), xl.norm.weight, xl.norm.bias)


def window(lengths: list[int], mem_len: int) -> Tensor:
    """Each position sees its own segment up to itself, and `mem_len` places before the segment."""
    starts = [sum(lengths[:n]) for n, length in enumerate(lengths) for _ in range(length)]
    i, j = torch.arange(len(starts))[:, None], torch.arange(len(starts))
    return (j <= i) & (j >= torch.tensor(starts)[:, None] - mem_len)


@pytest.mark.parametrize("n_layers", [1, 2, 3])
@pytest.mark.parametrize("lengths", [[12], [4, 4, 4], [1, 5, 3, 3], [1] * 12])
@pytest.mark.parametrize("mem_len", [0, 2, 4, 12])
def test_segments_with_a_memory_are_the_whole_under_a_window_for_any_number_of_layers(
    n_layers: int, lengths: list[int], mem_len: int, verified: Verify
) -> None:
    xl, x = model(n_layers, mem_len), sequence()
    expected = plain_stack(xl, x, window(lengths, mem_len))
    formulas = "Dai et al. 2019, on the whole sequence under a mask"
    verified(read(xl, x.split(lengths)), expected, against=formulas, of=xl, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("positions", ["learned", "sinusoidal"])
def test_a_memory_that_keeps_all_gives_the_values_of_the_whole(positions: str) -> None:
    xl, x = model(3, positions=positions), sequence()
    whole, _ = xl(x)
    torch.testing.assert_close(read(xl, x.split([5, 1, 6])), whole, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("n_layers", [1, 2, 3])
def test_the_reach_grows_with_the_layers(n_layers: int) -> None:
    xl, x = model(n_layers, mem_len=3), sequence(15)
    changed = x.clone()
    changed[0] = torch.randn(BATCH_SIZE, D_MODEL)
    same = (read(xl, x.split(3)) == read(xl, changed.split(3))).flatten(1).all(dim=1)
    noticed = [not part.all() for part in same.split(3)]
    assert noticed == [True] * (n_layers + 1) + [False] * (4 - n_layers)


def test_a_later_position_changes_nothing_before_it() -> None:
    xl, x = model(2, mem_len=4), sequence()
    changed = x.clone()
    changed[7] = 1e4
    before, after = read(xl, x.split(4)), read(xl, changed.split(4))
    torch.testing.assert_close(after[:7], before[:7], rtol=0, atol=0)
    assert not torch.allclose(after[8:], before[8:])


def test_no_gradient_goes_back_into_the_memory() -> None:
    xl, x = model(), sequence().requires_grad_()
    _, mem = xl(x[:5])
    assert not any(m.requires_grad for m in mem)
    y, _ = xl(x[5:], mem)
    (slope,) = torch.autograd.grad(y.square().sum(), x)
    assert slope[:5].count_nonzero() == 0
    assert slope[5:].abs().amin() > 0


def test_steps_give_the_values_and_the_gradients_of_the_whole() -> None:
    xl, x = model(), sequence().requires_grad_()
    whole, _ = xl(x)
    state, results = None, []
    for piece in x.split([1, 1, 5, 2, 3]):
        y, state = xl.step(piece, state)
        results.append(y)
    pieces = torch.cat(results)
    torch.testing.assert_close(pieces, whole, rtol=1e-10, atol=1e-10)
    wanted = [x, *xl.parameters()]
    weight = torch.randn_like(whole)
    ours = torch.autograd.grad((pieces * weight).sum(), wanted)
    theirs = torch.autograd.grad((whole * weight).sum(), wanted)
    for slope, expected in zip(ours, theirs, strict=True):
        torch.testing.assert_close(slope, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("mem_len", [0, 3, 5, 8, 20, None])
def test_memories_have_the_latest_inputs_of_each_layer_and_no_more_than_asked_for(
    mem_len: int | None,
) -> None:
    xl, x = model(2, mem_len), sequence()
    mem = None
    for piece, seen in zip(x.split([5, 4, 3]), (5, 9, 12), strict=True):
        _, mem = xl(piece, mem)
        kept = seen if mem_len is None else min(seen, mem_len)
        assert [m.shape for m in mem] == [(kept, BATCH_SIZE, D_MODEL)] * 2
        assert torch.equal(mem[0], x[seen - kept : seen])


@pytest.mark.parametrize("nothing", [None, (), [], "no rows"], ids=["None", "tuple", "list", "no rows"])
def test_no_memory_may_be_said_in_several_ways(nothing: Any) -> None:
    xl, x = model(), sequence()
    expected, expected_mem = xl(x)
    if nothing == "no rows":
        nothing = [x.new_zeros(0, BATCH_SIZE, D_MODEL)] * 2
    y, mem = xl(x, nothing)
    torch.testing.assert_close(y, expected, rtol=1e-12, atol=1e-12)
    assert all(torch.equal(m, e) for m, e in zip(mem, expected_mem, strict=True))


def test_a_state_is_never_changed_and_does_not_share_the_numbers_of_the_input() -> None:
    xl, x = model(), sequence()
    _, mem = xl(x[:5])
    before = [m.clone() for m in mem]
    first, _ = xl(x[5:], mem)
    second, _ = xl(x[5:], mem)
    x[:5] = 0
    assert torch.equal(first, second)
    assert all(torch.equal(m, b) for m, b in zip(mem, before, strict=True))


def test_a_mask_hides_what_is_in_the_memory_and_shows_nothing_of_the_future() -> None:
    xl, x = model(1), sequence()
    _, mem = xl(x[:5])
    mask = torch.ones(1, 12, BATCH_SIZE, dtype=torch.bool)
    torch.testing.assert_close(xl(x[5:], mem, mask)[0], xl(x[5:], mem)[0])

    mask[:, :3, 0] = False
    y, _ = xl(x[5:], mem, mask)
    changed = (mem[0].clone(),)
    changed[0][:3] = torch.randn(3, BATCH_SIZE, D_MODEL)
    other, _ = xl(x[5:], changed, mask)
    torch.testing.assert_close(other[:, 0], y[:, 0])
    assert not torch.allclose(other[:, 1], y[:, 1])


def test_the_state_dict_has_exactly_these_names() -> None:
    attention = [
        "query.linear.weight",
        "key.linear.weight",
        "value.linear.weight",
        "value.linear.bias",
        "output.weight",
        "output.bias",
        "key_pos_embeddings",
        "key_pos_bias",
        "query_pos_bias",
    ]
    parts = [f"self_attn.{name}" for name in attention]
    for part in ("feed_forward.layer1", "feed_forward.layer2", "norm_self_attn", "norm_ff"):
        parts += [f"{part}.weight", f"{part}.bias"]
    expected = {f"layers.{n}.{part}" for n, part in itertools.product(range(2), parts)}
    assert set(model().state_dict()) == expected | {"norm.weight", "norm.bias"}


@pytest.mark.parametrize("positions", ["learned", "sinusoidal"])
def test_every_parameter_gets_a_gradient(positions: str) -> None:
    xl = model(positions=positions)
    xl(sequence())[0].square().sum().backward()
    for name, parameter in xl.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().amax() > 0, name


def test_first_and_second_derivatives_are_those_of_finite_differences(verified: Verify) -> None:
    xl = model(2)
    x = torch.randn(3, 1, D_MODEL, dtype=torch.float64, requires_grad=True)
    mem = tuple(torch.randn(2, 1, D_MODEL, dtype=torch.float64, requires_grad=True) for _ in range(2))

    def value(x: Tensor, *mem: Tensor) -> Tensor:
        return xl(x, mem)[0][..., :2]

    assert torch.autograd.gradcheck(value, (x, *mem), fast_mode=True)
    assert torch.autograd.gradgradcheck(value, (x, *mem), fast_mode=True)
    verify_derivatives(verified, value, x, *mem, of=xl)


def test_dropout_is_off_in_evaluation_and_on_in_training() -> None:
    xl, x = model(dropout_prob=0.5), sequence()
    assert not torch.allclose(xl(x)[0], xl(x)[0])
    xl.eval()
    assert torch.equal(xl(x)[0], xl(x)[0])


def test_a_copy_made_after_a_call_computes_the_same() -> None:
    xl, x = model(), sequence()
    y, mem = xl(x[:5])
    other = copy.deepcopy(xl)
    assert torch.equal(other(x[:5])[0], y)
    assert torch.equal(other(x[5:], mem)[0], xl(x[5:], mem)[0])


def test_a_saved_state_gives_the_same_model_also_from_a_longer_table() -> None:
    attention = RelativeMultiHeadAttention(HEADS, D_MODEL, 0.0)
    long = TransformerXLLayer(
        d_model=D_MODEL,
        self_attn=attention,
        feed_forward=FeedForward(D_MODEL, D_FF, 0.0),
        dropout_prob=0.0,
    )
    old, new, x = TransformerXL(long, 2).double(), model(), sequence()
    for parameter in old.parameters():
        nn.init.normal_(parameter, std=0.4)
    new.load_state_dict(old.state_dict())
    torch.testing.assert_close(new(x)[0], old(x)[0], rtol=1e-12, atol=1e-12)


def test_compiled_it_computes_the_same() -> None:
    xl, x = model(dtype=torch.float32), sequence(dtype=torch.float32)
    _, mem = xl(x[:5])
    torch.compiler.reset()
    compiled = torch.compile(xl, backend="aot_eager", fullgraph=True)
    y, new_mem = compiled(x[5:], mem)
    expected, expected_mem = xl(x[5:], mem)
    torch.testing.assert_close(y, expected)
    torch.testing.assert_close(new_mem, expected_mem)


def test_under_autocast_it_computes_in_bfloat16_what_it_computes_in_float32() -> None:
    xl, x = model(dtype=torch.float32), sequence(dtype=torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        first, mem = xl(x[:5])
        second, _ = xl(x[5:], mem)
    expected = read(xl, (x[:5], x[5:]))
    actual = torch.cat([first, second]).float()
    torch.testing.assert_close(actual, expected, rtol=0.1, atol=0.1 * expected.abs().max().item())


def test_one_position_of_one_item_is_enough() -> None:
    xl, x = model(), torch.randn(1, 1, D_MODEL, dtype=torch.float64)
    y, mem = xl(x)
    y, mem = xl(y, mem)
    assert y.shape == (1, 1, D_MODEL)
    assert mem[0].shape == (2, 1, D_MODEL)


def test_a_segment_and_memory_longer_than_the_table_are_refused_with_both_numbers() -> None:
    xl = model()
    _, mem = xl(sequence(15))
    with pytest.raises(ValueError, match=r"6 queries and 21 keys .* max_len = 20"):
        xl(sequence(6), mem)


def test_settings_that_make_no_sense_are_refused_with_their_numbers() -> None:
    with pytest.raises(ValueError, match=r"n_layers = 0"):
        TransformerXL(layer(), 0)
    with pytest.raises(ValueError, match=r"mem_len = -1"):
        TransformerXL(layer(), 2, mem_len=-1)
    whole = {"d_model": D_MODEL, "feed_forward": FeedForward(D_MODEL, D_FF), "dropout_prob": 0.0}
    with pytest.raises(ValueError, match=r"self_attn is MultiHeadAttention, .*RelativeMultiHeadAttention"):
        TransformerXLLayer(**whole, self_attn=MultiHeadAttention(HEADS, D_MODEL))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"self_attn has d_model = 18, not 15"):
        TransformerXLLayer(**whole, self_attn=RelativeMultiHeadAttention(HEADS, 18))  # type: ignore[arg-type]
    whole["feed_forward"] = FeedForward(18, D_FF)
    with pytest.raises(ValueError, match=r"feed_forward has d_model = 18, not 15"):
        TransformerXLLayer(**whole, self_attn=RelativeMultiHeadAttention(HEADS, D_MODEL))  # type: ignore[arg-type]


def test_inputs_and_memories_that_do_not_fit_are_refused_with_their_numbers() -> None:
    xl, x = model(), sequence()
    _, mem = xl(x)
    with pytest.raises(ValueError, match=r"\[12, 2, 14\].*d_model = 15"):
        xl(x[..., :14])
    with pytest.raises(ValueError, match=r"\[12, 15\].*d_model = 15"):
        xl(x[:, 0])
    with pytest.raises(ValueError, match=r"1 memories for 2 layers"):
        xl(x, mem[:1])
    with pytest.raises(ValueError, match=r"mem\[0\].*\[12, 2, 15\].*batch of 1"):
        xl(x[:, :1], mem)
    with pytest.raises(ValueError, match=r"\[12, 12, 1\].*\[12 or 1, 24, 2 or 1\]"):
        model(mem_len=None, positions="sinusoidal")(x, mem, torch.ones(12, 12, 1).bool())


def test_an_empty_segment_is_read_without_a_trace() -> None:
    xl, x = model(), sequence()
    whole = read(xl, (x,))
    torch.testing.assert_close(read(xl, (x[:0], x[:5], x[5:5], x[5:])), whole)


@pytest.mark.parametrize("mem_len", [0, 3, 7, None])
def test_a_memory_holds_on_to_nothing_but_what_it_keeps(mem_len: int | None) -> None:
    xl, x = model(mem_len=mem_len), sequence()
    mem = None
    for piece in x.split(5):
        _, mem = xl(piece, mem)
        assert all(m.untyped_storage().nbytes() == m.nbytes for m in mem)
