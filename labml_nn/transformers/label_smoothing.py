r"""
---
title: Label smoothing
summary: Never ask for certainty. A little of the probability goes to the other answers.
papers:
  - title: Rethinking the Inception Architecture for Computer Vision
    authors: Szegedy et al.
    year: 2016
    url: https://arxiv.org/abs/1512.00567
  - title: Attention Is All You Need
    authors: Vaswani et al.
    year: 2017
    url: https://arxiv.org/abs/1706.03762
  - title: When Does Label Smoothing Help?
    authors: Müller et al.
    year: 2019
    url: https://arxiv.org/abs/1906.02629
symbols:
  q: wanted
  x: x
  y: target
  \varepsilon: [smoothing, self.smoothing]
  N: self.n_classes
---
# Label smoothing

A classifier gives a score to each class, and the softmax makes probabilities $p$ of them. In
training we ask for probability 1 on the right class $y$ and 0 on all others.

No finite scores give that. Whatever the lead of the right class, a larger one lowers the loss
still further. So the scores grow without end, and the model becomes more certain than its
record allows.

Szegedy et al. 2016 (section 7) ask for something that can be reached. With probability
$\varepsilon$, pretend that the label was drawn blindly from all $N$ classes. Class $k$ is then
wanted with probability

$$q_k = (1 - \varepsilon)\, [k = y] + \frac{\varepsilon}{N}$$

where $[k = y]$ is 1 for the right class and 0 for the others. Vaswani et al. 2017 trained the
Transformer with $\varepsilon = 0.1$ (section 5.4).

Read what the right class gets: not $1 - \varepsilon$, but that and its share of the blind
draw. Another convention in use gives it $1 - \varepsilon$ exactly, and shares $\varepsilon$
among the $N - 1$ others. It is the same family under another name: their $\varepsilon$ is our
$\varepsilon\, (N - 1) / N$. Which one a reported number belongs to makes little difference for
a large vocabulary, and much for a small one:

>>> smoothing, n_classes = 0.1, 4
>>> round(1 - smoothing + smoothing / n_classes, 6), round(smoothing / n_classes, 6)
(0.925, 0.025)
>>> theirs = smoothing * (n_classes - 1) / n_classes
>>> round(1 - theirs, 6), round(theirs / (n_classes - 1), 6)
(0.925, 0.025)
"""

import math

import torch
from torch import Tensor, nn


class LabelSmoothingLoss(nn.Module):
    r"""
    ## How far from what is wanted

    The loss is the Kullback-Leibler divergence of what the model says from what is wanted:

    $$D(q \,\|\, p) = \sum_k q_k \log q_k - \sum_k q_k \log p_k$$

    The second sum is the cross entropy. The first depends on $\varepsilon$ and $N$ alone, so it
    changes no gradient; it makes the loss exactly 0 where the model says what is wanted.

    * `size` is the number of classes, that is of scores for each target.
    * `padding_idx` is the class that stands for *no word here*, or `None`. Nothing is asked for
      where it is the target, and it is never wanted elsewhere: $N$ does not count it.
    * `smoothing` is $\varepsilon$.

    >>> loss = LabelSmoothingLoss(size=5, padding_idx=0, smoothing=0.1)
    >>> wanted = loss.wanted_probs(torch.tensor([3, 1, 0]))
    >>> wanted
    tensor([[0.0000, 0.0250, 0.0250, 0.9250, 0.0250],
            [0.0000, 0.9250, 0.0250, 0.0250, 0.0250],
            [0.0000, 0.0000, 0.0000, 0.0000, 0.0000]])

    Say just that, and nothing is left to learn:

    >>> target = torch.tensor([3, 1, 0])
    >>> bool(loss(wanted.log()[:2], target[:2]).abs() < 1e-6)
    True

    Torch has the same thing in its `cross_entropy`, but there the blind draw is from all
    classes. With no padding class among them the two agree, up to the constant:

    >>> x, target = torch.randn(7, 5), torch.randint(5, (7,))
    >>> loss = LabelSmoothingLoss(size=5, padding_idx=None, smoothing=0.1)
    >>> theirs = nn.functional.cross_entropy(x, target, label_smoothing=0.1)
    >>> torch.allclose(loss(x, target) - loss.negative_entropy, theirs, atol=1e-6)
    True

    **A class that does not exist.** With padding, `ignore_index` is not enough. It leaves out
    the *positions* that hold padding. In all others torch shares $\varepsilon$ among all
    classes, and so still asks for a part of it from the padding *class*, a word that no text
    contains. The gradient shows it. Where all scores are equal, torch pulls the padding class
    only half as far down as it should go:

    >>> x, target = torch.zeros(7, 5, requires_grad=True), torch.tensor([1, 2, 3, 4, 1, 0, 0])
    >>> wrong = nn.functional.cross_entropy(x, target, ignore_index=0, label_smoothing=0.5)
    >>> (slope,) = torch.autograd.grad(wrong, x)
    >>> round(slope[:, 0].sum().item(), 4)
    0.1
    >>> right = LabelSmoothingLoss(size=5, padding_idx=0, smoothing=0.5)(x, target)
    >>> (slope,) = torch.autograd.grad(right, x)
    >>> round(slope[:, 0].sum().item(), 4)
    0.2
    """

    def __init__(self, size: int, padding_idx: int | None, smoothing: float = 0.0):
        super().__init__()
        if not 0 <= smoothing < 1:
            raise ValueError(f"smoothing = {smoothing} must be at least 0 and below 1")
        if padding_idx is not None and not 0 <= padding_idx < size:
            raise ValueError(f"padding_idx = {padding_idx} is not one of size = {size} classes")
        self.size = size
        self.padding_idx = padding_idx
        self.smoothing = smoothing
        # $N$, the classes that may be wanted.
        self.n_classes = size if padding_idx is None else size - 1
        if self.n_classes < 1:
            raise ValueError(f"size = {size} with padding_idx = {padding_idx} leaves no class")

        # $\sum_k q_k \log q_k$. There is one right class, and $N - 1$ others. What is wanted
        # with probability 0 adds nothing to the sum.
        wrong = smoothing / self.n_classes
        right = 1 - smoothing + wrong
        self.negative_entropy = right * math.log(right)
        if smoothing > 0:
            self.negative_entropy += (self.n_classes - 1) * wrong * math.log(wrong)

    def wanted_probs(self, target: Tensor) -> Tensor:
        r"""
        ### The probabilities that we ask for

        $$q_k = (1 - \varepsilon)\, [k = y] + \frac{\varepsilon}{N}$$

        * `target: [...]`
        * `return: [..., size]`

        The loss never writes this table down. It is here to be looked at.
        """
        wanted = torch.full((*target.shape, self.size), self.smoothing / self.n_classes)
        wanted = wanted.to(target.device)
        # `right: [..., 1]`
        right = target.unsqueeze(-1)
        wanted.scatter_(-1, right, 1 - self.smoothing + self.smoothing / self.n_classes)
        if self.padding_idx is not None:
            # Nobody wants the padding class, and where it is the target nothing is wanted.
            #
            # `wanted: [..., size]`
            wanted[..., self.padding_idx] = 0
            wanted = wanted.masked_fill(right == self.padding_idx, 0)
        return wanted

    def forward(self, x: Tensor, target: Tensor) -> Tensor:
        r"""
        ### The loss

        * `x: [..., size]`, the scores
        * `target: [...]`, the right classes
        * `return: []`, the mean over all targets that are not padding

        Logarithms of probabilities are scores too, since a softmax gives them back as they are.
        The gradient is what it always is with a softmax, said minus wanted:

        $$\frac{\partial D}{\partial x_k} = p_k - q_k$$

        >>> loss = LabelSmoothingLoss(size=5, padding_idx=0, smoothing=0.1)
        >>> x = torch.randn(5, requires_grad=True)
        >>> target = torch.tensor(3)
        >>> loss(x, target).backward()
        >>> torch.allclose(x.grad, x.softmax(dim=0) - loss.wanted_probs(target), atol=1e-6)
        True

        It vanishes at finite scores, where the right class leads each other by
        $\log(1 + N (1 - \varepsilon) / \varepsilon)$. A larger lead is punished. For four
        classes and $\varepsilon = 0.1$ that is:

        >>> round(math.log(1 + 4 * (1 - 0.1) / 0.1), 2)
        3.61

        **This is not perplexity.** Perplexity is $e$ to the mean of $-\log p_y$, and a model
        is compared by that. $e$ to this loss is nothing of the kind. So measure with
        `smoothing=0`. And do not be surprised that it gets worse: a model that has learned
        everything there is to learn here gives the right class only 0.925, a perplexity of
        1.08, where plain cross entropy would go on to 1.

        >>> best = loss.wanted_probs(torch.tensor([3, 1])).log()
        >>> measure = LabelSmoothingLoss(size=5, padding_idx=0)
        >>> round(measure(best, torch.tensor([3, 1])).exp().item(), 2)
        1.08

        Vaswani et al. saw just that: worse perplexity, better translations (section 5.4). Why
        it helps is less clear. Müller et al. 2019 find models that are better calibrated, and
        worse teachers for a smaller model.
        """
        if x.shape[-1:] != (self.size,) or x.shape[:-1] != target.shape:
            raise ValueError(
                f"x has shape {list(x.shape)} and target {list(target.shape)}, but x must have "
                f"the axes of target and then size = {self.size} scores"
            )
        if target.dtype != torch.int64:
            raise ValueError(f"target is {target.dtype}, but must be torch.int64")

        # Scores in half precision are lifted first: the sum over a large vocabulary needs the
        # digits.
        #
        # `log_probs: [..., size]`
        log_probs = x.log_softmax(dim=-1, dtype=torch.promote_types(x.dtype, torch.float32))
        # $\log p_y$
        #
        # `right: [...]`
        right = log_probs.gather(-1, target.unsqueeze(-1)).squeeze(-1)
        # $$\sum_k q_k \log p_k = (1 - \varepsilon) \log p_y +
        # \frac{\varepsilon}{N} \sum_k \log p_k$$
        #
        # The sum on the right leaves the padding class out. Without smoothing there is none: a
        # class that the model excludes, with $\log p_k = -\infty$, is then no matter.
        #
        # * `padding: [size]`
        # * `log_probs: [..., size]`
        cross = (1 - self.smoothing) * right
        if self.smoothing > 0:
            if self.padding_idx is not None:
                padding = torch.arange(self.size, device=x.device) == self.padding_idx
                log_probs = log_probs.masked_fill(padding, 0)
            cross = cross + self.smoothing / self.n_classes * log_probs.sum(dim=-1)
        # $D(q \,\|\, p)$
        #
        # `loss: [...]`
        loss = self.negative_entropy - cross

        if self.padding_idx is None:
            return loss.mean()
        # Targets that are padding count neither in the sum nor in the number of terms. A batch
        # of nothing else has loss 0, not 0 divided by 0.
        real = target != self.padding_idx
        return loss.masked_fill(~real, 0).sum() / real.sum().clamp(min=1)
