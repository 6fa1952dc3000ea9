r"""
---
title: Progress
summary: What a run says while it goes on, and at the end.
---
# Progress

A bar shows how far the run is, the loss, and how long it will still take. At every
[evaluation](evaluation.html) a line is added above it, and the lines stay. Where the output
goes to a file, there are the lines only.

[rich](https://rich.readthedocs.io/) draws it.
"""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from labml_nn.experiments.evaluation import bits


def in_both_units(nats: float) -> str:
    r"""
    ## A loss, in nats and in bits

    >>> in_both_units(1.5)
    '1.500 nats (2.164 bits)'
    """
    return f"{nats:.3f} nats ({bits(nats):.3f} bits)"


class Reporter:
    r"""
    ## What is said, and where

    Without a console, nothing is.

    >>> with Reporter(None, steps=300) as silent:
    ...     silent.step(1, loss=4.0)

    >>> with Reporter(Console(width=80), steps=300) as reporter:
    ...     reporter.say("Text pydoc_topics")
    ...     reporter.step(100, loss=2.5)
    ...     reporter.evaluation(100, loss=2.5, valid_loss=2.4)
    Text pydoc_topics
    step 100: training 2.500, validation 2.400 nats (3.462 bits) a character
    """

    def __init__(self, console: Console | None, steps: int, start: int = 0):
        self.console = console
        self.progress = Progress(
            TextColumn("training"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("loss {task.fields[loss]}"),
            TimeRemainingColumn(),
            console=console,
            # Where nobody looks on, a bar that moves is noise.
            disable=console is None or not console.is_terminal,
        )
        self.task = self.progress.add_task("", total=steps, completed=start, loss="–")

    def step(self, step: int, loss: float) -> None:
        self.progress.update(self.task, completed=step, loss=in_both_units(loss))

    def evaluation(self, step: int, loss: float, valid_loss: float) -> None:
        self.say(
            f"step {step}: training {loss:.3f}, "
            f"validation {in_both_units(valid_loss)} a character"
        )

    def say(self, line: str) -> None:
        if self.console is not None:
            # No line is a place for colours, nor to be cut at the width of the window.
            self.console.print(line, markup=False, highlight=False, soft_wrap=True)

    def __enter__(self) -> Self:
        self.progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.progress.stop()
