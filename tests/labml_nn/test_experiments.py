"""The training harness, piece by piece, on a text and a model that take no time."""

import json
import math
import random
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import labml_nn.__main__
import labml_nn.experiments
from labml_nn.data.characters import CharacterDataset
from labml_nn.data.trigram import TrigramModel
from labml_nn.experiments import ExperimentError, checkpoint, metrics
from labml_nn.experiments.evaluation import evaluating, validation_loss
from labml_nn.experiments.optimizer import clip_gradient, make_optimizer
from labml_nn.experiments.randomness import seed_everything, seed_of
from labml_nn.experiments.sampling import sample
from labml_nn.experiments.schedule import learning_rate
from labml_nn.experiments.training import restore, train
from site_builder.verified import Verify
from tests.labml_nn.experiments import (
    CPU,
    GRU,
    TEXT,
    Tiny,
    assert_same_run,
    fails,
    files,
    weights,
)


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """This module by its name, as the command line imports it, and a folder to work in."""
    monkeypatch.setitem(sys.modules, Tiny.__module__, sys.modules[__name__])
    monkeypatch.chdir(tmp_path)


# --- training -------------------------------------------------------------------------------


def test_training_is_what_a_plain_loop_of_torchs_own_parts_does(tmp_path: Path, verified: Verify) -> None:
    c = Tiny(steps=5, dropout=0.0, clip_norm=0.3, weight_decay=0.5, learning_rate=0.01)
    train(c, tmp_path / "run")

    dataset = c.dataset()
    seed_everything(c.seed, step=-1)
    model = c.model(len(dataset.vocabulary))
    embedding = {model.embedding.weight}
    groups: list[dict[str, Any]] = [
        {"params": [p for p in model.parameters() if p.dim() > 1 and p not in embedding]},
        {"params": [p for p in model.parameters() if p.dim() == 1 or p in embedding]},
    ]
    groups[0]["weight_decay"], groups[1]["weight_decay"] = 0.5, 0.0
    optimizer = torch.optim.AdamW(groups)
    norms = []
    for step in range(5):
        x, y = dataset.batch(step, c.seq_len, c.batch_size, c.seed)
        half_cosine = (1 + math.cos(math.pi * (step - 2) / 3)) / 2
        for group in optimizer.param_groups:
            group["lr"] = 0.01 * ((step + 1) / 2 if step < 2 else half_cosine)
        optimizer.zero_grad()
        F.cross_entropy(model(x).reshape(28, -1), y.reshape(28)).backward()
        norms.append(nn.utils.clip_grad_norm_(model.parameters(), 0.3).item())
        optimizer.step()
    oracle = "a plain loop with torch.optim.AdamW"
    expected = model.state_dict()
    verified(weights(tmp_path / "run"), expected, against=oracle, of=train, what="weights", rtol=0, atol=1e-6)
    found = [line["grad_norm"] for line in metrics.read(tmp_path / "run/metrics.jsonl")]
    assert found == pytest.approx(norms, rel=1e-5)
    assert max(norms) > 0.3


def test_the_loss_falls_below_that_of_the_trigram(tmp_path: Path) -> None:
    c = Tiny(steps=120, d_model=16, seq_len=16, batch_size=8, learning_rate=0.03, eval_every=120)
    result = train(c, tmp_path / "run")
    assert result.valid_loss < result.trigram_loss


def test_the_result_says_what_was_done(tmp_path: Path) -> None:
    c, run = Tiny(), tmp_path / "run"
    result = train(c, run)
    dataset = c.dataset()
    n_tokens = len(dataset.vocabulary)
    assert json.loads((run / "result.json").read_text()) == {
        "steps": 6,
        "valid_loss": metrics.read(run / "metrics.jsonl")[-1]["valid_loss"],
        "trigram_loss": TrigramModel.fit(dataset.train, n_tokens).loss(dataset.valid),
        "parameters": sum(p.numel() for p in c.model(n_tokens).parameters()),
        "characters": 6 * 7 * 4,
        "valid_characters": len(dataset.valid) - 1,
    }
    assert result.steps == 6
    text = (run / "sample.txt").read_text()
    assert text.startswith("the ")
    assert len(text) == 4 + 5


def test_two_runs_with_one_seed_are_equal_and_with_another_differ(tmp_path: Path) -> None:
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        train(Tiny(seed=seed), tmp_path / name)
    assert_same_run(tmp_path / "a", tmp_path / "b")
    assert files(tmp_path / "a")["metrics.jsonl"] != files(tmp_path / "c")["metrics.jsonl"]


def test_to_look_more_often_changes_nothing(tmp_path: Path) -> None:
    train(Tiny(eval_every=1), tmp_path / "often")
    train(Tiny(eval_every=100), tmp_path / "seldom")
    torch.testing.assert_close(weights(tmp_path / "often"), weights(tmp_path / "seldom"), rtol=0, atol=0)


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_a_run_that_lost_its_newest_checkpoints_ends_as_if_nothing_had_happened(
    tmp_path: Path, lost: int
) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    for run in (whole, broken):
        train(Tiny(), run)
    for name in ("checkpoint.pt", "checkpoint.previous.pt")[:lost]:
        (broken / name).unlink()
    (broken / "result.json").unlink()
    train(Tiny(), broken, resume=True)
    assert_same_run(broken, whole)


def test_the_one_before_the_newest_checkpoint_gives_the_same_end(tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    for run in (whole, broken):
        train(Tiny(), run)
    (broken / "checkpoint.pt").write_bytes(b"garbage")
    train(Tiny(), broken, resume=True, from_previous=True)
    assert_same_run(broken, whole)


def test_who_goes_on_from_the_one_before_never_has_a_damaged_one_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, renames = tmp_path / "run", []
    train(Tiny(), run)
    (run / "checkpoint.pt").write_bytes(b"garbage")

    def sometimes(self: Path, target: Path) -> Path:
        if target.name.startswith("checkpoint"):
            renames.append(target.name)
            raise InterruptedError(4, "killed here")
        return replace(self, target)

    replace = Path.replace
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", sometimes)
        with pytest.raises(InterruptedError):
            train(Tiny(), run, resume=True, from_previous=True)
    # The first rename is the one that brings the new checkpoint: the one before stays.
    assert renames == ["checkpoint.pt"]
    assert checkpoint.load(run)["step"] == 4
    train(Tiny(), run, resume=True)
    assert checkpoint.load(run, previous=True)["step"] == 4


class Pressed(Tiny):
    """Ctrl-C comes in the middle of the third step, with a checkpoint far away."""

    presses: int = 1

    def model(self, n_tokens: int) -> nn.Module:
        model, calls = super().model(n_tokens), []

        def press(module: nn.Module, x: object, y: object) -> None:
            calls.append(module.training)
            if module.training and sum(calls) == 3:
                for _ in range(self.presses):
                    signal.raise_signal(signal.SIGINT)

        model.register_forward_hook(press)
        return model


class PressedTwice(Pressed):
    presses = 2


@pytest.fixture
def usual_interrupt() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("usual_interrupt")
def test_control_c_costs_not_a_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    train(Tiny(checkpoint_every=100), whole)
    with pytest.raises(KeyboardInterrupt):
        train(Pressed(checkpoint_every=100), broken)
    assert checkpoint.load(broken)["step"] == 3
    assert len(metrics.read(broken / "metrics.jsonl")) == 3
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    monkeypatch.setattr(Pressed, "presses", 0)
    train(Pressed(checkpoint_every=100), broken, resume=True)
    assert_same_run(broken, whole)


@pytest.mark.usefixtures("usual_interrupt")
def test_a_second_control_c_stops_at_once(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        train(PressedTwice(checkpoint_every=100), tmp_path / "run")
    assert len(metrics.read(tmp_path / "run/metrics.jsonl")) == 2
    assert not (tmp_path / "run/checkpoint.pt").exists()


@pytest.mark.usefixtures("usual_interrupt")
@pytest.mark.parametrize("command", ["train", "sample"])
def test_after_control_c_one_is_told_how_to_go_on_if_one_can(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(labml_nn.__main__, f"{command}_command", stop)
    said = fails([command], capsys, code=130)
    assert said == ("stopped: add --resume to go on\n" if command == "train" else "stopped\n")


@pytest.mark.skipif(sys.platform == "win32", reason="folders cannot be locked")
def test_two_cannot_train_in_one_folder_at_once(tmp_path: Path) -> None:
    run = tmp_path / "run"
    seen: list[dict[str, bytes]] = []

    class Rival(Tiny):
        def model(self, n_tokens: int) -> nn.Module:
            model = super().model(n_tokens)
            model.register_forward_hook(lambda *_: rival())
            return model

    def rival() -> None:
        if not seen:
            seen.append(files(run))
            with pytest.raises(ExperimentError, match="run is in use: another training"):
                train(Tiny(seed=1), run)
            assert files(run) == seen[0]

    train(Rival(), run)
    assert len(metrics.read(run / "metrics.jsonl")) == 6
    train(Rival(), run, resume=True)


def test_a_run_without_its_settings_is_not_continued_with_others(tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(Tiny(), run)
    (run / "config.json").unlink()
    before = files(run)
    with pytest.raises(ExperimentError, match=r"cannot be continued: its config\.json is gone"):
        train(Tiny(seed=1), run, resume=True)
    assert files(run) == before


def test_a_file_where_the_folder_should_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for run in (tmp_path / "file", tmp_path / "file/run"):
        with pytest.raises(ExperimentError, match="file is a file: choose a folder"):
            train(Tiny(), run)


def test_a_growing_length_grows_after_a_break_as_it_would_have(tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    for run in (whole, broken):
        train(Growing(), run)
    (broken / "checkpoint.pt").unlink()
    train(Growing(), broken, resume=True)
    assert_same_run(broken, whole)
    counts = [line["characters"] for line in metrics.read(broken / "metrics.jsonl")]
    assert counts == [4 * sum(range(2, 3 + step)) for step in range(6)]


class Growing(Tiny):
    def seq_len_at(self, step: int) -> int:
        return 2 + step


def test_other_settings_are_refused_when_a_run_goes_on(tmp_path: Path) -> None:
    train(Tiny(), tmp_path / "run")
    with pytest.raises(ExperimentError, match="there steps is 6, and here 8"):
        train(Tiny(steps=8), tmp_path / "run", resume=True)
    train(Tiny(checkpoint_every=5, threads=1), tmp_path / "run", resume=True)


def test_another_text_is_refused_when_a_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train(Tiny(), tmp_path / "run")
    monkeypatch.setattr(Tiny, "dataset", lambda self: CharacterDataset.of("cat", TEXT + "."))
    with pytest.raises(ExperimentError, match="text's SHA-256"):
        train(Tiny(), tmp_path / "run", resume=True)


def test_a_run_is_never_overwritten(tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(Tiny(), run)
    before = files(run)
    with pytest.raises(ExperimentError, match="holds a run already: add --resume"):
        train(Tiny(seed=1), run)
    assert files(run) == before


def test_a_model_that_cannot_be_made_leaves_no_folder(tmp_path: Path) -> None:
    class Odd(Tiny):
        def model(self, n_tokens: int) -> nn.Module:
            raise ValueError("d_model = 8 cannot be shared equally by heads = 3")

    with pytest.raises(ValueError, match="heads = 3"):
        train(Odd(), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_run_that_broke_at_its_first_step_is_in_nobodys_way(tmp_path: Path) -> None:
    class Broken(Tiny):
        def model(self, n_tokens: int) -> nn.Module:
            return nn.Linear(2, 3)

    with pytest.raises(RuntimeError):
        train(Broken(), tmp_path / "run")
    train(Tiny(seed=3), tmp_path / "run")
    assert restore(tmp_path / "run").configuration.seed == 3


def test_a_loss_that_is_not_a_number_ends_the_run_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match=r"at step 3 the loss is nan.*learning rate below"):
        train(Exploding(), tmp_path / "run")
    lines = metrics.read(tmp_path / "run/metrics.jsonl")
    assert [line["step"] for line in lines] == [1, 2]
    assert checkpoint.load(tmp_path / "run")["step"] == 2


class Exploding(Tiny):
    def model(self, n_tokens: int) -> nn.Module:
        model, calls = super().model(n_tokens), []

        def explode(module: nn.Module, x: object, y: Tensor) -> Tensor:
            calls.append(module.training)
            return y * math.nan if sum(calls) == 3 else y

        model.register_forward_hook(explode)
        return model


def test_bfloat16_is_for_the_products_and_not_for_the_weights(tmp_path: Path) -> None:
    seen: list[torch.dtype] = []

    class Watched(Tiny):
        def model(self, n_tokens: int) -> nn.Module:
            model = super().model(n_tokens)
            model.output.register_forward_hook(lambda module, x, y: seen.append(y.dtype))
            return model

    settings = {"steps": 2, "dropout": 0.0, "eval_every": 1, "sample_len": 0}
    plain = train(Watched(**settings), tmp_path / "plain")
    assert set(seen) == {torch.float32}
    seen.clear()
    half = train(Watched(**settings, precision="bfloat16"), tmp_path / "half")
    assert set(seen) == {torch.bfloat16}
    assert {w.dtype for w in weights(tmp_path / "half").values()} == {torch.float32}
    assert half.valid_loss == pytest.approx(plain.valid_loss, abs=0.02)
    assert half.valid_loss != plain.valid_loss


def test_the_compile_flag_has_the_model_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = []

    def compile_eagerly(model: nn.Module) -> Any:
        compiled.append(model)
        return original(model, backend="aot_eager")

    original = torch.compile
    monkeypatch.setattr(torch, "compile", compile_eagerly)
    c = {"steps": 2, "dropout": 0.0}
    train(Transformer(**c), tmp_path / "plain")
    assert not compiled
    train(Transformer(**c, compile=True), tmp_path / "run")
    assert len(compiled) == 1
    torch.testing.assert_close(weights(tmp_path / "run"), weights(tmp_path / "plain"), rtol=1e-3, atol=1e-4)


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Inductor's own
def test_compiled_by_inductor_it_learns_the_same(tmp_path: Path) -> None:
    c = {"steps": 2, "dropout": 0.0}
    train(Transformer(**c), tmp_path / "plain")
    train(Transformer(**c, compile=True), tmp_path / "run")
    torch.testing.assert_close(weights(tmp_path / "run"), weights(tmp_path / "plain"), rtol=1e-3, atol=1e-4)


class Causal(nn.Module):
    """One layer of torch's own, without memory, that knows five positions."""

    max_len = 5

    def __init__(self, n_tokens: int, dropout: float = 0.0):
        super().__init__()
        self.embedding = nn.Embedding(n_tokens, 8)
        self.positions = nn.Parameter(torch.randn(32, 1, 8))
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, dropout)
        self.output = nn.Linear(8, n_tokens)

    def forward(self, x: Tensor) -> Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(len(x))
        x = self.embedding(x) + self.positions[: len(x)]
        return self.output(self.layer(x, src_mask=mask, is_causal=True))


class Transformer(Tiny):
    def model(self, n_tokens: int) -> nn.Module:
        return Causal(n_tokens, self.dropout)


# --- the learning rate ----------------------------------------------------------------------


@pytest.mark.parametrize(("steps", "warmup"), [(20, 5), (20, 1), (20, 0), (7, 6)])
def test_the_learning_rate_is_that_of_torchs_own_schedulers(
    steps: int, warmup: int, verified: Verify
) -> None:
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.3)
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=steps - warmup)
    expected = [0.3 * (step + 1) / warmup for step in range(warmup)]
    for _ in range(steps - warmup):
        expected.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        cosine.step()
    found = [learning_rate(step, steps=steps, peak=0.3, warmup_steps=warmup) for step in range(steps)]
    oracle = "torch.optim.lr_scheduler.CosineAnnealingLR"
    verified(found, expected, against=oracle, of=learning_rate, rtol=1e-9, atol=0)
    assert min(found) > 0


def test_a_run_may_be_all_warm_up() -> None:
    rates = [learning_rate(step, steps=3, peak=1.0, warmup_steps=4) for step in range(3)]
    assert rates == [0.25, 0.5, 0.75]


def test_a_run_without_warm_up_begins_at_full_pace(tmp_path: Path) -> None:
    train(Tiny(warmup_steps=0), tmp_path / "run")
    assert metrics.read(tmp_path / "run/metrics.jsonl")[0]["lr"] == 1e-3


# --- the optimiser --------------------------------------------------------------------------


def test_matrices_decay_and_all_else_is_kept() -> None:
    model = GRU(n_tokens=11, d_model=8, dropout=0.0)
    groups = make_optimizer(model, learning_rate=0.1, weight_decay=0.2).param_groups
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    decayed, kept = ({names[id(p)] for p in group["params"]} for group in groups)
    assert decayed == {"gru.weight_ih_l0", "gru.weight_hh_l0", "output.weight"}
    assert decayed | kept == set(names.values())
    assert [group["weight_decay"] for group in groups] == [0.2, 0.0]


def test_an_embedding_that_is_the_output_layer_too_is_not_decayed_and_counted_once() -> None:
    model = GRU(n_tokens=11, d_model=8, dropout=0.0)
    model.output.weight = model.embedding.weight
    groups = make_optimizer(model, learning_rate=0.1, weight_decay=0.2).param_groups
    assert all(p is not model.embedding.weight for p in groups[0]["params"])
    assert sum(len(group["params"]) for group in groups) == len(list(model.parameters()))


@pytest.mark.parametrize("bound", [0.5, 1e6, None])
def test_gradients_are_clipped_to_the_length_of_all_of_them_together(bound: float | None) -> None:
    model = nn.Sequential(nn.Linear(3, 5), nn.Linear(5, 2)).double()
    model(torch.randn(7, 3, dtype=torch.float64)).square().sum().backward()
    before = [p.grad.clone() for p in model.parameters()]
    length = math.sqrt(sum(number**2 for g in before for number in g.flatten().tolist()))
    assert clip_gradient(model, bound).item() == pytest.approx(length)
    factor = 1.0 if bound is None else min(1.0, bound / length)
    for p, gradient in zip(model.parameters(), before, strict=True):
        torch.testing.assert_close(p.grad, gradient * factor, rtol=1e-5, atol=0)


# --- randomness -----------------------------------------------------------------------------


def test_every_generator_is_seeded_by_the_step_alone() -> None:
    numpy = pytest.importorskip("numpy")

    def draw() -> tuple[Any, ...]:
        return torch.rand(3).tolist(), random.random(), numpy.random.rand(3).tolist()

    seed_everything(seed=3, step=5)
    first = draw()
    seed_everything(seed=3, step=6)
    assert draw() != first
    seed_everything(seed=3, step=5)
    assert draw() == first


def test_no_two_of_seed_step_and_rank_can_stand_for_each_other() -> None:
    triples = [(a, b, c) for a in range(13) for b in range(-1, 13) for c in range(13)]
    assert len({seed_of(*triple) for triple in triples}) == len(triples)


# --- evaluation -----------------------------------------------------------------------------


def test_the_validation_loss_is_that_of_a_loop_over_all_characters(verified: Verify) -> None:
    dataset = Tiny().dataset()
    model = GRU(len(dataset.vocabulary), 8, dropout=0.5)
    total, count, text = 0.0, 0, dataset.valid
    model.eval()
    for start in range(0, len(text) - 1, 7):
        state = None
        for place in range(start, min(start + 7, len(text) - 1)):
            logits, state = model.step(text[place].view(1, 1), state)
            total -= logits[0, 0].double().log_softmax(dim=0)[text[place + 1]].item()
            count += 1
    model.train()
    assert count == len(text) - 1
    for batch_size in (4, 3):
        loss = validation_loss(model, dataset.validation(7, batch_size), CPU)
        oracle = "a loop over all characters"
        verified(loss, total / count, against=oracle, of=validation_loss, what="loss", rtol=1e-5, atol=0)


def test_to_evaluate_twice_gives_the_same_number_and_draws_nothing() -> None:
    dataset = Tiny().dataset()
    model = GRU(len(dataset.vocabulary), 8, dropout=0.5)
    before = torch.random.get_rng_state()
    first, second = (validation_loss(model, dataset.validation(7, 4), CPU) for _ in range(2))
    assert first == second
    assert torch.equal(torch.random.get_rng_state(), before)


def test_the_mode_of_each_part_comes_back_even_after_an_error() -> None:
    frozen = nn.Dropout()
    model = nn.Sequential(nn.Dropout(), nn.Sequential(frozen, nn.Linear(3, 5)))
    frozen.eval()
    modes = [module.training for module in model.modules()]

    def fail() -> None:
        with evaluating(model):
            assert not any(module.training for module in model.modules())
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert [module.training for module in model.modules()] == modes
    assert torch.is_grad_enabled()


def test_an_empty_validation_text_is_refused() -> None:
    with pytest.raises(ValueError, match="0 validation characters"):
        validation_loss(nn.Identity(), [], CPU)


# --- sampling -------------------------------------------------------------------------------


def test_with_memory_the_model_writes_what_it_writes_without() -> None:
    model = GRU(n_tokens=11, d_model=8, dropout=0.5)
    without, prompt = WithoutMemory(model), torch.tensor([1, 5, 2])
    for seed in range(3):
        expected = sample(without, prompt, 20, seed=seed)
        assert torch.equal(sample(model, prompt, 20, seed=seed), expected)


class WithoutMemory(nn.Module):
    def __init__(self, model: nn.Module):
        super().__init__()
        self.model = model

    def forward(self, x: Tensor) -> Tensor:
        return self.model(x)


class WithMemory(Causal):
    """Its memory is all that it has read."""

    def step(self, x: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        n = 0 if state is None else len(state)
        whole = x if state is None else torch.cat([state, x])
        if len(whole) > self.max_len:
            raise ValueError(f"{len(whole)} characters, but there are {self.max_len} positions")
        return self.forward(whole)[n:], whole


@pytest.mark.parametrize("n_prompt", [1, 4, 5, 6, 9])
def test_a_model_with_a_longest_length_writes_on_beyond_it(n_prompt: int) -> None:
    model, other = WithMemory(7), Causal(7)
    other.load_state_dict(model.state_dict())
    prompt = torch.arange(n_prompt) % 7
    found = sample(model, prompt, 12, temperature=3.0)
    assert torch.equal(found, sample(other, prompt, 12, temperature=3.0))


def test_what_it_reads_is_no_longer_than_was_asked_for() -> None:
    lengths = []
    model = nn.Sequential(nn.Embedding(7, 7))
    model.register_forward_hook(lambda module, x, y: lengths.append(len(x[0])))
    sample(model, torch.tensor([1, 2]), 6, max_len=4)
    assert lengths == [2, 3, 4, 4, 4, 4]


def test_sampling_leaves_the_model_and_the_dice_as_they_were() -> None:
    model = GRU(n_tokens=11, d_model=8, dropout=0.5)
    model.dropout.eval()
    before = torch.random.get_rng_state()
    ids = sample(model, torch.tensor([3]), 9)
    assert model.training
    assert not model.dropout.training
    assert not ids.requires_grad
    assert all(parameter.grad is None for parameter in model.parameters())
    assert torch.equal(torch.random.get_rng_state(), before)


def test_the_seed_decides_the_sample() -> None:
    model = GRU(n_tokens=11, d_model=8, dropout=0.5)
    texts = [sample(model, torch.tensor([3]), 30, seed=seed).tolist() for seed in (0, 0, 1)]
    assert texts[0] == texts[1] != texts[2]


def test_characters_are_drawn_as_often_as_the_temperature_says() -> None:
    logits, temperature = torch.tensor([1.0, 0.0, 2.0]), 2.0
    model = nn.Embedding(3, 3)
    model.weight.data[:] = logits
    ids = sample(model, torch.tensor([0]), 4000, temperature=temperature, max_len=1)
    shares = ids.bincount(minlength=3) / 4000
    expected = (logits.double() / temperature).exp()
    torch.testing.assert_close(shares.double(), expected / expected.sum(), rtol=0, atol=0.04)


@pytest.mark.parametrize("temperature", [0.0, 1e-30])
def test_a_temperature_of_nothing_takes_the_likeliest(temperature: float) -> None:
    model = nn.Embedding(3, 3)
    model.weight.data[:] = torch.tensor([[0.0, 0.1, 0.0], [0.0, 0.0, 0.1], [0.1, 0.0, 0.0]])
    ids = sample(model, torch.tensor([0]), 5, temperature=temperature, max_len=1)
    assert ids.tolist() == [1, 2, 0, 1, 2]


@pytest.mark.parametrize(
    ("prompt", "settings", "message"),
    [
        (torch.zeros(0, dtype=torch.int64), {}, r"\[0\]"),
        (torch.zeros(2, 1, dtype=torch.int64), {}, r"\[2, 1\]"),
        (torch.zeros(2, dtype=torch.int64), {"length": -1}, "length = -1"),
        (torch.zeros(2, dtype=torch.int64), {"temperature": -0.5}, "temperature = -0.5"),
        (torch.zeros(2, dtype=torch.int64), {"temperature": math.nan}, "temperature = nan"),
        (torch.zeros(2, dtype=torch.int64), {"seed": 2**64}, "seed = 18446744073709551616"),
    ],
)
def test_sampling_refuses_what_it_cannot_do(prompt: Tensor, settings: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sample(nn.Embedding(3, 3), prompt, **{"length": 4, **settings})
