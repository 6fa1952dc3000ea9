"""
Every example on every page. Unlike `pytest --doctest-modules` under this project's options, this
also compares the message of an error that a page shows.
"""

import doctest
import importlib
import pkgutil

import pytest
import torch

import labml_nn

MODULES = ["labml_nn", *(m.name for m in pkgutil.walk_packages(labml_nn.__path__, "labml_nn."))]


@pytest.mark.parametrize("seed", [2, *(pytest.param(n, marks=pytest.mark.exhaustive) for n in range(3, 9))])
@pytest.mark.parametrize("name", MODULES)
def test_examples_print_what_their_pages_say_whatever_the_seed(name: str, seed: int) -> None:
    torch.manual_seed(seed)
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0, "a page without an example"
    assert result.failed == 0


def test_the_home_page_can_be_imported_without_torch() -> None:
    source = importlib.import_module("labml_nn")
    assert not hasattr(source, "torch")
