"""The stack as a custom autograd function: in every pattern of use it is `torch.stack`, value and gradients."""

import copy

import pytest
import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from labml_nn.transformers.feedback import Stack, StackFunction
from site_builder.verified import Verify
from tests.labml_nn.differences import verify_derivatives


def rows(n: int, dtype: torch.dtype = torch.float64) -> list[Tensor]:
    return [torch.randn(2, 3, dtype=dtype, requires_grad=True) for _ in range(n)]


def look(n: int, seen: Tensor) -> Tensor:
    """Something that saves what it has seen for the way back, and counts each step differently."""
    return (seen.sin() * seen.square().mean()).sum() * (n + 1)


def by_the_stack(values: list[Tensor], stack: Stack | None = None) -> Tensor:
    stack = Stack(max_len=4) if stack is None else stack
    total = torch.zeros((), dtype=values[0].dtype)
    for n, value in enumerate(values):
        stack.append(n, value)
        total = total + look(n, stack.get())
    return total


def plainly(values: list[Tensor]) -> Tensor:
    total = torch.zeros((), dtype=values[0].dtype)
    for n in range(len(values)):
        total = total + look(n, torch.stack(values[: n + 1]))
    return total


def same(ours: tuple[Tensor, ...], theirs: tuple[Tensor, ...], times: float = 1.0) -> None:
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, times * b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 4, 5, 9])
def test_value_and_gradients_are_those_of_torchs_own_stack(n: int, verified: Verify) -> None:
    values = rows(n)
    ours, theirs = by_the_stack(values), plainly(values)
    verified(ours, theirs, against="torch.stack", of=Stack, rtol=1e-12, atol=1e-12)
    slopes = [torch.autograd.grad(total, values) for total in (ours, theirs)]
    verified(*slopes, against="torch.stack", of=Stack, what="gradients", rtol=1e-12, atol=1e-12)


def test_two_passes_before_the_first_backward_pass() -> None:
    stack, first, second = Stack(4), rows(3), rows(5)
    one, two = by_the_stack(first, stack), by_the_stack(second, stack)
    same(torch.autograd.grad(one, first), torch.autograd.grad(plainly(first), first))
    same(torch.autograd.grad(two, second), torch.autograd.grad(plainly(second), second))


def test_a_pass_without_gradients_in_between() -> None:
    stack, values = Stack(4), rows(3)
    total = by_the_stack(values, stack)
    with torch.no_grad():
        by_the_stack(rows(4), stack)
    same(torch.autograd.grad(total, values), torch.autograd.grad(plainly(values), values))


def test_two_backward_passes_give_twice_the_same() -> None:
    values = rows(5)
    total = by_the_stack(values)
    once = torch.autograd.grad(total, values, retain_graph=True)
    same(torch.autograd.grad(total, values), once)
    total = by_the_stack(values)
    total.backward(retain_graph=True)
    total.backward()
    same(tuple(v.grad for v in values if v.grad is not None), once, times=2.0)


def test_two_losses_add_up_in_either_order() -> None:
    values = rows(3)
    stack = Stack(4)
    losses = []
    for n, value in enumerate(values):
        stack.append(n, value)
        losses.append(look(n, stack.get()))
    expected = torch.autograd.grad(plainly(values), values)
    for order in (losses, losses[::-1]):
        parts = [
            torch.autograd.grad(loss, values, retain_graph=True, materialize_grads=True, allow_unused=True)
            for loss in order
        ]
        same(tuple(sum(p, start=torch.zeros(2, 3).double()) for p in zip(*parts, strict=True)), expected)


def test_first_and_second_derivatives_are_those_of_finite_differences(verified: Verify) -> None:
    values = tuple(rows(3))
    assert torch.autograd.gradcheck(lambda *v: by_the_stack(list(v)), values)
    assert torch.autograd.gradgradcheck(lambda *v: by_the_stack(list(v)), values)
    verify_derivatives(verified, lambda *v: by_the_stack(list(v)), *values, of=Stack)


def test_the_gradient_of_a_gradient_is_that_of_torchs_own_stack(verified: Verify) -> None:
    values = rows(6)
    found = []
    for total in (by_the_stack(values), plainly(values)):
        slopes = torch.autograd.grad(total, values, create_graph=True)
        found.append(torch.autograd.grad(sum(s.square().sum() for s in slopes), values))
    verified(*found, against="torch.stack", of=Stack, what="second derivatives", rtol=1e-12, atol=1e-12)


def test_the_function_alone_has_derivatives_of_both_orders() -> None:
    below, top = torch.randn(2, 3).double().requires_grad_(), torch.randn(3).double().requires_grad_()

    def call(below: Tensor, top: Tensor) -> Tensor:
        buffer = torch.zeros(4, 3, dtype=torch.float64)
        buffer[:2] = below.detach()
        shown: Tensor = StackFunction.apply(below, top, buffer, 2)
        return shown.sin()

    assert torch.autograd.gradcheck(call, (below, top))
    assert torch.autograd.gradgradcheck(call, (below, top))


def test_a_copy_has_the_values_and_goes_its_own_way() -> None:
    stack, values = Stack(4), rows(3)
    total = by_the_stack(values, stack)
    other = copy.deepcopy(stack)
    assert torch.equal(other.get(), stack.get())
    other.append(3, torch.zeros(2, 3).double())
    stack.append(3, torch.ones(2, 3).double())
    assert other.get()[3].sum() == 0
    same(torch.autograd.grad(total, values), torch.autograd.grad(plainly(values), values))
    assert copy.deepcopy(Stack(4)).rows is None


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_another_dtype_begins_a_buffer_of_its_own(dtype: torch.dtype) -> None:
    stack = Stack(4)
    by_the_stack(rows(3), stack)
    values = rows(3, dtype)
    by_the_stack(values, stack).backward()
    assert stack.get().dtype == dtype
    assert values[0].grad is not None


def test_under_autocast_rows_keep_the_dtype_in_which_they_come() -> None:
    weight = torch.randn(3, 3, requires_grad=True)
    values = rows(3, torch.float32)
    found = []
    for whole in (False, True):
        stack = Stack(4)
        total = torch.zeros(())
        with torch.autocast("cpu", torch.bfloat16):
            made = [value @ weight for value in values]
            for n, row in enumerate(made):
                stack.append(n, row)
                seen = torch.stack(made[: n + 1]) if whole else stack.get()
                assert seen.dtype == torch.bfloat16
                total = total + (seen @ weight).float().square().sum()
        found.append(torch.autograd.grad(total, [weight, *values]))
    for a, b in zip(*found, strict=True):
        torch.testing.assert_close(a, b, rtol=0.05, atol=0.05)


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpointing_gives_the_same_gradients(reentrant: bool) -> None:
    stack, values = Stack(4), rows(5)
    total = checkpoint(lambda *v: by_the_stack(list(v), stack), *values, use_reentrant=reentrant)
    total.backward()
    slopes = tuple(v.grad for v in values if v.grad is not None)
    same(slopes, torch.autograd.grad(plainly(values), values))


def test_it_holds_more_rows_than_it_made_room_for() -> None:
    values = [torch.randn(1, dtype=torch.float64, requires_grad=True) for _ in range(530)]
    stack = Stack(512)
    for n, value in enumerate(values):
        stack.append(n, value)
        if n == 100:
            early = stack.get()
    weight = torch.randn(530, 1).double()
    slopes = torch.autograd.grad((stack.get() * weight).sum() + early.square().sum(), values)
    expected = weight.clone()
    expected[:101] += 2 * early.detach()
    torch.testing.assert_close(torch.stack(slopes), expected)


def test_views_are_not_copies() -> None:
    stack = Stack(4)
    stack.append(0, torch.zeros(2))
    first = stack.get()
    stack.append(1, torch.ones(2))
    assert first.data_ptr() == stack.get().data_ptr()


def test_rows_in_the_wrong_place_or_of_another_kind_are_refused() -> None:
    stack = Stack(4)
    with pytest.raises(ValueError, match="0 rows"):
        stack.get()
    stack.append(0, torch.zeros(2, 3))
    with pytest.raises(ValueError, match=r"row 2 .* 1 rows"):
        stack.append(2, torch.zeros(2, 3))
    with pytest.raises(ValueError, match=r"\[2, 4\].*\[2, 3\]"):
        stack.append(1, torch.zeros(2, 4))
    with pytest.raises(ValueError, match=r"torch.float64.*torch.float32"):
        stack.append(1, torch.zeros(2, 3).double())
    stack.free()
    with pytest.raises(ValueError, match=r"row 1 .* 0 rows"):
        stack.append(1, torch.zeros(2, 3))
    with pytest.raises(ValueError, match="max_len = 0"):
        Stack(0)
