"""Relative attention against its formula, term by term, and what must hold of any measure of distance."""

import copy
import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from labml_nn.transformers.mha import MultiHeadAttention
from labml_nn.transformers.relative_mha import (
    RelativeMultiHeadAttention,
    align,
    relative_attention,
    shift_right,
)
from site_builder.verified import Verify
from tests.labml_nn.differences import verify_derivatives

HEADS, D_MODEL, D_K, MAX_LEN = 3, 15, 5, 12
BATCH_SIZE = 2
FORMULA = "Dai et al. 2019, section 3.3, in plain loops"

FORMS = pytest.mark.parametrize("readable", [False, True], ids=["fused", "readable"])
POSITIONS = pytest.mark.parametrize("positions", ["learned", "sinusoidal"])
LENGTHS = pytest.mark.parametrize(
    ("seq_len_q", "seq_len_k"), [(5, 5), (5, 9), (1, 6), (6, 4), (1, 1), (2, 2), (7, 1)]
)


def layer(
    readable: bool = False, dtype: torch.dtype = torch.float64, **settings: Any
) -> RelativeMultiHeadAttention:
    """A layer in which no table is zero any more."""
    settings = {"dropout_prob": 0.0, "max_len": MAX_LEN, **settings}
    attention = RelativeMultiHeadAttention(HEADS, D_MODEL, **settings).to(dtype)
    for parameter in attention.parameters():
        nn.init.normal_(parameter, std=0.5)
    attention.keep_attn = readable
    return attention


def inputs(seq_len_q: int = 5, seq_len_k: int = 9, dtype: torch.dtype = torch.float64) -> dict[str, Tensor]:
    return {
        name: torch.randn(length, BATCH_SIZE, D_MODEL, dtype=dtype, requires_grad=True)
        for name, length in (("query", seq_len_q), ("key", seq_len_k), ("value", seq_len_k))
    }


def causal(seq_len_q: int, seq_len_k: int) -> Tensor:
    """The queries are the last of the keys."""
    return torch.ones(seq_len_q, seq_len_k, dtype=torch.bool).tril(seq_len_k - seq_len_q).unsqueeze(-1)


def some_blind(seq_len_q: int, seq_len_k: int) -> Tensor:
    mask = torch.rand(seq_len_q, seq_len_k, BATCH_SIZE) > 0.5
    mask[0, :, 0] = False
    return mask


def gradients(y: Tensor, attention: nn.Module, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    wanted = {**tensors, **dict(attention.named_parameters())}
    weight = torch.linspace(-1, 1, y.numel(), dtype=y.dtype).view_as(y)
    return dict(zip(wanted, torch.autograd.grad((y * weight).sum(), list(wanted.values())), strict=True))


# --- against the formula ---


def sinusoid(distance: int) -> list[float]:
    row = []
    for place in range(D_MODEL):
        angle = distance / 10000 ** ((place - place % 2) / D_MODEL)
        row.append(math.cos(angle) if place % 2 else math.sin(angle))
    return row


def distance_terms(
    attention: RelativeMultiHeadAttention, distance: int, head: int
) -> tuple[list[float], float]:
    """What is said of a distance: a key, and a number."""
    if attention.positions == "learned":
        row = MAX_LEN - distance
        return (
            attention.key_pos_embeddings[row, head].tolist(),
            attention.key_pos_bias[row, head].item(),
        )
    weight = attention.key_pos.linear.weight[head * D_K : (head + 1) * D_K].tolist()
    key = [sum(w * r for w, r in zip(ws, sinusoid(distance), strict=True)) for ws in weight]
    return key, sum(v * k for v, k in zip(attention.pos_query_bias[head].tolist(), key, strict=True))


def score_by_terms(
    attention: RelativeMultiHeadAttention, q: list[float], k: list[float], distance: int, head: int
) -> float:
    """The four terms of section 3.3 of Dai et al. 2019."""
    u = attention.query_pos_bias[head].tolist()
    pos_key, pos_bias = distance_terms(attention, distance, head)
    word_word = sum(a * b for a, b in zip(q, k, strict=True))
    word_place = sum(a * b for a, b in zip(q, pos_key, strict=True))
    place_word = sum(a * b for a, b in zip(u, k, strict=True))
    return word_word + word_place + place_word + pos_bias


@POSITIONS
@LENGTHS
def test_scores_are_those_of_the_four_terms(
    positions: str, seq_len_q: int, seq_len_k: int, verified: Verify
) -> None:
    attention = layer(positions=positions)
    query = torch.randn(seq_len_q, BATCH_SIZE, HEADS, D_K, dtype=torch.float64)
    key = torch.randn(seq_len_k, BATCH_SIZE, HEADS, D_K, dtype=torch.float64)
    scores = attention.get_scores(query, key)
    expected = torch.zeros(seq_len_q, seq_len_k, BATCH_SIZE, HEADS, dtype=torch.float64)
    for i in range(seq_len_q):
        for j in range(seq_len_k):
            distance = (i + seq_len_k - seq_len_q) - j
            for b in range(BATCH_SIZE):
                for h in range(HEADS):
                    expected[i, j, b, h] = score_by_terms(
                        attention, query[i, b, h].tolist(), key[j, b, h].tolist(), distance, h
                    )
    verified(scores, expected, against=FORMULA, of=attention, what="scores", rtol=1e-10, atol=1e-10)


@FORMS
@POSITIONS
@LENGTHS
def test_value_is_that_of_the_published_formula(
    readable: bool, positions: str, seq_len_q: int, seq_len_k: int, verified: Verify
) -> None:
    attention = layer(readable, positions=positions)
    x = {name: t.detach() for name, t in inputs(seq_len_q, seq_len_k).items()}
    mask = some_blind(seq_len_q, seq_len_k)
    q, k = (x[n] @ getattr(attention, n).linear.weight.T for n in ("query", "key"))
    v = x["value"] @ attention.value.linear.weight.T + attention.value.linear.bias
    heads = torch.zeros(seq_len_q, BATCH_SIZE, D_MODEL, dtype=torch.float64)
    for b in range(BATCH_SIZE):
        for h in range(HEADS):
            part = slice(h * D_K, (h + 1) * D_K)
            for i in range(seq_len_q):
                powers = {}
                for j in range(seq_len_k):
                    if mask[i, j, b]:
                        distance = (i + seq_len_k - seq_len_q) - j
                        score = score_by_terms(
                            attention, q[i, b, part].tolist(), k[j, b, part].tolist(), distance, h
                        )
                        powers[j] = math.exp(score / math.sqrt(D_K))
                for j, power in powers.items():
                    heads[i, b, part] += power / sum(powers.values()) * v[j, b, part]
    expected = heads @ attention.output.weight.T + attention.output.bias
    verified(attention(**x, mask=mask), expected, against=FORMULA, of=attention, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("block_size", [1, 3, 64])
def test_value_and_gradients_are_those_of_torchs_fused_function_with_an_added_mask(
    block_size: int, verified: Verify
) -> None:
    query, key, value = (
        torch.randn(n, BATCH_SIZE, HEADS, D_K, dtype=torch.float64, requires_grad=True) for n in (5, 9, 9)
    )
    pos_key = torch.randn(13, HEADS, D_K, dtype=torch.float64, requires_grad=True)
    pos_bias = torch.randn(13, HEADS, dtype=torch.float64, requires_grad=True)
    u = torch.randn(HEADS, D_K, dtype=torch.float64, requires_grad=True)
    tensors = [query, key, value, pos_key, pos_bias, u]

    rows = torch.arange(9) - torch.arange(5)[:, None] + 4
    added = (query[:, None] * pos_key[rows].unsqueeze(2)).sum(dim=-1) + pos_bias[rows].unsqueeze(2)
    q, k, v = (t.permute(1, 2, 0, 3) for t in (query + u, key, value))
    theirs = F.scaled_dot_product_attention(q, k, v, added.permute(2, 3, 0, 1) * 0.3, scale=0.3)
    ours = relative_attention(
        query, key, value, pos_key, pos_bias, u, mask=None, scale=0.3, block_size=block_size
    )
    theirs = theirs.permute(2, 0, 1, 3)
    same: dict[str, Any] = {"against": "torch.nn.functional.scaled_dot_product_attention"}
    same["of"] = relative_attention
    verified(ours, theirs, rtol=1e-11, atol=1e-11, **same)
    weight = torch.randn_like(ours)
    slopes = [torch.autograd.grad((y * weight).sum(), tensors) for y in (ours, theirs)]
    verified(*slopes, what="gradients", rtol=1e-10, atol=1e-10, **same)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 5), (3, 3), (3, 7), (5, 9), (4, 2)])
def test_each_row_moves_right_by_its_own_number(rows: int, columns: int) -> None:
    x = torch.randn(rows, columns, 2, 3)
    shifted = shift_right(x)
    assert shifted.shape == x.shape
    for i in range(rows):
        for j in range(i, columns):
            assert torch.equal(shifted[i, j], x[i, j - i])


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 5), (3, 3), (3, 7), (5, 9)])
def test_the_shift_without_a_copy_gives_the_columns_that_count(rows: int, columns: int) -> None:
    x = torch.randn(2, rows, columns)
    expected = shift_right(x.permute(1, 2, 0))[:, rows - 1 :].permute(2, 0, 1)
    assert torch.equal(align(x), expected)


# --- the two forms are one ---

MASKS = ["none", "causal", "padding", "some blind", "told causal", "told causal, and padding"]


def call(attention: nn.Module, x: dict[str, Tensor], kind: str) -> Tensor:
    seq_len_q, seq_len_k = x["query"].shape[0], x["key"].shape[0]
    padding = torch.arange(seq_len_k)[None, :, None] != torch.tensor([seq_len_k, seq_len_k - 1])
    masks = {
        "causal": causal(seq_len_q, seq_len_k),
        "padding": padding,
        "some blind": some_blind(seq_len_q, seq_len_k),
        "told causal, and padding": padding,
    }
    return attention(**x, mask=masks.get(kind), is_causal=kind.startswith("told"))  # type: ignore[no-any-return]


@POSITIONS
@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.parametrize(("seq_len_q", "seq_len_k"), [(5, 5), (5, 9), (1, 6), (6, 4)])
def test_both_forms_are_equal_in_value_and_gradient(
    positions: str, kind: str, seq_len_q: int, seq_len_k: int
) -> None:
    attention, x = layer(positions=positions), inputs(seq_len_q, seq_len_k)
    state = torch.get_rng_state()
    fused = call(attention, x, kind)
    attention.keep_attn = True
    torch.set_rng_state(state)
    readable = call(attention, x, kind)
    torch.testing.assert_close(fused, readable, rtol=1e-12, atol=1e-12)
    slopes = gradients(fused, attention, x)
    for name, slope in gradients(readable, attention, x).items():
        torch.testing.assert_close(slopes[name], slope, rtol=1e-10, atol=1e-10, msg=name)


@pytest.mark.parametrize("kind", MASKS)
def test_many_blocks_give_what_one_gives(kind: str) -> None:
    x = {name: torch.randn(n, BATCH_SIZE, D_MODEL) for name, n in (("query", 130), ("key", 150))}
    x["value"] = x["key"]
    attention = layer(dtype=torch.float32, max_len=150)
    state = torch.get_rng_state()
    fused = call(attention, x, kind)
    torch.set_rng_state(state)
    attention.keep_attn = True
    torch.testing.assert_close(fused, call(attention, x, kind), rtol=1e-4, atol=1e-4)


@FORMS
@POSITIONS
def test_first_and_second_derivatives_are_those_of_finite_differences(
    readable: bool, positions: str, verified: Verify
) -> None:
    attention = layer(readable, positions=positions)
    x = torch.randn(3, 1, D_MODEL, dtype=torch.float64, requires_grad=True)
    names = [n for n, _ in attention.named_parameters() if "pos" in n and "linear" not in n]
    # A few rows of the tables are enough.
    tables = tuple(attention.get_parameter(name).detach().requires_grad_() for name in names)

    def value(x: Tensor, *tables: Tensor) -> Tensor:
        state = dict(zip(names, tables, strict=True))
        y: Tensor = torch.func.functional_call(
            attention, state, kwargs={"query": x, "key": x, "value": x, "is_causal": True}
        )
        return y[:, :, :2]

    assert torch.autograd.gradcheck(value, (x, *tables), fast_mode=True)
    assert torch.autograd.gradgradcheck(value, (x, *tables), fast_mode=True)
    verify_derivatives(verified, value, x, *tables, of=attention)


# --- invariants ---


@FORMS
@pytest.mark.parametrize("told", [False, True], ids=["mask", "is_causal"])
@pytest.mark.parametrize("size", [1e4, 1e18])
def test_a_huge_last_key_leaves_the_earlier_rows_as_they_were(
    readable: bool, told: bool, size: float
) -> None:
    attention = layer(readable, torch.float32)
    x = torch.randn(7, BATCH_SIZE, D_MODEL)
    huge = x.clone()
    huge[-1] = size
    how = {"is_causal": True} if told else {"mask": causal(7, 7)}
    before = attention(query=x, key=x, value=x, **how)
    after = attention(query=x, key=huge, value=huge, **how)
    torch.testing.assert_close(after[:-1], before[:-1])


@FORMS
def test_told_that_it_is_causal_no_gradient_flows_back_from_the_past_to_the_future(readable: bool) -> None:
    attention = layer(readable)
    x = torch.randn(7, BATCH_SIZE, D_MODEL, dtype=torch.float64, requires_grad=True)
    y = attention(query=x[3:], key=x, value=x, is_causal=True)
    (slope,) = torch.autograd.grad(y[1].sum(), x)
    assert slope[:5].abs().amax(dim=-1).amin() > 0
    assert slope[5:].count_nonzero() == 0


@FORMS
@POSITIONS
def test_words_put_before_a_window_move_the_results_and_change_nothing(
    readable: bool, positions: str
) -> None:
    attention = layer(readable, positions=positions)
    x = torch.randn(9, BATCH_SIZE, D_MODEL, dtype=torch.float64)
    moved = torch.cat([torch.randn(3, BATCH_SIZE, D_MODEL, dtype=torch.float64), x])
    near = ((torch.arange(12)[:, None] - torch.arange(12)).abs() < 2).unsqueeze(-1)
    before = attention(query=x, key=x, value=x, mask=near[:9, :9])
    after = attention(query=moved, key=moved, value=moved, mask=near)
    torch.testing.assert_close(after[4:], before[1:], rtol=1e-11, atol=1e-11)


@POSITIONS
def test_shuffled_keys_do_change_the_results(positions: str) -> None:
    attention, x = layer(positions=positions), inputs()
    back = {**x, "key": x["key"].flip(0), "value": x["value"].flip(0)}
    assert not torch.allclose(attention(**x), attention(**back), atol=0.01)


def test_with_tables_of_zeros_it_is_plain_attention() -> None:
    attention = RelativeMultiHeadAttention(HEADS, D_MODEL, 0.0, max_len=MAX_LEN).double()
    plain = MultiHeadAttention(HEADS, D_MODEL, 0.0, bias=False).double()
    plain.load_state_dict({n: t for n, t in attention.state_dict().items() if "pos" not in n})
    x = inputs()
    torch.testing.assert_close(attention(**x), plain(**x), rtol=1e-12, atol=1e-12)


@FORMS
def test_a_query_that_sees_nothing_leaves_as_the_bias_and_all_gradients_stay_finite(readable: bool) -> None:
    attention, x = layer(readable), inputs()
    y = attention(**x, mask=some_blind(5, 9))
    assert torch.equal(y[0, 0], attention.output.bias)
    for name, slope in gradients(y, attention, x).items():
        assert slope.isfinite().all(), name


@FORMS
def test_queries_from_before_the_first_key_see_nothing_if_it_is_causal(readable: bool) -> None:
    attention, x = layer(readable), inputs(6, 4)
    y = attention(**x, is_causal=True)
    assert torch.equal(y[:2], attention.output.bias.expand_as(y[:2]))
    torch.testing.assert_close(y[2], attention(**x, mask=causal(6, 4))[2])
    for name, slope in gradients(y, attention, x).items():
        assert slope.isfinite().all(), name


@FORMS
@POSITIONS
def test_pieces_give_what_the_whole_gives(readable: bool, positions: str) -> None:
    attention = layer(readable, positions=positions)
    x = torch.randn(9, BATCH_SIZE, D_MODEL, dtype=torch.float64)
    whole = attention(query=x, key=x, value=x, is_causal=True)
    state, pieces = None, []
    for piece in x.split([3, 1, 4, 1]):
        y, state = attention.step(piece, state)
        pieces.append(y)
    torch.testing.assert_close(torch.cat(pieces), whole, rtol=1e-11, atol=1e-11)


# --- dropout, kept weights, subclasses ---


@FORMS
def test_the_dropout_setting_is_honoured(readable: bool) -> None:
    attention, x = layer(readable, dropout_prob=1.0), inputs()
    y = attention(**x)
    torch.testing.assert_close(y, attention.output.bias.expand_as(y))
    assert attention.dropout.p == 1.0
    assert attention.eval()(**x).std() > 0.1


def test_kept_weights_are_from_before_dropout_and_sum_to_one_over_the_keys() -> None:
    attention, x = layer(readable=True, dropout_prob=0.5), inputs()
    attention(**x)
    assert attention.attn is not None
    total = attention.attn.sum(dim=1)
    torch.testing.assert_close(total, torch.ones_like(total))


def test_no_weights_are_kept_unless_asked_for_nor_stay_from_an_earlier_call() -> None:
    attention, x = layer(readable=True), inputs()
    attention(**x)
    attention.keep_attn = False
    attention(**x)
    assert attention.attn is None


class OnlyDistance(RelativeMultiHeadAttention):
    def get_scores(self, query: Tensor, key: Tensor) -> Tensor:
        return super().get_scores(torch.zeros_like(query), torch.zeros_like(key))


def test_scores_of_a_subclass_are_used() -> None:
    attention = OnlyDistance(HEADS, D_MODEL, 0.0, max_len=MAX_LEN).double()
    x = inputs()
    expected = attention.output(attention.value.linear(x["value"]).mean(dim=0)).expand(5, -1, -1)
    torch.testing.assert_close(attention(**x), expected)


# --- a module among modules ---


def test_the_state_has_exactly_these_names_and_sizes() -> None:
    state = RelativeMultiHeadAttention(HEADS, D_MODEL).state_dict()
    assert {name: tuple(t.shape) for name, t in state.items()} == {
        "query.linear.weight": (15, 15),
        "key.linear.weight": (15, 15),
        "value.linear.weight": (15, 15),
        "value.linear.bias": (15,),
        "output.weight": (15, 15),
        "output.bias": (15,),
        "key_pos_embeddings": (8192, 3, 5),
        "key_pos_bias": (8192, 3),
        "query_pos_bias": (3, 5),
    }


def test_the_way_of_the_paper_has_a_matrix_and_a_vector_in_place_of_the_tables() -> None:
    names = set(layer(positions="sinusoidal").state_dict()) - set(layer().state_dict())
    assert names == {"key_pos.linear.weight", "pos_query_bias"}


@pytest.mark.parametrize("prefix", ["", "0."])
def test_an_old_state_with_4096_distances_is_loaded_and_computes_the_same(prefix: str) -> None:
    old, x = layer(max_len=2**12), inputs()
    new: nn.Module = layer()
    whole = nn.Sequential(new) if prefix else new
    whole.load_state_dict({prefix + name: t for name, t in old.state_dict().items()}, strict=True)
    torch.testing.assert_close(new(**x), old(**x), rtol=1e-12, atol=1e-12)
    assert old.state_dict()["key_pos_bias"].shape == (8192, HEADS)


def test_a_state_with_too_few_distances_is_refused() -> None:
    with pytest.raises(RuntimeError, match="size mismatch for key_pos_embeddings"):
        layer().load_state_dict(layer(max_len=5).state_dict())


@POSITIONS
def test_every_parameter_gets_a_gradient(positions: str) -> None:
    attention, x = layer(positions=positions), inputs(9, 9)
    attention(**x).square().sum().backward()
    for name, parameter in attention.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().amax() > 0, name


@FORMS
@POSITIONS
def test_a_copy_made_after_a_call_computes_the_same_and_loads_old_states(
    readable: bool, positions: str
) -> None:
    attention, x = layer(readable, positions=positions), inputs()
    y = attention(**x)
    other = copy.deepcopy(attention)
    assert torch.equal(other(**x), y)
    if positions == "learned":
        other.load_state_dict(layer(max_len=100).state_dict())


@pytest.mark.parametrize(
    ("readable", "positions", "kind"),
    [
        (False, "learned", "some blind"),
        (False, "sinusoidal", "told causal"),
        (True, "learned", "told causal"),
    ],
)
def test_compiled_it_computes_the_same(readable: bool, positions: str, kind: str) -> None:
    attention, x = layer(readable, torch.float32, positions=positions), inputs(dtype=torch.float32)
    torch.compiler.reset()
    compiled = torch.compile(attention, backend="aot_eager", fullgraph=True)
    how: dict[str, Any] = {"is_causal": True} if kind == "told causal" else {"mask": some_blind(5, 9)}
    ours, eager = compiled(**x, **how), attention(**x, **how)
    torch.testing.assert_close(ours, eager)
    slopes = gradients(ours, attention, x)
    for name, slope in gradients(eager, attention, x).items():
        torch.testing.assert_close(slopes[name], slope, rtol=1e-4, atol=1e-4, msg=name)


@FORMS
@POSITIONS
def test_under_autocast_it_computes_in_bfloat16_what_it_computes_in_float32(
    readable: bool, positions: str
) -> None:
    attention = layer(readable, torch.float32, positions=positions)
    x, mask = inputs(dtype=torch.float32), some_blind(5, 9)
    with torch.autocast("cpu", torch.bfloat16):
        y = attention(**x, mask=mask)
    assert y.dtype == torch.bfloat16
    expected = attention(**x, mask=mask)
    torch.testing.assert_close(y.float(), expected, rtol=0.1, atol=0.1 * expected.abs().max().item())
    for name, slope in gradients(y, attention, x).items():
        assert slope.dtype == torch.float32
        assert slope.isfinite().all(), name


@FORMS
@POSITIONS
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_in_half_precision_it_computes_what_it_computes_in_float64(
    readable: bool, positions: str, dtype: torch.dtype
) -> None:
    attention = layer(readable, positions=positions)
    x, mask = inputs(), some_blind(5, 9)
    expected = attention(**x, mask=mask)
    y = attention.to(dtype)(**{name: t.to(dtype) for name, t in x.items()}, mask=mask)
    assert y.dtype == dtype
    torch.testing.assert_close(y.double(), expected, rtol=0.1, atol=0.1 * expected.abs().max().item())


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_gradients_for_each_sample_at_once_are_those_taken_one_by_one() -> None:
    attention = layer()
    parameters = {name: p.detach() for name, p in attention.named_parameters()}

    def loss(parameters: dict[str, Tensor], x: Tensor) -> Tensor:
        how = {"query": x, "key": x, "value": x, "is_causal": True}
        y: Tensor = torch.func.functional_call(attention, parameters, kwargs=how)
        return y.square().sum()

    samples = torch.randn(4, 3, 1, D_MODEL, dtype=torch.float64)
    slopes = torch.func.grad(loss)
    together = torch.func.vmap(slopes, in_dims=(None, 0))(parameters, samples)
    for name, slope in slopes(parameters, samples[2]).items():
        torch.testing.assert_close(together[name][2], slope, msg=name)


# --- what is refused ---


@FORMS
@pytest.mark.parametrize(("seq_len_q", "seq_len_k"), [(1, 13), (13, 5), (14, 14)])
def test_a_sequence_longer_than_the_table_is_refused_with_both_numbers(
    readable: bool, seq_len_q: int, seq_len_k: int
) -> None:
    words = f"{seq_len_q} queries and {seq_len_k} keys .* max_len = 12"
    with pytest.raises(ValueError, match=words):
        layer(readable)(**inputs(seq_len_q, seq_len_k))


@FORMS
def test_a_sequence_as_long_as_the_table_fits_and_without_a_table_any_does(readable: bool) -> None:
    assert layer(readable)(**inputs(12, 12)).shape == (12, BATCH_SIZE, D_MODEL)
    paper = layer(readable, positions="sinusoidal")
    assert paper(**inputs(14, 30)).shape == (14, BATCH_SIZE, D_MODEL)


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match=r"d_model = 15 .*heads = 4"):
        RelativeMultiHeadAttention(4, 15)
    with pytest.raises(ValueError, match=r"max_len = 0 must be at least 1"):
        RelativeMultiHeadAttention(3, 15, max_len=0)
    with pytest.raises(ValueError, match=r"positions = 'rotary'"):
        RelativeMultiHeadAttention(3, 15, positions="rotary")  # type: ignore[arg-type]


@FORMS
def test_inputs_and_masks_that_do_not_fit_are_refused_with_their_numbers(readable: bool) -> None:
    attention, x = layer(readable), inputs()
    with pytest.raises(ValueError, match=r"\[5, 8, 1\].*\[5 or 1, 9, 2 or 1\]"):
        attention(**x, mask=torch.ones(5, 8, 1, dtype=torch.bool))
    with pytest.raises(ValueError, match=r"torch.float32.* must be torch.bool"):
        attention(**x, mask=torch.ones(5, 9, 1))
    with pytest.raises(ValueError, match=r"\[5, 2, 14\].*d_model = 15"):
        attention(**{**x, "query": x["query"][..., :14]})


@FORMS
@POSITIONS
def test_an_empty_piece_is_read_without_a_trace(readable: bool, positions: str) -> None:
    attention = layer(readable, positions=positions)
    x = inputs(7, 7)["query"]
    whole = attention(query=x, key=x, value=x, is_causal=True)
    nothing, state = attention.step(x[:0])
    first, state = attention.step(x[:4], state)
    still_nothing, state = attention.step(x[:0], state)
    second, _ = attention.step(x[4:], state)
    assert nothing.shape == still_nothing.shape == (0, BATCH_SIZE, D_MODEL)
    torch.testing.assert_close(torch.cat([first, second]), whole)
