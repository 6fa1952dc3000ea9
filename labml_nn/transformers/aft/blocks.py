r"""
---
title: The past in one key
summary: Old keys collapse into a single one. That makes the causal sum linear, block by block, and decoding constant.
papers:
  - title: An Attention Free Transformer
    authors: Zhai et al.
    year: 2021
    url: https://arxiv.org/abs/2105.14103
symbols:
  K: key
  V: value
  K_*: [one_key, past_key, old_key]
  V_*: [one_value, past_value, old_value]
  w: band
  s: window
  C: [BLOCK, block]
---
# The past in one key

In AFT-local, a position has biases for its neighbours only: $w_{tt'} = 0$ where
$|t - t'| \ge s$. Zero, not $-\infty$: far keys still count, all on the same footing. The window
is where the average *differs* from that footing, not where it ends.

Take a causal query. Behind its window lies the old past, with weights $e^{K_{t'}}$ that do not
depend on who asks. Then nobody needs the old keys one by one. Add up the weights, and take the
average of the values once:

$$
K_* = \log \sum_{t' \text{ old}} e^{K_{t'}}
\qquad
V_* = \sum_{t' \text{ old}} e^{K_{t'} - K_*}\, V_{t'}
$$

**One key with one value does what all the old ones did.** Its weight $e^{K_*}$ is the sum of
theirs, and $e^{K_*} V_*$ is the sum of their weighted values. Both sums of the average stay as
they were:

>>> key, value = torch.randn(2, 7, 5), torch.randn(2, 7, 5)
>>> whole = average(key, value, torch.zeros(2, 1, 7))
>>> old_key, old_value = absorb(key[:, :4], value[:, :4])
>>> fewer_keys = torch.cat([old_key, key[:, 4:]], dim=1)
>>> fewer_values = torch.cat([old_value, value[:, 4:]], dim=1)
>>> fewer = average(fewer_keys, fewer_values, torch.zeros(2, 1, 4))
>>> torch.allclose(fewer, whole, atol=1e-6)
True

From this follow two things. A model that writes carries one key and one window, however long
its text. And a long sequence can be cut into blocks of $C$ queries, each of which looks at
$C + s - 1$ keys and the past in one: work and memory grow with the length, not with its square.

A sequence here is `[groups, seq_len, columns]`, as on
[the page before](stable.html).
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from labml_nn.transformers.aft.stable import (
    TwiceDifferentiable,
    average,
    finite,
    limit,
    without_autocast,
)

# The queries of a block. More of them means larger products, and more of each product wasted on
# what is hidden.
BLOCK = 64


def absorb(key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    r"""
    ## Many keys into one

    * `key: [groups, seq_len, columns]`
    * `value: [groups, seq_len, columns]`
    * `return: [groups, 1, columns]`, the key and the value

    Nothing absorbed is a key of $-\infty$: no weight. So is anything made of such keys only.

    >>> key = torch.full((1, 3, 2), -torch.inf)
    >>> absorb(key, torch.ones(1, 3, 2))
    (tensor([[[-inf, -inf]]]), tensor([[[0., 0.]]]))
    """
    # * `highest: [groups, 1, columns]`
    # * `weight: [groups, seq_len, columns]`
    # * `total: [groups, 1, columns]`
    highest = finite(key.detach().amax(dim=1, keepdim=True))
    weight = (key - highest).exp()
    total = weight.sum(dim=1, keepdim=True)
    # The logarithm of 0 has no slope that one could use, so it is never taken.
    #
    # * `one_key: [groups, 1, columns]`
    # * `one_value: [groups, 1, columns]`
    nothing = total == 0
    total = total.masked_fill(nothing, 1)
    one_key = (highest + total.log()).masked_fill(nothing, -torch.inf)
    one_value = (weight * value).sum(dim=1, keepdim=True) / total
    return one_key, one_value


def spread(band: Tensor, seq_len_k: int) -> Tensor:
    r"""
    ## From a band to a table

    Outside the window all biases are zero, so we store only the band: row $t$ holds
    $w_{tt'}$ from $t' = t - s + 1$ to $t' = t + s - 1$. The products want a table.

    * `band: [groups, seq_len_q, width]`, with $2s - 1$ for the width
    * `return: [groups, seq_len_q, seq_len_k]`

    >>> band = torch.arange(1.0, 13.0).view(1, 4, 3)
    >>> spread(band, 5)[0].int()
    tensor([[ 2,  3,  0,  0,  0],
            [ 4,  5,  6,  0,  0],
            [ 0,  7,  8,  9,  0],
            [ 0,  0, 10, 11, 12]], dtype=torch.int32)

    Each row of the table begins one place later than the one above. Pad the rows with zeros,
    lay them end to end, and cut the line again into rows that are *shorter by one*: each row
    now begins one place earlier in the line, and so what it holds stands one place later.
    """
    seq_len_q, width = band.shape[1:]
    row = max(seq_len_q, seq_len_k) + width
    # * `line: [groups, seq_len_q * row]`
    # * `table: [groups, seq_len_q, row - 1]`
    line = F.pad(band, (0, row - width)).flatten(1)
    table = line[:, : seq_len_q * (row - 1)].unflatten(1, (seq_len_q, row - 1))
    before = width // 2
    # `return: [groups, seq_len_q, seq_len_k]`
    return table[:, :, before : before + seq_len_k]


def average_of_piece(
    key: Tensor,
    value: Tensor,
    band: Tensor,
    past: tuple[Tensor, Tensor],
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    r"""
    ## One piece, and what it leaves behind

    The keys are those of the window before the piece (as many of the $s - 1$ as there have
    been) and those of the piece itself. The band holds the biases of the queries in the piece,
    for the keys $t - s + 1$ to $t$: the causal half.

    * `key: [groups, seq_len_k, columns]`
    * `value: [groups, seq_len_k, columns]`
    * `band: [groups, seq_len_q, window]`
    * `past: [groups, 1, columns]`, the key and the value
    * `return: [groups, seq_len_q, columns]`, and the past with all that has left the window

    >>> key, value = torch.randn(2, 8, 6), torch.randn(2, 8, 6)
    >>> band, past = torch.randn(2, 5, 4), nothing_yet(key)
    >>> x, (past_key, past_value) = average_of_piece(key, value, band, past)
    >>> x.shape, past_key.shape
    (torch.Size([2, 5, 6]), torch.Size([2, 1, 6]))
    """
    past_key, past_value = past
    seq_len_q, window = band.shape[1:]
    before = key.shape[1] - seq_len_q
    # Query `i` of the piece stands at place `before + i` of these keys. Give each query a whole
    # band, let the table begin `before` places earlier, and hide what comes after the query.
    #
    # * `rows: [groups, before + seq_len_q, 2 * window - 1]`
    # * `bias: [groups, seq_len_q, seq_len_k]`
    # * `future: [1, seq_len_q, seq_len_k]`
    rows = F.pad(band, (0, window - 1, before, 0))
    bias = spread(rows, key.shape[1])[:, before:]
    future = torch.ones_like(bias[:1], dtype=torch.bool).triu(before + 1)
    bias = bias.masked_fill(future, -torch.inf)
    # The past comes in front, with a bias of 0.
    #
    # `x: [groups, seq_len_q, columns]`
    x = average(
        torch.cat([past_key, key], dim=1),
        torch.cat([past_value, value], dim=1),
        F.pad(bias, (1, 0)),
    )
    # The next query keeps the last $s - 1$ keys in its window. The others are old now.
    #
    # * `past_key: [groups, 1, columns]`
    # * `past_value: [groups, 1, columns]`
    old = max(key.shape[1] - (window - 1), 0)
    if old > 0:
        past_key, past_value = absorb(
            torch.cat([past_key, key[:, :old]], dim=1),
            torch.cat([past_value, value[:, :old]], dim=1),
        )
    return x, (past_key, past_value)


def nothing_yet(key: Tensor) -> tuple[Tensor, Tensor]:
    r"""
    The past at the beginning: a key without weight.

    * `key: [groups, seq_len, columns]`
    * `return: [groups, 1, columns]`

    >>> nothing_yet(torch.randn(1, 7, 2))
    (tensor([[[-inf, -inf]]]), tensor([[[0., 0.]]]))
    """
    groups, _, columns = key.shape
    return key.new_full((groups, 1, columns), -torch.inf), key.new_zeros(groups, 1, columns)


def average_piece_by_piece(key: Tensor, value: Tensor, band: Tensor) -> Tensor:
    r"""
    ## Block after block

    * `key: [groups, seq_len, columns]`
    * `value: [groups, seq_len, columns]`
    * `band: [groups, seq_len, window]`
    * `return: [groups, seq_len, columns]`

    Each block chooses [its own form](labml_nn.transformers.aft.stable.average). A key that
    rises far above all before it costs its own block the slow scan, and no other: once it is in
    the past, it is an ordinary number in $K_*$.
    """
    past, pieces = nothing_yet(key), []
    window = band.shape[2]
    for start in range(0, key.shape[1], BLOCK):
        # Both ends count in keys; the window before the first block is empty.
        #
        # `x: [groups, n, columns]`
        begin, end = max(start - (window - 1), 0), start + BLOCK
        x, past = average_of_piece(
            key[:, begin:end], value[:, begin:end], band[:, start:end], past
        )
        pieces.append(x)
    return torch.cat(pieces, dim=1)


def causal_average(key: Tensor, value: Tensor, band: Tensor) -> Tensor:
    r"""
    ## The causal average

    All blocks at once where one maximum will do, and block after block where it will not.

    * `key: [groups, seq_len, columns]`
    * `value: [groups, seq_len, columns]`
    * `band: [groups, seq_len, window]`, column $c$ for key $t - s + 1 + c$
    * `return: [groups, seq_len, columns]`

    >>> key, value = torch.randn(2, 135, 6), torch.randn(2, 135, 6)
    >>> band = torch.randn(2, 135, 3)
    >>> x = causal_average(key, value, band)
    >>> torch.allclose(x, average_piece_by_piece(key, value, band), atol=1e-5)
    True

    A last key of $10^4$ is nobody's business but its own:

    >>> key[:, -1] = 1e4
    >>> after = causal_average(key, value, band)
    >>> torch.allclose(after[:, :-1], x[:, :-1], atol=1e-5)
    True

    One maximum does for the whole sequence if [no query is too far below
    it](labml_nn.transformers.aft.stable.stays_in_range). Every query sees the first key, so it
    is below by at most $\max K - K_0$ and the size of the largest bias. (The past has the bias
    0, so the biases are measured from there.)
    """
    if key.shape[1] == 0:
        return value
    # Without columns there is no maximum either.
    if key.shape[2] == 0:
        return average_piece_by_piece(key, value, band)
    # A window longer than the sequence reaches only to keys that there are not.
    band = band[:, :, -key.shape[1] :]
    # * `highest: [groups, 1, columns]`
    # * `room: []`
    with torch.no_grad():
        highest = key.amax(dim=1, keepdim=True)
        room = limit(key.dtype) - band.abs().max()
        fits = bool((highest - key[:, :1]).max() <= room)
        some_hidden = False
        # The first key may be hidden from all, as padding is. Then the lowest of the others has to
        # do, and a query may see nothing.
        #
        # * `lowest: [groups, 1, columns]`
        # * `gap: [groups, 1, columns]`
        if not fits:
            lowest = key.masked_fill(key == -torch.inf, torch.inf).amin(dim=1, keepdim=True)
            gap = (highest - lowest).masked_fill(highest == -torch.inf, 0)
            fits = some_hidden = bool(gap.max() <= room)
    if fits:
        return AllBlocksAtOnce.apply(key, value, band, finite(highest), some_hidden)
    return average_piece_by_piece(key, value, band)


class AllBlocksAtOnce(TwiceDifferentiable):
    r"""
    ## All blocks at once

    With one maximum for the whole sequence nothing has to wait for the block before. All blocks
    go into one batch of products, and the past of each is a running sum of block sums.

    Let a block have at least as many places as the window has behind it, $C \ge s - 1$. Then a
    block of queries needs two blocks of keys: its own, and the one before. Call them $p = 0$ to
    $2C - 1$. Query $r$ of the block is key $C + r$ of these. Widen its window to $C + 1$ keys,
    with biases of 0 in the places that are added; it begins at key $r$.

    | key | weight |
    |---|---|
    | $p < r$: before the window | $1$ |
    | $r \le p \le r + C$: in the window | $e^{w}$, column $p - r$ |
    | $p > r + C$: the future | $0$ |

    All older blocks have weight 1 and are summed up once.
    """

    formula = staticmethod(average_piece_by_piece)

    @staticmethod
    def forward(
        ctx: Any,
        key: Tensor,
        value: Tensor,
        band: Tensor,
        highest: Tensor,
        some_hidden: bool,
    ) -> Tensor:
        r"""
        * `key: [groups, seq_len, columns]`
        * `value: [groups, seq_len, columns]`
        * `band: [groups, seq_len, window]`
        * `highest: [groups, 1, columns]`
        * `return: [groups, seq_len, columns]`
        """
        groups, seq_len, columns = key.shape
        # Products run faster when their sizes are multiples of 32.
        block = -(-max(band.shape[2] - 1, 1) // 32) * 32
        blocks = -(-seq_len // block)

        # In front stands an empty block, so that the first has one before it. Another may be
        # missing places at the end.
        #
        # * `exp_key: [groups, block + blocks * block, columns]`
        # * `weighted: [groups, block + blocks * block, columns]`
        # * `x: [groups, block + blocks * block, columns]`
        exp_key = key.new_empty(groups, block + blocks * block, columns)
        weighted = torch.empty_like(exp_key)
        inside = slice(block, block + seq_len)
        torch.sub(key, highest, out=exp_key[:, inside]).exp_()
        torch.mul(exp_key[:, inside], value, out=weighted[:, inside])
        for x in (exp_key, weighted):
            x[:, :block] = 0
            x[:, block + seq_len :] = 0

        # Missing queries have biases too, so that they have no total of 0.
        #
        # * `padded: [groups, blocks * block, block + 1]`
        # * `exp_band: [groups, blocks, block, block + 1]`
        missing = blocks * block - seq_len
        padded = F.pad(band, (block + 1 - band.shape[2], 0, 0, missing))
        exp_band = padded.exp_().unflatten(1, (blocks, block))
        # `weights: [groups, blocks, block, 2 * block]`
        weights = key.new_empty(groups, blocks, block, 2 * block)
        weights.copy_(key.new_ones(block, 2 * block).tril_(-1))
        slanted(weights).copy_(exp_band)

        # * `total: [groups, blocks, block, columns]`
        # * `x: [groups, blocks, block, columns]`
        total, x = (block_sums(weights, t) for t in (exp_key, weighted))
        if some_hidden:
            total.masked_fill_(total == 0, 1)
        x.div_(total)
        ctx.save_for_backward(key, value, band, exp_key, weighted, exp_band, weights, total, x)
        return x.flatten(1, 2)[:, :seq_len]

    @staticmethod
    @without_autocast
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        r"""
        ### The way back

        [The same two products](labml_nn.transformers.aft.stable.SharedMaximum.backward). The
        running sum now runs from the end: a key is in the past of the blocks *after* it.

        * `grads: [groups, seq_len, columns]`
        * `return: [groups, seq_len, columns]`, of which the gradient of the key is the first

        >>> key = torch.randn(2, 135, 6, dtype=torch.double, requires_grad=True)
        >>> value = torch.randn(2, 135, 6, dtype=torch.double)
        >>> band = torch.randn(2, 135, 3, dtype=torch.double, requires_grad=True)
        >>> of_key, of_band = torch.autograd.grad(
        ...     causal_average(key, value, band).square().sum(), [key, band]
        ... )
        >>> expected_of_key, expected_of_band = torch.autograd.grad(
        ...     average_piece_by_piece(key, value, band).square().sum(), [key, band]
        ... )
        >>> torch.allclose(of_key, expected_of_key), torch.allclose(of_band, expected_of_band)
        (True, True)
        """
        # * `exp_key: [groups, block + blocks * block, columns]`
        # * `weighted: [groups, block + blocks * block, columns]`
        # * `exp_band: [groups, blocks, block, block + 1]`
        # * `weights: [groups, blocks, block, 2 * block]`
        key, value, band, exp_key, weighted, exp_band, weights, total, x = ctx.saved_tensors
        if torch.is_grad_enabled():
            return *AllBlocksAtOnce.recorded(ctx, grads[0], (key, value, band)), None, None
        block, seq_len = weights.shape[2], key.shape[1]

        # * `up: [groups, blocks, block, columns]`
        # * `down: [groups, blocks, block, columns]`
        up = in_blocks(grads[0], block) / total
        down = up * x
        grad_band = None
        if ctx.needs_input_grad[2]:
            # * `grad_weights: [groups, blocks, block, 2 * block]`
            # * `grad_band: [groups, blocks * block, block + 1]`
            grad_weights = up @ windows(weighted, block).mT
            grad_weights -= down @ windows(exp_key, block).mT
            grad_band = (slanted(grad_weights) * exp_band).flatten(1, 2)
            # Only the places that were learned.
            #
            # `grad_band: [groups, seq_len, window]`
            grad_band = grad_band[:, :seq_len, -band.shape[2] :]

        # What has done its part is let go, so that less stands in memory at once.
        #
        # * `exp_in_blocks: [groups, blocks, block, columns]`
        # * `grad_value: [groups, blocks, block, columns]`
        # * `grad_key: [groups, blocks, block, columns]`
        exp_in_blocks = exp_key[:, block:].unflatten(1, (-1, block))
        grad_value = sums_to_keys(weights, up).mul_(exp_in_blocks)
        del up
        grad_key = in_blocks(value, block) * grad_value
        grad_key.addcmul_(sums_to_keys(weights, down), exp_in_blocks, value=-1)
        # * `grad_key: [groups, seq_len, columns]`
        # * `grad_value: [groups, seq_len, columns]`
        grad_key, grad_value = (t.flatten(1, 2)[:, :seq_len] for t in (grad_key, grad_value))
        return grad_key, grad_value, grad_band, None, None


def block_sums(weights: Tensor, x: Tensor) -> Tensor:
    r"""
    ## The sums of all blocks

    Near keys by a product, old ones by the running sum.

    * `weights: [groups, blocks, block, 2 * block]`
    * `x: [groups, block + blocks * block, columns]`
    * `return: [groups, blocks, block, columns]`

    With weights of 1 throughout, each query of a block adds up its own block and all before:

    >>> x = torch.cat([torch.zeros(1, 2, 1), torch.ones(1, 6, 1)], dim=1)
    >>> block_sums(torch.ones(1, 3, 2, 4), x).flatten()
    tensor([2., 2., 4., 4., 6., 6.])
    """
    groups, blocks, block = weights.shape[:3]
    # Block $n$ has the past of the blocks up to $n - 2$.
    #
    # * `old: [groups, blocks - 2 or 0, columns]`
    # * `sums: [groups, blocks, block, columns]`
    old = x[:, block : -2 * block].unflatten(1, (-1, block)).sum(dim=2)
    sums = x.new_empty(groups, blocks, block, x.shape[2])
    sums[:, :2] = 0
    sums[:, 2:] = old.cumsum(dim=1).unsqueeze(2)
    # * `sum_: [blocks, block, columns]`
    # * `weight: [blocks, block, 2 * block]`
    # * `near: [blocks, 2 * block, columns]`
    for sum_, weight, near in zip(sums, weights, windows(x, block), strict=True):
        sum_.baddbmm_(weight, near)
    return sums


def sums_to_keys(weights: Tensor, grad: Tensor) -> Tensor:
    r"""
    ## And back to the keys

    What `block_sums` gathers for the queries, this gives back to the keys.

    * `weights: [groups, blocks, block, 2 * block]`
    * `grad: [groups, blocks, block, columns]`
    * `return: [groups, blocks, block, columns]`

    >>> sums_to_keys(torch.ones(1, 3, 2, 4), torch.ones(1, 3, 2, 1)).flatten()
    tensor([6., 6., 4., 4., 2., 2.])
    """
    block = weights.shape[2]
    # From the block itself, from the one after it, and from all that come later still.
    #
    # * `later: [groups, blocks - 2 or 0, columns]`
    # * `to_keys: [groups, blocks, block, columns]`
    later = grad[:, 2:].sum(dim=2).flip(1).cumsum(dim=1).flip(1)
    to_keys = torch.empty_like(grad)
    to_keys[:, -2:] = 0
    to_keys[:, :-2] = later.unsqueeze(2)
    # * `to: [blocks, block, columns]`
    # * `weight: [blocks, 2 * block, block]`
    # * `up: [blocks, block, columns]`
    for to, weight, up in zip(to_keys, weights.mT, grad, strict=True):
        to.baddbmm_(weight[:, block:], up)
        to[:-1].baddbmm_(weight[1:, :block], up[1:])
    return to_keys


def in_blocks(x: Tensor, block: int) -> Tensor:
    r"""
    ## Cut, overlap, slant

    Three ways to look at a tensor. This one cuts a sequence into blocks. Only if the last one
    is not full, something is copied, and zeros are put behind.

    * `x: [groups, seq_len, columns]`
    * `return: [groups, blocks, block, columns]`
    """
    missing = -x.shape[1] % block
    if missing > 0:
        # `x: [groups, blocks * block, columns]`
        x = F.pad(x, (0, 0, 0, missing))
    return x.unflatten(1, (-1, block))


def windows(x: Tensor, block: int) -> Tensor:
    r"""
    Each block and the one before it. They overlap: each key is looked at twice and stored once.

    * `x: [groups, places, columns]`
    * `return: [groups, blocks, 2 * block, columns]`

    >>> windows(torch.arange(8).view(1, 8, 1), block=2).flatten(2)
    tensor([[[0, 1, 2, 3],
             [2, 3, 4, 5],
             [4, 5, 6, 7]]])
    """
    groups, places, columns = x.shape
    to_group, to_place, to_column = x.stride()
    shape = (groups, places // block - 1, 2 * block, columns)
    return x.as_strided(shape, (to_group, block * to_place, to_place, to_column))


def slanted(weights: Tensor) -> Tensor:
    r"""
    Each query's own window: row $r$ begins at column $r$.

    * `weights: [groups, blocks, block, 2 * block]`
    * `return: [groups, blocks, block, block + 1]`

    >>> slanted(torch.arange(8).view(1, 1, 2, 4))[0, 0]
    tensor([[0, 1, 2],
            [5, 6, 7]])
    """
    to_group, to_block, to_row, to_column = weights.stride()
    shape = (*weights.shape[:3], weights.shape[2] + 1)
    return weights.as_strided(shape, (to_group, to_block, to_row + to_column, to_column))
