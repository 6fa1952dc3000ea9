r"""
---
title: Transformer-XL
summary: Read a long text in pieces, and keep what was understood of the pieces before.
papers:
  - title: "Transformer-XL: Attentive Language Models Beyond a Fixed-Length Context"
    authors: Dai et al.
    year: 2019
    url: https://arxiv.org/abs/1901.02860
symbols:
  h: x
  \tilde{h}: context
  m: mem
  M: [mem_len, self.mem_len]
  N: n_layers
---
# Transformer-XL

A book does not fit into a Transformer. So a language model is trained on *segments* of it, a
few hundred words each, and every segment is read as if nothing had come before. The first
words of each are guessed with hardly any context, and no word is ever guessed from one that
stands further back than a segment is long. Dai et al. 2019 call that *context fragmentation*
(section 3.1).

A recurrent network carries a state across the border. What could a Transformer carry? It has
something better than one vector: the vectors of all positions, at every layer, were computed
when the segment before was read. Keep them. This is the *memory*, and the next segment looks
at it as if it stood just before its own first word.

Let $h^n_\tau$ be what enters layer $n + 1$ for segment $\tau$, a vector for each position, and
$m^n$ the memory of that layer, the latest $M$ vectors that entered it before. Then

$$
\begin{aligned}
\tilde{h}^n_\tau &= \big[\, \operatorname{SG}(m^n) \circ h^n_\tau \,\big] \\
h^{n+1}_\tau &= \operatorname{Layer}\big(h^n_\tau,\; \tilde{h}^n_\tau\big)
\end{aligned}
$$

(section 3.2). The layer makes its queries from the first argument, its keys and values from the
second. $\circ$ lays two sequences end to end. $\operatorname{SG}$ is *stop gradient*:
the memory is taken as given, and no gradient goes back into segments that are already done. So
a step of training costs the same however long the book.

**Why distances.** With [positions added to the words](../positional_encoding.html) this fails.
Each segment counts its places from 0, so the third word of the memory carries the same mark as
the third word of the segment. Let both segments be the same words:

>>> from labml_nn.transformers.positional_encoding import get_positional_encoding
>>> words = torch.randn(5, 2, 15)
>>> mem = words + get_positional_encoding(15)[:5]
>>> x = words + get_positional_encoding(15)[:5]
>>> torch.equal(mem, x)
True

What is five places back and what is right here are now one and the same vector, and no key or
query can tell them apart (section 3.3). [Relative attention](../relative_mha.html) can: it
knows that one is five places further away. It was invented for this.

**How far can it see?** Each layer looks $M$ vectors further back than its segment. But those
vectors have themselves looked back, one layer below. With $N$ layers the reach is about $N M$.
Here segments are three words long, and so is the memory. We change the first word, and look
which segments notice:

>>> def who_notices(n_layers):
...     model = small_model(n_layers, mem_len=3)
...     x = torch.randn(15, 2, 15)
...     changed = x.clone()
...     changed[0] = torch.randn(2, 15)
...     mem = other_mem = None
...     noticed = []
...     for piece, other_piece in zip(x.split(3), changed.split(3)):
...         y, mem = model(piece, mem)
...         other_y, other_mem = model(other_piece, other_mem)
...         noticed.append(not torch.equal(y, other_y))
...     return noticed
>>> who_notices(n_layers=1)
[True, True, False, False, False]
>>> who_notices(n_layers=3)
[True, True, True, True, False]
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from labml_nn.transformers.feed_forward import FeedForward
from labml_nn.transformers.relative_mha import RelativeMultiHeadAttention
from labml_nn.utils import clone_module_list


class TransformerXLLayer(nn.Module):
    r"""
    ## A layer with a memory

    Attention and a feed-forward network, as in any Transformer. Only attention knows of the
    memory.

    * `self_attn` is [relative attention](../relative_mha.html), which takes its queries for the
      last of the keys. Plain attention would take them for the first.
    * `feed_forward` is the [feed-forward network](../feed_forward.html).
    * `dropout_prob` is for what each of the two adds.

    Here the normalisation comes *first*, and what is added is not normalised afterwards. The
    paper normalises after each sum. Why we do not stands under
    [One layer](labml_nn.transformers.models.TransformerLayer).
    """

    def __init__(
        self,
        *,
        d_model: int,
        self_attn: RelativeMultiHeadAttention,
        feed_forward: FeedForward,
        dropout_prob: float,
    ):
        super().__init__()
        if not isinstance(self_attn, RelativeMultiHeadAttention):
            raise ValueError(
                f"self_attn is {type(self_attn).__name__}, but with a memory it must be "
                "RelativeMultiHeadAttention"
            )
        for name, layer in (("self_attn", self_attn), ("feed_forward", feed_forward)):
            if layer.d_model != d_model:
                raise ValueError(f"{name} has d_model = {layer.d_model}, not {d_model}")
        self.d_model = d_model
        self.self_attn = self_attn
        self.feed_forward = feed_forward
        self.dropout = nn.Dropout(dropout_prob)
        self.norm_self_attn = nn.LayerNorm(d_model)
        self.norm_ff = nn.LayerNorm(d_model)

    def forward(self, *, x: Tensor, mem: Tensor | None, mask: Tensor | None = None) -> Tensor:
        r"""
        ### Look back, then think

        * `x: [seq_len, batch_size, d_model]`
        * `mem: [n_mem, batch_size, d_model]`
        * `mask: [seq_len or 1, seq_len_k, batch_size or 1]`, for the memory and the segment
        * `return: [seq_len, batch_size, d_model]`

        Position $i$ of the segment sees all of the memory and the segment up to itself. A mask
        may hide some of that. It shows nothing of the future.
        """
        # The memory holds what entered this layer, so it goes the same way as what enters now.
        # It is normalised with today's weights, and makes its keys and values with them.
        #
        # * `z: [seq_len, batch_size, d_model]`
        # * `context: [seq_len_k, batch_size, d_model]`
        z = self.norm_self_attn(x)
        context = z if mem is None else torch.cat([self.norm_self_attn(mem), z])

        # Look back.
        #
        # `attended: [seq_len, batch_size, d_model]`
        attended = self.self_attn(
            query=z, key=context, value=context, mask=mask, is_causal=True
        )
        x = x + self.dropout(attended)
        # Think.
        return x + self.dropout(self.feed_forward(self.norm_ff(x)))


class TransformerXL(nn.Module):
    r"""
    ## The stack, and its memories

    `mem_len` is $M$, how many vectors each layer keeps. With `None` it keeps all.

    **What the memory gives.** Reading in segments gives exactly the values of reading the whole
    at once, under a mask that shows each position its own segment, up to itself, and the $M$
    places before the segment. With enough memory that is everything. It holds for any number of
    layers, since what is kept is what the whole would compute there too.

    >>> model = small_model(n_layers=3, mem_len=4)
    >>> x = torch.randn(23, 2, 15)
    >>> starts = torch.tensor([0] * 6 + [6] * 9 + [15] * 8)
    >>> mask = torch.arange(23) >= starts.unsqueeze(-1) - 4
    >>> whole, _ = model(x, mask=mask.unsqueeze(-1))
    >>> mem = None
    >>> pieces = []
    >>> for piece in x.split([6, 9, 8]):
    ...     y, mem = model(piece, mem)
    ...     pieces.append(y)
    >>> torch.allclose(torch.cat(pieces), whole, atol=1e-5)
    True

    **What it does not give** is gradients. The last segment depends on the first word, and yet
    its loss teaches it nothing:

    >>> x.requires_grad = True
    >>> first, mem = model(x[:7])
    >>> second, mem = model(x[7:], mem)
    >>> (slope,) = torch.autograd.grad(second.sum(), x)
    >>> bool(slope[:7].any()), bool(slope[7:].any())
    (False, True)

    **Fresh weights, old memory.** In training the weights change between two segments. The
    memory was made with the older ones. Then the equality above holds only nearly;
    one lives with it. It does not hold at all under dropout, nor after a memory of another
    text: begin each text with `mem=None`.
    """

    def __init__(self, layer: TransformerXLLayer, n_layers: int, mem_len: int | None = None):
        super().__init__()
        if n_layers < 1:
            raise ValueError(f"n_layers = {n_layers} must be at least 1")
        if mem_len is not None and mem_len < 0:
            raise ValueError(f"mem_len = {mem_len} must be at least 0")
        self.d_model = layer.d_model
        self.mem_len = mem_len
        self.layers = clone_module_list(layer, n_layers)
        # Nothing in the stack is normalised after a sum. So it is done once at the end.
        self.norm = nn.LayerNorm(layer.d_model)

    def forward(
        self,
        x: Tensor,
        mem: Sequence[Tensor] | None = None,
        mask: Tensor | None = None,
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        r"""
        ### Read a segment

        * `x: [seq_len, batch_size, d_model]`
        * `mem: [n_mem, batch_size, d_model]`, in each layer
        * `mask: [seq_len or 1, seq_len_k, batch_size or 1]`, for the memory and the segment
        * `return: [seq_len, batch_size, d_model]`

        `mem` is what reading the segment before gave, or nothing at the beginning of a text.
        The results are the last layer's vectors, and the memories for the next segment, one
        for each layer.

        >>> model = small_model(n_layers=2, mem_len=4)
        >>> x, mem = model(torch.randn(7, 2, 15))
        >>> x.shape, [m.shape for m in mem]
        (torch.Size([7, 2, 15]), [torch.Size([4, 2, 15]), torch.Size([4, 2, 15])])
        """
        x, mem = self.step(x, mem, mask)
        # $\operatorname{SG}$: the memories are cut off from the gradient.
        return x, tuple(m.detach() for m in mem)

    def step(
        self,
        x: Tensor,
        state: Sequence[Tensor] | None = None,
        mask: Tensor | None = None,
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        r"""
        ### One step further

        The memory is all that a step needs, so a piece of one word is a segment like any other.
        The only difference is that nothing is cut off from the gradient here: whoever steps
        through a text decides where that should happen.

        * `x: [seq_len, batch_size, d_model]`, the next positions, one or more
        * `state: [n_mem, batch_size, d_model]`, in each layer
        * `mask: [seq_len or 1, seq_len_k, batch_size or 1]`, for the memory and the segment
        * `return: [seq_len, batch_size, d_model]`

        With a `mem_len` shorter than the text, a step of one word sees $M$ words back, and the
        last word of a long segment sees more: the segment too. So results then depend on how
        the text was cut. With enough memory they do not.

        >>> model = small_model(n_layers=2, mem_len=None)
        >>> x = torch.randn(7, 2, 15)
        >>> whole, _ = model(x)
        >>> state = None
        >>> words = []
        >>> for word in x.split(1):
        ...     y, state = model.step(word, state)
        ...     words.append(y)
        >>> torch.allclose(torch.cat(words), whole, atol=1e-5)
        True
        """
        self.check_memory(x, state)
        new_state = []
        for n, layer in enumerate(self.layers):
            # `mem: [n_mem, batch_size, d_model]`
            mem = state[n] if state else None
            # What enters this layer is kept, behind what was kept before; of all these, only
            # the latest. It is a copy even where there was nothing before: the caller may write
            # something else into `x`. And what is too old is cut off before the copy is made: a
            # slice of the whole would keep the whole in memory.
            #
            # * `past: [n_mem, batch_size, d_model]`
            # * `kept: [n_kept, batch_size, d_model]`
            past = x[:0] if mem is None else mem
            total = len(past) + len(x)
            surplus = 0 if self.mem_len is None else max(total - self.mem_len, 0)
            kept = torch.cat([past[surplus:], x[max(surplus - len(past), 0) :]])
            new_state.append(kept)
            x = layer(x=x, mem=mem, mask=mask)
        return self.norm(x), tuple(new_state)

    def check_memory(self, x: Tensor, mem: Sequence[Tensor] | None) -> None:
        r"""
        ### Memories that do not fit

        A memory has as many items in its batch as the segment that reads on from it:

        * `x: [seq_len, batch_size, d_model]`
        * `mem: [n_mem, batch_size, d_model]`

        >>> model = small_model(n_layers=2, mem_len=4)
        >>> _, mem = model(torch.randn(7, 2, 15))
        >>> model(torch.randn(7, 3, 15), mem)
        Traceback (most recent call last):
            ...
        ValueError: mem[0] has shape [4, 2, 15], but x has a batch of 3 with d_model = 15
        """
        if x.ndim != 3 or x.shape[-1] != self.d_model:
            raise ValueError(
                f"x has shape {list(x.shape)}, but must have "
                f"[seq_len, batch_size, d_model] with d_model = {self.d_model}"
            )
        if mem and len(mem) != len(self.layers):
            raise ValueError(f"mem has {len(mem)} memories for {len(self.layers)} layers")
        for n, m in enumerate(mem or ()):
            if m.ndim != 3 or m.shape[1:] != x.shape[1:]:
                raise ValueError(
                    f"mem[{n}] has shape {list(m.shape)}, but x has a batch of {x.shape[1]} "
                    f"with d_model = {self.d_model}"
                )


def small_model(n_layers: int, mem_len: int | None) -> TransformerXL:
    r"""
    ## The model of the examples

    In evaluation, so that nothing is dropped, and with something to say of distances, which a
    table that begins at zero has not:

    >>> model = small_model(n_layers=2, mem_len=4)
    >>> bool(model.layers[0].self_attn.key_pos_bias.any())
    True
    """
    attention = RelativeMultiHeadAttention(heads=3, d_model=15, max_len=32)
    for table in (attention.key_pos_embeddings, attention.key_pos_bias):
        nn.init.normal_(table, std=0.5)
    layer = TransformerXLLayer(
        d_model=15,
        self_attn=attention,
        feed_forward=FeedForward(d_model=15, d_ff=60),
        dropout_prob=0.1,
    )
    return TransformerXL(layer, n_layers, mem_len).eval()
