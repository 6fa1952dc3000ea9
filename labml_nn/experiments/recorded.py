r"""
---
title: Recorded runs
summary: What a page shows of a run is read from the run's own files.
---
# Recorded runs

A page tells of a run: so many steps, this loss, that sample. Numbers typed into a page grow
stale; the next run gives others, and nobody remembers the third paragraph. So the files of the
run lie in a folder `run` beside the page, all but the checkpoints, and the page's examples read
them. Where the files change, the page does.

>>> import tempfile
>>> kept = tempfile.TemporaryDirectory()
>>> folder = Path(kept.name)
>>> _ = (folder / "config.json").write_text('{"experiment": "mine", "settings": {"steps": 2}}')
>>> _ = (folder / "result.json").write_text('{"valid_loss": 1.5, "trigram_loss": 1.75}')
>>> lines = '{"step": 1, "loss": 4.0}\n{"step": 2, "loss": 3.0}\n'
>>> _ = (folder / "metrics.jsonl").write_text(lines)
>>> _ = (folder / "sample.txt").write_text("The rose\n\nis a rose")
>>> run = recorded(folder)
>>> run.configuration["steps"]
2
>>> run.result["valid_loss"] < run.result["trigram_loss"]
True
>>> [line["loss"] for line in run.metrics]
[4.0, 3.0]
>>> print(run.excerpt())
The rose
is a rose
>>> kept.cleanup()
"""

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labml_nn.experiments import ExperimentError, metrics
from labml_nn.experiments.training import CONFIG, METRICS, RESULT, SAMPLE, read_json


@dataclass(frozen=True)
class RecordedRun:
    r"""
    ## A run that is over
    """

    folder: Path
    # The name of the experiment, and what it ran on.
    config: dict[str, Any]
    # The settings, by name.
    configuration: dict[str, Any]
    result: dict[str, Any]
    metrics: list[dict[str, Any]]
    sample: str

    def excerpt(self) -> str:
        r"""
        ### What an example can show

        The output of an example ends at an empty line, and no line of it ends in spaces. So those
        are left out of the sample. Nothing else is.
        """
        lines = [line.rstrip() for line in self.sample.splitlines()]
        return "\n".join(line for line in lines if line)


def recorded(where: str | Path) -> RecordedRun:
    r"""
    ## Read it

    `where` is the name of a page's module, such as its own `__name__`, or a folder.

    >>> recorded("labml_nn.utils")
    Traceback (most recent call last):
    labml_nn.experiments.ExperimentError: there is no recorded run beside labml_nn.utils
    """
    folder = where if isinstance(where, Path) else _beside(where)
    if not folder.is_dir():
        raise ExperimentError(f"there is no recorded run beside {where}")
    config = read_json(folder / CONFIG)
    return RecordedRun(
        folder=folder,
        config=config,
        configuration=config["settings"],
        result=read_json(folder / RESULT),
        metrics=metrics.read(folder / METRICS),
        sample=(folder / SAMPLE).read_text(encoding="utf-8"),
    )


def _beside(module: str) -> Path:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise ExperimentError(f"there is no module {module}")
    return Path(spec.origin).parent / "run"
