r"""
---
title: Copies of a layer
summary: A deep network repeats one layer. How to repeat it without sharing its weights.
symbols:
  n: n
---
# Copies of a layer

A deep network is one layer, over and over. Somebody builds that layer once, with all its settings;
the model then wants $n$ of them, alike in everything but with weights of their own.
"""

import copy

from torch import nn


def clone_module_list(module: nn.Module, n: int) -> nn.ModuleList:
    r"""
    ## $n$ layers from one

    The short way is a trap. A list of $n$ times the same module is deep in computation and
    shallow in weights:

    >>> import torch
    >>> layer = nn.Linear(5, 3)
    >>> wrong = nn.ModuleList([layer] * 4)
    >>> sum(p.numel() for p in wrong.parameters())
    18

    Those are the $5 \cdot 3 + 3$ numbers of a single layer. Each copy must be a deep one:

    >>> layers = clone_module_list(layer, 4)
    >>> sum(p.numel() for p in layers.parameters())
    72

    The copies *begin* alike, down to the last weight:

    >>> torch.equal(layers[0].weight, layers[1].weight)
    True

    One above the other, that does no harm. Each gets another input, so each gets another gradient,
    and they part at the first step. Side by side it does. With the same input and their results
    added up, copies get the same gradient, at this step and at every other:

    >>> x = torch.randn(7, 5)
    >>> sum(layer(x) for layer in layers).square().sum().backward()
    >>> torch.equal(layers[0].weight.grad, layers[1].weight.grad)
    True

    Such twins never part, and four of them can do what one can. Where copies work side by side,
    give each its own beginning:

    >>> for layer in layers:
    ...     layer.reset_parameters()
    >>> torch.equal(layers[0].weight, layers[1].weight)
    False
    """
    if n < 0:
        raise ValueError(f"n = {n} copies of a module cannot be made")
    return nn.ModuleList([copy.deepcopy(module) for _ in range(n)])
