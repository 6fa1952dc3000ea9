r"""
---
title: Exponentials that stay in range
summary: A sum of exponentials overflows, or vanishes. Which number to take away first, and from which keys.
papers:
  - title: An Attention Free Transformer
    authors: Zhai et al.
    year: 2021
    url: https://arxiv.org/abs/2105.14103
  - title: Online normalizer calculation for softmax
    authors: Milakov and Gimelshein
    year: 2018
    url: https://arxiv.org/abs/1805.02867
symbols:
  K: key
  V: value
  w: bias
  A: x
  m: highest
  D: total
  N: numerator
  S: scores
---
# Exponentials that stay in range

[AFT](index.html) asks, for each position $t$ and each feature, for a weighted average of the
values $V_{t'}$. The weights come from the keys $K_{t'}$ and from a table $w$ of position
biases:

$$A_t = \frac{\sum_{t'} e^{K_{t'} + w_{tt'}}\, V_{t'}}{\sum_{t'} e^{K_{t'} + w_{tt'}}}$$

(Zhai et al. 2021, equation 2). Typed in as it stands, it breaks. `float32` ends near $e^{88}$:

>>> key, value = torch.tensor([90.0, 89.0]), torch.tensor([1.0, 3.0])
>>> (key.exp() * value).sum() / key.exp().sum()
tensor(nan)

The cure is old: multiply above and below by $e^{-m}$. The average stays, and with the highest
key for $m$ no exponential is greater than one.

>>> e = (key - key.max()).exp()
>>> (e * value).sum() / e.sum()
tensor(1.5379)

**Which highest key?** AFT is fast because $e^{K + w}$ is $e^{w} \cdot e^{K}$: the two sums become
two matrix products, with $e^{w}$ on the left. But there each key stands once, for all queries
alike. So it has to be *one* $m$ for all queries, the highest of all keys. Now let the queries be
causal: query $t$ sees $t' \le t$ only, a triangle of ones. One key of the future is enough:

>>> key = torch.tensor([[0.0], [1.0], [2.0], [200.0]])
>>> value = torch.tensor([[5.0], [6.0], [7.0], [8.0]])
>>> visible = torch.ones(4, 4).tril()
>>> e = (key - key.max()).exp()
>>> (visible @ (e * value)) / (visible @ e)
tensor([[nan],
        [nan],
        [nan],
        [8.]])

Query 0 was to copy value 0. Instead it found $e^{-200}$, which in `float32` is 0, and divided 0
by 0. Nobody showed it the fourth key, and yet that key has destroyed it. Such a leak is worse
than a crash. With a last key of 100 there is no NaN to warn us: $e^{-100}$ is among the very
last numbers of `float32`, and those have a digit or two.

The same happens without any future if $K$ and $w$ have their peaks at different places. Take
the highest key and the highest bias away, each on its own:

>>> key, bias = torch.tensor([200.0, 0.0, 0.0]), torch.tensor([0.0, 200.0, 0.0])
>>> highest = key.max() + bias.max()
>>> (key + bias - highest).exp()
tensor([0., 0., 0.])

The true maximum is 200, not 400, and of all three weights nothing is left.

This page has two ways to do it. [A scan over the
keys](labml_nn.transformers.aft.stable.RunningMaximum) is always right, and slow. [Two matrix
products](labml_nn.transformers.aft.stable.SharedMaximum) are fast, and [a
test](labml_nn.transformers.aft.stable.stays_in_range) says when they are right. [The next
page](blocks.html) makes the causal sum cheaper still.

**The axes here** are not those of the other pages. An average never mixes two features, nor two
items of a batch; all of them can lie side by side in the columns of one matrix. So a sequence is
`[groups, seq_len, columns]`. Columns of one group share a table $w$.
"""

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor


def average_by_formula(key: Tensor, value: Tensor, bias: Tensor) -> Tensor:
    r"""
    ## The equation, line by line

    * `key: [groups, seq_len_k, columns]`
    * `value: [groups, seq_len_k, columns]`
    * `bias: [groups, seq_len_q, seq_len_k]`
    * `return: [groups, seq_len_q, columns]`

    A hidden key is one whose bias is $-\infty$: $e^{-\infty}$ is nothing. A key hidden from all
    may be $-\infty$ itself. Who sees nothing gets zeros, not NaN, for the reason that stands
    under [A query that may see nothing](labml_nn.transformers.mha.masked_softmax).

    >>> key, value = torch.randn(1, 7, 5), torch.randn(1, 7, 5)
    >>> bias = torch.zeros(1, 3, 7)
    >>> bias[0, 1, 2:] = -torch.inf
    >>> bias[0, 2] = -torch.inf
    >>> x = average_by_formula(key, value, bias)
    >>> x[0, 2]
    tensor([0., 0., 0., 0., 0.])

    One weight for each query, each key *and each column*: this is a table with a third side,
    and the reason for the rest of this page.
    """
    # `scores: [groups, seq_len_q, seq_len_k, columns]`
    scores = bias.unsqueeze(-1) + key.unsqueeze(1)
    # Hidden scores become the lowest finite number. Beside a visible score that has the weight 0,
    # and among themselves they make no NaN.
    #
    # * `hidden: [groups, seq_len_q, seq_len_k, columns]`
    # * `weights: [groups, seq_len_q, seq_len_k, columns]`
    hidden = scores == -torch.inf
    scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
    weights = scores.softmax(dim=2).masked_fill(hidden, 0)
    # `return: [groups, seq_len_q, columns]`
    return (weights * value.unsqueeze(1)).sum(dim=2)


def average(key: Tensor, value: Tensor, bias: Tensor) -> Tensor:
    r"""
    ## The same, as fast as it can be right

    Two matrix products where they are safe, the scan where they are not.

    * `key: [groups, seq_len_k, columns]`
    * `value: [groups, seq_len_k, columns]`
    * `bias: [groups, seq_len_q, seq_len_k]`
    * `return: [groups, seq_len_q, columns]`

    >>> key, value = torch.randn(2, 7, 5), torch.randn(2, 7, 5)
    >>> bias = torch.randn(2, 3, 7)
    >>> exact = average_by_formula(key, value, bias)
    >>> torch.allclose(average(key, value, bias), exact, atol=1e-5)
    True

    The four keys from above, and their causal queries:

    >>> key = torch.tensor([[[0.0], [1.0], [2.0], [200.0]]])
    >>> value = torch.tensor([[[5.0], [6.0], [7.0], [8.0]]])
    >>> hidden = torch.ones(1, 4, 4).tril() == 0
    >>> bias = torch.zeros(1, 4, 4).masked_fill(hidden, -torch.inf)
    >>> average(key, value, bias)[0]
    tensor([[5.0000],
            [5.7311],
            [6.5752],
            [8.0000]])
    """
    # No queries, no keys or no columns: there is no maximum, and nothing to be fast about.
    if bias.numel() == 0 or key.numel() == 0:
        return average_by_formula(key, value, bias)
    form = SharedMaximum if stays_in_range(key, bias) else RunningMaximum
    return form.apply(key, value, bias)


def limit(dtype: torch.dtype) -> float:
    r"""
    ## How far below the maximum is still something

    A `float32` fades out below $e^{-87}$, and its precision is about $e^{-16}$. If the greatest
    term of a sum is at least $e^{-62}$, then whatever could change its last digit is still a
    proper number; and in the gradient, where we divide by the sum, there is as much room
    upwards. So we allow seven tenths of the range.

    >>> round(limit(torch.float32)), round(limit(torch.float64))
    (62, 497)
    """
    return 0.7 * math.log(torch.finfo(dtype).max)


@torch.no_grad()
def stays_in_range(key: Tensor, bias: Tensor) -> bool:
    r"""
    ## When is one maximum enough?

    * `key: [groups, seq_len_k, columns]`
    * `bias: [groups, seq_len_q, seq_len_k]`

    Fast means: all exponents relative to $\max_{t'} K_{t'} + \max_{t'} w_{tt'}$. The greatest
    exponent that a query really has may lie below that. How far? Suppose it sees key $a$. Its
    greatest exponent is at least $K_a + w_{ta}$, so the gap is at most

    $$\Big(\max_{t'} K_{t'} - K_a\Big) + \Big(\max_{t'} w_{tt'} - \min_{t'} w_{tt'}\Big)$$

    with the biases taken over what the query sees. The second bracket costs one look at the
    table. For the first we want a high key that *every* query sees. Without a mask, that is the
    highest of all, and the bracket is 0. With a causal mask it is the first key. With another
    mask there may be none, and we have to do with the lowest key.

    >>> key = torch.tensor([[[0.0], [1.0], [50.0]]])
    >>> bias = torch.zeros(1, 3, 3)
    >>> hidden = torch.ones(1, 3, 3).tril() == 0
    >>> causal = bias.masked_fill(hidden, -torch.inf)
    >>> stays_in_range(key, bias), stays_in_range(key, causal)
    (True, True)
    >>> stays_in_range(4 * key, bias), stays_in_range(4 * key, causal)
    (True, False)

    The answer depends on numbers, so a GPU has to be waited for, once a call.
    """
    # * `visible: [groups, seq_len_q, seq_len_k]`
    # * `blind: [groups, seq_len_q, 1]`
    # * `lowest_bias: [groups, seq_len_q, 1]`
    # * `spread: [groups, seq_len_q, 1]`
    visible = bias > -torch.inf
    blind = ~visible.any(dim=2, keepdim=True)
    lowest_bias = bias.masked_fill(~visible, torch.inf).amin(dim=2, keepdim=True)
    spread = (bias.amax(dim=2, keepdim=True) - lowest_bias).masked_fill(blind, 0)

    # `highest: [groups, 1, columns]`
    highest = key.amax(dim=1, keepdim=True)
    # * `seen_by_all: [groups, seq_len_k, 1]`
    # * `anchor: [groups, 1, columns]`
    # * `room: []`
    seen_by_all = (visible | blind).all(dim=1).unsqueeze(-1)
    anchor = key.masked_fill(~seen_by_all, -torch.inf).amax(dim=1, keepdim=True)
    room = limit(key.dtype) - spread.max()
    if bool((highest - anchor).max() <= room):
        return True
    # Nothing that all see. A key of $-\infty$ is one that nobody sees, and does not count.
    #
    # * `lowest: [groups, 1, columns]`
    # * `gap: [groups, 1, columns]`
    lowest = key.masked_fill(key == -torch.inf, torch.inf).amin(dim=1, keepdim=True)
    gap = (highest - torch.maximum(anchor, lowest)).masked_fill(highest == -torch.inf, 0)
    return bool(gap.max() <= room)


def finite(highest: Tensor) -> Tensor:
    r"""
    The maximum over nothing is $-\infty$. To take that away from $-\infty$ gives NaN; to take
    away 0 leaves $e^{-\infty} = 0$.

    * `highest: [groups, seq_len_q or 1, columns or 1]`
    * `return: [groups, seq_len_q or 1, columns or 1]`

    >>> finite(torch.tensor([[[3.0, -torch.inf]]]))
    tensor([[[3., 0.]]])
    """
    return highest.masked_fill(highest == -torch.inf, 0)


def without_autocast(backward: Callable[..., Any]) -> Callable[..., Any]:
    r"""
    ## The precision of the way back

    Whoever asks for gradients inside `torch.autocast` has the products of a backward pass made
    in half precision, even if those of the forward pass were not. Autocast must be told twice.

    >>> @without_autocast
    ... def product(ctx, grad):
    ...     return (grad @ grad).dtype
    >>> with torch.autocast("cpu", dtype=torch.bfloat16):
    ...     product(None, torch.randn(3, 3))
    torch.float32
    """

    @functools.wraps(backward)
    def in_full(ctx: Any, *grads: Tensor) -> Any:
        with torch.autocast(grads[0].device.type, enabled=False):
            return backward(ctx, *grads)

    return in_full


class TwiceDifferentiable(torch.autograd.Function):
    r"""
    ## A gradient by hand, and the gradient of the gradient

    Both forms below write their own backward pass, since what autograd would keep for it is the
    very table that we avoid. Such a pass is plain arithmetic, and autograd cannot look behind
    it. So when it is recording, we go back through the formula instead.

    >>> key, value = torch.randn(2, 7, 5, requires_grad=True), torch.randn(2, 7, 5)
    >>> bias = torch.randn(2, 3, 7)
    >>> slopes = []
    >>> for form in (average_by_formula, SharedMaximum.apply, RunningMaximum.apply):
    ...     loss = form(key, value, bias).square().sum()
    ...     (slope,) = torch.autograd.grad(loss, key, create_graph=True)
    ...     slopes += torch.autograd.grad(slope.square().sum(), key)
    >>> [torch.allclose(slope, slopes[0], atol=1e-4) for slope in slopes]
    [True, True, True]
    """

    # What the pass back would have been, had it been left to autograd.
    formula: Callable[..., Tensor] = staticmethod(average_by_formula)

    @classmethod
    def recorded(
        cls, ctx: Any, grad: Tensor, inputs: tuple[Tensor, ...]
    ) -> Iterator[Tensor | None]:
        r"""
        * `grad: [groups, seq_len_q, columns]`
        * `inputs: [groups, seq_len_k, columns]`, the key; the other inputs follow it
        """
        # `x: [groups, seq_len_q, columns]`
        with torch.enable_grad():
            x = cls.formula(*inputs)
        needed = ctx.needs_input_grad[: len(inputs)]
        wanted = [t for t, need in zip(inputs, needed, strict=True) if need]
        slopes = iter(torch.autograd.grad(x, wanted, grad, create_graph=True))
        return (next(slopes) if need else None for need in needed)


class SharedMaximum(TwiceDifferentiable):
    r"""
    ## Two matrix products

    $$A_t = \frac{\sum_{t'} e^{w_{tt'}} \big( e^{K_{t'}} V_{t'} \big)}
    {\sum_{t'} e^{w_{tt'}} \big( e^{K_{t'}} \big)}$$

    Above and below, a matrix times a matrix. Nothing here is as large as queries times keys
    times columns.

    >>> key, value = torch.randn(2, 7, 5), torch.randn(2, 7, 5)
    >>> bias = torch.randn(2, 3, 7)
    >>> x = SharedMaximum.apply(key, value, bias)
    >>> torch.allclose(x, average_by_formula(key, value, bias), atol=1e-5)
    True
    """

    @staticmethod
    def forward(ctx: Any, key: Tensor, value: Tensor, bias: Tensor) -> Tensor:
        r"""
        * `key: [groups, seq_len_k, columns]`
        * `value: [groups, seq_len_k, columns]`
        * `bias: [groups, seq_len_q, seq_len_k]`
        * `return: [groups, seq_len_q, columns]`
        """
        # * `exp_key: [groups, seq_len_k, columns]`
        # * `exp_bias: [groups, seq_len_q, seq_len_k]`
        exp_key = (key - finite(key.amax(dim=1, keepdim=True))).exp_()
        exp_bias = (bias - finite(bias.amax(dim=2, keepdim=True))).exp_()
        # `total: [groups, seq_len_q, columns]`
        total = torch.bmm(exp_bias, exp_key)
        # Only a query that sees nothing has a total of 0. It divides 0 by 1.
        #
        # `x: [groups, seq_len_q, columns]`
        total.masked_fill_(total == 0, 1)
        x = torch.bmm(exp_bias, exp_key * value).div_(total)
        ctx.save_for_backward(key, value, bias, exp_key, exp_bias, total, x)
        return x

    @staticmethod
    @without_autocast
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        r"""
        ### The way back

        Write $G_t$ for the gradient that arrives at $A_t$, and $D_t$ for the sum below the bar.
        A weight $e^{K_{t'} + w_{tt'}} / D_t$ takes $G_t$ to $V_{t'}$, and $G_t (V_{t'} - A_t)$
        to its exponent. Summed over the queries:

        $$
        \begin{aligned}
        \partial V_{t'} &= e^{K_{t'}} \sum_t e^{w_{tt'}} \frac{G_t}{D_t} \\
        \partial K_{t'} &= V_{t'}\, \partial V_{t'}
            - e^{K_{t'}} \sum_t e^{w_{tt'}} \frac{G_t A_t}{D_t}
        \end{aligned}
        $$

        Two matrix products again, with $e^{w}$ turned over. The bias gets the same terms,
        summed over the columns instead of the queries.

        * `grads: [groups, seq_len_q, columns]`
        * `return: [groups, seq_len_k, columns]`, of which the gradient of the key is the first

        >>> key, value = torch.randn(2, 7, 5, requires_grad=True), torch.randn(2, 7, 5)
        >>> bias = torch.randn(2, 3, 7, requires_grad=True)
        >>> slopes = [
        ...     torch.autograd.grad(form(key, value, bias).square().sum(), [key, bias])
        ...     for form in (average_by_formula, SharedMaximum.apply, RunningMaximum.apply)
        ... ]
        >>> [torch.allclose(of_key, slopes[0][0], atol=1e-5) for of_key, _ in slopes]
        [True, True, True]
        >>> [torch.allclose(of_bias, slopes[0][1], atol=1e-5) for _, of_bias in slopes]
        [True, True, True]
        """
        key, value, bias, exp_key, exp_bias, total, x = ctx.saved_tensors
        if torch.is_grad_enabled():
            return tuple(SharedMaximum.recorded(ctx, grads[0], (key, value, bias)))
        # * `up: [groups, seq_len_q, columns]`
        # * `down: [groups, seq_len_q, columns]`
        up = grads[0] / total
        down = up * x
        grad_bias = None
        # `grad_bias: [groups, seq_len_q, seq_len_k]`
        if ctx.needs_input_grad[2]:
            grad_bias = torch.bmm(up, (exp_key * value).mT)
            grad_bias.baddbmm_(down, exp_key.mT, alpha=-1).mul_(exp_bias)
        # * `to_up: [groups, seq_len_k, columns]`
        # * `to_down: [groups, seq_len_k, columns]`
        # * `grad_key: [groups, seq_len_k, columns]`
        to_up, to_down = torch.bmm(exp_bias.mT, up), torch.bmm(exp_bias.mT, down)
        grad_key = (value * to_up).sub_(to_down).mul_(exp_key)
        return grad_key, to_up.mul_(exp_key), grad_bias


class RunningMaximum(TwiceDifferentiable):
    r"""
    ## The scan that is always right

    Walk along the keys. Each query and each column carries three numbers of its own: the
    highest exponent so far, $m$; the sum of the values with their weights, $N$; the sum of the
    weights, $D$. Key $t'$ brings the exponent $S = K_{t'} + w_{tt'}$:

    $$
    \begin{aligned}
    m' &= \max(m, S) \\
    N' &= e^{m - m'} N + e^{S - m'} V_{t'} \\
    D' &= e^{m - m'} D + e^{S - m'}
    \end{aligned}
    $$

    It is the running softmax of Milakov and Gimelshein 2018. The maximum is that of the query
    itself and of what it has seen: no future, no other query, no peak of $w$ where $K$ has
    none. At the end $D \ge 1$, and $N / D$ is the average.

    >>> key = torch.tensor([[[0.0], [1.0], [1e4]]])
    >>> value = torch.tensor([[[5.0], [6.0], [7.0]]])
    >>> hidden = torch.ones(1, 3, 3).tril() == 0
    >>> bias = torch.zeros(1, 3, 3).masked_fill(hidden, -torch.inf)
    >>> RunningMaximum.apply(key, value, bias)[0]
    tensor([[5.0000],
            [5.7311],
            [7.0000]])

    The price: an exponential for each query, key and column, where the products needed one for
    each key and column and one for each pair.
    """

    @staticmethod
    def forward(ctx: Any, key: Tensor, value: Tensor, bias: Tensor) -> Tensor:
        r"""
        * `key: [groups, seq_len_k, columns]`
        * `value: [groups, seq_len_k, columns]`
        * `bias: [groups, seq_len_q, seq_len_k]`
        * `return: [groups, seq_len_q, columns]`
        """
        # Begin at the lowest finite number, and a hidden key, $-\infty$, never gets to be the
        # maximum. So $m - m'$ is never $\infty - \infty$.
        #
        # * `highest: [groups, seq_len_q, columns]`
        # * `numerator: [groups, seq_len_q, columns]`
        # * `total: [groups, seq_len_q, columns]`
        shape = (*bias.shape[:2], key.shape[2])
        highest = key.new_full(shape, torch.finfo(key.dtype).min)
        numerator, total = key.new_zeros(shape), key.new_zeros(shape)
        for j in range(key.shape[1]):
            # * `scores: [groups, seq_len_q, columns]`
            # * `new: [groups, seq_len_q, columns]`
            # * `weight: [groups, seq_len_q, columns]`
            scores = bias[:, :, j, None] + key[:, j, None]
            new = torch.maximum(highest, scores)
            rescale = (highest - new).exp_()
            weight = scores.sub_(new).exp_()
            total.mul_(rescale).add_(weight)
            numerator.mul_(rescale).addcmul_(weight, value[:, j, None])
            highest = new
        # `x: [groups, seq_len_q, columns]`
        total.masked_fill_(total == 0, 1)
        x = numerator.div_(total)
        ctx.save_for_backward(key, value, bias, highest, total, x)
        return x

    @staticmethod
    @without_autocast
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        r"""
        * `grads: [groups, seq_len_q, columns]`
        * `return: [groups, seq_len_k, columns]`, of which the gradient of the key is the first
        """
        key, value, bias, highest, total, x = ctx.saved_tensors
        if torch.is_grad_enabled():
            return tuple(RunningMaximum.recorded(ctx, grads[0], (key, value, bias)))
        grad_key, grad_value = torch.empty_like(key), torch.empty_like(value)
        grad_bias = torch.empty_like(bias)
        for j in range(key.shape[1]):
            # Now that all maxima and sums are known, each key can be looked at on its own.
            #
            # `weight: [groups, seq_len_q, columns]`
            weight = (bias[:, :, j, None] + key[:, j, None]).sub_(highest).exp_().div_(total)
            weight.mul_(grads[0])
            grad_value[:, j] = weight.sum(dim=1)
            weight.mul_(value[:, j, None] - x)
            grad_key[:, j] = weight.sum(dim=1)
            grad_bias[:, :, j] = weight.sum(dim=2)
        return grad_key, grad_value, grad_bias
