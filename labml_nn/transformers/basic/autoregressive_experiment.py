r"""
---
title: A Transformer that writes
summary: The stack of 2017, trained on Python's own manual. What it learns, and how far it gets.
papers:
  - title: Attention Is All You Need
    authors: Vaswani et al.
    year: 2017
    url: https://arxiv.org/abs/1706.03762
---
# A Transformer that writes

The task could not be simpler to state: here are some characters, which one comes next? To do it
well takes everything. In `for i in ra` spelling is enough. After `def __len__(sel` one must have
seen what methods begin with. Whether a bracket is still open may have been decided a hundred
characters ago, and this is where [attention](../mha.html) earns its keep.

The model is the [stack](../models.html) and nothing else. Characters become vectors, marks of
their places are added, and a few layers look around and think. No position sees a later one, so
each of the 128 positions of a sequence is an exercise of its own, and one pass corrects them all.

Try it:

    python -m labml_nn train basic --steps 300
    python -m labml_nn sample runs/basic --prompt "The list "

## A run

These are the settings, the curve and the text of one run. The files of it lie in the folder `run`
beside this page, and the examples read them.

>>> from labml_nn.experiments.recorded import recorded
>>> run = recorded(__name__)
>>> for name in ("d_model", "heads", "n_layers", "seq_len", "batch_size", "steps"):
...     print(name, "=", run.configuration[name])
d_model = 128
heads = 4
n_layers = 4
seq_len = 128
batch_size = 16
steps = 1500

![The loss over the steps of the run: on the training text it falls quickly at first, then slowly;
on the validation text it ends below the level of the trigram model](run/loss.svg)

On text that it has not read, it needs so many nats for a character, and the
[trigram model](../../data/trigram.html), which has counted the same training text, so many:

>>> round(run.result["valid_loss"], 3), round(run.result["trigram_loss"], 3)
(1.326, 1.787)

This is how it writes, begun with *The*:

>>> print(run.excerpt())
The startement the same or a not target is them of
     from the length "Boole", and evaluates that the context of class be of the
   should with the class of the value file assignment for the Numeric
   "is" the instance constide used to "string" is the same enther as
   subparated as numbers are const

The words are words, mostly. Sentences begin like sentences of a manual and lose their thread after
a line: a guess at the next character needs no plan.

## The same text, four ways

The other models of this chapter were trained on the same text by the same loop. Here are all the
runs: how many numbers each learned, how many million characters it read, and how many nats it
needs for a character afterwards.

>>> for name in ("basic.autoregressive_experiment", "aft.experiment", "feedback.experiment",
...              "fast_weights.experiment"):
...     result = recorded(f"labml_nn.transformers.{name}").result
...     read, loss = result["characters"] / 1e6, result["valid_loss"]
...     print(f"{name.partition('.')[0]:<13}{result['parameters']:>9,}{read:>6.1f}{loss:>7.3f}")
basic          820,072   3.1  1.326
aft            852,328   2.0  1.424
feedback       758,252   1.3  1.379
fast_weights   820,584   3.1  1.303

This is no ranking. The runs are of different length, nobody has looked for the best settings of
each, and a difference of 0.02 may be one of seeds. It does show that all four learn, and that
attention is one way among others.
"""

from dataclasses import dataclass

from torch import nn

from labml_nn.experiments.configuration import Configuration
from labml_nn.transformers.feed_forward import FeedForward
from labml_nn.transformers.mha import MultiHeadAttention
from labml_nn.transformers.models import (
    AutoregressiveModel,
    EmbeddingsWithPositionalEncoding,
    Encoder,
    Generator,
    TransformerLayer,
)


@dataclass(frozen=True, kw_only=True)
class Experiment(Configuration):
    r"""
    ## The settings

    Those of [every experiment](labml_nn.experiments.configuration.Configuration), and these:
    """

    # The width of the vectors.
    d_model: int = 128

    # Heads of attention.
    heads: int = 4

    # The width inside the feed-forward network.
    d_ff: int = 512

    # Layers.
    n_layers: int = 4

    def model(self, n_tokens: int) -> nn.Module:
        r"""
        ### The model

        At each place it has a score for every character that may come next:

        >>> import torch
        >>> model = Experiment(d_model=24, d_ff=96, heads=3, n_layers=2).model(n_tokens=50)
        >>> model(torch.randint(50, (7, 5))).shape
        torch.Size([7, 5, 50])

        The marks of the places are sines and cosines, and there are 5,000 of them. So nothing
        keeps the model from writing past the length of its training, except that it cannot. In
        training no character ever stood at place 129, and what that mark means it has not learned.
        The model of the run above, allowed to go on, began to babble just there:

            … that the context of class be of they thalllune derousthe he osthathexex igin ithereen

        Hence `max_len`: past it, [sampling](labml_nn.experiments.sampling.sample) begins anew at
        each character with the last 128.
        """
        layer = TransformerLayer(
            d_model=self.d_model,
            self_attn=MultiHeadAttention(self.heads, self.d_model, self.dropout),
            feed_forward=FeedForward(self.d_model, self.d_ff, self.dropout),
            dropout_prob=self.dropout,
        )
        return AutoregressiveModel(
            EmbeddingsWithPositionalEncoding(self.d_model, n_tokens),
            Encoder(layer, self.n_layers, is_causal=True),
            Generator(n_tokens, self.d_model),
            max_len=self.seq_len,
        )
