r"""
---
title: Feedback transformer
summary: Let every layer read what the highest layers thought of the past.
papers:
  - title: Addressing Some Limitations of Transformers with Feedback Memory
    authors: Fan et al.
    year: 2020
    url: https://arxiv.org/abs/2002.09402
symbols:
  m: memory
  x: x
  L: n_layers
order: [attention, transformer, stack]
---
# Feedback transformer

A person who reads a novel understands page 200 with all that they made of the first 199. A
transformer does not. Its layers work side by side through the text: layer 1 of the last page sees
only what layer 1 made of the others, which is hardly more than their words. What the *highest*
layer understood of page 100 is seen by nobody, not even by the highest layer of page 200, which
looks at the outputs of the layer below it.

So thought has a limit. Each layer carries it one stage further, and a model of $L$ layers can do $L$
stages and no more, however long the text. To follow who holds the ball through a hundred throws
takes a hundred stages, one on top of the other. A recurrent network can do that with one layer, since
its state goes from each step into the next.

Fan et al. 2020 give the transformer that loop. At each step $t$ let $x_t^0$ be the input and
$x_t^1, \dots, x_t^L$ what the layers made of it. Blend them all into one vector, the *memory* of
step $t$:

$$m_t = \sum_{l=0}^{L} \operatorname{softmax}(w)_l \; x_t^l$$

The $L + 1$ numbers $w$ are learned. Then let *every* layer, the lowest too, attend to the memories
of the steps before, and to nothing else:

$$x_t^{l} = \operatorname{Layer}^l\big(x_t^{l-1};\; m_0, \dots, m_{t-1}\big)$$

Now the lowest layer of step $t$ reads what the highest made of step $t - 1$, which has read what the
highest made of step $t - 2$, and so on back to the first.

**See it happen.** Take one layer only, and let its attention see one step back only. It is told so
by its table of distances. In a transformer, the last of seven positions would then know itself and
the one before. Here it knows the first:

>>> import torch
>>> from labml_nn.transformers import FeedForward
>>> attn = FeedbackAttention(heads=3, d_model=15)
>>> attn.key_pos_bias.data[:-1] = -1000.0
>>> layer = FeedbackTransformerLayer(
...     d_model=15, attn=attn, feed_forward=FeedForward(15, 60), dropout_prob=0.0
... )
>>> model = FeedbackTransformer(layer, n_layers=1).eval()
>>> x = torch.randn(7, 2, 15, requires_grad=True)
>>> slope, = torch.autograd.grad(model(x)[-1].square().sum(), x)
>>> bool(slope[0].abs().sum() > 0)
True

It is attention that looks one step back, and the memory that remembers:

>>> query, memory = torch.randn(2, 15), torch.randn(7, 2, 15)
>>> before = attn.eval()(query=query, key=memory, value=memory)
>>> memory[:-1] += 1.0
>>> after = attn(query=query, key=memory, value=memory)
>>> torch.allclose(before, after, atol=1e-6)
True

**The price.** A transformer trains on all positions of a text at once, since none waits for another.
Here step $t$ cannot begin before step $t - 1$ has ended. Training takes as many steps as the text
has positions, each of them small. Only writing text costs no more than before; it goes step by
step in any case. And then the loop even saves: with keys and values
[shared by all layers](labml_nn.transformers.feedback.transformer.FeedbackTransformerKV), there is
one memory to keep instead of one for each layer.

Since training is slow, one would like to begin with short texts and go on to longer ones. Nothing
here is tied to a length: the model above, made for no length in particular, takes any.

>>> with torch.no_grad():
...     [len(model(torch.randn(seq_len, 1, 15))) for seq_len in (3, 30, 600)]
[3, 30, 600]

**Where to go from here.**

1. [Attention to a memory](attention.html): one query, all memories, and how far away they are.
2. [Step by step](transformer.html): the loop, its two models, and a memory that grows without being
   copied at every step.
3. [A stack that shares its memory](stack.html) is a lesson in autograd: a custom function that
   seems right, what wrong gradient it gives, and how to write it.
"""

from labml_nn.transformers.feedback.attention import FeedbackAttention
from labml_nn.transformers.feedback.stack import Stack, StackFunction
from labml_nn.transformers.feedback.transformer import (
    FeedbackTransformer,
    FeedbackTransformerKV,
    FeedbackTransformerLayer,
)

__all__ = [
    "FeedbackAttention",
    "FeedbackTransformer",
    "FeedbackTransformerKV",
    "FeedbackTransformerLayer",
    "Stack",
    "StackFunction",
]
