"""The real command on tiny whole sites."""

from __future__ import annotations

import ast
import io
import shutil
import tokenize
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from site_builder.config import load
from site_builder.model import Page
from site_builder.site import read
from tests.site_builder.starting import REPOSITORY, site_builder

__all__ = [
    "FIXTURES",
    "REPOSITORY",
    "Builder",
    "Ran",
    "build_site",
    "code_lines",
    "our_pages",
    "site_builder",
]
FIXTURES = REPOSITORY / "tests" / "fixtures"


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


def code_lines(data: bytes) -> set[int]:
    """
    The numbers of the lines that hold code, by Python's own tokenizer: of everything but comments on lines of their
    own and docstrings. What is inside a string of several lines is code too.
    """
    tree = ast.parse(data)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        (node.body[0].lineno, node.body[0].col_offset)
        for node in ast.walk(tree)
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None
    }
    silent = {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENCODING,
    }
    found: set[int] = set()
    for token in tokenize.tokenize(io.BytesIO(data).readline):
        if token.type not in silent | {tokenize.ENDMARKER} and token.start not in docstrings:
            found.update(range(token.start[0], token.end[0] + 1))
    return found


@cache
def our_pages() -> Mapping[str, Page]:
    """The pages of our own site, which take seconds to read."""
    return read(load(REPOSITORY)).pages


Builder = Callable[..., Ran]


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A copy of the tiny site that a test may change."""
    return Path(shutil.copytree(FIXTURES / "tiny", tmp_path / "tiny"))


def build_site(cwd: Path, *arguments: str, output: str = "site", env: dict[str, str] | None = None) -> Ran:
    if not {"--exec", "--no-exec"} & set(arguments):
        # Only tests about examples have the time to run them.
        arguments = ("--no-exec", *arguments)
    done = site_builder("build", "-o", output, *arguments, cwd=cwd, env=env)
    return Ran(done.returncode, done.stdout, done.stderr, cwd / output)


@pytest.fixture
def build() -> Builder:
    return build_site


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """The tiny site, built by a new process for all tests that only look at what it says and makes."""
    return build_site(
        Path(shutil.copytree(FIXTURES / "tiny", tmp_path_factory.mktemp("built") / "tiny")), env={}
    )
