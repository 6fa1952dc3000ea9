r"""
---
title: Relative attention
summary: Not where a word stands, but how far away it is.
papers:
  - title: "Transformer-XL: Attentive Language Models Beyond a Fixed-Length Context"
    authors: Dai et al.
    year: 2019
    url: https://arxiv.org/abs/1901.02860
  - title: Self-Attention with Relative Position Representations
    authors: Shaw et al.
    year: 2018
    url: https://arxiv.org/abs/1803.02155
  - title: Music Transformer
    authors: Huang et al.
    year: 2018
    url: https://arxiv.org/abs/1809.04281
symbols:
  Q: query
  K: key
  U: [pos_key, self.key_pos_embeddings]
  b: [pos_bias, self.key_pos_bias]
  u: [query_pos_bias, self.query_pos_bias]
  v: self.pos_query_bias
  R: encodings
  W_R: self.key_pos
  T_q: seq_len_q
  T_k: seq_len_k
  P: max_len
---
# Relative attention

An adjective looks for a noun just behind it. It does not care whether that is the word number 4
or number 4,000. With [positions added to the words](positional_encoding.html) a model can learn
such a rule, but has to make it out of two absolute places. And it learns nothing of place 4,000
from texts of 500 words.

So tell each query how far away a key is, instead of where both are. It is told in the score.

**Four terms out of one.** Dai et al. 2019 (section 3.3) begin with absolute positions. Let
$x_i$ be the word at place $i$ and $p_i$ the encoding of the place. Query and key are linear
maps of their sum, and the score of query $i$ and key $j$ multiplies out:

$$
\begin{aligned}
S_{ij} &= \big(W_Q (x_i + p_i)\big) \cdot \big(W_K (x_j + p_j)\big) \\
&= \underbrace{W_Q x_i \cdot W_K x_j}_{\text{word, word}}
+ \underbrace{W_Q x_i \cdot W_K p_j}_{\text{word, place}} \\
&\quad + \underbrace{W_Q p_i \cdot W_K x_j}_{\text{place, word}}
+ \underbrace{W_Q p_i \cdot W_K p_j}_{\text{place, place}}
\end{aligned}
$$

Now make two changes. What the key says of its place becomes a vector $U_{i-j}$ that depends on
the distance alone. What the query says of its own place becomes the same everywhere, since from
where one stands one's own distance is always 0: a learned vector $u$ where it meets a word, and
another one where it meets a place. And with $Q_i = W_Q x_i$ and $K_j = W_K x_j$:

$$
\begin{aligned}
S_{ij} &= \underbrace{Q_i \cdot K_j}_{\text{the word fits}}
+ \underbrace{Q_i \cdot U_{i-j}}_{\text{the distance suits}} \\
&\quad + \underbrace{u \cdot K_j}_{\text{the word matters}}
+ \underbrace{b_{i-j}}_{\text{the distance matters}}
\end{aligned}
$$

The first two ask what *this* query wants, the last two what any query would. The last term does
not depend on any word, so it is one number for each distance.

**Two ways to a distance.** This page has both.

* A *learned* table: a row $U_{i-j}$ and a number $b_{i-j}$ for each distance, up to a largest
  one. Shaw et al. 2018 were the first to give distances vectors of their own.
* The paper's way. The encoding of a distance is a fixed sinusoid $R_{i-j}$, as in
  [positional encoding](positional_encoding.html). A learned matrix makes the key of it,
  $U_{i-j} = W_R R_{i-j}$, and a learned vector asks, $b_{i-j} = v \cdot U_{i-j}$. So it has an
  answer to any distance, even to one that was never seen in training.

Each head has its own $U$, $u$, $b$ and $v$.

What is left is a puzzle of indices. The terms with $i - j$ fill a table with a row for each
query and a column for each key, but there are far fewer distances than there are pairs. [Shift
right](labml_nn.transformers.relative_mha.shift_right) is the usual trick.
"""

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from labml_nn.transformers.mha import (
    MultiHeadAttention,
    PrepareForMultiHeadAttention,
    causal_mask,
)
from labml_nn.transformers.positional_encoding import sinusoids


def shift_right(x: Tensor) -> Tensor:
    r"""
    ## Shift right

    Row $i$ moves to the right by $i$ places.

    * `x: [n_rows, n_columns, ...]`
    * `return: [n_rows, n_columns, ...]`

    Why would one want that? Three queries look at three keys, the same three places. The
    distances $i - j$ run from 2, far back, to $-2$, far ahead:

    >>> distances = torch.tensor([2, 1, 0, -1, -2])

    Suppose each query has measured all five. In this table every row begins at the same
    distance. We want one in which every column is the same *key*. For the last query they are
    one thing: key 0 is two places back. The query before it is one place nearer to key 0, and
    needs its row from the second number on; the first from the third on. So each row has to
    move one place further to the right than the row above:

    >>> x = distances.repeat(3, 1)
    >>> shift_right(x)[:, 2:]
    tensor([[ 0, -1, -2],
            [ 1,  0, -1],
            [ 2,  1,  0]])

    **One column too many.** No row is moved one by one. Put a column of zeros on the right, and
    read the numbers in the order in which they lie in memory. Now cut this ribbon into rows of
    the old length. Each row of the longer kind gives one number away to the row below, so every
    row begins one place further to the right than the one above:

    >>> x = torch.tensor([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    >>> ribbon = nn.functional.pad(x, (0, 1)).flatten()
    >>> ribbon
    tensor([1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 9, 0])
    >>> ribbon[:9].view(3, 3)
    tensor([[1, 2, 3],
            [0, 4, 5],
            [6, 0, 7]])

    Row $i$ now has its first $i$ places filled with leftovers, and nobody may look there. The
    trick is from Huang et al. 2018, and in another form from Dai et al. (appendix B).
    """
    # * `zeros: [n_rows, 1, ...]`
    # * `ribbon: [n_rows * (n_columns + 1), ...]`
    zeros = x.new_zeros(x.shape[0], 1, *x.shape[2:])
    ribbon = torch.cat([x, zeros], dim=1).flatten(0, 1)
    return ribbon[: x.shape[0] * x.shape[1]].view_as(x)


class RelativeMultiHeadAttention(MultiHeadAttention):
    r"""
    ## Attention that knows distances

    The queries are the *last* of the keys. With as many keys as queries, that is a sequence
    which looks at itself. With more, the first keys are a memory of what was before. Here five
    positions see themselves and four older ones, and none of them the future:

    >>> attention = RelativeMultiHeadAttention(heads=3, d_model=15, max_len=10).eval()
    >>> x = torch.randn(9, 2, 15)
    >>> attention(query=x[4:], key=x, value=x, is_causal=True).shape
    torch.Size([5, 2, 15])

    So `is_causal` counts from the end here. With $T_q$ queries and $T_k$ keys, query $i$ sees
    the keys up to $i + T_k - T_q$.

    What a position finds depends on distances, and on nothing else. Let every position see its
    neighbours, and put a word before the sequence. All move on by one place, and none of those
    that have the same neighbours as before notices:

    >>> for table in (attention.key_pos_embeddings, attention.key_pos_bias):
    ...     _ = nn.init.normal_(table)
    >>> near = (torch.arange(10)[:, None] - torch.arange(10)).abs() < 2
    >>> moved = torch.cat([torch.randn(1, 2, 15), x])
    >>> before = attention(query=x, key=x, value=x, mask=near[:9, :9, None])
    >>> after = attention(query=moved, key=moved, value=moved, mask=near[..., None])
    >>> torch.allclose(before[1:], after[2:], atol=1e-5)
    True
    """

    def __init__(
        self,
        heads: int,
        d_model: int,
        dropout_prob: float = 0.1,
        *,
        positions: Literal["learned", "sinusoidal"] = "learned",
        max_len: int = 2**12,
    ):
        r"""
        ### What is learned

        `positions` is `"learned"` for a table, or `"sinusoidal"` for the paper's way. The table
        has a largest distance, which `max_len` sets and we call $P$; sinusoids have none.

        Queries and keys have no bias here. What one would do for the queries, $u$ does; and on
        the keys one [does nothing](labml_nn.transformers.mha.MultiHeadAttention).

        >>> attention = RelativeMultiHeadAttention(heads=3, d_model=15)
        >>> attention.key_pos_embeddings.shape
        torch.Size([8192, 3, 5])
        >>> paper = RelativeMultiHeadAttention(heads=3, d_model=15, positions="sinusoidal")
        >>> paper.key_pos.linear.weight.shape
        torch.Size([15, 15])
        """
        super().__init__(heads, d_model, dropout_prob, bias=False)
        if positions not in ("learned", "sinusoidal"):
            raise ValueError(f"positions = {positions!r} is neither 'learned' nor 'sinusoidal'")
        self.positions = positions
        self.max_len = max_len

        # $u$, the query that every position puts to the words.
        self.query_pos_bias = nn.Parameter(torch.zeros(heads, self.d_k))
        if positions == "learned":
            if max_len < 1:
                raise ValueError(f"max_len = {max_len} must be at least 1")
            # $U$ and $b$. Row $P - n$ is for the key $n$ places back, so row $P$ is for the
            # position itself, and what lies ahead comes after it. All begin at zero: at first,
            # nobody knows any distance.
            #
            # * `self.key_pos_embeddings: [2 * max_len, heads, d_k]`
            # * `self.key_pos_bias: [2 * max_len, heads]`
            self.key_pos_embeddings = nn.Parameter(torch.zeros(2 * max_len, heads, self.d_k))
            self.key_pos_bias = nn.Parameter(torch.zeros(2 * max_len, heads))
            self.register_load_state_dict_pre_hook(take_the_middle)
        else:
            # $W_R$, and $v$, the query that every position puts to the distances.
            self.key_pos = PrepareForMultiHeadAttention(d_model, heads, self.d_k, bias=False)
            self.pos_query_bias = nn.Parameter(torch.zeros(heads, self.d_k))

    def get_distances(self, seq_len_q: int, seq_len_k: int) -> tuple[Tensor, Tensor]:
        r"""
        ### What is said of each distance

        The last query is $T_k - 1$ places from the first key, and the first query $T_q - 1$
        places from the last key, which lies ahead of it. So there are $T_k + T_q - 1$
        distances. The farthest in the past comes first.

        The result is $U$ and $b$, with a row for each.

        * `return: [seq_len_k + seq_len_q - 1, heads, d_k]`, that of $U$; $b$ has no last axis

        >>> attention = RelativeMultiHeadAttention(heads=3, d_model=15, max_len=8)
        >>> pos_key, pos_bias = attention.get_distances(seq_len_q=2, seq_len_k=7)
        >>> pos_key.shape, pos_bias.shape
        (torch.Size([8, 3, 5]), torch.Size([8, 3]))

        A table that ends somewhere must say so. A slice does not. Here it would have to begin
        before the first row; a negative index counts from the end instead, and what comes back
        is empty:

        >>> attention.key_pos_bias[8 - 11 + 1 : 8 + 2].shape
        torch.Size([0, 3])
        >>> attention.get_distances(seq_len_q=2, seq_len_k=11)
        Traceback (most recent call last):
            ...
        ValueError: 2 queries and 11 keys are too many for a table of max_len = 8 distances

        Sinusoids end nowhere:

        >>> paper = RelativeMultiHeadAttention(
        ...     heads=3, d_model=15, positions="sinusoidal", max_len=8
        ... )
        >>> pos_key, pos_bias = paper.get_distances(seq_len_q=2, seq_len_k=11)
        >>> pos_key.shape, pos_bias.shape
        (torch.Size([12, 3, 5]), torch.Size([12, 3]))
        """
        if self.positions == "learned":
            if max(seq_len_q, seq_len_k) > self.max_len:
                raise ValueError(
                    f"{seq_len_q} queries and {seq_len_k} keys are too many for a table of "
                    f"max_len = {self.max_len} distances"
                )
            # * `pos_key: [n_distances, heads, d_k]`
            # * `pos_bias: [n_distances, heads]`
            rows = slice(self.max_len - seq_len_k + 1, self.max_len + seq_len_q)
            pos_key, pos_bias = self.key_pos_embeddings[rows], self.key_pos_bias[rows]
            return pos_key, pos_bias

        # $R$, for each distance from $T_k - 1$ to $-(T_q - 1)$.
        #
        # `encodings: [n_distances, d_model]`
        weight = self.key_pos.linear.weight
        distances = torch.arange(seq_len_k - 1, -seq_len_q, -1, device=weight.device)
        encodings = sinusoids(distances, self.d_model).to(weight.dtype)
        # $U = W_R R$ and $b = v \cdot U$
        #
        # * `pos_key: [n_distances, heads, d_k]`
        # * `pos_bias: [n_distances, heads]`
        pos_key = self.key_pos(encodings)
        pos_bias = torch.einsum("nhd,hd->nh", pos_key, self.pos_query_bias)
        return pos_key, pos_bias

    def get_scores(self, query: Tensor, key: Tensor) -> Tensor:
        r"""
        ### The four terms

        $$S_{ij} = (Q_i + u) \cdot K_j + Q_i \cdot U_{i-j} + b_{i-j}$$

        * `query: [seq_len_q, batch_size, heads, d_k]`
        * `key: [seq_len_k, batch_size, heads, d_k]`
        * `return: [seq_len_q, seq_len_k, batch_size, heads]`

        The whole sum, $b$ too, is divided by $\sqrt{d_k}$ afterwards, like any score.
        """
        seq_len_q, seq_len_k = query.shape[0], key.shape[0]
        pos_key, pos_bias = self.get_distances(seq_len_q, seq_len_k)

        # $(Q_i + u) \cdot K_j$
        #
        # `words: [seq_len_q, seq_len_k, batch_size, heads]`
        words = torch.einsum("ibhd,jbhd->ijbh", query + self.query_pos_bias, key)

        # $Q_i \cdot U_n + b_n$, for *every* distance $n$, whether or not query $i$ has a key
        # there.
        #
        # `measured: [seq_len_q, n_distances, batch_size, heads]`
        measured = torch.einsum("ibhd,nhd->inbh", query, pos_key)
        measured = measured + pos_bias[:, None]

        # Bring the same key into the same column. Of the leftovers on the left there are as
        # many columns as rows, less one.
        #
        # `places: [seq_len_q, seq_len_k, batch_size, heads]`
        places = shift_right(measured)[:, seq_len_q - 1 :]
        return words + places

    @property
    def has_own_scores(self) -> bool:
        r"""
        Has a subclass, or somebody for this object, put another score in the place of this one?
        """
        in_subclass = type(self).get_scores is not RelativeMultiHeadAttention.get_scores
        return in_subclass or "get_scores" in vars(self)

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

        As in plain attention, the fast form runs unless it cannot.

        * `query: [seq_len_q, batch_size, heads, d_k]`
        * `key: [seq_len_k, batch_size, heads, d_k]`
        * `value: [seq_len_k, batch_size, heads, d_k]`
        * `mask: [seq_len_q or 1, seq_len_k, batch_size or 1, 1]`
        * `return: [seq_len_q, batch_size, heads, d_k]`

        >>> attention = RelativeMultiHeadAttention(heads=3, d_model=15, max_len=8).eval()
        >>> x = torch.randn(7, 2, 15)
        >>> fast = attention(query=x, key=x, value=x, is_causal=True)
        >>> attention.keep_attn = True
        >>> readable = attention(query=x, key=x, value=x, is_causal=True)
        >>> torch.allclose(fast, readable, atol=1e-6)
        True
        """
        self.attn = None
        seq_len_q, seq_len_k = query.shape[0], key.shape[0]
        # Who asks nothing needs no distances.
        if seq_len_q == 0:
            return query
        if is_causal:
            # The queries are the last of the keys. Of the others, all has been `seen`.
            #
            # * `causal: [seq_len_q, seq_len_k, 1, 1]`
            # * `mask: [seq_len_q, seq_len_k, batch_size or 1, 1]`
            seen = seq_len_k - seq_len_q
            causal = causal_mask(seq_len_q, seq_len_k, query.device, seen)
            mask = causal if mask is None else mask & causal

        if self.keep_attn or self.has_own_scores:
            return self.attend(query, key, value, mask)
        # * `pos_key: [seq_len_k + seq_len_q - 1, heads, d_k]`
        # * `pos_bias: [seq_len_k + seq_len_q - 1, heads]`
        pos_key, pos_bias = self.get_distances(seq_len_q, seq_len_k)
        return relative_attention(
            query,
            key,
            value,
            pos_key,
            pos_bias,
            self.query_pos_bias,
            mask,
            self.scale,
            dropout_prob=self.dropout.p if self.dropout.training else 0.0,
            is_causal=is_causal,
        )


def relative_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    pos_key: Tensor,
    pos_bias: Tensor,
    query_pos_bias: Tensor,
    mask: Tensor | None,
    scale: float,
    dropout_prob: float = 0.0,
    is_causal: bool = False,
    block_size: int = 64,
) -> Tensor:
    r"""
    ## The same, a few queries at a time

    Torch's [fused attention](fused_attention.html) has no place for $U$. But it takes a mask
    that is *added* to the scores, and all terms with a distance could stand in one:

    >>> query, key = torch.randn(7, 2, 3, 5), torch.randn(9, 2, 3, 5)
    >>> value = torch.randn(9, 2, 3, 5)
    >>> pos_key, pos_bias, u = torch.randn(15, 3, 5), torch.randn(15, 3), torch.randn(3, 5)
    >>> measured = torch.einsum("ibhd,nhd->inbh", query, pos_key) + pos_bias[:, None]
    >>> places = shift_right(measured)[:, 6:]
    >>> q, k, v = (t.permute(1, 2, 0, 3) for t in (query + u, key, value))
    >>> added = places.permute(2, 3, 0, 1) * 0.5
    >>> fused = F.scaled_dot_product_attention(q, k, v, attn_mask=added, scale=0.5)
    >>> ours = relative_attention(query, key, value, pos_key, pos_bias, u, mask=None, scale=0.5)
    >>> torch.allclose(fused.permute(2, 0, 1, 3), ours, atol=1e-5)
    True

    That saves little. The added table is as large as the table of scores that a fused kernel
    exists to avoid; and it needs a gradient, which on a CPU no kernel of torch's can give, so
    that the plain form runs after all. What takes the time is to carry tables of
    $T_q \times T_k$ through memory. So we take `block_size` queries at a time. A block's
    tables are small enough to stay near the processor, and:

    * A block of 64 queries has $T_k + 63$ distances, not $T_k + T_q - 1$.
    * With `is_causal`, a block does not look at keys that come after it. That is half of them.
      (The mask must still hide what lies ahead *within* the block.) Nor does it need the
      distances to them.
    * All steps are ordinary ones, with derivatives of every order.

    The mask has come through
    [`prepare_mask`](labml_nn.transformers.mha.MultiHeadAttention.prepare_mask).

    * `query: [seq_len_q, batch_size, heads, d_k]`
    * `key: [seq_len_k, batch_size, heads, d_k]`
    * `value: [seq_len_k, batch_size, heads, d_k]`
    * `pos_key: [seq_len_k + seq_len_q - 1, heads, d_k]`
    * `pos_bias: [seq_len_k + seq_len_q - 1, heads]`
    * `query_pos_bias: [heads, d_k]`
    * `mask: [seq_len_q or 1, seq_len_k, batch_size or 1, 1]`
    * `return: [seq_len_q, batch_size, heads, d_k]`
    """
    seq_len_q, seq_len_k = query.shape[0], key.shape[0]

    # Divide by $\sqrt{d_k}$ once, here, and not every score.
    query = query * scale
    # $Q_i + u$, and batch and heads first.
    #
    # * `word_query: [batch_size, heads, seq_len_q, d_k]`
    # * `value: [batch_size, heads, seq_len_k, d_k]`
    # * `key: [batch_size, heads, d_k, seq_len_k]`
    word_query = (query + query_pos_bias * scale).permute(1, 2, 0, 3)
    value = value.permute(1, 2, 0, 3)
    key = key.permute(1, 2, 3, 0)

    # $Q_i \cdot U_n + b_n$ is a single dot product, if the query has a 1 at its end, and $U_n$
    # has $b_n$ there.
    #
    # * `pos_query: [batch_size, heads, seq_len_q, d_k + 1]`
    # * `pos_key: [heads, d_k + 1, seq_len_k + seq_len_q - 1]`
    pos_query = F.pad(query, (0, 1), value=scale).permute(1, 2, 0, 3)
    pos_key = torch.cat([pos_key, pos_bias.unsqueeze(-1)], dim=-1).permute(1, 2, 0)

    # As in [the fused form](fused_attention.html) of plain attention, a query that may see
    # nothing looks at everything, and what it brought home is cleared at the end.
    #
    # * `mask: [batch_size or 1, 1, seq_len_q, seq_len_k]`
    # * `blind: [batch_size or 1, 1, seq_len_q, 1]`
    blind = None
    if mask is not None:
        mask = mask.permute(2, 3, 0, 1).expand(-1, -1, seq_len_q, -1)
        blind = ~mask.any(dim=-1, keepdim=True)
        mask = mask | blind

    # Split, and not sliced one by one: the gradients of all pieces are then laid end to end,
    # and not each put into a table of zeros.
    #
    # * `word_piece: [batch_size, heads, n_queries, d_k]`
    # * `pos_piece: [batch_size, heads, n_queries, d_k + 1]`
    blocks = []
    end = 0
    pieces = zip(word_query.split(block_size, 2), pos_query.split(block_size, 2), strict=True)
    for word_piece, pos_piece in pieces:
        n_queries = word_piece.shape[2]
        start, end = end, end + n_queries
        # How many keys this block looks at: one at least, even where all are hidden.
        n_keys = max(seq_len_k - seq_len_q + end, 1) if is_causal else seq_len_k
        # The distances from its last query to the first key, and so on to the distance from its
        # first query to the last of these keys. Of those that lie ahead one is enough, if they
        # are hidden: where it stands does not count, but the shift needs a number there.
        first = seq_len_q - end
        n_ahead = min(n_queries - 1, 1) if is_causal else n_queries - 1
        n_distances = n_keys + n_ahead

        # $Q_i \cdot U_n + b_n$, shifted
        #
        # * `measured: [batch_size, heads, n_queries, n_distances]`
        # * `places: [batch_size, heads, n_queries, n_keys]`
        # * `hidden: [batch_size or 1, 1, n_queries, n_keys]`
        # * `added: [batch_size or 1, 1, n_queries, n_keys]`
        measured = pos_piece @ pos_key[:, :, first : first + n_distances]
        places = align(measured, n_keys)
        if mask is not None:
            hidden = ~mask[:, :, start:end, :n_keys]
            added = torch.zeros_like(hidden, dtype=places.dtype)
            places = places + added.masked_fill(hidden, -torch.inf)
        # $(Q_i + u) \cdot K_j$ joins it.
        #
        # * `scores: [batch_size, heads, n_queries, n_keys]`
        # * `attn: [batch_size, heads, n_queries, n_keys]`
        scores = places + word_piece @ key[..., :n_keys]
        attn = F.dropout(scores.softmax(dim=-1), dropout_prob)
        blocks.append(attn @ value[:, :, :n_keys])

    # `x: [batch_size, heads, seq_len_q, d_k]`
    x = torch.cat(blocks, dim=2)
    if blind is not None:
        x = x.masked_fill(blind, 0)
    return x.permute(2, 0, 1, 3)


def align(measured: Tensor, n_keys: int | None = None) -> Tensor:
    r"""
    ## The shift without a copy

    [Shift right](labml_nn.transformers.relative_mha.shift_right) makes each row longer by one.
    One can as well cut each row *shorter* by one, and then nothing has to be put in. The
    ribbon begins where the first row has its first number that counts, and since only the
    first columns are wanted, the leftovers come to lie on the right.

    * `measured: [..., n_rows, n_columns]`
    * `return: [..., n_rows, n_keys]`, as many keys as all rows have a number for, or as you say

    >>> measured = torch.tensor([2, 1, 0, -1, -2]).repeat(3, 1)
    >>> places = align(measured)
    >>> places
    tensor([[ 0, -1, -2],
            [ 1,  0, -1],
            [ 2,  1,  0]])

    If the keys ahead are hidden, the rows may end one step ahead. What then stands above the
    diagonal belongs to other rows:

    >>> align(measured[:, :4], n_keys=3)
    tensor([[ 0, -1,  2],
            [ 1,  0, -1],
            [ 2,  1,  0]])

    It is a view of the same numbers, with other strides:

    >>> places.stride(), places.data_ptr() - measured.data_ptr() == 2 * measured.element_size()
    ((4, 1), True)
    """
    n_rows, n_columns = measured.shape[-2:]
    if n_keys is None:
        n_keys = n_columns - n_rows + 1
    if n_rows == 1:
        return measured
    # `ribbon: [..., n_rows * (n_columns - 1)]`
    ribbon = measured.flatten(-2)[..., n_rows - 1 : n_rows * n_columns - 1]
    return ribbon.unflatten(-1, (n_rows, n_columns - 1))[..., :n_keys]


def take_the_middle(
    module: RelativeMultiHeadAttention, state_dict: dict[str, Tensor], prefix: str, *_: object
) -> None:
    r"""
    ## Checkpoints with a longer table

    Older checkpoints have 8,192 rows, however short the sequences were. A model with a smaller
    `max_len` takes the rows of the distances that it knows, from the middle.

    Called before a state is loaded, with a copy of it that may be changed.

    >>> old = RelativeMultiHeadAttention(heads=3, d_model=15)
    >>> _ = nn.init.normal_(old.key_pos_bias)
    >>> short = RelativeMultiHeadAttention(heads=3, d_model=15, max_len=8)
    >>> short.load_state_dict(old.state_dict())
    <All keys matched successfully>
    >>> torch.equal(short.key_pos_bias[8], old.key_pos_bias[4096])
    True
    """
    for name in ("key_pos_embeddings", "key_pos_bias"):
        table = state_dict.get(prefix + name)
        if table is not None and table.shape[0] > 2 * module.max_len:
            surplus = table.shape[0] // 2 - module.max_len
            state_dict[prefix + name] = table[surplus : surplus + 2 * module.max_len]
