"""One thread, so that workers do not fight over cores; one seed, so that a failure comes back."""

import pytest
import torch

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)
