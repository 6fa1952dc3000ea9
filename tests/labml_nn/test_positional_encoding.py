"""Positional encoding against the published formula, and what must hold of any clock."""

import copy
import math

import pytest
import torch
from torch import Tensor

from labml_nn.transformers.positional_encoding import (
    PositionalEncoding,
    get_positional_encoding,
    sinusoids,
)
from site_builder.verified import Verify
from tests.labml_nn.differences import verify_derivatives


def formula(position: int, d_model: int) -> list[float]:
    """Section 3.5 of Vaswani et al. 2017, one number at a time."""
    row = []
    for place in range(d_model):
        angle = position / 10000 ** ((place - place % 2) / d_model)
        row.append(math.cos(angle) if place % 2 else math.sin(angle))
    return row


def encoding(dtype: torch.dtype = torch.float64, max_len: int = 11) -> PositionalEncoding:
    return PositionalEncoding(6, 0.0, max_len).to(dtype)


@pytest.mark.parametrize("d_model", [1, 2, 5, 6, 15, 64])
def test_every_number_is_that_of_the_published_formula(d_model: int, verified: Verify) -> None:
    positions = [0, 1, 2, 7, 99, 4999]
    expected = torch.tensor([formula(t, d_model) for t in positions], dtype=torch.float64)
    table = get_positional_encoding(d_model)
    assert table.shape == (5000, 1, d_model)
    published = "Vaswani et al. 2017, section 3.5, in plain loops"
    # Rounded to float32 the formula itself may be off by half a digit.
    verified(table[positions, 0], expected.float(), against=published, of=sinusoids, rtol=0, atol=6e-8)
    exact = sinusoids(torch.tensor(positions), d_model)
    verified(exact, expected, against=published, of=sinusoids, rtol=0, atol=2e-12)


def test_the_table_is_right_to_the_last_digit_of_single_precision() -> None:
    positions = torch.arange(5000)
    exact = sinusoids(positions, 512).float()
    assert torch.equal(get_positional_encoding(512)[:, 0], exact)


@pytest.mark.parametrize("hands", [6, 7])
@pytest.mark.parametrize("step", [1, 3])
def test_a_step_is_the_same_rotation_wherever_one_is(hands: int, step: int) -> None:
    turns = []
    for hand in range(hands):
        angle = step * 10000 ** (-hand / hands)
        sine, cosine = math.sin(angle), math.cos(angle)
        turns.append(torch.tensor([[cosine, sine], [-sine, cosine]], dtype=torch.float64))
    encodings = sinusoids(torch.arange(40), 2 * hands)
    torch.testing.assert_close(encodings[:-step] @ torch.block_diag(*turns).T, encodings[step:])


def test_the_product_of_two_encodings_depends_on_their_distance_alone() -> None:
    encodings = sinusoids(torch.arange(40), 10)
    products = encodings @ encodings.T
    for distance in (0, 3, 11):
        diagonal = products.diagonal(distance)
        torch.testing.assert_close(diagonal, diagonal[:1].expand_as(diagonal))


def test_positions_may_be_negative_and_have_any_number_of_axes() -> None:
    positions = torch.tensor([[-3, 0], [2, 3]])
    encodings = sinusoids(positions, 4)
    assert encodings.shape == (2, 2, 4)
    mirrored = encodings[1, 1] * torch.tensor([-1.0, 1.0, -1.0, 1.0])
    torch.testing.assert_close(encodings[0, 0], mirrored)


@pytest.mark.parametrize("pieces", [[1] * 7, [3, 4], [6, 1]])
def test_pieces_that_say_where_they_start_make_the_whole(pieces: list[int]) -> None:
    module, x = encoding(), torch.randn(7, 2, 6, dtype=torch.float64)
    start, rows = 0, []
    for piece in x.split(pieces):
        rows.append(module(piece, start=start))
        start += piece.shape[0]
    assert torch.equal(torch.cat(rows), module(x))


def test_what_is_added_is_the_same_for_all_items_and_passes_the_gradient_unchanged(verified: Verify) -> None:
    module, x = encoding(), torch.randn(7, 2, 6, dtype=torch.float64, requires_grad=True)
    added = module(x) - x
    torch.testing.assert_close(added[:, 0], added[:, 1])
    (slope,) = torch.autograd.grad(module(x).sum(), x)
    assert torch.equal(slope, torch.ones_like(slope))
    assert torch.autograd.gradcheck(module, x)
    assert torch.autograd.gradgradcheck(module, x)
    verify_derivatives(verified, module, x, of=module, orders=1)


def test_dropout_falls_on_the_sum_in_training_only() -> None:
    module, x = PositionalEncoding(6, 1.0), torch.randn(7, 2, 6)
    assert module(x).count_nonzero() == 0
    assert torch.equal(module.eval()(x), x + get_positional_encoding(6)[:7])


def test_it_has_nothing_to_learn_and_nothing_to_save() -> None:
    module = encoding()
    assert not list(module.parameters())
    assert not module.state_dict()
    assert [name for name, _ in module.named_buffers()] == ["positional_encodings"]


@pytest.mark.parametrize("prefix", ["", "0."])
@pytest.mark.parametrize("length", [5, 11, 5000])
def test_an_old_state_that_holds_the_table_is_accepted_and_kept_whole(prefix: str, length: int) -> None:
    module: torch.nn.Module = encoding()
    before = module(torch.zeros(7, 2, 6))
    whole = torch.nn.Sequential(module) if prefix else module
    old = {f"{prefix}positional_encodings": torch.full((length, 1, 6), 7.0)}
    whole.load_state_dict(old, strict=True)
    assert list(old) == [f"{prefix}positional_encodings"]
    assert torch.equal(module(torch.zeros(7, 2, 6)), before)


def test_a_copy_made_after_a_call_computes_the_same_and_takes_old_states() -> None:
    module, x = encoding(), torch.randn(7, 2, 6, dtype=torch.float64)
    y = module(x)
    other = copy.deepcopy(module)
    assert torch.equal(other(x), y)
    other.load_state_dict({"positional_encodings": torch.zeros(5, 1, 6)})


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_the_result_has_the_type_of_the_input(dtype: torch.dtype) -> None:
    x = torch.randn(7, 2, 6).to(dtype)
    assert encoding(torch.float32)(x).dtype == dtype
    assert encoding(dtype)(x).dtype == dtype


def test_compiled_it_computes_the_same() -> None:
    torch.compiler.reset()
    module = encoding(torch.float32)
    compiled = torch.compile(module, backend="aot_eager", fullgraph=True)
    x = torch.randn(7, 2, 6)
    torch.testing.assert_close(compiled(x, start=2), module(x, start=2))


@pytest.mark.parametrize("shape", [(1, 1, 6), (11, 1, 6), (0, 2, 6)])
def test_one_position_and_as_many_as_there_are_both_fit(shape: tuple[int, ...]) -> None:
    assert encoding()(torch.zeros(shape)).shape == shape


@pytest.mark.parametrize(
    ("shape", "start", "words"),
    [
        ((12, 2, 6), 0, "position 12.*max_len = 11"),
        ((7, 2, 6), 5, "position 12.*max_len = 11"),
        ((7, 2, 6), -1, "start = -1.*at least 0"),
        ((7, 2, 5), 0, r"\[7, 2, 5\].*d_model = 6"),
        ((7, 6), 0, r"\[7, 6\].*d_model = 6"),
    ],
)
def test_a_call_that_does_not_fit_is_refused_with_its_numbers(
    shape: tuple[int, ...], start: int, words: str
) -> None:
    x: Tensor = torch.zeros(shape)
    with pytest.raises(ValueError, match=words):
        encoding()(x, start=start)


@pytest.mark.parametrize(("d_model", "max_len"), [(0, 5), (6, 0)])
def test_a_table_without_rows_or_columns_is_refused(d_model: int, max_len: int) -> None:
    with pytest.raises(ValueError, match=f"d_model = {d_model} and max_len = {max_len}"):
        PositionalEncoding(d_model, 0.0, max_len)
