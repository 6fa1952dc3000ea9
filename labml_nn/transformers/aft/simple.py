r"""
---
title: AFT-simple
summary: No biases at all. What remains is one softmax over the keys, and causal it is a running sum.
papers:
  - title: An Attention Free Transformer
    authors: Zhai et al.
    year: 2021
    url: https://arxiv.org/abs/2105.14103
symbols:
  Y: y
  Q: [query, aft.query]
  K: [key, aft.key]
  V: [value, aft.value]
---
# AFT-simple

Take [AFT-full](full.html) and leave out the biases. Nothing then depends on the pair any more:
each key has the same weight for whoever asks.

$$
\begin{aligned}
Y_t &= \sigma(Q_t) \odot
\frac{\sum_{t'} \exp(K_{t'}) \odot V_{t'}}{\sum_{t'} \exp(K_{t'})} \\
&= \sigma(Q_t) \odot \sum_{t'} \operatorname{softmax}(K)_{t'} \odot V_{t'}
\end{aligned}
$$

(Zhai et al. 2021). The last sum does not contain $t$. It is taken once, and each query
lets through what it wants of it. Time and memory are those of reading the sequence.
"""

import torch
from torch import Tensor

from labml_nn.transformers.aft.window import AttentionFreeWithWindow


class AFTSimple(AttentionFreeWithWindow):
    r"""
    ## One average for all

    A softmax over the keys, in each feature on its own, and one average that all queries share:

    >>> aft = AFTSimple(d_model=6)
    >>> x, memory = torch.randn(7, 2, 6), torch.randn(11, 2, 6)
    >>> y = aft(query=x, key=memory, value=memory)
    >>> weights = aft.key(memory).softmax(dim=0)
    >>> average = (weights * aft.value(memory)).sum(dim=0)
    >>> expected = aft.output(torch.sigmoid(aft.query(x)) * average)
    >>> torch.allclose(y, expected, atol=1e-6)
    True

    It has no learned positions, so a sequence may be of any length. Nor does it know of order:
    whoever needs it must put it into the vectors.

    Causal, each query has an average of its own, over what came before. The sums run along:

    >>> x = torch.randn(70, 2, 6)
    >>> y = aft(query=x, key=x, value=x, is_causal=True)
    >>> weights = aft.key(x).exp()
    >>> average = (weights * aft.value(x)).cumsum(dim=0) / weights.cumsum(dim=0)
    >>> expected = aft.output(torch.sigmoid(aft.query(x)) * average)
    >>> torch.allclose(y, expected, atol=1e-5)
    True

    That was the formula as it stands, and [it would overflow](stable.html).
    """

    def __init__(self, d_model: int, bias: bool = True):
        r"""
        To [the causal average](blocks.html) this is a window in which only the position itself
        stands, with a bias of 0.
        """
        super().__init__(d_model, 1, bias)

    def get_bias(self, seq_len_q: int, seq_len_k: int) -> Tensor:
        r"""
        One row of zeros, which all queries share.

        * `return: [1, 1, seq_len_k]`
        """
        return torch.zeros(1, 1, seq_len_k, device=self.output.weight.device)

    def get_causal_band(self, start: int, stop: int) -> Tensor:
        r"""
        The window of one: a bias of 0 for the position itself.

        * `return: [1, stop - start, 1]`
        """
        return torch.zeros(1, stop - start, 1, device=self.output.weight.device)
