"""Label smoothing against torch's own cross entropy and the divergence, term by term."""

import copy
import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from labml_nn.transformers.label_smoothing import LabelSmoothingLoss
from site_builder.verified import Verify
from tests.labml_nn.differences import verify_derivatives

SIZE = 5
CROSS_ENTROPY = "torch.nn.functional.cross_entropy"


def divergence(x: Tensor, target: Tensor, padding_idx: int | None, smoothing: float) -> float:
    """The mean over real targets of the divergence, one class at a time."""
    real = [k for k in range(SIZE) if k != padding_idx]
    losses = []
    for scores, y in zip(x.tolist(), target.tolist(), strict=True):
        if y == padding_idx:
            continue
        total = sum(math.exp(score) for score in scores)
        loss = 0.0
        for k in real:
            wanted = smoothing / len(real) + ((1 - smoothing) if k == y else 0)
            if wanted > 0:
                loss += wanted * (math.log(wanted) - math.log(math.exp(scores[k]) / total))
        losses.append(loss)
    return sum(losses) / len(losses)


def sample(padding_idx: int | None = 0) -> tuple[Tensor, Tensor]:
    x = torch.randn(9, SIZE, dtype=torch.float64, requires_grad=True)
    target = torch.tensor([3, 1, 0, 2, 4, 0, 1, 3, 3])
    if padding_idx == 4:
        target = target.flip(0)
    return x, target


@pytest.mark.parametrize("padding_idx", [None, 0, 4])
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.7])
def test_value_is_that_of_the_divergence(padding_idx: int | None, smoothing: float, verified: Verify) -> None:
    x, target = sample(padding_idx)
    loss = LabelSmoothingLoss(SIZE, padding_idx, smoothing)(x, target)
    expected = divergence(x, target, padding_idx, smoothing)
    oracle = "the Kullback–Leibler divergence, in plain loops"
    verified(loss, expected, against=oracle, of=LabelSmoothingLoss, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.7])
def test_without_padding_it_is_torchs_cross_entropy_up_to_a_constant(
    smoothing: float, verified: Verify
) -> None:
    x, target = sample()
    module = LabelSmoothingLoss(SIZE, None, smoothing)
    ours = module(x, target) - module.negative_entropy
    theirs = F.cross_entropy(x, target, label_smoothing=smoothing)
    verified(ours, theirs, against=CROSS_ENTROPY, of=module, rtol=1e-12, atol=1e-12)
    slopes = [torch.autograd.grad(loss, x)[0] for loss in (ours, theirs)]
    verified(*slopes, against=CROSS_ENTROPY, of=module, what="gradients", rtol=1e-12, atol=1e-12)


def test_without_smoothing_padding_is_ignored_as_torch_ignores_it(verified: Verify) -> None:
    x, target = sample()
    ours = LabelSmoothingLoss(SIZE, 0)(x, target)
    theirs = F.cross_entropy(x, target, ignore_index=0)
    verified(ours, theirs, against=CROSS_ENTROPY, of=LabelSmoothingLoss, rtol=1e-12, atol=1e-12)


def test_it_is_torchs_divergence_from_the_wanted_probabilities(verified: Verify) -> None:
    x, target = sample()
    module = LabelSmoothingLoss(SIZE, 0, 0.1)
    wanted = module.wanted_probs(target).double()
    theirs = F.kl_div(x.log_softmax(dim=-1), wanted, reduction="sum") / (target != 0).sum()
    # The probabilities themselves are in float32.
    verified(module(x, target), theirs, against="torch.nn.functional.kl_div", of=module, rtol=0, atol=1e-6)


def test_wanted_probabilities_sum_to_one_and_give_the_right_class_its_share_of_the_draw() -> None:
    wanted = LabelSmoothingLoss(SIZE, 0, 0.1).wanted_probs(torch.tensor([[3, 0], [1, 2]]))
    torch.testing.assert_close(wanted.sum(dim=-1), torch.tensor([[1.0, 0.0], [1.0, 1.0]]))
    assert wanted[0, 0].tolist() == pytest.approx([0, 0.025, 0.025, 0.925, 0.025])


def test_the_gradient_is_what_is_said_less_what_is_wanted() -> None:
    x, target = sample()
    module = LabelSmoothingLoss(SIZE, 0, 0.3)
    (slope,) = torch.autograd.grad(module(x, target) * (target != 0).sum(), x)
    expected = (x.softmax(dim=-1) - module.wanted_probs(target)).detach()
    expected[target == 0] = 0
    torch.testing.assert_close(slope, expected, rtol=0, atol=1e-7)


def test_what_is_wanted_has_no_loss_and_anything_else_has_some() -> None:
    module, target = LabelSmoothingLoss(SIZE, 0, 0.2), torch.tensor([1, 2, 3, 4])
    best = module.wanted_probs(target).double().log()
    assert module(best, target).item() == pytest.approx(0, abs=1e-7)
    more_certain = best.clone()
    more_certain[torch.arange(4), target] += 1
    assert module(more_certain, target) > 0.01


def test_first_and_second_derivatives_are_those_of_finite_differences(verified: Verify) -> None:
    x, target = sample()
    module = LabelSmoothingLoss(SIZE, 0, 0.3)
    assert torch.autograd.gradcheck(module, (x, target))
    assert torch.autograd.gradgradcheck(module, (x, target))
    verify_derivatives(verified, lambda x: module(x, target), x, of=module)


def test_scores_where_the_target_is_padding_change_nothing() -> None:
    x, target = sample()
    module = LabelSmoothingLoss(SIZE, 0, 0.1)
    changed = x.detach().clone()
    changed[target == 0] = torch.tensor([1e4, -1e4, 3.0, torch.inf, torch.nan]).double()
    changed.requires_grad = True
    loss = module(changed, target)
    torch.testing.assert_close(loss, module(x, target))
    # What is not a number there stays there.
    (slope,) = torch.autograd.grad(loss, changed)
    assert slope[target != 0].isfinite().all()


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_padding_class_may_be_excluded_by_an_infinite_score(smoothing: float) -> None:
    x, target = sample()
    excluded = torch.cat([torch.full((9, 1), -torch.inf).double(), x.detach()[:, 1:]], dim=1)
    excluded.requires_grad = True
    loss = LabelSmoothingLoss(SIZE, 0, smoothing)(excluded, target)
    smaller = LabelSmoothingLoss(SIZE - 1, None, smoothing)
    real = target != 0
    torch.testing.assert_close(loss, smaller(x[real, 1:], target[real] - 1))
    (slope,) = torch.autograd.grad(loss, excluded)
    assert slope.isfinite().all()


def test_a_batch_of_padding_has_loss_zero_and_gradient_zero() -> None:
    x = torch.randn(3, SIZE, requires_grad=True)
    loss = LabelSmoothingLoss(SIZE, 0, 0.1)(x, torch.zeros(3, dtype=torch.int64))
    (slope,) = torch.autograd.grad(loss, x)
    assert loss.item() == 0
    assert slope.count_nonzero() == 0


def test_logarithms_of_probabilities_are_taken_as_well_as_scores() -> None:
    x, target = sample()
    module = LabelSmoothingLoss(SIZE, 0, 0.1)
    torch.testing.assert_close(module(x.log_softmax(dim=-1) + 3, target), module(x, target))


def test_any_number_of_axes_may_stand_before_the_classes() -> None:
    x, target = sample()
    module = LabelSmoothingLoss(SIZE, 0, 0.1)
    folded = module(x.view(3, 3, SIZE), target.view(3, 3))
    torch.testing.assert_close(folded, module(x, target))
    torch.testing.assert_close(module(x[0], target[0]), module(x[:1], target[:1]))


def test_it_holds_nothing_and_a_copy_computes_the_same() -> None:
    x, target = sample()
    module = LabelSmoothingLoss(SIZE, 0, 0.1)
    loss = module(x, target)
    assert not module.state_dict()
    assert torch.equal(copy.deepcopy(module)(x, target), loss)


def test_compiled_it_computes_the_same() -> None:
    torch.compiler.reset()
    x, target = sample()
    module = LabelSmoothingLoss(SIZE, 0, 0.1)
    compiled = torch.compile(module, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x, target), module(x, target))


def test_under_autocast_the_loss_is_taken_in_float32() -> None:
    x, target = sample()
    module = LabelSmoothingLoss(SIZE, 0, 0.1)
    with torch.autocast("cpu", torch.bfloat16):
        loss = module(x.to(torch.bfloat16), target)
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss.double(), module(x, target), rtol=0.02, atol=0.02)


@pytest.mark.parametrize(
    ("size", "padding_idx", "smoothing", "words"),
    [
        (5, 5, 0.1, "padding_idx = 5.*size = 5"),
        (5, -1, 0.1, "padding_idx = -1.*size = 5"),
        (5, 0, 1.0, "smoothing = 1.0.*below 1"),
        (5, 0, -0.1, "smoothing = -0.1.*at least 0"),
        (1, 0, 0.1, "size = 1.*padding_idx = 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused_with_their_numbers(
    size: int, padding_idx: int, smoothing: float, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        LabelSmoothingLoss(size, padding_idx, smoothing)


@pytest.mark.parametrize(
    ("x", "target", "words"),
    [
        (torch.zeros(7, 4), torch.zeros(7).long(), r"\[7, 4\].*\[7\].*size = 5"),
        (torch.zeros(7, 5), torch.zeros(6).long(), r"\[7, 5\].*\[6\].*size = 5"),
        (torch.zeros(7, 5), torch.zeros(7, 1).long(), r"\[7, 5\].*\[7, 1\].*size = 5"),
        (torch.zeros(7, 5), torch.zeros(7), "torch.float32.*torch.int64"),
    ],
)
def test_inputs_that_do_not_fit_are_refused_with_their_numbers(x: Tensor, target: Tensor, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        LabelSmoothingLoss(SIZE, 0, 0.1)(x, target)
