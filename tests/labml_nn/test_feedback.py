"""The feedback transformer against its published formula, a public implementation, and what must hold of it."""

import copy
import math
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from labml_nn.transformers import FeedForward
from labml_nn.transformers.feedback import (
    FeedbackAttention,
    FeedbackTransformer,
    FeedbackTransformerKV,
    FeedbackTransformerLayer,
)
from labml_nn.transformers.feedback import transformer as loop
from site_builder.verified import Verify
from tests.labml_nn.differences import verify_derivatives

HEADS, D_K, D_MODEL, D_FF = 3, 5, 15, 8
SEQ_LEN, BATCH_SIZE, N_LAYERS = 7, 2, 2
FORMULAS = "Fan et al. 2020, in plain loops"

SHARED = pytest.mark.parametrize("shared", [False, True], ids=["own keys", "shared keys"])


def model(
    shared: bool, dtype: torch.dtype = torch.float64, positions: int = 4, dropout: float = 0.0, **ff: Any
) -> FeedbackTransformer:
    """A model in which everything that begins at zero does not."""
    attn = FeedbackAttention(HEADS, D_MODEL, dropout, is_kv_precomputed=shared, positions=positions)
    feed_forward = FeedForward(D_MODEL, D_FF, dropout, **ff)
    layer = FeedbackTransformerLayer(
        d_model=D_MODEL, attn=attn, feed_forward=feed_forward, dropout_prob=dropout
    )
    made = (
        FeedbackTransformerKV(layer, N_LAYERS, D_MODEL, HEADS)
        if shared
        else FeedbackTransformer(layer, N_LAYERS)
    )
    for p in made.parameters():
        nn.init.normal_(p, std=0.4)
    return made.to(dtype)


def sequence(dtype: torch.dtype = torch.float64, seq_len: int = SEQ_LEN, batch: int = BATCH_SIZE) -> Tensor:
    return torch.randn(seq_len, batch, D_MODEL, dtype=dtype, requires_grad=True)


def gradients(y: Tensor, module: nn.Module, x: Tensor) -> dict[str, Tensor]:
    """The gradients of a sum with uneven terms, since that of a plain sum can hide a mistake."""
    wanted = {"x": x, **dict(module.named_parameters())}
    weight = torch.linspace(-1, 1, y.numel(), dtype=y.dtype).view_as(y)
    return dict(zip(wanted, torch.autograd.grad((y * weight).sum(), list(wanted.values())), strict=True))


def same(ours: dict[str, Tensor], theirs: dict[str, Tensor], tolerance: float = 1e-10) -> None:
    for name, slope in theirs.items():
        torch.testing.assert_close(ours[name], slope, rtol=tolerance, atol=tolerance, msg=name)


@pytest.fixture
def short_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of three steps, so that a short sequence has old pieces, a recent one, and one just joined."""
    monkeypatch.setattr(loop, "BLOCK", 3)


# --- against what nobody here wrote ---


def affine(linear: nn.Linear, row: list[float]) -> list[float]:
    biases = linear.bias.tolist() if linear.bias is not None else [0.0] * linear.out_features
    return [
        b + sum(w * r for w, r in zip(ws, row, strict=True))
        for b, ws in zip(biases, linear.weight.tolist(), strict=True)
    ]


def normalised(norm: nn.LayerNorm, row: list[float]) -> list[float]:
    mean = sum(row) / len(row)
    spread = math.sqrt(sum((r - mean) ** 2 for r in row) / len(row) + norm.eps)
    pairs = zip(norm.weight.tolist(), norm.bias.tolist(), row, strict=True)
    return [w * (r - mean) / spread + b for w, b, r in pairs]


def by_loops(m: Any, x: Tensor) -> list[list[float]]:
    """The paper's equations for one item of the batch, one number at a time. `x: [seq_len, d_model]`."""
    powers = [math.exp(w) for w in m.weights.tolist()]
    blend = [p / sum(powers) for p in powers]
    memories: list[list[float]] = []
    results = []
    for row in x.tolist():
        outputs = [row]
        for layer in m.layers:
            attn = layer.attn
            key, value = (m.key, m.value) if isinstance(m, FeedbackTransformerKV) else (attn.key, attn.value)
            if memories:
                q = affine(attn.query.linear, normalised(layer.norm_self_attn, row))
                ks = [affine(key.linear, mem) for mem in memories]
                vs = [affine(value.linear, mem) for mem in memories]
                u, s, b = (
                    t.tolist() for t in (attn.key_pos_embeddings, attn.key_pos_bias, attn.query_pos_bias)
                )
                found = [0.0] * D_MODEL
                for h in range(HEADS):
                    scores = []
                    for j, k in enumerate(ks):
                        distance = min(len(ks) - j, len(u))
                        total = s[-distance][h]
                        for d in range(D_K):
                            here = q[h * D_K + d]
                            total += (here + b[h][d]) * k[h * D_K + d] + here * u[-distance][h][d]
                        scores.append(total / math.sqrt(D_K))
                    exps = [math.exp(score) for score in scores]
                    for e, v in zip(exps, vs, strict=True):
                        for d in range(D_K):
                            found[h * D_K + d] += e / sum(exps) * v[h * D_K + d]
                row = [a + b for a, b in zip(row, affine(attn.output, found), strict=True)]
            hidden = affine(layer.feed_forward.layer1, normalised(layer.norm_ff, row))
            thought = affine(layer.feed_forward.layer2, [max(0.0, h) for h in hidden])
            row = [a + b for a, b in zip(row, thought, strict=True)]
            outputs.append(row)
        memories.append([sum(w * o[d] for w, o in zip(blend, outputs, strict=True)) for d in range(D_MODEL)])
        results.append(normalised(m.norm, row))
    return results


@SHARED
@pytest.mark.parametrize("slowly", [False, True], ids=["fast", "readable"])
def test_value_is_that_of_the_published_formula(
    shared: bool, slowly: bool, short_blocks: None, verified: Verify
) -> None:
    m, x = model(shared), sequence()
    expected = torch.tensor([by_loops(m, x[:, n]) for n in range(BATCH_SIZE)], dtype=torch.float64)
    y = m.slowly(x) if slowly else m(x)
    of = (m, FeedbackAttention)
    verified(y, expected.transpose(0, 1), against=FORMULAS, of=of, rtol=1e-11, atol=1e-11)


@SHARED
@pytest.mark.parametrize("seq_len", [1, 2, 3, 4, 7, 10])
def test_fast_and_readable_form_agree_in_value_and_gradient(
    shared: bool, seq_len: int, short_blocks: None
) -> None:
    m, x = model(shared), sequence(seq_len=seq_len)
    fast, readable = m(x), m.slowly(x)
    torch.testing.assert_close(fast, readable, rtol=1e-11, atol=1e-11)
    wanted = [x, *m.parameters()]
    weight = torch.randn_like(fast)
    for ours, theirs in zip(
        *(
            torch.autograd.grad((y * weight).sum(), wanted, materialize_grads=True, allow_unused=True)
            for y in (fast, readable)
        ),
        strict=True,
    ):
        torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-10)


def test_value_and_gradients_are_those_of_a_public_implementation(verified: Verify) -> None:
    """With one step at a time, no positions and GEGLU, it is the same model; batch first, gate second."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs_of = pytest.importorskip("feedback_transformer_pytorch").FeedbackTransformer
    n_tokens = 6
    theirs = theirs_of(
        num_tokens=n_tokens, dim=D_MODEL, depth=N_LAYERS, mem_len=99, seq_len=1, heads=HEADS, dim_head=D_K
    ).double()
    nn.init.zeros_(theirs.pos_emb.relative_attention_bias.weight)
    nn.init.normal_(theirs.layer_weight)
    attn = FeedbackAttention(HEADS, D_MODEL, 0.0, is_kv_precomputed=True)
    ff = FeedForward(D_MODEL, 4 * D_MODEL, 0.0, F.gelu, is_gated=True)
    layer = FeedbackTransformerLayer(d_model=D_MODEL, attn=attn, feed_forward=ff, dropout_prob=0.0)
    ours = FeedbackTransformerKV(layer, N_LAYERS, D_MODEL, HEADS).double()

    key, value = theirs.shared_kv_proj.weight.chunk(2)
    state = {
        "weights": theirs.layer_weight,
        "key.linear.weight": key,
        "value.linear.weight": value,
        "norm.weight": theirs.to_logits[0].weight,
        "norm.bias": theirs.to_logits[0].bias,
    }
    for n, (their_attn, their_ff) in enumerate(theirs.layers):
        their_attn = getattr(their_attn, "fn", their_attn)
        their_attn, their_ff = their_attn.fn, their_ff.fn
        net = their_ff.fn.net
        (passing, gate), (passing_bias, gate_bias) = net[0].weight.chunk(2), net[0].bias.chunk(2)
        state |= {
            f"layers.{n}.{name}": tensor
            for name, tensor in {
                "norm_self_attn.weight": their_attn.norm.weight,
                "norm_self_attn.bias": their_attn.norm.bias,
                "attn.query.linear.weight": their_attn.fn.to_q.weight,
                "attn.output.weight": their_attn.fn.to_out.weight,
                "attn.output.bias": their_attn.fn.to_out.bias,
                "norm_ff.weight": their_ff.norm.weight,
                "norm_ff.bias": their_ff.norm.bias,
                "feed_forward.layer1.weight": gate,
                "feed_forward.layer1.bias": gate_bias,
                "feed_forward.linear_v.weight": passing,
                "feed_forward.linear_v.bias": passing_bias,
                "feed_forward.layer2.weight": net[3].weight,
                "feed_forward.layer2.bias": net[3].bias,
            }.items()
        }
    missing, unexpected = ours.load_state_dict(state, strict=False)
    assert not unexpected
    assert all("pos" in name for name in missing)

    tokens = torch.randint(n_tokens, (BATCH_SIZE, SEQ_LEN))
    embedded = theirs.token_emb(tokens).detach().transpose(0, 1).requires_grad_()
    logits = theirs.to_logits[1](ours(embedded))
    expected = theirs(tokens)
    same: dict[str, Any] = {"against": "feedback_transformer_pytorch.FeedbackTransformer"}
    same["of"] = (ours, FeedbackAttention)
    verified(logits.transpose(0, 1), expected, rtol=1e-11, atol=1e-11, **same)

    weight = torch.randn_like(expected)
    (logits.transpose(0, 1) * weight).sum().backward()
    theirs.zero_grad()
    (expected * weight).sum().backward()
    pairs = {
        "weights": theirs.layer_weight.grad,
        "norm.weight": theirs.to_logits[0].weight.grad,
        "layers.0.attn.query.linear.weight": theirs.layers[0][0].fn.fn.fn.to_q.weight.grad,
        "layers.1.feed_forward.layer2.weight": theirs.layers[1][1].fn.fn.net[3].weight.grad,
    }
    grads = {name: p.grad for name, p in ours.named_parameters()}
    grads["both"] = torch.cat([grads["key.linear.weight"], grads["value.linear.weight"]])  # type: ignore[list-item]
    pairs["both"] = theirs.shared_kv_proj.weight.grad
    verified({n: grads[n] for n in pairs}, pairs, what="gradients", rtol=1e-10, atol=1e-10, **same)


@pytest.mark.parametrize("precomputed", [False, True], ids=["maps inside", "precomputed"])
def test_attention_is_that_of_the_published_formula(precomputed: bool, verified: Verify) -> None:
    attn = FeedbackAttention(HEADS, D_MODEL, 0.0, is_kv_precomputed=precomputed, positions=4).double()
    for p in attn.parameters():
        nn.init.normal_(p)
    x = torch.randn(BATCH_SIZE, D_MODEL, dtype=torch.float64)
    key, value = torch.randn(2, SEQ_LEN, BATCH_SIZE, D_MODEL, dtype=torch.float64)
    if precomputed:
        key, value = (t.unflatten(-1, (HEADS, D_K)) for t in (key, value))
        k, v = key, value
    else:
        k, v = attn.key(key), attn.value(value)
    q = attn.query(x)
    expected = torch.zeros(BATCH_SIZE, HEADS, D_K, dtype=torch.float64)
    for n in range(BATCH_SIZE):
        for h in range(HEADS):
            scores = []
            for j in range(SEQ_LEN):
                row = max(4 - (SEQ_LEN - j), 0)
                score = (q[n, h] + attn.query_pos_bias[h]) @ k[j, n, h]
                score = score + q[n, h] @ attn.key_pos_embeddings[row, h] + attn.key_pos_bias[row, h]
                scores.append(score.item() / math.sqrt(D_K))
            for j in range(SEQ_LEN):
                expected[n, h] += math.exp(scores[j]) / sum(map(math.exp, scores)) * v[j, n, h].detach()
    y = attn(query=x, key=key, value=value)
    verified(y, attn.output(expected.flatten(-2)), against=FORMULAS, of=attn, rtol=1e-11, atol=1e-11)


# --- what must hold of it ---


@SHARED
def test_no_step_hears_of_the_future(shared: bool, short_blocks: None) -> None:
    m, x = model(shared), sequence().detach()
    changed = x.clone()
    changed[4:] = 1e4
    torch.testing.assert_close(m(changed)[:4], m(x)[:4], rtol=0, atol=0)


@SHARED
def test_the_lowest_layer_hears_of_the_highest_one_step_before(shared: bool) -> None:
    """A change in the last layer alone reaches the first layer's result at the next step."""
    m, x = model(shared), sequence()
    seen: list[Tensor] = []
    m.all_layers[0].feed_forward.register_forward_hook(lambda _m, _x, y: seen.append(y))
    m(x)
    before, seen[:] = seen[:], []
    with torch.no_grad():
        m.all_layers[-1].feed_forward.layer2.bias.add_(1.0)
    m(x)
    assert torch.equal(before[0], seen[0])
    assert not torch.allclose(before[1], seen[1])


@SHARED
@pytest.mark.parametrize("cuts", [[1], [3], [1, 2, 3, 4, 5, 6], [2, 6]])
def test_in_pieces_it_computes_what_it_computes_at_once(
    shared: bool, cuts: list[int], short_blocks: None
) -> None:
    m, x = model(shared), sequence()
    state, found = None, []
    for piece in x.tensor_split(cuts):
        y, state = m.step(piece, state)
        found.append(y)
    whole = m(x)
    torch.testing.assert_close(torch.cat(found), whole, rtol=1e-11, atol=1e-11)
    same(gradients(torch.cat(found), m, x), gradients(whole, m, x))


@SHARED
def test_a_state_is_not_changed_by_those_who_continue_it(shared: bool) -> None:
    m, x = model(shared), sequence()
    _, state = m.step(x[:3])
    copies = [[t.clone() for t in pair] for pair in state]
    first, _ = m.step(x[3:], state)
    second, _ = m.step(x[3:], state)
    assert torch.equal(first, second)
    for pair, other in zip(state, copies, strict=True):
        assert all(torch.equal(a, b) for a, b in zip(pair, other, strict=True))


def test_there_is_no_longest_sequence() -> None:
    m = model(True, torch.float32)
    # Wild weights in so long a loop would end in infinity.
    with torch.no_grad():
        for p in m.parameters():
            p.mul_(0.3)
    x = sequence(torch.float32, seq_len=530, batch=1)
    y = m(x)
    assert y.shape == x.shape
    slope = torch.autograd.grad(y[-1].square().sum(), x)[0]
    assert slope.isfinite().all()
    assert slope[-1].abs().max() > 0


@SHARED
def test_first_and_second_derivatives_are_those_of_finite_differences(
    shared: bool, monkeypatch: pytest.MonkeyPatch, verified: Verify
) -> None:
    monkeypatch.setattr(loop, "BLOCK", 2)
    m = model(shared, activation=F.silu)
    weight = torch.randn(4, 1, D_MODEL, dtype=torch.float64)
    call: Callable[[Tensor], Tensor] = lambda x: (m(x) * weight).sum()  # noqa: E731
    assert torch.autograd.gradcheck(call, sequence(seq_len=4, batch=1), fast_mode=True)
    assert torch.autograd.gradgradcheck(call, sequence(seq_len=4, batch=1), fast_mode=True)
    verify_derivatives(verified, call, sequence(seq_len=4, batch=1), of=m)


@SHARED
def test_the_gradient_of_a_gradient_is_that_of_the_readable_form(shared: bool, short_blocks: None) -> None:
    m, x = model(shared, activation=F.silu), sequence()
    found = []
    for form in (m, m.slowly):
        weight = torch.linspace(-1, 1, x.numel(), dtype=x.dtype).view_as(x)
        (slope,) = torch.autograd.grad((form(x) * weight).sum(), x, create_graph=True)
        found.append(
            torch.autograd.grad(
                slope.square().sum(), [x, *m.layers.parameters()], allow_unused=True, materialize_grads=True
            )
        )
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-8, atol=1e-8)


@SHARED
def test_every_parameter_gets_a_gradient(shared: bool) -> None:
    m, x = model(shared), sequence()
    for name, slope in gradients(m(x), m, x).items():
        assert slope.abs().max() > 1e-12, name


# --- patterns of use that an earlier form got wrong ---


@SHARED
def test_two_passes_before_the_first_backward_pass(shared: bool) -> None:
    m, x, other = model(shared), sequence(), sequence()
    alone = gradients(m(x), m, x)
    y, z = m(x), m(other)
    gradients(z, m, other)
    same(gradients(y, m, x), alone)


@SHARED
def test_a_pass_without_gradients_in_between(shared: bool) -> None:
    m, x = model(shared), sequence()
    alone, y = gradients(m(x), m, x), m(x)
    with torch.no_grad():
        m(sequence())
    same(gradients(y, m, x), alone)


@SHARED
def test_two_backward_passes_give_twice_the_same(shared: bool) -> None:
    m, x = model(shared), sequence()
    y = m(x)
    m.zero_grad()
    y.square().sum().backward(retain_graph=True)
    once = {name: p.grad.clone() for name, p in m.named_parameters() if p.grad is not None}
    y.square().sum().backward()
    same(
        {n: p.grad for n, p in m.named_parameters() if p.grad is not None},
        {n: 2 * g for n, g in once.items()},
    )


@SHARED
def test_two_losses_add_up(shared: bool) -> None:
    m, x = model(shared), sequence()
    together = torch.autograd.grad(m(x).square().sum(), x)[0]
    y = m(x)
    (first,) = torch.autograd.grad(y[:3].square().sum(), x, retain_graph=True)
    (second,) = torch.autograd.grad(y[3:].square().sum(), x)
    torch.testing.assert_close(first + second, together)


@SHARED
def test_checkpointing_gives_the_same_gradients(shared: bool) -> None:
    m, x = model(shared), sequence()
    y = checkpoint(m, x, use_reentrant=False)
    same(gradients(y, m, x), gradients(m(x), m, x))


@SHARED
def test_a_copy_made_after_a_call_computes_the_same(shared: bool) -> None:
    m, x = model(shared), sequence()
    y = m(x)
    assert torch.equal(copy.deepcopy(m)(x), y)


@SHARED
def test_after_a_change_of_dtype_it_computes_the_same(shared: bool) -> None:
    m, x = model(shared), sequence()
    y = m(x)
    torch.testing.assert_close(m.float()(x.float()).double(), y, rtol=1e-4, atol=1e-4)
    assert m.bfloat16()(x.bfloat16()).dtype == torch.bfloat16


@SHARED
def test_under_autocast_it_computes_in_bfloat16_what_it_computes_in_float32(shared: bool) -> None:
    m, x = model(shared, torch.float32), sequence(torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        first, state = m.step(x[:3])
        y = torch.cat([first, m.step(x[3:], state)[0]])
    torch.testing.assert_close(y.float(), m(x), rtol=0.1, atol=0.1)
    for name, slope in gradients(y, m, x).items():
        assert slope.dtype == torch.float32
        assert slope.isfinite().all(), name


@SHARED
def test_compiled_it_computes_the_same(shared: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "BLOCK", 1)
    m, x = model(shared, torch.float32), sequence(torch.float32, seq_len=3)
    torch.compiler.reset()
    compiled = torch.compile(m, backend="aot_eager", fullgraph=True)
    y = compiled(x)
    torch.testing.assert_close(y, m(x))
    same(gradients(y, m, x), gradients(m(x), m, x), 1e-4)


def test_dropout_falls_in_training_only() -> None:
    m, x = model(shared=True, dropout=0.5), sequence()
    assert not torch.equal(m(x), m(x))
    m.eval()
    assert torch.equal(m(x), m(x))


# --- a module among modules ---

ATTENTION = (
    "query.linear.weight output.weight output.bias key_pos_embeddings key_pos_bias query_pos_bias".split()
)
OWN = "key.linear.weight value.linear.weight value.linear.bias".split()
REST = [f"{a}.{b}" for a in ("norm_self_attn", "norm_ff") for b in ("weight", "bias")]
REST += [f"feed_forward.layer{n}.{b}" for n in (1, 2) for b in ("weight", "bias")]


@SHARED
def test_the_state_has_exactly_these_names(shared: bool) -> None:
    names = ATTENTION if shared else ATTENTION + OWN
    expected = {f"layers.{n}.attn.{name}" for n in range(N_LAYERS) for name in names}
    expected |= {f"layers.{n}.{name}" for n in range(N_LAYERS) for name in REST}
    expected |= {"norm.weight", "norm.bias", "weights"}
    if shared:
        expected |= {"key.linear.weight", "value.linear.weight"}
    state = model(shared).state_dict()
    assert set(state) == expected
    assert state["weights"].shape == (N_LAYERS + 1,)
    assert state["layers.0.attn.key_pos_embeddings"].shape == (4, HEADS, D_K)
    assert state["layers.0.attn.key_pos_bias"].shape == (4, HEADS)


@SHARED
def test_a_checkpoint_with_4096_distances_loads_and_computes_the_same(shared: bool) -> None:
    old, new, x = model(shared, positions=4096), model(shared, positions=16), sequence()
    saved = old.state_dict()
    before = {name: tensor.clone() for name, tensor in saved.items()}
    new.load_state_dict(saved)
    assert torch.equal(new(x), old(x))
    assert all(torch.equal(saved[name], tensor) for name, tensor in before.items())


def test_a_shorter_table_stands_for_the_same_distances_in_a_longer_one() -> None:
    old, new, x = model(True, positions=3), model(True, positions=9), sequence()
    new.load_state_dict(old.state_dict())
    torch.testing.assert_close(new(x), old(x), rtol=1e-12, atol=1e-12)


def test_kept_weights_add_up_to_one_and_leave_the_result_alone() -> None:
    m, x = model(shared=True), sequence()
    expected = m(x)
    m.all_layers[0].attn.keep_attn = True
    torch.testing.assert_close(m(x), expected, rtol=1e-11, atol=1e-11)
    attn = m.all_layers[0].attn.attn
    assert attn is not None
    assert attn.shape == (SEQ_LEN - 1, BATCH_SIZE, HEADS)
    torch.testing.assert_close(attn.sum(dim=0), torch.ones_like(attn[0]))


class SeesAllAlike(FeedbackAttention):
    def get_scores(self, query: Tensor, key: Tensor) -> Tensor:
        return torch.zeros(key.shape[:3], dtype=query.dtype)


def test_scores_of_a_subclass_are_used_in_the_loop_too() -> None:
    attn = SeesAllAlike(HEADS, D_MODEL, 0.0, is_kv_precomputed=True)
    ff = FeedForward(D_MODEL, D_FF, 0.0)
    layer = FeedbackTransformerLayer(d_model=D_MODEL, attn=attn, feed_forward=ff, dropout_prob=0.0)
    m, x = FeedbackTransformerKV(layer, N_LAYERS, D_MODEL, HEADS).double(), sequence()
    torch.testing.assert_close(m(x), m.slowly(x))
    plain = model(shared=True, positions=512)
    plain.load_state_dict(m.state_dict())
    with torch.no_grad():
        for layer in plain.all_layers:
            layer.attn.query.linear.weight.zero_()
            layer.attn.query_pos_bias.zero_()
    torch.testing.assert_close(m(x), plain(x))


def test_free_leaves_everything_as_it_is() -> None:
    m, x = model(shared=True), sequence()
    assert isinstance(m, FeedbackTransformerKV)
    y = m(x)
    m.free()
    assert torch.equal(m(x), y)
    gradients(y, m, x)


# --- what is refused ---


def test_heads_that_cannot_share_the_width_are_refused() -> None:
    with pytest.raises(ValueError, match=r"d_model = 15 .*heads = 4"):
        FeedbackAttention(4, 15)
    with pytest.raises(ValueError, match="positions = 0"):
        FeedbackAttention(3, 15, positions=0)


@pytest.mark.parametrize("shape", [(7, 2, 14), (7, 15), (0, 2, 15)])
def test_a_sequence_that_does_not_fit_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"d_model = 15") as refusal:
        model(True)(torch.zeros(shape))
    assert str(list(shape)) in str(refusal.value)


def test_a_state_of_another_batch_or_another_depth_is_refused() -> None:
    m = model(shared=False)
    _, state = m.step(sequence())
    with pytest.raises(ValueError, match=r"batch of 3.*batch of 2"):
        m.step(sequence(batch=3), state)
    with pytest.raises(ValueError, match=r"1 layers.* for 2"):
        m.step(sequence(), state[:1])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"query": (2, 14)}, ["[2, 14]", "d_model = 15"]),
        ({"query": (15,)}, ["[15]", "d_model = 15"]),
        ({"key": (7, 1, 15)}, ["[7, 1, 15]", "[seq_len, 2, 15]"]),
        ({"value": (7, 2, 16)}, ["[7, 2, 16]", "[seq_len, 2, 15]"]),
        ({"value": (6, 2, 15)}, ["length 7", "length 6"]),
        ({"key": (0, 2, 15), "value": (0, 2, 15)}, ["length 0", "at least one"]),
        ({"key": (7, 2, 3, 5)}, ["[7, 2, 3, 5]", "[seq_len, 2, 15]"]),
    ],
)
def test_attention_that_does_not_fit_is_refused(
    changes: dict[str, tuple[int, ...]], words: list[str]
) -> None:
    shapes = {"query": (2, 15), "key": (7, 2, 15), "value": (7, 2, 15), **changes}
    with pytest.raises(ValueError) as refusal:  # noqa: PT011
        FeedbackAttention(3, 15)(**{name: torch.zeros(shape) for name, shape in shapes.items()})
    for word in words:
        assert word in str(refusal.value)


def test_parts_that_do_not_fit_together_are_refused() -> None:
    def layer(precomputed: bool) -> FeedbackTransformerLayer:
        attn = FeedbackAttention(3, 15, is_kv_precomputed=precomputed)
        return FeedbackTransformerLayer(
            d_model=15, attn=attn, feed_forward=FeedForward(15, 8), dropout_prob=0.0
        )

    with pytest.raises(ValueError, match=r"is_kv_precomputed = False.*is True"):
        FeedbackTransformer(layer(True), 2)
    with pytest.raises(ValueError, match=r"is_kv_precomputed = True.*is False"):
        FeedbackTransformerKV(layer(False), 2, 15, 3)
    with pytest.raises(ValueError, match=r"d_model = 15 and heads = 5.*heads = 3"):
        FeedbackTransformerKV(layer(True), 2, 15, 5)
    with pytest.raises(ValueError, match="n_layers = 0"):
        FeedbackTransformer(layer(False), 0)
    with pytest.raises(ValueError, match=r"d_model = 20.*d_model = 15"):
        FeedbackTransformerLayer(
            d_model=20, attn=FeedbackAttention(3, 15), feed_forward=nn.Identity(), dropout_prob=0.0
        )
    with pytest.raises(ValueError, match="both"):
        layer(False)(x=torch.zeros(2, 15), key=torch.zeros(7, 2, 15), value=None)
    with pytest.raises(ValueError, match=r"\[2, 14\].*d_model = 15"):
        layer(False)(x=torch.zeros(2, 14), key=None, value=None)
