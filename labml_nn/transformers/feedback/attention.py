r"""
---
title: Attention to a memory
summary: One query looks back at the memories of all earlier steps, and at how far away they are.
papers:
  - title: Addressing Some Limitations of Transformers with Feedback Memory
    authors: Fan et al.
    year: 2020
    url: https://arxiv.org/abs/2002.09402
  - title: "Transformer-XL: Attentive Language Models Beyond a Fixed-Length Context"
    authors: Dai et al.
    year: 2019
    url: https://arxiv.org/abs/1901.02860
symbols:
  Q: query
  K: key
  V: value
  S: [pos_bias, self.key_pos_bias]
  U: [pos_key, self.key_pos_embeddings]
  b_Q: self.query_pos_bias
  A: attn
  d_k: d_k
---
# Attention to a memory

In the [feedback transformer](index.html) the steps come one after the other. At step $t$ there is
one query, and $t$ memories to look at, one for each earlier step. So attention here has one row
where [multi-head attention](../mha.html) has a table, and no mask: whatever is in the memory has
already been.

The score of a memory has to say how far away it is, since nothing else does. Number the memories
from the newest to the oldest: $j = 1$ is the step before this one, $j = 2$ the one before that.
With the query $Q$ of this step and the key $K_j$ of the memory $j$ steps back, the score is

$$(Q + b_Q) \cdot K_j + Q \cdot U_j + S_j$$

There are three things to learn here, for each head. $U_j$ is a key that belongs to the distance
$j$, whatever was there. $S_j$ is a number that says how much the distance $j$ matters to
everybody. And $b_Q$ is a query that asks for what matters at any distance. It is the score of
[relative attention](../relative_mha.html), which derives its four terms (Dai et al. 2019, section
3.3), for the last query alone.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from labml_nn.transformers.mha import PrepareForMultiHeadAttention


class Distances(NamedTuple):
    r"""
    ## What is said of each distance

    The tables $U$ and $S$, cut to the length that is needed and turned as the product below wants
    them. The nearest step is the last column.
    """

    # `pos_key: [heads, d_k, n_distances]`
    pos_key: Tensor
    # `pos_bias: [heads, 1, n_distances]`
    pos_bias: Tensor


class FeedbackAttention(nn.Module):
    r"""
    ## One query, many memories

    Here a batch of two looks back at seven steps:

    >>> attention = FeedbackAttention(heads=3, d_model=15).eval()
    >>> x, memory = torch.randn(2, 15), torch.randn(7, 2, 15)
    >>> attention(query=x, key=memory, value=memory).shape
    torch.Size([2, 15])
    """

    def __init__(
        self,
        heads: int,
        d_model: int,
        dropout_prob: float = 0.1,
        *,
        is_kv_precomputed: bool = False,
        positions: int = 512,
    ):
        r"""
        ### What is learned

        With `is_kv_precomputed`, keys and values come from outside, and there are no maps for them
        here.

        A table ends somewhere, and a memory does not. So the last distance of the table, which is
        number `positions`, stands for all the farther ones too: for a memory that far back it
        hardly matters whether it is 600 or 601 steps away, and a sequence may be as long as it
        likes. Below, the memories four and five steps back get one score:

        >>> attention = FeedbackAttention(heads=3, d_model=21, positions=4)
        >>> _ = nn.init.normal_(attention.key_pos_embeddings)
        >>> query, same = torch.randn(2, 3, 7), torch.ones(5, 2, 3, 7)
        >>> scores = attention.get_scores(query, same)
        >>> torch.allclose(scores[0], scores[1], atol=1e-6)
        True
        >>> torch.allclose(scores[1], scores[2], atol=1e-6)
        False
        """
        super().__init__()
        if heads < 1 or d_model % heads != 0:
            raise ValueError(f"d_model = {d_model} cannot be shared equally by heads = {heads}")
        if positions < 1:
            raise ValueError(f"positions = {positions} must be at least 1")
        self.heads = heads
        self.d_k = d_model // heads
        self.d_model = d_model
        self.positions = positions
        self.is_kv_precomputed = is_kv_precomputed

        # Queries and keys have no bias. That of the queries is $b_Q$; that of the keys
        # [does nothing](labml_nn.transformers.mha.MultiHeadAttention).
        self.query = PrepareForMultiHeadAttention(d_model, heads, self.d_k, bias=False)
        if not is_kv_precomputed:
            self.key = PrepareForMultiHeadAttention(d_model, heads, self.d_k, bias=False)
            self.value = PrepareForMultiHeadAttention(d_model, heads, self.d_k, bias=True)
        self.output = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout_prob)
        self.scale = 1 / math.sqrt(self.d_k)

        # $U$, $S$ and $b_Q$. The *last* row of a table is the nearest step. All begin at zero: at
        # first, nobody knows any distance.
        #
        # * `self.key_pos_embeddings: [positions, heads, d_k]`
        # * `self.key_pos_bias: [positions, heads]`
        # * `self.query_pos_bias: [heads, d_k]`
        self.key_pos_embeddings = nn.Parameter(torch.zeros(positions, heads, self.d_k))
        self.key_pos_bias = nn.Parameter(torch.zeros(positions, heads))
        self.query_pos_bias = nn.Parameter(torch.zeros(heads, self.d_k))
        self.register_load_state_dict_pre_hook(fit_the_tables)

        # Set `keep_attn` to true, and `attn` holds the weights of the latest call, as they were
        # before dropout and cut off from the gradient.
        self.keep_attn = False
        self.attn: Tensor | None = None

    def get_distances(self, n: int) -> Distances:
        r"""
        ### The last rows of the tables

        For $n$ memories, the last $n$ rows. Where there are fewer, the first row is repeated: it
        is the farthest.

        * `return.pos_key: [heads, d_k, n]`
        * `return.pos_bias: [heads, 1, n]`

        >>> attention = FeedbackAttention(heads=3, d_model=15, positions=4)
        >>> attention.key_pos_bias.data[:, 0] = torch.tensor([4.0, 3.0, 2.0, 1.0])
        >>> attention.get_distances(2).pos_bias[0, 0].tolist()
        [2.0, 1.0]
        >>> attention.get_distances(7).pos_bias[0, 0].tolist()
        [4.0, 4.0, 4.0, 4.0, 3.0, 2.0, 1.0]
        """
        pos_key: Tensor = self.key_pos_embeddings
        pos_bias: Tensor = self.key_pos_bias
        farther = n - self.positions
        if farther > 0:
            # * `pos_key: [n, heads, d_k]`
            # * `pos_bias: [n, heads]`
            pos_key = torch.cat([pos_key[:1].expand(farther, -1, -1), pos_key])
            pos_bias = torch.cat([pos_bias[:1].expand(farther, -1), pos_bias])
        # Here they are copied once, for as many steps as like to use them.
        #
        # * `pos_key: [heads, d_k, n]`
        # * `pos_bias: [heads, 1, n]`
        pos_key = pos_key[-n:].permute(1, 2, 0).contiguous()
        pos_bias = pos_bias[-n:].t().unsqueeze(1).contiguous()
        return Distances(pos_key, pos_bias)

    def get_scores(self, query: Tensor, key: Tensor) -> Tensor:
        r"""
        ### Scores

        $$(Q + b_Q) \cdot K_j + Q \cdot U_j + S_j$$

        * `query: [batch_size, heads, d_k]`
        * `key: [seq_len, batch_size, heads, d_k]`
        * `return: [seq_len, batch_size, heads]`

        A subclass may put another score here. Then the readable form below runs.
        """
        # * `pos_key: [heads, d_k, seq_len]`
        # * `pos_bias: [heads, 1, seq_len]`
        pos_key, pos_bias = self.get_distances(key.shape[0])
        # $(Q + b_Q) \cdot K_j$
        #
        # `content: [seq_len, batch_size, heads]`
        content = torch.einsum("bhd,jbhd->jbh", query + self.query_pos_bias, key)
        # $Q \cdot U_j$
        #
        # `place: [seq_len, batch_size, heads]`
        place = torch.einsum("bhd,hdj->jbh", query, pos_key)
        # $S_j$ is the same for the whole batch.
        return content + place + pos_bias.permute(2, 1, 0)

    def attend(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        r"""
        ### The equation, line by line

        * `query: [batch_size, heads, d_k]`
        * `key: [seq_len, batch_size, heads, d_k]`
        * `value: [seq_len, batch_size, heads, d_k]`
        * `return: [batch_size, heads, d_k]`

        Over the memories, the weights of each item and each head add up to one:

        >>> attention = FeedbackAttention(heads=3, d_model=15)
        >>> attention.keep_attn = True
        >>> x, memory = torch.randn(2, 15), torch.randn(7, 2, 15)
        >>> x = attention(query=x, key=memory, value=memory)
        >>> torch.allclose(attention.attn.sum(dim=0), torch.ones(2, 3))
        True
        """
        # The whole sum is divided by $\sqrt{d_k}$, like
        # [any score](labml_nn.transformers.mha.MultiHeadAttention.get_scores).
        #
        # `attn: [seq_len, batch_size, heads]`
        attn = (self.get_scores(query, key) * self.scale).softmax(dim=0)
        if self.keep_attn:
            self.attn = attn.detach()
        attn = self.dropout(attn)
        # $$\sum_j A_j V_j$$
        return torch.einsum("jbh,jbhd->bhd", attn, value)

    def recall(
        self,
        query: Tensor,
        key: Sequence[Tensor],
        value: Sequence[Tensor],
        distances: Distances,
    ) -> Tensor:
        r"""
        ### The same, for a memory that lies in pieces

        The loop over the steps calls this form, thousands of times, so it is written for speed. Two
        things are different. Each item and each head has a matrix of its own, so that the sums are
        matrix products. And the memory may come in several pieces, the oldest first, because
        [making one of them](labml_nn.transformers.feedback.transformer.Memory) at every step would
        cost more than the attention itself.

        * `query: [batch_size, heads, d_k]`
        * `key: [batch_size * heads, length, d_k]`, each piece, the oldest first
        * `value: [batch_size * heads, length, d_k]`, each piece, the oldest first
        * `distances.pos_key: [heads, d_k, n_distances]`
        * `distances.pos_bias: [heads, 1, n_distances]`
        * `return: [batch_size, heads, d_k]`

        `distances` may reach farther back than the memory does.

        >>> attention = FeedbackAttention(heads=3, d_model=15)
        >>> for table in (attention.key_pos_embeddings, attention.query_pos_bias):
        ...     _ = nn.init.normal_(table)
        >>> attention = attention.eval()
        >>> query, (key, value) = torch.randn(2, 3, 5), torch.randn(2, 12, 2, 3, 5)
        >>> readable = attention.attend(query, key, value)
        >>> keys = key.permute(1, 2, 0, 3).flatten(0, 1).split([8, 4], dim=1)
        >>> values = value.permute(1, 2, 0, 3).flatten(0, 1).split([8, 4], dim=1)
        >>> pieces = attention.recall(query, keys, values, attention.get_distances(13))
        >>> torch.allclose(readable, pieces, atol=1e-5)
        True

        Whoever wants to see the weights gets the readable form, and then the pieces are joined
        after all.

        >>> attention.keep_attn = True
        >>> same = attention.recall(query, keys, values, attention.get_distances(13))
        >>> torch.equal(readable, same), attention.attn.shape
        (True, torch.Size([12, 2, 3]))
        """
        batch_size = query.shape[0]
        lengths = [piece.shape[1] for piece in key]
        if self.keep_attn or self.has_own_scores:
            # * `whole_key: [seq_len, batch_size, heads, d_k]`
            # * `whole_value: [seq_len, batch_size, heads, d_k]`
            whole_key, whole_value = (
                torch.cat(list(pieces), dim=1)
                .unflatten(0, (batch_size, -1))
                .permute(2, 0, 1, 3)
                for pieces in (key, value)
            )
            return self.attend(query, whole_key, whole_value)

        # $Q \cdot U_j + S_j$ for all distances, one product for each head. Those farther back than
        # the memory are dropped.
        #
        # * `pos_key: [heads, d_k, n_distances]`
        # * `pos_bias: [heads, 1, n_distances]`
        # * `place: [heads, batch_size, n_distances]`
        pos_key, pos_bias = distances
        place = torch.baddbmm(pos_bias, query.transpose(0, 1), pos_key)
        # * `place: [batch_size * heads, 1, n_distances]`
        # * `place: [batch_size * heads, 1, seq_len]`
        place = place.transpose(0, 1).reshape(batch_size * self.heads, 1, -1)
        place = place[:, :, -sum(lengths) :]

        # $(Q + b_Q) \cdot K_j$ is added to it in the product itself, which divides by $\sqrt{d_k}$
        # on the way: a sum or a quotient by itself would read and write all scores once more.
        #
        # * `asking: [batch_size * heads, 1, d_k]`
        # * `scores: [batch_size * heads, 1, seq_len]`
        asking = (query + self.query_pos_bias).view(-1, 1, self.d_k)
        parts = [
            torch.baddbmm(
                where, asking, piece.transpose(1, 2), beta=self.scale, alpha=self.scale
            )
            for where, piece in zip(place.split(lengths, dim=2), key, strict=True)
        ]
        scores = torch.cat(parts, dim=2) if len(parts) > 1 else parts[0]
        # `attn: [batch_size * heads, 1, seq_len]`
        attn = self.dropout(scores.softmax(dim=-1))

        # $\sum_j A_j V_j$, piece by piece.
        #
        # * `part: [batch_size * heads, 1, n]`
        # * `piece: [batch_size * heads, n, d_k]`
        found: Tensor | None = None
        for part, piece in zip(attn.split(lengths, dim=2), value, strict=True):
            # `found: [batch_size * heads, 1, d_k]`
            further = torch.bmm(part, piece)
            found = further if found is None else found + further
        assert found is not None
        return found.view(batch_size, self.heads, self.d_k)

    @property
    def has_own_scores(self) -> bool:
        r"""
        Has a subclass, or somebody for this object, put another score in the place of ours?
        """
        in_subclass = type(self).get_scores is not FeedbackAttention.get_scores
        return in_subclass or "get_scores" in vars(self)

    def forward(self, *, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        r"""
        ### The whole way

        * `query: [batch_size, d_model]`
        * `key: [seq_len, batch_size, d_model]`
        * `value: [seq_len, batch_size, d_model]`
        * `return: [batch_size, d_model]`

        or, with `is_kv_precomputed`, keys and values that are already cut into heads:

        * `key: [seq_len, batch_size, heads, d_k]`
        * `value: [seq_len, batch_size, heads, d_k]`

        >>> attention = FeedbackAttention(heads=3, d_model=15, is_kv_precomputed=True)
        >>> x, memory = torch.randn(2, 15), torch.randn(7, 2, 3, 5)
        >>> attention(query=x, key=memory, value=memory).shape
        torch.Size([2, 15])
        """
        self.check(query, key, value)
        self.attn = None
        # Cut into heads what is not yet cut.
        #
        # * `query: [batch_size, heads, d_k]`
        # * `key: [seq_len, batch_size, heads, d_k]`
        # * `value: [seq_len, batch_size, heads, d_k]`
        query = self.query(query)
        if not self.is_kv_precomputed:
            key, value = self.key(key), self.value(value)
        # The findings of the heads, laid end to end, leave through one map.
        #
        # `x: [batch_size, heads, d_k]`
        x = self.attend(query, key, value)
        return self.output(x.flatten(-2))

    def check(self, query: Tensor, key: Tensor, value: Tensor) -> None:
        r"""
        ### Inputs that do not fit

        >>> attention = FeedbackAttention(heads=3, d_model=15)
        >>> x, memory = torch.randn(2, 15), torch.randn(7, 4, 15)
        >>> attention(query=x, key=memory, value=memory)
        Traceback (most recent call last):
            ...
        ValueError: key has shape [7, 4, 15], but must have [seq_len, 2, 15]

        A memory without a step in it has nothing to say. At the first step leave attention out.

        * `query: [batch_size, d_model]`
        * `key: [seq_len, batch_size, d_model]`
        * `value: [seq_len, batch_size, d_model]`

        or, with `is_kv_precomputed`, keys and values in heads:

        * `key: [seq_len, batch_size, heads, d_k]`
        * `value: [seq_len, batch_size, heads, d_k]`
        """
        if query.ndim != 2 or query.shape[-1] != self.d_model:
            raise ValueError(
                f"query has shape {list(query.shape)}, but must have [batch_size, d_model] "
                f"with d_model = {self.d_model}"
            )
        width = [self.heads, self.d_k] if self.is_kv_precomputed else [self.d_model]
        expected = [query.shape[0], *width]
        for name, x in (("key", key), ("value", value)):
            if list(x.shape[1:]) != expected or x.ndim != len(expected) + 1:
                raise ValueError(
                    f"{name} has shape {list(x.shape)}, but must have "
                    f"[seq_len, {', '.join(str(n) for n in expected)}]"
                )
        if key.shape[0] != value.shape[0] or key.shape[0] == 0:
            raise ValueError(
                f"key has length {key.shape[0]} and value has length {value.shape[0]}, "
                "but each key needs one value, and there must be at least one"
            )


def fit_the_tables(
    module: nn.Module, state_dict: Mapping[str, Any], prefix: str, *_: object
) -> None:
    r"""
    ## Tables of another length

    Checkpoints of older code have 4,096 rows, nearly all of them never used. Of a longer table we
    take the last rows, which are the nearest distances. Of a shorter one we repeat the farthest
    row, which changes nothing: that is what it stood for.

    >>> old, new = FeedbackAttention(3, 15, positions=9), FeedbackAttention(3, 15, positions=4)
    >>> _ = nn.init.normal_(old.key_pos_bias)
    >>> _ = new.load_state_dict(old.state_dict())
    >>> torch.equal(new.key_pos_bias, old.key_pos_bias[5:])
    True

    For sequences of up to four steps these two are the same. For longer ones they are not, so give
    `positions` the length that the model was trained on.
    """
    assert isinstance(module, FeedbackAttention)
    assert isinstance(state_dict, dict)
    for name in ("key_pos_embeddings", "key_pos_bias"):
        table = state_dict.get(prefix + name)
        if isinstance(table, Tensor) and table.ndim > 0 and table.shape[0] > 0:
            rows = torch.arange(table.shape[0] - module.positions, table.shape[0])
            # A new entry, since the old one may belong to somebody else.
            if table.shape[0] != module.positions:
                state_dict[prefix + name] = table[rows.clamp(min=0).to(table.device)]
