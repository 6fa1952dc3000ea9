"""Fast weights against the published formulas by loops, a public implementation, and their own invariants."""

import copy
import math
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from labml_nn.transformers import FeedForward, fast_weights
from labml_nn.transformers.fast_weights import (
    DPFP,
    FastWeightsAttention,
    FastWeightsAttentionTransformer,
    FastWeightsAttentionTransformerLayer,
    delta_rule,
    sum_rule,
    token_wise,
)
from site_builder.verified import Verify
from tests.labml_nn.differences import verify_derivatives

HEADS, D_MODEL, D_K = 3, 12, 4
SEQ_LEN, BATCH_SIZE = 11, 2
D_PHI, D_V = 6, 5

LENGTHS = pytest.mark.parametrize("seq_len", [1, 2, 5, 33, 70])
NORMS = pytest.mark.parametrize("norm", ["sum", "l2"])
CLOSE = {"rtol": 1e-11, "atol": 1e-12}
FORMULAS = "Schlag et al. 2021, in plain loops"


def memory_inputs(seq_len: int = SEQ_LEN, norm: str = "l2") -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Query and key features, values and strengths."""
    features = torch.randn(2, seq_len, BATCH_SIZE, HEADS, D_PHI, dtype=torch.float64).abs()
    length = features.sum(-1, keepdim=True) if norm == "sum" else features.norm(dim=-1, keepdim=True)
    query, key = features / length
    value = torch.randn(seq_len, BATCH_SIZE, HEADS, D_V, dtype=torch.float64)
    beta = torch.rand(seq_len, BATCH_SIZE, HEADS, dtype=torch.float64)
    for t in (query, key, value, beta):
        t.requires_grad_()
    return query, key, value, beta


def memory_state() -> Tensor:
    return torch.randn(BATCH_SIZE, HEADS, D_V, D_PHI, dtype=torch.float64, requires_grad=True)


def gradients(outputs: Any, wanted: list[Tensor]) -> list[Tensor]:
    """The gradients of a sum with uneven terms, since that of a plain sum can hide a mistake."""
    loss = sum((y * torch.linspace(-1, 1, y.numel(), dtype=y.dtype).view_as(y)).sum() for y in outputs)
    return list(torch.autograd.grad(loss, wanted))


def attention(form: Any = fast_weights, dropout_prob: float = 0.0, **settings: Any) -> Any:
    return form.FastWeightsAttention(HEADS, D_MODEL, dropout_prob, DPFP(nu=2, **settings)).double()


def layer(form: Any = fast_weights, **settings: Any) -> Any:
    return form.FastWeightsAttentionTransformerLayer(
        d_model=D_MODEL,
        attn=attention(form),
        feed_forward=FeedForward(D_MODEL, 20, 0.0),
        dropout_prob=0.0,
        **settings,
    ).double()


def transformer(form: Any = fast_weights, n_layers: int = 3, **settings: Any) -> Any:
    return form.FastWeightsAttentionTransformer(layer(form, **settings), n_layers).double()


MODULES = pytest.mark.parametrize("make", [attention, layer, transformer])


def sequence(seq_len: int = SEQ_LEN, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(seq_len, BATCH_SIZE, D_MODEL, dtype=dtype, requires_grad=True)


# --- against what nobody here wrote ---


def delta_rule_of_the_paper(
    query: Tensor, key: Tensor, value: Tensor, beta: Tensor, state: Tensor
) -> tuple[Tensor, Tensor]:
    """W ← W + β (v − W φ(k)) ⊗ φ(k), y = W φ(q) of Schlag et al. 2021, one number at a time."""
    y = torch.zeros(value.shape, dtype=torch.float64)
    weights = state.detach().clone()
    for b in range(value.shape[1]):
        for h in range(value.shape[2]):
            W = weights[b, h].tolist()
            for t in range(value.shape[0]):
                q, k, v = (x[t, b, h].tolist() for x in (query, key, value))
                strength = beta[t, b, h].item()
                for row, target in zip(W, v, strict=True):
                    error = target - sum(w * n for w, n in zip(row, k, strict=True))
                    for n in range(len(k)):
                        row[n] += strength * error * k[n]
                for i, row in enumerate(W):
                    y[t, b, h, i] = sum(w * n for w, n in zip(row, q, strict=True))
            weights[b, h] = torch.tensor(W, dtype=torch.float64)
    return y, weights


@pytest.mark.parametrize("rule", [delta_rule, token_wise.delta_rule], ids=["chunkwise", "token by token"])
@pytest.mark.parametrize("seq_len", [1, 11, 41])
@NORMS
def test_the_delta_rule_is_the_published_formula(
    rule: Callable[..., tuple[Tensor, Tensor]], seq_len: int, norm: str, verified: Verify
) -> None:
    inputs, state = memory_inputs(seq_len, norm), memory_state()
    expected = delta_rule_of_the_paper(*inputs, state=state)
    verified(rule(*inputs, state=state), expected, against=FORMULAS, of=rule, **CLOSE)


@pytest.mark.parametrize("name", ["torch_recurrent_gated_delta_rule", "torch_chunk_gated_delta_rule"])
def test_the_delta_rule_is_that_of_qwen3_next_without_its_gate(name: str, verified: Verify) -> None:
    pytest.importorskip("transformers")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from transformers.models.qwen3_next import modeling_qwen3_next as qwen

    query, key, value, beta = (t.detach().float() for t in memory_inputs(70))
    state = memory_state().detach().float()
    # Theirs divides the query by the root of its length, and holds the state as [key, value].
    theirs, their_state = getattr(qwen, name)(
        query.transpose(0, 1) * math.sqrt(D_PHI),
        key.transpose(0, 1),
        value.transpose(0, 1),
        torch.zeros_like(beta).transpose(0, 1),
        beta.transpose(0, 1),
        initial_state=state.mT,
        output_final_state=True,
    )
    ours, expected = delta_rule(query, key, value, beta, state), (theirs.transpose(0, 1), their_state.mT)
    verified(ours, expected, against=f"transformers, Qwen3-Next: {name}", of=delta_rule, rtol=1e-4, atol=2e-5)


def dpfp_of_the_paper(k: list[float], nu: int) -> list[float]:
    """φ_{2d(i−1)+j}(k) = r_j r_{j−i}, with r = relu([k, −k])."""
    r = [max(0.0, x) for x in k] + [max(0.0, -x) for x in k]
    return [r[j] * r[(j - i) % len(r)] for i in range(1, nu + 1) for j in range(len(r))]


@pytest.mark.parametrize("nu", [1, 2, 3])
@NORMS
def test_features_are_those_of_the_published_formula(nu: int, norm: str, verified: Verify) -> None:
    k = torch.randn(5, D_K, dtype=torch.float64)
    raw = torch.tensor([dpfp_of_the_paper(row, nu) for row in k.tolist()], dtype=torch.float64)
    length = raw.sum(-1, keepdim=True) if norm == "sum" else raw.norm(dim=-1, keepdim=True)
    features = DPFP(nu, eps=0.0, norm=norm)(k)
    verified(features, raw / length, against=FORMULAS, of=DPFP, rtol=1e-12, atol=1e-12)


def test_the_sum_rule_is_linear_attention_by_cumulative_sums(verified: Verify) -> None:
    query, key, value, _ = memory_inputs(41)
    state = memory_state()
    weights = state + torch.einsum("tbhv,tbhk->tbhvk", value, key).cumsum(dim=0)
    y = torch.einsum("tbhvk,tbhk->tbhv", weights, query)
    ours = sum_rule(query, key, value, state)
    same: dict[str, Any] = {"against": "torch.cumsum of outer products", "of": sum_rule, **CLOSE}
    verified(ours, (y, weights[-1]), **same)
    wanted = [query, key, value, state]
    slopes = gradients(ours, wanted), gradients((y, weights[-1]), wanted)
    verified(*slopes, what="gradients", **same)


# --- the chunkwise form is the stepwise form ---


@LENGTHS
@pytest.mark.parametrize("chunk_size", [1, 4, 32])
@pytest.mark.parametrize("with_state", [False, True], ids=["empty", "with a state"])
def test_chunks_and_tokens_agree_in_value_and_gradient(
    seq_len: int, chunk_size: int, with_state: bool
) -> None:
    inputs = memory_inputs(seq_len)
    state = memory_state() if with_state else None
    wanted = [*inputs, state] if state is not None else inputs
    ours = delta_rule(*inputs, state=state, chunk_size=chunk_size)
    slow = token_wise.delta_rule(*inputs, state=state)
    torch.testing.assert_close(ours, slow, **CLOSE)
    for slope, other in zip(gradients(ours, wanted), gradients(slow, wanted), strict=True):
        torch.testing.assert_close(slope, other, **CLOSE)


def test_first_and_second_derivatives_are_those_of_finite_differences(verified: Verify) -> None:
    def rule(query: Tensor, key: Tensor, value: Tensor, beta: Tensor, state: Tensor) -> Any:
        return delta_rule(query, key, value, beta, state, chunk_size=2)

    shapes = [(3, 1, 1, 2), (3, 1, 1, 2), (3, 1, 1, 2), (3, 1, 1), (1, 1, 2, 2)]
    inputs = [torch.rand(s, dtype=torch.float64, requires_grad=True) for s in shapes]
    assert torch.autograd.gradcheck(rule, inputs)
    assert torch.autograd.gradgradcheck(rule, inputs)
    verify_derivatives(verified, rule, *inputs, of=delta_rule)


@NORMS
def test_derivatives_of_the_features_are_those_of_finite_differences(norm: str, verified: Verify) -> None:
    k = torch.randn(3, D_K, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(DPFP(nu=2, norm=norm), k)
    assert torch.autograd.gradgradcheck(DPFP(nu=2, norm=norm), k)
    verify_derivatives(verified, DPFP(nu=2, norm=norm), k, of=DPFP)


@MODULES
def test_pieces_of_any_length_give_what_the_whole_gives(make: Callable[..., Any]) -> None:
    module, x = make(), sequence(40)
    whole, pieces, state = module(x), [], None
    for piece in x.split([1, 33, 2, 1, 3]):
        y, state = module.step(piece, state)
        pieces.append(y)
    torch.testing.assert_close(torch.cat(pieces), whole, **CLOSE)
    wanted = [x, *module.parameters()]
    for slope, other in zip(gradients([torch.cat(pieces)], wanted), gradients([whole], wanted), strict=True):
        torch.testing.assert_close(slope, other, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("make", [attention, layer])
def test_token_by_token_modules_give_what_those_for_sequences_give(make: Callable[..., Any]) -> None:
    module, stepwise, x = make(), make(token_wise), sequence()
    stepwise.load_state_dict(module.state_dict())
    whole, state = module.step(x)
    weights, outputs = None, []
    for position in x:
        y, weights = stepwise(position, weights)
        outputs.append(y)
    torch.testing.assert_close((torch.stack(outputs), weights), (whole, state), **CLOSE)


def test_the_token_by_token_transformer_gives_what_that_for_sequences_gives() -> None:
    module, stepwise, x = transformer(), transformer(token_wise), sequence()
    stepwise.load_state_dict(module.state_dict())
    torch.testing.assert_close(stepwise(x), module(x), **CLOSE)
    theirs = gradients([stepwise(x)], list(stepwise.parameters()))
    for slope, other in zip(gradients([module(x)], list(module.parameters())), theirs, strict=True):
        torch.testing.assert_close(slope, other, rtol=1e-9, atol=1e-11)


def test_a_state_is_never_changed_in_place() -> None:
    module, state = attention(), torch.randn(BATCH_SIZE, HEADS, D_K, 4 * D_K, dtype=torch.float64)
    before = state.clone()
    module.step(sequence(), state)
    assert torch.equal(state, before)


def test_an_empty_sequence_leaves_the_memory_as_it_is() -> None:
    inputs, state = memory_inputs(0), memory_state()
    for rule in (delta_rule, token_wise.delta_rule):
        y, weights = rule(*inputs, state=state)
        assert y.shape == (0, BATCH_SIZE, HEADS, D_V)
        assert torch.equal(weights, state)


# --- what must hold of any such memory ---


@MODULES
def test_no_position_hears_of_a_later_one(make: Callable[..., Any]) -> None:
    module, x = make(), sequence(40).detach()
    before = module(x)
    x[35] = 1e6
    after = module(x)
    assert torch.isfinite(after).all()
    torch.testing.assert_close(after[:35], before[:35], rtol=1e-12, atol=1e-12)
    assert not torch.allclose(after[35:], before[35:])


@MODULES
def test_items_of_the_batch_do_not_hear_of_each_other(make: Callable[..., Any]) -> None:
    module, x = make(), sequence()
    torch.testing.assert_close(module(x[:, :1]), module(x)[:, :1], **CLOSE)


def written_and_read_back(norm: str, k: Tensor, value: Tensor, old: Tensor) -> Tensor:
    phi = DPFP(norm=norm)(k)
    y, _ = delta_rule(phi, phi, value, torch.ones(1, 1, 1, dtype=k.dtype), old)
    return y


def test_under_l2_a_value_written_in_full_is_recalled_exactly() -> None:
    k, value = torch.randn(1, 1, 1, 8).double(), torch.randn(1, 1, 1, 5).double()
    old = torch.randn(1, 1, 5, 16).double()
    torch.testing.assert_close(written_and_read_back("l2", k, value, old), value, rtol=1e-9, atol=1e-9)


def test_under_the_sum_only_the_squared_length_of_it_is_recalled() -> None:
    k, value = torch.randn(1, 1, 1, 8).double(), torch.randn(1, 1, 1, 5).double()
    share = DPFP()(k).square().sum()
    assert share < 0.9
    recalled = written_and_read_back("sum", k, value, torch.zeros(1, 1, 5, 16).double())
    torch.testing.assert_close(recalled, share * value, rtol=1e-12, atol=1e-12)


def test_a_full_write_replaces_where_the_sum_rule_adds() -> None:
    key = torch.zeros(2, 1, 1, 3)
    key[..., 0] = 1.0
    value = torch.tensor([10.0, 20.0]).view(2, 1, 1, 1)
    y, _ = delta_rule(key, key, value, torch.ones(2, 1, 1))
    assert y.flatten().tolist() == [10.0, 20.0]
    y, _ = sum_rule(key, key, value)
    assert y.flatten().tolist() == [10.0, 30.0]


# --- the features ---


@NORMS
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("scale", [1e-30, 1e-12, 1e-4, 1e4, 1e30])
def test_features_do_not_depend_on_the_scale_of_the_key(norm: str, dtype: torch.dtype, scale: float) -> None:
    k = torch.randn(7, 6, dtype=dtype)
    torch.testing.assert_close(DPFP(norm=norm)(k * scale), DPFP(norm=norm)(k))


@NORMS
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_a_key_of_zeros_has_no_features_and_a_finite_gradient(norm: str, dtype: torch.dtype) -> None:
    k = torch.zeros(2, 4, dtype=dtype, requires_grad=True)
    phi = DPFP(norm=norm)(k)
    assert not phi.any()
    phi.sum().backward()
    assert k.grad.isfinite().all()


def test_a_shift_by_d_key_is_empty_and_a_longer_one_repeats_a_shorter() -> None:
    d = 5
    r = torch.cat([(k := torch.randn(d)), -k]).relu()
    assert not (r * r.roll(d)).any()
    for i in range(1, d):
        assert torch.equal((r * r.roll(2 * d - i)).sort().values, (r * r.roll(i)).sort().values)


@pytest.mark.parametrize(("nu", "d_key"), [(1, 1), (4, 4), (7, 4)])
def test_shifts_that_add_nothing_are_refused_with_both_numbers(nu: int, d_key: int) -> None:
    with pytest.raises(ValueError, match=f"nu = {nu} .*d_key = {d_key}"):
        DPFP(nu)(torch.randn(3, d_key))


# --- dropout, norms, gates ---


def test_dropout_falls_on_what_is_read_in_training_only() -> None:
    module, x = attention(dropout_prob=1.0), sequence()
    torch.testing.assert_close(module(x), module.output.bias.expand_as(x))
    kept = attention()
    kept.load_state_dict(module.state_dict())
    torch.testing.assert_close(module.eval()(x), kept(x))


def test_dropout_never_reaches_the_memory() -> None:
    module, x = attention(dropout_prob=0.5), sequence()
    _, trained = module.step(x)
    _, evaluated = module.eval().step(x)
    assert torch.equal(trained, evaluated)


@pytest.mark.parametrize("form", [fast_weights, token_wise], ids=["chunkwise", "token by token"])
@pytest.mark.parametrize("pre_norm", [True, False])
def test_every_parameter_that_is_trained_gets_a_gradient(form: Any, pre_norm: bool) -> None:
    module = transformer(form, pre_norm=pre_norm)
    (module(sequence()) * torch.randn(SEQ_LEN, BATCH_SIZE, D_MODEL)).sum().backward()
    idle = {n for n, p in module.named_parameters() if p.grad is None or not p.grad.any()}
    assert idle == {n for n, p in module.named_parameters() if not p.requires_grad}
    assert bool(idle) == (not pre_norm)
    assert all("norm_self_attn" in name for name in idle)


def test_without_pre_norm_the_layer_is_that_of_old_checkpoints() -> None:
    module, x = layer(pre_norm=False), sequence()
    z = x + module.attn(x)
    expected = z + module.feed_forward(module.norm_ff(z))
    torch.testing.assert_close(module(x), expected)
    module.pre_norm = True
    z = x + module.attn(module.norm_self_attn(x))
    expected = z + module.feed_forward(module.norm_ff(z))
    torch.testing.assert_close(module(x), expected)


# --- a module among modules ---

ATTENTION_NAMES = {
    "query.linear.weight",
    "key.linear.weight",
    "value.linear.weight",
    "gate.linear.weight",
    "output.weight",
    "output.bias",
}


@pytest.mark.parametrize("form", [fast_weights, token_wise], ids=["chunkwise", "token by token"])
def test_the_state_has_exactly_these_names(form: Any) -> None:
    state = attention(form).state_dict()
    assert set(state) == ATTENTION_NAMES
    assert state["gate.linear.weight"].shape == (HEADS, D_MODEL)
    norms = {f"{n}.{kind}" for n in ("norm_self_attn", "norm_ff") for kind in ("weight", "bias")}
    feed_forward = {f"feed_forward.layer{n}.{kind}" for n in (1, 2) for kind in ("weight", "bias")}
    names = {f"attn.{n}" for n in ATTENTION_NAMES} | norms | feed_forward
    expected = {f"layers.{i}.{n}" for i in range(2) for n in names} | {"norm.weight", "norm.bias"}
    assert set(transformer(form, n_layers=2).state_dict()) == expected


@pytest.mark.parametrize("form", [fast_weights, token_wise], ids=["chunkwise", "token by token"])
@pytest.mark.parametrize("old", ["gate.0.linear", "interpolation_weight.0.linear"])
def test_states_with_old_names_of_the_gate_are_loaded(form: Any, old: str) -> None:
    module, other = transformer(form), transformer(form)
    state = {n.replace("gate.linear", old): t for n, t in module.state_dict().items()}
    assert any(old in n for n in state)
    names = set(state)
    # A copy carries the hook too, and the caller's table is left as it was.
    copy.deepcopy(other).load_state_dict(state)
    assert set(state) == names
    other.load_state_dict(state)
    x = sequence(5)
    assert torch.equal(other(x), module(x))


def test_a_state_with_two_gates_is_refused() -> None:
    module = attention()
    state = {**module.state_dict(), "gate.0.linear.weight": module.gate.linear.weight}
    with pytest.raises(RuntimeError, match=r"Unexpected key.*gate\.0\.linear\.weight"):
        module.load_state_dict(state)


@MODULES
def test_a_copy_made_after_a_call_computes_the_same(make: Callable[..., Any]) -> None:
    module, x = make(), sequence()
    y = module(x)
    assert torch.equal(copy.deepcopy(module)(x), y)


@MODULES
@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (5, 1)])
def test_length_one_and_batch_size_one_are_sequences_too(
    make: Callable[..., Any], shape: tuple[int, int]
) -> None:
    x = torch.randn(*shape, D_MODEL, dtype=torch.float64)
    assert make()(x).shape == x.shape


def test_a_map_with_weights_is_trained_with_the_attention() -> None:
    phi = nn.Sequential(nn.Linear(D_K, 9), nn.Softmax(dim=-1))
    module = FastWeightsAttention(HEADS, D_MODEL, 0.0, phi)
    y, state = module.step(sequence(dtype=torch.float32))
    assert state.shape == (BATCH_SIZE, HEADS, D_K, 9)
    y.square().sum().backward()
    assert all(p.grad is not None for p in phi.parameters())


def test_compiled_it_computes_the_same() -> None:
    module, x = attention().float(), sequence(70, torch.float32)
    torch.compiler.reset()
    compiled = torch.compile(module, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), module(x))
    wanted = [x, *module.parameters()]
    for slope, other in zip(gradients([compiled(x)], wanted), gradients([module(x)], wanted), strict=True):
        torch.testing.assert_close(slope, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("make", [attention, transformer])
def test_under_autocast_it_computes_in_bfloat16_what_it_computes_in_float32(
    make: Callable[..., Any],
) -> None:
    module, x = make().float(), sequence(40, torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        y, state = module.step(x)
    for memory in [state] if isinstance(state, Tensor) else state:
        assert memory.dtype == torch.float32
    torch.testing.assert_close(y.float(), module(x), rtol=0.1, atol=0.1)
    for slope in gradients([y.float()], [x, *module.parameters()]):
        assert slope.dtype == torch.float32
        assert slope.isfinite().all()


@pytest.mark.parametrize("form", [fast_weights, token_wise], ids=["chunkwise", "token by token"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_in_half_precision_it_computes_what_it_computes_in_float64(form: Any, dtype: torch.dtype) -> None:
    module, x = transformer(form), sequence(20)
    expected = module(x)
    y = module.to(dtype)(x.to(dtype))
    assert y.dtype == dtype
    torch.testing.assert_close(y.double(), expected, rtol=0.1, atol=0.15)


def test_checkpointing_gives_the_same_gradients() -> None:
    module, x = layer(), sequence()
    wanted = [x, *module.parameters()]
    expected = gradients([module(x)], wanted)
    y = torch.utils.checkpoint.checkpoint(module, x, use_reentrant=False)
    for slope, other in zip(gradients([y], wanted), expected, strict=True):
        torch.testing.assert_close(slope, other)


# --- what is refused ---


@pytest.mark.parametrize(("heads", "d_model"), [(5, 12), (0, 12), (-3, 12), (3, 0), (3, -3)])
def test_heads_that_cannot_share_the_width_are_refused(heads: int, d_model: int) -> None:
    with pytest.raises(ValueError, match=f"d_model = {d_model} .*heads = {heads}"):
        FastWeightsAttention(heads, d_model, 0.1, DPFP())


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"nu": 0}, "nu = 0.*at least 1"),
        ({"eps": -1.0}, "eps = -1.0.*0"),
        ({"norm": "max"}, "'max'.*'sum' or 'l2'"),
    ],
)
def test_settings_of_the_map_that_make_no_sense_are_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        DPFP(**settings)


GOOD = {
    "query": (7, 2, 3, 6),
    "key": (7, 2, 3, 6),
    "value": (7, 2, 3, 5),
    "beta": (7, 2, 3),
    "state": (2, 3, 5, 6),
}


@pytest.mark.parametrize("rule", [delta_rule, token_wise.delta_rule], ids=["chunkwise", "token by token"])
@pytest.mark.parametrize(
    ("name", "shape", "words"),
    [
        ("query", (7, 2, 3, 4), ["[7, 2, 3, 4]", "[7, 2, 3, 6]"]),
        ("value", (6, 2, 3, 5), ["[6, 2, 3, 5]", "[7, 2, 3, 6]"]),
        ("beta", (7, 2, 1), ["[7, 2, 1]", "[7, 2, 3]"]),
        ("state", (2, 3, 6, 5), ["[2, 3, 6, 5]", "[2, 3, 5, 6]"]),
        ("state", (1, 3, 5, 6), ["[1, 3, 5, 6]", "[2, 3, 5, 6]"]),
    ],
)
def test_a_memory_call_that_does_not_fit_is_refused_with_its_numbers(
    rule: Callable[..., Any], name: str, shape: tuple[int, ...], words: list[str]
) -> None:
    with pytest.raises(ValueError) as refusal:  # noqa: PT011
        rule(**{n: torch.zeros(s) for n, s in {**GOOD, name: shape}.items()})
    for word in words:
        assert word in str(refusal.value)


@pytest.mark.parametrize("rule", [delta_rule, sum_rule])
def test_a_chunk_of_nothing_is_refused(rule: Callable[..., Any]) -> None:
    inputs = memory_inputs()[: 3 if rule is sum_rule else 4]
    with pytest.raises(ValueError, match="chunk_size = 0 must be at least 1"):
        rule(*inputs, chunk_size=0)


@pytest.mark.parametrize("rule", [delta_rule, token_wise.delta_rule], ids=["chunkwise", "token by token"])
@pytest.mark.parametrize("axes", [(7, 2), (7, 2, 3, 4)])
def test_a_memory_call_without_heads_or_with_too_many_axes_is_refused(
    rule: Callable[..., Any], axes: tuple[int, ...]
) -> None:
    x = torch.zeros(*axes, 5)
    with pytest.raises(ValueError, match=r"value has shape.*4 axes"):
        rule(x, x, x, x[..., 0])


@pytest.mark.parametrize("form", [fast_weights, token_wise], ids=["chunkwise", "token by token"])
def test_layers_and_stacks_refuse_what_does_not_fit_with_both_numbers(form: Any) -> None:
    attn = form.FastWeightsAttention(HEADS, D_MODEL, 0.1, DPFP())
    layer = form.FastWeightsAttentionTransformerLayer(
        d_model=D_MODEL, attn=attn, feed_forward=nn.Linear(D_MODEL, D_MODEL), dropout_prob=0.0
    )
    x = torch.zeros(7, 2, 11)
    with pytest.raises(ValueError, match=r"11\].*d_model = 12"):
        layer(x if form is fast_weights else x[0])
    stack = form.FastWeightsAttentionTransformer(layer, 2)
    with pytest.raises(ValueError, match=r"11\].*d_model = 12"):
        stack(x)
    with pytest.raises(ValueError, match="n_layers = 0"):
        form.FastWeightsAttentionTransformer(layer, 0)
    assert stack(torch.zeros(0, 2, D_MODEL)).shape == (0, 2, D_MODEL)


def test_a_batch_of_nothing_is_a_batch_too() -> None:
    assert attention()(sequence()[:1, :0]).shape == (1, 0, D_MODEL)


@pytest.mark.parametrize("shape", [(7, 2, 11), (7, 12)])
def test_a_sequence_that_does_not_fit_is_refused_with_both_numbers(shape: tuple[int, ...]) -> None:
    module = FastWeightsAttention(HEADS, D_MODEL, 0.1, DPFP())
    with pytest.raises(ValueError, match=r"x has shape .*d_model = 12") as refusal:
        module(torch.zeros(shape))
    assert str(list(shape)) in str(refusal.value)


def test_a_position_that_does_not_fit_is_refused_with_both_numbers() -> None:
    module = token_wise.FastWeightsAttention(HEADS, D_MODEL, 0.1, DPFP())
    with pytest.raises(ValueError, match=r"\[7, 2, 12\].*\[batch_size, d_model\] with d_model = 12"):
        module(torch.zeros(7, 2, 12))


def test_a_state_of_another_depth_is_refused_with_both_numbers() -> None:
    module: FastWeightsAttentionTransformer = transformer(n_layers=3)
    _, state = module.step(sequence())
    with pytest.raises(ValueError, match=r"2 memories.*3 layers"):
        module.step(sequence(), state[:2])


def test_the_public_names_are_those_of_the_package() -> None:
    assert isinstance(layer(), FastWeightsAttentionTransformerLayer)
    assert isinstance(layer(token_wise), FastWeightsAttentionTransformerLayer)
