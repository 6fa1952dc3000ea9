r"""
---
title: The optimiser
summary: AdamW with decay for the matrices only, and a bound on how long a gradient may be.
papers:
  - title: "Adam: A Method for Stochastic Optimization"
    authors: Kingma, Ba
    year: 2015
    url: https://arxiv.org/abs/1412.6980
  - title: Decoupled Weight Decay Regularization
    authors: Loshchilov, Hutter
    year: 2019
    url: https://arxiv.org/abs/1711.05101
  - title: On the difficulty of training recurrent neural networks
    authors: Pascanu, Mikolov, Bengio
    year: 2013
    url: https://arxiv.org/abs/1211.5063
symbols:
  c: clip_norm
  \lambda: weight_decay
  \eta: learning_rate
  w: weights
---
# The optimiser

*Adam* (Kingma and Ba 2015) gives each weight a step of its own size: a running average of the
gradient, divided by the root of a running average of its square.

*Weight decay* pulls every weight towards zero a little at each step. So a weight that the data
do not ask for goes away, and a network with smaller weights is less sensitive to what it is
given.

The two do not mix as one would think. The old way to decay adds $\lambda w$ to the gradient of
the weight $w$. Adam then divides that, too, by the size of the gradient. A weight with large
gradients hardly decays, one with small gradients decays fast: the strength that was asked for
comes out nowhere. *AdamW* (Loshchilov and Hutter 2019) leaves the decay out of the gradient. It
takes $\eta \lambda w$ off the weight directly, with $\eta$ the [learning rate](schedule.html).

Three weights of 1, whose gradients are 100, 1 and 0.01, are decayed for a while. (The gradient
turns round at each step, so that apart from the decay the weights stay about where they are.)

>>> import torch
>>> def decayed(optimizer):
...     weights = torch.ones(3, requires_grad=True)
...     optimizer = optimizer([weights], lr=0.01, weight_decay=0.1, betas=(0.0, 0.999))
...     for step in range(200):
...         sign = 1 - 2 * (step % 2)
...         weights.grad = sign * torch.tensor([100.0, 1.0, 0.01])
...         optimizer.step()
...     return [round(w, 1) for w in weights.tolist()]
>>> decayed(torch.optim.Adam)
[1.0, 0.8, 0.0]
>>> decayed(torch.optim.AdamW)
[0.8, 0.8, 0.8]

What was asked for is $(1 - 0.01 \cdot 0.1)^{200} = 0.82$. AdamW gives it to all three, Adam
only to the one whose gradients happen to be of size 1.
"""

import torch
from torch import Tensor, nn


def make_optimizer(
    model: nn.Module, *, learning_rate: float, weight_decay: float
) -> torch.optim.AdamW:
    r"""
    ## What decays

    Matrices do: with smaller entries the output follows each change of the input less. These do
    not:

    * *Biases and the gains of norms.* A bias is the value for an input of zero, and no reason
      says that it should be small. A gain belongs at one rather than at zero.
    * *Embeddings.* A row is touched only when its character comes up. Decay comes at every
      step. So rows of rare characters shrink, and not because the data ask for it.

    Here character 4 never occurs. If embeddings decayed, its row would be gone before it is
    needed:

    >>> embedding = nn.Embedding(5, 3)
    >>> start = embedding.weight[4].norm()
    >>> optimizer = torch.optim.AdamW(embedding.parameters(), lr=0.1, weight_decay=0.1)
    >>> for _ in range(200):
    ...     embedding(torch.tensor([0, 1, 2, 3])).square().sum().backward()
    ...     optimizer.step()
    ...     optimizer.zero_grad()
    >>> bool(embedding.weight[4].norm() < 0.2 * start)
    True

    A model whose output layer shares its matrix with the embedding keeps it from decay, too.

    >>> model = nn.Sequential(nn.Embedding(7, 5), nn.LayerNorm(5), nn.Linear(5, 7))
    >>> groups = make_optimizer(model, learning_rate=0.001, weight_decay=0.01).param_groups
    >>> [(group["weight_decay"], [list(p.shape) for p in group["params"]]) for group in groups]
    [(0.01, [[7, 5]]), (0.0, [[7, 5], [5], [5], [7]])]
    """
    embeddings = {
        parameter
        for module in model.modules()
        if isinstance(module, nn.Embedding)
        for parameter in module.parameters()
    }
    decayed: list[nn.Parameter] = []
    kept: list[nn.Parameter] = []
    for parameter in model.parameters():
        is_matrix = parameter.dim() >= 2 and parameter not in embeddings
        (decayed if is_matrix else kept).append(parameter)
    groups = [
        {"params": decayed, "weight_decay": weight_decay},
        {"params": kept, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW([g for g in groups if g["params"]], lr=learning_rate)


def clip_gradient(model: nn.Module, clip_norm: float | None) -> Tensor:
    r"""
    ## A bound for the gradient

    The surface of the loss has cliffs. Close to one the gradient is enormous, and one step
    along it throws away what a thousand steps have found. Pascanu et al. 2013 keep its
    direction and bound its length by $c$ (their *norm clipping*). With $g$ for the gradient of
    all weights taken as a single vector:

    $$g \leftarrow g \cdot \min\!\left(1, \frac{c}{\lVert g \rVert}\right)$$

    The result is the length as it was before: a number worth watching.

    * `return: []`

    >>> layer = nn.Linear(2, 1, bias=False)
    >>> layer.weight.grad = torch.tensor([[30.0, 40.0]])
    >>> clip_gradient(layer, clip_norm=1.0)
    tensor(50.)
    >>> torch.allclose(layer.weight.grad, torch.tensor([[0.6, 0.8]]))
    True

    To bound each number alone is something else: it turns the gradient.

    >>> layer.weight.grad = torch.tensor([[30.0, 40.0]])
    >>> nn.utils.clip_grad_value_(layer.parameters(), 1.0)
    >>> layer.weight.grad
    tensor([[1., 1.]])

    Adam divides by the size of the gradient and so bounds its own steps. But one huge gradient
    stays in the average of the squares for a thousand steps, and makes all of them small.
    Clipping keeps it out.
    """
    bound = float("inf") if clip_norm is None else clip_norm
    return nn.utils.clip_grad_norm_(model.parameters(), bound)
