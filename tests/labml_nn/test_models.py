"""The parts of a Transformer against torch's own, and the promises of a stack that writes."""

import copy
import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from labml_nn.transformers.feed_forward import FeedForward
from labml_nn.transformers.mha import MultiHeadAttention
from labml_nn.transformers.models import (
    AutoregressiveModel,
    Decoder,
    Embeddings,
    EmbeddingsWithLearnedPositionalEncoding,
    EmbeddingsWithPositionalEncoding,
    Encoder,
    EncoderDecoder,
    Generator,
    TransformerLayer,
)
from site_builder.verified import Verify

HEADS, D_MODEL, D_FF, N_VOCAB = 3, 15, 20, 13
SEQ_LEN, SRC_LEN, BATCH_SIZE = 7, 9, 2


def layer(crossing: bool = False) -> TransformerLayer:
    attention = MultiHeadAttention(HEADS, D_MODEL, dropout_prob=0.0)
    return TransformerLayer(
        d_model=D_MODEL,
        self_attn=attention,
        src_attn=copy.deepcopy(attention) if crossing else None,
        feed_forward=FeedForward(D_MODEL, D_FF, dropout=0.0),
        dropout_prob=0.0,
    )


def different(module: nn.Module) -> nn.Module:
    """Copies begin alike, and norms begin as ones and zeros: let every weight be its own."""
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.3)
    return module.double()


def model() -> AutoregressiveModel:
    embed = EmbeddingsWithPositionalEncoding(D_MODEL, N_VOCAB, max_len=50)
    return different(
        AutoregressiveModel(embed, Encoder(layer(), 2, is_causal=True), Generator(N_VOCAB, D_MODEL))
    ).eval()


def fill_attention(theirs: nn.MultiheadAttention, ours: MultiHeadAttention) -> None:
    maps = [ours.query.linear, ours.key.linear, ours.value.linear]
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([m.weight for m in maps]))
        theirs.in_proj_bias.copy_(torch.cat([m.bias for m in maps]))
    theirs.out_proj.load_state_dict(ours.output.state_dict())


def fill_layer(theirs: nn.Module, ours: TransformerLayer) -> None:
    """Torch's layer counts its norms."""
    fill_attention(theirs.self_attn, ours.self_attn)
    norms = [ours.norm_self_attn, ours.norm_ff]
    if ours.src_attn is not None:
        fill_attention(theirs.multihead_attn, ours.src_attn)
        norms.insert(1, ours.norm_src_attn)
    for number, norm in enumerate(norms, start=1):
        getattr(theirs, f"norm{number}").load_state_dict(norm.state_dict())
    theirs.linear1.load_state_dict(ours.feed_forward.layer1.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.layer2.state_dict())


def torchs_own(stack: Encoder | Decoder) -> nn.Module:
    kind = "Decoder" if isinstance(stack, Decoder) else "Encoder"
    one = getattr(nn, f"Transformer{kind}Layer")(D_MODEL, HEADS, D_FF, dropout=0.0, norm_first=True)
    settings = {"enable_nested_tensor": False} if kind == "Encoder" else {}
    other = getattr(nn, f"Transformer{kind}")(
        one, len(stack.layers), norm=nn.LayerNorm(D_MODEL), **settings
    ).double()
    for theirs, ours in zip(other.layers, stack.layers, strict=True):
        fill_layer(theirs, ours)
    other.norm.load_state_dict(stack.norm.state_dict())
    return other


# --- against torch's own ---


@pytest.mark.parametrize("causal", [False, True])
def test_the_stack_is_torchs_own_stack(causal: bool, verified: Verify) -> None:
    stack = different(Encoder(layer(), 2, is_causal=causal))
    x = torch.randn(SEQ_LEN, BATCH_SIZE, D_MODEL, dtype=torch.float64)
    hidden = torch.ones(SEQ_LEN, SEQ_LEN, dtype=torch.bool).triu(1) if causal else None
    expected = torchs_own(stack)(x, mask=hidden)
    verified(stack(x), expected, against="torch.nn.TransformerEncoder", of=stack, rtol=1e-10, atol=1e-10)


def test_the_stack_that_reads_another_is_torchs_own(verified: Verify) -> None:
    stack = different(Decoder(layer(crossing=True), 2))
    x = torch.randn(SEQ_LEN, BATCH_SIZE, D_MODEL, dtype=torch.float64)
    memory = torch.randn(SRC_LEN, BATCH_SIZE, D_MODEL, dtype=torch.float64)
    visible = torch.ones(SEQ_LEN, SEQ_LEN, dtype=torch.bool).tril().unsqueeze(-1)
    padding = torch.ones(1, SRC_LEN, BATCH_SIZE, dtype=torch.bool)
    padding[0, 5:, 1] = False
    expected = torchs_own(stack)(x, memory, tgt_mask=~visible[..., 0], memory_key_padding_mask=~padding[0].T)
    found = stack(x, memory, src_mask=padding, tgt_mask=visible)
    verified(found, expected, against="torch.nn.TransformerDecoder", of=stack, rtol=1e-10, atol=1e-10)


def test_source_and_target_go_through_the_whole_model_as_through_torchs(verified: Verify) -> None:
    encoder, decoder = Encoder(layer(), 2), Decoder(layer(crossing=True), 2)
    whole = different(
        EncoderDecoder(
            encoder,
            decoder,
            Embeddings(D_MODEL, N_VOCAB),
            Embeddings(D_MODEL, N_VOCAB),
            Generator(N_VOCAB, D_MODEL),
        )
    )
    src, tgt = torch.randint(N_VOCAB, (SRC_LEN, BATCH_SIZE)), torch.randint(N_VOCAB, (SEQ_LEN, BATCH_SIZE))
    memory = torchs_own(encoder)(whole.src_embed.linear(src) * math.sqrt(D_MODEL))
    read = torchs_own(decoder)(whole.tgt_embed.linear(tgt) * math.sqrt(D_MODEL), memory)
    expected = read @ whole.generator.projection.weight.T + whole.generator.projection.bias
    theirs = "torch.nn.TransformerEncoder with torch.nn.TransformerDecoder"
    verified(whole(src, tgt), expected, against=theirs, of=whole, rtol=1e-10, atol=1e-10)


def test_the_marks_are_the_published_sines_and_cosines(verified: Verify) -> None:
    embed = EmbeddingsWithPositionalEncoding(6, N_VOCAB, max_len=50).double()
    x = torch.randint(N_VOCAB, (SEQ_LEN, BATCH_SIZE))
    marks = (embed(x) - embed.linear(x) * math.sqrt(6))[:, 1]
    expected = torch.zeros(SEQ_LEN, 6, dtype=torch.float64)
    for t in range(SEQ_LEN):
        for i in range(3):
            angle = t / 10_000 ** (2 * i / 6)
            expected[t, 2 * i], expected[t, 2 * i + 1] = math.sin(angle), math.cos(angle)
    published = "Vaswani et al. 2017, section 3.5, in plain loops"
    verified(marks, expected, against=published, of=embed, what="positions", rtol=0, atol=1e-6)


# --- what must hold ---


@pytest.mark.parametrize("lengths", [[1] * SEQ_LEN, [4, 1, 2], [SEQ_LEN]], ids=str)
def test_read_in_pieces_a_text_gives_the_same_guesses(lengths: list[int]) -> None:
    writer = model()
    x = torch.randint(N_VOCAB, (SEQ_LEN, BATCH_SIZE))
    state, found = None, []
    for piece in x.split(lengths):
        y, state = writer.step(piece, state)
        found.append(y)
    torch.testing.assert_close(torch.cat(found), writer(x), rtol=1e-10, atol=1e-10)
    assert state is not None
    assert state.position == SEQ_LEN


def test_no_guess_depends_on_a_later_token() -> None:
    writer = model()
    x = torch.randint(N_VOCAB, (SEQ_LEN, BATCH_SIZE))
    before = writer(x)
    x[4] = (x[4] + 1) % N_VOCAB
    after = writer(x)
    assert torch.equal(before[:4], after[:4])
    assert not torch.isclose(before[4:], after[4:]).all(dim=-1).any()


def test_every_parameter_gets_a_gradient() -> None:
    writer = model()
    writer(torch.arange(N_VOCAB).unsqueeze(-1)).logsumexp(dim=-1).pow(2).sum().backward()
    for name, parameter in writer.named_parameters():
        assert parameter.grad is not None, name
        # A bias that all keys share moves no weight.
        if not name.endswith("key.linear.bias"):
            assert parameter.grad.abs().max() > 1e-9, name


def test_the_state_has_the_names_that_checkpoints_use() -> None:
    names = set(model().state_dict())
    one = {n.removeprefix("body.layers.0.") for n in names if n.startswith("body.layers.0.")}
    assert {n.partition(".")[0] for n in one} == {"self_attn", "feed_forward", "norm_self_attn", "norm_ff"}
    assert {"src_embed.linear.weight", "src_embed.positional_encodings", "body.norm.weight"} <= names
    assert {"generator.projection.weight", "generator.projection.bias"} <= names


def test_a_table_of_positions_that_was_saved_as_a_parameter_is_taken() -> None:
    saved = model().state_dict()
    saved["src_embed.positional_encodings"] = nn.Parameter(
        saved["src_embed.positional_encodings"], requires_grad=False
    )
    model().load_state_dict(saved, strict=True)


def test_copied_compiled_and_of_length_one_it_computes_the_same() -> None:
    writer = model()
    x = torch.randint(N_VOCAB, (1, 1))
    expected = writer(x)
    assert torch.equal(copy.deepcopy(writer)(x), expected)
    torch.compiler.reset()
    compiled = torch.compile(writer, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), expected)


def test_an_entry_of_an_embedding_is_about_one_at_first() -> None:
    x = Embeddings(200, 300)(torch.arange(300).unsqueeze(-1))
    assert x.std().item() == pytest.approx(1, abs=0.05)


# --- what is refused ---


@pytest.mark.parametrize("kind", [EmbeddingsWithPositionalEncoding, EmbeddingsWithLearnedPositionalEncoding])
@pytest.mark.parametrize(("start", "length"), [(0, 6), (4, 2)])
def test_a_place_without_a_mark_is_refused_with_both_numbers(
    kind: Callable[..., Embeddings], start: int, length: int
) -> None:
    embed = kind(D_MODEL, N_VOCAB, max_len=5)
    with pytest.raises(ValueError, match="max_len = 5 positions, but the sequence has 6"):
        embed(torch.zeros(length, 1, dtype=torch.long), start=start)


@pytest.mark.parametrize("kind", [EmbeddingsWithPositionalEncoding, EmbeddingsWithLearnedPositionalEncoding])
def test_a_start_before_the_beginning_is_refused(kind: Callable[..., Embeddings]) -> None:
    with pytest.raises(ValueError, match="start = -2 must be at least 0"):
        kind(D_MODEL, N_VOCAB, max_len=5)(torch.zeros(1, 1, dtype=torch.long), start=-2)


@pytest.mark.parametrize(
    "kind", [Embeddings, EmbeddingsWithPositionalEncoding, EmbeddingsWithLearnedPositionalEncoding]
)
def test_tokens_without_a_batch_are_refused_rather_than_paired(kind: Callable[..., Embeddings]) -> None:
    with pytest.raises(ValueError, match=r"\[7\], but must have \[seq_len, batch_size\]"):
        kind(D_MODEL, N_VOCAB)(torch.zeros(7, dtype=torch.long))


def test_sizes_of_an_embedding_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="d_model = 0 and n_vocab = 13"):
        Embeddings(0, N_VOCAB)
    with pytest.raises(ValueError, match="max_len = 0"):
        EmbeddingsWithLearnedPositionalEncoding(D_MODEL, N_VOCAB, max_len=0)


@pytest.mark.parametrize("shape", [(7, 2, 14), (7, 15)])
def test_a_sequence_that_does_not_fit_a_layer_is_refused_with_both_numbers(shape: tuple[int, ...]) -> None:
    stack = Encoder(layer(), 2, is_causal=True)
    for call in (stack, stack.step):
        with pytest.raises(ValueError, match=r"x has shape .*d_model = 15") as refusal:
            call(torch.zeros(shape))
        assert str(list(shape)) in str(refusal.value)


def test_a_layer_that_reads_another_sequence_does_not_forget_it_step_by_step() -> None:
    with pytest.raises(ValueError, match="src_attn cannot continue"):
        layer(crossing=True).step(torch.randn(1, 1, D_MODEL))


def test_a_state_of_another_depth_is_refused_with_both_numbers() -> None:
    _, state = Encoder(layer(), 3, is_causal=True).step(torch.randn(1, 1, D_MODEL))
    with pytest.raises(ValueError, match="3 parts, but there are 2 layers"):
        Encoder(layer(), 2, is_causal=True).step(torch.randn(1, 1, D_MODEL), state)


def test_a_stack_of_no_layers_is_refused() -> None:
    with pytest.raises(ValueError, match="n_layers = 0"):
        Encoder(layer(), 0)
    with pytest.raises(ValueError, match="n_layers = -1"):
        Decoder(layer(crossing=True), -1)


def test_only_a_causal_stack_can_continue() -> None:
    with pytest.raises(ValueError, match="is_causal=True"):
        Encoder(layer(), 1).step(torch.randn(1, 1, D_MODEL))


@pytest.mark.parametrize("crossing", [False, True])
def test_another_sequence_and_attention_to_it_go_together(crossing: bool) -> None:
    src: Tensor | None = None if crossing else torch.randn(3, 1, D_MODEL)
    with pytest.raises(ValueError, match="src and src_attn"):
        layer(crossing)(x=torch.randn(3, 1, D_MODEL), src=src)
