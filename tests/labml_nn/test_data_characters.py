"""Vocabulary, batches and the fixed validation part, against slices of the text itself."""

import json
from dataclasses import FrozenInstanceError

import pytest
import torch

from labml_nn.data import CharacterDataset, Vocabulary

TEXT = "It was the best of times, it was the worst of times, it was the age of wisdom!"


def dataset(text: str = TEXT, valid_share: float = 0.3) -> CharacterDataset:
    return CharacterDataset.of("tale", text, valid_share)


# --- vocabulary -----------------------------------------------------------------------------------------------------


def test_numbers_follow_the_order_of_the_characters_and_zero_is_for_the_unknown_one() -> None:
    vocabulary = Vocabulary.of("cabbage")
    assert vocabulary.to_list() == ["\ufffd", "a", "b", "c", "e", "g"]
    assert vocabulary.encode("cab").tolist() == [3, 1, 2]
    assert vocabulary.encode("cab").dtype == torch.int64
    assert len(vocabulary) == 6


@pytest.mark.parametrize("text", [TEXT, "", "a", "日本語\n\t\0", "😀é\u0301", "x\ufffdy"])
def test_what_was_encoded_can_be_decoded(text: str) -> None:
    vocabulary = Vocabulary.of(text)
    assert vocabulary.decode(vocabulary.encode(text)) == text
    assert vocabulary.unknown(text) == ""


def test_an_unknown_character_is_visible_and_the_length_of_the_text_is_kept() -> None:
    vocabulary = Vocabulary.of("nave")
    ids = vocabulary.encode("naïve?")
    assert ids.tolist()[2] == ids.tolist()[5] == 0
    assert vocabulary.decode(ids) == "na\ufffdve\ufffd"
    assert vocabulary.unknown("naïve? ï") == " ?ï"


def test_plain_numbers_can_be_decoded_too() -> None:
    assert Vocabulary.of("abc").decode([3, 1, 2]) == "cab"


@pytest.mark.parametrize("number", [-1, 4, 99])
def test_a_number_that_no_character_has_is_refused_with_both_numbers(number: int) -> None:
    with pytest.raises(ValueError, match=f"^{number} is .* there are 4"):
        Vocabulary.of("abc").decode(torch.tensor([1, number]))


def test_a_vocabulary_survives_json() -> None:
    vocabulary = Vocabulary.of("日 b\na\"'")
    restored = Vocabulary.from_list(json.loads(json.dumps(vocabulary.to_list())))
    assert restored == vocabulary
    assert restored.encode("ab").tolist() == vocabulary.encode("ab").tolist()


@pytest.mark.parametrize(
    ("characters", "message"),
    [
        ([], "U\\+FFFD"),
        (["a", "b"], "U\\+FFFD"),
        (["\ufffd", "ab"], "single characters.*'ab'"),
        (["\ufffd", ""], "single characters.*''"),
        (["\ufffd", "a", "a"], "of these 3 only 2 differ"),
    ],
)
def test_a_list_that_is_no_vocabulary_is_refused(characters: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Vocabulary.from_list(characters)


# --- the two parts --------------------------------------------------------------------------------------------------


def test_the_parts_are_the_beginning_and_the_end_of_the_text() -> None:
    data = dataset()
    assert data.train_text + data.valid_text == TEXT
    assert len(data.valid) == int(0.3 * len(TEXT))
    assert data.vocabulary.decode(data.train) == data.train_text


def test_the_vocabulary_is_that_of_the_training_part_only() -> None:
    data = dataset()
    assert "!" not in data.train_text
    assert "!" not in data.vocabulary.to_list()
    assert data.valid[-1] == 0
    assert data.vocabulary.unknown(data.valid_text) == "!dg"


def test_the_checksum_is_that_of_the_whole_text_in_utf_8() -> None:
    # printf 'naïve naïve naïve' | sha256sum
    assert dataset("naïve naïve naïve").sha256 == (
        "87bff0d055b3926b512d6f760ffa8800e364f32e8239435db572ff8d195bdcab"
    )


def test_a_dataset_does_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        dataset().name = "other"  # type: ignore[misc]


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, 2.0])
def test_a_share_outside_of_zero_and_one_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match=f"valid_share = {share}"):
        dataset(valid_share=share)


@pytest.mark.parametrize("length", [0, 1, 19])
def test_a_text_too_short_to_keep_anything_apart_is_refused_with_both_numbers(length: int) -> None:
    with pytest.raises(ValueError, match=f"has {length} characters.* at least 2"):
        CharacterDataset.of("short", "a" * length)


# --- batches --------------------------------------------------------------------------------------------------------


def test_each_piece_of_a_batch_is_a_slice_of_the_training_text_and_the_same_slice_one_later() -> None:
    data = dataset()
    x, y = data.batch(step=3, seq_len=7, batch_size=5, seed=1)
    assert x.shape == y.shape == (7, 5)
    for i in range(5):
        seen, wanted = (data.vocabulary.decode(ids[:, i]) for ids in (x, y))
        assert (seen + wanted[-1]) in data.train_text
        assert seen[1:] == wanted[:-1]


def test_a_batch_depends_on_seed_and_step_and_on_nothing_else() -> None:
    first = dataset().batch(5, 7, 4, seed=2)
    torch.manual_seed(99)
    data = dataset()
    data.batch(0, 7, 4, seed=2)
    state = torch.get_rng_state()
    second = data.batch(5, 7, 4, seed=2)
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))
    # Nor does it move on the generator that everybody shares.
    assert torch.equal(torch.get_rng_state(), state)


def test_no_step_of_one_seed_repeats_a_step_of_its_neighbour() -> None:
    data = dataset("".join(map(chr, range(300, 2300))))
    batches = {tuple(data.batch(step, 2, 6, seed)[0][0].tolist()) for seed in range(10) for step in range(50)}
    assert len(batches) == 500


def test_every_place_of_the_training_part_can_begin_a_piece() -> None:
    data = dataset("abcdefghij" * 2, valid_share=0.5)
    starts = {int(i) for step in range(60) for i in data.batch(step, 4, 8, seed=0)[0][0]}
    assert starts == {data.vocabulary.to_list().index(c) for c in "abcdef"}


def test_a_text_one_longer_than_a_piece_gives_that_piece() -> None:
    data = dataset("abcdefghij", valid_share=0.4)
    x, y = data.batch(0, seq_len=5, batch_size=1, seed=0)
    assert data.vocabulary.decode(x[:, 0]) == "abcde"
    assert data.vocabulary.decode(y[:, 0]) == "bcdef"


def test_a_training_part_too_short_for_a_piece_is_refused_with_both_numbers() -> None:
    with pytest.raises(ValueError, match=r"has 6 characters, but seq_len = 6 needs at least 7"):
        dataset("abcdefghij", valid_share=0.4).batch(0, 6, 2, seed=0)


@pytest.mark.parametrize(("seq_len", "batch_size"), [(0, 2), (3, 0), (-1, 1)])
def test_sizes_below_one_are_refused_with_both_numbers(seq_len: int, batch_size: int) -> None:
    message = f"seq_len = {seq_len} and batch_size = {batch_size}"
    with pytest.raises(ValueError, match=message):
        dataset().batch(0, seq_len, batch_size, seed=0)
    with pytest.raises(ValueError, match=message):
        next(dataset().validation(seq_len, batch_size))


# --- validation -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seq_len", [1, 2, 5, 7, 22, 23, 50])
@pytest.mark.parametrize("batch_size", [1, 3, 100])
def test_every_validation_character_but_the_first_is_asked_for_once_and_in_order(
    seq_len: int, batch_size: int
) -> None:
    data = dataset()
    seen, wanted = [], []
    for x, y in data.validation(seq_len, batch_size):
        assert x.shape == y.shape
        assert x.shape[0] <= seq_len
        assert x.shape[1] <= batch_size
        seen += x.T.flatten().tolist()
        wanted += y.T.flatten().tolist()
    assert seen == data.valid[:-1].tolist()
    assert wanted == data.valid[1:].tolist()


def test_only_the_last_piece_is_shorter_and_it_comes_alone() -> None:
    shapes = [tuple(x.shape) for x, _ in dataset().validation(seq_len=5, batch_size=3)]
    assert shapes == [(5, 3), (5, 1), (2, 1)]


def test_pieces_do_not_run_into_each_other() -> None:
    data = dataset()
    for x, y in data.validation(seq_len=5, batch_size=3):
        assert torch.equal(x[1:], y[:-1])


def test_validation_is_the_same_each_time_and_whatever_the_generator() -> None:
    data = dataset()
    first = list(data.validation(5, 3))
    torch.manual_seed(99)
    second = list(data.validation(5, 3))
    pairs = zip(first, second, strict=True)
    assert all(torch.equal(a, b) for one, two in pairs for a, b in zip(one, two, strict=True))
