r"""
---
title: AFT-full
summary: What all AFT layers share, and the one that learns a bias for each pair of positions.
papers:
  - title: An Attention Free Transformer
    authors: Zhai et al.
    year: 2021
    url: https://arxiv.org/abs/2105.14103
symbols:
  Q: [query, self.query]
  K: [key, self.key]
  V: [value, self.value]
  w: [bias, self.pos_bias]
  u: self.u
  v: self.v
  d: [d_model, self.d_model]
---
# AFT-full

Each position $t$ makes a query $Q_t$, a key $K_t$ and a value $V_t$, $d$ numbers each. AFT-full
learns besides one number $w_{tt'}$ for each pair of positions:

$$Y_t = \sigma(Q_t) \odot
\frac{\sum_{t'} \exp(K_{t'} + w_{tt'}) \odot V_{t'}}{\sum_{t'} \exp(K_{t'} + w_{tt'})}$$

(Zhai et al. 2021, equation 2). $\odot$ is the product entry by entry, $\sigma$ the sigmoid, and
all of it happens in each of the $d$ features on its own.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor, nn

from labml_nn.transformers.aft.stable import average
from labml_nn.transformers.mha import check_sequence, check_sequences


class AttentionFree(nn.Module, ABC):
    r"""
    ## What all of them share

    Three maps in, an average, a gate, one map out. The variants differ in the biases
    $w$, and in how much of the average they can take from what they know about $w$.
    """

    # `heads` is the number of tables $w$. Features of one head share a table. Only
    # [AFT-conv](conv.html) has several.
    heads = 1

    def __init__(self, d_model: int, bias: bool = True):
        r"""
        As in [multi-head attention](labml_nn.transformers.mha.MultiHeadAttention.__init__), a
        bias on the keys is one factor above and below the bar, and does nothing:

        >>> aft = AFTFull(d_model=6, seq_len=7)
        >>> x = torch.randn(7, 2, 6)
        >>> before = aft(query=x, key=x, value=x)
        >>> aft.key.bias.data += 1.0
        >>> after = aft(query=x, key=x, value=x)
        >>> torch.allclose(before, after, atol=1e-5)
        True
        """
        super().__init__()
        if d_model < 1:
            raise ValueError(f"d_model = {d_model} must be at least 1")
        self.d_model = d_model
        self.query = nn.Linear(d_model, d_model, bias=bias)
        self.key = nn.Linear(d_model, d_model, bias=bias)
        self.value = nn.Linear(d_model, d_model, bias=bias)
        self.output = nn.Linear(d_model, d_model)

    @abstractmethod
    def get_bias(self, seq_len_q: int, seq_len_k: int) -> Tensor:
        r"""
        ### The table of biases

        Positions count from 0, for queries and keys alike: the table is the upper left corner
        of what was learned.

        * `return: [heads, seq_len_q or 1, seq_len_k]`, with one row if all queries share it
        """

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

        A mask has the shapes of
        [multi-head attention](labml_nn.transformers.mha.MultiHeadAttention.prepare_mask), true
        where a query may see a key. With `is_causal`, query $t$ sees the keys $t' \le t$ of
        those that the mask lets it see:

        >>> aft = AFTFull(d_model=6, seq_len=7)
        >>> x = torch.randn(7, 2, 6)
        >>> causal = torch.ones(7, 7).bool().tril().unsqueeze(-1)
        >>> masked = aft(query=x, key=x, value=x, mask=causal)
        >>> told = aft(query=x, key=x, value=x, is_causal=True)
        >>> torch.allclose(masked, told, atol=1e-6)
        True

        Here the two cost the same. [AFT-simple](simple.html), [AFT-local](local.html) and
        [AFT-conv](conv.html) know what to do with `is_causal`, and need no table at all.

        >>> from labml_nn.transformers.aft import AFTSimple
        >>> aft = AFTSimple(d_model=6)
        >>> masked = aft(query=x, key=x, value=x, mask=causal)
        >>> told = aft(query=x, key=x, value=x, is_causal=True)
        >>> torch.allclose(masked, told, atol=1e-5)
        True
        """
        check_sequences(query, key, value, self.d_model)
        if mask is not None:
            check_mask(mask, query, key)
        # * `gate: [seq_len_q, batch_size, d_model]`
        # * `key: [seq_len_k, batch_size, d_model]`
        # * `value: [seq_len_k, batch_size, d_model]`
        gate = torch.sigmoid(self.query(query))
        key, value = self.key(key), self.value(value)
        # `x: [seq_len_q, batch_size, d_model]`
        x = gate * self.get_average(key, value, len(query), mask, is_causal)
        return self.output(x)

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def get_average(
        self, key: Tensor, value: Tensor, seq_len_q: int, mask: Tensor | None, is_causal: bool
    ) -> Tensor:
        r"""
        ### The average

        * `key: [seq_len_k, batch_size, d_model]`
        * `value: [seq_len_k, batch_size, d_model]`
        * `mask: [seq_len_q or 1, seq_len_k, batch_size or 1]`
        * `return: [seq_len_q or 1, batch_size, d_model]`, with one row if all queries share it

        What is hidden has a bias of $-\infty$. A mask with one row for all queries can hide the
        keys themselves instead, which leaves room for a faster average. A mask of its own for
        each item of the batch makes a table of its own for each.

        >>> aft = AFTFull(d_model=6, seq_len=7)
        >>> x, memory = torch.randn(7, 2, 6), torch.randn(5, 2, 6)
        >>> mask = torch.rand(7, 5, 2) < 0.5
        >>> both = aft(query=x, key=memory, value=memory, mask=mask)
        >>> x, memory, mask = x[:, 1:], memory[:, 1:], mask[:, :, 1:]
        >>> second = aft(query=x, key=memory, value=memory, mask=mask)
        >>> torch.allclose(both[:, 1:], second, atol=1e-5)
        True

        The features that share a table are laid side by side, as the *columns* of one *group*
        ([Features as columns](labml_nn.transformers.aft.full.to_columns)).

        How to take such an average has [its own page](stable.html). It is taken in `float32` at
        least; whether it is right depends on the numbers, so no compiler looks in here.
        """
        out_dtype = value.dtype
        with torch.autocast(key.device.type, enabled=False):
            if key.dtype in (torch.float16, torch.bfloat16):
                key, value = key.float(), value.float()
            if mask is not None and mask.shape[0] == 1:
                key = key.masked_fill(~mask[0].unsqueeze(-1), -torch.inf)
                mask = None
            # * `key: [groups, seq_len_k, columns]`
            # * `value: [groups, seq_len_k, columns]`
            own_masks = mask is not None and mask.shape[2] != 1
            key, value = (to_columns(x, self.heads, own_masks) for x in (key, value))
            x = None
            if is_causal and mask is None:
                # `x: [groups, seq_len_q, columns]`
                x = self.get_causal_average(key, value, seq_len_q)
            if x is None:
                # * `bias: [heads, seq_len_q or 1, seq_len_k]`
                # * `bias: [groups, seq_len_q or 1, seq_len_k]`
                # * `x: [groups, seq_len_q or 1, columns]`
                bias = self.get_bias(seq_len_q, key.shape[1]).to(key.dtype)
                bias = hide(bias, seq_len_q, mask, is_causal)
                x = average(key, value, bias)
            return from_columns(x, self.heads, self.d_model).to(out_dtype)

    def get_causal_average(self, key: Tensor, value: Tensor, seq_len_q: int) -> Tensor | None:
        r"""
        A variant that knows a shorter way to the causal average takes it here.

        * `key: [groups, seq_len_k, columns]`
        * `value: [groups, seq_len_k, columns]`
        * `return: [groups, seq_len_q, columns]`
        """
        return None


class AllKeys(NamedTuple):
    r"""
    ## What a sequence has been so far

    AFT-full has a bias of its own for every pair, so nothing of the past can be forgotten.
    """

    # `key: [seq_len, batch_size, d_model]`
    key: Tensor
    # `value: [seq_len, batch_size, d_model]`
    value: Tensor


class AFTFull(AttentionFree):
    r"""
    ## A bias for each pair

    A table has a bias for each pair of the positions there can be, here eleven. A shorter
    sequence uses a corner of it:

    >>> aft = AFTFull(d_model=6, seq_len=11)
    >>> x, memory = torch.randn(7, 2, 6), torch.randn(11, 2, 6)
    >>> aft(query=x, key=memory, value=memory).shape
    torch.Size([7, 2, 6])

    The biases are the only thing here that knows about order. Until they are learned, they are
    zero, and to shuffle the keys changes nothing; afterwards it does. No other positional
    encoding is needed.

    >>> shuffled = memory[torch.arange(10, -1, -1)]
    >>> before = aft(query=x, key=memory, value=memory)
    >>> after = aft(query=x, key=shuffled, value=shuffled)
    >>> torch.allclose(before, after, atol=1e-5)
    True
    >>> torch.nn.init.normal_(aft.pos_bias).shape
    torch.Size([11, 11])
    >>> before = aft(query=x, key=memory, value=memory)
    >>> after = aft(query=x, key=shuffled, value=shuffled)
    >>> torch.allclose(before, after, atol=1e-5)
    False
    """

    def __init__(self, d_model: int, seq_len: int, bias: bool = True, rank: int | None = None):
        r"""
        ### A table, or two thin ones

        $w$ has a number for each pair of positions, and with a long sequence more of them than
        all the rest of the layer. The paper learns two vectors for each position instead, and
        takes their product:

        $$w_{tt'} = u_t^\top v_{t'}$$

        With `rank` numbers in each vector that is a table of that rank. Far fewer numbers, and
        positions can learn from each other.

        >>> aft = AFTFull(d_model=6, seq_len=100)
        >>> aft.pos_bias.numel()
        10000
        >>> aft = AFTFull(d_model=6, seq_len=100, rank=8)
        >>> aft.u.numel() + aft.v.numel()
        1600

        Zeros would be no beginning here: the gradient of $u$ is a multiple of $v$, and that of
        $v$ of $u$, so from zero neither would ever move. Small random numbers do.
        """
        super().__init__(d_model, bias)
        if seq_len < 1 or (rank is not None and rank < 1):
            raise ValueError(f"seq_len = {seq_len} and rank = {rank} must be at least 1")
        self.seq_len = seq_len
        self.rank = rank
        # * `self.pos_bias: [seq_len, seq_len]`
        # * `self.u: [seq_len, rank]`
        # * `self.v: [seq_len, rank]`
        if rank is None:
            self.pos_bias = nn.Parameter(torch.zeros(seq_len, seq_len))
        else:
            self.u = nn.Parameter(torch.randn(seq_len, rank) * 0.1)
            self.v = nn.Parameter(torch.randn(seq_len, rank) * 0.1)

    def get_bias(self, seq_len_q: int, seq_len_k: int) -> Tensor:
        r"""
        ### The corner of the table

        * `return: [1, seq_len_q, seq_len_k]`

        What was never learned cannot be used:

        >>> AFTFull(d_model=6, seq_len=7).get_bias(5, 8)
        Traceback (most recent call last):
            ...
        ValueError: a sequence of 8 positions is longer than the seq_len = 7 learned positions
        """
        check_length(max(seq_len_q, seq_len_k), self.seq_len)
        if self.rank is None:
            return self.pos_bias[None, :seq_len_q, :seq_len_k]
        return (self.u[:seq_len_q] @ self.v[:seq_len_k].T).unsqueeze(0)

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def step(self, x: Tensor, state: AllKeys | None = None) -> tuple[Tensor, AllKeys]:
        r"""
        ### One step further

        The next positions of a causal sequence, which looks at itself. `state` is what the call
        before gave back, and is not changed.

        * `x: [n, batch_size, d_model]`
        * `return: [n, batch_size, d_model]`, and the new state

        >>> aft = AFTFull(d_model=6, seq_len=7)
        >>> x = torch.randn(7, 2, 6)
        >>> first, state = aft.step(x[:4])
        >>> second, state = aft.step(x[4:], state)
        >>> whole = aft(query=x, key=x, value=x, is_causal=True)
        >>> torch.allclose(torch.cat([first, second]), whole, atol=1e-5)
        True
        """
        check_sequence("x", x, self.d_model)
        # * `gate: [n, batch_size, d_model]`
        # * `key: [n, batch_size, d_model]`
        # * `value: [n, batch_size, d_model]`
        gate, key, value = torch.sigmoid(self.query(x)), self.key(x), self.value(x)
        if state is not None:
            check_state(x, state.key)
            # * `key: [seq_len, batch_size, d_model]`
            # * `value: [seq_len, batch_size, d_model]`
            key = torch.cat([state.key, key])
            value = torch.cat([state.value, value])
        state = AllKeys(key, value)

        seen, seq_len = len(key) - len(x), len(key)
        with torch.autocast(key.device.type, enabled=False):
            if key.dtype in (torch.float16, torch.bfloat16):
                key, value = key.float(), value.float()
            # The causal table of the whole sequence; of its rows, the last.
            #
            # * `bias: [1, n, seq_len]`
            # * `future: [1, n, seq_len]`
            bias = self.get_bias(seq_len, seq_len)[:, seen:].to(key.dtype)
            future = torch.ones_like(bias, dtype=torch.bool).triu(seen + 1)
            bias = bias.masked_fill(future, -torch.inf)
            # * `y: [1, n, batch_size * d_model]`
            # * `y: [n, batch_size, d_model]`
            y = average(to_columns(key, 1, False), to_columns(value, 1, False), bias)
            y = from_columns(y, 1, self.d_model).to(gate.dtype)
        return self.output(gate * y), state


def hide(bias: Tensor, seq_len_q: int, mask: Tensor | None, is_causal: bool) -> Tensor:
    r"""
    ## Hide with $-\infty$

    A key with the bias $-\infty$ has the weight 0.

    * `bias: [heads, seq_len_q or 1, seq_len_k]`
    * `mask: [seq_len_q or 1, seq_len_k, batch_size or 1]`
    * `return: [groups, seq_len_q or 1, seq_len_k]`

    Here each of three queries is to see nothing that comes after it:

    >>> hide(torch.zeros(1, 1, 4), 3, None, is_causal=True)
    tensor([[[0., -inf, -inf, -inf],
             [0., 0., -inf, -inf],
             [0., 0., 0., -inf]]])
    """
    # `visible: [batch_size or 1, seq_len_q or 1, seq_len_k]`
    visible = None if mask is None else mask.permute(2, 0, 1)
    if is_causal:
        seq_len_k = bias.shape[2]
        # * `causal: [1, seq_len_q, seq_len_k]`
        # * `visible: [batch_size or 1, seq_len_q, seq_len_k]`
        causal = torch.ones(1, seq_len_q, seq_len_k, dtype=torch.bool, device=bias.device)
        causal = causal.tril()
        visible = causal if visible is None else visible & causal
    if visible is None:
        return bias
    # Each head and each item of the batch with a mask of its own is a group.
    return bias.unsqueeze(1).masked_fill(~visible, -torch.inf).flatten(0, 1)


def to_columns(x: Tensor, heads: int, own_masks: bool) -> Tensor:
    r"""
    ## Features as columns

    The columns of a group share one table: usually the features of a head, in all items of the
    batch. With a mask for each item, only those of the one item.

    * `x: [seq_len, batch_size, d_model]`
    * `return: [groups, seq_len, columns]`

    >>> x = torch.randn(7, 2, 15)
    >>> to_columns(x, heads=3, own_masks=False).shape
    torch.Size([3, 7, 10])
    >>> to_columns(x, heads=3, own_masks=True).shape
    torch.Size([6, 7, 5])
    """
    # `x: [seq_len, batch_size, heads, d_model // heads]`
    x = x.unflatten(-1, (heads, -1))
    if own_masks:
        return x.permute(2, 1, 0, 3).flatten(0, 1)
    return x.permute(2, 0, 1, 3).flatten(2)


def from_columns(x: Tensor, heads: int, d_model: int) -> Tensor:
    r"""
    ## And back

    * `x: [groups, seq_len, columns]`
    * `return: [seq_len, batch_size, d_model]`

    With one table for the whole batch or with one for each item, what went in comes out:

    >>> x = torch.randn(7, 2, 15)
    >>> for own_masks in (False, True):
    ...     columns = to_columns(x, 3, own_masks)
    ...     print(torch.equal(from_columns(columns, 3, d_model=15), x))
    True
    True
    """
    if x.shape[0] == heads:
        return x.unflatten(2, (-1, d_model // heads)).permute(1, 2, 0, 3).flatten(2)
    return x.unflatten(0, (heads, -1)).permute(2, 1, 0, 3).flatten(2)


def check_length(length: int, seq_len: int) -> None:
    r"""
    ## Inputs that do not fit

    Positions are learned one by one, so there is a last one.
    """
    if length > seq_len:
        raise ValueError(
            f"a sequence of {length} positions is longer than "
            f"the seq_len = {seq_len} learned positions"
        )


def check_state(x: Tensor, past: Tensor) -> None:
    r"""
    A state belongs to the batch that it was made with, and to a layer of the same width.

    * `x: [seq_len, batch_size, d_model]`
    * `past: [seen, past_batch_size, past_d_model]`
    """
    if x.shape[1] != past.shape[1]:
        raise ValueError(
            f"x has a batch of {x.shape[1]}, but the state is from a batch of {past.shape[1]}"
        )
    if x.shape[2:] != past.shape[2:]:
        raise ValueError(
            f"x has d_model = {x.shape[2]}, "
            f"but the state is from d_model = {list(past.shape[2:])}"
        )


def check_mask(mask: Tensor, query: Tensor, key: Tensor) -> None:
    r"""
    Truth values, or nothing. A mask to be added, 0 for visible and $-\infty$ for hidden, would
    be the wrong way round.

    * `mask: [seq_len_q or 1, seq_len_k, batch_size or 1]`
    * `query: [seq_len_q, batch_size, d_model]`
    * `key: [seq_len_k, batch_size, d_model]`

    >>> x = torch.randn(7, 2, 6)
    >>> check_mask(torch.ones(7, 5, 1).bool(), x, x)
    Traceback (most recent call last):
        ...
    ValueError: mask has shape [7, 5, 1], but must have [7 or 1, 7, 2 or 1]: queries, keys, batch
    """
    if mask.dtype != torch.bool:
        raise ValueError(
            f"mask is {mask.dtype}, but must be torch.bool, true where a query may see a key"
        )
    (seq_len_q, batch_size), seq_len_k = query.shape[:2], key.shape[0]
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
