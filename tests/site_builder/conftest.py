"""The real command on tiny whole sites."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
REPOSITORY = FIXTURES.parents[1]


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    status: int
    out: str
    err: str
    folder: Path

    @property
    def faults(self) -> list[str]:
        """The diagnostics, without the last line's counts."""
        return [line for line in self.err.splitlines() if line.count(":") >= 3 and " written, " not in line]

    def read(self, url: str) -> str:
        return (self.folder / url).read_text("utf-8")


Builder = Callable[..., Ran]


def site_builder(
    *arguments: str, cwd: Path, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """`python -m site_builder` as a user runs it."""
    return subprocess.run(
        [sys.executable, "-m", "site_builder", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), **(env or {})},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A copy of the tiny site that a test may change."""
    return Path(shutil.copytree(FIXTURES / "tiny", tmp_path / "tiny"))


@pytest.fixture
def build() -> Builder:
    def run(cwd: Path, *arguments: str, output: str = "site", env: dict[str, str] | None = None) -> Ran:
        done = site_builder("build", "-o", output, *arguments, cwd=cwd, env=env)
        return Ran(done.returncode, done.stdout, done.stderr, cwd / output)

    return run
