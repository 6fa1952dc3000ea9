"""A text and a model that take no time to train, and what can be asked of a run."""

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from labml_nn.__main__ import main
from labml_nn.data.characters import CharacterDataset
from labml_nn.experiments import checkpoint
from labml_nn.experiments.configuration import Configuration

CPU = torch.device("cpu")
WORDS = "the cat sat on a mat and saw that the rat ate a hat . ".split(" ")
TEXT = " ".join(random.Random(7).choices(WORDS, k=700))


class GRU(nn.Module):
    """Of torch's own layers; `step` continues a sequence."""

    def __init__(self, n_tokens: int, d_model: int, dropout: float):
        super().__init__()
        self.embedding = nn.Embedding(n_tokens, d_model)
        self.norm = nn.LayerNorm(d_model)
        self.gru = nn.GRU(d_model, d_model)
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(d_model, n_tokens)

    def step(self, x: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        y, state = self.gru(self.dropout(self.norm(self.embedding(x))), state)
        return self.output(self.dropout(y)), state

    def forward(self, x: Tensor) -> Tensor:
        return self.step(x)[0]


@dataclass(frozen=True, kw_only=True)
class Tiny(Configuration):
    d_model: int = 8
    seq_len: int = 7
    batch_size: int = 4
    steps: int = 6
    warmup_steps: int = 2
    checkpoint_every: int = 2
    eval_every: int = 3
    prompt: str = "the "
    sample_len: int = 5

    def dataset(self) -> CharacterDataset:
        return CharacterDataset.of("cat", TEXT)

    def model(self, n_tokens: int) -> nn.Module:
        return GRU(n_tokens, self.d_model, self.dropout)


TINY = f"{Tiny.__module__}:Tiny"


def weights(run: Path, **which: bool) -> dict[str, Tensor]:
    return checkpoint.load(run, **which)["model"]


def same(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return torch.equal(a, b) if isinstance(a, Tensor) else a == b


def assert_same_run(run: Path, other: Path) -> None:
    """Equal in every weight, every average of the optimiser and every byte of the other files."""
    assert same(checkpoint.load(run), checkpoint.load(other))
    for name in ("metrics.jsonl", "result.json", "sample.txt"):
        assert (run / name).read_bytes() == (other / name).read_bytes(), name


def files(run: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in run.iterdir() if path.is_file()}


def fails(arguments: list[str], capsys: pytest.CaptureFixture[str], code: int = 1) -> str:
    """What the command line says when it fails, which must be a single line."""
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    said = capsys.readouterr().err
    assert stopped.value.code == code
    assert "Traceback" not in said
    if code == 1:
        assert said.count("\n") == 1
    return said
