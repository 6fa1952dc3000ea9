r"""
---
title: "DPFP: more room for keys"
summary: A feature map without weights that spreads keys over more dimensions than they have.
papers:
  - title: Linear Transformers Are Secretly Fast Weight Programmers
    authors: Schlag, Irie and Schmidhuber
    year: 2021
    url: https://arxiv.org/abs/2102.11174
  - title: Parallelizing Linear Transformers with the Delta Rule over Sequence Length
    authors: Yang et al.
    year: 2024
    url: https://arxiv.org/abs/2406.06484
symbols:
  k: k
  r: r
  \nu: self.nu
  \phi: phi
  d_\phi: d_phi
  \varepsilon: self.eps
---
# DPFP: more room for keys

A [fast weight memory](index.html) keeps keys apart only as far as they are orthogonal, and in a
space of $d_{\text{key}}$ dimensions no more than $d_{\text{key}}$ keys can be. So before a key
$k$ goes to the memory, a *feature map* $\phi$ carries it into a space of more dimensions
$d_\phi$.

Schlag et al. 2021 (section 5.3) ask three things of the map. It should need no random numbers
and no weights. Its features should not be negative, so that two keys can at worst have nothing
in common. And different keys should light up different features: where few features are on, two
keys seldom share one. They call it *deterministic parameter-free projection*.

In one dimension, a number $x$ gives two features, one for each sign: $\max(0, x)$ and
$\max(0, -x)$. One of them is always 0, so a positive and a negative number are orthogonal. For
more dimensions, take products of these. First the halves by sign, side by side:

$$r = \operatorname{relu}\!\big(\,[\,k, -k\,]\,\big)$$

With $d = d_{\text{key}}$, these are $2d$ numbers. Bend them to a ring, and multiply $r$ by a
copy of itself, shifted by $i$ places around it. Do it for $i = 1, \dots, \nu$:

$$\phi_{2d(i - 1) + j}(k) = r_j\, r_{j - i}, \qquad d_\phi = 2\, d\, \nu$$

Each feature is on for one quarter of the plane of two entries of $k$: where both have the signs
that it waits for. Here are the four features of a key of two numbers, in its four quarters:

>>> phi = DPFP(norm="l2")
>>> k = torch.tensor([[3.0, 2.0], [-3.0, 2.0], [-3.0, -2.0], [3.0, -2.0]])
>>> phi(k)
tensor([[0., 1., 0., 0.],
        [0., 0., 1., 0.],
        [0., 0., 0., 1.],
        [1., 0., 0., 0.]])

Four keys of two numbers, and all four orthogonal.
"""

from typing import Literal

import torch
from torch import Tensor, nn


class DPFP(nn.Module):
    r"""
    ## The feature map

    `nu` is $\nu$, the number of shifts. Whatever axes stand before the last go along, so this
    serves sequences and single steps alike.

    >>> phi = DPFP(nu=4)
    >>> phi(torch.randn(7, 2, 3, 5)).shape
    torch.Size([7, 2, 3, 40])

    **How many shifts are there?** The ring has $2d$ places, so one might try shifts up to $2d$.
    Look at what they give.

    * The shift by $d$ multiplies $\max(0, k_j)$ by $\max(0, -k_j)$. One of the two is 0: these
      $2d$ features are never on.
    * The shift by $2d - i$ multiplies $r_j$ by $r_{j + i}$. Those are the products of shift $i$
      once more, named from the other end.

    So all there is comes from $\nu = d - 1$ shifts. Then each pair of entries is present with
    all four combinations of signs: $2d(d - 1)$ features. Count the different features of a key
    of four numbers, up to order, with a ring written by hand:

    >>> r = torch.cat([torch.tensor([1.0, 3.0, 7.0, 13.0]), torch.zeros(4)])
    >>> shifted = {i: sorted((r * r.roll(i)).tolist()) for i in range(1, 8)}
    >>> sum(shifted[4])
    0.0
    >>> [shifted[i] == shifted[8 - i] for i in (1, 2, 3)]
    [True, True, True]

    A wider map would cost memory and store nothing. It is refused:

    >>> DPFP(nu=4)(torch.randn(7, 4))
    Traceback (most recent call last):
        ...
    ValueError: nu = 4 shifts need keys of more than 4 numbers, but d_key = 4
    """

    def __init__(
        self,
        nu: int = 1,
        eps: float = 1e-6,
        norm: Literal["sum", "l2"] = "sum",
    ):
        r"""
        ### Why features are normalised

        The [delta rule](index.html) with write strength $\beta$ multiplies what was stored
        under a key by $1 - \beta \lVert\phi\rVert^2$. With $\beta \le 1$ nothing grows as long
        as $\lVert\phi\rVert^2 \le 2$. Raw features know no such bound. A feature vector of
        length 2 makes every write overshoot, by three times the error that it should mend:

        >>> phi = torch.tensor([2.0, 0.0])
        >>> weights = torch.zeros(1, 2)
        >>> for _ in range(10):
        ...     error = 1.0 - weights @ phi
        ...     weights = weights + torch.outer(error, phi)
        >>> round((1.0 - weights @ phi).item())
        59049

        There are two ways to bound the length.

        **The sum** is the way of Schlag et al. (section 4.2):
        $\phi'(k) = \phi(k) / \sum_j \phi_j(k)$. No feature is negative, so the length is at
        most the sum, which is 1. It is the default here, as it is what existing checkpoints
        were trained with.

        **The L2 norm** is the way of Yang et al. 2024:
        $\phi'(k) = \phi(k) / \lVert\phi(k)\rVert$. The length is exactly 1.

        **The lesson.** The two do not recall alike. Write a value $v$ with full strength,
        $\beta = 1$, into an empty memory, and ask for it at once:

        $$W = v \otimes \phi'(k) \quad\Rightarrow\quad W \phi'(k) = \lVert\phi'(k)\rVert^2\, v$$

        With L2 that is $v$. With the sum it is only a share of $v$, and the more features are
        on, the smaller that share. In keys of 64 random numbers it is about 0.07:

        >>> k = torch.randn(500, 64)
        >>> share = DPFP(norm="sum")(k).square().sum(dim=-1)
        >>> 0.06 < share.mean().item() < 0.09
        True
        >>> bool(share.max() < 0.5)
        True
        >>> share = DPFP(norm="l2")(k).square().sum(dim=-1)
        >>> torch.allclose(share, torch.ones(500))
        True

        The error shrinks by $1 - \lVert\phi'\rVert^2$ at each write, so under the sum a value
        must be written tens of times before it is known. $\beta = 1$ is then no longer a full
        overwrite, but a cautious learning rate. The output map can make up for the lost scale;
        it cannot make up for what was not erased. When you train from scratch, try L2.
        """
        super().__init__()
        if nu < 1:
            raise ValueError(f"nu = {nu} shifts give no features: nu must be at least 1")
        if eps < 0:
            raise ValueError(f"eps = {eps} must be at least 0")
        if norm not in ("sum", "l2"):
            raise ValueError(f"norm is {norm!r}, but must be 'sum' or 'l2'")
        self.nu = nu
        self.eps = eps
        self.norm = norm

    def extra_repr(self) -> str:
        r"""
        What `print` shows of the map.

        >>> DPFP(nu=3)
        DPFP(nu=3, eps=1e-06, norm='sum')
        """
        return f"nu={self.nu}, eps={self.eps}, norm={self.norm!r}"

    def forward(self, k: Tensor) -> Tensor:
        r"""
        ### A small number that does not depend on the scale

        * `k: [..., d_key]`
        * `return: [..., d_phi]`

        A normalised map should not care how long the key is: $\phi'(ck) = \phi'(k)$ for
        $c > 0$. Something must be added to the denominator all the same, since it can be 0. The
        usual $\varepsilon = 10^{-6}$ is harmless beside numbers around 1. But features are
        *products*: a key of numbers around $10^{-4}$ has features around $10^{-8}$, and there
        $\varepsilon$ is all that counts. **The wrong way:**

        >>> k = torch.tensor([3.0, 1.0, -2.0, 4.0]) * 1e-4
        >>> r = torch.cat([k, -k]).relu()
        >>> phi = r * r.roll(1)
        >>> wrong = phi / (phi.sum() + 1e-6)
        >>> round(wrong.sum().item(), 2)
        0.03

        Nearly all of the key is gone, and nobody is told. **The right way** stretches the key
        first, until its largest entry is 1. Then $\varepsilon$ means the same for all keys:

        >>> torch.allclose(DPFP()(k), DPFP()(k * 1e4))
        True
        >>> round(DPFP()(k).sum().item(), 2)
        1.0

        **When is the denominator 0?** For the key 0, of course. But also for this one:

        >>> DPFP()(torch.tensor([3.0, -1.0, 2.0])).tolist()
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]

        Its signs alternate, its length is odd, and in $[k, -k]$ no two neighbours on the ring
        are both positive. With $\nu = 1$ such a key has no features: it can be neither written
        nor read. It takes that one pattern of signs or the opposite one, 2 patterns of $2^d$,
        so in wide heads it hardly happens. With a second shift it cannot happen to a key
        without zeros:

        >>> bool(DPFP(nu=2)(torch.tensor([3.0, -1.0, 2.0])).any())
        True
        """
        d_key = k.shape[-1]
        if self.nu >= d_key:
            raise ValueError(
                f"nu = {self.nu} shifts need keys of more than {self.nu} numbers, "
                f"but d_key = {d_key}"
            )
        # Half precision is lifted for a while: `float16` has no number as small as
        # $\varepsilon^2$, and a key without features would divide 0 by 0.
        dtype = k.dtype
        k = k.to(torch.promote_types(dtype, torch.float32))
        # The largest entry becomes 1 or $-1$. A key of zeros stays as it is.
        #
        # * `largest: [..., 1]`
        # * `k: [..., d_key]`
        largest = k.abs().amax(dim=-1, keepdim=True)
        k = k / largest.clamp_min(torch.finfo(k.dtype).tiny)
        # $r = \operatorname{relu}([k, -k])$
        #
        # `r: [..., 2 * d_key]`
        r = torch.cat([k, -k], dim=-1).relu()
        # $r_j\, r_{j - i}$ for each shift $i$, side by side.
        #
        # `phi: [..., 2 * d_key * nu]`
        phi = torch.cat([r * r.roll(i, dims=-1) for i in range(1, self.nu + 1)], dim=-1)

        # $$
        # \begin{aligned}
        # \text{sum:} \quad & \phi' = \frac{\phi}{\sum_j \phi_j + \varepsilon} \\
        # \text{L2:} \quad & \phi' = \frac{\phi}{\sqrt{\sum_j \phi_j^2 + \varepsilon^2}}
        # \end{aligned}
        # $$
        if self.norm == "sum":
            return (phi / (phi.sum(dim=-1, keepdim=True) + self.eps)).to(dtype)
        return (phi / (phi.square().sum(dim=-1, keepdim=True) + self.eps**2).sqrt()).to(dtype)
