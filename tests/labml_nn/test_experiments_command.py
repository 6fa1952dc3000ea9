"""Training from the command line: settings, processes, what is said when something is wrong."""

import io
import json
import math
import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

import labml_nn.__main__
import labml_nn.experiments
from labml_nn.__main__ import main
from labml_nn.experiments import ExperimentError, training
from labml_nn.experiments.configuration import Configuration
from labml_nn.experiments.processes import Processes, choose_device
from labml_nn.experiments.training import train
from tests.labml_nn.experiments import (
    CPU,
    TINY,
    Tiny,
    fails,
    files,
)

pytestmark = pytest.mark.usefixtures("workplace")


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
