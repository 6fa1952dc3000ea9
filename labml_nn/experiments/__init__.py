r"""
---
title: Experiments
summary: What every training run here has in common, one short page for each thing.
order: [configuration, training, schedule, optimizer, randomness, checkpoint, metrics,
  evaluation, sampling, processes, progress, plot, recorded]
---
# Experiments

A model that nobody has trained is a claim. Each chapter ends with an experiment: the model
reads a text character by character, and learns to guess the next one. It runs on a laptop, on
text that every machine has:

    python -m labml_nn train basic --steps 300

An experiment says only what is its own: which model, and with what settings. All else is the
same for each of them and stands here, on pages of one idea each. Read them in the order in
which a run meets them:

1. [Configuration](configuration.html): the settings, from the command line.
2. [Training](training.html): the loop. If you read one page, read this one.
3. [Learning rate](schedule.html): warm-up, then half a cosine.
4. [Optimiser](optimizer.html): AdamW, what decays and what does not, clipped gradients.
5. [Randomness](randomness.html): why a run that was interrupted sees the same dice.
6. [Checkpoints](checkpoint.html): how to write a file so that no accident can spoil it.
7. [Metrics](metrics.html): a line for each step.
8. [Evaluation](evaluation.html): always the same characters, and everything left as it was.
9. [Sampling](sampling.html): the model writes.
10. [Several processes](processes.html): when the average of averages is the average.
11. [Progress](progress.html), [plot](plot.html) and [recorded runs](recorded.html): to look at.

## One of your own

An experiment is a class with settings and a `model`. This is a whole one, the smallest: it
guesses the next character from the last.

>>> from dataclasses import dataclass
>>> from torch import nn
>>> from labml_nn.experiments.configuration import Configuration
>>> @dataclass(frozen=True, kw_only=True)
... class Bigram(Configuration):
...     # The width of a character's vector.
...     d_model: int = 24
...     def model(self, n_tokens):
...         embedding = nn.Embedding(n_tokens, self.d_model)
...         return nn.Sequential(embedding, nn.Linear(self.d_model, n_tokens))
>>> Bigram(steps=200).model(n_tokens=5)
Sequential(
  (0): Embedding(5, 24)
  (1): Linear(in_features=24, out_features=5, bias=True)
)

Keep it in a file, say `mine.py`, and name it by module and class:

    python -m labml_nn train mine:Bigram --d-model 32 --steps 200
"""

import difflib
import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from labml_nn.experiments.configuration import Configuration


class ExperimentError(Exception):
    r"""
    ## What went wrong, in a sentence

    The command line prints the message of such an error, and nothing else. So the message says
    what to do.
    """


@dataclass(frozen=True)
class Entry:
    r"""
    ## An entry of the list

    A name for the command line, where its class is, and what it is about. The class is named by
    a string: so the list can be shown without importing a single model, and so without PyTorch.
    """

    name: str
    where: str
    about: str

    @property
    def page(self) -> str:
        r"""
        ### Its page

        The page of a module is the module's name with slashes.

        >>> find("aft").page
        'transformers/aft/experiment.html'
        """
        module = self.where.partition(":")[0]
        return module.removeprefix("labml_nn.").replace(".", "/") + ".html"


# ## The list
EXPERIMENTS = (
    Entry(
        "basic",
        "labml_nn.transformers.basic.autoregressive_experiment:Experiment",
        "The Transformer of Vaswani et al. 2017, its decoder alone",
    ),
    Entry(
        "aft",
        "labml_nn.transformers.aft.experiment:Experiment",
        "An Attention Free Transformer, Zhai et al. 2021",
    ),
    Entry(
        "feedback",
        "labml_nn.transformers.feedback.experiment:Experiment",
        "The Feedback Transformer, Fan et al. 2020",
    ),
    Entry(
        "fast_weights",
        "labml_nn.transformers.fast_weights.experiment:Experiment",
        "Linear Transformers as fast weight programmers, Schlag et al. 2021",
    ),
)


def find(name: str) -> Entry:
    r"""
    ## From a name to an entry

    >>> find("basic").where
    'labml_nn.transformers.basic.autoregressive_experiment:Experiment'

    A name that is not there is met with the nearest that is:

    >>> find("atf")
    Traceback (most recent call last):
    labml_nn.experiments.ExperimentError: there is no experiment 'atf': did you mean 'aft'?
    """
    for entry in EXPERIMENTS:
        if entry.name == name:
            return entry
    # A class of one's own is named by where it is.
    module, colon, attribute = name.partition(":")
    if colon and module and attribute:
        return Entry(name, name, "An experiment of your own")
    names = [entry.name for entry in EXPERIMENTS]
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.4)
    there = f"there are {', '.join(names)}, and your own as module:Class"
    advice = f"did you mean {near[0]!r}?" if near else there
    raise ExperimentError(f"there is no experiment {name!r}: {advice}")


def load(name: str) -> "type[Configuration]":
    r"""
    ## From a name to a class

    Only now is the module imported.

    >>> load("labml_nn.experiments.configuration:Configuration").__name__
    'Configuration'
    """
    from labml_nn.experiments.configuration import Configuration

    module, _, attribute = find(name).where.partition(":")
    if not all(part.isidentifier() for part in module.split(".")):
        raise ExperimentError(
            f"{module!r} is no name of a module: for a class in a file mine.py of this folder, "
            f"write mine:{attribute}"
        )
    try:
        imported = importlib.import_module(module)
    except ModuleNotFoundError as error:
        # Not where the module itself is there, and misses another.
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        advice = ": write it without .py" if module.endswith(".py") else ""
        raise ExperimentError(
            f"experiment {name!r} needs the module {module}, and there is none{advice}"
        ) from error
    if not hasattr(imported, attribute):
        near = difflib.get_close_matches(attribute, dir(imported), n=1)
        advice = f": did you mean {near[0]!r}?" if near else ""
        raise ExperimentError(f"module {module} has no {attribute!r}{advice}")
    found = getattr(imported, attribute)
    if not (isinstance(found, type) and issubclass(found, Configuration)):
        raise ExperimentError(f"{module}:{attribute} is not a class made from Configuration")
    return found


def name_of(configuration: "type[Configuration]") -> str:
    r"""
    ## From a class to a name

    What [`load`](labml_nn.experiments.load) would have to be given. A run writes it down.

    >>> from labml_nn.experiments.configuration import Configuration
    >>> name_of(Configuration)
    'labml_nn.experiments.configuration:Configuration'
    """
    where = f"{configuration.__module__}:{configuration.__qualname__}"
    return next((entry.name for entry in EXPERIMENTS if entry.where == where), where)
