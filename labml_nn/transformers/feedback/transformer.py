r"""
---
title: Step by step
summary: The loop that writes the memory, with keys and values of each layer or shared by all.
papers:
  - title: Addressing Some Limitations of Transformers with Feedback Memory
    authors: Fan et al.
    year: 2020
    url: https://arxiv.org/abs/2002.09402
symbols:
  m: remembered
  w: [weights, self.weights]
  L: n_layers
  x: x
  k: key
  v: value
  C: BLOCK
  T: seq_len
---
# Step by step

Here is the loop of the [feedback transformer](index.html). At step $t$ the input $x^0_t$ goes up
through $L$ layers, each of which looks back at the memories $m_0, \dots, m_{t-1}$. What the layers
found, $x^1_t, \dots, x^L_t$, and the input itself are blended into one new memory,

$$m_t = \sum_{l=0}^{L} \operatorname{softmax}(w)_l \; x_t^l$$

with $L + 1$ learned numbers $w$. Then the next step begins.

Both models on this page run this loop. In [the first](labml_nn.transformers.feedback.transformer.FeedbackTransformer)
each layer has its own keys and values of a memory. In
[the second](labml_nn.transformers.feedback.transformer.FeedbackTransformerKV) all layers share
them.
"""

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn

from labml_nn.transformers.feedback.attention import Distances, FeedbackAttention
from labml_nn.transformers.mha import KeysAndValues, PrepareForMultiHeadAttention
from labml_nn.utils import clone_module_list


class FeedbackTransformerLayer(nn.Module):
    r"""
    ## One layer at one step

    Look back, then think: attention to the memory, then a [feed-forward](../feed_forward.html)
    network. Each is normalised on the way in and added to what was there.

    >>> from labml_nn.transformers import FeedForward
    >>> layer = FeedbackTransformerLayer(
    ...     d_model=15,
    ...     attn=FeedbackAttention(heads=3, d_model=15),
    ...     feed_forward=FeedForward(d_model=15, d_ff=60),
    ...     dropout_prob=0.1,
    ... )
    >>> x, memory = torch.randn(2, 15), torch.randn(7, 2, 15)
    >>> layer(x=x, key=memory, value=memory).shape
    torch.Size([2, 15])
    """

    def __init__(
        self,
        *,
        d_model: int,
        attn: FeedbackAttention,
        feed_forward: nn.Module,
        dropout_prob: float,
    ):
        super().__init__()
        if attn.d_model != d_model:
            raise ValueError(f"d_model = {d_model}, but attention has d_model = {attn.d_model}")
        self.d_model = d_model
        self.attn = attn
        self.feed_forward = feed_forward
        self.dropout = nn.Dropout(dropout_prob)
        self.norm_self_attn = nn.LayerNorm(d_model)
        self.norm_ff = nn.LayerNorm(d_model)

    def forward(self, *, x: Tensor, key: Tensor | None, value: Tensor | None) -> Tensor:
        r"""
        * `x: [batch_size, d_model]`
        * `return: [batch_size, d_model]`

        Keys and values are as [attention](labml_nn.transformers.feedback.attention.FeedbackAttention.forward)
        takes them. At the first step there is nothing to look back at, and both are `None`.

        * `key: [seq_len, batch_size, d_model]` or `key: [seq_len, batch_size, heads, d_k]`
        * `value: [seq_len, batch_size, d_model]` or `value: [seq_len, batch_size, heads, d_k]`

        >>> from labml_nn.transformers import FeedForward
        >>> attn = FeedbackAttention(heads=3, d_model=15)
        >>> ff = FeedForward(d_model=15, d_ff=60)
        >>> layer = FeedbackTransformerLayer(
        ...     d_model=15, attn=attn, feed_forward=ff, dropout_prob=0.0
        ... ).eval()
        >>> x = torch.randn(2, 15)
        >>> first = layer(x=x, key=None, value=None)
        >>> torch.allclose(first, x + ff(layer.norm_ff(x)), atol=1e-6)
        True
        """
        if x.ndim != 2 or x.shape[-1] != self.d_model:
            raise ValueError(
                f"x has shape {list(x.shape)}, but must have [batch_size, d_model] "
                f"with d_model = {self.d_model}"
            )
        if key is not None and value is not None:
            # * `z: [batch_size, d_model]`
            # * `x: [batch_size, d_model]`
            z = self.norm_self_attn(x)
            x = x + self.dropout(self.attn(query=z, key=key, value=value))
        elif key is not None or value is not None:
            raise ValueError("key and value must both be given, or both be None")
        return self.think(x)

    def ask(self, x: Tensor) -> Tensor:
        r"""
        ### What to look for

        * `x: [..., batch_size, d_model]`
        * `return: [..., batch_size, heads, d_k]`
        """
        return self.attn.query(self.norm_self_attn(x))

    def look_back(
        self, x: Tensor, query: Tensor, memory: "Memory", distances: Distances
    ) -> Tensor:
        r"""
        ### Look back, in the loop

        Keys and values are in the memory already.

        * `x: [batch_size, d_model]`
        * `query: [batch_size, heads, d_k]`
        * `distances.pos_key: [heads, d_k, n_distances]`
        * `distances.pos_bias: [heads, 1, n_distances]`
        * `return: [batch_size, d_model]`
        """
        # `found: [batch_size, heads, d_k]`
        found = self.attn.recall(query, *memory.pieces(), distances)
        return x + self.dropout(self.attn.output(found.flatten(-2)))

    def think(self, x: Tensor) -> Tensor:
        r"""
        ### Think

        * `x: [batch_size, d_model]`
        * `return: [batch_size, d_model]`
        """
        return x + self.dropout(self.feed_forward(self.norm_ff(x)))


# How many steps the recent piece of a memory holds before it is added to the old one.
BLOCK = 64


class Memory:
    r"""
    ## A memory that grows

    At each step one key $k$ and one value $v$ come in, and all so far are wanted. The first thing
    that comes to mind is to join the new one to the old ones, at every step:

    >>> memory = torch.zeros(0, 5)
    >>> for step in range(7):
    ...     memory = torch.cat([memory, torch.randn(1, 5)])
    >>> memory.shape
    torch.Size([7, 5])

    Each step copies all that came before. Worse, autograd needs the memory of *every* step on the
    way back, so all of these copies stay. For $T$ steps that is $T^2 / 2$ rows: at 2,048 steps of
    256 numbers, for keys and values, more than four gigabytes.

    So keep two pieces. The *recent* one grows at every step, up to $C$ rows; then it goes into the
    *old* one. A step copies at most $C$ rows, and all but one step in $C$ share their old piece.
    That leaves $T^2 / 2C + T C / 2$ rows:

    >>> seq_len = 2048
    >>> seq_len**2 // 2
    2097152
    >>> seq_len**2 // (2 * BLOCK) + seq_len * BLOCK // 2
    98304

    The gradient gains as well. A tensor that many steps have used collects their gradients in one
    place, while each copy first has to pass its own down the chain.

    No custom function is needed for any of this. What goes wrong when one tries is
    [a lesson of its own](stack.html).

    A memory belongs to one run of the loop and is gone after it.
    """

    def __init__(self, heads: int, state: KeysAndValues | None = None):
        self.heads = heads
        self.length = 0
        self.old: list[Tensor] = []
        self.recent: list[Tensor] = []
        if state is not None:
            # A [state](labml_nn.transformers.mha.KeysAndValues) is an old piece.
            #
            # `self.old: [batch_size * heads, length, d_k]`
            self.length = state.key.shape[0]
            self.old = [t.permute(1, 2, 0, 3).flatten(0, 1) for t in state]

    def append(self, key: Tensor, value: Tensor) -> None:
        r"""
        ### One step more

        * `key: [batch_size, heads, d_k]`
        * `value: [batch_size, heads, d_k]`
        """
        # One matrix for each item and each head, here with a single row.
        #
        # * `new: [batch_size * heads, 1, d_k]`
        # * `self.recent: [batch_size * heads, n, d_k]`
        new = [t.reshape(-1, 1, t.shape[-1]) for t in (key, value)]
        self.recent = joined(self.recent, new)
        self.length += 1
        if self.recent[0].shape[1] == BLOCK:
            self.old, self.recent = joined(self.old, self.recent), []

    def pieces(self) -> tuple[list[Tensor], list[Tensor]]:
        r"""
        ### All so far

        The keys of the old piece and of the recent one, then the values.

        >>> memory = Memory(heads=3)
        >>> for step in range(70):
        ...     memory.append(torch.randn(2, 3, 5), torch.randn(2, 3, 5))
        >>> keys, values = memory.pieces()
        >>> [tuple(key.shape) for key in keys]
        [(6, 64, 5), (6, 6, 5)]
        """
        both = [pair for pair in (self.old, self.recent) if pair]
        return [key for key, _ in both], [value for _, value in both]

    def state(self) -> KeysAndValues:
        r"""
        ### To go on later

        Keys and values are kept as attention makes them, with an axis for the batch and one for
        the heads:

        * `return.key: [length, batch_size, heads, d_k]`
        * `return.value: [length, batch_size, heads, d_k]`
        """
        # * `key: [batch_size * heads, length, d_k]`
        # * `value: [batch_size * heads, length, d_k]`
        key, value = joined(self.old, self.recent)
        return KeysAndValues(
            *(t.unflatten(0, (-1, self.heads)).permute(2, 0, 1, 3) for t in (key, value))
        )


def joined(first: list[Tensor], second: list[Tensor]) -> list[Tensor]:
    r"""
    Keys to keys and values to values, along the steps.
    """
    if not first or not second:
        return first or second
    return [torch.cat(pair, dim=1) for pair in zip(first, second, strict=True)]


class FeedbackTransformer(nn.Module):
    r"""
    ## Each layer reads the memory its own way

    >>> from labml_nn.transformers import FeedForward
    >>> layer = FeedbackTransformerLayer(
    ...     d_model=15,
    ...     attn=FeedbackAttention(heads=3, d_model=15),
    ...     feed_forward=FeedForward(d_model=15, d_ff=60),
    ...     dropout_prob=0.1,
    ... )
    >>> model = FeedbackTransformer(layer, n_layers=7).eval()
    >>> x = torch.randn(13, 2, 15)
    >>> model(x).shape
    torch.Size([13, 2, 15])

    There is no mask anywhere, and no step hears of the future. It has not happened yet:

    >>> before = model(x)
    >>> x[9:] = 1000.0
    >>> after = model(x)
    >>> torch.allclose(before[:9], after[:9], atol=1e-6)
    True
    """

    # Do keys and values come from outside the layers?
    shares_keys_and_values = False

    def __init__(self, layer: FeedbackTransformerLayer, n_layers: int):
        r"""
        ### What is learned

        Besides the layers, the blend: $w$ begins equal for all of them.
        """
        super().__init__()
        if n_layers < 1:
            raise ValueError(f"n_layers = {n_layers} must be at least 1")
        if layer.attn.is_kv_precomputed != self.shares_keys_and_values:
            raise ValueError(
                f"{type(self).__name__} needs attention with "
                f"is_kv_precomputed = {self.shares_keys_and_values}, "
                f"but it is {layer.attn.is_kv_precomputed}"
            )
        self.d_model = layer.d_model
        self.heads = layer.attn.heads
        self.n_layers = n_layers
        self.layers = clone_module_list(layer, n_layers)
        self.norm = nn.LayerNorm(layer.d_model)
        # One number for the input and one for each layer.
        #
        # `self.weights: [n_layers + 1]`
        self.weights = nn.Parameter(torch.ones(n_layers + 1))

    @property
    def all_layers(self) -> list[FeedbackTransformerLayer]:
        r"""
        The layers, as what they are.
        """
        return cast(list[FeedbackTransformerLayer], list(self.layers))

    def remember(self, outputs: Sequence[Tensor], weights: Tensor) -> Tensor:
        r"""
        ### One memory of all layers

        $$m_t = \sum_{l=0}^{L} \operatorname{softmax}(w)_l \; x_t^l$$

        * `outputs: [batch_size, d_model]`, each of the $L + 1$
        * `weights: [n_layers + 1]`, after the softmax
        * `return: [batch_size, d_model]`
        """
        return torch.einsum("lbd,l->bd", torch.stack(list(outputs)), weights)

    def slowly(self, x_seq: Tensor) -> Tensor:
        r"""
        ### The loop, line by line

        * `x_seq: [seq_len, batch_size, d_model]`
        * `return: [seq_len, batch_size, d_model]`

        It makes the keys and values of every memory anew, at every step and in every layer.
        """
        self.check(x_seq)
        # `weights: [n_layers + 1]`
        weights = self.weights.softmax(dim=0)
        memories: list[Tensor] = []
        results: list[Tensor] = []
        for x in x_seq:
            # All that there is to look back at; `None` at the first step.
            #
            # * `key: [n_memories, batch_size, d_model]`
            # * `key: [n_memories, batch_size, heads, d_k]`
            key, value = self.keys_and_values(memories)
            # The input goes into the blend as well.
            #
            # * `x: [batch_size, d_model]`
            # * `outputs: [batch_size, d_model]`
            outputs = [x]
            for layer in self.all_layers:
                x = layer(x=x, key=key, value=value)
                outputs.append(x)
            memories.append(self.remember(outputs, weights))
            results.append(x)
        return self.norm(torch.stack(results))

    def keys_and_values(self, memories: list[Tensor]) -> tuple[Tensor | None, Tensor | None]:
        r"""
        What all layers are given to look back at: here the memories themselves.

        * `memories: [batch_size, d_model]`, each of them
        * `return: [seq_len, batch_size, d_model]`
        """
        if not memories:
            return None, None
        # `memory: [seq_len, batch_size, d_model]`
        memory = torch.stack(memories)
        return memory, memory

    def begin(self, state: tuple[KeysAndValues, ...] | None) -> list[Memory]:
        r"""
        ### A memory for each layer

        Empty, or with what a state holds.
        """
        heads = self.heads
        return [
            Memory(heads, None if state is None else state[n]) for n in range(self.n_layers)
        ]

    def write(self, memories: list[Memory], remembered: Tensor) -> None:
        r"""
        ### Write once

        A memory does not change any more, and neither do its key and value. So make them when
        the memory is written, and never again.

        * `remembered: [batch_size, d_model]`
        """
        for layer, memory in zip(self.all_layers, memories, strict=True):
            memory.append(layer.attn.key(remembered), layer.attn.value(remembered))

    def step(
        self, x: Tensor, state: tuple[KeysAndValues, ...] | None = None
    ) -> tuple[Tensor, tuple[KeysAndValues, ...]]:
        r"""
        ### The loop, in earnest

        It continues a sequence by any number of steps: `state` is what the call before gave back,
        and all that the past is.

        * `x: [seq_len, batch_size, d_model]`
        * `return: [seq_len, batch_size, d_model]`

        Whatever the pieces, the result is that of the whole. So one can write a text step by step,
        or train on segments of a long one. Gradients flow back through the state as far as it goes;
        `detach` its tensors to stop them there.

        >>> from labml_nn.transformers import FeedForward
        >>> attn = FeedbackAttention(heads=3, d_model=15)
        >>> layer = FeedbackTransformerLayer(
        ...     d_model=15, attn=attn, feed_forward=FeedForward(15, 60), dropout_prob=0.1
        ... )
        >>> model = FeedbackTransformer(layer, n_layers=7).eval()
        >>> x = torch.randn(13, 2, 15)
        >>> whole = model(x)
        >>> torch.allclose(model.slowly(x), whole, atol=1e-5)
        True
        >>> first, state = model.step(x[:9])
        >>> second, state = model.step(x[9:], state)
        >>> torch.allclose(torch.cat([first, second]), whole, atol=1e-5)
        True

        The state has the keys and values of each layer:

        >>> len(state), state[0].key.shape
        (7, torch.Size([13, 2, 3, 5]))
        """
        self.check(x, state)
        memories = self.begin(state)
        distances: list[Distances] = []
        # `weights: [n_layers + 1]`
        weights = self.weights.softmax(dim=0)
        results: list[Tensor] = []

        # How far back the last step of this piece will look, and how far `distances` reach.
        farthest = memories[0].length + x.shape[0] - 1
        reach = 0

        # What the lowest layer looks for depends on the input alone, which is there from the start.
        # So all its questions are asked at once.
        #
        # * `first_queries: [seq_len, batch_size, heads, d_k]`
        # * `first_query: [batch_size, heads, d_k]`
        first_queries = self.all_layers[0].ask(x)

        for x_t, first_query in zip(x, first_queries, strict=True):
            n_memories = memories[0].length
            # Cutting the tables costs a copy, and on the way back a whole table of zeros to put the
            # gradient in. So cut them for a whole block of steps.
            if n_memories > reach:
                reach = min(n_memories + BLOCK - 1, farthest)
                distances = [layer.attn.get_distances(reach) for layer in self.all_layers]

            outputs = [x_t]
            for n, layer in enumerate(self.all_layers):
                # The first step has nothing to look back at.
                #
                # * `query: [batch_size, heads, d_k]`
                # * `x_t: [batch_size, d_model]`
                if n_memories > 0:
                    query = first_query if n == 0 else layer.ask(x_t)
                    x_t = layer.look_back(x_t, query, memories[n], distances[n])
                x_t = layer.think(x_t)
                outputs.append(x_t)
            self.write(memories, self.remember(outputs, weights))
            results.append(x_t)

        # `y: [seq_len, batch_size, d_model]`
        y = self.norm(torch.stack(results))
        return y, self.end(memories)

    def end(self, memories: list[Memory]) -> tuple[KeysAndValues, ...]:
        r"""
        ### What is left

        The state, for whoever wants to go on.
        """
        return tuple(memory.state() for memory in memories)

    def forward(self, x_seq: Tensor) -> Tensor:
        r"""
        ### From the beginning

        * `x_seq: [seq_len, batch_size, d_model]`
        * `return: [seq_len, batch_size, d_model]`
        """
        y, _ = self.step(x_seq)
        return y

    def check(self, x: Tensor, state: tuple[KeysAndValues, ...] | None = None) -> None:
        r"""
        ### Inputs that do not fit

        >>> attn = FeedbackAttention(heads=3, d_model=15)
        >>> layer = FeedbackTransformerLayer(
        ...     d_model=15, attn=attn, feed_forward=nn.Linear(15, 15), dropout_prob=0.1
        ... )
        >>> model = FeedbackTransformer(layer, n_layers=4)
        >>> model(torch.randn(7, 2, 14))
        Traceback (most recent call last):
            ...
        ValueError: x has shape [7, 2, 14], but must have [seq_len, batch_size, d_model] with d_model = 15 and seq_len at least 1

        * `x: [seq_len, batch_size, d_model]`
        """  # noqa: E501
        if x.ndim != 3 or x.shape[-1] != self.d_model or x.shape[0] == 0:
            raise ValueError(
                f"x has shape {list(x.shape)}, but must have [seq_len, batch_size, d_model] "
                f"with d_model = {self.d_model} and seq_len at least 1"
            )
        if state is None:
            return
        expected = 1 if self.shares_keys_and_values else self.n_layers
        if len(state) != expected:
            raise ValueError(
                f"the state has keys and values for {len(state)} layers, but must for {expected}"
            )
        if state[0].key.shape[1] != x.shape[1]:
            raise ValueError(
                f"x has a batch of {x.shape[1]}, "
                f"but the state is from a batch of {state[0].key.shape[1]}"
            )


class FeedbackTransformerKV(FeedbackTransformer):
    r"""
    ## All layers read it the same way

    In the model above every layer makes its own key and value of each memory. But a memory is
    already a blend of all layers. Fan et al. 2020 share one map for the keys and one for the
    values between all layers, so that each memory is read in one way only. Then there is one list
    of keys and values to write at each step, and one to keep: with $L$ layers, $L$ times less.

    A layer can still ask its own questions. Queries stay its own, and so do the tables of
    distances.

    >>> from labml_nn.transformers import FeedForward
    >>> attn = FeedbackAttention(heads=3, d_model=15, is_kv_precomputed=True)
    >>> layer = FeedbackTransformerLayer(
    ...     d_model=15, attn=attn, feed_forward=FeedForward(15, 60), dropout_prob=0.1
    ... )
    >>> model = FeedbackTransformerKV(layer, n_layers=7, d_model=15, heads=3).eval()
    >>> x = torch.randn(13, 2, 15)
    >>> whole = model(x)
    >>> torch.allclose(model.slowly(x), whole, atol=1e-5)
    True
    >>> first, state = model.step(x[:9])
    >>> second, state = model.step(x[9:], state)
    >>> torch.allclose(torch.cat([first, second]), whole, atol=1e-5)
    True
    >>> len(state), state[0].key.shape
    (1, torch.Size([13, 2, 3, 5]))
    """

    shares_keys_and_values = True

    def __init__(
        self, layer: FeedbackTransformerLayer, n_layers: int, d_model: int, heads: int
    ):
        super().__init__(layer, n_layers)
        if d_model != layer.d_model or heads != layer.attn.heads:
            raise ValueError(
                f"d_model = {d_model} and heads = {heads}, but the layer has "
                f"d_model = {layer.d_model} and heads = {layer.attn.heads}"
            )
        d_k = d_model // heads
        self.key = PrepareForMultiHeadAttention(d_model, heads, d_k, bias=False)
        self.value = PrepareForMultiHeadAttention(d_model, heads, d_k, bias=False)

    def keys_and_values(self, memories: list[Tensor]) -> tuple[Tensor | None, Tensor | None]:
        r"""
        For the loop line by line: the keys and values that the layers no longer make.

        * `memories: [batch_size, d_model]`, each of them
        * `return: [seq_len, batch_size, heads, d_k]`
        """
        if not memories:
            return None, None
        # `memory: [seq_len, batch_size, d_model]`
        memory = torch.stack(memories)
        return self.key(memory), self.value(memory)

    def begin(self, state: tuple[KeysAndValues, ...] | None) -> list[Memory]:
        r"""
        ### One memory for all layers
        """
        shared = Memory(self.heads, None if state is None else state[0])
        return [shared] * self.n_layers

    def write(self, memories: list[Memory], remembered: Tensor) -> None:
        r"""
        * `remembered: [batch_size, d_model]`
        """
        memories[0].append(self.key(remembered), self.value(remembered))

    def end(self, memories: list[Memory]) -> tuple[KeysAndValues, ...]:
        r"""
        There is only one to keep.
        """
        return (memories[0].state(),)

    def free(self) -> None:
        r"""
        ### Nothing to free

        Earlier forms of this model kept their memory in [buffers](stack.html) between calls, and
        one had to let go of them by hand. Here a memory is gone when its call is, and this method
        is left for code that calls it.
        """
