r"""
---
title: Multi-head attention
summary: Every position asks the others a question, several questions at once.
papers:
  - title: Attention Is All You Need
    authors: Vaswani et al.
    year: 2017
    url: https://arxiv.org/abs/1706.03762
symbols:
  Q: [query, self.query]
  K: [key, self.key]
  V: [value, self.value]
  S: scores
  A: [attn, self.attn]
  M: mask
  h: heads
  d_k: d_k
  d_{\text{model}}: d_model
  W^O: self.output
---
# Multi-head attention

A recurrent network passes the past along like a rumour: from step to step, and a little blurred
at each. Attention lets a position go and look for itself, however far back, in a single step.

Think of a dictionary that never answers *no such entry*. A position puts out a *query*. Every
position holds up a *key*, with a *value* behind it. The better the query and a key agree, the
more of that value the asker takes home.

Write the queries as the rows of a matrix $Q$, the keys as those of $K$ and the values as those of
$V$. Then the whole exchange is

$$\operatorname{Attention}(Q, K, V) =
\operatorname{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V$$

(Vaswani et al. 2017, equation 1). Read it from the inside. Row $i$, column $j$ of $Q K^\top$ is
the dot product of query $i$ and key $j$: how well they agree. $d_k$ is the length of a query or a
key, and [Scores](labml_nn.transformers.mha.MultiHeadAttention.get_scores) says why we divide by
its root. The softmax turns each row into weights, none negative, which add up to one. The last
product takes, for each query, the average of the values under its weights.

All three matrices are linear images of what flows through the network. Made from one and the same
sequence, they give *self-attention*. With the queries from one sequence, and the keys and values
from another, it is *cross-attention* (section 3.2.3).

Any position reaches any other in one step. The price is a score for every pair: twice the length,
four times the work (Table 1 of the paper).

The equation stands here in two forms. The [readable
form](labml_nn.transformers.mha.MultiHeadAttention.attend) follows it line by line. The [fused
form](labml_nn.transformers.fused_attention.fused_attention) gives the same result without
writing down the table of weights, wherever the machine has a kernel for it, and has a page of
its own. It is the one that runs, unless you ask to see the weights.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

from labml_nn.transformers.fused_attention import fused_attention


class PrepareForMultiHeadAttention(nn.Module):
    r"""
    ## One projection, cut into heads

    One softmax gives one set of weights, and so one average. A verb that looks for both its
    subject and its object gets a blend of the two. So we ask $h$ questions side by side (section
    3.2.2). Each *head* sees the input through a linear map of its own, $d_k$ numbers wide.

    >>> prepare = PrepareForMultiHeadAttention(d_model=15, heads=3, d_k=5, bias=False)
    >>> x = torch.randn(7, 2, 15)
    >>> prepare(x).shape
    torch.Size([7, 2, 3, 5])

    The maps of the heads are stacked in one matrix. The second head owns rows 5 to 9:

    >>> second = x @ prepare.linear.weight[5:10].T
    >>> torch.allclose(prepare(x)[:, :, 1], second, atol=1e-6)
    True
    """

    def __init__(self, d_model: int, heads: int, d_k: int, bias: bool):
        super().__init__()
        # One wide layer does the work of $h$ narrow ones: a single large product keeps the
        # hardware busier than several small ones.
        self.linear = nn.Linear(d_model, heads * d_k, bias=bias)
        self.heads = heads
        self.d_k = d_k

    def forward(self, x: Tensor) -> Tensor:
        r"""
        * `x: [..., d_model]`, with any number of leading axes
        * `return: [..., heads, d_k]`
        """
        # `x: [..., heads * d_k]`
        x = self.linear(x)
        # Only the last axis is cut, so nothing moves in memory.
        return x.unflatten(-1, (self.heads, self.d_k))


class KeysAndValues(NamedTuple):
    r"""
    ## What a sequence has been so far

    To attention, the past is its keys and its values.
    [One step further](labml_nn.transformers.mha.MultiHeadAttention.step) takes it and gives it
    back, longer.
    """

    # `key: [seq_len, batch_size, heads, d_k]`
    key: Tensor
    # `value: [seq_len, batch_size, heads, d_k]`
    value: Tensor


class MultiHeadAttention(nn.Module):
    r"""
    ## Several questions at once

    Each head $n$ attends on its own, with its own $Q_n$, $K_n$ and $V_n$, and finds $H_n$. The
    findings are laid end to end, and one last linear map $W^O$ mixes them (section 3.2.2):

    $$
    \begin{aligned}
    H_n &= \operatorname{Attention}(Q_n, K_n, V_n) \\
    \operatorname{MultiHead} &= \big[\, H_1 \;\cdots\; H_h \,\big]\, W^O
    \end{aligned}
    $$

    A sequence may look at another of a different length. Here seven positions attend to eleven,
    in a batch of two:

    >>> attention = MultiHeadAttention(heads=3, d_model=15).eval()
    >>> x = torch.randn(7, 2, 15)
    >>> memory = torch.randn(11, 2, 15)
    >>> attention(query=x, key=memory, value=memory).shape
    torch.Size([7, 2, 15])

    Nothing in the equation knows where a position stands. Shuffle the eleven, and the result is
    the same. Whoever needs word order must put it into the vectors.

    >>> shuffled = memory[torch.randperm(11)]
    >>> before = attention(query=x, key=memory, value=memory)
    >>> after = attention(query=x, key=shuffled, value=shuffled)
    >>> torch.allclose(before, after, atol=1e-6)
    True
    """

    def __init__(self, heads: int, d_model: int, dropout_prob: float = 0.1, bias: bool = True):
        r"""
        ### What the biases do

        The value map always has a bias. The weights $A_{ij}$ that query $i$ gives to the keys $j$
        add up to one, so a bias $b$ passes through the average whole:

        $$\sum_j A_{ij} (V_j + b) = \sum_j A_{ij} V_j + b$$

        With `bias` the queries and the keys have one too. On the keys it does nothing at all:

        $$Q_i \cdot (K_j + b) = Q_i \cdot K_j + Q_i \cdot b$$

        The last term is the same for every key $j$, and a softmax does not notice what all its
        scores share. We keep this bias only because existing checkpoints hold it.

        >>> attention = MultiHeadAttention(heads=3, d_model=15).eval()
        >>> x = torch.randn(7, 2, 15)
        >>> before = attention(query=x, key=x, value=x)
        >>> attention.key.linear.bias.data += 1.0
        >>> after = attention(query=x, key=x, value=x)
        >>> torch.allclose(before, after, atol=1e-5)
        True
        """
        super().__init__()
        # The heads share the width of the model equally: $h\, d_k = d_{\text{model}}$. So $h$
        # heads cost about what one of full width would (section 3.2.2).
        if heads < 1 or d_model < 1 or d_model % heads != 0:
            raise ValueError(f"d_model = {d_model} cannot be shared equally by heads = {heads}")
        self.heads = heads
        self.d_k = d_model // heads
        self.d_model = d_model

        # Three ways in.
        self.query = PrepareForMultiHeadAttention(d_model, heads, self.d_k, bias=bias)
        self.key = PrepareForMultiHeadAttention(d_model, heads, self.d_k, bias=bias)
        self.value = PrepareForMultiHeadAttention(d_model, heads, self.d_k, bias=True)
        # One way out, $W^O$.
        self.output = nn.Linear(d_model, d_model)
        # In training, each weight is dropped with probability `dropout_prob`.
        self.dropout = nn.Dropout(dropout_prob)
        self.scale = 1 / math.sqrt(self.d_k)

        # Set `keep_attn` to true, and `attn` holds the weights of the latest call, as they were
        # before dropout and cut off from the gradient.
        self.keep_attn = False
        self.attn: Tensor | None = None

    def get_scores(self, query: Tensor, key: Tensor) -> Tensor:
        r"""
        ### Scores

        How well query $i$ agrees with key $j$ is their dot product:

        $$S_{ij} = \sum_{d=1}^{d_k} Q_{id}\, K_{jd}$$

        * `query: [seq_len_q, batch_size, heads, d_k]`
        * `key: [seq_len_k, batch_size, heads, d_k]`
        * `return: [seq_len_q, seq_len_k, batch_size, heads]`

        A subclass may measure agreement in another way here. Then the readable form runs, since
        the fused one knows nothing but dot products.

        **Why divide by $\sqrt{d_k}$?** Suppose all the $Q_{id}$ and $K_{jd}$ are independent, with
        mean 0 and variance 1. Each product has mean 0 and variance 1 as well. The variances of
        independent terms add up, so a score has variance $d_k$: its typical size is $\sqrt{d_k}$
        (footnote 4 of the paper). With $d_k = 64$ that is 8:

        >>> attention = MultiHeadAttention(heads=1, d_model=64)
        >>> query = torch.randn(500, 1, 1, 64)
        >>> key = torch.randn(400, 1, 1, 64)
        >>> round(attention.get_scores(query, key).std().item())
        8

        Scores that far apart leave the softmax all but certain, and where it is certain it hardly
        learns: the slope of a weight in its own score is $A_{ij} (1 - A_{ij})$. Here are the
        slopes for three scores that lie 8 apart, and for the same three divided by 8:

        >>> attn = torch.tensor([8.0, 0.0, -8.0]).softmax(dim=0)
        >>> slopes = attn * (1 - attn)
        >>> [round(slope, 4) for slope in slopes.tolist()]
        [0.0003, 0.0003, 0.0]
        >>> attn = torch.tensor([1.0, 0.0, -1.0]).softmax(dim=0)
        >>> slopes = attn * (1 - attn)
        >>> [round(slope, 4) for slope in slopes.tolist()]
        [0.2227, 0.1848, 0.0819]
        """
        # Only `d` is summed over. Each item `b` of the batch and each head `h` goes its own way.
        return torch.einsum("ibhd,jbhd->ijbh", query, key)

    def prepare_mask(
        self,
        mask: Tensor,
        query_shape: torch.Size,
        key_shape: torch.Size,
    ) -> Tensor:
        r"""
        ### Mask

        A mask says who may see whom: $M_{ij}$ is true where query $i$ may see key $j$. The first
        axis may be 1, for a mask that all queries share: one that hides padding, say. The last may
        be 1, for a mask that the whole batch shares.

        * `mask: [seq_len_q or 1, seq_len_k, batch_size or 1]`
        * `return: [seq_len_q or 1, seq_len_k, batch_size or 1, 1]`

        This mask is *causal*: position $i$ sees itself and the past, $j \le i$. We change the last
        position beyond recognition, and no earlier one notices.

        >>> attention = MultiHeadAttention(heads=3, d_model=15).eval()
        >>> causal = torch.ones(7, 7).bool().tril().unsqueeze(-1)
        >>> x = torch.randn(7, 2, 15)
        >>> before = attention(query=x, key=x, value=x, mask=causal)
        >>> x[-1] = 1000.0
        >>> after = attention(query=x, key=x, value=x, mask=causal)
        >>> torch.allclose(before[:-1], after[:-1], atol=1e-6)
        True
        >>> torch.allclose(before[-1], after[-1], atol=1e-6)
        False

        This one hides *padding*: of eleven keys the second item of the batch has only eight, and
        the rest might as well not be there.

        >>> x, memory = torch.randn(7, 2, 15), torch.randn(11, 2, 15)
        >>> n_keys = torch.tensor([11, 8])
        >>> padding = (torch.arange(11).unsqueeze(-1) < n_keys).unsqueeze(0)
        >>> padded = attention(query=x, key=memory, value=memory, mask=padding)
        >>> second, memory = x[:, 1:], memory[:8, 1:]
        >>> alone = attention(query=second, key=memory, value=memory)
        >>> torch.allclose(padded[:, 1:], alone, atol=1e-6)
        True

        Other conventions exist, and do not announce themselves. In `torch.nn.MultiheadAttention`
        true means *hidden*. A mask to be *added* to the scores has 0 for visible and $-\infty$ for
        hidden: read as truth values, every entry is the wrong way round. So we take nothing but
        booleans:

        >>> added = torch.zeros(7, 7, 1)
        >>> attention(query=x, key=x, value=x, mask=added)
        Traceback (most recent call last):
            ...
        ValueError: mask is torch.float32, but must be torch.bool, true where a query may see a key
        >>> visible = added == 0
        >>> attention(query=x, key=x, value=x, mask=visible).shape
        torch.Size([7, 2, 15])
        """
        if mask.dtype != torch.bool:
            raise ValueError(
                f"mask is {mask.dtype}, but must be torch.bool, true where a query may see a key"
            )
        (seq_len_q, batch_size), seq_len_k = query_shape[:2], key_shape[0]
        if (
            mask.ndim != 3
            or mask.shape[0] not in (1, seq_len_q)
            or mask.shape[1] != seq_len_k
            or mask.shape[2] not in (1, batch_size)
        ):
            raise ValueError(
                f"mask has shape {list(mask.shape)}, but must have "
                f"[{seq_len_q} or 1, {seq_len_k}, {batch_size} or 1]: queries, keys, batch"
            )
        # A last axis for the heads: all of them see alike.
        return mask.unsqueeze(-1)

    def attend(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        r"""
        ### The equation, line by line

        * `query: [seq_len_q, batch_size, heads, d_k]`
        * `key: [seq_len_k, batch_size, heads, d_k]`
        * `value: [seq_len_k, batch_size, heads, d_k]`
        * `mask: [seq_len_q or 1, seq_len_k, batch_size or 1, 1]`
        * `return: [seq_len_q, batch_size, heads, d_k]`

        The mask has come through
        [`prepare_mask`](labml_nn.transformers.mha.MultiHeadAttention.prepare_mask).

        The weights are a large table, and are kept only when you ask: one weight for each query,
        key, item of the batch and head. *Over the keys* they add up to one.

        >>> attention = MultiHeadAttention(heads=3, d_model=15)
        >>> attention.keep_attn = True
        >>> x, memory = torch.randn(7, 2, 15), torch.randn(11, 2, 15)
        >>> x = attention(query=x, key=memory, value=memory)
        >>> attention.attn.shape
        torch.Size([7, 11, 2, 3])
        >>> total = attention.attn.sum(dim=1)
        >>> torch.allclose(total, torch.ones(7, 2, 3))
        True
        """
        # Compare all pairs, and bring the spread of the scores back to about one.
        #
        # `scores: [seq_len_q, seq_len_k, batch_size, heads]`
        scores = self.get_scores(query, key) * self.scale

        # $$A_{ij} = \frac{e^{S_{ij}}}{\sum_{j'} e^{S_{ij'}}}$$
        #
        # The sum runs over the keys $j'$ that query $i$ may see. The others get no weight.
        #
        # `attn: [seq_len_q, seq_len_k, batch_size, heads]`
        attn = masked_softmax(scores, mask)
        if self.keep_attn:
            self.attn = attn.detach()
        # In training some weights are dropped, and the others grow to make up for them. A row
        # then adds up to one only on average, which is why we kept the weights before.
        attn = self.dropout(attn)

        # $$\sum_j A_{ij} V_j$$
        #
        # Each query takes home its weighted share of the values.
        return torch.einsum("ijbh,jbhd->ibhd", attn, value)

    @property
    def has_own_scores(self) -> bool:
        r"""
        Has somebody put another measure of agreement in the place of ours, for a whole class or
        for this one object?
        """
        in_subclass = type(self).get_scores is not MultiHeadAttention.get_scores
        return in_subclass or "get_scores" in vars(self)

    def forward(
        self,
        *,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        r"""
        ### The whole way

        * `query: [seq_len_q, batch_size, d_model]`
        * `key: [seq_len_k, batch_size, d_model]`
        * `value: [seq_len_k, batch_size, d_model]`
        * `mask: [seq_len_q or 1, seq_len_k, batch_size or 1]`
        * `return: [seq_len_q, batch_size, d_model]`

        The shapes of a mask stand under
        [Mask](labml_nn.transformers.mha.MultiHeadAttention.prepare_mask). Without one, every query
        sees every key. With `is_causal`, query $i$ sees the keys $j \le i$ of those that the mask
        lets it see. That is as good as a causal mask, and
        [half the work](labml_nn.transformers.fused_attention.fused_attention):

        >>> attention = MultiHeadAttention(heads=3, d_model=15).eval()
        >>> causal = torch.ones(7, 7).bool().tril().unsqueeze(-1)
        >>> x = torch.randn(7, 2, 15)
        >>> masked = attention(query=x, key=x, value=x, mask=causal)
        >>> told = attention(query=x, key=x, value=x, is_causal=True)
        >>> torch.allclose(masked, told, atol=1e-6)
        True
        """
        check_sequences(query, key, value, self.d_model)
        if mask is not None:
            # `mask: [seq_len_q or 1, seq_len_k, batch_size or 1, 1]`
            mask = self.prepare_mask(mask, query.shape, key.shape)

        # Cut each input into heads.
        #
        # * `query: [seq_len_q, batch_size, heads, d_k]`
        # * `key: [seq_len_k, batch_size, heads, d_k]`
        # * `value: [seq_len_k, batch_size, heads, d_k]`
        query = self.query(query)
        key = self.key(key)
        value = self.value(value)

        # `x: [seq_len_q, batch_size, heads, d_k]`
        x = self.attend_in_either_form(query, key, value, mask, is_causal)

        # Lay the heads end to end again.
        #
        # `x: [seq_len_q, batch_size, heads * d_k]`
        x = x.flatten(-2)
        # The way out. A query that saw nothing comes home with zeros, so what leaves here is the
        # bias of this layer.
        return self.output(x)

    def attend_in_either_form(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None,
        is_causal: bool,
    ) -> Tensor:
        r"""
        ### Which form

        The fused form never has all the weights in one place, so it cannot keep them; and it
        cannot make them in another way than ours.

        * `query: [seq_len_q, batch_size, heads, d_k]`
        * `key: [seq_len_k, batch_size, heads, d_k]`
        * `value: [seq_len_k, batch_size, heads, d_k]`
        * `mask: [seq_len_q or 1, seq_len_k, batch_size or 1, 1]`
        * `return: [seq_len_q, batch_size, heads, d_k]`

        Here a query gives weight to the keys up to its own place, and to no other:

        >>> attention = MultiHeadAttention(heads=3, d_model=15)
        >>> attention.keep_attn = True
        >>> x = torch.randn(4, 2, 15)
        >>> x = attention(query=x, key=x, value=x, is_causal=True)
        >>> (attention.attn > 0).all(dim=-1)[:, :, 0].int()
        tensor([[1, 0, 0, 0],
                [1, 1, 0, 0],
                [1, 1, 1, 0],
                [1, 1, 1, 1]], dtype=torch.int32)
        """
        # Weights from an earlier call do not stay behind.
        self.attn = None
        readable = self.keep_attn or self.has_own_scores

        # The kernel can do without a table of who sees whom, if it is causal and nothing else.
        #
        # * `causal: [seq_len_q, seq_len_k, 1, 1]`
        # * `mask: [seq_len_q, seq_len_k, batch_size or 1, 1]`
        if is_causal and (readable or mask is not None):
            causal = causal_mask(query.shape[0], key.shape[0], query.device)
            mask = causal if mask is None else mask & causal
            is_causal = False

        if readable:
            return self.attend(query, key, value, mask)
        dropout_prob = self.dropout.p if self.dropout.training else 0.0
        return fused_attention(query, key, value, mask, self.scale, dropout_prob, is_causal)

    def step(
        self, x: Tensor, state: KeysAndValues | None = None
    ) -> tuple[Tensor, KeysAndValues]:
        r"""
        ### One step further

        A model that writes makes one position at a time, and each new one looks back at all
        before it. Their keys and values do not change any more: under a causal mask nothing that
        comes later reaches them. So compute them once and keep them, as the `state` that a call
        gives back and the next one takes. A step then costs one row of the table. To begin again
        from the first position would cost the whole table, at every step.

        * `x: [seq_len, batch_size, d_model]`, the next positions, one or more
        * `state.key: [seen, batch_size, heads, d_k]`, of the positions before them
        * `state.value: [seen, batch_size, heads, d_k]`
        * `return: [seq_len, batch_size, d_model]`

        Whatever the pieces, the result is that of the whole:

        >>> attention = MultiHeadAttention(heads=3, d_model=15).eval()
        >>> x = torch.randn(7, 2, 15)
        >>> whole = attention(query=x, key=x, value=x, is_causal=True)
        >>> first, state = attention.step(x[:4])
        >>> second, state = attention.step(x[4:5], state)
        >>> third, state = attention.step(x[5:], state)
        >>> torch.allclose(torch.cat([first, second, third]), whole, atol=1e-6)
        True
        >>> state.key.shape
        torch.Size([7, 2, 3, 5])

        Not here, however, is the place for `is_causal`. It counts queries and keys from the same
        beginning. The newest query is the last of the sequence and the first of its call, so it
        would see one key: the oldest.

        >>> newest = x[6:]
        >>> wrong = attention(query=newest, key=x, value=x, is_causal=True)
        >>> oldest = attention(query=newest, key=x[:1], value=x[:1])
        >>> torch.allclose(wrong, oldest, atol=1e-6)
        True
        >>> torch.allclose(wrong, whole[6:], atol=1e-3)
        False
        """
        check_sequence("x", x, self.d_model)
        # * `query: [seq_len, batch_size, heads, d_k]`
        # * `key: [seq_len, batch_size, heads, d_k]`
        # * `value: [seq_len, batch_size, heads, d_k]`
        query, key, value = self.query(x), self.key(x), self.value(x)
        seen = 0
        if state is not None:
            seen, batch_size = state.key.shape[:2]
            if batch_size != x.shape[1]:
                raise ValueError(
                    f"x has a batch of {x.shape[1]}, but the state is from a batch of {batch_size}"
                )
            if state.key.shape[2:] != key.shape[2:]:
                raise ValueError(
                    f"the state has heads and d_k {list(state.key.shape[2:])}, "
                    f"but this layer has {list(key.shape[2:])}"
                )
            # * `key: [seq_len_k, batch_size, heads, d_k]`
            # * `value: [seq_len_k, batch_size, heads, d_k]`
            key = torch.cat([state.key, key])
            value = torch.cat([state.value, value])

        # Row $i$ of this piece is position `seen + i` of the sequence. A single position sees all
        # that there is, and needs no mask.
        #
        # * `mask: [seq_len, seq_len_k, 1, 1]`
        # * `attended: [seq_len, batch_size, heads, d_k]`
        mask = None
        if seen > 0 and x.shape[0] > 1:
            mask = causal_mask(x.shape[0], key.shape[0], x.device, seen)
        attended = self.attend_in_either_form(query, key, value, mask, is_causal=seen == 0)
        return self.output(attended.flatten(-2)), KeysAndValues(key, value)


def causal_mask(
    seq_len_q: int, seq_len_k: int, device: torch.device | None = None, seen: int = 0
) -> Tensor:
    r"""
    ## Who may see whom, when nobody sees the future

    Query $i$ is position `seen + i` of the sequence, and sees the keys up to there.

    * `return: [seq_len_q, seq_len_k, 1, 1]`, the last axes for the batch and the heads

    >>> causal_mask(2, 5, seen=3).squeeze().int()
    tensor([[1, 1, 1, 1, 0],
            [1, 1, 1, 1, 1]], dtype=torch.int32)

    Cut the triangle first, and add the other axes afterwards. `tril` cuts along the *last two* axes.
    In a table that has its batch axis already these are keys and batch, nothing lies above their
    diagonal, and the mask hides nothing, without a word:

    >>> wrong = torch.ones(3, 3, 1).bool().tril()
    >>> wrong.all()
    tensor(True)
    >>> right = torch.ones(3, 3).bool().tril().unsqueeze(-1)
    >>> right.sum()
    tensor(6)
    """
    mask = torch.ones(seq_len_q, seq_len_k, dtype=torch.bool, device=device).tril(seen)
    return mask[:, :, None, None]


def masked_softmax(scores: Tensor, mask: Tensor | None) -> Tensor:
    r"""
    ## A query that may see nothing

    Padding, windows and document borders sooner or later make a row in which every key is hidden.
    What should its weights be?

    The usual recipe sets hidden scores to $-\infty$ before the softmax (section 3.2.3), since
    $e^{-\infty}$ is nothing. In our row that divides nothing by nothing:

    >>> scores = torch.zeros(2, 3)
    >>> mask = torch.tensor([[1, 1, 0], [0, 0, 0]]).bool()
    >>> filled = scores.masked_fill(~mask, -torch.inf)
    >>> wrong = filled.softmax(dim=1)
    >>> wrong
    tensor([[0.5000, 0.5000, 0.0000],
            [   nan,    nan,    nan]])

    Never mind, one says: nobody will look at that row. But the gradient does. Here the loss is
    made from the first row alone. On the way back the second row is multiplied by zero, and zero
    times NaN is NaN:

    >>> value = torch.ones(3, 5, requires_grad=True)
    >>> (wrong @ value)[0].sum().backward()
    >>> value.grad.isnan().all()
    tensor(True)

    One such row, one step of the optimiser, and the model is lost. Users of torch's own layer
    have met this since 2020 ([issue 41508](https://github.com/pytorch/pytorch/issues/41508)).

    The right answer is a row of zeros: who sees nothing brings nothing home.

    >>> attn = masked_softmax(scores, mask)
    >>> attn
    tensor([[0.5000, 0.5000, 0.0000],
            [0.0000, 0.0000, 0.0000]])
    >>> value.grad = None
    >>> (attn @ value)[0].sum().backward()
    >>> value.grad[:, 0]
    tensor([0.5000, 0.5000, 0.0000])

    The queries are the first axis, the keys the second; other axes go along. An axis of the mask
    may be 1.

    * `scores: [seq_len_q, seq_len_k, ...]`
    * `mask: [seq_len_q or 1, seq_len_k or 1, ...]`
    * `return: [seq_len_q, seq_len_k, ...]`
    """
    if mask is None:
        return scores.softmax(dim=1)
    # Hidden scores get the lowest number that is still finite. Beside any visible score, its
    # exponential is exactly 0. In a row without one all scores are now equal, and the softmax
    # behaves.
    #
    # * `scores: [seq_len_q, seq_len_k, ...]`
    # * `attn: [seq_len_q, seq_len_k, ...]`
    scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    attn = scores.softmax(dim=1)
    # Most rows are done. In one that sees nothing the softmax has shared the weight equally: take
    # it away. No gradient passes here either.
    return attn.masked_fill(~mask, 0)


def attention_by_loops(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
) -> Tensor:
    r"""
    ## The same thing, slowly

    One item, one head, one loop for each index of the formula, in double precision. Nobody would
    run this on purpose. It is here because it cannot be misread. The values may have a width
    $d_v$ of their own.

    * `query: [seq_len_q, d_k]`
    * `key: [seq_len_k, d_k]`
    * `value: [seq_len_k, d_v]`
    * `mask: [seq_len_q, seq_len_k]`
    * `return: [seq_len_q, d_v]`

    >>> query, key = torch.randn(7, 5), torch.randn(11, 5)
    >>> value = torch.randn(11, 3)
    >>> mask = torch.rand(7, 11) < 0.5
    >>> slow = attention_by_loops(query, key, value, mask)
    >>> attn = masked_softmax(query @ key.T / math.sqrt(5), mask)
    >>> torch.allclose(slow.float(), attn @ value, atol=1e-6)
    True
    """
    (seq_len_q, d_k), (seq_len_k, d_v) = query.shape, value.shape
    x = torch.zeros(seq_len_q, d_v, dtype=torch.float64)

    for i in range(seq_len_q):
        # The scores of the keys that this query may see.
        scores: dict[int, float] = {}
        for j in range(seq_len_k):
            if mask is None or mask[i, j]:
                dot = 0.0
                for d in range(d_k):
                    dot += float(query[i, d]) * float(key[j, d])
                scores[j] = dot / math.sqrt(d_k)

        # To take the same number from all scores changes no weight. To take the highest keeps
        # $e^S$ from overflowing.
        highest = max(scores.values(), default=0.0)
        exponentials = {j: math.exp(score - highest) for j, score in scores.items()}
        total = sum(exponentials.values())

        # With no key in sight there is nothing to add up, and the row stays zero.
        for j, exponential in exponentials.items():
            attn = exponential / total
            for d in range(d_v):
                x[i, d] += attn * float(value[j, d])

    return x


def check_sequences(query: Tensor, key: Tensor, value: Tensor, d_model: int) -> None:
    r"""
    ## Inputs that do not fit

    Some of these mistakes would fail far from where they were made. One would not fail at all: a
    batch of one beside a batch of two is silently copied.

    * `query: [seq_len_q, batch_size, d_model]`
    * `key: [seq_len_k, batch_size, d_model]`
    * `value: [seq_len_k, batch_size, d_model]`

    >>> attention = MultiHeadAttention(heads=3, d_model=15)
    >>> x, memory = torch.randn(7, 2, 15), torch.randn(11, 2, 15)
    >>> attention(query=x, key=memory, value=x)
    Traceback (most recent call last):
        ...
    ValueError: key has length 11 and value has length 7, but each key needs one value
    """
    # `x: [seq_len, batch_size, d_model]`
    for name, x in (("query", query), ("key", key), ("value", value)):
        check_sequence(name, x, d_model)
    if key.shape[0] != value.shape[0]:
        raise ValueError(
            f"key has length {key.shape[0]} and value has length {value.shape[0]}, "
            "but each key needs one value"
        )
    if not query.shape[1] == key.shape[1] == value.shape[1]:
        raise ValueError(
            "query, key and value must have the same batch size, but have "
            f"{query.shape[1]}, {key.shape[1]} and {value.shape[1]}"
        )


def check_sequence(name: str, x: Tensor, d_model: int) -> None:
    r"""
    One sequence, by the name that it has where it was handed in.

    * `x: [seq_len, batch_size, d_model]`

    >>> MultiHeadAttention(heads=3, d_model=15).step(torch.randn(7, 15))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: x has shape [7, 15], but must have [seq_len, batch_size, d_model] with ...
    """
    if x.ndim != 3 or x.shape[-1] != d_model:
        raise ValueError(
            f"{name} has shape {list(x.shape)}, but must have "
            f"[seq_len, batch_size, d_model] with d_model = {d_model}"
        )
