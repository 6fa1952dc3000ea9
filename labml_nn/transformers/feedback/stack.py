r"""
---
title: A stack that shares its memory
summary: A lesson in autograd. How a custom function saves copies, and how it gives wrong gradients without a word.
papers:
  - title: Addressing Some Limitations of Transformers with Feedback Memory
    authors: Fan et al.
    year: 2020
    url: https://arxiv.org/abs/2002.09402
symbols:
  n: n
  a: a
  b: b
  r: [rows, self.rows, row, top]
  g: grad
---
# A stack that shares its memory

A [feedback transformer](index.html) adds a row to its memory at each step, and at each step it
looks at all rows so far. To join the new row to the old ones copies the old ones, again and again.

In memory that is a waste. Rows are only ever added. Set aside one large *buffer*; write row $n$
into it; hand out a view of the first $n + 1$ rows. Nothing is copied.

Autograd does not like it. Whoever used the first three rows has saved a view of the buffer for the
way back; a write into the fourth row then counts as a change of what was saved, and the backward
pass refuses:

>>> buffer, total = torch.zeros(4), 0.0
>>> for n in range(3):
...     x = torch.tensor(float(n + 1), requires_grad=True)
...     buffer[n] = x
...     total = total + buffer[: n + 1].square().sum()
>>> total.backward()  # doctest: +ELLIPSIS
Traceback (most recent call last):
    ...
RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation...

It does not know that those three rows are as they were. We do. Torch lets us say so, by a
*function of our own*: a forward pass that autograd does not look into, and a backward pass that we
answer for. That is how a fast version of this stack was first written for PyTorch. The way there
has a deep hole beside it, so look into it first.

## The wrong way

How do gradients come back? Row $n$ is in every view from the $n$-th on, so its gradient is the sum
of what all these views get. Here is the obvious way to add them up. Beside the buffer of rows keep a
buffer of gradients. Each view adds its own to that buffer in place. Gradients arrive in reverse
order, so by the time that the view with row $n$ on top is asked, all later ones have added theirs,
and the sum in row $n$ is complete:

>>> class InPlace(torch.autograd.Function):
...     @staticmethod
...     def forward(ctx, top, buffer, sums, n):
...         buffer.data[n] = top.data
...         ctx.sums, ctx.n = sums, n
...         return buffer.data[: n + 1]
...     @staticmethod
...     def backward(ctx, grad):
...         ctx.sums[: ctx.n + 1] += grad
...         return ctx.sums[ctx.n].clone(), None, None, None

Let the values be $a = 2$ and $b = 3$, and let $a$ be looked at twice: once alone, and once together
with $b$.

>>> a, b = (torch.tensor(x, requires_grad=True) for x in (2.0, 3.0))
>>> buffer, sums = torch.zeros(2), torch.zeros(2)
>>> alone = InPlace.apply(a, buffer, sums, 0).sum()
>>> both = InPlace.apply(b, buffer, sums, 1).sum()
>>> torch.autograd.grad(alone + both, [a, b], retain_graph=True)
(tensor(2.), tensor(1.))

Right: $a$ counts twice, $b$ once. Ask a second time, and nothing has changed but the answer:

>>> torch.autograd.grad(alone + both, [a, b], retain_graph=True)
(tensor(4.), tensor(2.))

The sums of the first time were still there. No error, no warning, no NaN; a model trained this way
gets worse for no visible reason. Anything that runs a piece of the graph more than once, less than
once or in another order does the same: two losses with a backward pass each, two forward passes
before the first backward pass, a gradient that is wanted for a part only. Two losses:

>>> sums.zero_()
tensor([0., 0.])
>>> by_both, = torch.autograd.grad(both, b, retain_graph=True)
>>> by_alone, = torch.autograd.grad(alone, a, retain_graph=True)
>>> by_alone
tensor(2.)

Alone, $a$ has a gradient of 1. And a second sequence in the same buffer changes the rows of the
first behind its back:

>>> square = InPlace.apply(a, buffer, sums.zero_(), 0).square().sum()
>>> with torch.no_grad():
...     _ = InPlace.apply(torch.tensor(50.0), buffer, sums, 0)
>>> torch.autograd.grad(square, a)
(tensor(100.),)

The slope of $a^2$ at 2 is 4.

## What went wrong

A backward pass must be a *function*: its result may depend on the gradient that comes in and on what
forward has saved, and on nothing else. The one above keeps a diary. Autograd makes no promise to
run it once, nor in one order, nor at all.

The cure is to let the graph do the adding. Make each view from the view *before* it and the new
row. Then all the backward pass has to do is to cut its gradient in two. The first part goes to the
view before, where autograd adds it to whatever else that view got; the second goes to the new row.
[The function](labml_nn.transformers.feedback.stack.StackFunction) is four lines.

And one buffer serves one sequence. [The stack](labml_nn.transformers.feedback.stack.Stack) takes a
new one whenever it begins anew.
"""

from typing import Any

import torch
from torch import Tensor


class StackFunction(torch.autograd.Function):
    r"""
    ## One row on top

    With the rows so far $r_0, \dots, r_{n-1}$ and a new one $r_n$, the result is all of them. In
    value and in gradient it is `torch.cat`. Only the copying is gone.

    >>> buffer = torch.zeros(4, 2)
    >>> a, b = (torch.randn(2, requires_grad=True) for _ in range(2))
    >>> one = StackFunction.apply(None, a, buffer, 0)
    >>> two = StackFunction.apply(one, b, buffer, 1)
    >>> torch.equal(two, torch.stack([a, b]))
    True
    >>> total = one.sum() + two.sum()
    >>> for _ in range(2):
    ...     torch.autograd.grad(total, [a, b], retain_graph=True)
    (tensor([2., 2.]), tensor([1., 1.]))
    (tensor([2., 2.]), tensor([1., 1.]))
    """

    @staticmethod
    def forward(
        ctx: Any,
        below: Tensor | None,
        top: Tensor,
        buffer: Tensor,
        n: int,
    ) -> Tensor:
        r"""
        ### Write, and show

        * `below: [n, ...]`
        * `top: [...]`
        * `buffer: [capacity, ...]`
        * `return: [n + 1, ...]`

        `below` holds the first `n` rows, which are in the buffer already. Its value is not looked
        at; it is here so that the graph knows where the rows came from.
        """
        # Write past the counter by which autograd notices changes, and show a view that has a
        # counter of its own. That is a promise: nobody writes into a row twice.
        buffer.data[n] = top
        return buffer.data[: n + 1]

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor, None, None]:
        r"""
        ### Cut in two

        The gradient $g$ of all rows: the last one is that of the new row. Nothing is kept, and
        nothing but $g$ is asked. Both parts are made by operations that autograd knows, so there
        is a second derivative as well.

        * `grad: [n + 1, ...]`
        * `return: [n, ...]` for the rows below, or `return: [...]` for a new row alone
        """
        # `below: [n, ...]`
        below = grad[:-1] if ctx.needs_input_grad[0] else None
        return below, grad[-1], None, None


class Stack:
    r"""
    ## The stack

    Append a row, get all rows, again and again. Appending row 0 begins a new sequence.

    >>> stack = Stack(max_len=4)
    >>> rows = [torch.randn(2, 3, requires_grad=True) for _ in range(7)]
    >>> for n, row in enumerate(rows):
    ...     stack.append(n, row)
    >>> torch.equal(stack.get(), torch.stack(rows))
    True

    `max_len` is the room that is set aside at first. A longer sequence moves into a buffer of twice
    the size; views of the old one stay as they are.

    What tripped the wrong way is no matter here. Two forward passes before the first backward pass,
    with one without gradients in between:

    >>> a, b = (torch.tensor([x], requires_grad=True) for x in (2.0, 3.0))
    >>> stack.append(0, a)
    >>> first = stack.get().square().sum()
    >>> with torch.no_grad():
    ...     stack.append(0, torch.tensor([50.0]))
    >>> stack.append(0, b)
    >>> second = stack.get().square().sum()
    >>> torch.autograd.grad(first + second, [a, b])
    (tensor([4.]), tensor([6.]))
    """

    def __init__(self, max_len: int):
        if max_len < 1:
            raise ValueError(f"max_len = {max_len} must be at least 1")
        self.max_len = max_len
        self.buffer: Tensor | None = None
        self.rows: Tensor | None = None

    def append(self, n: int, value: Tensor) -> None:
        r"""
        ### Put row `n` on top

        There must be `n` rows. `n = 0` begins anew, and all rows of a sequence are alike.

        * `value: [...]`

        >>> stack = Stack(max_len=4)
        >>> stack.append(0, torch.zeros(2, 3))
        >>> stack.append(5, torch.zeros(2, 3))
        Traceback (most recent call last):
            ...
        ValueError: row 5 cannot be put on a stack of 1 rows
        """
        if n == 0:
            # Whoever holds the old buffer keeps it. No other sequence will write there.
            #
            # `self.buffer: [max_len, ...]`
            self.buffer = value.new_empty(self.max_len, *value.shape)
            self.rows = None
        length = 0 if self.rows is None else len(self.rows)
        if n != length or self.buffer is None:
            raise ValueError(f"row {n} cannot be put on a stack of {length} rows")
        if value.shape != self.buffer.shape[1:] or value.dtype != self.buffer.dtype:
            raise ValueError(
                f"row {n} has shape {list(value.shape)} and is {value.dtype}, but the rows below "
                f"have {list(self.buffer.shape[1:])} and are {self.buffer.dtype}"
            )
        if n == len(self.buffer):
            # * `larger: [2 * n, ...]`
            # * `self.buffer: [2 * n, ...]`
            larger = self.buffer.new_empty(2 * n, *value.shape)
            larger[:n] = self.buffer
            self.buffer = larger
        # `self.rows: [n + 1, ...]`
        self.rows = StackFunction.apply(self.rows, value, self.buffer, n)

    def get(self) -> Tensor:
        r"""
        ### All rows

        * `return: [n_rows, ...]`
        """
        if self.rows is None:
            raise ValueError("a stack of 0 rows has nothing to get")
        return self.rows

    def free(self) -> None:
        r"""
        ### Let go of the rows
        """
        self.buffer = self.rows = None

    def __deepcopy__(self, memo: dict[int, object]) -> "Stack":
        r"""
        ### A copy

        A tensor that has a history cannot be copied together with it. The copy has the values, and
        begins a history of its own.

        >>> import copy
        >>> stack = Stack(max_len=4)
        >>> stack.append(0, torch.ones(2, requires_grad=True))
        >>> copy.deepcopy(stack).get()
        tensor([[1., 1.]])
        """
        other = Stack(self.max_len)
        if self.buffer is not None and self.rows is not None:
            other.buffer = self.buffer.detach().clone()
            other.rows = other.buffer[: len(self.rows)]
        return other
