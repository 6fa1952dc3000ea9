"""The trigram against dictionaries, loops and double precision."""

import math
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

import pytest
import torch
from torch import Tensor

from labml_nn.data import CharacterDataset
from labml_nn.data.trigram import Counts, Table, TrigramModel, fit_weights, triples_of
from site_builder.verified import Verify

N_TOKENS = 7
LOOPS = "counts in dictionaries and the formulas in plain loops"


def text(length: int = 400, n_tokens: int = 5) -> Tensor:
    """Characters that depend on the one before, so that there is something to find out."""
    ids, following = [0], torch.rand(n_tokens, n_tokens) ** 4
    for _ in range(length - 1):
        ids.append(int(torch.multinomial(following[ids[-1]], 1)))
    return torch.tensor(ids)


# --- the oracle: the formulas, in loops ---------------------------------------------------------------------------

Sources = Callable[[int | None, int, int], tuple[list[float], int]]


def counted_by_loops(ids: list[int], n_tokens: int) -> Sources:
    singles: Counter[int] = Counter(ids)
    pairs = Counter(pairwise(ids))
    triples = Counter(zip(ids, ids[1:], ids[2:], strict=False))

    def sources(a: int | None, b: int, c: int) -> tuple[list[float], int]:
        after_b = sum(pairs[b, x] for x in range(n_tokens))
        after_ab = 0 if a is None else sum(triples[a, b, x] for x in range(n_tokens))
        f0 = 1 / n_tokens
        f1 = singles[c] / len(ids)
        f2 = pairs[b, c] / after_b if after_b else f1
        f3 = triples[a, b, c] / after_ab if a is not None and after_ab else f2
        return [f0, f1, f2, f3], 0 if after_ab == 0 else math.floor(math.log2(after_ab)) + 1

    return sources


def places(ids: list[int]) -> list[tuple[int | None, int, int]]:
    return [(ids[i - 2] if i > 1 else None, ids[i - 1], ids[i]) for i in range(1, len(ids))]


def weights_by_loops(seen: list[tuple[list[float], int]], n_steps: int) -> dict[int, list[float]]:
    # One made-up place in each bucket for each witness, at which it alone was right.
    made_up = [([float(k == j) for k in range(4)], b) for b in {b for _, b in seen} for j in range(4)]
    weights = {bucket: [0.25] * 4 for _, bucket in made_up}
    for _ in range(n_steps):
        total = {bucket: [0.0] * 4 for bucket in weights}
        for f, bucket in seen + made_up:
            p = sum(w * x for w, x in zip(weights[bucket], f, strict=True))
            for k in range(4):
                total[bucket][k] += weights[bucket][k] * f[k] / p
        weights = {bucket: [x / sum(xs) for x in xs] for bucket, xs in total.items()}
    return weights


def loss_by_loops(train: list[int], valid: list[int], n_tokens: int) -> float:
    held_out = len(train) // 10
    sources = counted_by_loops(train[:-held_out], n_tokens)
    weights = weights_by_loops([sources(*abc) for abc in places(train[-held_out:])], n_steps=50)
    sources = counted_by_loops(train, n_tokens)
    loss = 0.0
    for a, b, c in places(valid):
        f, bucket = sources(a, b, c)
        mixed = weights.get(bucket, [0.25] * 4)
        loss -= math.log(sum(w * x for w, x in zip(mixed, f, strict=True)))
    return loss / len(places(valid))


# --- against the oracle -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("length", [20, 50, 400])
def test_the_loss_is_that_of_the_formulas_in_loops(seed: int, length: int, verified: Verify) -> None:
    torch.manual_seed(seed)
    train, valid = text(length), torch.randint(N_TOKENS, (60,))
    loss = TrigramModel.fit(train, N_TOKENS).loss(valid)
    expected = loss_by_loops(train.tolist(), valid.tolist(), N_TOKENS)
    verified(loss, expected, against=LOOPS, of=TrigramModel, what="loss", rtol=1e-12, atol=0)


def test_the_witnesses_say_what_they_say_in_loops(verified: Verify) -> None:
    train = text(60)
    expected = counted_by_loops(train.tolist(), N_TOKENS)
    everything = torch.cartesian_prod(*[torch.arange(N_TOKENS)] * 3)
    sources, bucket = Counts.of(train, N_TOKENS).sources(everything)
    wanted, wanted_buckets = zip(*(expected(*abc) for abc in everything.tolist()), strict=True)
    of = {"against": LOOPS, "of": Counts, "what": "probabilities"}
    verified(sources.tolist(), list(wanted), rtol=1e-14, atol=0, **of)
    assert bucket.tolist() == list(wanted_buckets)


def test_the_weights_are_those_of_loops(verified: Verify) -> None:
    sources, bucket = torch.rand(200, 4, dtype=torch.float64), torch.randint(3, (200,))
    weights, _ = fit_weights(sources, bucket, n_steps=30)
    seen = list(zip(sources.tolist(), bucket.tolist(), strict=True))
    expected = weights_by_loops(seen, 30)
    found = {b: weights[b].tolist() for b in expected}
    verified(found, expected, against=LOOPS, of=fit_weights, what="weights", rtol=1e-12, atol=0)


def test_a_context_that_only_ends_the_text_counts_as_one_that_nothing_came_after() -> None:
    counts = Counts.of(torch.tensor([0, 1, 0, 1, 2, 3]), n_tokens=4)
    sources, bucket = counts.sources(torch.tensor([[2, 3, 0], [1, 2, 3], [3, 3, 0]]))
    assert bucket.tolist() == [0, 1, 0]
    # After 3 nothing was seen, so the share of 0 among all characters is left.
    assert sources[0].tolist() == pytest.approx([1 / 4, 1 / 3, 1 / 3, 1 / 3])
    assert sources[2].tolist() == pytest.approx([1 / 4, 1 / 3, 1 / 3, 1 / 3])


# --- a distribution -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [20, 33, 500])
def test_after_every_context_the_probabilities_add_up_to_one(length: int) -> None:
    # Characters 5 and 6 were never seen, and the last context is the beginning of a text.
    model = TrigramModel.fit(text(length), N_TOKENS)
    first, others = torch.arange(N_TOKENS + 1), torch.arange(N_TOKENS)
    everything = torch.cartesian_prod(first, others, others)
    p = model.probability(everything)
    assert (p > 0).all()
    total = p.view(N_TOKENS + 1, N_TOKENS, N_TOKENS).sum(dim=-1)
    torch.testing.assert_close(total, torch.ones_like(total), rtol=1e-13, atol=1e-13)


def test_each_witness_by_itself_is_a_distribution_too() -> None:
    everything = torch.cartesian_prod(*[torch.arange(N_TOKENS)] * 3)
    sources, _ = Counts.of(text(40), N_TOKENS).sources(everything)
    total = sources.view(N_TOKENS, N_TOKENS, N_TOKENS, 4).sum(dim=2)
    torch.testing.assert_close(total, torch.ones_like(total), rtol=1e-13, atol=1e-13)


def test_the_weights_are_positive_and_add_up_to_one_in_every_bucket() -> None:
    weights = TrigramModel.fit(text(), N_TOKENS).weights
    assert (weights > 0).all()
    torch.testing.assert_close(weights.sum(dim=1), torch.ones(len(weights)).double())


def test_a_character_never_seen_costs_much_but_not_everything() -> None:
    train, valid = text(400), torch.tensor([0, 6, 6, 1, 0, 5])
    loss = TrigramModel.fit(train, N_TOKENS).loss(valid)
    assert 2.0 < loss < 10.0


# --- expectation maximisation -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_no_step_makes_the_text_less_likely(seed: int) -> None:
    torch.manual_seed(seed)
    train = text(600)
    counts = Counts.of(train[:500], N_TOKENS)
    _, log_likelihood = fit_weights(*counts.sources(triples_of(train[500:], N_TOKENS)))
    assert (log_likelihood.diff() >= -1e-9).all()
    assert log_likelihood[-1] > log_likelihood[0] + 1


def test_the_likelihood_is_that_of_the_places_and_of_four_made_up_ones_a_bucket() -> None:
    sources = torch.rand(30, 4, dtype=torch.float64)
    _, log_likelihood = fit_weights(sources, torch.zeros(30, dtype=torch.int64), n_steps=1)
    n_buckets = len(TrigramModel.fit(text(), N_TOKENS).weights)
    expected = sources.mean(dim=1).log().sum() + n_buckets * 4 * math.log(1 / 4)
    torch.testing.assert_close(log_likelihood, expected.unsqueeze(0))


def test_the_weights_found_are_the_best_in_their_neighbourhood() -> None:
    sources, bucket = torch.rand(300, 4).double() ** 3, torch.zeros(300, dtype=torch.int64)
    weights = fit_weights(sources, bucket, n_steps=3000).weights[0]

    def likelihood(w: Tensor) -> float:
        return float((sources @ w).log().sum() + w.log().sum())

    for _ in range(50):
        other = (weights * (0.05 * torch.randn(4)).exp()).double()
        assert likelihood(other / other.sum()) <= likelihood(weights)


def test_on_the_counted_text_the_trigram_gets_the_weight_and_on_another_it_does_not() -> None:
    noise = torch.randint(8, (4000,))
    counts = Counts.of(noise[:2000], n_tokens=8)
    trigram = []
    for part in (noise[:2000], noise[2000:]):
        sources, bucket = counts.sources(triples_of(part, n_tokens=8))
        trigram.append(fit_weights(sources, bucket).weights[bucket][:, 3].mean())
    assert trigram[0] > 0.7
    assert trigram[1] < 0.2


def test_weights_fitted_on_the_counted_text_lose_on_a_new_one() -> None:
    noise = torch.randint(8, (4000,))
    train, valid = noise[:2000], noise[2000:]
    counts = Counts.of(train, n_tokens=8)
    fitted_on_itself, _ = fit_weights(*counts.sources(triples_of(train, n_tokens=8)))
    wrong = TrigramModel(counts, fitted_on_itself).loss(valid)
    right = TrigramModel.fit(train, n_tokens=8).loss(valid)
    assert right < math.log(8) + 0.05 < wrong


# --- what it is for -----------------------------------------------------------------------------------------------


def test_it_is_scored_on_the_characters_that_validation_asks_for() -> None:
    words = "the cat and the hat and the bat that sat on the mat " * 20
    dataset = CharacterDataset.of("cats", words, valid_share=0.2)
    n_tokens = len(dataset.vocabulary)
    asked = torch.cat([y.T.flatten() for _, y in dataset.validation(11, 3)])
    assert torch.equal(triples_of(dataset.valid, n_tokens)[:, 2], asked)


def test_where_two_characters_decide_the_next_it_is_nearly_certain() -> None:
    # In this order each pair of characters has one that follows.
    train = torch.tensor([0, 0, 1, 0, 2, 1, 1, 2, 2] * 100)
    assert TrigramModel.fit(train, n_tokens=3).loss(train[:45]) < 0.1


def test_noise_costs_what_an_even_die_costs() -> None:
    noise = torch.randint(6, (30_000,))
    loss = TrigramModel.fit(noise[:20_000], n_tokens=6).loss(noise[20_000:])
    assert loss == pytest.approx(math.log(6), abs=0.02)


def test_many_kinds_of_characters_need_no_table_of_all_triples() -> None:
    ids = torch.randint(50_000, (3000,))
    model = TrigramModel.fit(ids, n_tokens=50_000)
    assert math.isfinite(model.loss(ids.flip(0)))


def test_a_table_looks_up_what_is_there_and_gives_zero_for_the_rest() -> None:
    table = Table.of(torch.tensor([9, 2, 9, 9, 4]))
    wanted = torch.tensor([[0, 2, 3], [4, 9, 10]])
    assert table.look_up(wanted).tolist() == [[0, 1, 0], [1, 3, 0]]


@pytest.mark.parametrize("length", [0, 1, 19])
def test_a_text_too_short_to_fit_is_refused_with_both_numbers(length: int) -> None:
    with pytest.raises(ValueError, match=f"{length} characters .* 20"):
        TrigramModel.fit(torch.zeros(length, dtype=torch.int64), n_tokens=2)


@pytest.mark.parametrize("length", [0, 1])
def test_a_text_with_nothing_to_predict_is_refused(length: int) -> None:
    model = TrigramModel.fit(text(), N_TOKENS)
    with pytest.raises(ValueError, match=f"{length} characters .* at least 2"):
        model.loss(torch.zeros(length, dtype=torch.int64))


@pytest.mark.parametrize("ids", [[0, 7, 1], [3, -1, 2]])
def test_numbers_that_are_no_characters_are_refused_with_both_numbers(ids: list[int]) -> None:
    model = TrigramModel.fit(text(), N_TOKENS)
    message = f"run from {min(ids)} to {max(ids)}, but n_tokens = 7"
    with pytest.raises(ValueError, match=message):
        model.loss(torch.tensor(ids))
    with pytest.raises(ValueError, match=message):
        TrigramModel.fit(torch.tensor(ids * 10), N_TOKENS)


@pytest.mark.parametrize("ids", [torch.zeros(30), torch.zeros(30, 2, dtype=torch.int64)])
def test_a_tensor_that_is_no_text_is_refused_with_its_shape_and_type(ids: Tensor) -> None:
    with pytest.raises(ValueError, match=r"int64 with shape \[n\], but are .*\[30"):
        TrigramModel.fit(ids, N_TOKENS)
