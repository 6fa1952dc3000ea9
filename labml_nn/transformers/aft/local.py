r"""
---
title: AFT-local
summary: Biases for the neighbourhood, and an even footing for all beyond.
papers:
  - title: An Attention Free Transformer
    authors: Zhai et al.
    year: 2021
    url: https://arxiv.org/abs/2105.14103
symbols:
  K: key
  w: [table, self.pos_bias]
  s: [local_window_size, self.window]
  T: [seq_len, self.seq_len]
---
# AFT-local

[AFT-full](full.html) learns a bias for each pair of $T$ positions. Does it need them? The
authors looked at what attention heads in trained Transformers do: most of it is local (Zhai et
al. 2021). So AFT-local learns biases within a window of size $s$, and outside it takes

$$w_{tt'} = 0 \quad \text{where} \quad |t - t'| \ge s$$

**Zero is not nothing.** A bias of 0 is a weight of $e^{K_{t'}}$. The far keys still take part, and
any position reaches any other. What would silence them is $-\infty$, and that is another model,
local attention, which is blind beyond its window:

>>> key = torch.zeros(5)
>>> table = torch.tensor([[2.0, 1.0, 0.0, 0.0, 0.0]])
>>> (key + table).softmax(dim=1)
tensor([[0.5637, 0.2074, 0.0763, 0.0763, 0.0763]])
>>> outside = torch.tensor([0, 0, 1, 1, 1]) == 1
>>> blind = table.masked_fill(outside, -torch.inf)
>>> (key + blind).softmax(dim=1)
tensor([[0.7311, 0.2689, 0.0000, 0.0000, 0.0000]])
"""

from typing import Any

import torch
from torch import Tensor, nn

from labml_nn.transformers.aft.blocks import spread
from labml_nn.transformers.aft.full import check_length
from labml_nn.transformers.aft.window import AttentionFreeWithWindow


class AFTLocal(AttentionFreeWithWindow):
    r"""
    ## Biases in a window

    With $s = 3$ the window reaches two positions to either side:

    >>> aft = AFTLocal(d_model=6, seq_len=11, local_window_size=3)
    >>> x, memory = torch.randn(7, 2, 6), torch.randn(11, 2, 6)
    >>> aft(query=x, key=memory, value=memory).shape
    torch.Size([7, 2, 6])

    Far keys take part. The first query hears of the last of eleven keys:

    >>> before = aft(query=x[:1], key=memory, value=memory)
    >>> memory[10] += 1.0
    >>> after = aft(query=x[:1], key=memory, value=memory)
    >>> torch.allclose(before, after)
    False
    """

    def __init__(self, d_model: int, seq_len: int, local_window_size: int, bias: bool = True):
        r"""
        ### Store what is learned

        The obvious way is a table of $T \times T$ and a mask that zeroes what lies outside. In
        each row, no more than $2s - 1$ numbers are ever used. For 2,048 positions and a window
        of 32, that is 3 in a hundred; the others still cost memory, in the gradient and in the
        optimiser too. We keep the band: row $t$ holds the biases for $t - s + 1$ to
        $t + s - 1$.

        >>> AFTLocal(d_model=6, seq_len=100, local_window_size=3).pos_bias.shape
        torch.Size([100, 5])

        Where the band is at least as wide as the table, we keep the table:

        >>> AFTLocal(d_model=6, seq_len=7, local_window_size=4).pos_bias.shape
        torch.Size([7, 7])

        Then the shape alone says which of the two a checkpoint has.
        """
        if seq_len < 1 or local_window_size < 1:
            raise ValueError(
                f"seq_len = {seq_len} and local_window_size = {local_window_size} "
                "must be at least 1"
            )
        super().__init__(d_model, min(local_window_size, seq_len), bias)
        self.seq_len = seq_len
        self.is_band = 2 * self.window - 1 < seq_len
        width = 2 * self.window - 1 if self.is_band else seq_len
        # `self.pos_bias: [seq_len, width]`
        self.pos_bias = nn.Parameter(torch.zeros(seq_len, width))
        self.register_load_state_dict_pre_hook(take_old_layout)

    @staticmethod
    def create_local_mask(seq_len: int, local_window_size: int) -> Tensor:
        r"""
        ### Where the window is

        * `return: [seq_len, seq_len]`

        >>> AFTLocal.create_local_mask(5, 2).int()
        tensor([[1, 1, 0, 0, 0],
                [1, 1, 1, 0, 0],
                [0, 1, 1, 1, 0],
                [0, 0, 1, 1, 1],
                [0, 0, 0, 1, 1]], dtype=torch.int32)
        """
        # `mask: [seq_len, seq_len]`
        mask = torch.ones(seq_len, seq_len, dtype=torch.bool)
        return mask.tril(local_window_size - 1).triu(1 - local_window_size)

    def get_bias(self, seq_len_q: int, seq_len_k: int) -> Tensor:
        r"""
        ### The table

        Without a causal order there is no past to collapse, and the average is
        [a product with the table](labml_nn.transformers.aft.stable.SharedMaximum).

        * `return: [1, seq_len_q, seq_len_k]`

        >>> aft = AFTLocal(d_model=6, seq_len=11, local_window_size=2)
        >>> torch.nn.init.ones_(aft.pos_bias).shape
        torch.Size([11, 3])
        >>> aft.get_bias(4, 5)[0].int()
        tensor([[1, 1, 0, 0, 0],
                [1, 1, 1, 0, 0],
                [0, 1, 1, 1, 0],
                [0, 0, 1, 1, 1]], dtype=torch.int32)

        >>> aft = AFTLocal(d_model=6, seq_len=5, local_window_size=3)
        >>> torch.nn.init.ones_(aft.pos_bias).shape
        torch.Size([5, 5])
        >>> aft.get_bias(4, 5)[0].int()
        tensor([[1, 1, 1, 0, 0],
                [1, 1, 1, 1, 0],
                [1, 1, 1, 1, 1],
                [0, 1, 1, 1, 1]], dtype=torch.int32)
        """
        check_length(max(seq_len_q, seq_len_k), self.seq_len)
        if self.is_band:
            return spread(self.pos_bias[None, :seq_len_q], seq_len_k)
        # * `inside: [seq_len, seq_len]`
        # * `table: [seq_len, seq_len]`
        inside = self.create_local_mask(self.seq_len, self.window).to(self.pos_bias.device)
        table = self.pos_bias.masked_fill(~inside, 0)
        return table[None, :seq_len_q, :seq_len_k]

    def get_causal_band(self, start: int, stop: int) -> Tensor:
        r"""
        ### The causal half

        * `return: [1, stop - start, window]`

        >>> aft = AFTLocal(d_model=6, seq_len=5, local_window_size=3)
        >>> _ = aft.pos_bias.data.copy_(torch.arange(1, 26).view(5, 5))
        >>> aft.get_causal_band(1, 5)[0].int()
        tensor([[ 0,  6,  7],
                [11, 12, 13],
                [17, 18, 19],
                [23, 24, 25]], dtype=torch.int32)
        """
        check_length(stop, self.seq_len)
        if self.is_band:
            return self.pos_bias[None, start:stop, : self.window]
        return band_of(self.pos_bias, self.window)[None, start:stop, : self.window]


def band_of(table: Tensor, window: int) -> Tensor:
    r"""
    ## From a table to a band

    The way back from [here](labml_nn.transformers.aft.blocks.spread).

    * `table: [seq_len, seq_len]`
    * `return: [seq_len, 2 * window - 1]`

    >>> band_of(torch.arange(1, 17).view(4, 4), 2)
    tensor([[ 0,  1,  2],
            [ 5,  6,  7],
            [10, 11, 12],
            [15, 16,  0]])
    """
    # * `place: [seq_len]`
    # * `offset: [2 * window - 1]`
    # * `column: [seq_len, 2 * window - 1]`
    place = torch.arange(len(table), device=table.device)
    offset = torch.arange(1 - window, window, device=table.device)
    column = place[:, None] + offset
    # At the ends of the sequence the window reaches beyond it.
    #
    # `beyond: [seq_len, 2 * window - 1]`
    beyond = (column < 0) | (column >= len(table))
    return table.gather(1, column.clamp(0, len(table) - 1)).masked_fill(beyond, 0)


def take_old_layout(module: AFTLocal, state_dict: dict[str, Any], prefix: str, *_: Any) -> None:
    r"""
    ## Checkpoints of another time

    Elsewhere this layer stores the whole table as `pos_bias`, and the mask of the window beside
    it as `local_mask`. Such a checkpoint loads here too, and computes the same:

    >>> aft = AFTLocal(d_model=6, seq_len=11, local_window_size=2)
    >>> old = aft.state_dict()
    >>> old["pos_bias"] = torch.randn(11, 11)
    >>> old["local_mask"] = AFTLocal.create_local_mask(11, 2)
    >>> aft.load_state_dict(old)
    <All keys matched successfully>
    >>> torch.equal(aft.pos_bias[5], old["pos_bias"][5, 4:7])
    True
    """
    state_dict.pop(f"{prefix}local_mask", None)
    name = f"{prefix}pos_bias"
    table = state_dict.get(name)
    if table is not None and module.is_band and table.shape == (module.seq_len,) * 2:
        state_dict[name] = band_of(table, module.window)
