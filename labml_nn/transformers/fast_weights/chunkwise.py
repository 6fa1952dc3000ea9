r"""
---
title: The delta rule in chunks
summary: A chain of small updates becomes a few large matrix products, and stays exact.
papers:
  - title: Parallelizing Linear Transformers with the Delta Rule over Sequence Length
    authors: Yang et al.
    year: 2024
    url: https://arxiv.org/abs/2406.06484
  - title: The WY Representation for Products of Householder Matrices
    authors: Bischof and Van Loan
    year: 1987
    url: https://epubs.siam.org/doi/10.1137/0908009
symbols:
  Q: query
  K: [key, key_chunk]
  V: [value, value_chunk]
  P: [writes, written]
  T: [solved, solved_chunk, T]
  W: [weights, state, found]
  \beta: beta
  C: size
---
# The delta rule in chunks

[One step after the other](token_wise.html), the memory reads and writes its whole weight matrix
at each position. The arithmetic is small and the traffic large: 64 features and 32 values are
2,048 weights, moved three times over for the sake of one vector. Training is worse. The
backward pass wants to see *every* weight matrix again, so all of them are kept: for 2,048
positions and 8 heads, 33 million numbers in one layer.

Yang et al. 2024 compute the same numbers chunk by chunk. Inside a chunk there are only matrix
products and one triangular system. From chunk to chunk there is one weight matrix to hand on.
This page derives it in four steps. We write $k_i$ and $q_i$ for the features of key and query,
as they come out of the feature map.

**Step 1. What a chunk does to the weights.** Let $W_0$ be the weights before the chunk, and $C$
the number of its positions. Whatever rule is used, position $i$ adds an outer product of *some*
vector $p_i$ with its key. After it, the memory is

$$W_i = W_0 + \sum_{j \le i} p_j \otimes k_j$$

So we never need the $W_i$ in between, if only we know the vectors $p_j$. Put them as rows into
a matrix $P$, and likewise $Q$, $K$ and $V$. At the end of the chunk

$$W_C = W_0 + P^\top K$$

**Step 2. What the queries read.** Apply $W_i$ to $q_i$:

$$y_i = W_i\, q_i = W_0\, q_i + \sum_{j \le i} p_j\, (k_j \cdot q_i)$$

The condition $j \le i$ is a causal mask. Let $\operatorname{tril}$ set everything above the
diagonal to zero. Then all rows at once are

$$Y = Q W_0^\top + \operatorname{tril}(Q K^\top)\, P$$

The first term is what older chunks have left. The second is attention without softmax, in a
window of $C$. [Linear attention](labml_nn.transformers.fast_weights.chunkwise.sum_rule) has
$p_i = v_i$, and is already done.

**Step 3. What the delta rule writes.** It corrects what the memory now says for $k_i$, by the
share $\beta_i$:

$$
\begin{aligned}
p_i &= \beta_i \left( v_i - W_{i-1} k_i \right) \\
&= \beta_i \Big( v_i - W_0\, k_i - \sum_{j < i} p_j\, (k_j \cdot k_i) \Big)
\end{aligned}
$$

We have put in step 1 for $W_{i-1}$. Here is the obstacle: $p_i$ depends on the earlier $p_j$.
But it does so *linearly*. Bring them to the left side, and the whole chunk is one linear
system. Write $\operatorname{Diag}(\beta)$ for the matrix with the $\beta_i$ on its diagonal:

$$
\begin{aligned}
(I + L)\, P &= \operatorname{Diag}(\beta) \left( V - K W_0^\top \right) \\
L &= \operatorname{Diag}(\beta) \operatorname{tril}_{-1}(K K^\top)
\end{aligned}
$$

$\operatorname{tril}_{-1}$ keeps only what is strictly below the diagonal. So $I + L$ is *unit
lower triangular*: ones on the diagonal, zeros above. Such a system always has exactly one
solution, and it takes no pivoting: the first row is ready, the second needs the first, and so
on.

**Step 4. What does not depend on the past.** On the right side only $W_0$ comes from other
chunks. Split it off:

$$
\begin{aligned}
T &= (I + L)^{-1} \operatorname{Diag}(\beta) \\
P &= T \left( V - K W_0^\top \right)
\end{aligned}
$$

$T$ is made of this chunk's own keys and strengths. So *all chunks are solved at the same time*.
What remains one after the other is the short walk $W_0 \to P \to W_C$, with $1/C$ of the steps.

In the paper the product is multiplied out, with *pseudo-values* $U = T V$ and $Z = T K$:
$P = U - Z W_0^\top$. (It calls $Z$ by the letter $W$, which here is the memory.) Put this into
step 1, and the whole chunk acts on the memory by

$$W_C = W_0\, (I - Z^\top K) + U^\top K$$

One position multiplies the memory by $I - \beta_i\, k_i k_i^\top$. So $I - Z^\top K$ is the
product of $C$ such matrices, written with two tall ones. For Householder reflections this is
the *WY representation* of Bischof and Van Loan. Check it, for a chunk of seven keys with five
features:

>>> key, beta = torch.randn(7, 5).double(), torch.rand(7).double()
>>> product = torch.eye(5).double()
>>> for i in range(7):
...     product = product @ (torch.eye(5) - beta[i] * torch.outer(key[i], key[i]))
>>> L = beta.diag() @ (key @ key.T).tril(-1)
>>> T = torch.linalg.inv(torch.eye(7) + L) @ beta.diag()
>>> torch.allclose(product, torch.eye(5) - (T @ key).T @ key)
True

**How long should a chunk be?** Count multiplications for one position of one head, and leave
the solver aside. $K K^\top$, $Q K^\top$ and the products of the two tables with values cost
about $2C\,(d_\phi + d_v)$. Asking the memory, reading it and updating it cost $3\, d_\phi d_v$.
With 64 features, 32 values and $C = 32$, both are 6,144. A shorter chunk means more steps that
wait for each other; a longer one means more work, and the solver's grows with the square of
$C$.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor


def delta_rule(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    beta: Tensor,
    state: Tensor | None = None,
    chunk_size: int = 32,
) -> tuple[Tensor, Tensor]:
    r"""
    ## The delta rule

    All four steps, for a whole sequence.

    * `query: [seq_len, batch_size, heads, d_phi]`
    * `key: [seq_len, batch_size, heads, d_phi]`
    * `value: [seq_len, batch_size, heads, d_v]`
    * `beta: [seq_len, batch_size, heads]`
    * `state: [batch_size, heads, d_v, d_phi]`
    * `return: [seq_len, batch_size, heads, d_v]`

    The result is a pair: what the queries read, and the weights after the last position, shaped
    like `state`. Without a `state` the memory begins empty.

    It is the same as step by step, whether or not the chunks come out even:

    >>> from labml_nn.transformers.fast_weights import token_wise
    >>> query, key = torch.randn(2, 19, 2, 3, 7, dtype=torch.float64).softmax(dim=-1)
    >>> value = torch.randn(19, 2, 3, 8, dtype=torch.float64)
    >>> beta = torch.rand(19, 2, 3, dtype=torch.float64)
    >>> y, weights = delta_rule(query, key, value, beta, chunk_size=5)
    >>> slow, slow_weights = token_wise.delta_rule(query, key, value, beta)
    >>> torch.allclose(y, slow) and torch.allclose(weights, slow_weights)
    True

    And a sequence may come in pieces:

    >>> first, state = delta_rule(query[:10], key[:10], value[:10], beta[:10])
    >>> rest, state = delta_rule(query[10:], key[10:], value[10:], beta[10:], state)
    >>> torch.allclose(torch.cat([first, rest]), y) and torch.allclose(state, weights)
    True

    **Precision.** The system is solved by substitution: row after row, each made of all before.
    Torch has no such solver for half precision, on a CPU at least, and a memory that sums up a
    long text should not be kept in eight bits of mantissa anyway. So `bfloat16` and `float16`
    are lifted to `float32` here, also under autocast. The weights stay lifted; what was read
    goes back to the type of the values.

    >>> half = [t.bfloat16() for t in (query, key, value, beta)]
    >>> y, weights = delta_rule(*half)
    >>> y.dtype, weights.dtype
    (torch.bfloat16, torch.float32)
    """
    check_memory(query, key, value, beta, state)
    if chunk_size < 1:
        raise ValueError(f"chunk_size = {chunk_size} must be at least 1")
    seq_len, batch_size, heads, d_phi = key.shape
    d_v, y_dtype = value.shape[-1], value.dtype
    dtype = torch.promote_types(torch.promote_types(key.dtype, y_dtype), torch.float32)
    if state is None:
        state = key.new_zeros(batch_size, heads, d_v, d_phi, dtype=dtype)

    with torch.autocast(key.device.type, enabled=False):
        query, key, value, beta = (t.to(dtype) for t in (query, key, value, beta))
        # A single position has
        # [a shorter way](labml_nn.transformers.fast_weights.chunkwise.single_position).
        #
        # * `y: [seq_len, batch_size, heads, d_v]`
        # * `weights: [batch_size, heads, d_v, d_phi]`
        solve = single_position if seq_len == 1 else walk_along_chunks
        y, weights = solve(query, key, value, beta.unsqueeze(-1), state.to(dtype), chunk_size)
    return y.to(y_dtype), weights


def walk_along_chunks(
    query: Tensor, key: Tensor, value: Tensor, beta: Tensor, state: Tensor, chunk_size: int
) -> tuple[Tensor, Tensor]:
    r"""
    ## Step 4, in code

    First what does not depend on the past, for all chunks at once; then the walk.

    * `query: [seq_len, batch_size, heads, d_phi]`
    * `key: [seq_len, batch_size, heads, d_phi]`
    * `value: [seq_len, batch_size, heads, d_v]`
    * `beta: [seq_len, batch_size, heads, 1]`
    * `state: [batch_size, heads, d_v, d_phi]`
    * `return: [seq_len, batch_size, heads, d_v]`, and the new weights

    The last chunk may be filled up with zeros, and what those positions read is cut off again.

    >>> query, key = torch.randn(2, 19, 2, 3, 7).softmax(dim=-1)
    >>> value = torch.randn(19, 2, 3, 8)
    >>> beta, state = torch.rand(19, 2, 3, 1), torch.zeros(2, 3, 8, 7)
    >>> y, weights = walk_along_chunks(query, key, value, beta, state, chunk_size=5)
    >>> y.shape, weights.shape
    (torch.Size([19, 2, 3, 8]), torch.Size([2, 3, 8, 7]))
    """
    seq_len, batch_size, heads, _ = key.shape
    # Heads and items of the batch do not hear of each other: they become one axis.
    #
    # * `query: [batch_size * heads, chunks, size, d_phi]`
    # * `key: [batch_size * heads, chunks, size, d_phi]`
    # * `value: [batch_size * heads, chunks, size, d_v]`
    # * `beta: [batch_size * heads, chunks, size, 1]`
    query, key, value, beta = (into_chunks(t, chunk_size) for t in (query, key, value, beta))
    # `weights: [batch_size * heads, d_v, d_phi]`
    weights = state.flatten(0, 1)

    # $T = (I + L)^{-1} \operatorname{Diag}(\beta)$, for all chunks. The solver takes the ones
    # on the diagonal for granted, and looks at nothing above it: so there is no mask.
    #
    # `solved: [batch_size * heads, chunks, size, size]`
    solved = torch.linalg.solve_triangular(
        beta * (key @ key.mT),
        torch.diag_embed(beta.squeeze(-1)),
        upper=False,
        unitriangular=True,
    )

    # Walk along the chunks, and note for each the weights that it found and what it wrote.
    #
    # * `key_chunk: [batch_size * heads, size, d_phi]`
    # * `value_chunk: [batch_size * heads, size, d_v]`
    # * `solved_chunk: [batch_size * heads, size, size]`
    found, written = [], []
    for key_chunk, value_chunk, solved_chunk in zip(
        key.unbind(1), value.unbind(1), solved.unbind(1), strict=True
    ):
        found.append(weights)
        # $P = T\, (V - K W_0^\top)$
        #
        # `writes: [batch_size * heads, size, d_v]`
        writes = solved_chunk @ (value_chunk - key_chunk @ weights.mT)
        written.append(writes)
        # $W_C = W_0 + P^\top K$
        #
        # `weights: [batch_size * heads, d_v, d_phi]`
        weights = weights + writes.mT @ key_chunk

    # All queries read at once.
    #
    # `y: [batch_size * heads, chunks, size, d_v]`
    y = read(query, key, torch.stack(written, dim=1), torch.stack(found, dim=1))
    # Back to the axes as they came, without what was filled up.
    #
    # `y: [seq_len, batch_size, heads, d_v]`
    y = y.unflatten(0, (batch_size, heads)).flatten(2, 3).permute(2, 0, 1, 3)[:seq_len]
    return y, weights.unflatten(0, (batch_size, heads))


def single_position(
    query: Tensor, key: Tensor, value: Tensor, beta: Tensor, state: Tensor, _: int = 1
) -> tuple[Tensor, Tensor]:
    r"""
    ## A single position

    While a model writes, positions come one by one. A chunk of one has nothing to solve: $T$ is
    the number $\beta$. What remains is the rule itself, without the cost of cutting and
    joining.

    * `query: [1, batch_size, heads, d_phi]`
    * `key: [1, batch_size, heads, d_phi]`
    * `value: [1, batch_size, heads, d_v]`
    * `beta: [1, batch_size, heads, 1]`
    * `state: [batch_size, heads, d_v, d_phi]`
    * `return: [1, batch_size, heads, d_v]`, and the new weights

    >>> query, key = torch.randn(2, 1, 2, 3, 7)
    >>> value, beta = torch.randn(1, 2, 3, 8), torch.rand(1, 2, 3, 1)
    >>> state = torch.randn(2, 3, 8, 7)
    >>> y, _ = single_position(query, key, value, beta, state)
    >>> same, _ = walk_along_chunks(query, key, value, beta, state, chunk_size=1)
    >>> torch.allclose(y, same, atol=1e-4)
    True
    """
    batch_size, heads = state.shape[:2]
    # Columns, one for each head of each item.
    #
    # * `query: [batch_size * heads, d_phi, 1]`
    # * `key: [batch_size * heads, d_phi, 1]`
    # * `value: [batch_size * heads, d_v, 1]`
    # * `beta: [batch_size * heads, 1, 1]`
    query, key, value, beta = (t.flatten(0, 2).unsqueeze(-1) for t in (query, key, value, beta))
    # `weights: [batch_size * heads, d_v, d_phi]`
    weights = state.flatten(0, 1)
    weights = torch.baddbmm(weights, beta * (value - weights @ key), key.mT)
    # `y: [1, batch_size, heads, d_v]`
    y = (weights @ query).view(1, *state.shape[:-1])
    return y, weights.unflatten(0, (batch_size, heads))


def read(query: Tensor, key: Tensor, written: Tensor, found: Tensor) -> Tensor:
    r"""
    ## Reading, for all chunks

    $$Y = Q W_0^\top + \operatorname{tril}(Q K^\top)\, P$$

    * `query: [..., size, d_phi]`
    * `key: [..., size, d_phi]`
    * `written: [..., size, d_v]`
    * `found: [..., d_v, d_phi]`
    * `return: [..., size, d_v]`

    A chunk of one position reads what it found, and what it wrote itself:

    >>> query, key = torch.randn(2, 1, 4)
    >>> written, found = torch.randn(1, 5), torch.randn(5, 4)
    >>> weights = found + torch.outer(written[0], key[0])
    >>> torch.allclose(read(query, key, written, found)[0], weights @ query[0], atol=1e-5)
    True
    """
    return query @ found.mT + (query @ key.mT).tril() @ written


def sum_rule(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    state: Tensor | None = None,
    chunk_size: int = 32,
) -> tuple[Tensor, Tensor]:
    r"""
    ## The plain sum, for comparison

    Linear attention without its denominator ([Katharopoulos et al.
    2020](https://arxiv.org/abs/2006.16236)): every value is added, nothing is ever corrected,
    $p_i = v_i$. Steps 1 and 2 are all it needs.

    * `query: [seq_len, batch_size, heads, d_phi]`
    * `key: [seq_len, batch_size, heads, d_phi]`
    * `value: [seq_len, batch_size, heads, d_v]`
    * `state: [batch_size, heads, d_v, d_phi]`
    * `return: [seq_len, batch_size, heads, d_v]`

    The result is a pair, as above. However the sequence is cut, it is attention with scores in
    the place of weights:

    >>> query, key = torch.randn(2, 19, 2, 3, 7)
    >>> value = torch.randn(19, 2, 3, 8)
    >>> y, weights = sum_rule(query, key, value, chunk_size=5)
    >>> scores = torch.einsum("ibhd,jbhd->bhij", query, key).tril()
    >>> table = torch.einsum("bhij,jbhd->ibhd", scores, value)
    >>> torch.allclose(y, table, atol=1e-4)
    True
    >>> first, state = sum_rule(query[:10], key[:10], value[:10])
    >>> rest, state = sum_rule(query[10:], key[10:], value[10:], state)
    >>> torch.allclose(torch.cat([first, rest]), table, atol=1e-4)
    True
    """
    check_memory(query, key, value, value[..., 0], state)
    if chunk_size < 1:
        raise ValueError(f"chunk_size = {chunk_size} must be at least 1")
    seq_len, batch_size, heads, d_phi = key.shape
    d_v, y_dtype = value.shape[-1], value.dtype
    dtype = torch.promote_types(torch.promote_types(key.dtype, y_dtype), torch.float32)
    if state is None:
        state = key.new_zeros(batch_size, heads, d_v, d_phi, dtype=dtype)

    with torch.autocast(key.device.type, enabled=False):
        # * `query: [batch_size * heads, chunks, size, d_phi]`
        # * `key: [batch_size * heads, chunks, size, d_phi]`
        # * `value: [batch_size * heads, chunks, size, d_v]`
        query, key, value = (into_chunks(t.to(dtype), chunk_size) for t in (query, key, value))
        # $P^\top K$ of every chunk. A running sum over them gives the weights that each one
        # leaves, and nobody has to wait.
        #
        # * `before: [batch_size * heads, 1, d_v, d_phi]`
        # * `after: [batch_size * heads, chunks, d_v, d_phi]`
        # * `found: [batch_size * heads, chunks, d_v, d_phi]`
        # * `y: [batch_size * heads, chunks, size, d_v]`
        before = state.to(dtype).flatten(0, 1).unsqueeze(1)
        after = before + (value.mT @ key).cumsum(dim=1)
        found = torch.cat([before, after[:, :-1]], dim=1)
        y = read(query, key, value, found)

    # `y: [seq_len, batch_size, heads, d_v]`
    y = y.unflatten(0, (batch_size, heads)).flatten(2, 3).permute(2, 0, 1, 3)[:seq_len]
    return y.to(y_dtype), after[:, -1].unflatten(0, (batch_size, heads))


def into_chunks(x: Tensor, chunk_size: int) -> Tensor:
    r"""
    ## Cutting a sequence

    * `x: [seq_len, batch_size, heads, d]`
    * `return: [batch_size * heads, chunks, size, d]`

    The number of chunks comes from `chunk_size`. Then they are made equally long, so that
    little is filled up: 33 positions become two chunks of 17, not two of 32.

    >>> into_chunks(torch.randn(33, 2, 3, 5), chunk_size=32).shape
    torch.Size([6, 2, 17, 5])

    We fill up with zeros. A position with $\beta = 0$ and an empty key writes nothing and
    changes nothing, so the weights at the end are right; what it reads is cut off.
    """
    seq_len = x.shape[0]
    chunks = max(1, math.ceil(seq_len / chunk_size))
    size = math.ceil(seq_len / chunks)
    if chunks * size > seq_len:
        # `x: [chunks * size, batch_size, heads, d]`
        x = F.pad(x, (0, 0, 0, 0, 0, 0, 0, chunks * size - seq_len))
    return x.unflatten(0, (chunks, size)).permute(2, 3, 0, 1, 4).flatten(0, 1).contiguous()


def check_memory(
    query: Tensor, key: Tensor, value: Tensor, beta: Tensor, state: Tensor | None
) -> None:
    r"""
    ## Inputs that do not fit

    >>> query, key = torch.randn(7, 2, 3, 4), torch.randn(7, 2, 3, 5)
    >>> value = torch.randn(7, 2, 3, 6)
    >>> delta_rule(query, key, value, torch.rand(7, 2, 3))
    Traceback (most recent call last):
        ...
    ValueError: query has shape [7, 2, 3, 4], but key has [7, 2, 3, 5]: they must be the same

    * `query: [seq_len, batch_size, heads, d_phi]`
    * `key: [seq_len, batch_size, heads, d_phi]`
    * `value: [seq_len, batch_size, heads, d_v]`
    * `beta: [seq_len, batch_size, heads]`
    * `state: [batch_size, heads, d_v, d_phi]`
    """
    if query.shape != key.shape:
        raise ValueError(
            f"query has shape {list(query.shape)}, but key has {list(key.shape)}: "
            "they must be the same"
        )
    if key.ndim != 4 or value.ndim != key.ndim or value.shape[:-1] != key.shape[:-1]:
        raise ValueError(
            f"value has shape {list(value.shape)}, but key has {list(key.shape)}: "
            "both must have 4 axes, and all except the last must be the same"
        )
    if beta.shape != key.shape[:-1]:
        raise ValueError(
            f"beta has shape {list(beta.shape)}, but must have {list(key.shape[:-1])}, "
            "one number for each key"
        )
    expected = [*key.shape[-3:-1], value.shape[-1], key.shape[-1]]
    if state is not None and list(state.shape) != expected:
        raise ValueError(
            f"state has shape {list(state.shape)}, but must have {expected}: "
            "[batch_size, heads, d_v, d_phi]"
        )
