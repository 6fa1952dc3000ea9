r"""
---
title: The trigram, a loss to beat
summary: Counting triples of characters, done well, sets a bar that a network has to clear.
papers:
  - title: A Mathematical Theory of Communication
    authors: Shannon
    year: 1948
    url: https://doi.org/10.1002/j.1538-7305.1948.tb01338.x
  - title: Prediction and Entropy of Printed English
    authors: Shannon
    year: 1951
    url: https://doi.org/10.1002/j.1538-7305.1951.tb01366.x
  - title: Maximum Likelihood from Incomplete Data via the EM Algorithm
    authors: Dempster, Laird and Rubin
    year: 1977
    url: https://doi.org/10.1111/j.2517-6161.1977.tb01600.x
  - title: An Empirical Study of Smoothing Techniques for Language Modeling
    authors: Chen and Goodman
    year: 1996
    url: https://aclanthology.org/P96-1041/
symbols:
  V: n_tokens
  \lambda: weights
  f: sources
  r: share
  P: probability
---
# The trigram, a loss to beat

A network has trained all night and its loss is 1.6. Is that good? The number alone does not
say. It needs another beside it: what does a method get that anyone can understand, and that
takes a second? If a network with two million weights is no better, it has learned nothing
worth them.

## What the number means

At each place of a text a model gives every character $c$ a probability $P(c)$. Then the next
one is uncovered. The model is charged by how little it expected it: $-\ln P(c)$, nothing for a
certainty that comes true, much for a surprise. The average over a text of $n$ characters
$c_1 \dots c_n$ is the *cross-entropy*, and the loss that we train with:

$$L = -\frac{1}{n} \sum_{i=1}^{n} \ln P(c_i \mid c_1 \dots c_{i-1})$$

Its unit is the *nat* per character. Divided by $\ln 2$ it is in bits. And $e^L$ is a number
one can picture, the *perplexity*: a model with that loss is as unsure as one that rolls a fair
die with $e^L$ sides for each character.

Who knows nothing rolls a die with $V$ sides, one for each character of the vocabulary, and has
a loss of $\ln V$. Here $V = 20$:

>>> import math
>>> text = torch.randint(20, (1000,))
>>> probability = torch.full((20,), 1 / 20)
>>> round(-probability[text].log().mean().item(), 3)
2.996
>>> round(math.log(20), 3)
2.996

Who knows that some characters are more frequent does better. The best that one can do with a
known source is its *entropy* (Shannon 1948, section 6). To believe in other probabilities $Q$
costs more:

$$-\sum_c P(c) \ln Q(c) \;\ge\; -\sum_c P(c) \ln P(c)$$

>>> P, Q = torch.rand(2, 20).softmax(dim=1)
>>> bool(-(P * Q.log()).sum() >= -(P * P.log()).sum())
True

So on a long text no loss lies below the entropy of its source. For English nobody knows that
entropy. Shannon 1951 asked a person to guess English texts letter by letter, with a hundred
letters to look back on. From the number of guesses he found bounds for it: 0.6 and 1.3 bits
per letter, with 26 letters and the space. That is 0.4 and 0.9 nats.

## Counting

The next character depends on those before it. The plainest model of that looks back at two of
them, $a$ and $b$, and goes by what came next in the training text. With $N(abc)$ for how often
the triple $abc$ stands there, and a dot for any character at all:

$$f_3(c \mid ab) = \frac{N(abc)}{N(ab\cdot)}$$

Shannon 1948 (section 3) drew from such counts by hand, out of a book opened at random. With
two letters to look back on, the result is almost pronounceable:
*in no ist lat whey cratict froure birs grocid*.

It has no mercy, however. What has never been seen cannot be. A new text soon has some triple
that the old one lacks, one zero among ten thousand probabilities. The logarithm of it is
$-\infty$, and so the loss of the whole text is infinite:

>>> train = torch.tensor([0, 1, 2, 0, 1, 2, 0, 1, 0])
>>> counts = Counts.of(train, n_tokens=3)
>>> sources, _ = counts.sources(torch.tensor([[0, 1, 2], [0, 1, 0], [0, 1, 1]]))
>>> trigram = sources[:, 3]
>>> trigram
tensor([0.6667, 0.3333, 0.0000], dtype=torch.float64)
>>> -trigram.log().mean()
tensor(inf, dtype=torch.float64)

The zero is not a fact about the language. With $V = 100$ there are a million triples, and a
text of four hundred thousand characters cannot even show half of them.

## Asking four witnesses

The pair $bc$ has been seen more often than the triple, and the single $c$ more often still.
They know less, but what they know is better founded. So listen to all (Jelinek and Mercer
1980, in *Pattern Recognition in Practice*; Chen and Goodman 1996):

$$P(c \mid ab) = \lambda_3 f_3(c \mid ab) + \lambda_2 f_2(c \mid b) + \lambda_1 f_1(c)
+ \lambda_0 \frac{1}{V}$$

The weights $\lambda$ are positive and add up to one, and so $P$ is a distribution again. The
last term leaves room for a character that was never seen anywhere.

How much the trigram deserves depends on how often $ab$ was seen: seen once, it is an anecdote;
seen a thousand times, a statistic. So there are several sets of weights, one for each
[bucket](labml_nn.data.trigram.Counts.sources) of contexts seen about equally often.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

# From bucket to bucket counts double, so that forty are enough for any text.
N_BUCKETS = 40


class Table(NamedTuple):
    r"""
    ## How often

    Almost all possible triples never occur. A table with a place for each would be a cube of
    zeros, $V^3$ of them: for a thousand characters, eight gigabytes. So we keep those that
    occur, sorted, and find them by bisection. Triples are written as one number each, as
    digits in base $V + 1$.

    >>> table = Table.of(torch.tensor([5, 3, 5, 5]))
    >>> table.look_up(torch.tensor([3, 4, 5]))
    tensor([1, 0, 3])
    """

    # `codes: [n_codes]`
    codes: Tensor
    # `counts: [n_codes]`
    counts: Tensor

    @classmethod
    def of(cls, codes: Tensor) -> "Table":
        r"""
        ### Count

        * `codes: [n]`
        """
        return cls(*codes.unique(return_counts=True))

    def look_up(self, codes: Tensor) -> Tensor:
        r"""
        ### Look up

        * `codes: [...]`
        * `return: [...]`
        """
        # Where it would stand if it were there.
        #
        # `place: [...]`
        place = torch.searchsorted(self.codes, codes.contiguous())
        place = place.clamp(max=len(self.codes) - 1)
        return torch.where(self.codes[place] == codes, self.counts[place], 0)


@dataclass(frozen=True, eq=False)
class Counts:
    r"""
    ## What a text says

    How often each single, pair and triple of characters occurs in it; and how often a single
    or a pair had something after it, which differs for the one at the end.
    """

    n_tokens: int
    n_characters: int
    singles: Table
    pairs: Table
    triples: Table
    single_contexts: Table
    pair_contexts: Table

    @classmethod
    def of(cls, ids: Tensor, n_tokens: int) -> "Counts":
        r"""
        ### Count a text

        * `ids: [n]`
        """
        check_ids(ids, n_tokens)
        if len(ids) < 3:
            raise ValueError(f"a text of {len(ids)} characters holds no triple: it needs 3")
        base = n_tokens + 1
        # * `pairs: [n_pairs]`
        # * `triples: [n_triples]`
        pairs = ids[:-1] * base + ids[1:]
        triples = pairs[:-1] * base + ids[2:]
        return cls(
            n_tokens=n_tokens,
            n_characters=len(ids),
            singles=Table.of(ids),
            pairs=Table.of(pairs),
            triples=Table.of(triples),
            single_contexts=Table.of(ids[:-1]),
            pair_contexts=Table.of(pairs[:-1]),
        )

    def sources(self, triples: Tensor) -> tuple[Tensor, Tensor]:
        r"""
        ### What each witness says

        For triples $abc$, the four probabilities of $c$, from the uniform one to the
        trigram's; and the bucket, which is how many binary digits the number $N(ab\cdot)$ has.

        * `triples: [n, 3]`
        * `return: [n, 4]`, and as many buckets as triples

        >>> counts = Counts.of(torch.tensor([0, 1, 2, 0, 1, 2, 0, 1, 0]), n_tokens=3)
        >>> sources, bucket = counts.sources(torch.tensor([[0, 1, 2], [2, 2, 0]]))
        >>> sources
        tensor([[0.3333, 0.2222, 0.6667, 0.6667],
                [0.3333, 0.4444, 1.0000, 1.0000]], dtype=torch.float64)
        >>> bucket
        tensor([2, 0])

        The pair 2 2 never came, so in bucket 0 the trigram has nothing to say. It repeats the
        bigram. Silence would be a zero for every character, and the sum would no longer be
        one.
        """
        a, b, c = triples.unbind(dim=-1)
        base = self.n_tokens + 1
        # How often the two and the one before $c$ were seen with anything after them.
        #
        # * `pair_context: [n]`
        # * `single_context: [n]`
        pair_context = self.pair_contexts.look_up(a * base + b)
        single_context = self.single_contexts.look_up(b)

        # What each witness has counted. Where it has not seen the context, it repeats the one
        # before it.
        #
        # * `uniform: [n]`
        # * `unigram: [n]`
        # * `bigram: [n]`
        # * `trigram: [n]`
        uniform = torch.full(c.shape, 1 / self.n_tokens, dtype=torch.float64)
        unigram = self.singles.look_up(c).double() / self.n_characters
        bigram = self.pairs.look_up(b * base + c) / single_context.double()
        bigram = torch.where(single_context > 0, bigram, unigram)
        trigram = self.triples.look_up((a * base + b) * base + c) / pair_context.double()
        trigram = torch.where(pair_context > 0, trigram, bigram)

        # The exponent of a number is how many binary digits it has before the point.
        #
        # `bucket: [n]`
        bucket = torch.frexp(pair_context.double()).exponent.long()
        # `sources: [n, 4]`
        sources = torch.stack([uniform, unigram, bigram, trigram], dim=-1)
        return sources, bucket


class Weights(NamedTuple):
    r"""
    ## How much each witness is believed

    The weights, and the log-likelihood before each step of the search for them.
    """

    # `weights: [n_buckets, 4]`
    weights: Tensor
    # `log_likelihood: [n_steps]`
    log_likelihood: Tensor


def fit_weights(sources: Tensor, bucket: Tensor, n_steps: int = 50) -> Weights:
    r"""
    ## The weights, by expectation maximisation

    Imagine that $P$ works like this: first it picks a witness $k$, with probability
    $\lambda_k$, and then $c$ from what that witness says. If we could see which witness spoke
    at each place, we would set $\lambda_k$ to the share of places at which $k$ did. We cannot.
    But for given weights we can say how likely it was:

    $$r_{ik} = \frac{\lambda_k f_k(c_i)}{\sum_j \lambda_j f_j(c_i)}$$

    So we begin with equal weights and go round: from weights to shares $r$, from the average
    of the shares to weights. No round makes the text less likely (Dempster et al. 1977), and
    no step size has to be chosen.

    * `sources: [n, 4]`
    * `bucket: [n]`

    >>> sources, bucket = torch.rand(500, 4), torch.randint(3, (500,))
    >>> _, log_likelihood = fit_weights(sources, bucket)
    >>> bool((log_likelihood.diff() > -1e-9).all())
    True

    **Never on the text that was counted.** There, every triple has been seen, and no witness
    can compete with the one that has learned the answers. The trigram gets nearly all the
    weight, as if what is unseen here were unseen everywhere. In numbers: a text in which each
    character is drawn at random, without regard to what comes before. There is nothing for a
    trigram to know.

    >>> text = torch.randint(8, (2000,))
    >>> counts = Counts.of(text[:1000], n_tokens=8)
    >>> def mean_weights(text):
    ...     sources, bucket = counts.sources(triples_of(text, n_tokens=8))
    ...     return fit_weights(sources, bucket).weights[bucket].mean(dim=0)
    >>> wrong = mean_weights(text[:1000])
    >>> bool(wrong[3] > 0.8)
    True

    On the other half, of which the counts know nothing, the same procedure finds out the
    truth. The trigram is hardly believed:

    >>> right = mean_weights(text[1000:])
    >>> bool(right[3] < 0.2)
    True
    """
    sources = sources.double()
    # A bucket with few places would be sure too soon. Without a single new character among
    # them, $\lambda_0$ would sink to nothing, and the first new one afterwards would cost a
    # fortune. So each bucket also gets four places that are made up: one for each witness, at
    # which this one was right and all others were wrong.
    #
    # * `sources: [n_places, 4]`
    # * `bucket: [n_places]`
    sources = torch.cat([sources, torch.eye(4).double().repeat(N_BUCKETS, 1)])
    bucket = torch.cat([bucket, torch.arange(N_BUCKETS).repeat_interleave(4)])

    # `weights: [n_buckets, 4]`
    weights = torch.full((N_BUCKETS, 4), 1 / 4, dtype=torch.float64)
    history = []
    for _ in range(n_steps):
        # $\lambda_k f_k(c_i)$, and the sum of it over $k$, which is $P(c_i)$.
        #
        # * `share: [n_places, 4]`
        # * `probability: [n_places, 1]`
        share = weights[bucket] * sources
        probability = share.sum(dim=1, keepdim=True)
        history.append(probability.log().sum())
        share = share / probability
        # The average share in each bucket.
        #
        # `weights: [n_buckets, 4]`
        weights = torch.zeros_like(weights).index_add_(0, bucket, share)
        weights = weights / weights.sum(dim=1, keepdim=True)
    return Weights(weights, torch.stack(history))


@dataclass(frozen=True, eq=False)
class TrigramModel:
    r"""
    ## All together

    Here is the model on the [text](texts.html) that our experiments use, and the loss of each
    witness alone on the part kept apart. The bigram and the trigram come across something new:

    >>> from labml_nn.data import load
    >>> dataset = load("pydoc_topics")
    >>> n_tokens = len(dataset.vocabulary)
    >>> model = TrigramModel.fit(dataset.train, n_tokens)
    >>> triples = triples_of(dataset.valid, n_tokens)
    >>> sources, _ = model.counts.sources(triples)
    >>> uniform, unigram, bigram, trigram = (-sources.log().mean(dim=0)).tolist()
    >>> bigram, trigram
    (inf, inf)

    Together they do better than the best of those who survive:

    >>> loss = model.loss(dataset.valid)
    >>> loss < unigram < uniform
    True

    In nats that is about 1.8 where the loss of the unigram is above 3, and the perplexity is
    about six, out of a hundred characters:

    >>> import math
    >>> 5 < math.exp(loss) < 7 < 20 < math.exp(unigram)
    True

    The oftener a context was seen, the more the trigram is believed. Here are its weights for
    contexts seen once, 16 to 31 times, and 512 to 1023 times:

    >>> once, often, very_often = model.weights[[1, 5, 10], 3].tolist()
    >>> once < 0.5 < often < very_often
    True

    Every experiment here has to be better than this model, on the same characters, after
    training on the same text.
    """

    counts: Counts
    # A row for each bucket, a column for each witness.
    weights: Tensor

    @classmethod
    def fit(cls, train: Tensor, n_tokens: int) -> "TrigramModel":
        r"""
        ### Fit

        The last tenth of the *training* part is held out, to find the weights for counts of
        the rest. The validation part must not be asked: the trigram would be fitted to what it
        is then tested on.

        Once the weights are known, the tenth is counted as well. That costs nothing, and the
        baseline has then seen all that a network sees.

        * `train: [n]`
        """
        check_ids(train, n_tokens)
        if len(train) < 20:
            raise ValueError(
                f"a text of {len(train)} characters is too short to fit a trigram: it needs 20"
            )
        held_out = len(train) // 10
        counts = Counts.of(train[:-held_out], n_tokens)
        # `weights: [n_buckets, 4]`
        weights, _ = fit_weights(*counts.sources(triples_of(train[-held_out:], n_tokens)))
        return cls(Counts.of(train, n_tokens), weights)

    def probability(self, triples: Tensor) -> Tensor:
        r"""
        ### Probability

        $P(c \mid ab)$ for triples $abc$.

        * `triples: [n, 3]`
        * `return: [n]`

        After any two characters, the probabilities of all that can follow add up to one, also
        when the two never stood together:

        >>> model = TrigramModel.fit(torch.randint(4, (50,)), n_tokens=6)
        >>> c = torch.arange(6)
        >>> for a, b in [(0, 1), (2, 3), (5, 1), (5, 5)]:
        ...     triples = torch.stack([c * 0 + a, c * 0 + b, c], dim=1)
        ...     print(round(model.probability(triples).sum().item(), 6))
        1.0
        1.0
        1.0
        1.0
        """
        sources, bucket = self.counts.sources(triples)
        return (self.weights[bucket] * sources).sum(dim=-1)

    def loss(self, ids: Tensor) -> float:
        r"""
        ### Loss

        In nats per character, for each character of a text but the first: the same ones that
        [`validation`](labml_nn.data.characters.CharacterDataset.validation) asks a network
        for.

        * `ids: [n]`
        """
        # `triples: [n - 1, 3]`
        triples = triples_of(ids, self.counts.n_tokens)
        return -self.probability(triples).log().mean().item()


def triples_of(ids: Tensor, n_tokens: int) -> Tensor:
    r"""
    ## The triples of a text

    One for each character but the first. The second has one character before it, and before
    that stands a sign that no character has, $V$. Nothing was ever counted after it, so the
    bigram speaks.

    * `ids: [n]`
    * `return: [n - 1, 3]`

    >>> triples_of(torch.tensor([4, 2, 3, 1]), n_tokens=5)
    tensor([[5, 4, 2],
            [4, 2, 3],
            [2, 3, 1]])
    """
    check_ids(ids, n_tokens)
    if len(ids) < 2:
        raise ValueError(
            f"a text of {len(ids)} characters leaves nothing to predict: it needs at least 2"
        )
    return torch.cat([ids.new_tensor([n_tokens]), ids]).unfold(0, 3, 1)


def check_ids(ids: Tensor, n_tokens: int) -> None:
    r"""
    ## Numbers that are characters

    * `ids: [n]`
    """
    if ids.ndim != 1 or ids.dtype != torch.int64:
        raise ValueError(
            f"ids must be torch.int64 with shape [n], but are {ids.dtype} "
            f"with shape {list(ids.shape)}"
        )
    if len(ids) and (int(ids.min()) < 0 or int(ids.max()) >= n_tokens):
        raise ValueError(
            f"ids run from {int(ids.min())} to {int(ids.max())}, "
            f"but n_tokens = {n_tokens} allows 0 to {n_tokens - 1}"
        )
