r"""
---
title: Fast weights
summary: Linear attention is a memory that programs itself. Let it correct what it wrote.
papers:
  - title: Linear Transformers Are Secretly Fast Weight Programmers
    authors: Schlag, Irie and Schmidhuber
    year: 2021
    url: https://arxiv.org/abs/2102.11174
  - title: Parallelizing Linear Transformers with the Delta Rule over Sequence Length
    authors: Yang et al.
    year: 2024
    url: https://arxiv.org/abs/2406.06484
  - title: "Transformers are RNNs: Fast Autoregressive Transformers with Linear Attention"
    authors: Katharopoulos et al.
    year: 2020
    url: https://arxiv.org/abs/2006.16236
symbols:
  W: weights
  q: query
  k: key
  v: value
  y: y
  \phi: [phi, self.phi]
  \beta: beta
order: [dpfp, token_wise, chunkwise]
---
# Fast weights

[Attention](../mha.html) keeps the key and the value of every position, and compares each query
with all of them. A text twice as long takes four times the work, and while a model writes, what
it has to keep grows with every word.

A recurrent network keeps a state of fixed size. Can attention have one? Take out the softmax,
and it can. What then stands in the place of the growing list is a matrix of weights that the
network itself rewrites at every step: *fast weights*, beside the slow ones that training
changes. Schlag et al. 2021 show that this is an idea of the early nineties ([Schmidhuber
1992](https://doi.org/10.1162/neco.1992.4.1.131)), and that it comes with a cure for its own
weakness.

## Take out the softmax

Let position $t$ have a query $q_t$, a key $k_t$ and a value $v_t$. Causal attention without its
denominator is

$$y_t = \sum_{s \le t} e^{k_s \cdot q_t}\, v_s$$

The exponential ties key and query together. Replace it by a product of *features*, with some
map $\phi$ that looks at one vector at a time: $\phi(k_s) \cdot \phi(q_t)$. Then the query can
be pulled out of the sum. With $\otimes$ for the outer product, $(a \otimes b)_{ij} = a_i b_j$,

$$
\begin{aligned}
y_t &= \sum_{s \le t} \big(\phi(k_s) \cdot \phi(q_t)\big)\, v_s = W_t\, \phi(q_t) \\
W_t &= \sum_{s \le t} v_s \otimes \phi(k_s)
\end{aligned}
$$

$W_t$ has $d_v$ rows and $d_\phi$ columns, the widths of a value and of the features. It does
not grow. Each step *writes* one outer product, and *reads* with one product (Katharopoulos et
al. 2020; Schlag et al., section 3). Here are both forms, for eleven positions:

>>> query, key = torch.randn(2, 11, 4).softmax(dim=-1)
>>> value = torch.randn(11, 5)
>>> table = (query @ key.T).tril() @ value
>>> weights = torch.zeros(5, 4)
>>> for t in range(11):
...     weights = weights + torch.outer(value[t], key[t])
...     y = weights @ query[t]
>>> torch.allclose(y, table[-1], atol=1e-5)
True

## How much fits in

To write $v$ under $k$ and get it back, the features of $k$ must have length 1 and be orthogonal
to those of all other keys:

$$
\begin{aligned}
W \phi(k_t) &= \sum_s \big(\phi(k_s) \cdot \phi(k_t)\big)\, v_s \\
&= \lVert\phi(k_t)\rVert^2\, v_t + \sum_{s \ne t} \big(\phi(k_s) \cdot \phi(k_t)\big)\, v_s
\end{aligned}
$$

The last sum is *interference*: what was stored under other keys answers too. In $d_\phi$
dimensions there are at most $d_\phi$ orthogonal directions. So a sequence longer than $d_\phi$
must interfere (Schlag et al., section 4.1), and keys that nobody made orthogonal do so from the
second on:

>>> first, second = torch.tensor([1.0, 0.0]), torch.tensor([0.6, 0.8])
>>> weights = torch.outer(torch.tensor([10.0]), first)
>>> weights = weights + torch.outer(torch.tensor([20.0]), second)
>>> (weights @ first).item()
22.0

The first key held 10. Two answers help. A map with more features leaves more room:
[DPFP](dpfp.html). And a better rule for writing wastes less of it.

## The delta rule

A sum cannot forget. If a key is written once with 10 and later with 20, the memory says 30.
What one wants is to *replace*. So first ask what the memory says for this key, then write only
what is missing. With a strength $\beta_t$ between 0 and 1, which the network chooses at each
step,

$$W_t = W_{t-1} + \beta_t\, \big(v_t - W_{t-1}\, \phi(k_t)\big) \otimes \phi(k_t)$$

(Schlag et al., section 4.2). With $\beta_t = 1$ and features of length 1 the new value replaces
the old one. With $\beta_t = 0$ nothing happens.

>>> weights = torch.outer(torch.tensor([10.0]), first)
>>> error = torch.tensor([20.0]) - weights @ first
>>> weights = weights + torch.outer(error, first)
>>> (weights @ first).item()
20.0

Multiply out, and there are two terms more than before the write:

$$
\begin{aligned}
W_t = W_{t-1} &+ \beta_t\, v_t \otimes \phi(k_t) \\
&- \beta_t\, \big(W_{t-1}\, \phi(k_t)\big) \otimes \phi(k_t)
\end{aligned}
$$

The first of them writes, the second erases. **Leave the second one out**, and what remains is
the sum again, with weights:

>>> wrong = torch.outer(torch.tensor([10.0]), first)
>>> wrong = wrong + torch.outer(torch.tensor([20.0]), first)
>>> (wrong @ first).item()
30.0

The rule is older than back-propagation: it is that of Widrow and Hoff (1960) for a single
layer. It is one step of gradient descent, with learning rate $\beta$, on the squared error of
the memory for the pair at hand:

$$\frac{\partial}{\partial W}\, \tfrac12\, \lVert v - W \phi(k) \rVert^2
= -\,\big(v - W \phi(k)\big) \otimes \phi(k)$$

>>> weights = torch.randn(5, 4, requires_grad=True)
>>> phi, value = torch.randn(4), torch.randn(5)
>>> loss = (value - weights @ phi).square().sum() / 2
>>> (slope,) = torch.autograd.grad(loss, weights)
>>> rule = torch.outer(value - weights @ phi, phi)
>>> torch.allclose(-slope, rule, atol=1e-6)
True

So while the slow weights learn over many texts, the fast ones learn within one. And what
interference has spoilt, they mend, if the pairs come again. Here are the two overlapping keys
from above, written in turn ten times:

>>> weights = torch.zeros(1, 2)
>>> for _ in range(10):
...     for phi, value in ((first, 10.0), (second, 20.0)):
...         weights = weights + torch.outer(value - weights @ phi, phi)
>>> [round((weights @ phi).item(), 2) for phi in (first, second)]
[10.0, 20.0]

## Where to go on

1. [DPFP](dpfp.html) is the feature map, and says why features must be normalised, and what the
   normalisation costs.
2. [Token by token](token_wise.html) is the rule as it stands above, one position at a time.
3. [In chunks](chunkwise.html) is the same rule without most of the waiting. It is the one that
   runs in the layers below.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from labml_nn.transformers.fast_weights.chunkwise import delta_rule, sum_rule
from labml_nn.transformers.fast_weights.dpfp import DPFP
from labml_nn.transformers.mha import PrepareForMultiHeadAttention, check_sequence
from labml_nn.utils import clone_module_list

__all__ = [
    "DPFP",
    "FastWeightsAttention",
    "FastWeightsAttentionTransformer",
    "FastWeightsAttentionTransformerLayer",
    "delta_rule",
    "sum_rule",
]


class FastWeightsAttention(nn.Module):
    r"""
    ## A memory in each head

    Every head has a memory of its own. The slow weights make its query, key and value out of
    $x$, as in attention, and decide by a gate how strongly to write. The heads' answers are
    laid end to end, and an output map mixes them.

    >>> attention = FastWeightsAttention(heads=3, d_model=15, dropout_prob=0.1, phi=DPFP())
    >>> attention(torch.randn(7, 2, 15)).shape
    torch.Size([7, 2, 15])

    There is no mask. The memory is causal by its nature: what is written later cannot have been
    read before. And order counts even where nothing in the vectors tells positions apart. Under
    the same key, what is written later has the last word.
    """

    def __init__(
        self,
        heads: int,
        d_model: int,
        dropout_prob: float,
        phi: Callable[[Tensor], Tensor],
    ):
        r"""
        `phi` is the feature map, normalisation included. It gets `[..., d_k]` and returns
        `[..., d_phi]`. Most maps have nothing to learn; one that has should be a module.
        """
        super().__init__()
        if heads < 1 or d_model < 1 or d_model % heads != 0:
            raise ValueError(f"d_model = {d_model} cannot be shared equally by heads = {heads}")
        self.heads = heads
        self.d_k = d_model // heads
        self.d_model = d_model
        # Three ways in, none with a bias.
        self.query = PrepareForMultiHeadAttention(d_model, heads, self.d_k, bias=False)
        self.key = PrepareForMultiHeadAttention(d_model, heads, self.d_k, bias=False)
        self.value = PrepareForMultiHeadAttention(d_model, heads, self.d_k, bias=False)
        # The gate, one number for each head.
        self.gate = PrepareForMultiHeadAttention(d_model, heads, 1, bias=False)
        self.phi = phi
        # One way out.
        self.output = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout_prob)
        # Checkpoints that are older than this page know the gate by other names.
        self.register_load_state_dict_pre_hook(rename_gate)

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        r"""
        ### What goes to the memory

        $$
        \begin{aligned}
        q &= W^Q x & k &= W^K x \\
        v &= W^V x & \beta &= \sigma(W^\beta x)
        \end{aligned}
        $$

        The sigmoid $\sigma$ keeps the strength between 0 and 1, one number per head. Of query
        and key, only the features $\phi(q)$ and $\phi(k)$ are passed on.

        * `x: [..., d_model]`
        * `return: [..., heads, d_phi]`, the queries; keys, values and strengths follow

        >>> attention = FastWeightsAttention(heads=3, d_model=15, dropout_prob=0.1, phi=DPFP())
        >>> query, key, value, beta = attention.project(torch.randn(7, 2, 15))
        >>> query.shape, value.shape, beta.shape
        (torch.Size([7, 2, 3, 10]), torch.Size([7, 2, 3, 5]), torch.Size([7, 2, 3]))
        """
        # * `query: [..., heads, d_phi]`
        # * `key: [..., heads, d_phi]`
        query, key = self.phi(self.query(x)), self.phi(self.key(x))
        # * `value: [..., heads, d_k]`
        # * `beta: [..., heads]`
        value, beta = self.value(x), torch.sigmoid(self.gate(x)).squeeze(-1)
        return query, key, value, beta

    def mix(self, y: Tensor) -> Tensor:
        r"""
        ### The way out

        * `y: [..., heads, d_k]`
        * `return: [..., d_model]`

        In [attention](labml_nn.transformers.mha.MultiHeadAttention.attend) dropout falls on the
        weights of the average. A memory has no such weights to drop, so it falls on what was
        *read*, and never on what was *written*: a hole in the memory would stay for all later
        positions.

        **A dropout that drops nothing** is easily built: made in the constructor, and forgotten
        in the call. The training loss then looks better than it should, and no error ever
        tells. Ask for the extreme, and it shows. If all that was read is dropped, only the bias
        is left:

        >>> attention = FastWeightsAttention(heads=3, d_model=15, dropout_prob=1.0, phi=DPFP())
        >>> y = attention(torch.randn(7, 2, 15))
        >>> torch.equal(y, attention.output.bias.expand(7, 2, 15))
        True
        """
        return self.output(self.dropout(y.flatten(-2)))

    def forward(self, x: Tensor) -> Tensor:
        r"""
        ### A whole sequence

        * `x: [seq_len, batch_size, d_model]`
        * `return: [seq_len, batch_size, d_model]`
        """
        return self.step(x)[0]

    def step(self, x: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        r"""
        ### A sequence in pieces

        * `x: [seq_len, batch_size, d_model]`
        * `state: [batch_size, heads, d_k, d_phi]`, since here values are as wide as keys
        * `return: [seq_len, batch_size, d_model]`, and the new state

        The state is the memory: the fast weights after the last position. Pass on what the
        former call returned, and a sequence may come in pieces of any length, or one by one
        while a model writes. However long the text, the state stays as large as it is.

        >>> attention = FastWeightsAttention(3, 15, 0.1, DPFP()).eval()
        >>> x = torch.randn(12, 2, 15)
        >>> whole, state = attention(x), None
        >>> pieces = []
        >>> for piece in x.split([7, 1, 4]):
        ...     y, state = attention.step(piece, state)
        ...     pieces.append(y)
        >>> torch.allclose(torch.cat(pieces), whole, atol=1e-5)
        True
        >>> state.shape
        torch.Size([2, 3, 5, 10])

        Gradients flow through the state, back into all earlier pieces. To cut them, detach it.
        """
        check_sequence("x", x, self.d_model)
        query, key, value, beta = self.project(x)
        # Each head reads from its own memory.
        #
        # * `y: [seq_len, batch_size, heads, d_k]`
        # * `state: [batch_size, heads, d_k, d_phi]`
        y, state = delta_rule(query, key, value, beta, state)
        return self.mix(y), state


class FastWeightsAttentionTransformerLayer(nn.Module):
    r"""
    ## One layer

    The memory, then the [feed-forward network](../feed_forward.html), each adding to what flows
    past. In front of each, the input is normalised.

    >>> from labml_nn.transformers.feed_forward import FeedForward
    >>> layer = FastWeightsAttentionTransformerLayer(
    ...     d_model=15,
    ...     attn=FastWeightsAttention(3, 15, 0.1, DPFP()),
    ...     feed_forward=FeedForward(15, 60),
    ...     dropout_prob=0.1,
    ... )
    >>> layer(torch.randn(7, 2, 15)).shape
    torch.Size([7, 2, 15])
    """

    def __init__(
        self,
        *,
        d_model: int,
        attn: FastWeightsAttention,
        feed_forward: nn.Module,
        dropout_prob: float,
        pre_norm: bool = True,
    ):
        r"""
        ### A norm that nobody calls

        The layer that many checkpoints come from made two norms and called one. The other sat
        in the optimiser and in every checkpoint, and never had a gradient. Training in several
        processes stops at such a parameter: torch's `DistributedDataParallel` waits for
        gradients that do not come. It takes one backward pass to find out:

        >>> def without_gradient(**settings):
        ...     attn = FastWeightsAttention(3, 15, 0.1, DPFP())
        ...     layer = FastWeightsAttentionTransformerLayer(
        ...         d_model=15,
        ...         attn=attn,
        ...         feed_forward=nn.Linear(15, 15),
        ...         dropout_prob=0.1,
        ...         **settings,
        ...     )
        ...     layer(torch.randn(7, 2, 15)).square().sum().backward()
        ...     return [name for name, p in layer.named_parameters() if p.grad is None]
        >>> without_gradient()
        []
        >>> without_gradient(pre_norm=False)
        ['norm_self_attn.weight', 'norm_self_attn.bias']

        To use the norm changes what an old checkpoint computes. With `pre_norm=False` the layer
        computes what it did. The norm is then there for the checkpoint only, and is frozen, so
        that nobody waits for it.
        """
        super().__init__()
        self.size = d_model
        self.attn = attn
        self.feed_forward = feed_forward
        self.dropout = nn.Dropout(dropout_prob)
        self.norm_self_attn = nn.LayerNorm(d_model)
        self.norm_ff = nn.LayerNorm(d_model)
        self.pre_norm = pre_norm
        if not pre_norm:
            self.norm_self_attn.requires_grad_(False)

    def forward(self, x: Tensor) -> Tensor:
        r"""
        ### A whole sequence

        * `x: [seq_len, batch_size, d_model]`
        * `return: [seq_len, batch_size, d_model]`
        """
        return self.step(x)[0]

    def step(self, x: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        r"""
        ### A sequence in pieces

        * `x: [seq_len, batch_size, d_model]`
        * `state: [batch_size, heads, d_k, d_phi]`
        * `return: [seq_len, batch_size, d_model]`, and the new state
        """
        check_sequence("x", x, self.size)
        # $x + \operatorname{memory}(\operatorname{norm}(x))$
        #
        # * `z: [seq_len, batch_size, d_model]`
        # * `y: [seq_len, batch_size, d_model]`
        # * `state: [batch_size, heads, d_k, d_phi]`
        z = self.norm_self_attn(x) if self.pre_norm else x
        y, state = self.attn.step(z, state)
        return self.think(x + self.dropout(y)), state

    def think(self, x: Tensor) -> Tensor:
        r"""
        ### The second half

        $$x + \operatorname{FFN}(\operatorname{norm}(x))$$

        * `x: [..., d_model]`
        * `return: [..., d_model]`
        """
        return x + self.dropout(self.feed_forward(self.norm_ff(x)))


class FastWeightsAttentionTransformer(nn.Module):
    r"""
    ## Layers on layers

    A stack of [copies](../../utils.html) of one layer, and a norm at the end.

    >>> layer = FastWeightsAttentionTransformerLayer(
    ...     d_model=15,
    ...     attn=FastWeightsAttention(3, 15, 0.1, DPFP(norm="l2")),
    ...     feed_forward=nn.Linear(15, 15),
    ...     dropout_prob=0.1,
    ... )
    >>> transformer = FastWeightsAttentionTransformer(layer, n_layers=4).eval()
    >>> x = torch.randn(7, 2, 15)
    >>> before = transformer(x)
    >>> before.shape
    torch.Size([7, 2, 15])

    No layer looks ahead, so the stack does not. Change the last position beyond recognition:

    >>> x[-1] = 1000.0
    >>> torch.allclose(transformer(x)[:-1], before[:-1], atol=1e-6)
    True
    """

    def __init__(self, layer: FastWeightsAttentionTransformerLayer, n_layers: int):
        super().__init__()
        if n_layers < 1:
            raise ValueError(f"a stack needs at least one layer, not n_layers = {n_layers}")
        self.layers = clone_module_list(layer, n_layers)
        self.norm = nn.LayerNorm(layer.size)

    def forward(self, x_seq: Tensor) -> Tensor:
        r"""
        ### A whole sequence

        * `x_seq: [seq_len, batch_size, d_model]`
        * `return: [seq_len, batch_size, d_model]`
        """
        return self.step(x_seq)[0]

    def step(
        self, x: Tensor, state: tuple[Tensor, ...] | None = None
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        r"""
        ### A sequence in pieces

        The state is a tuple, with the memory of each layer.

        * `x: [seq_len, batch_size, d_model]`
        * `state: [batch_size, heads, d_k, d_phi]`, each
        * `return: [seq_len, batch_size, d_model]`, and the new state

        >>> layer = FastWeightsAttentionTransformerLayer(
        ...     d_model=15,
        ...     attn=FastWeightsAttention(3, 15, 0.1, DPFP()),
        ...     feed_forward=nn.Linear(15, 15),
        ...     dropout_prob=0.1,
        ... )
        >>> transformer = FastWeightsAttentionTransformer(layer, n_layers=4).eval()
        >>> x = torch.randn(8, 2, 15)
        >>> first, state = transformer.step(x[:7])
        >>> rest, state = transformer.step(x[7:], state)
        >>> torch.allclose(torch.cat([first, rest]), transformer(x), atol=1e-5)
        True
        """
        if state is not None and len(state) != len(self.layers):
            raise ValueError(
                f"state holds {len(state)} memories, but the transformer has "
                f"{len(self.layers)} layers"
            )
        after = []
        for n, layer in enumerate(self.layers):
            former = None if state is None else state[n]
            # * `x: [seq_len, batch_size, d_model]`
            # * `weights: [batch_size, heads, d_k, d_phi]`
            x, weights = layer.step(x, former)  # type: ignore[operator]
            after.append(weights)
        return self.norm(x), tuple(after)


def rename_gate(attention: nn.Module, state: dict[str, Any], prefix: str, *_: Any) -> None:
    r"""
    ## Old names of the gate

    The gate was once the first of two modules in a row, the other a sigmoid. The stepwise form
    called it `gate.0`, the form for sequences `interpolation_weight.0`. Both are read; what is
    saved today says `gate.linear`.

    >>> attention = FastWeightsAttention(heads=3, d_model=15, dropout_prob=0.1, phi=DPFP())
    >>> old = attention.state_dict()
    >>> old["interpolation_weight.0.linear.weight"] = old.pop("gate.linear.weight")
    >>> attention.load_state_dict(old)
    <All keys matched successfully>
    """
    today = f"{prefix}gate.linear.weight"
    for name in ("gate.0", "interpolation_weight.0"):
        old = f"{prefix}{name}.linear.weight"
        if old in state and today not in state:
            state[today] = state.pop(old)
