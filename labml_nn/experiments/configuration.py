r"""
---
title: Configuration
summary: The settings of a run, each with a word on what it does, checked before it starts.
---
# Configuration

The settings are the fields of a dataclass. One list then serves four purposes: it is the code
that reads them, the options of the command line, the text of `--help`, and the record in
`config.json`.

    python -m labml_nn train basic --steps 300 --learning-rate 2e-3

[tyro](https://brentyi.github.io/tyro/) turns the fields into options; the note above a field is
its help text. An experiment inherits them all and adds its own.

They cannot be changed once made. A run that could change its settings on the way could not say
at the end what they were.

>>> Configuration(steps=300, warmup_steps=20).steps
300

Settings that cannot work are refused at once, not in the middle of the night:

>>> Configuration(steps=0)
Traceback (most recent call last):
ValueError: steps = 0 must be at least 1
"""

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

# PyTorch is needed by whoever builds the model, not by whoever reads the settings.
if TYPE_CHECKING:
    from torch import nn

    from labml_nn.data.characters import CharacterDataset


@dataclass(frozen=True, kw_only=True)
class Configuration:
    r"""
    ## The settings of every experiment
    """

    # What to read: the name of a text in `labml_nn.data.texts`.
    text: str = "pydoc_topics"

    # Characters that the model sees at once.
    seq_len: int = 128

    # Sequences in a step, over all processes together.
    batch_size: int = 16

    # Updates of the weights.
    steps: int = 1000

    # The highest learning rate: it rises to this in the warm-up, and falls towards zero after.
    learning_rate: float = 1e-3

    # Steps of warm-up; 0 for none.
    warmup_steps: int = 50

    # What AdamW takes off the matrices, as a share of the learning rate.
    weight_decay: float = 0.01

    # A gradient longer than this is made as long as this; None lets it pass.
    clip_norm: float | None = 1.0

    # The share of activations that are dropped in training.
    dropout: float = 0.1

    # Where all chance in the run comes from.
    seed: int = 0

    # Where to compute, such as cpu, cuda or cuda:1; auto takes a GPU if there is one.
    device: str = "auto"

    # The precision of the large products; the weights stay in float32.
    precision: Literal["float32", "bfloat16"] = "float32"

    # Compile the model with torch.compile: slow to start, faster after.
    compile: bool = False

    # Threads for a process on the CPU; None leaves it to PyTorch.
    threads: int | None = None

    # Steps from one look at the validation text to the next.
    eval_every: int = 100

    # Steps from one checkpoint to the next.
    checkpoint_every: int = 100

    # What the sample at the end begins with.
    prompt: str = "The "

    # Characters of the sample at the end.
    sample_len: int = 300

    # Above 1 the sample is more daring, below 1 more careful; 0 takes the likeliest each time.
    temperature: float = 0.8

    # Write the metrics for TensorBoard too.
    tensorboard: bool = False

    def __post_init__(self) -> None:
        r"""
        ### What cannot work

        The message names the setting and its value:

        >>> Configuration(dropout=1.0)
        Traceback (most recent call last):
        ValueError: dropout = 1.0 must be at least 0 and below 1
        """
        for name in ("seq_len", "batch_size", "steps", "eval_every", "checkpoint_every"):
            self._at_least(name, 1)
        for name in ("warmup_steps", "weight_decay", "temperature", "sample_len"):
            self._at_least(name, 0)
        if self.threads is not None:
            self._at_least("threads", 1)
            # Some systems crash where they should say that these are too many.
            if self.threads > 1024:
                raise ValueError(f"threads = {self.threads} must be at most 1024")
        # Written so that a value which is not a number fails too.
        for name in ("learning_rate", "clip_norm"):
            value = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                raise ValueError(f"{name} = {value} must be a number above 0")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout = {self.dropout} must be at least 0 and below 1")
        if self.precision not in ("float32", "bfloat16"):
            raise ValueError(f"precision = {self.precision!r} is neither float32 nor bfloat16")
        if not self.prompt:
            raise ValueError("prompt is empty, and the model needs a character to begin with")
        # What the command line could not read as text comes as halves of characters, which no
        # file takes. The run would find that out when it writes the sample, at its very end.
        if any("\ud800" <= character <= "\udfff" for character in self.prompt):
            raise ValueError(f"prompt = {self.prompt!r} is no text in this terminal's encoding")
        # Torch's generators take no more.
        if not -(2**63) <= self.seed < 2**64:
            raise ValueError(f"seed = {self.seed} must fit into 64 bits")

    def _at_least(self, name: str, least: int) -> None:
        value = getattr(self, name)
        if not (isinstance(value, int | float) and least <= value < float("inf")):
            raise ValueError(f"{name} = {value} must be at least {least}")

    def model(self, n_tokens: int) -> "nn.Module":
        r"""
        ### The model

        What an experiment must bring. It takes characters as numbers below `n_tokens`, shaped
        `[seq_len, batch_size]`, and gives for each position a score for every possible next
        character, `[seq_len, batch_size, n_tokens]`.

        Two things are used if they are there. `max_len` is the longest sequence that it takes.
        `step(x, state)` continues a sequence, as [sampling](sampling.html) tells.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method model(n_tokens)")

    def seq_len_at(self, step: int) -> int:
        r"""
        ### A length that grows

        An experiment may begin with short sequences and let them grow. It may use `step` for
        that and nothing else: then a run that goes on after a break has the length it would
        have had.
        """
        return self.seq_len

    def dataset(self) -> "CharacterDataset":
        r"""
        ### The text

        Where yours is not among the known ones, an experiment may bring it.
        """
        from labml_nn.data import texts

        return texts.load(self.text)

    def to_json(self) -> dict[str, Any]:
        r"""
        ### Into a file and back

        >>> Configuration.from_json(Configuration(steps=300).to_json()).steps
        300
        """
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, settings: dict[str, Any]) -> Self:
        r"""
        A file from another version may hold a setting that is gone. To leave it out silently
        would be to continue another run than the one that was begun.

        >>> Configuration.from_json({"stepps": 300})
        Traceback (most recent call last):
        ValueError: Configuration has no setting 'stepps'
        """
        known = {field.name for field in dataclasses.fields(cls)}
        for name in settings:
            if name not in known:
                raise ValueError(f"{cls.__name__} has no setting {name!r}")
        # JSON has lists and no tuples.
        values: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in settings.items()
        }
        return cls(**values)
