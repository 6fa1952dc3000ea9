r"""
---
title: The Transformer, trained
summary: Nothing new in the model. What is new is that it has read something.
order: [autoregressive_experiment]
---
# The Transformer, trained

The parts of the Transformer have a page each: [attention](../mha.html),
[feed-forward network](../feed_forward.html), [positions](../positional_encoding.html), and the
[stack](../models.html) that they make. Here they are
[put to work](autoregressive_experiment.html): one stack that sees no future learns to guess the
next character of a text.

It is also the measure for the other models of this chapter. They are trained on the same text, by
the same loop, and their pages show a curve of the same kind.

>>> from labml_nn.transformers.basic.autoregressive_experiment import Experiment
>>> model = Experiment(d_model=32, n_layers=2).model(n_tokens=50)
>>> sum(p.numel() for p in model.parameters()) > 50_000
True
"""
