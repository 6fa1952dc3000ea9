r"""
---
title: Text as numbers
summary: Characters become numbers, text becomes batches, and the part kept apart stays apart.
symbols:
  T: seq_len
  B: batch_size
  n: n
---
# Text as numbers

A model that writes is trained on one question, asked again and again: here is some text, which
character comes next? Any text is full of such questions, and of their answers: shift it by
one.

Between the text and the model stand a few dull steps. Give each character a number. Keep a
part of the text apart, to see what the model makes of text it has never met. Cut the rest into
pieces of equal length. None of this is hard, and each step has a way of going wrong in
silence: the run goes well, and its number is not what you think it is.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Vocabulary:
    r"""
    ## A number for each character

    The characters of a text, sorted, get the numbers from 1 on.

    >>> vocabulary = Vocabulary.of("a banana")
    >>> vocabulary.encode("nab")
    tensor([4, 2, 3])
    >>> vocabulary.decode([3, 2, 4])
    'ban'

    **The character that nobody has seen.** Later some text will hold one. Number 0 is kept for
    it, and shown as �, U+FFFD, the sign that Unicode has for this.

    >>> vocabulary.encode("naïve")
    tensor([4, 2, 0, 0, 0])
    >>> vocabulary.decode(vocabulary.encode("naïve"))
    'na���'
    >>> vocabulary.unknown("naïve")
    'evï'

    The tempting way is to leave such characters out. The model then reads, and is scored on,
    another text than the one you gave it, and nothing tells you:

    >>> numbers = {"a": 0, "b": 1, "n": 2}
    >>> wrong = [numbers[character] for character in "a bean" if character in numbers]
    >>> "".join("abn"[number] for number in wrong)
    'aban'
    """

    # Character number $i$ is `characters[i]`.
    characters: tuple[str, ...]

    UNKNOWN = "\ufffd"

    def __post_init__(self) -> None:
        if self.characters[:1] != (self.UNKNOWN,):
            raise ValueError(
                "a vocabulary begins with the unknown character U+FFFD, "
                f"but this one begins with {list(self.characters[:1])}"
            )
        odd = [character for character in self.characters if len(character) != 1]
        if odd:
            raise ValueError(
                f"a vocabulary holds single characters, but this one holds {odd[0]!r}"
            )
        if len(set(self.characters)) != len(self.characters):
            raise ValueError(
                f"a vocabulary holds each character once, but of these {len(self.characters)} "
                f"only {len(set(self.characters))} differ"
            )

    @classmethod
    def of(cls, text: str) -> "Vocabulary":
        r"""
        ### From a text

        Equal texts give equal numbers, on any machine: the order of the characters is that of
        their code points.
        """
        return cls((cls.UNKNOWN, *sorted(set(text) - {cls.UNKNOWN})))

    def __len__(self) -> int:
        r"""
        ### How many there are

        The unknown one counts: a model has to have a row for it.

        >>> len(Vocabulary.of("a banana"))
        5
        """
        return len(self.characters)

    def encode(self, text: str) -> Tensor:
        r"""
        ### Characters to numbers

        * `return: [n_characters]`
        """
        numbers = {character: number for number, character in enumerate(self.characters)}
        return torch.tensor([numbers.get(c, 0) for c in text], dtype=torch.int64)

    def unknown(self, text: str) -> str:
        r"""
        ### What it does not know

        The characters of a text that have no number of their own, each once, in order.
        """
        return "".join(sorted(set(text) - set(self.characters)))

    def decode(self, ids: Tensor | Iterable[int]) -> str:
        r"""
        ### Numbers to characters

        A number that no character has is a mistake. One above the end would raise by itself;
        one below zero would not, since Python counts it from the end.

        * `ids: [n_characters]`

        >>> Vocabulary.of("a banana").decode([3, -1])
        Traceback (most recent call last):
            ...
        ValueError: -1 is the number of no character: there are 5, numbered from 0
        """
        numbers: list[int] = ids.tolist() if isinstance(ids, Tensor) else list(ids)
        for number in numbers:
            if not 0 <= number < len(self):
                raise ValueError(
                    f"{number} is the number of no character: "
                    f"there are {len(self)}, numbered from 0"
                )
        return "".join(self.characters[number] for number in numbers)

    def to_list(self) -> list[str]:
        r"""
        ### To keep it with a model

        A trained model is of use only with the numbers that it was trained on. A list of
        strings is something that any file format holds.

        >>> vocabulary = Vocabulary.of("a banana")
        >>> vocabulary.to_list()
        ['�', ' ', 'a', 'b', 'n']
        >>> Vocabulary.from_list(vocabulary.to_list()) == vocabulary
        True
        """
        return list(self.characters)

    @classmethod
    def from_list(cls, characters: Iterable[str]) -> "Vocabulary":
        r"""
        ### And to have it back
        """
        return cls(tuple(characters))


@dataclass(frozen=True, eq=False)
class CharacterDataset:
    r"""
    ## A text in two parts

    The model learns from the first part. The last part, a tenth, it never sees: what it makes
    of that is what we call its loss.

    >>> text = "how much wood would a woodchuck chuck, if a woodchuck could chuck wood?"
    >>> dataset = CharacterDataset.of("woodchuck", text, valid_share=0.2)
    >>> len(dataset.train), len(dataset.valid)
    (57, 14)
    >>> dataset.valid_text
    'ld chuck wood?'

    **In one piece.** Why not pick sentences here and there? Neighbouring sentences speak of
    the same things with the same words. The more borders there are between the two parts, the
    more the model can know of one from the other. One cut is one border.

    **The vocabulary is that of the first part only.** Whoever takes all the text into it tells
    the model which characters are still to come. Here the question mark comes at the very end.
    It has no number, and there is no hiding it:

    >>> dataset.vocabulary.unknown(text)
    '?'
    >>> dataset.valid[-1]
    tensor(0)
    """

    name: str
    vocabulary: Vocabulary
    # The characters of the two parts, as numbers.
    train: Tensor
    valid: Tensor
    # SHA-256 of the whole text, in UTF-8. Two losses can be compared if these are the same.
    sha256: str
    train_text: str
    valid_text: str

    @classmethod
    def of(cls, name: str, text: str, valid_share: float = 0.1) -> "CharacterDataset":
        r"""
        ### Cut
        """
        if not 0 < valid_share < 1:
            raise ValueError(f"valid_share = {valid_share} must lie between 0 and 1")
        n_valid = int(valid_share * len(text))
        if n_valid < 2:
            raise ValueError(
                f"{name!r} has {len(text)} characters, of which valid_share = {valid_share} "
                f"keeps {n_valid} apart, but it needs at least 2: one to see, one to predict"
            )
        train_text, valid_text = text[:-n_valid], text[-n_valid:]
        vocabulary = Vocabulary.of(train_text)
        # * `train: [n]`
        # * `valid: [n_valid]`
        train, valid = vocabulary.encode(train_text), vocabulary.encode(valid_text)
        return cls(
            name=name,
            vocabulary=vocabulary,
            train=train,
            valid=valid,
            sha256=hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
            train_text=train_text,
            valid_text=valid_text,
        )

    def batch(
        self, step: int, seq_len: int, batch_size: int, seed: int
    ) -> tuple[Tensor, Tensor]:
        r"""
        ### A batch to learn from

        $B$ pieces of $T$ characters, from anywhere in the training part. Of its $n$ characters
        each of the first $n - T$ may begin a piece, since behind the last character of a piece
        there must be one more to predict.

        * `return: [seq_len, batch_size]`, the characters to read, and as many to predict

        >>> dataset = CharacterDataset.of("digits", "0123456789" * 7)
        >>> x, y = dataset.batch(step=0, seq_len=5, batch_size=2, seed=0)
        >>> x.shape
        torch.Size([5, 2])

        What comes after each character of `x` stands at the same place of `y`, so they are the
        same piece of text, one apart:

        >>> torch.equal(x[1:], y[:-1])
        True

        **Which pieces?** That depends on the seed and the step, and on nothing else. No
        generator is moved on from batch to batch. So a run that was killed and goes on at step
        700 sees what it would have seen; and of several processes at work on one batch, each
        can make all of it and take its share.

        >>> again, _ = dataset.batch(step=0, seq_len=5, batch_size=2, seed=0)
        >>> torch.equal(x, again)
        True

        A generator seeded with `seed + step` would do for one run. But seeds are there to be
        compared, and the run with seed 1 would get the batches of the run with seed 0, one
        step earlier. Two such runs differ in little but their beginning. A hash of the two
        numbers keeps them apart:

        >>> def wrong(seed, step):
        ...     generator = torch.Generator().manual_seed(seed + step)
        ...     return torch.randint(1_000_000, (3,), generator=generator)
        >>> torch.equal(wrong(seed=0, step=1), wrong(seed=1, step=0))
        True
        >>> right = [generator_of(0, 1), generator_of(1, 0)]
        >>> first, second = (torch.randint(1_000_000, (3,), generator=g) for g in right)
        >>> torch.equal(first, second)
        False
        """
        n_starts = len(self.train) - seq_len
        if seq_len < 1 or batch_size < 1:
            raise ValueError(
                f"seq_len = {seq_len} and batch_size = {batch_size} must both be at least 1"
            )
        if n_starts < 1:
            raise ValueError(
                f"the training part of {self.name!r} has {len(self.train)} characters, "
                f"but seq_len = {seq_len} needs at least {seq_len + 1}"
            )
        # `starts: [batch_size]`
        starts = torch.randint(n_starts, (batch_size,), generator=generator_of(seed, step))
        # Position $t$ of piece $b$ is character `starts[b] + t` of the text.
        #
        # `places: [seq_len, batch_size]`
        places = starts + torch.arange(seq_len).unsqueeze(1)
        # * `x: [seq_len, batch_size]`
        # * `y: [seq_len, batch_size]`
        x, y = self.train[places], self.train[places + 1]
        return x, y

    def validation(self, seq_len: int, batch_size: int) -> Iterator[tuple[Tensor, Tensor]]:
        r"""
        ### The same questions every time

        A loss on a few pieces from anywhere is a matter of luck. Take a model that is as simple
        as can be, and never changes: it gives each character the share that it has in the
        training part. Here is its loss on twenty single pieces of the validation part, drawn at
        random. The best and the worst of them lie far apart, and nobody has learned anything in
        between:

        >>> words = ["a bee ", "buzz, buzz ", "in the hollow ", "of an old tree ", "zzz "]
        >>> dataset = CharacterDataset.of("bees", "".join(words * 30), valid_share=0.3)
        >>> n_tokens = len(dataset.vocabulary)
        >>> counts = dataset.train.bincount(minlength=n_tokens)
        >>> loss = -(counts / len(dataset.train)).log()
        >>> starts = torch.randint(len(dataset.valid) - 7, (20,)).tolist()
        >>> losses = [loss[dataset.valid[s : s + 7]].mean().item() for s in starts]
        >>> max(losses) - min(losses) > 0.2
        True

        So we walk through the part from its beginning to its end, and ask for each character
        but the first, exactly once. Nothing is random here:

        >>> pieces = [y.T.flatten() for _, y in dataset.validation(seq_len=7, batch_size=4)]
        >>> torch.equal(torch.cat(pieces), dataset.valid[1:])
        True

        The part seldom divides evenly. The last batch may have fewer pieces, and what is left
        after the last whole piece comes as a short one, alone. It is not dropped, or the
        length of the pieces would decide which characters count.

        >>> [tuple(x.shape) for x, _ in dataset.validation(seq_len=60, batch_size=2)]
        [(60, 2), (60, 2), (60, 2), (60, 1), (29, 1)]

        With batches of different size, add up the losses of all *characters* and divide once,
        at the end. The mean of the batches' means would give each of those 29 characters the
        say of four others.

        Which characters are asked for does not depend on $T$. How much a model sees of what
        comes before them does: the first of each piece has a single character to go by. So of
        two losses with different $T$, the longer has a small advantage.
        """
        if seq_len < 1 or batch_size < 1:
            raise ValueError(
                f"seq_len = {seq_len} and batch_size = {batch_size} must both be at least 1"
            )
        # `valid: [n_valid]`
        valid = self.valid
        n_pieces = (len(valid) - 1) // seq_len
        for first in range(0, n_pieces, batch_size):
            last = min(first + batch_size, n_pieces)
            start, end = first * seq_len, last * seq_len
            # One piece a row, then turned, so that positions come first.
            #
            # * `x: [seq_len, n_pieces_here]`
            # * `y: [seq_len, n_pieces_here]`
            x = valid[start:end].view(-1, seq_len).T
            y = valid[start + 1 : end + 1].view(-1, seq_len).T
            yield x.contiguous(), y.contiguous()
        rest = n_pieces * seq_len
        if rest < len(valid) - 1:
            yield valid[rest:-1].unsqueeze(1), valid[rest + 1 :].unsqueeze(1)


def generator_of(seed: int, step: int) -> torch.Generator:
    r"""
    ## Random numbers of one step

    A hash mixes so well that neighbours have nothing in common. Torch's generator takes no
    more than 32 bits of a seed on the CPU, so we give it these.
    """
    digest = hashlib.sha256(f"batch {step} of seed {seed}".encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:4], "little"))
