r"""
---
title: Evaluation
summary: Every validation character, in order, once; and the model left just as it was found.
symbols:
  L: loss
  n: count
  x_t: y
  x_{<t}: x
---
# Evaluation

How well does the model guess text that it has not learned from? The measure is the *cross
entropy*: the negative logarithm of the probability that it gave to the character that came, on
average over the characters $x_1, \dots, x_n$:

$$L = -\frac1n \sum_{t=1}^{n} \ln p(x_t \mid x_{<t})$$

With the natural logarithm the unit is *nats*; divided by $\ln 2$ it is bits per character. A
model that knows nothing and shares its belief equally over 100 characters has $\ln 100 = 4.6$
nats. The [trigram model](../data/trigram.html) is the first real opponent.

Three traps lie here.

**Other characters each time.** Some loops take a few random pieces of the validation text. Then
the curve moves because the pieces did, and two runs that differ by less than that noise cannot
be told apart. Text is uneven:

>>> import torch
>>> easy, hard = torch.full((500,), 0.5), torch.full((500,), 3.5)
>>> losses = torch.cat([easy, hard])  # the loss at each character of a validation text
>>> measured = [losses[start : start + 20].mean().item() for start in (120, 730, 490)]
>>> [round(loss, 2) for loss in measured]
[0.5, 3.5, 2.0]

The model was the same, three times. So all characters are scored, in the same windows each
time.

**The average of averages.** The last window is shorter than the others. If each window has one
vote, its characters count for more than they should. So losses are added up, and divided once.

**The wrong mode.** Dropout must be off here, and on again afterwards. A section below sees to
that.
"""

import math
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def bits(nats: float) -> float:
    r"""
    ## From nats to bits

    >>> round(bits(4.605), 2)
    6.64
    """
    return nats / math.log(2)


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    r"""
    ## Without dropout, without gradients, without a trace

    To end with `model.train()` is the usual way, and the wrong one. Whoever had frozen a part
    of the model, or called from evaluation mode, finds it changed:

    >>> model = nn.Sequential(nn.Dropout(0.1), nn.Linear(3, 5), nn.Dropout(0.2))
    >>> _ = model[2].eval()
    >>> _ = model.eval()
    >>> _ = model.train()
    >>> [part.training for part in model]
    [True, True, True]

    Each module has a mode of its own, so each is remembered:

    >>> _ = model[2].eval()
    >>> with evaluating(model):
    ...     print([part.training for part in model])
    [False, False, False]
    >>> [part.training for part in model]
    [True, True, False]

    No graph is recorded meanwhile. Without that, each result would hold on to all activations
    that it came from.

    >>> with evaluating(model):
    ...     model(torch.ones(2, 3)).requires_grad
    False
    """
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for module, training in modes:
            module.training = training


def cross_entropy(logits: Tensor, y: Tensor, reduction: str = "mean") -> Tensor:
    r"""
    ## The loss

    * `logits: [seq_len, batch_size, n_tokens]`
    * `y: [seq_len, batch_size]`
    * `return: []`, the mean over all characters, or their sum

    The logarithm is taken in float32, whatever the model computes in: bfloat16 has about three
    digits, and a probability of 0.999 would be 1.

    >>> logits = torch.randn(7, 2, 5, dtype=torch.bfloat16)
    >>> cross_entropy(logits, torch.zeros(7, 2, dtype=torch.int64)).dtype
    torch.float32
    """
    return F.cross_entropy(logits.flatten(0, -2).float(), y.flatten(), reduction=reduction)


def autocast(device: torch.device, precision: str) -> AbstractContextManager:
    r"""
    ## Half the bits where it does no harm

    Under *autocast* the weights stay in float32, and the large products are computed in
    bfloat16. That has the range of float32 with fewer digits, so no loss has to be scaled up to
    keep small gradients from vanishing, as it is with float16
    ([Kalamkar et al. 2019](https://arxiv.org/abs/1905.12322)).

    >>> linear, x = nn.Linear(3, 5), torch.ones(2, 3)
    >>> with autocast(torch.device("cpu"), "bfloat16"):
    ...     linear(x).dtype
    torch.bfloat16
    >>> linear.weight.dtype
    torch.float32
    """
    return torch.autocast(device.type, torch.bfloat16, enabled=precision == "bfloat16")


def validation_loss(
    model: nn.Module,
    windows: Iterable[tuple[Tensor, Tensor]],
    device: torch.device,
    precision: str = "float32",
) -> float:
    r"""
    ## All of it, added up, divided once

    >>> model = nn.Embedding(5, 5)
    >>> x, y = torch.zeros(7, 2, dtype=torch.int64), torch.ones(7, 2, dtype=torch.int64)
    >>> windows = [(x, y), (x[:3], y[:3])]
    >>> loss = validation_loss(model, windows, torch.device("cpu"))
    >>> expected = -model.weight[0].log_softmax(dim=-1)[1].item()
    >>> abs(loss - expected) < 1e-5
    True
    """
    total, count = 0.0, 0
    with evaluating(model), autocast(device, precision):
        # * `x: [seq_len, batch_size]`
        # * `y: [seq_len, batch_size]`
        for x, y in windows:
            # `loss: []`
            loss = cross_entropy(model(x.to(device)), y.to(device), reduction="sum")
            total += loss.item()
            count += y.numel()
    if count == 0:
        raise ValueError("there are 0 validation characters, and at least 1 is needed")
    return total / count
