r"""
---
title: Attention without the table
summary: The same average, taken as the terms come in, so that the weights never stand in memory.
papers:
  - title: "FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness"
    authors: Dao et al.
    year: 2022
    url: https://arxiv.org/abs/2205.14135
  - title: Online normalizer calculation for softmax
    authors: Milakov and Gimelshein
    year: 2018
    url: https://arxiv.org/abs/1805.02867
symbols:
  V: value
  m: highest
  \ell: total
  S: scores
---
# Attention without the table

[Attention](mha.html) as its equation has it writes down a weight for every pair of positions. That
table is what makes it slow. For 2,048 positions and 8 heads it holds 33 million numbers, each
written to memory and read back several times. On a GPU, moving them takes longer than computing
them (Dao et al. 2022, section 2).

But an average can be taken as the terms come in. Walk along the keys, and for each query carry
three things: the highest score so far, $m$; the sum of the exponentials, $\ell$; and the sum of
the values times their exponentials, $o$. When key $j$ brings the score $S_j$:

$$
\begin{aligned}
m' &= \max(m, S_j) \\
\ell' &= e^{m - m'}\, \ell + e^{S_j - m'} \\
o' &= e^{m - m'}\, o + e^{S_j - m'}\, V_j
\end{aligned}
$$

All exponentials are taken relative to the highest score, so that none overflows. When the highest
changes, $e^{m - m'}$ brings the old sums into line. At the end $o / \ell$ is the average, and
exact:

>>> scores, value = torch.randn(11), torch.randn(11, 5)
>>> highest = torch.tensor(-torch.inf)
>>> total, x = torch.zeros(()), torch.zeros(5)
>>> for score, v in zip(scores, value):
...     new = torch.maximum(highest, score)
...     total = (highest - new).exp() * total + (score - new).exp()
...     x = (highest - new).exp() * x + (score - new).exp() * v
...     highest = new
>>> average = scores.softmax(dim=0) @ value
>>> torch.allclose(x / total, average, atol=1e-6)
True

The running softmax is from Milakov and Gimelshein.
[Rabe and Staats 2021](https://arxiv.org/abs/2112.05682) saw that attention then needs no table.
Dao et al. take the keys in blocks that fit into the fast memory beside the processor, and in the
backward pass compute the weights again instead of keeping them.
"""

from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel


def fused_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    scale: float,
    dropout_prob: float = 0.0,
    is_causal: bool = False,
) -> Tensor:
    r"""
    ## The kernel, with our axes

    Torch has such a kernel for most machines. This function puts our axes in its order, and the
    mask, if any, has come through
    [`prepare_mask`](labml_nn.transformers.mha.MultiHeadAttention.prepare_mask).

    * `query: [seq_len_q, batch_size, heads, d_k]`
    * `key: [seq_len_k, batch_size, heads, d_k]`
    * `value: [seq_len_k, batch_size, heads, d_k]`
    * `mask: [seq_len_q or 1, seq_len_k, batch_size or 1, 1]`
    * `return: [seq_len_q, batch_size, heads, d_k]`

    Both forms give the same result. Dropout is the exception: they drop the same share of the
    weights, but not the same ones.

    >>> from labml_nn.transformers.mha import MultiHeadAttention
    >>> attention = MultiHeadAttention(heads=3, d_model=15).eval()
    >>> x, memory = torch.randn(7, 2, 15), torch.randn(11, 2, 15)
    >>> mask = torch.rand(7, 11, 2) < 0.5
    >>> mask[4] = False  # this one sees nothing
    >>> fused = attention(query=x, key=memory, value=memory, mask=mask)
    >>> attention.keep_attn = True
    >>> readable = attention(query=x, key=memory, value=memory, mask=mask)
    >>> torch.allclose(fused, readable, atol=1e-6)
    True

    **Dropout on a CPU.** Dao et al. drop weights without a table: they keep the state of the
    random generator, and on the way back make the same holes again. Torch's kernels for a GPU
    do so too. Those for a CPU know no dropout, and torch goes back to the plain form without a
    word: the table is written after all, and kept. So there, on long sequences, train without
    dropout of the weights.

    >>> from torch.autograd.graph import saved_tensors_hooks
    >>> def largest_kept(dropout_prob):
    ...     sizes = []
    ...     x = torch.randn(64, 1, 3, 5, requires_grad=True)
    ...     with saved_tensors_hooks(lambda t: sizes.append(t.numel()), lambda _: None):
    ...         fused_attention(x, x, x, None, scale=0.5, dropout_prob=dropout_prob)
    ...     return max(sizes)
    >>> largest_kept(0.0) == 64 * 3 * 5, largest_kept(0.1) == 64 * 64 * 3
    (True, True)

    **Say that it is causal.** A mask tells the kernel for each pair whether to count it. The kernel
    computes the score first, and finds out afterwards. With `is_causal` it knows beforehand that
    all blocks above the diagonal are dark, and leaves them out: half of the work, and no mask to
    read. So `is_causal` and a mask exclude each other here; whoever has both puts the two into
    one mask.
    """
    if is_causal and mask is not None:
        raise ValueError("fused_attention takes either mask or is_causal, not both")
    # The kernels want batch and heads first. To permute is to look from another side; no number
    # moves.
    #
    # * `query: [batch_size, heads, seq_len_q, d_k]`
    # * `key: [batch_size, heads, seq_len_k, d_k]`
    # * `value: [batch_size, heads, seq_len_k, d_k]`
    query, key, value = (t.permute(1, 2, 0, 3) for t in (query, key, value))

    # What comes back for a query that sees nothing has differed between kernels and releases
    # ([issue 103963](https://github.com/pytorch/pytorch/issues/103963)). So we do not ask: such a
    # query may see everything, and afterwards we clear what it brought home.
    #
    # * `mask: [batch_size or 1, 1, seq_len_q or 1, seq_len_k]`
    # * `blind: [batch_size or 1, 1, seq_len_q or 1, 1]`
    blind = None
    if mask is not None:
        mask = mask.permute(2, 3, 0, 1)
        blind = ~mask.any(dim=-1, keepdim=True)
        mask = mask | blind

    # `x: [batch_size, heads, seq_len_q, d_k]`
    x = F.scaled_dot_product_attention(
        query,
        key,
        value,
        attn_mask=mask,
        dropout_p=dropout_prob,
        is_causal=is_causal,
        scale=scale,
    )
    # Now see to
    # [second derivatives](labml_nn.transformers.fused_attention.DifferentiableAgain). With dropout
    # that cannot be done, since other weights would be dropped the second time; and a compiled
    # graph has no second derivative anyway.
    #
    # `x: [batch_size, heads, seq_len_q, d_k]`
    if dropout_prob == 0 and not torch.compiler.is_compiling():
        x = DifferentiableAgain.apply(x, query, key, value, mask, is_causal, scale)
    if blind is not None:
        x = x.masked_fill(blind, 0)
    return x.permute(2, 0, 1, 3)


class DifferentiableAgain(torch.autograd.Function):
    r"""
    ## The slope of a slope

    A gradient penalty, or learning to learn, differentiates the gradient itself. The backward
    pass of a fused kernel is a kernel too, and nobody has written the derivative of that one:

    >>> x = torch.randn(2, 3, 7, 5, requires_grad=True)
    >>> y = F.scaled_dot_product_attention(x, x, x)
    >>> (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    >>> slope.square().sum().backward()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    RuntimeError: derivative for aten::_scaled_dot_product_...backward is not implemented

    The readable form has derivatives of every order. So this function stands behind the kernel
    and on the way forward changes nothing. On the way back it looks whether autograd is
    recording. If it is, somebody means to come this way again, and the gradient is taken through
    the plain form instead. Who wants only one derivative pays nothing.

    >>> x, memory = torch.randn(7, 2, 3, 5, requires_grad=True), torch.randn(11, 2, 3, 5)
    >>> y = fused_attention(x, memory, memory, mask=None, scale=0.5)
    >>> (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    >>> slope.square().sum().backward()
    >>> x.grad.shape
    torch.Size([7, 2, 3, 5])
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(
        x: Tensor,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None,
        is_causal: bool,
        scale: float,
    ) -> Tensor:
        r"""
        * `x: [batch_size, heads, seq_len_q, d_k]`
        * `query: [batch_size, heads, seq_len_q, d_k]`
        * `key: [batch_size, heads, seq_len_k, d_k]`
        * `value: [batch_size, heads, seq_len_k, d_k]`
        * `mask: [batch_size or 1, 1, seq_len_q or 1, seq_len_k]`
        * `return: [batch_size, heads, seq_len_q, d_k]`
        """
        return x.view_as(x)

    # Put aside what the plain form would need. The kernel keeps the same tensors for its own way
    # back, so they cost nothing more.
    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        r"""
        * `output: [batch_size, heads, seq_len_q, d_k]`
        """
        # * `key: [batch_size, heads, seq_len_k, d_k]`
        # * `mask: [batch_size or 1, 1, seq_len_q or 1, seq_len_k]`
        _, query, key, value, mask, is_causal, scale = inputs
        ctx.save_for_backward(query, key, value, mask)
        ctx.is_causal, ctx.scale = is_causal, scale

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        r"""
        * `grads: [batch_size, heads, seq_len_q, d_k]`, a single one
        * `return: [batch_size, heads, seq_len_q, d_k]`, and more: one for each input
        """
        # Nobody is recording: hand the gradient on to the kernel.
        if not torch.is_grad_enabled():
            return *grads, None, None, None, None, None, None

        # Somebody is: go back through the plain form. The gradient then goes straight to query,
        # key and value, and none to the kernel.
        #
        # `key: [batch_size, heads, seq_len_k, d_k]`
        query, key, value, mask = ctx.saved_tensors
        plain = partial(
            F.scaled_dot_product_attention,
            attn_mask=mask,
            is_causal=ctx.is_causal,
            scale=ctx.scale,
        )
        with sdpa_kernel(SDPBackend.MATH):
            pull_back = torch.func.vjp(plain, query, key, value)[1]
        return None, *pull_back(*grads), None, None, None
