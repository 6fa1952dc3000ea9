"""The training harness, piece by piece, on a text and a model that take no time."""

import io
import json
import math
import random
import re
import signal
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import labml_nn.__main__
import labml_nn.experiments
from labml_nn.__main__ import main
from labml_nn.data.characters import CharacterDataset
from labml_nn.data.trigram import TrigramModel
from labml_nn.experiments import ExperimentError, checkpoint, metrics, training
from labml_nn.experiments.checkpoint import CheckpointError
from labml_nn.experiments.configuration import Configuration
from labml_nn.experiments.evaluation import evaluating, validation_loss
from labml_nn.experiments.optimizer import clip_gradient, make_optimizer
from labml_nn.experiments.plot import plot
from labml_nn.experiments.processes import Processes, choose_device
from labml_nn.experiments.randomness import seed_everything, seed_of
from labml_nn.experiments.recorded import recorded
from labml_nn.experiments.sampling import sample
from labml_nn.experiments.schedule import learning_rate
from labml_nn.experiments.training import restore, train
from site_builder.verified import Verify

CPU = torch.device("cpu")
WORDS = "the cat sat on a mat and saw that the rat ate a hat . ".split(" ")
TEXT = " ".join(random.Random(7).choices(WORDS, k=700))


class GRU(nn.Module):
    """Of torch's own layers; `step` continues a sequence."""

    def __init__(self, n_tokens: int, d_model: int, dropout: float):
        super().__init__()
        self.embedding = nn.Embedding(n_tokens, d_model)
        self.norm = nn.LayerNorm(d_model)
        self.gru = nn.GRU(d_model, d_model)
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(d_model, n_tokens)

    def step(self, x: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        y, state = self.gru(self.dropout(self.norm(self.embedding(x))), state)
        return self.output(self.dropout(y)), state

    def forward(self, x: Tensor) -> Tensor:
        return self.step(x)[0]


@dataclass(frozen=True, kw_only=True)
class Tiny(Configuration):
    d_model: int = 8
    seq_len: int = 7
    batch_size: int = 4
    steps: int = 6
    warmup_steps: int = 2
    checkpoint_every: int = 2
    eval_every: int = 3
    prompt: str = "the "
    sample_len: int = 5

    def dataset(self) -> CharacterDataset:
        return CharacterDataset.of("cat", TEXT)

    def model(self, n_tokens: int) -> nn.Module:
        return GRU(n_tokens, self.d_model, self.dropout)


TINY = f"{Tiny.__module__}:Tiny"


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """This module by its name, as the command line imports it, and a folder to work in."""
    monkeypatch.setitem(sys.modules, Tiny.__module__, sys.modules[__name__])
    monkeypatch.chdir(tmp_path)


def weights(run: Path, **which: bool) -> dict[str, Tensor]:
    return checkpoint.load(run, **which)["model"]


def same(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return torch.equal(a, b) if isinstance(a, Tensor) else a == b


def assert_same_run(run: Path, other: Path) -> None:
    """Equal in every weight, every average of the optimiser and every byte of the other files."""
    assert same(checkpoint.load(run), checkpoint.load(other))
    for name in ("metrics.jsonl", "result.json", "sample.txt"):
        assert (run / name).read_bytes() == (other / name).read_bytes(), name


def files(run: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in run.iterdir() if path.is_file()}


def fails(arguments: list[str], capsys: pytest.CaptureFixture[str], code: int = 1) -> str:
    """What the command line says when it fails, which must be a single line."""
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    said = capsys.readouterr().err
    assert stopped.value.code == code
    assert "Traceback" not in said
    if code == 1:
        assert said.count("\n") == 1
    return said


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


# --- checkpoints ----------------------------------------------------------------------------

STATE = {"step": 3, "model": {"weight": torch.arange(5000.0)}, "vocabulary": ["a", "b"]}


def test_a_checkpoint_comes_back_as_it_was(tmp_path: Path) -> None:
    checkpoint.save(tmp_path, STATE)
    assert same(checkpoint.load(tmp_path), STATE)
    assert same(torch.load(tmp_path / "checkpoint.pt"), STATE)


def test_the_one_before_the_newest_is_kept_and_none_older(tmp_path: Path) -> None:
    for step in range(4):
        checkpoint.save(tmp_path, {"step": step})
    assert checkpoint.load(tmp_path) == {"step": 3}
    assert checkpoint.load(tmp_path, previous=True) == {"step": 2}
    assert sorted(files(tmp_path)) == ["checkpoint.previous.pt", "checkpoint.pt"]


def flip(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


DAMAGE = {
    "empty": lambda data: b"",
    "one byte": lambda data: data[:1],
    "shorter than a checksum": lambda data: data[:20],
    "half": lambda data: data[: len(data) // 2],
    "without its last byte": lambda data: data[:-1],
    "with a byte too many": lambda data: data + b"\0",
    "garbage": lambda data: random.Random(0).randbytes(len(data)),
    "one bit at the start": lambda data: flip(data, 0),
    "one bit of a weight": lambda data: flip(data, len(data) // 2),
    "one bit of the checksum": lambda data: flip(data, len(data) - 1),
    "zeros": lambda data: bytes(len(data)),
    "text": lambda data: b"not a checkpoint, and longer than a checksum by a little",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_checkpoint_is_noticed_and_the_one_before_it_still_works(
    tmp_path: Path, damage: Any
) -> None:
    checkpoint.save(tmp_path, {"step": 1})
    checkpoint.save(tmp_path, STATE)
    path = tmp_path / "checkpoint.pt"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(CheckpointError, match=r"checkpoint\.pt is damaged.*--from-previous"):
        checkpoint.load(tmp_path)
    assert checkpoint.load(tmp_path, previous=True) == {"step": 1}


def test_a_damaged_checkpoint_with_none_before_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "checkpoint.pt").write_bytes(b"x" * 100)
    with pytest.raises(CheckpointError, match="There is none before it"):
        checkpoint.load(tmp_path)


def test_a_file_that_would_run_code_is_refused(tmp_path: Path) -> None:
    checkpoint.save(tmp_path, {"step": Path("not plain")})
    with pytest.raises(CheckpointError, match="holds no checkpoint"):
        checkpoint.load(tmp_path)


def test_a_missing_checkpoint_is_named(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"there is no checkpoint .*checkpoint\.pt"):
        checkpoint.load(tmp_path)


def test_a_newer_checkpoint_is_named_where_the_one_before_cannot_be_used(tmp_path: Path) -> None:
    checkpoint.save(tmp_path, STATE)
    advice = "A newer one is there: leave out --from-previous"
    with pytest.raises(CheckpointError, match=f"there is no checkpoint .*{advice}"):
        checkpoint.load(tmp_path, previous=True)
    (tmp_path / "checkpoint.previous.pt").write_bytes(b"garbage")
    with pytest.raises(CheckpointError, match=f"damaged.*{advice}"):
        checkpoint.load(tmp_path, previous=True)


@pytest.mark.skipif(sys.platform == "win32", reason="no limits there")
def test_a_disk_that_is_full_is_told_as_such(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    checkpoint.save(tmp_path, {"step": 1})
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        with pytest.raises(ExperimentError, match="is the disk full"):
            checkpoint.save(tmp_path, {"weights": torch.ones(50_000)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert checkpoint.load(tmp_path) == {"step": 1}


def test_a_full_disk_leaves_the_last_checkpoint_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(state: Any, file: Any) -> None:
        file.write(b"half of i")
        raise OSError(28, "No space left on device")

    checkpoint.save(tmp_path, {"step": 1})
    with monkeypatch.context() as patch:
        patch.setattr(torch, "save", full)
        with pytest.raises(OSError, match="No space"):
            checkpoint.save(tmp_path, {"step": 2})
    assert checkpoint.load(tmp_path) == {"step": 1}
    checkpoint.save(tmp_path, {"step": 2})
    assert checkpoint.load(tmp_path) == {"step": 2}


# --- metrics --------------------------------------------------------------------------------


def test_each_line_of_the_metrics_is_strict_json_without_a_clock(tmp_path: Path) -> None:
    train(Tiny(), tmp_path / "run")
    lines = (tmp_path / "run/metrics.jsonl").read_bytes().decode().splitlines()
    values = [json.loads(line, parse_constant=pytest.fail) for line in lines]
    assert [line["step"] for line in values] == [1, 2, 3, 4, 5, 6]
    common = {"step", "loss", "lr", "grad_norm", "characters"}
    assert [set(line) - common for line in values] == [set(), set(), {"valid_loss"}] * 2


def test_half_a_line_is_cut_off_when_a_run_goes_on_and_skipped_by_a_reader(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    with metrics.MetricsFile(path) as file:
        file.write({"step": 1})
        size = file.commit()
    with path.open("ab") as torn:
        torn.write(b'{"step": 2}\n{"st')
    assert metrics.read(path) == [{"step": 1}, {"step": 2}]
    with metrics.MetricsFile(path, size) as file:
        file.write({"step": 2})
    assert path.read_bytes() == b'{"step": 1}\n{"step": 2}\n'


def test_metrics_that_are_too_short_for_the_checkpoint_are_refused(tmp_path: Path) -> None:
    train(Tiny(), tmp_path / "run")
    (tmp_path / "run/metrics.jsonl").write_text('{"step": 1}\n')
    with pytest.raises(ExperimentError, match="has 12 bytes, but had"):
        train(Tiny(), tmp_path / "run", resume=True)


@pytest.mark.parametrize("line", [b"garbage", b"3", b"\xff\xfe", b"\x1c"])
def test_metrics_that_are_damaged_are_named_with_the_line(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b'{"step": 1, "loss": 4.5}\n' + line + b"\n")
    with pytest.raises(ExperimentError, match=r"metrics\.jsonl is damaged: line 2"):
        metrics.read(path)


def test_what_is_not_a_number_is_not_written(tmp_path: Path) -> None:
    with metrics.MetricsFile(tmp_path / "m") as file, pytest.raises(ValueError, match="JSON"):
        file.write({"loss": math.nan})
    assert (tmp_path / "m").read_bytes() == b""


def test_tensorboard_gets_the_same_numbers(tmp_path: Path) -> None:
    name = "tensorboard.backend.event_processing.event_accumulator"
    reader = pytest.importorskip(name)
    run = tmp_path / "run"
    train(Tiny(tensorboard=True), run)
    events = reader.EventAccumulator(str(run / "tensorboard"))
    events.Reload()
    for name in ("loss", "valid_loss", "lr", "grad_norm"):
        expected = [(n["step"], n[name]) for n in metrics.read(run / "metrics.jsonl") if name in n]
        found = [(event.step, event.value) for event in events.Scalars(name)]
        assert found == [(step, pytest.approx(value)) for step, value in expected]


def test_tensorboard_that_is_not_installed_is_missed_before_the_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(ExperimentError, match=r"pip install 'annotated-nn\[tensorboard\]'"):
        train(Tiny(tensorboard=True), tmp_path / "run")
    assert not (tmp_path / "run").exists()


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


# --- processes ------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 3, 6])
def test_the_slices_are_the_joint_batch(size: int) -> None:
    batch = torch.arange(30).reshape(5, 6)
    slices = [Processes(CPU, rank, size).share(batch) for rank in range(size)]
    assert torch.equal(torch.cat(slices, dim=1), batch)


def test_a_batch_that_does_not_divide_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def three(device: str) -> Iterator[Processes]:
        yield Processes(CPU, rank=0, size=3)

    monkeypatch.setattr(training, "processes", three)
    with pytest.raises(ValueError, match="batch_size = 4 cannot be shared equally by 3 processes"):
        train(Tiny(), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_the_cpu_is_taken_and_a_gpu_asked_for_is_missed() -> None:
    assert choose_device("auto") == CPU
    with pytest.raises(ValueError, match="'cuda:1' was asked for, but PyTorch finds no GPU"):
        choose_device("cuda:1")


@pytest.mark.parametrize("name", ["meta", "xla"])
def test_a_device_that_cannot_compute_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"device = '{name}' was asked for, but PyTorch cannot"):
        choose_device(name)


# --- settings -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("seq_len", 0),
        ("batch_size", 0),
        ("steps", 0),
        ("warmup_steps", -1),
        ("eval_every", 0),
        ("checkpoint_every", 0),
        ("learning_rate", 0.0),
        ("learning_rate", math.nan),
        ("weight_decay", -0.1),
        ("clip_norm", 0.0),
        ("clip_norm", math.inf),
        ("dropout", 1.0),
        ("dropout", math.nan),
        ("threads", 0),
        ("temperature", math.nan),
        ("sample_len", -1),
        ("precision", "float16"),
        ("steps", None),
        ("threads", 1025),
        ("seed", 2**64),
        ("prompt", "\udcff"),
    ],
)
def test_a_setting_that_cannot_work_is_named_with_its_value(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=re.escape(f"{name} = {value!r}")):
        Tiny(**{name: value})


def test_an_empty_prompt_is_refused() -> None:
    with pytest.raises(ValueError, match="prompt is empty"):
        Tiny(prompt="")


def test_settings_come_back_from_a_file_as_they_were() -> None:
    c = Tiny(clip_norm=None, threads=2, precision="bfloat16", learning_rate=0.1)
    assert Tiny.from_json(json.loads(json.dumps(c.to_json()))) == c


def test_a_lone_experiment_without_a_model_says_what_is_missing() -> None:
    with pytest.raises(NotImplementedError, match=r"Configuration has no method model\(n_tokens\)"):
        Configuration().model(5)


# --- the plot -------------------------------------------------------------------------------


def test_the_plot_is_an_svg_with_text_and_the_same_bytes_each_time(tmp_path: Path) -> None:
    mpl = pytest.importorskip("matplotlib")
    train(Tiny(), tmp_path / "run")
    first = plot(tmp_path / "run").read_bytes()
    assert plot(tmp_path / "run", tmp_path / "second.svg").read_bytes() == first
    with mpl.rc_context({"font.size": 30, "axes.grid": True, "lines.color": "red"}):
        assert plot(tmp_path / "run", tmp_path / "third.svg").read_bytes() == first
    root = ET.fromstring(first)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert (root.get("width"), root.get("height")) == ("480", "320")
    words = " ".join(str(text.text) for text in root.iter("{http://www.w3.org/2000/svg}text"))
    for word in ("training", "validation", "trigram", "nats per character", "step"):
        assert word in words
    assert not list((tmp_path / "run").glob("*.partial"))


def test_a_run_that_is_going_on_is_drawn_without_the_trigram(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "metrics.jsonl").write_text('{"step": 1, "loss": 4.5}\n{"step": 2, "lo')
    svg = plot(tmp_path).read_text()
    assert "training 4.50" in svg
    assert "trigram" not in svg


def test_a_plot_of_damaged_files_names_them(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for line in ('{"step": 1}', '{"step": 1, "loss": "x"}', '{"loss": 1, "step": 1, "valid_loss": []}'):
        (tmp_path / "metrics.jsonl").write_text(line + "\n")
        with pytest.raises(ExperimentError, match=r"metrics\.jsonl is damaged: line 1"):
            plot(tmp_path)
    (tmp_path / "metrics.jsonl").write_text('{"step": 1, "loss": 4.5}\n')
    (tmp_path / "result.json").write_text("{}")
    with pytest.raises(ExperimentError, match=r"result\.json is damaged: it has no trigram_loss"):
        plot(tmp_path)


def test_a_plot_without_matplotlib_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ExperimentError, match=r"pip install 'annotated-nn\[plots\]'"):
        plot(tmp_path)


# --- from the disk --------------------------------------------------------------------------


def test_a_trained_model_comes_back_with_its_vocabulary(tmp_path: Path) -> None:
    train(Tiny(), tmp_path / "run")
    trained = restore(tmp_path / "run")
    assert trained.configuration == Tiny()
    assert trained.vocabulary == Tiny().dataset().vocabulary
    assert trained.step == 6
    assert not trained.model.training
    torch.testing.assert_close(trained.model.state_dict(), weights(tmp_path / "run"), rtol=0, atol=0)
    assert restore(tmp_path / "run", previous=True).step == 4


def test_a_model_that_has_changed_since_is_noticed(tmp_path: Path) -> None:
    train(Tiny(), tmp_path / "run")
    config = json.loads((tmp_path / "run/config.json").read_text())
    config["settings"]["d_model"] = 5
    (tmp_path / "run/config.json").write_text(json.dumps(config))
    with pytest.raises(ExperimentError, match="do not fit the model"):
        restore(tmp_path / "run")


def test_a_recorded_run_is_read_from_beside_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a_page.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    result = train(Tiny(), tmp_path / "run")
    for path in (tmp_path / "run").glob("*.pt"):
        path.unlink()
    run = recorded("a_page")
    assert run.configuration["d_model"] == 8
    assert run.result["valid_loss"] == result.valid_loss
    assert run.metrics[-1]["valid_loss"] == result.valid_loss
    assert run.sample.startswith("the ")


# --- the command line, in this process ------------------------------------------------------


def test_every_command_works_on_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    main(["train", TINY, "--run-dir", "runs/mine", "--steps", "4"])
    said = capsys.readouterr().out
    result = json.loads(Path("runs/mine/result.json").read_text())
    for part in ("validation", "trigram"):
        nats = result[f"{part.removesuffix('ation')}_loss"]
        assert f"{part:12}{nats:.3f} nats ({nats / math.log(2):.3f} bits) a character" in said
    assert Path("runs/mine/sample.txt").read_text() in said
    assert f"checkpoint  {Path('runs/mine/checkpoint.pt')}" in said

    command = ["sample", "mine", "--prompt", "a cat", "--length", "9", "--seed", "3"]
    main(command)
    first = capsys.readouterr().out
    main(command)
    assert capsys.readouterr().out == first
    assert first.startswith("a cat")
    assert len(first) == 5 + 9 + 1
    main(["sample", "runs/mine"])
    assert capsys.readouterr().out == Path("runs/mine/sample.txt").read_text() + "\n"
    main(["sample", "runs/mine", "--from-previous", "--length", "0"])
    assert capsys.readouterr().out == "the \n"
    main(["plot", "mine"])
    assert ET.parse("runs/mine/loss.svg")


def test_a_prompt_with_a_character_that_the_text_lacks_is_noted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["train", TINY, "--run-dir", "mine"])
    capsys.readouterr()
    main(["sample", "mine", "--prompt", "é", "--length", "2"])
    assert capsys.readouterr().err == "note: the training text has no 'é'\n"


def test_a_run_that_goes_on_needs_no_settings_again(capsys: pytest.CaptureFixture[str]) -> None:
    main(["train", TINY, "--run-dir", "mine", "--steps", "4", "--warmup-steps", "1"])
    before = files(Path("mine"))
    main(["train", TINY, "--run-dir", "mine", "--resume"])
    assert "going on after step 4" in capsys.readouterr().out
    assert files(Path("mine")) == before
    assert "there steps is 4, and here 5" in fails(
        ["train", TINY, "--run-dir", "mine", "--resume", "--steps", "5"], capsys
    )


def test_without_a_folder_the_run_is_named_for_its_experiment() -> None:
    main(["train", TINY, "--steps", "1"])
    assert Path("runs", TINY.replace(":", "."), "result.json").is_file()


def test_what_goes_wrong_is_told_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert "did you mean 'feedback'?" in fails(["train", "fedback"], capsys)
    assert "there are basic, aft" in fails(["train", "zzz"], capsys)
    assert "has no 'Tinny'" in fails(["train", f"{Tiny.__module__}:Tinny"], capsys)
    assert "did you mean 'Tiny'?" in fails(["train", f"{Tiny.__module__}:Tinny"], capsys)
    assert "needs the module no_such, and" in fails(["train", "no_such:Thing"], capsys)
    assert "write it without .py" in fails(["train", "no_such.py:Thing"], capsys)
    assert "write mine:Thing" in fails(["train", "./mine:Thing"], capsys)
    assert "your own as module:Class" in fails(["train", "mine"], capsys)
    assert "is not a class made from Configuration" in fails(["train", "json:loads"], capsys)
    assert "there are none yet" in fails(["sample", "nowhere"], capsys)

    main(["train", TINY, "--run-dir", "runs/mine"])
    capsys.readouterr()
    assert f"did you mean {Path('runs/mine')}?" in fails(["plot", "mime"], capsys)
    assert "holds a run already" in fails(["train", TINY, "--run-dir", "runs/mine"], capsys)
    assert "temperature = -1.0" in fails(["sample", "mine", "--temperature", "-1"], capsys)
    assert "prompt is empty" in fails(["sample", "mine", "--prompt", ""], capsys)
    basic = ["train", "basic", "--run-dir", "runs/mine", "--resume"]
    assert f"there experiment is '{TINY}', and here 'basic'" in fails(basic, capsys)
    Path("runs/mine/checkpoint.pt").write_bytes(b"garbage")
    assert "add --from-previous" in fails(["sample", "mine"], capsys)
    assert "add --from-previous" in fails(["train", TINY, "--run-dir", "runs/mine", "--resume"], capsys)
    Path("runs/mine/config.json").write_text("{")
    assert "is no JSON file" in fails(["sample", "mine"], capsys)
    for text, message in (("[]", "holds no JSON object"), ("{}", "has no experiment")):
        Path("runs/mine/config.json").write_text(text)
        assert message in fails(["sample", "mine"], capsys)
        assert message in fails(["train", TINY, "--run-dir", "runs/mine", "--resume"], capsys)
    Path("runs/mine/config.json").unlink()
    assert "is runs" in fails(["sample", "mine"], capsys).replace("\\", "/")


def test_wrong_usage_is_told_and_is_exit_code_two(capsys: pytest.CaptureFixture[str]) -> None:
    assert "did you mean train?" in fails(["trian"], capsys, code=2)
    assert "there are train, sample, plot" in fails(["zzz"], capsys, code=2)
    assert "needs the name of an experiment" in fails(["train"], capsys, code=2)
    assert "steps = 0 must be at least 1" in fails(["train", TINY, "--steps", "0"], capsys, code=2)
    assert "--steps" in fails(["train", TINY, "--step", "4"], capsys, code=2)
    assert "invalid" in fails(["train", TINY, "--steps", "many"], capsys, code=2).lower()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("class X(:", "SyntaxError: invalid syntax (own.py, line 1) (with -v"),
        ("import not_there_either", "ModuleNotFoundError: No module named 'not_there_either' (with -v"),
        ("import math; math.sine", "AttributeError: module 'math' has no attribute 'sine' (with -v"),
    ],
)
def test_a_fault_in_an_experiment_of_ones_own_is_told_with_its_kind(
    source: str, message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("own.py").write_text(source)
    monkeypatch.syspath_prepend(str(Path.cwd()))
    assert message in fails(["train", "own:X"], capsys)
    with pytest.raises(Exception, match=re.escape(message.partition(": ")[2].partition(" (")[0])):
        main(["-v", "train", "own:X"])


def test_a_terminal_that_lacks_a_character_gets_a_question_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    main(["train", TINY, "--run-dir", "mine", "--steps", "1"])
    screen = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(screen, "ascii"))
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(io.BytesIO(), "ascii"))
    main(["sample", "mine", "--prompt", "aé\udcff", "--length", "0"])
    assert screen.getvalue() == b"a??\n"


def test_help_before_a_name_lists_the_names(capsys: pytest.CaptureFixture[str]) -> None:
    main(["train", "--help"])
    assert "fast_weights" in capsys.readouterr().out


def test_with_v_the_traceback_is_shown() -> None:
    with pytest.raises(ExperimentError):
        main(["-v", "train", "zzz"])


def test_the_help_of_an_experiment_tells_its_settings(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["train", TINY, "--help"])
    said = capsys.readouterr().out
    assert stopped.value.code == 0
    for option in ("--d-model", "--learning-rate", "--resume", "--run-dir"):
        assert option in said


def test_every_experiment_on_the_list_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    main([])
    said = capsys.readouterr().out
    for entry in labml_nn.experiments.EXPERIMENTS:
        assert f"{entry.name} " in said
        assert entry.page in said
