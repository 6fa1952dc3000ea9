r"""
---
title: Metrics
summary: One line of JSON for each step, and after a break no line twice.
---
# Metrics

What a run was like is told by a file of lines, `metrics.jsonl`. Each line is a JSON object of
its own. Such a file can be appended to, needs no closing bracket, and every tool can read it
while it grows:

    tail -f runs/basic/metrics.jsonl

A step has its training loss, learning rate, the length of the gradient before it was
[clipped](optimizer.html), and how many characters were read so far. An evaluation has the loss
on the validation text.

There is no clock in it. Time is different in every run, and without it two runs that should be
equal can be compared by their bytes.

## After a break

A run that is killed at step 149 and continued from the checkpoint of step 100 does steps 101 to
149 again. Appended, they would stand there twice. So each checkpoint remembers how long the
file was, and the run that continues from it first cuts off what came later. That may include
half a line.

>>> import tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> path = Path(folder.name) / "metrics.jsonl"
>>> with MetricsFile(path) as metrics:
...     metrics.write({"step": 1, "loss": 4.0})
...     size = metrics.commit()  # the checkpoint
...     metrics.write({"step": 2, "loss": 3.5})  # and then, the end
>>> with MetricsFile(path, size) as metrics:
...     metrics.write({"step": 2, "loss": 3.5})
...     _ = metrics.commit()
>>> read(path)
[{'step': 1, 'loss': 4.0}, {'step': 2, 'loss': 3.5}]
>>> folder.cleanup()
"""

import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from labml_nn.experiments import ExperimentError


class MetricsFile:
    r"""
    ## A file that grows by lines
    """

    def __init__(self, path: Path, size: int = 0):
        r"""
        ### Cut to size

        `size` is what the checkpoint remembers. A new run has 0.
        """
        there = path.stat().st_size if path.exists() else 0
        if there < size:
            raise ExperimentError(
                f"{path} has {there} bytes, but had {size} when the checkpoint was written: "
                "it was cut, or belongs to another run"
            )
        self.file = path.open("ab")
        self.file.truncate(size)

    def write(self, values: dict[str, Any]) -> None:
        r"""
        ### A line

        Written through to the system at once, so that who watches sees it. JSON has no way to
        write *not a number*, though Python's writer pretends it had; such a value is refused.
        """
        line = json.dumps(values, allow_nan=False) + "\n"
        self.file.write(line.encode())
        self.file.flush()

    def commit(self) -> int:
        r"""
        ### Down to the disk

        Before a checkpoint says how long the file is, the file must be that long, even after a
        power failure.
        """
        self.file.flush()
        os.fsync(self.file.fileno())
        return self.file.tell()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.file.close()


def read(path: Path) -> list[dict[str, Any]]:
    r"""
    ## Read it

    A run that was killed may have left half a line at the end. It is left out.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise ExperimentError(f"there are no metrics {path}") from None
    lines = []
    for number, line in enumerate(data.split(b"\n")[:-1], 1):
        try:
            values = json.loads(line)
        except ValueError:
            values = None
        if not isinstance(values, dict):
            raise ExperimentError(f"{path} is damaged: line {number} is no JSON object")
        lines.append(values)
    return lines


def summary_writer() -> Any:
    r"""
    ## The class that writes for TensorBoard
    """
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise ExperimentError(
            "TensorBoard is not installed: pip install 'annotated-nn[tensorboard]', "
            "or leave out --tensorboard"
        ) from None
    return SummaryWriter


class TensorBoard:
    r"""
    ## TensorBoard

    The same numbers once more, for those who like to watch them there:

        python -m labml_nn train basic --tensorboard
        tensorboard --logdir runs

    It is imported only when asked for, and looked for before the training begins.
    """

    def __init__(self, folder: Path, start: int):
        # Its files cannot be cut. Instead it is told from which step on the old ones are void.
        self.writer = summary_writer()(str(folder), purge_step=start + 1)

    def write(self, values: dict[str, Any]) -> None:
        for name, value in values.items():
            if name != "step":
                self.writer.add_scalar(name, value, values["step"])

    def flush(self) -> None:
        self.writer.flush()

    def close(self) -> None:
        self.writer.close()
