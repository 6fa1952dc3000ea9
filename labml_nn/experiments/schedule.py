r"""
---
title: The learning rate
summary: A few careful steps, then full pace, then slower and slower to a stop.
papers:
  - title: Attention Is All You Need
    authors: Vaswani et al.
    year: 2017
    url: https://arxiv.org/abs/1706.03762
  - title: "SGDR: Stochastic Gradient Descent with Warm Restarts"
    authors: Loshchilov, Hutter
    year: 2017
    url: https://arxiv.org/abs/1608.03983
  - title: On the Variance of the Adaptive Learning Rate and Beyond
    authors: Liu et al.
    year: 2020
    url: https://arxiv.org/abs/1908.03265
symbols:
  t: step
  T: steps
  W: warmup_steps
  \eta: peak
---
# The learning rate

How far should a step go? Far enough to get somewhere, and not so far that it leaps over what it
looks for. The answer changes on the way, so the learning rate is a function of the step $t$.

**At the beginning, small.** Adam divides each gradient by its own running size. At the first
step there is only one gradient to take the size of, so it is divided by itself. What is left is
its sign: every weight moves by the whole learning rate, whether its gradient was large or next
to nothing.

>>> import torch
>>> weights = torch.zeros(3, requires_grad=True)
>>> adam = torch.optim.Adam([weights], lr=0.01)
>>> weights.grad = torch.tensor([1000.0, 1.0, -0.001])
>>> adam.step()
>>> [round(w, 4) for w in weights.tolist()]
[-0.01, -0.01, 0.01]

A size known from a handful of gradients is a poor estimate: its variance is largest in the
first steps (Liu et al. 2020). The cure is older than the explanation. Vaswani et al. 2017 raise
the learning rate in a straight line from almost nothing (section 5.3, equation 3): *warm-up*.

**At the end, small again.** Each batch pulls in a direction of its own. With steps of full size
the weights keep being thrown about the valley; with shrinking steps they come to rest in it.
How to shrink is a matter of taste, and half a cosine has proved a good one: flat at first,
steep in the middle, flat at the end (Loshchilov and Hutter 2017; their warm *restarts* are left
out).

With a highest rate $\eta$, $W$ steps of warm-up and $T$ steps in all:

$$
\eta_t = \eta \cdot
\begin{cases}
\dfrac{t + 1}{W} & t < W \\[2ex]
\dfrac12 \left(1 + \cos \pi \dfrac{t - W}{T - W}\right) & t \ge W
\end{cases}
$$
"""

import math


def learning_rate(step: int, *, steps: int, peak: float, warmup_steps: int) -> float:
    r"""
    ## $\eta_t$

    Steps count from 0. The rate depends on the step and on nothing that happened before: a run
    that continues after a break needs no memory of its schedule.

    >>> def rates(warmup_steps):
    ...     settings = {"steps": 8, "peak": 1.0, "warmup_steps": warmup_steps}
    ...     return [round(learning_rate(step, **settings), 2) for step in range(8)]
    >>> rates(warmup_steps=4)
    [0.25, 0.5, 0.75, 1.0, 1.0, 0.85, 0.5, 0.15]

    Both ends of the line are traps. Written as $t / W$ it begins with a rate of 0, and the
    first batch teaches nothing. And someone will ask for no warm-up:

    >>> step, warmup_steps = 0, 0
    >>> min(1.0, step / warmup_steps)
    Traceback (most recent call last):
    ZeroDivisionError: division by zero

    With the line above only asked for while $t < W$, no warm-up is half a cosine from the
    start:

    >>> rates(warmup_steps=0)
    [1.0, 0.96, 0.85, 0.69, 0.5, 0.31, 0.15, 0.04]

    The cosine ends for the same reason above 0: the last step, $t = T - 1$, still moves.
    """
    if step < warmup_steps:
        return peak * (step + 1) / warmup_steps
    # Here $W \le t < T$, so there is no division by zero. A run with $W \ge T$ is all warm-up,
    # and never comes here.
    progress = (step - warmup_steps) / (steps - warmup_steps)
    return peak * (1 + math.cos(math.pi * progress)) / 2
