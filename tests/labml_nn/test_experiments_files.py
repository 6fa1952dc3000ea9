"""What a run leaves on the disk, and what is made of it: checkpoints, metrics, the plot."""

import json
import math
import random
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
import torch

from labml_nn.experiments import ExperimentError, checkpoint, metrics
from labml_nn.experiments.checkpoint import CheckpointError
from labml_nn.experiments.plot import plot
from labml_nn.experiments.recorded import recorded
from labml_nn.experiments.training import restore, train
from tests.labml_nn.experiments import (
    Tiny,
    files,
    same,
    weights,
)

pytestmark = pytest.mark.usefixtures("workplace")


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
