r"""
---
title: A window and the past
summary: What AFT-simple, AFT-local and AFT-conv have in common, and what they carry when they write.
papers:
  - title: An Attention Free Transformer
    authors: Zhai et al.
    year: 2021
    url: https://arxiv.org/abs/2105.14103
symbols:
  s: [window, self.window]
---
# A window and the past

Three of the variants have biases only for keys less than $s$ places away: AFT-local, AFT-conv,
and AFT-simple, where $s = 1$ and the one bias is 0. For all three the causal average is that of
[The past in one key](blocks.html). This page makes a layer of it, which can also write:
position after position, with a memory that does not grow.
"""

from abc import abstractmethod
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from labml_nn.transformers.aft.blocks import (
    BLOCK,
    average_of_piece,
    causal_average,
    nothing_yet,
)
from labml_nn.transformers.aft.full import (
    AttentionFree,
    check_state,
    from_columns,
    to_columns,
)
from labml_nn.transformers.mha import check_sequence


class PastAndWindow(NamedTuple):
    r"""
    ## What a sequence has been so far

    One key and one value for all that is old; the keys and values still in the window, at most
    $s - 1$ of them; and how many positions there have been. Its size does not grow.
    """

    # `past_key: [1, batch_size, d_model]`
    past_key: Tensor
    # `past_value: [1, batch_size, d_model]`
    past_value: Tensor
    # `key: [n_window, batch_size, d_model]`
    key: Tensor
    # `value: [n_window, batch_size, d_model]`
    value: Tensor
    # `seen: []`
    seen: Tensor


class AttentionFreeWithWindow(AttentionFree):
    r"""
    ## The layer

    A variant says how wide its window is, and which biases stand in it.
    """

    def __init__(self, d_model: int, window: int, bias: bool = True):
        super().__init__(d_model, bias)
        # A position has biases for the keys less than $s$ away: $s$ of them in a causal window,
        # its own place included.
        self.window = window

    @abstractmethod
    def get_causal_band(self, start: int, stop: int) -> Tensor:
        r"""
        ### The causal half of the band

        The biases of the queries `start` to `stop`, each for the $s$ keys up to its own place.

        * `return: [heads, stop - start, window]`
        """

    def get_causal_average(self, key: Tensor, value: Tensor, seq_len_q: int) -> Tensor:
        r"""
        ### The causal average

        * `key: [groups, seq_len_k, columns]`
        * `value: [groups, seq_len_k, columns]`
        * `return: [groups, seq_len_q, columns]`

        Query $t$ sees $t' \le t$, and both count from 0. Keys beyond the last query are seen by
        nobody. If it is the keys that end first, we go on with keys that have no weight.

        >>> from labml_nn.transformers.aft import AFTLocal
        >>> aft = AFTLocal(d_model=6, seq_len=11, local_window_size=3)
        >>> x, memory = torch.randn(7, 2, 6), torch.randn(11, 2, 6)
        >>> for seq_len_k in (4, 7, 11):
        ...     keys = memory[:seq_len_k]
        ...     causal = torch.ones(7, seq_len_k).bool().tril().unsqueeze(-1)
        ...     told = aft(query=x, key=keys, value=keys, is_causal=True)
        ...     masked = aft(query=x, key=keys, value=keys, mask=causal)
        ...     print(torch.allclose(told, masked, atol=1e-5))
        True
        True
        True
        """
        missing = seq_len_q - key.shape[1]
        if missing != 0:
            # * `key: [groups, seq_len_q, columns]`
            # * `value: [groups, seq_len_q, columns]`
            key = F.pad(key, (0, 0, 0, missing), value=-torch.inf)
            value = F.pad(value, (0, 0, 0, missing))
        return causal_average(key, value, self.get_causal_band(0, seq_len_q).to(key.dtype))

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def step(
        self, x: Tensor, state: PastAndWindow | None = None
    ) -> tuple[Tensor, PastAndWindow]:
        r"""
        ### One step further

        The next positions of a causal sequence, which looks at itself. `state` is what the call
        before gave back, and is not changed.

        * `x: [n, batch_size, d_model]`
        * `return: [n, batch_size, d_model]`, and the new state

        >>> from labml_nn.transformers.aft import AFTLocal
        >>> aft = AFTLocal(d_model=6, seq_len=11, local_window_size=3)
        >>> x = torch.randn(11, 2, 6)
        >>> whole = aft(query=x, key=x, value=x, is_causal=True)
        >>> first, state = aft.step(x[:7])
        >>> second, state = aft.step(x[7:8], state)
        >>> third, state = aft.step(x[8:], state)
        >>> torch.allclose(torch.cat([first, second, third]), whole, atol=1e-5)
        True

        After eleven positions it carries what it carries after a million: two positions of the
        window, and one for all before.

        >>> state.key.shape, state.past_key.shape
        (torch.Size([2, 2, 6]), torch.Size([1, 2, 6]))
        """
        check_sequence("x", x, self.d_model)
        # * `gate: [n, batch_size, d_model]`
        # * `key: [n, batch_size, d_model]`
        # * `value: [n, batch_size, d_model]`
        gate, key, value = torch.sigmoid(self.query(x)), self.key(x), self.value(x)
        if state is not None:
            check_state(x, state.past_key)
            if len(state.key) > self.window - 1:
                raise ValueError(
                    f"the state has {len(state.key)} positions in its window, "
                    f"but a window of {self.window} keeps {self.window - 1} at most"
                )
        # `y: [n, batch_size, d_model]`
        with torch.autocast(x.device.type, enabled=False):
            y, state = self.continue_average(key, value, state)
            y = y.to(gate.dtype)
        return self.output(gate * y), state

    def continue_average(
        self, key: Tensor, value: Tensor, state: PastAndWindow | None
    ) -> tuple[Tensor, PastAndWindow]:
        r"""
        ### The average, continued

        * `key: [n, batch_size, d_model]`
        * `value: [n, batch_size, d_model]`
        * `return: [n, batch_size, d_model]`, and the new state
        """
        if key.dtype in (torch.float16, torch.bfloat16):
            key, value = key.float(), value.float()
        # * `key: [groups, n, columns]`
        # * `value: [groups, n, columns]`
        key, value = (to_columns(x, self.heads, False) for x in (key, value))
        seen, past, before = 0, nothing_yet(key), 0
        if state is not None:
            seen, before = int(state.seen), len(state.key)
            # * `past_key: [groups, 1, columns]`
            # * `past_value: [groups, 1, columns]`
            # * `window_key: [groups, before, columns]`
            # * `window_value: [groups, before, columns]`
            past_key, past_value, window_key, window_value = (
                to_columns(x, self.heads, False) for x in state[:4]
            )
            past = (past_key, past_value)
            # The window goes in front.
            #
            # * `key: [groups, before + n, columns]`
            # * `value: [groups, before + n, columns]`
            key = torch.cat([window_key, key], dim=1)
            value = torch.cat([window_value, value], dim=1)

        # A piece may be empty, and then nothing is added to this.
        pieces = [key[:, :0]]
        for start in range(before, key.shape[1], BLOCK):
            stop = min(start + BLOCK, key.shape[1])
            begin = max(start - (self.window - 1), 0)
            # * `band: [heads, stop - start, window]`
            # * `x: [groups, stop - start, columns]`
            band = self.get_causal_band(seen + start - before, seen + stop - before)
            x, past = average_of_piece(
                key[:, begin:stop], value[:, begin:stop], band.to(key.dtype), past
            )
            pieces.append(x)

        # Copies: a slice would keep the whole piece in memory.
        #
        # * `past_key: [1, batch_size, d_model]`
        # * `past_value: [1, batch_size, d_model]`
        # * `key: [n_window, batch_size, d_model]`
        # * `value: [n_window, batch_size, d_model]`
        begin = max(key.shape[1] - (self.window - 1), 0)
        kept = (*past, key[:, begin:].clone(), value[:, begin:].clone())
        past_key, past_value, key, value = (
            from_columns(x, self.heads, self.d_model) for x in kept
        )
        seen += sum(x.shape[1] for x in pieces)
        state = PastAndWindow(past_key, past_value, key, value, torch.tensor(seen))
        return from_columns(torch.cat(pieces, dim=1), self.heads, self.d_model), state
