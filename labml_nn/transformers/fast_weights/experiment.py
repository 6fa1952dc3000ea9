r"""
---
title: A fast weight programmer that writes
summary: Layers that learn while they read, trained on Python's own manual.
papers:
  - title: Linear Transformers Are Secretly Fast Weight Programmers
    authors: Schlag et al.
    year: 2021
    url: https://arxiv.org/abs/2102.11174
---
# A fast weight programmer that writes

In this model two kinds of learning go on at once. The slow weights learn from the loss, as ever.
While a sequence is read, each head also [writes into a matrix](index.html), its fast weights, and
corrects what it finds there. After the sequence they are forgotten; how to write them is what the
slow weights have learned.

There are no marks of the places here. A set has no order, but this is no set: what is written first
may be overwritten later, so the order is in the matrix.

The past has a fixed size. However long the text, a head keeps one matrix, here of 32 by 64
numbers. So writing goes on for as long as one likes, and the thousandth character costs what the
second did.

    python -m labml_nn train fast_weights --steps 300

## A run

These are the settings, the curve and the text of one run. The files of it lie in the folder `run`
beside this page, and the examples read them.

>>> from labml_nn.experiments.recorded import recorded
>>> run = recorded(__name__)
>>> for name in ("d_model", "heads", "nu", "n_layers", "seq_len", "batch_size", "steps"):
...     print(name, "=", run.configuration[name])
d_model = 128
heads = 4
nu = 1
n_layers = 4
seq_len = 128
batch_size = 16
steps = 1500

![The loss over the steps of the run: on the training text it falls quickly at first, then slowly;
on the validation text it ends below the level of the trigram model](run/loss.svg)

On text that it has not read, it needs so many nats for a character, and the
[trigram model](../../data/trigram.html), which has counted the same training text, so many:

>>> round(run.result["valid_loss"], 3), round(run.result["trigram_loss"], 3)
(1.303, 1.787)

This is how it writes, begun with *The*:

>>> print(run.excerpt())
The statement method a normat least be repared for
   a first to the function precision is defined with the class access the field the first width as apphavior:
Except clauses length of the left
* a Python **errore* to the list command is cased by the clause in value is the created form deleted:

The sample is more than twice as long as any sequence of the training, and its end is as good as its
beginning. A Transformer with marks of places
[babbles there](labml_nn.transformers.basic.autoregressive_experiment.Experiment.model). Here no
place has a mark, so none is new.
"""

from dataclasses import dataclass

from torch import nn

from labml_nn.experiments.configuration import Configuration
from labml_nn.transformers.fast_weights import (
    DPFP,
    FastWeightsAttention,
    FastWeightsAttentionTransformer,
    FastWeightsAttentionTransformerLayer,
)
from labml_nn.transformers.feed_forward import FeedForward
from labml_nn.transformers.models import AutoregressiveModel, Embeddings, Generator


@dataclass(frozen=True, kw_only=True)
class Experiment(Configuration):
    r"""
    ## The settings

    Those of [every experiment](labml_nn.experiments.configuration.Configuration), and these:
    """

    # The width of the vectors.
    d_model: int = 128

    # Heads, each with a memory of its own.
    heads: int = 4

    # The width inside the feed-forward network.
    d_ff: int = 512

    # Layers.
    n_layers: int = 4

    # How many times wider than a key its features are, halved.
    nu: int = 1

    def model(self, n_tokens: int) -> nn.Module:
        r"""
        ### The model

        At each place it has a score for every character that may come next:

        >>> import torch
        >>> model = Experiment(d_model=24, d_ff=96, heads=3, n_layers=2).model(n_tokens=50)
        >>> model(torch.randint(50, (7, 5))).shape
        torch.Size([7, 5, 50])
        """
        layer = FastWeightsAttentionTransformerLayer(
            d_model=self.d_model,
            attn=FastWeightsAttention(self.heads, self.d_model, self.dropout, DPFP(self.nu)),
            feed_forward=FeedForward(self.d_model, self.d_ff, self.dropout),
            dropout_prob=self.dropout,
        )
        return AutoregressiveModel(
            Embeddings(self.d_model, n_tokens),
            FastWeightsAttentionTransformer(layer, self.n_layers),
            Generator(n_tokens, self.d_model),
        )
