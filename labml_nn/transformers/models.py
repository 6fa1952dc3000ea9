r"""
---
title: Transformers, put together
summary: Embeddings, layers, a stack, a way out. From these parts, every model of this chapter.
papers:
  - title: Attention Is All You Need
    authors: Vaswani et al.
    year: 2017
    url: https://arxiv.org/abs/1706.03762
  - title: On Layer Normalization in the Transformer Architecture
    authors: Xiong et al.
    year: 2020
    url: https://arxiv.org/abs/2002.04745
symbols:
  x: x
  F: [self.self_attn, self.src_attn, self.feed_forward]
  E: self.linear
  P: self.positional_encodings
  d_{\text{model}}: d_model
---
# Transformers, put together

A layer takes vectors and gives vectors. To make a model of text from layers, three things are
missing. Characters must become vectors, and say where they stand. Layers must be stacked so that a
deep stack still learns. At the end, vectors must become a guess at the next character.

The parts are here, as the paper has them, but for one change of order that
[everybody has made since](labml_nn.transformers.models.TransformerLayer). The other pages of this
chapter change one part; what they leave alone is as it is here.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from labml_nn.transformers.mha import check_sequence
from labml_nn.transformers.positional_encoding import get_positional_encoding
from labml_nn.utils import clone_module_list


class Embeddings(nn.Module):
    r"""
    ## A vector for each token

    A table $E$ with a row for each token of the vocabulary. The paper multiplies what it looks up
    by $\sqrt{d_{\text{model}}}$ (section 3.4), and does not say why. The reason is in how the
    table begins. If its numbers have variance $1 / d_{\text{model}}$, as those of a linear map do,
    then a row has about length 1, and the root makes every entry about 1 in size: as large as the
    [positions](positional_encoding.html) that will be added.

    So the factor and the beginning belong together. `nn.Embedding` begins with variance 1 by
    itself, and with the factor on top the entries are $\sqrt{d_{\text{model}}}$ times too large.
    The positions drown:

    >>> tokens = torch.arange(13).unsqueeze(-1)
    >>> wrong = nn.Embedding(13, 400)(tokens) * math.sqrt(400)
    >>> round(wrong.std().item(), -1)
    20.0
    >>> right = Embeddings(d_model=400, n_vocab=13)(tokens)
    >>> round(right.std().item())
    1
    """

    def __init__(self, d_model: int, n_vocab: int):
        super().__init__()
        if d_model < 1 or n_vocab < 1:
            raise ValueError(f"d_model = {d_model} and n_vocab = {n_vocab} must be at least 1")
        self.d_model = d_model
        self.linear = nn.Embedding(n_vocab, d_model)
        nn.init.normal_(self.linear.weight, std=d_model**-0.5)

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        r"""
        * `x: [seq_len, batch_size]`, the numbers of the tokens
        * `return: [seq_len, batch_size, d_model]`

        `start` says where in the whole sequence this piece begins. Here it changes nothing: it is
        for the two classes below, which know of positions.
        """
        if x.ndim != 2:
            raise ValueError(
                f"x has shape {list(x.shape)}, but must have [seq_len, batch_size]"
            )
        return self.linear(x) * math.sqrt(self.d_model)


class EmbeddingsWithPositionalEncoding(Embeddings):
    r"""
    ## … and a fixed mark for the place

    Attention sees a set, not a sequence, so each vector must carry its place: row $t$ of a table
    $P$ of [sines and cosines](positional_encoding.html) is added at position $t$.

    The table is no parameter. Nothing in it is learned, and an optimiser that found it among the
    parameters would decay its weights. It is a buffer: it moves with the model and is saved with
    it.

    >>> embed = EmbeddingsWithPositionalEncoding(d_model=6, n_vocab=13, max_len=50)
    >>> [name for name, _ in embed.named_parameters()]
    ['linear.weight']
    >>> x = torch.randint(13, (7, 2))
    >>> embed(x).shape
    torch.Size([7, 2, 6])

    A piece from the middle gets the marks of the middle:

    >>> torch.equal(embed(x[4:], start=4), embed(x)[4:])
    True
    """

    positional_encodings: Tensor

    def __init__(self, d_model: int, n_vocab: int, max_len: int = 5000):
        super().__init__(d_model, n_vocab)
        self.register_buffer("positional_encodings", get_positional_encoding(d_model, max_len))

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        r"""
        * `x: [seq_len, batch_size]`
        * `return: [seq_len, batch_size, d_model]`
        """
        return super().forward(x) + rows_of(self.positional_encodings, start, x.shape[0])


class EmbeddingsWithLearnedPositionalEncoding(Embeddings):
    r"""
    ## … or a learned one

    The marks may as well be learned. Vaswani et al. found hardly any difference (Table 3, row
    E). A learned mark, however, exists only for places that training has reached, so a model
    with learned marks has a longest sequence.

    >>> embed = EmbeddingsWithLearnedPositionalEncoding(d_model=6, n_vocab=13, max_len=7)
    >>> embed(torch.randint(13, (7, 2))).shape
    torch.Size([7, 2, 6])
    >>> embed(torch.randint(13, (8, 2)))
    Traceback (most recent call last):
        ...
    ValueError: there are max_len = 7 positions, but the sequence has 8
    """

    def __init__(self, d_model: int, n_vocab: int, max_len: int = 5000):
        super().__init__(d_model, n_vocab)
        if max_len < 1:
            raise ValueError(f"max_len = {max_len} must be at least 1")
        self.positional_encodings = nn.Parameter(torch.zeros(max_len, 1, d_model))

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        r"""
        * `x: [seq_len, batch_size]`
        * `return: [seq_len, batch_size, d_model]`
        """
        return super().forward(x) + rows_of(self.positional_encodings, start, x.shape[0])


def rows_of(table: Tensor, start: int, seq_len: int) -> Tensor:
    r"""
    The marks of a piece. A slice alone would not say that the table ends before it does, and
    count a negative `start` from the end.

    * `table: [max_len, 1, d_model]`
    * `return: [seq_len, 1, d_model]`
    """
    end, max_len = start + seq_len, table.shape[0]
    if start < 0:
        raise ValueError(f"start = {start} must be at least 0")
    if end > max_len:
        raise ValueError(f"there are max_len = {max_len} positions, but the sequence has {end}")
    return table[start:end]


class TransformerLayer(nn.Module):
    r"""
    ## One layer

    Look around, then think; and each time *add* what was found. With $F$ for attention or for the
    feed-forward network, the paper normalises the sum (section 3.1):

    $$x \leftarrow \operatorname{LayerNorm}(x + F(x))$$

    A gradient that comes back through a hundred of these passes a hundred normalisations. Xiong et
    al. 2020 show what follows: near the output the gradients are large at the start of training,
    and a learning rate that suits the other layers makes these diverge, unless it is warmed up.
    Normalise inside the branch instead, and the sum itself is left alone:

    $$x \leftarrow x + F(\operatorname{LayerNorm}(x))$$

    Now there is a way from the last layer to the first on which nothing happens at all. This is
    *pre-norm*, and what we do.

    What flows along that way is never normalised, and grows: each layer adds something. So the
    [stack](labml_nn.transformers.models.Encoder) ends in one more normalisation.

    With `src_attn` the layer looks around twice: at its own sequence, then at another one.

    >>> from labml_nn.transformers.feed_forward import FeedForward
    >>> from labml_nn.transformers.mha import MultiHeadAttention
    >>> attention = MultiHeadAttention(heads=3, d_model=15)
    >>> feed_forward = FeedForward(d_model=15, d_ff=60)
    >>> layer = TransformerLayer(
    ...     d_model=15, self_attn=attention, feed_forward=feed_forward, dropout_prob=0.1
    ... )
    >>> layer(x=torch.randn(7, 2, 15), mask=None).shape
    torch.Size([7, 2, 15])
    """

    def __init__(
        self,
        *,
        d_model: int,
        self_attn: nn.Module,
        src_attn: nn.Module | None = None,
        feed_forward: nn.Module,
        dropout_prob: float,
    ):
        super().__init__()
        self.size = d_model
        self.self_attn = self_attn
        self.src_attn = src_attn
        self.feed_forward = feed_forward
        self.dropout = nn.Dropout(dropout_prob)
        self.norm_self_attn = nn.LayerNorm(d_model)
        if src_attn is not None:
            self.norm_src_attn = nn.LayerNorm(d_model)
        self.norm_ff = nn.LayerNorm(d_model)

    def forward(
        self,
        *,
        x: Tensor,
        mask: Tensor | None = None,
        src: Tensor | None = None,
        src_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        r"""
        * `x: [seq_len, batch_size, d_model]`
        * `mask: [seq_len or 1, seq_len, batch_size or 1]`
        * `src: [src_len, batch_size, d_model]`, the other sequence, if there is one
        * `src_mask: [seq_len or 1, src_len, batch_size or 1]`
        * `return: [seq_len, batch_size, d_model]`

        Masks as in [attention](labml_nn.transformers.mha.MultiHeadAttention.prepare_mask).
        """
        if (src is None) != (self.src_attn is None):
            raise ValueError("src and src_attn go together: give both or neither")
        check_sequence("x", x, self.size)
        # Not every attention knows `is_causal`: it is said only where it is meant.
        causal = {"is_causal": True} if is_causal else {}
        # * `z: [seq_len, batch_size, d_model]`
        # * `x: [seq_len, batch_size, d_model]`
        z = self.norm_self_attn(x)
        x = x + self.dropout(self.self_attn(query=z, key=z, value=z, mask=mask, **causal))
        # The other sequence comes out of a stack, so it is normalised already.
        #
        # * `z: [seq_len, batch_size, d_model]`
        # * `x: [seq_len, batch_size, d_model]`
        if self.src_attn is not None:
            z = self.norm_src_attn(x)
            x = x + self.dropout(self.src_attn(query=z, key=src, value=src, mask=src_mask))
        return self.think(x)

    def think(self, x: Tensor) -> Tensor:
        r"""
        * `x: [seq_len, batch_size, d_model]`
        * `return: [seq_len, batch_size, d_model]`
        """
        return x + self.dropout(self.feed_forward(self.norm_ff(x)))

    def step(self, x: Tensor, state: Any = None) -> tuple[Tensor, Any]:
        r"""
        ### One step further

        Of all that a layer does, only attention looks at other positions. So the state of the
        layer is that of its attention.

        * `x: [seq_len, batch_size, d_model]`, the next positions
        * `return: [seq_len, batch_size, d_model]`
        """
        if self.src_attn is not None:
            raise ValueError("a layer with src_attn cannot continue: step has no place for src")
        check_sequence("x", x, self.size)
        # `attended: [seq_len, batch_size, d_model]`
        self_attn: Any = self.self_attn
        attended, state = self_attn.step(self.norm_self_attn(x), state)
        return self.think(x + self.dropout(attended)), state


class Encoder(nn.Module):
    r"""
    ## A stack

    The same layer again and again, each copy with [weights of its own](../utils.html), and the
    normalisation that pre-norm owes at the end.

    With `is_causal` no position sees a later one. That is all that makes an encoder a *language
    model*: it may then be asked at every position for the next token, and cannot cheat.

    >>> from labml_nn.transformers.feed_forward import FeedForward
    >>> from labml_nn.transformers.mha import MultiHeadAttention
    >>> layer = TransformerLayer(
    ...     d_model=15,
    ...     self_attn=MultiHeadAttention(heads=3, d_model=15),
    ...     feed_forward=FeedForward(d_model=15, d_ff=60),
    ...     dropout_prob=0.1,
    ... )
    >>> encoder = Encoder(layer, n_layers=4, is_causal=True).eval()
    >>> x = torch.randn(7, 2, 15)
    >>> before = encoder(x)
    >>> x[5] = 0.0
    >>> after = encoder(x)
    >>> [torch.allclose(a, b, atol=1e-6) for a, b in zip(before, after)]
    [True, True, True, True, True, False, False]
    """

    def __init__(self, layer: TransformerLayer, n_layers: int, is_causal: bool = False):
        super().__init__()
        if n_layers < 1:
            raise ValueError(f"a stack needs at least one layer, not n_layers = {n_layers}")
        self.layers = clone_module_list(layer, n_layers)
        self.norm = nn.LayerNorm(layer.size)
        self.is_causal = is_causal

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        r"""
        * `x: [seq_len, batch_size, d_model]`
        * `mask: [seq_len or 1, seq_len, batch_size or 1]`
        * `return: [seq_len, batch_size, d_model]`
        """
        for layer in self.layers:
            x = layer(x=x, mask=mask, is_causal=self.is_causal)
        return self.norm(x)

    def step(
        self, x: Tensor, state: Sequence[Any] | None = None
    ) -> tuple[Tensor, tuple[Any, ...]]:
        r"""
        ### One step further

        Every layer continues from where it was.

        * `x: [seq_len, batch_size, d_model]`, the next positions
        * `return: [seq_len, batch_size, d_model]`
        """
        if not self.is_causal:
            raise ValueError(
                "only a stack with is_causal=True can continue: the past must not change"
            )
        states = [None] * len(self.layers) if state is None else state
        if len(states) != len(self.layers):
            raise ValueError(
                f"state has {len(states)} parts, but there are {len(self.layers)} layers"
            )
        found = []
        layer: Any
        for layer, past in zip(self.layers, states, strict=True):
            x, present = layer.step(x, past)
            found.append(present)
        return self.norm(x), tuple(found)


class Decoder(nn.Module):
    r"""
    ## A stack that reads another

    To translate, a second stack writes the target, and reads what the encoder made of the
    source: its layers have a `src_attn` (section 3.1).
    """

    def __init__(self, layer: TransformerLayer, n_layers: int):
        super().__init__()
        if n_layers < 1:
            raise ValueError(f"a stack needs at least one layer, not n_layers = {n_layers}")
        self.layers = clone_module_list(layer, n_layers)
        self.norm = nn.LayerNorm(layer.size)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
    ) -> Tensor:
        r"""
        * `x: [tgt_len, batch_size, d_model]`
        * `memory: [src_len, batch_size, d_model]`
        * `src_mask: [tgt_len or 1, src_len, batch_size or 1]`
        * `tgt_mask: [tgt_len or 1, tgt_len, batch_size or 1]`
        * `return: [tgt_len, batch_size, d_model]`

        `tgt_mask` must be causal where the decoder is trained to predict: nothing here makes it so.
        """
        for layer in self.layers:
            x = layer(x=x, mask=tgt_mask, src=memory, src_mask=src_mask)
        return self.norm(x)


class Generator(nn.Module):
    r"""
    ## A guess at the next token

    One linear map, from a vector to one number for each token of the vocabulary. The softmax is
    not here: cross-entropy takes it together with the logarithm, and loses no digits.

    >>> logits = torch.tensor([0.0, 120.0])
    >>> logits.softmax(dim=0).log()[0]
    tensor(-inf)
    >>> logits.log_softmax(dim=0)[0]
    tensor(-120.)
    """

    def __init__(self, n_vocab: int, d_model: int):
        super().__init__()
        self.projection = nn.Linear(d_model, n_vocab)

    def forward(self, x: Tensor) -> Tensor:
        r"""
        * `x: [seq_len, batch_size, d_model]`
        * `return: [seq_len, batch_size, n_vocab]`
        """
        return self.projection(x)


class EncoderDecoder(nn.Module):
    r"""
    ## From one sequence to another

    The paper's whole model (Figure 1). The source is read once, from end to end. The decoder
    looks at what came of that, and at the target as far as it is written. Each side has a
    vocabulary of its own:

    >>> from labml_nn.transformers.feed_forward import FeedForward
    >>> from labml_nn.transformers.mha import MultiHeadAttention
    >>> attention = MultiHeadAttention(heads=3, d_model=15)
    >>> parts = {"feed_forward": FeedForward(15, 60), "dropout_prob": 0.1, "d_model": 15}
    >>> model = EncoderDecoder(
    ...     Encoder(TransformerLayer(self_attn=attention, **parts), 2),
    ...     Decoder(TransformerLayer(self_attn=attention, src_attn=attention, **parts), 2),
    ...     EmbeddingsWithPositionalEncoding(15, n_vocab=13),
    ...     EmbeddingsWithPositionalEncoding(15, n_vocab=17),
    ...     Generator(n_vocab=17, d_model=15),
    ... )
    >>> src, tgt = torch.randint(13, (9, 2)), torch.randint(17, (7, 2))
    >>> causal = torch.ones(7, 7).bool().tril().unsqueeze(-1)
    >>> words = (src > 0).unsqueeze(0)  # token 0 is padding
    >>> model(src, tgt, src_mask=words, tgt_mask=causal).shape
    torch.Size([7, 2, 17])
    """

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        src_embed: nn.Module,
        tgt_embed: nn.Module,
        generator: nn.Module,
    ):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.src_embed = src_embed
        self.tgt_embed = tgt_embed
        self.generator = generator

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
    ) -> Tensor:
        r"""
        * `src: [src_len, batch_size]`
        * `tgt: [tgt_len, batch_size]`
        * `src_mask: [1, src_len, batch_size or 1]`, for the queries of both sides
        * `tgt_mask: [tgt_len or 1, tgt_len, batch_size or 1]`
        * `return: [tgt_len, batch_size, n_vocab]`
        """
        # `memory: [src_len, batch_size, d_model]`
        memory = self.encode(src, src_mask)
        return self.generator(self.decode(memory, src_mask, tgt, tgt_mask))

    def encode(self, src: Tensor, src_mask: Tensor | None) -> Tensor:
        r"""
        * `src: [src_len, batch_size]`
        * `src_mask: [src_len or 1, src_len, batch_size or 1]`
        * `return: [src_len, batch_size, d_model]`
        """
        return self.encoder(self.src_embed(src), src_mask)

    def decode(
        self, memory: Tensor, src_mask: Tensor | None, tgt: Tensor, tgt_mask: Tensor | None
    ) -> Tensor:
        r"""
        * `memory: [src_len, batch_size, d_model]`
        * `src_mask: [tgt_len or 1, src_len, batch_size or 1]`
        * `tgt: [tgt_len, batch_size]`
        * `tgt_mask: [tgt_len or 1, tgt_len, batch_size or 1]`
        * `return: [tgt_len, batch_size, d_model]`
        """
        return self.decoder(self.tgt_embed(tgt), memory, src_mask, tgt_mask)


class ModelState(NamedTuple):
    r"""
    ## Where a model is in a text

    How many tokens it has read, and what its body remembers of them.
    """

    position: int
    body: Any


class AutoregressiveModel(nn.Module):
    r"""
    ## A model of text

    Embedding, body, guess. The body is any causal module from vectors to vectors: a stack of the
    layers above, or one of the other models of this chapter. Because it is causal, one pass gives
    a guess at *every* position, each from what stands before, and training learns from all.

    `max_len` is the longest sequence that the parts can take, or `None` if there is none.

    >>> from labml_nn.transformers.feed_forward import FeedForward
    >>> from labml_nn.transformers.mha import MultiHeadAttention
    >>> attention = MultiHeadAttention(heads=3, d_model=15)
    >>> layer = TransformerLayer(
    ...     d_model=15, self_attn=attention, feed_forward=FeedForward(15, 60), dropout_prob=0.1
    ... )
    >>> body = Encoder(layer, n_layers=2, is_causal=True)
    >>> embed = EmbeddingsWithPositionalEncoding(15, n_vocab=13)
    >>> model = AutoregressiveModel(embed, body, Generator(13, 15)).eval()
    >>> x = torch.randint(13, (7, 2))
    >>> model(x).shape
    torch.Size([7, 2, 13])

    And it can write: read a prompt in one piece, then go on token by token.

    >>> prompt, state = model.step(x[:6])
    >>> following, state = model.step(x[6:], state)
    >>> torch.allclose(torch.cat([prompt, following]), model(x), atol=1e-5)
    True
    >>> state.position
    7
    """

    def __init__(
        self,
        src_embed: nn.Module,
        body: nn.Module,
        generator: nn.Module,
        max_len: int | None = None,
    ):
        super().__init__()
        self.src_embed = src_embed
        self.body = body
        self.generator = generator
        self.max_len = max_len

    def forward(self, x: Tensor) -> Tensor:
        r"""
        * `x: [seq_len, batch_size]`
        * `return: [seq_len, batch_size, n_vocab]`
        """
        return self.generator(self.body(self.src_embed(x)))

    def step(self, x: Tensor, state: ModelState | None = None) -> tuple[Tensor, ModelState]:
        r"""
        ### One step further

        * `x: [seq_len, batch_size]`, the next tokens, one or more
        * `return: [seq_len, batch_size, n_vocab]`
        """
        position, past = state if state is not None else ModelState(0, None)
        body: Any = self.body
        # `y: [seq_len, batch_size, d_model]`
        y, present = body.step(self.src_embed(x, start=position), past)
        return self.generator(y), ModelState(position + x.shape[0], present)
