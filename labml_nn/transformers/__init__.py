r"""
---
title: Transformers
summary: Attention and what grows out of it, from the two layers that every Transformer is made of.
papers:
  - title: Attention Is All You Need
    authors: Vaswani et al.
    year: 2017
    url: https://arxiv.org/abs/1706.03762
order: [mha, fused_attention, feed_forward, positional_encoding, models, label_smoothing, basic,
  relative_mha, xl, aft, feedback, fast_weights]
---
# Transformers

A sequence goes in, one vector $x$ for each position. Two kinds of layer then take turns. One lets
positions look at each other; the other works on each position alone. Most of what has been
proposed since changes one of the two.

Neither layer replaces the vectors. Each *adds* to them:

$$x \leftarrow x + \operatorname{Layer}(x)$$

So what was there stays there, and on the way back the gradient passes each sum unchanged. This
*residual connection* is from [He et al. 2015](https://arxiv.org/abs/1512.03385). (Vaswani et al.
2017 also normalise after each sum, section 3.1.)

Here is one round, for seven positions and a batch of two:

>>> import torch
>>> from labml_nn.transformers import FeedForward, MultiHeadAttention
>>> attention = MultiHeadAttention(heads=3, d_model=15)
>>> feed_forward = FeedForward(d_model=15, d_ff=60)
>>> x = torch.randn(7, 2, 15)
>>> x = x + attention(query=x, key=x, value=x)
>>> x = x + feed_forward(x)
>>> x.shape
torch.Size([7, 2, 15])

**Where to begin.**

1. [Multi-head attention](mha.html) is the idea that everything here rests on. Read it first, and
   do not skip the query that sees nothing.
2. [The feed-forward network](feed_forward.html) is what happens in between, and it is where most
   of the weights are.
3. [Positions](positional_encoding.html) put back the word order that attention loses.
   [Copies of a layer](../utils.html) tells how to make a stack, and when copies stay twins.
4. [Transformers, put together](models.html) makes models of these parts, and
   [one of them is trained](basic/index.html). [Label smoothing](label_smoothing.html) is for those
   that grow too sure of themselves.

**Where it went from there.** Each of these changes one thing, and says what is gained and what it
costs.

* [Relative attention](relative_mha.html) asks how far away a word is, not where it stands.
  [Transformer-XL](xl/index.html) needs that, to read on where it stopped.
* The [Attention Free Transformer](aft/index.html) leaves out the dot products.
* The [Feedback Transformer](feedback/index.html) lets low layers read what high ones thought
  before.
* [Fast weights](fast_weights/index.html) keep the past in a matrix of fixed size, and learn to
  correct what is in it.
"""

from labml_nn.transformers.feed_forward import FeedForward
from labml_nn.transformers.mha import MultiHeadAttention, PrepareForMultiHeadAttention

__all__ = ["FeedForward", "MultiHeadAttention", "PrepareForMultiHeadAttention"]
