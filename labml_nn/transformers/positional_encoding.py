r"""
---
title: Positional encoding
summary: A clock with many hands, so that a position knows where it stands.
papers:
  - title: Attention Is All You Need
    authors: Vaswani et al.
    year: 2017
    url: https://arxiv.org/abs/1706.03762
symbols:
  t: positions
  \omega_i: frequencies
  P_t: encodings
  d_{\text{model}}: d_model
---
# Positional encoding

[Attention](mha.html) sees a sequence as a bag: shuffle the keys, and no result changes. But
*dog bites man* is not *man bites dog*. Where a word stands must be written into its vector.

What could we write there? The position as a number, $0, 1, 2, \dots$, soon outgrows everything
else in the vector. Divided by the length of the sequence it stays small, but then a step to the
next word means one thing in a short sequence and another in a long one.

A clock does better. It shows any time, however late, by hands that never leave the dial. One
hand turns fast and tells the seconds apart; one is slow and keeps the hours. Take a clock with
a hand for every two numbers of the vector, and write down the height and the width to which
each hand points. With $i$ for the hand, at position $t$:

$$
\begin{aligned}
P_{t, 2i} &= \sin(\omega_i t) \\
P_{t, 2i+1} &= \cos(\omega_i t) \\
\omega_i &= 10000^{-2i / d_{\text{model}}}
\end{aligned}
$$

(Vaswani et al. 2017, section 3.5.) The first hand turns by one radian with every position, and
is round after $2\pi$ of them. The last is nearly ten thousand times slower.

The encoding is *added* to the vector of the word.
"""

import math

import torch
from torch import Tensor, nn


def sinusoids(positions: Tensor, d_model: int) -> Tensor:
    r"""
    ## The hands at any time

    Positions go in, and for each come out the height and the width of all hands.

    * `positions: [...]`, which may be negative, and fractions too
    * `return: [..., d_model]`, in double precision

    An odd width leaves the slowest hand without its cosine.

    >>> encodings = sinusoids(torch.arange(7), d_model=5)
    >>> encodings.shape
    torch.Size([7, 5])

    **A step is a rotation.** By the addition theorems,

    $$
    \begin{bmatrix} \sin \omega_i (t + k) \\ \cos \omega_i (t + k) \end{bmatrix} =
    \begin{bmatrix}
    \cos \omega_i k & \sin \omega_i k \\
    -\sin \omega_i k & \cos \omega_i k
    \end{bmatrix}
    \begin{bmatrix} \sin \omega_i t \\ \cos \omega_i t \end{bmatrix}
    $$

    The matrix knows how far to go, $k$, but not from where, $t$. So a linear map, the same for
    all positions, finds *the word three places on*. This is why the paper took sines
    (section 3.5). Here is the matrix for the second of three hands and for three places ahead;
    it carries position 4 to position 7, and 40 to 43:

    >>> encodings = sinusoids(torch.arange(50), d_model=6)
    >>> angle = torch.tensor(3 * 10000 ** (-2 / 6)).double()
    >>> sine, cosine = angle.sin(), angle.cos()
    >>> rotation = torch.stack([cosine, sine, -sine, cosine]).view(2, 2)
    >>> torch.allclose(rotation @ encodings[4, 2:4], encodings[7, 2:4])
    True
    >>> torch.allclose(rotation @ encodings[40, 2:4], encodings[43, 2:4])
    True

    **Only the distance counts** when two encodings are compared:

    $$P_t \cdot P_{t'} = \sum_i \cos \omega_i (t - t')$$

    >>> near, far = encodings[4] @ encodings[7], encodings[40] @ encodings[43]
    >>> torch.allclose(near, far)
    True

    That is the plain dot product. Attention puts two learned matrices between, and sums over
    the words as well; what it then learns of distance, it learns from examples. [Relative
    attention](relative_mha.html) builds the distance into the score.
    """
    # $\omega_i$, one for each even place in the vector.
    #
    # `frequencies: [n_hands]`
    even = torch.arange(0, d_model, 2, dtype=torch.float64, device=positions.device)
    frequencies = torch.exp(even * (-math.log(10000.0) / d_model))

    # $\omega_i t$
    #
    # `angles: [..., n_hands]`
    angles = positions.double().unsqueeze(-1) * frequencies
    # Lay sine and cosine side by side for each hand, and the hands end to end. With an odd
    # width that is one number too many.
    #
    # `encodings: [..., 2 * n_hands]`
    encodings = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
    return encodings[..., :d_model]


def get_positional_encoding(d_model: int, max_len: int = 5000) -> Tensor:
    r"""
    ## The table of all positions

    * `return: [max_len, 1, d_model]`, with an axis for the batch

    >>> encodings = get_positional_encoding(d_model=15, max_len=7)
    >>> encodings.shape
    torch.Size([7, 1, 15])

    **Where the digits go.** The angle of the first hand at position 4,999 is 4,999 radians:
    795 times round, and a bit. Only the bit counts. But a number in single precision has about
    seven digits, and four of them are spent on the rounds. A frequency that is off by one part
    in ten million makes an angle that is off by 4,999 such parts:

    >>> positions = torch.arange(5000)
    >>> even = torch.arange(0, 512, 2).float()
    >>> frequencies = torch.exp(even * (-math.log(10000.0) / 512))
    >>> wrong = (positions[:, None] * frequencies).sin()
    >>> right = sinusoids(positions, 512)[:, 0::2]
    >>> error = (wrong - right).abs().amax(dim=1)
    >>> bool(error[:10].max() < 1e-6)
    True
    >>> bool(error.max() > 1e-4)
    True

    That is a thousand times the error that single precision has to make. Compute the angles in
    double precision, and round at the end:

    >>> table = get_positional_encoding(512)[:, 0, 0::2]
    >>> bool((table - right).abs().max() < 1e-7)
    True
    """
    if d_model < 1 or max_len < 1:
        raise ValueError(f"d_model = {d_model} and max_len = {max_len} must both be at least 1")
    encodings = sinusoids(torch.arange(max_len), d_model)
    return encodings.to(torch.get_default_dtype()).unsqueeze(1)


class PositionalEncoding(nn.Module):
    r"""
    ## Tell each position where it stands

    Row $t$ of the table is added to position $t$, in every item of the batch alike:

    >>> positional_encoding = PositionalEncoding(d_model=15, dropout_prob=0.1).eval()
    >>> x = torch.zeros(7, 2, 15)
    >>> x = positional_encoding(x)
    >>> torch.equal(x[:, 1], get_positional_encoding(15)[:7, 0])
    True

    The paper multiplies the embeddings of the words by $\sqrt{d_{\text{model}}}$ first (section
    3.4). That is left to whoever makes them.
    """

    def __init__(self, d_model: int, dropout_prob: float, max_len: int = 5000):
        r"""
        ### A buffer, and not a saved one

        The table goes along to another device, so it is a buffer. Nothing in it is learned, so
        it is no parameter. And anybody can compute it again, so it is not saved.

        >>> positional_encoding = PositionalEncoding(d_model=15, dropout_prob=0.1)
        >>> list(positional_encoding.parameters()), list(positional_encoding.state_dict())
        ([], [])

        Older checkpoints do hold it. It is accepted and not used, whatever its length:

        >>> old = {"positional_encodings": get_positional_encoding(15, max_len=100)}
        >>> positional_encoding.load_state_dict(old)
        <All keys matched successfully>
        """
        super().__init__()
        self.d_model = d_model
        self.max_len = max_len
        self.positional_encodings: Tensor
        self.register_buffer(
            "positional_encodings", get_positional_encoding(d_model, max_len), persistent=False
        )
        self.register_load_state_dict_pre_hook(forget_saved_table)
        # Dropout falls on the sum (section 5.4).
        self.dropout = nn.Dropout(dropout_prob)

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        r"""
        ### Add

        * `x: [seq_len, batch_size, d_model]`
        * `return: [seq_len, batch_size, d_model]`

        The first row of `x` is position `start` of its sequence. Whoever makes a sequence word
        by word has to say so. Each word alone would think that it was the first:

        >>> positional_encoding = PositionalEncoding(d_model=15, dropout_prob=0.1).eval()
        >>> x = torch.randn(7, 2, 15)
        >>> whole = positional_encoding(x)
        >>> wrong = torch.cat([positional_encoding(word) for word in x.split(1)])
        >>> torch.allclose(wrong, whole)
        False
        >>> right = [positional_encoding(word, start=t) for t, word in enumerate(x.split(1))]
        >>> torch.allclose(torch.cat(right), whole)
        True

        The table ends somewhere:

        >>> short = PositionalEncoding(d_model=15, dropout_prob=0.1, max_len=6)
        >>> short(x)
        Traceback (most recent call last):
            ...
        ValueError: x reaches to position 7, but there are encodings for max_len = 6 only
        """
        if x.ndim != 3 or x.shape[-1] != self.d_model:
            raise ValueError(
                f"x has shape {list(x.shape)}, but must have "
                f"[seq_len, batch_size, d_model] with d_model = {self.d_model}"
            )
        end = start + x.shape[0]
        if start < 0:
            raise ValueError(f"start = {start} must be at least 0")
        if end > self.max_len:
            raise ValueError(
                f"x reaches to position {end}, but there are encodings for "
                f"max_len = {self.max_len} only"
            )
        # All items of the batch stand in the same places.
        #
        # `encodings: [seq_len, 1, d_model]`
        encodings = self.positional_encodings[start:end]
        return self.dropout(x + encodings.to(x.dtype))


def forget_saved_table(
    module: nn.Module, state_dict: dict[str, Tensor], prefix: str, *_: object
) -> None:
    r"""
    ## Checkpoints that hold the table

    Called before a state is loaded, with a copy of it that may be changed.
    """
    state_dict.pop(f"{prefix}positional_encodings", None)
