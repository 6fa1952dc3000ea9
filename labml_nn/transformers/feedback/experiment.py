r"""
---
title: A Feedback Transformer that writes
summary: One memory that every layer reads, trained on sequences that grow.
papers:
  - title: Addressing Some Limitations of Transformers with Feedback Memory
    authors: Fan et al.
    year: 2020
    url: https://arxiv.org/abs/2002.09402
---
# A Feedback Transformer that writes

The [Feedback Transformer](index.html) remembers, for each step, a mixture of what all its layers
made of it, and every layer reads that memory. So the lowest layer at this character has what the
highest thought of the last one.

The price is time. A step needs the memory of the step before, and training can no longer do all
positions at once: it walks along the sequence, as a recurrent network does.

That makes short sequences attractive at the start, when there is nothing yet to be remembered over
long ones. The run begins with sequences of 16 characters and lets them grow: cheap steps while
the model learns spelling, the full length when it is ready for more.

    python -m labml_nn train feedback --steps 300

## A run

These are the settings, the curve and the text of one run. The files of it lie in the folder `run`
beside this page, and the examples read them.

>>> from labml_nn.experiments.recorded import recorded
>>> run = recorded(__name__)
>>> for name in ("d_model", "heads", "n_layers", "first_seq_len", "grown_at", "seq_len", "steps"):
...     print(name, "=", run.configuration[name])
d_model = 128
heads = 4
n_layers = 3
first_seq_len = 16
grown_at = 400
seq_len = 128
steps = 800

![The loss over the steps of the run: on the training text it falls quickly at first, then slowly;
on the validation text it ends below the level of the trigram model](run/loss.svg)

On text that it has not read, it needs so many nats for a character, and the
[trigram model](../../data/trigram.html), which has counted the same training text, so many:

>>> round(run.result["valid_loss"], 3), round(run.result["trigram_loss"], 3)
(1.379, 1.787)

This is how it writes, begun with *The*:

>>> print(run.excerpt())
The starces fillting a not a not the local is method in the numeric to the bytes all evaluates that object.  It
   converted for the functions detail apper of the value for implementation.
Multing "stry" can throuse contables.
The subclass for using the class and as is a the result patterns a but num

With short sequences at the start and 800 steps, this run read 1.3 million characters. The
[Transformer](../basic/autoregressive_experiment.html), with one layer more, had read 1.2 million at
its step 600, with a good part of its learning rate left, and needed 1.536. So each character
taught this model more. Each also took it about three times as long.
"""

from dataclasses import dataclass

from torch import nn

from labml_nn.experiments.configuration import Configuration
from labml_nn.transformers.feed_forward import FeedForward
from labml_nn.transformers.feedback import (
    FeedbackAttention,
    FeedbackTransformerKV,
    FeedbackTransformerLayer,
)
from labml_nn.transformers.models import AutoregressiveModel, Embeddings, Generator


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
    n_layers: int = 3

    # The length of the sequences at the first step.
    first_seq_len: int = 16

    # The step at which they have reached their full length.
    grown_at: int = 400

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.first_seq_len <= self.seq_len:
            raise ValueError(
                f"first_seq_len = {self.first_seq_len} must be at least 1 "
                f"and at most seq_len = {self.seq_len}"
            )
        if self.grown_at < 1:
            raise ValueError(f"grown_at = {self.grown_at} must be at least 1")

    def seq_len_at(self, step: int) -> int:
        r"""
        ### A length that grows
        """
        if step >= self.grown_at:
            return self.seq_len
        return self.first_seq_len + (self.seq_len - self.first_seq_len) * step // self.grown_at

    def model(self, n_tokens: int) -> nn.Module:
        r"""
        ### The model

        At each place it has a score for every character that may come next:

        >>> import torch
        >>> model = Experiment(d_model=24, d_ff=96, heads=3, n_layers=2).model(n_tokens=50)
        >>> model(torch.randint(50, (7, 5))).shape
        torch.Size([7, 5, 50])
        """
        attention = FeedbackAttention(
            self.heads, self.d_model, self.dropout, is_kv_precomputed=True
        )
        layer = FeedbackTransformerLayer(
            d_model=self.d_model,
            attn=attention,
            feed_forward=FeedForward(self.d_model, self.d_ff, self.dropout),
            dropout_prob=self.dropout,
        )
        return AutoregressiveModel(
            Embeddings(self.d_model, n_tokens),
            FeedbackTransformerKV(layer, self.n_layers, self.d_model, self.heads),
            Generator(n_tokens, self.d_model),
        )
