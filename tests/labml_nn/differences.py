"""Derivatives by autograd beside differences of values: the oldest oracle there is."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from site_builder.verified import Verify

STEP = 1e-5
DIRECTIONS = 8


def verify_derivatives(
    verified: Verify, function: Callable[..., Any], *inputs: Tensor, of: Any, orders: int = 2
) -> None:
    """
    Along random directions of all inputs at once, how fast a weighted sum of the results grows: by autograd and by
    central differences. The second time around the results are the gradients of the first.
    """
    dice = torch.Generator().manual_seed(0)
    for what in ("gradients", "second derivatives")[:orders]:
        ours, expected = _slopes(function, inputs, dice)
        oracle = "finite differences in float64"
        verified(ours, expected, against=oracle, of=of, what=what, rtol=1e-6, atol=1e-6)
        function = _gradient_of(function, dice)


def _slopes(
    function: Callable[..., Any], inputs: tuple[Tensor, ...], dice: torch.Generator
) -> tuple[Tensor, Tensor]:
    total = _weighted_sum(function, inputs, dice)
    at = _leaves(inputs)
    gradient = torch.autograd.grad(total(*at), at, allow_unused=True, materialize_grads=True)
    ours, expected = [], []
    for _ in range(DIRECTIONS):
        directions = [_random_like(x, dice) for x in inputs]
        ours.append(sum((g * d).sum() for g, d in zip(gradient, directions, strict=True)))
        up, down = (
            total(*_leaves(tuple(x + step * d for x, d in zip(inputs, directions, strict=True))))
            for step in (STEP, -STEP)
        )
        expected.append((up - down) / (2 * STEP))
    return torch.stack(ours), torch.stack(expected)


def _gradient_of(function: Callable[..., Any], dice: torch.Generator) -> Callable[..., Any]:
    state = dice.get_state()

    def gradient(*inputs: Tensor) -> tuple[Tensor, ...]:
        # The same weights at each point.
        total = _weighted_sum(function, inputs, torch.Generator().set_state(state))
        return torch.autograd.grad(
            total(*inputs), inputs, create_graph=True, allow_unused=True, materialize_grads=True
        )

    return gradient


def _weighted_sum(
    function: Callable[..., Any], inputs: tuple[Tensor, ...], dice: torch.Generator
) -> Callable[..., Tensor]:
    """A sum with uneven terms, since that of a plain sum can hide a mistake."""

    def flat(*inputs: Tensor) -> Tensor:
        results = function(*inputs)
        return torch.cat([y.flatten() for y in (results if isinstance(results, tuple) else (results,))])

    weight = _random_like(flat(*_leaves(inputs)), dice)
    return lambda *inputs: (flat(*inputs) * weight).sum()


def _leaves(inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    return tuple(x.detach().requires_grad_() for x in inputs)


def _random_like(x: Tensor, dice: torch.Generator) -> Tensor:
    return torch.randn(x.shape, generator=dice, dtype=torch.float64)
