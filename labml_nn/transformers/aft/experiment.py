r"""
---
title: An Attention Free Transformer that writes
summary: The stack of the Transformer, with AFT-local where attention was.
papers:
  - title: An Attention Free Transformer
    authors: Zhai et al.
    year: 2021
    url: https://arxiv.org/abs/2105.14103
---
# An Attention Free Transformer that writes

Take the [Transformer that writes](../basic/autoregressive_experiment.html) and put
[AFT-local](local.html) where attention was. Nothing else changes: the layer has the same way in
and the same way out.

What the layer can say does change. Attention asks *which* of the earlier characters matter now,
and the answer depends on the character that asks. In AFT a key is loud or quiet for everybody, and
a learned bias makes it louder or quieter with the place it is seen from. That bias reaches 32
places back. Farther keys are heard as well, but all in the same way.

For text this is no bad bargain. Most of what decides the next character stands close by, in the
same word.

The bias is learned for the places that training has seen, so this model has a longest sequence,
the `seq_len` of its training. To write more than that, it begins anew at each character with the
last 128.

    python -m labml_nn train aft --steps 300

## A run

These are the settings, the curve and the text of one run. The files of it lie in the folder `run`
beside this page, and the examples read them.

>>> from labml_nn.experiments.recorded import recorded
>>> run = recorded(__name__)
>>> for name in ("d_model", "window", "n_layers", "seq_len", "batch_size", "steps"):
...     print(name, "=", run.configuration[name])
d_model = 128
window = 32
n_layers = 4
seq_len = 128
batch_size = 16
steps = 1000

![The loss over the steps of the run: on the training text it falls quickly at first, then slowly;
on the validation text it ends below the level of the trigram model](run/loss.svg)

On text that it has not read, it needs so many nats for a character, and the
[trigram model](../../data/trigram.html), which has counted the same training text, so many:

>>> round(run.result["valid_loss"], 3), round(run.result["trigram_loss"], 3)
(1.424, 1.787)

This is how it writes, begun with *The*:

>>> print(run.excerpt())
The starces is the type, and alsotal
exceptions of a debugging execution in the result an form the will be
   the ackay whe or the sequence object.
    If the is value an sequence, attributes alto statements the or the
   breakpoint of a "string" in the scomped and as is a "B" result patted
   fleak sy

The run is shorter than that of the [Transformer](../basic/autoregressive_experiment.html). After
as many steps that one needed 1.379, with its learning rate still up. So it was ahead: a bias that
knows only places does not replace a question.
"""

from dataclasses import dataclass

from torch import nn

from labml_nn.experiments.configuration import Configuration
from labml_nn.transformers.aft import AFTLocal
from labml_nn.transformers.feed_forward import FeedForward
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

    # The width inside the feed-forward network.
    d_ff: int = 512

    # Layers.
    n_layers: int = 4

    # How far a learned position bias reaches.
    window: int = 32

    def model(self, n_tokens: int) -> nn.Module:
        r"""
        ### The model

        At each place it has a score for every character that may come next:

        >>> import torch
        >>> model = Experiment(seq_len=11, d_model=24, d_ff=96, n_layers=2, window=4).model(n_tokens=50)
        >>> model(torch.randint(50, (7, 5))).shape
        torch.Size([7, 5, 50])
        """
        layer = TransformerLayer(
            d_model=self.d_model,
            self_attn=AFTLocal(self.d_model, self.seq_len, self.window),
            feed_forward=FeedForward(self.d_model, self.d_ff, self.dropout),
            dropout_prob=self.dropout,
        )
        return AutoregressiveModel(
            EmbeddingsWithPositionalEncoding(self.d_model, n_tokens),
            Encoder(layer, self.n_layers, is_causal=True),
            Generator(n_tokens, self.d_model),
            max_len=self.seq_len,
        )
