r"""
---
title: Feed-forward network
summary: After looking around, each position thinks for itself. With a gate, if you like.
papers:
  - title: Attention Is All You Need
    authors: Vaswani et al.
    year: 2017
    url: https://arxiv.org/abs/1706.03762
  - title: GLU Variants Improve Transformer
    authors: Shazeer
    year: 2020
    url: https://arxiv.org/abs/2002.05202
symbols:
  x: x
  W_1: self.layer1
  W_2: self.layer2
  V: self.linear_v
  f: self.activation
  g: hidden
  d_{\text{ff}}: d_ff
  d_{\text{model}}: d_model
---
# Feed-forward network

[Attention](mha.html) carries information from place to place. It does little with it on the way:
what arrives is an average of linear maps. Something has to turn what was gathered into something
new.

That is the work of this layer. It takes one position at a time, a row $x$ of $d_{\text{model}}$
numbers. A first linear map, with weights $W_1$ and bias $b_1$, widens it to $d_{\text{ff}}$
numbers. An activation $f$ bends them. A second map, $W_2$ and $b_2$, brings them back:

$$\operatorname{FFN}(x) = f(x W_1 + b_1)\, W_2 + b_2$$

With $f(z) = \max(0, z)$ this is equation 2 of Vaswani et al. 2017. There $d_{\text{model}}$ is 512
and $d_{\text{ff}}$ is four times that.

The same weights serve every position, and no position hears of another. One can also see it as
two convolutions over the sequence with a window of one (section 3.3).

Written as a sum, the layer looks familiar. Let $w_n$ be column $n$ of $W_1$, and $v_n$ row $n$ of
$W_2$; leave the biases aside:

$$\operatorname{FFN}(x) = \sum_{n=1}^{d_{\text{ff}}} f(x \cdot w_n)\, v_n$$

That is attention over a memory which is learned and never changes: $w_n$ is a key, $v_n$ its
value, and $f$ stands where the softmax was
([Geva et al. 2021](https://arxiv.org/abs/2012.14913), section 2).
"""

from collections.abc import Callable

import torch.nn.functional as F
from torch import Tensor, nn


class FeedForward(nn.Module):
    r"""
    ## Widen, bend, bring back

    The width changes inside only; any number of axes may stand before it.

    >>> import torch
    >>> feed_forward = FeedForward(d_model=6, d_ff=24).eval()
    >>> x = torch.randn(7, 2, 6)
    >>> feed_forward(x).shape
    torch.Size([7, 2, 6])

    Position-wise means: what a position becomes does not depend on who stands beside it.

    >>> alone = feed_forward(x[3])
    >>> torch.allclose(feed_forward(x)[3], alone, atol=1e-6)
    True

    This is where most of the weights are. With $d_{\text{ff}} = 4\, d_{\text{model}}$ the two
    matrices have $8\, d_{\text{model}}^2$ of them, and the four of attention
    $4\, d_{\text{model}}^2$.
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        dropout: float = 0.1,
        activation: Callable[[Tensor], Tensor] = F.relu,
        is_gated: bool = False,
        bias1: bool = True,
        bias2: bool = True,
        bias_gate: bool = True,
    ):
        r"""
        ### Gates

        In the plain layer one number decides both whether a hidden unit speaks and what it says.
        A *gated linear unit* ([Dauphin et al. 2017](https://arxiv.org/abs/1612.08083)) has a
        number for each. A second map of the input, with weights $V$ and bias $c$, is what it
        says; the activation is how much of it passes. With $\otimes$ for the product entry by
        entry:

        $$g = f(x W_1 + b_1) \otimes (x V + c)$$

        $$\operatorname{FFN}_{\text{gated}}(x) = g\, W_2 + b_2$$

        The gradient of $x V + c$ is multiplied by the gate itself, never by the slope of an
        activation. So it finds its way back where that slope is nearly zero (Dauphin et al.,
        section 3).

        Shazeer 2020 tried five activations in the place of $f$ (equations 4 to 6):

        | name | $f(z)$ | `activation` |
        |---|---|---|
        | GLU | $\sigma(z)$ | `torch.sigmoid` |
        | Bilinear | $z$ | `nn.Identity()` |
        | ReGLU | $\max(0, z)$ | `F.relu` |
        | GEGLU | $z\, \Phi(z)$ | `F.gelu` |
        | SwiGLU | $z\, \sigma(z)$ | `F.silu` |

        Here $\sigma$ is the sigmoid, and $\Phi$ the distribution function of the standard normal.

        >>> import torch
        >>> x = torch.randn(7, 2, 6)
        >>> swiglu = FeedForward(6, 16, activation=F.silu, is_gated=True)
        >>> swiglu(x).shape
        torch.Size([7, 2, 6])

        All five beat the plain layer in his Table 1, GEGLU and SwiGLU by most. He offers no
        reason why, and thanks *divine benevolence* (section 4).

        A gate brings a third matrix. To keep the comparison fair, Shazeer makes all three
        narrower by a third. He leaves out the biases as well, and then the numbers of weights are
        equal:

        >>> no_bias = {"bias1": False, "bias2": False, "bias_gate": False}
        >>> plain = FeedForward(6, 24, **no_bias)
        >>> gated = FeedForward(6, 16, is_gated=True, **no_bias)
        >>> sum(p.numel() for p in plain.parameters())
        288
        >>> sum(p.numel() for p in gated.parameters())
        288
        """
        super().__init__()
        if d_model < 1 or d_ff < 1:
            raise ValueError(f"d_model = {d_model} and d_ff = {d_ff} must both be at least 1")
        self.d_model = d_model
        self.layer1 = nn.Linear(d_model, d_ff, bias=bias1)
        self.layer2 = nn.Linear(d_ff, d_model, bias=bias2)
        # The default is a function, which has nothing to learn. A module with weights, such as
        # `nn.PReLU()`, would as a default be one for all layers of the model.
        self.activation = activation
        self.dropout = nn.Dropout(dropout)
        self.is_gated = is_gated
        # The second map of the input, where there is a gate.
        if is_gated:
            self.linear_v = nn.Linear(d_model, d_ff, bias=bias_gate)

    def forward(self, x: Tensor) -> Tensor:
        r"""
        * `x: [..., d_model]`
        * `return: [..., d_model]`
        """
        if x.shape[-1] != self.d_model:
            raise ValueError(
                f"x has shape {list(x.shape)}, but its last axis must be d_model = {self.d_model}"
            )
        # $f(x W_1 + b_1)$
        #
        # `hidden: [..., d_ff]`
        hidden = self.activation(self.layer1(x))
        # $g = f(x W_1 + b_1) \otimes (x V + c)$
        #
        # `hidden: [..., d_ff]`
        if self.is_gated:
            hidden = hidden * self.linear_v(x)
        # In training, hidden units are dropped, as in torch's own layer. The paper drops from the
        # result instead (section 5.4); that is left to whoever adds the result up.
        #
        # `hidden: [..., d_ff]`
        hidden = self.dropout(hidden)
        # $g\, W_2 + b_2$
        return self.layer2(hidden)
