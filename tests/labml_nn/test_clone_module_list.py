"""Copies of a module: alike at first, and never the same."""

import pytest
import torch
from torch import nn

from labml_nn.utils import clone_module_list


def test_copies_have_equal_weights_of_their_own() -> None:
    layer = nn.Linear(5, 3)
    layers = clone_module_list(layer, 3)
    assert len(layers) == 3
    with torch.no_grad():
        layer.weight.zero_()
    assert layers[0].weight.count_nonzero() == 15
    assert torch.equal(layers[0].weight, layers[2].weight)
    assert layers[0].weight is not layers[2].weight


def test_a_stack_of_copies_is_trained_layer_by_layer() -> None:
    layers = clone_module_list(nn.Linear(5, 5), 3)
    x = torch.randn(7, 5)
    for layer in layers:
        x = layer(x)
    x.square().sum().backward()
    slopes = [layer.weight.grad for layer in layers]
    assert not torch.equal(slopes[0], slopes[1])
    assert not torch.equal(slopes[1], slopes[2])


def test_the_original_is_not_in_the_list() -> None:
    layer = nn.Linear(5, 3)
    assert all(copy is not layer for copy in clone_module_list(layer, 2))


def test_no_copies_are_an_empty_list() -> None:
    assert len(clone_module_list(nn.Linear(5, 3), 0)) == 0


def test_fewer_than_none_are_refused() -> None:
    with pytest.raises(ValueError, match="n = -1"):
        clone_module_list(nn.Linear(5, 3), -1)
