r"""
---
title: Fast weights, token by token
summary: The delta rule as its equation has it. One position comes, the memory changes.
papers:
  - title: Linear Transformers Are Secretly Fast Weight Programmers
    authors: Schlag, Irie and Schmidhuber
    year: 2021
    url: https://arxiv.org/abs/2102.11174
symbols:
  W: weights
  q: query
  k: key
  v: value
  y: y
  \bar{v}: recalled
  \beta: beta
---
# Fast weights, token by token

This page holds the [delta rule](index.html) in the form in which one can read it. A position
comes in, with a query $q$, a key $k$, a value $v$ and a strength $\beta$. The memory $W$ is
asked, corrected, and asked again; then it goes on to the next position.

It is also the form of the first implementations, and it serves whoever has one position at a
time and nothing else. For training on whole sequences it is slow. The [chunkwise
form](chunkwise.html) gives the same numbers and is many times faster, and its
[`step`](labml_nn.transformers.fast_weights.FastWeightsAttention.step) decodes as well. Weights,
names and memories are the same, so one may train with one form and run the other:

>>> from labml_nn.transformers import fast_weights
>>> phi = fast_weights.DPFP()
>>> attention = fast_weights.FastWeightsAttention(3, 15, 0.1, phi).eval()
>>> stepwise = FastWeightsAttention(3, 15, 0.1, phi).eval()
>>> stepwise.load_state_dict(attention.state_dict())
<All keys matched successfully>
>>> x, weights = torch.randn(7, 2, 15), None
>>> for position in x:
...     y, weights = stepwise(position, weights)
>>> torch.allclose(y, attention(x)[-1], atol=1e-5)
True
"""

import torch
from torch import Tensor

from labml_nn.transformers import fast_weights
from labml_nn.transformers.fast_weights.chunkwise import check_memory
from labml_nn.transformers.mha import check_sequence


def write_and_read(
    weights: Tensor, query: Tensor, key: Tensor, value: Tensor, beta: Tensor
) -> tuple[Tensor, Tensor]:
    r"""
    ## One position

    Ask, correct, ask again.

    * `weights: [batch_size, heads, d_v, d_phi]`
    * `query: [batch_size, heads, d_phi]`
    * `key: [batch_size, heads, d_phi]`
    * `value: [batch_size, heads, d_v]`
    * `beta: [batch_size, heads]`
    * `return: [batch_size, heads, d_v]`, and the new weights

    `query` and `key` are features: they come out of the feature map. The result is a pair: what
    the query reads, and the weights after the write. The old weights are left as they were,
    since the backward pass will ask for them.

    A key of length 1, written with full strength, gives back its value, whatever was there
    before:

    >>> weights = torch.randn(2, 3, 5, 4)
    >>> key = torch.nn.functional.normalize(torch.randn(2, 3, 4), dim=-1)
    >>> value = torch.randn(2, 3, 5)
    >>> y, weights = write_and_read(weights, key, key, value, torch.ones(2, 3))
    >>> torch.allclose(y, value, atol=1e-4)
    True
    """
    # $$\bar{v} = W k$$
    #
    # What does the memory say now?
    #
    # `recalled: [batch_size, heads, d_v]`
    recalled = torch.einsum("bhvk,bhk->bhv", weights, key)

    # $$W \leftarrow W + \beta\, (v - \bar{v}) \otimes k$$
    #
    # Write what is missing, by the share $\beta$.
    #
    # * `error: [batch_size, heads, d_v]`
    # * `weights: [batch_size, heads, d_v, d_phi]`
    error = beta.unsqueeze(-1) * (value - recalled)
    weights = weights + torch.einsum("bhv,bhk->bhvk", error, key)

    # $$y = W q$$
    #
    # A position reads after it has written: it sees itself, as in causal attention.
    #
    # `y: [batch_size, heads, d_v]`
    y = torch.einsum("bhvk,bhk->bhv", weights, query)
    return y, weights


def delta_rule(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    beta: Tensor,
    state: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    r"""
    ## A sequence, one by one

    The same call as [in chunks](labml_nn.transformers.fast_weights.chunkwise.delta_rule), by a
    loop that cannot be misread.

    * `query: [seq_len, batch_size, heads, d_phi]`
    * `key: [seq_len, batch_size, heads, d_phi]`
    * `value: [seq_len, batch_size, heads, d_v]`
    * `beta: [seq_len, batch_size, heads]`
    * `state: [batch_size, heads, d_v, d_phi]`
    * `return: [seq_len, batch_size, heads, d_v]`, and the weights after the last position

    >>> query, key = torch.randn(2, 7, 2, 3, 4).softmax(dim=-1)
    >>> y, weights = delta_rule(query, key, torch.randn(7, 2, 3, 5), torch.rand(7, 2, 3))
    >>> y.shape, weights.shape
    (torch.Size([7, 2, 3, 5]), torch.Size([2, 3, 5, 4]))
    """
    check_memory(query, key, value, beta, state)
    y_dtype = value.dtype
    # Half precision is too coarse for a memory that sums up a whole text.
    dtype = torch.promote_types(torch.promote_types(key.dtype, y_dtype), torch.float32)
    if state is None:
        state = key.new_zeros(*key.shape[1:3], value.shape[-1], key.shape[-1])
    weights = state.to(dtype)
    with torch.autocast(key.device.type, enabled=False):
        query, key, value, beta = (t.to(dtype) for t in (query, key, value, beta))
        outputs = []
        # * `y: [batch_size, heads, d_v]`
        # * `weights: [batch_size, heads, d_v, d_phi]`
        for position in zip(query, key, value, beta, strict=True):
            y, weights = write_and_read(weights, *position)
            outputs.append(y)
    # `reads: [seq_len, batch_size, heads, d_v]`
    reads = torch.stack(outputs) if outputs else torch.zeros_like(value)
    return reads.to(y_dtype), weights


class FastWeightsAttention(fast_weights.FastWeightsAttention):
    r"""
    ## A memory in each head

    All the maps are those of [the form for
    sequences](labml_nn.transformers.fast_weights.FastWeightsAttention). Only the call is
    another: one position, and the memory that the last one left.
    """

    def forward(  # type: ignore[override]
        self, x: Tensor, weights: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        r"""
        * `x: [batch_size, d_model]`
        * `weights: [batch_size, heads, d_k, d_phi]`
        * `return: [batch_size, d_model]`, and the new weights

        At the first position there is no memory yet: `weights` is `None`.

        >>> attention = FastWeightsAttention(3, 15, 0.1, fast_weights.DPFP())
        >>> y, weights = attention(torch.randn(2, 15), None)
        >>> y.shape, weights.shape
        (torch.Size([2, 15]), torch.Size([2, 3, 5, 10]))
        """
        check_position(x, self.d_model)
        # A sequence of one.
        #
        # * `query: [1, batch_size, heads, d_phi]`
        # * `value: [1, batch_size, heads, d_k]`
        # * `y: [1, batch_size, heads, d_k]`
        query, key, value, beta = self.project(x.unsqueeze(0))
        y, weights = delta_rule(query, key, value, beta, weights)
        return self.mix(y.squeeze(0)), weights


class FastWeightsAttentionTransformerLayer(fast_weights.FastWeightsAttentionTransformerLayer):
    r"""
    ## One layer

    [Everything](labml_nn.transformers.fast_weights.FastWeightsAttentionTransformerLayer) but
    the call is the same here too.
    """

    def forward(  # type: ignore[override]
        self, x: Tensor, weights: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        r"""
        * `x: [batch_size, d_model]`
        * `weights: [batch_size, heads, d_k, d_phi]`
        * `return: [batch_size, d_model]`, and the new weights

        >>> layer = FastWeightsAttentionTransformerLayer(
        ...     d_model=15,
        ...     attn=FastWeightsAttention(3, 15, 0.1, fast_weights.DPFP()),
        ...     feed_forward=torch.nn.Linear(15, 15),
        ...     dropout_prob=0.1,
        ... )
        >>> x, weights = layer(torch.randn(2, 15))
        >>> x.shape, weights.shape
        (torch.Size([2, 15]), torch.Size([2, 3, 5, 10]))
        """
        check_position(x, self.size)
        # * `y: [batch_size, d_model]`
        # * `weights: [batch_size, heads, d_k, d_phi]`
        z = self.norm_self_attn(x) if self.pre_norm else x
        y, weights = self.attn(z, weights)
        return self.think(x + self.dropout(y)), weights


class FastWeightsAttentionTransformer(fast_weights.FastWeightsAttentionTransformer):
    r"""
    ## Layers on layers

    Two loops, and the outer one runs over positions: all layers see the first position before
    any sees the second. That is how a model writes. Over a sequence known from the beginning it
    is the slow way.

    >>> layer = FastWeightsAttentionTransformerLayer(
    ...     d_model=15,
    ...     attn=FastWeightsAttention(3, 15, 0.1, fast_weights.DPFP()),
    ...     feed_forward=torch.nn.Linear(15, 15),
    ...     dropout_prob=0.1,
    ... )
    >>> transformer = FastWeightsAttentionTransformer(layer, n_layers=4).eval()
    >>> x = torch.randn(7, 2, 15)
    >>> transformer(x).shape
    torch.Size([7, 2, 15])

    The inherited `step` takes the chunkwise way, and comes to the same:

    >>> torch.allclose(transformer(x), transformer.step(x)[0], atol=1e-5)
    True
    """

    def forward(self, x_seq: Tensor) -> Tensor:
        r"""
        * `x_seq: [seq_len, batch_size, d_model]`
        * `return: [seq_len, batch_size, d_model]`
        """
        check_sequence("x_seq", x_seq, self.norm.normalized_shape[0])
        weights: list[Tensor | None] = [None] * len(self.layers)
        outputs = []
        for x in x_seq:
            for n, layer in enumerate(self.layers):
                # `x: [batch_size, d_model]`
                x, weights[n] = layer(x, weights[n])
            outputs.append(x)
        return self.norm(torch.stack(outputs) if outputs else x_seq)


def check_position(x: Tensor, d_model: int) -> None:
    r"""
    ## A position that does not fit

    A whole sequence is not a position, and goes elsewhere:

    >>> attention = FastWeightsAttention(3, 15, 0.1, fast_weights.DPFP())
    >>> attention(torch.randn(7, 2, 15))
    Traceback (most recent call last):
        ...
    ValueError: x has shape [7, 2, 15], but must have [batch_size, d_model] with d_model = 15

    * `x: [batch_size, d_model]`
    """
    if x.ndim != 2 or x.shape[-1] != d_model:
        raise ValueError(
            f"x has shape {list(x.shape)}, but must have "
            f"[batch_size, d_model] with d_model = {d_model}"
        )
