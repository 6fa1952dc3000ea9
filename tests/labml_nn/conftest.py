"""One thread, so that workers do not fight over cores; one seed, so that a failure comes back; a place to work in."""

from pathlib import Path

import pytest
import torch

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)


@pytest.fixture
def workplace(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
