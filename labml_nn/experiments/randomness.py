r"""
---
title: Randomness
summary: New dice for every step, made from its number, so that no break can change the throw.
---
# Randomness

Chance is everywhere in a run: in the first weights, in which pieces of text make a batch, in
what dropout drops. All of it comes from generators, which are machines with a *state*: each
draw changes the state, and the state decides the next draw.

A run may be killed at step 5,000 and continued from step 4,900. To end with the same weights it
must draw what it would have drawn. There are two ways.

**Save the states.** PyTorch has one generator for the CPU and one for each GPU, Python has one,
NumPy has one; a dataset may keep another. A run of four processes has four of each. All belong
in the checkpoint, and one that is forgotten goes unnoticed: the run continues, a little
different. And a state says where a generator stood after everything before it. One draw more
anywhere, such as a sample to look at along the way, shifts every draw after it.

**Make them anew at every step**, out of the step's number. Then there is nothing to save, and
nothing that came before can matter:

>>> import torch
>>> seed_everything(seed=0, step=4900)
>>> first = torch.rand(3)
>>> _ = torch.rand(1000)
>>> seed_everything(seed=0, step=4900)
>>> torch.equal(torch.rand(3), first)
True

This is the way here. It has a further virtue: step 4,900 can be run alone, by whoever wants to
know what went wrong there.

Seeding costs some microseconds. Computing random numbers as a pure function of a counter, with
no state at all, is what Salmon et al. 2011 propose ([Parallel Random Numbers: As Easy as 1, 2,
3](https://doi.org/10.1145/2063384.2063405)); theirs are the generators of GPUs.
"""

import hashlib
import random
import sys

import torch


def seed_of(seed: int, step: int, rank: int = 0) -> int:
    r"""
    ## One number from three

    The seed of a step is made from the run's seed, the step, and the rank: the number of the
    process. Two processes need different dice, or dropout drops the same in both.

    The sum of the three would be a trap. The second run is to show how much depends on luck;
    but its step 0 is the first run's step 1:

    >>> seed, step = 0, 1
    >>> wrong = seed + step
    >>> seed, step = 1, 0
    >>> wrong == seed + step
    True

    So the same dropout masks would come back, one step late. A hash mixes the three so that
    every combination has a number of its own:

    >>> seed_of(seed=0, step=1) == seed_of(seed=1, step=0)
    False
    >>> numbers = {seed_of(s, t, r) for s in range(10) for t in range(100) for r in range(4)}
    >>> len(numbers)
    4000
    """
    digest = hashlib.sha256(f"{seed} {step} {rank}".encode()).digest()
    # 63 bits, which any generator takes, whether its seeds are signed or not.
    return int.from_bytes(digest[:8], "big") >> 1


def seed_everything(seed: int, step: int, rank: int = 0) -> None:
    r"""
    ## All generators at once

    `torch.manual_seed` is for the CPU and for all GPUs. A model may use Python's generator too,
    or NumPy's: which we do not import, but seed if someone has.

    >>> import random
    >>> seed_everything(seed=0, step=7)
    >>> first = random.random()
    >>> seed_everything(seed=0, step=7)
    >>> random.random() == first
    True
    """
    number = seed_of(seed, step, rank)
    torch.manual_seed(number)
    random.seed(number)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(number % 2**32)
