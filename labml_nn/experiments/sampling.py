r"""
---
title: Sampling
summary: Guess the next character, write it down, and go on from there.
papers:
  - title: The Curious Case of Neural Text Degeneration
    authors: Holtzman et al.
    year: 2020
    url: https://arxiv.org/abs/1904.09751
symbols:
  z: logits
  T: temperature
  p: probabilities
---
# Sampling

A model that can guess the next character can write. Let it guess, take one of its guesses,
append it, and ask again.

Which guess? Always the likeliest soon goes round in circles: in a text that people wrote, the
next word is often *not* the likeliest one (Holtzman et al. 2020). So we draw, each character
with the probability that the model gives it. A *temperature* $T$ makes the draw more careful or
more daring. With the scores $z_i$ for the characters $i$:

$$p_i = \frac{e^{z_i / T}}{\sum_j e^{z_j / T}}$$

$T = 1$ is the model's own opinion. Towards 0 the likeliest takes all; with a large $T$ all are
equal.

>>> logits = torch.tensor([2.0, 1.0, 0.0])
>>> for temperature in (0.25, 1.0, 4.0):
...     print([round(p, 2) for p in (logits / temperature).softmax(dim=-1).tolist()])
[0.98, 0.02, 0.0]
[0.67, 0.24, 0.09]
[0.42, 0.33, 0.25]
"""

from typing import Any

import torch
from torch import Tensor, nn

from labml_nn.experiments.evaluation import evaluating


def sample(
    model: nn.Module,
    prompt: Tensor,
    length: int,
    *,
    seed: int = 0,
    temperature: float = 1.0,
    max_len: int | None = None,
) -> Tensor:
    r"""
    ## The loop

    * `prompt: [n_prompt]`
    * `return: [length]`

    A model may have `step(x, state)`. It takes the next piece of a sequence and what it
    remembers of the earlier ones, and gives the scores and the new memory. Then each character
    costs one step. Without it, the model reads all that was written so far again for each
    character: the last `max_len` characters of it.

    Here is a model with a memory of one number: it counts, modulo 5, and likes the next one
    best.

    >>> class Counting(nn.Module):
    ...     def forward(self, x):
    ...         return 100.0 * nn.functional.one_hot((x.cumsum(dim=0) + 1) % 5, 5)
    ...     def step(self, x, state=None):
    ...         total = x.cumsum(dim=0) + (0 if state is None else state)
    ...         return 100.0 * nn.functional.one_hot((total + 1) % 5, 5), total[-1:]
    >>> counting = Counting()
    >>> with_memory = sample(counting, torch.tensor([1, 1]), 7)
    >>> with_memory
    tensor([3, 1, 2, 4, 3, 1, 2])

    With or without, the text is the same:

    >>> del Counting.step
    >>> torch.equal(sample(counting, torch.tensor([1, 1]), 7), with_memory)
    True

    Sampling leaves no trace. It keeps no gradients, gives the model back in [the mode that it
    had](evaluation.html), and draws from a generator of its own. A common loop does none of the
    three: a training that looks at a sample now and then is another training afterwards,
    without dropout and with other dice.

    >>> _ = counting.train()
    >>> before = torch.random.get_rng_state()
    >>> _ = sample(counting, torch.tensor([1]), 3)
    >>> counting.training, torch.equal(torch.random.get_rng_state(), before)
    (True, True)

    An equal seed gives an equal sample.
    """
    if prompt.dim() != 1 or len(prompt) == 0:
        raise ValueError(
            f"prompt has shape {list(prompt.shape)}, but must be [n] with n above 0"
        )
    if length < 0 or not 0 <= temperature < float("inf"):
        raise ValueError(
            f"length = {length} and temperature = {temperature} must be at least 0 and finite"
        )
    if not -(2**63) <= seed < 2**64:
        raise ValueError(f"seed = {seed} must fit into 64 bits")
    generator = torch.Generator().manual_seed(seed)
    device = next((tensor.device for tensor in model.parameters()), torch.device("cpu"))
    writer = _Writer(model, max_len)
    # `written: [n_prompt]`
    written = prompt
    with evaluating(model):
        for _ in range(length):
            # `logits: [n_tokens]`
            logits = writer.scores(written.to(device)).float().cpu()
            # * `guess: [1]`
            # * `written: [n_written]`
            guess = _draw(logits, temperature, generator)
            written = torch.cat([written, guess])
    return written[len(prompt) :]


class _Writer:
    r"""
    ## With memory, as long as it lasts

    Some models take a sequence of any length. Others have learned `max_len` positions and no
    more. Such a model, when its positions are used up, has to begin anew at each character,
    with the last `max_len` of them: all later positions have moved by one, and a memory of them
    is of no use.
    """

    def __init__(self, model: nn.Module, max_len: int | None):
        self.model = model
        self.has_memory = hasattr(model, "step")
        own = getattr(model, "max_len", None)
        # A bound that was given counts for a model without memory. Its own counts always.
        given = None if self.has_memory else max_len
        bounds = [bound for bound in (own, given) if bound is not None]
        self.max_len = min(bounds) if bounds else None
        self.state: Any = None
        self.n_read = 0

    def scores(self, written: Tensor) -> Tensor:
        r"""
        ### Scores for the next character

        * `written: [n_written]`
        * `return: [n_tokens]`
        """
        full = self.max_len is not None and len(written) > self.max_len
        if full or not self.has_memory:
            # `window: [n_window]`
            window = written[-self.max_len :] if self.max_len is not None else written
            return self.model(window.unsqueeze(1))[-1, 0]
        # Only what it has not read yet: at first the prompt, then one character at a time.
        #
        # `piece: [n_piece, 1]`
        piece = written[self.n_read :].unsqueeze(1)
        logits, self.state = self.model.step(piece, self.state)  # type: ignore[operator]
        self.n_read = len(written)
        return logits[-1, 0]


def _draw(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    r"""
    ## One character

    * `logits: [n_tokens]`
    * `return: [1]`

    At temperature 0 there is nothing to draw, and nothing to divide by.
    """
    if temperature == 0:
        return logits.argmax(dim=-1, keepdim=True)
    # The largest score is taken off first: a tiny temperature would make it infinite.
    probabilities = ((logits - logits.max()) / temperature).softmax(dim=-1)
    return torch.multinomial(probabilities, 1, generator=generator)
