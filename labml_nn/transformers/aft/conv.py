r"""
---
title: AFT-conv
summary: Biases that depend on the distance only. Then the window is a convolution.
papers:
  - title: An Attention Free Transformer
    authors: Zhai et al.
    year: 2021
    url: https://arxiv.org/abs/2105.14103
symbols:
  K: key
  V: value
  w: [pos_bias, self.pos_bias]
  s: [local_window_size, self.window]
  h: [heads, self.heads]
  d: d_model
---
# AFT-conv

[AFT-local](local.html) learns each window anew: what matters just before position 10 has to be
learned again for position 11. A convolution shares it. Let the bias depend on the distance
only, and let it be zero from distance $s$ on:

$$w_{tt'} = w_{t' - t}$$

One set of weights for all $d$ features would be a poor convolution. So the features are shared
out among $h$ *heads*, and each head has biases $w^n$ of its own (Zhai et al. 2021).

Why does this deserve its name? Take the far keys, with their weight of $e^{K_{t'}}$, and write
the weight of a near one as $e^{w} e^{K} = (e^{w} - 1)\, e^{K} + e^{K}$. Then both sums of the
average fall into two parts. Below the bar, in head $n$:

$$
\begin{aligned}
\sum_{t'} e^{w^n_{t'-t}} e^{K_{t'}}
&= \underbrace{\sum_{|t' - t| < s} \big(e^{w^n_{t'-t}} - 1\big)\, e^{K_{t'}}}
_{\text{a convolution}} \\
&\quad + \underbrace{\sum_{t'} e^{K_{t'}}}_{\text{the same for all}}
\end{aligned}
$$

and above it the same with $e^{K_{t'}} V_{t'}$. This is how the paper writes it down: a
convolution with the kernel $e^{w} - 1$, and AFT-simple.

>>> import torch.nn.functional as F
>>> key, pos_bias = torch.randn(11), torch.randn(5)
>>> kernel = pos_bias.exp() - 1
>>> near = F.conv1d(key.exp().view(1, 1, 11), kernel.view(1, 1, 5), padding=2).view(11)
>>> both = near + key.exp().sum()
>>> bias = spread(pos_bias.expand(1, 11, 5), 11)
>>> torch.allclose(both, (bias[0].exp() @ key.exp()), rtol=1e-4)
True

It is fine to read and not to compute with. Where $w$ is very negative the two parts nearly
cancel, and what is left of `float32` is little:

>>> key = torch.tensor([16.0, 0.0])
>>> bias = torch.tensor([-20.0, 0.0])
>>> exact = (key + bias).exp().sum()
>>> near = ((bias.exp() - 1) * key.exp()).sum()
>>> wrong = near + key.exp().sum()
>>> exact, wrong
(tensor(1.0183), tensor(1.))

Our way adds up positive numbers only.
"""

import torch
from torch import Tensor, nn

from labml_nn.transformers.aft.blocks import spread
from labml_nn.transformers.aft.window import AttentionFreeWithWindow


class AFTConv(AttentionFreeWithWindow):
    r"""
    ## Biases for distances

    Six features, two for each of three heads:

    >>> aft = AFTConv(d_model=6, heads=3, local_window_size=4)
    >>> x, memory = torch.randn(7, 2, 6), torch.randn(11, 2, 6)
    >>> aft(query=x, key=memory, value=memory).shape
    torch.Size([7, 2, 6])

    Nothing is learned about a place, so there is no longest sequence, and few numbers:

    >>> aft.pos_bias.shape
    torch.Size([3, 7])
    """

    def __init__(self, d_model: int, heads: int, local_window_size: int, bias: bool = True):
        if heads < 1 or d_model % heads != 0:
            raise ValueError(f"d_model = {d_model} cannot be shared equally by heads = {heads}")
        if local_window_size < 1:
            raise ValueError(f"local_window_size = {local_window_size} must be at least 1")
        super().__init__(d_model, local_window_size, bias)
        self.heads = heads
        # Column $c$ is for the key at distance $c - s + 1$: first the past, last the future.
        #
        # `self.pos_bias: [heads, 2 * local_window_size - 1]`
        self.pos_bias = nn.Parameter(torch.zeros(heads, 2 * local_window_size - 1))

    def get_bias(self, seq_len_q: int, seq_len_k: int) -> Tensor:
        r"""
        ### The table

        * `return: [heads, seq_len_q, seq_len_k]`

        >>> aft = AFTConv(d_model=6, heads=1, local_window_size=2)
        >>> _ = aft.pos_bias.data.copy_(torch.tensor([[1.0, 2.0, 3.0]]))
        >>> aft.get_bias(4, 5)[0].int()
        tensor([[2, 3, 0, 0, 0],
                [1, 2, 3, 0, 0],
                [0, 1, 2, 3, 0],
                [0, 0, 1, 2, 3]], dtype=torch.int32)
        """
        return spread(self.pos_bias.unsqueeze(1).expand(-1, seq_len_q, -1), seq_len_k)

    def get_causal_band(self, start: int, stop: int) -> Tensor:
        r"""
        ### The causal half, the same for each query

        * `return: [heads, stop - start, window]`

        >>> aft = AFTConv(d_model=6, heads=2, local_window_size=3)
        >>> _ = aft.pos_bias.data.copy_(torch.arange(10).view(2, 5))
        >>> aft.get_causal_band(7, 11)[1].int()
        tensor([[5, 6, 7],
                [5, 6, 7],
                [5, 6, 7],
                [5, 6, 7]], dtype=torch.int32)
        """
        # `half: [heads, 1, window]`
        half = self.pos_bias[:, None, : self.window]
        return half.expand(-1, stop - start, -1)
