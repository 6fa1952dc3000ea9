r"""
---
title: An Attention Free Transformer
summary: A weighted average without dot products, taken by each feature on its own.
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
  w: [bias, aft.pos_bias]
  d: d_model
  T: seq_len
order: [full, simple, local, conv, stable, blocks, window]
---
# An Attention Free Transformer

[Attention](../mha.html) compares each query with each key. Every comparison is a dot product,
and every pair of positions has a weight, for each head and each item of the batch. For a
sequence of $T$ positions that is a table of $T^2$ weights, many times over.

What if the weight of a key did not depend on the query at all? Then there would be nothing to
compare. A key alone would say how much it has to say, and a learned number $w_{tt'}$ would say
how much position $t$ cares for position $t'$, whatever stands there. That is the idea of Zhai
et al. 2021:

$$Y_t = \sigma(Q_t) \odot
\frac{\sum_{t'} \exp(K_{t'} + w_{tt'}) \odot V_{t'}}{\sum_{t'} \exp(K_{t'} + w_{tt'})}$$

$Q_t$, $K_t$ and $V_t$ are the query, the key and the value of position $t$, linear images of
its vector; $\odot$ is the product entry by entry. Read it from the right:

* The fraction is a weighted average of the values. Each of the $d$ features has its own weights,
  because each has its own key. The paper calls this attention with as many heads as features.
* The query comes last. It does not choose where to look. Through the sigmoid $\sigma$ it chooses
  how much of what was found may pass.

**The same with loops.** For each feature:

>>> import math, torch
>>> aft = AFTFull(d_model=3, seq_len=5)
>>> _ = torch.nn.init.normal_(aft.pos_bias)
>>> x = torch.randn(5, 1, 3)
>>> y = torch.zeros(5, 1, 3)
>>> query, key, value = (part(x).detach() for part in (aft.query, aft.key, aft.value))
>>> bias = aft.pos_bias.detach()
>>> for t in range(5):
...     for d in range(3):
...         above, below = 0.0, 0.0
...         for u in range(5):
...             weight = math.exp(key[u, 0, d] + bias[t, u])
...             above += weight * value[u, 0, d].item()
...             below += weight
...         y[t, 0, d] = torch.sigmoid(query[t, 0, d]).item() * above / below
>>> expected = aft(query=x, key=x, value=x)
>>> torch.allclose(aft.output(y), expected, atol=1e-5)
True

**Why it is cheaper.** $e^{K + w}$ is $e^w e^K$. So both sums are a matrix of $e^w$ times the
sequence. There is one such matrix for the layer, not one for each head and item of the batch, and
nothing of the size $T^2 d$ ever stands in memory. Where most of $w$ is zero even the matrix can
go.

**Four kinds of bias.**

| AFT- | $w_{tt'}$ | learned | memory |
|---|---|---|---|
| [full](full.html) | one for each pair | $T^2$, or fewer | $T^2 + Td$ |
| [simple](simple.html) | 0 | none | $Td$ |
| [local](local.html) | one for each pair less than $s$ apart | $T (2s - 1)$ | $T (d + s)$ |
| [conv](conv.html) | one for each distance less than $s$ | $h (2s - 1)$ | $T (d + hs)$ |

The third column counts the learned numbers, the fourth those in memory under a causal order.
$s$ is the size of a window, and $h$ a number of heads: groups of features that share their
biases. All four have the same interface, and all can be told that they are causal:

>>> layers = [AFTFull(6, 11), AFTSimple(6), AFTLocal(6, 11, 3), AFTConv(6, 3, 4)]
>>> x = torch.randn(7, 2, 6)
>>> for aft in layers:
...     y = aft(query=x, key=x, value=x, is_causal=True)
...     print(type(aft).__name__, list(y.shape))
AFTFull [7, 2, 6]
AFTSimple [7, 2, 6]
AFTLocal [7, 2, 6]
AFTConv [7, 2, 6]

As long as the biases are zero, all of them are AFT-simple:

>>> state = layers[1].state_dict()
>>> y = layers[1](query=x, key=x, value=x)
>>> for aft in layers:
...     _ = aft.load_state_dict(state, strict=False)
...     print(torch.allclose(aft(query=x, key=x, value=x), y, atol=1e-5))
True
True
True
True

**What makes it hard.** The equation is a single line, and computing it takes care. A sum of
exponentials overflows, and the usual cure lets the future destroy the past.
[Exponentials that stay in range](stable.html) is about that. Read it before you write an AFT of
your own. [The past in one key](blocks.html) then shows how a causal AFT gets along with one key and
one window, however long the sequence.
"""

from labml_nn.transformers.aft.conv import AFTConv
from labml_nn.transformers.aft.full import AFTFull
from labml_nn.transformers.aft.local import AFTLocal
from labml_nn.transformers.aft.simple import AFTSimple

__all__ = ["AFTConv", "AFTFull", "AFTLocal", "AFTSimple"]
