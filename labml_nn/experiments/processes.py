r"""
---
title: Several processes
summary: Each takes a slice of the batch; when the average of their gradients is the gradient.
papers:
  - title: "PyTorch Distributed: Experiences on Accelerating Data Parallel Training"
    authors: Li et al.
    year: 2020
    url: https://arxiv.org/abs/2006.15704
symbols:
  P: [size, self.size]
  \bar L_p: value
---
# Several processes

With several GPUs, each holds a copy of the model and takes a part of every batch. After the
backward pass the copies tell each other their gradients, and all make the same step with the
average. So they stay equal. PyTorch has this as `DistributedDataParallel` (Li et al. 2020), and
its command `torchrun` starts the processes:

    torchrun --standalone --nproc-per-node 2 -m labml_nn train basic

The batch is one and the same for any number of processes: the *joint* batch. Its size is the
setting `batch_size`, and a run with four processes learns what a run with one learns.

## When the average of averages is the average

Let the joint batch have $N$ losses, cut into $P$ slices of $n_1, \dots, n_P$. Each process has
the mean $\bar L_p$ of its own slice. What is wanted is the mean of all:

$$\bar L = \frac1N \sum_{p=1}^{P} n_p \bar L_p$$

This is $\frac1P \sum_p \bar L_p$ if, and only if, the slices are equally large (or their means
happen to agree). The gradient is linear, so the same is true of gradients. Three losses for one
process and one for the other:

>>> import torch
>>> losses = torch.tensor([1.0, 1.0, 1.0, 5.0])
>>> first, second = losses[:3], losses[3:]
>>> losses.mean(), (first.mean() + second.mean()) / 2
(tensor(2.), tensor(3.))

The fourth counts as much as the other three together. No error says so. So a batch that does
not divide equally is refused.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel


@dataclass(frozen=True)
class Processes:
    r"""
    ## Who am I, and how many are we

    Processes count from 0; the number of one is its *rank*. Rank 0 is the one that writes files
    and speaks.

    >>> alone = Processes(torch.device("cpu"))
    >>> alone.is_first
    True
    """

    device: torch.device
    rank: int = 0
    size: int = 1

    @property
    def is_first(self) -> bool:
        r"""
        ### The one that writes
        """
        return self.rank == 0

    def share(self, batch: Tensor) -> Tensor:
        r"""
        ### My slice of the joint batch

        * `batch: [seq_len, batch_size]`
        * `return: [seq_len, batch_size // size]`

        >>> batch = torch.arange(12).reshape(2, 6)
        >>> Processes(torch.device("cpu"), rank=1, size=3).share(batch)
        tensor([[2, 3],
                [8, 9]])
        >>> Processes(torch.device("cpu"), rank=1, size=4).share(batch)
        Traceback (most recent call last):
        ValueError: batch_size = 6 cannot be shared equally by 4 processes
        """
        batch_size = batch.shape[1]
        self.check(batch_size)
        n = batch_size // self.size
        return batch[:, self.rank * n : (self.rank + 1) * n].to(self.device)

    def check(self, batch_size: int) -> None:
        r"""
        ### Equal slices or none
        """
        if batch_size % self.size != 0:
            raise ValueError(
                f"batch_size = {batch_size} cannot be shared equally by {self.size} processes"
            )

    def parallel(self, model: nn.Module) -> nn.Module:
        r"""
        ### A model that exchanges gradients

        While the backward pass still runs, the gradients that are ready are already on their
        way. A process alone needs none of it.
        """
        if self.size == 1:
            return model
        ids = [self.device.index] if self.device.type == "cuda" else None
        return DistributedDataParallel(model, device_ids=ids)

    def mean(self, value: Tensor) -> Tensor:
        r"""
        ### The mean over all

        Each process sees the loss of its own slice. The one that goes into the metrics is that
        of the joint batch.

        * `value: []`
        * `return: []`

        >>> Processes(torch.device("cpu")).mean(torch.tensor(3.0))
        tensor(3.)
        """
        if self.size == 1:
            return value
        value = value.detach().clone()
        dist.all_reduce(value)
        return value / self.size

    def from_first(self, value: Any) -> Any:
        r"""
        ### What the first one knows

        Only the first process reads the run's folder: on another machine it may not be there.
        The others hear from it what was in the checkpoint.

        >>> Processes(torch.device("cpu")).from_first({"step": 100})
        {'step': 100}
        """
        if self.size == 1:
            return value
        values = [value]
        dist.broadcast_object_list(values, src=0, device=self.device)
        return values[0]


def choose_device(name: str, local_rank: int = 0) -> torch.device:
    r"""
    ## Where to compute

    On a machine with several GPUs, each process takes its own: the one of its *local* rank,
    which counts from 0 on each machine.

    >>> choose_device("cpu")
    device(type='cpu')
    >>> choose_device("cqu")
    Traceback (most recent call last):
    ValueError: there is no device 'cqu': try cpu, cuda or auto
    """
    has_gpu = torch.cuda.is_available()
    if name == "auto":
        name = "cuda" if has_gpu else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError:
        raise ValueError(f"there is no device {name!r}: try cpu, cuda or auto") from None
    if device.type != "cuda":
        try:
            # A kind of device that PyTorch has heard of need not be in this machine, and the
            # one called meta holds shapes without numbers.
            torch.empty(1, device=device).item()
        except Exception:
            raise ValueError(
                f"device = {name!r} was asked for, but PyTorch cannot compute there"
            ) from None
        return device
    if not has_gpu:
        raise ValueError(f"device = {name!r} was asked for, but PyTorch finds no GPU")
    index = local_rank if device.index is None else device.index
    if index >= torch.cuda.device_count():
        raise ValueError(
            f"GPU {index} was asked for, but there are {torch.cuda.device_count()}, "
            "counted from 0"
        )
    return torch.device("cuda", index)


@contextmanager
def processes(device: str) -> Iterator[Processes]:
    r"""
    ## Meeting and parting

    `torchrun` tells each process its number in the environment. Where nothing is told, the
    process is alone. They talk by NCCL between GPUs, and by Gloo between CPUs.

    >>> with processes("cpu") as group:
    ...     group.size
    1
    """
    if "RANK" not in os.environ or "WORLD_SIZE" not in os.environ:
        yield Processes(choose_device(device))
        return
    chosen = choose_device(device, int(os.environ.get("LOCAL_RANK", "0")))
    if chosen.type == "cuda":
        torch.cuda.set_device(chosen)
    dist.init_process_group("nccl" if chosen.type == "cuda" else "gloo")
    try:
        yield Processes(chosen, dist.get_rank(), dist.get_world_size())
    finally:
        dist.destroy_process_group()
