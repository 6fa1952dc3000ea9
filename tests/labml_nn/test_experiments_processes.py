"""The training harness in processes of its own: killed, continued, several at a time."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from labml_nn.__main__ import main
from labml_nn.experiments import checkpoint, metrics

EXPERIMENT = '''
import os
import signal
from dataclasses import dataclass
from pathlib import Path

from torch import nn

from labml_nn.data.characters import CharacterDataset
from labml_nn.experiments.configuration import Configuration


class GRU(nn.Module):
    def __init__(self, n_tokens, dropout):
        super().__init__()
        self.embedding, self.gru = nn.Embedding(n_tokens, 16), nn.GRU(16, 16)
        self.dropout, self.output = nn.Dropout(dropout), nn.Linear(16, n_tokens)

    def forward(self, x):
        if "WAIT_FOR_THE_END_AT" in os.environ and Path(os.environ["WAIT_FOR_THE_END_AT"]).exists():
            signal.pause()
        return self.output(self.dropout(self.gru(self.embedding(x))[0]))


@dataclass(frozen=True, kw_only=True)
class Tiny(Configuration):
    seq_len: int = 7
    batch_size: int = 4
    warmup_steps: int = 3
    sample_len: int = 20
    prompt: str = "a "

    def dataset(self):
        return CharacterDataset.of("rose", "a rose is a rose, is a rose; " * 40)

    def model(self, n_tokens):
        return GRU(n_tokens, self.dropout)


class Real(Tiny):
    """On the text that every machine has."""

    def dataset(self):
        return Configuration.dataset(self)
'''

# Forks one process after another that trains, as the command line would, and ends it by SIGKILL:
# at a random moment, or at the n-th time that it does what could go wrong. To import PyTorch anew
# for each would take all the time.
KILLER = """
import os, random, shutil, signal, sys, time
from pathlib import Path

import torch
import torch._dynamo  # which the first optimiser of a process imports

import labml_nn.experiments.training
import tiny
from labml_nn.__main__ import main

jobs, options = sys.argv[1].split(","), sys.argv[2:]


def dangerous(original, countdown):
    def call(*arguments, **settings):
        countdown[0] -= 1
        if countdown[0] == 0:
            if original is torch.save:
                arguments[1].write(b"PK half of it")
                arguments[1].flush()
            os.kill(os.getpid(), signal.SIGKILL)
        return original(*arguments, **settings)

    return call


def train(run, kill_at=None):
    pid = os.fork()
    if pid == 0:
        if kill_at is not None:
            countdown = [kill_at]
            os.fsync = dangerous(os.fsync, countdown)
            Path.replace = dangerous(Path.replace, countdown)
            torch.save = dangerous(torch.save, countdown)
        sys.stdout = open(os.devnull, "w")
        try:
            main(["train", "tiny:Tiny", "--run-dir", run, *options])
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            os._exit(1)
        os._exit(0)
    return pid


def end(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


for job in jobs:
    kills = 0
    if job == "everywhere":
        # One kill after another, each a little further into what is left of the run.
        while (code := end(train(job, kills + 1))) == -signal.SIGKILL:
            kills += 1
    else:
        dice, longest = random.Random(int(job)), 0.3
        while kills < 6:
            pid = train(job)
            time.sleep(dice.uniform(0, longest))
            os.kill(pid, signal.SIGKILL)
            if end(pid) == -signal.SIGKILL:
                kills += 1
            elif kills:
                break
            else:
                # It had ended before the first blow: from the start, and sooner.
                shutil.rmtree(job)
                longest /= 2
        code = end(train(job))
    print(job, kills, code)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("processes")
    (folder / "tiny.py").write_text(EXPERIMENT)
    (folder / "killer.py").write_text(KILLER)
    return folder


def start(folder: Path, *arguments: str, **more: str) -> subprocess.Popen[str]:
    root = str(Path(__file__).parents[2])
    environment = {
        **os.environ,
        **more,
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join([root, str(folder)]),
        # What a terminal at work beside this one may have set.
        "COLUMNS": "80",
    }
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "FORCE_COLOR"):
        environment.pop(name, None)
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def finish(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out


SETTINGS = ("--steps", "20", "--checkpoint-every", "1", "--eval-every", "7", "--dropout", "0.2")


def train(run: Path, *options: str) -> None:
    """The same, without the seconds that a new process takes to import everything."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(run.parent))
        main(["train", "tiny:Tiny", "--run-dir", str(run), *options])


@pytest.fixture(scope="module")
def undisturbed(folder: Path) -> Path:
    train(folder / "undisturbed", *SETTINGS)
    return folder / "undisturbed"


JOBS = ("everywhere", "1", "2", "3")


@pytest.fixture(scope="module")
def killed(folder: Path) -> dict[str, list[int]]:
    """How often each run was killed, and the exit code of the last process of it."""
    said = finish(start(folder, "killer.py", ",".join(JOBS), *SETTINGS, "--resume"))
    return {job: [int(kills), int(code)] for job, kills, code in map(str.split, said.splitlines())}


def assert_same_run(run: Path, other: Path) -> None:
    state, expected = checkpoint.load(run), checkpoint.load(other)
    for name, weight in expected["model"].items():
        assert torch.equal(state["model"][name], weight), name
    averages = state["optimizer"]["state"]
    for key, values in expected["optimizer"]["state"].items():
        for name, value in values.items():
            assert torch.equal(averages[key][name], value), name
    assert state["step"] == expected["step"]
    for name in ("metrics.jsonl", "result.json", "sample.txt"):
        assert (run / name).read_bytes() == (other / name).read_bytes(), name


def test_killed_from_the_command_line_and_resumed_it_ends_as_if_nothing_had_happened(
    folder: Path, undisturbed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = folder / "killed"
    arguments = ["-m", "labml_nn", "train", "tiny:Tiny", "--run-dir", "killed", *SETTINGS]
    process = start(folder, *arguments, WAIT_FOR_THE_END_AT=str(run / "checkpoint.previous.pt"))
    while not (run / "checkpoint.previous.pt").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert not (run / "result.json").exists()
    train(run, *SETTINGS, "--resume")
    assert "going on after step" in capsys.readouterr().out
    assert_same_run(run, undisturbed)


@pytest.mark.parametrize("job", JOBS)
def test_killed_again_and_again_it_ends_as_if_nothing_had_happened(
    folder: Path, undisturbed: Path, killed: dict[str, list[int]], job: str
) -> None:
    kills, code = killed[job]
    assert kills > (9 if job == "everywhere" else 0)
    assert code == 0
    assert_same_run(folder / job, undisturbed)
    assert not list((folder / job).glob("*.partial"))


def test_two_processes_have_the_losses_of_one_with_the_joint_batch(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = ("--dropout", "0", "--steps", "20", "--checkpoint-every", "10")
    train(folder / "one", *settings)
    launch = ["-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-addr", "127.0.0.1"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command = ["-m", "labml_nn", "train", "tiny:Tiny", "--run-dir", "two", *settings]
    said = finish(start(folder, *launch, "--master-port", port, *command))
    assert said.count("validation ") == 2, "only one of them speaks"

    one, two = (metrics.read(folder / name / "metrics.jsonl") for name in ("one", "two"))
    assert len(one) == len(two) == 20
    for line, other in zip(one, two, strict=True):
        assert other["loss"] == pytest.approx(line["loss"], abs=1e-5)
        assert other["grad_norm"] == pytest.approx(line["grad_norm"], abs=1e-4)
        assert other["characters"] == line["characters"]
    assert two[19]["valid_loss"] == pytest.approx(one[19]["valid_loss"], abs=1e-5)
    # One goes on with what two have begun.
    (folder / "two/checkpoint.pt").unlink()
    train(folder / "two", *settings, "--resume")
    assert "going on after step 10" in capsys.readouterr().out
    again = metrics.read(folder / "two/metrics.jsonl")
    assert [line["loss"] for line in again] == pytest.approx([line["loss"] for line in one], abs=1e-5)


def test_it_trains_on_the_text_that_every_machine_has(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(folder))
    main(["train", "tiny:Real", "--run-dir", str(folder / "real"), "--steps", "3"])
    assert "text pydoc_topics" in capsys.readouterr().out
    result = json.loads((folder / "real/result.json").read_text())
    assert result["valid_characters"] > 10_000
    assert result["trigram_loss"] < result["valid_loss"]


def test_the_list_of_experiments_needs_no_torch(folder: Path) -> None:
    code = "import sys; from labml_nn.__main__ import main; main([]); print('torch' in sys.modules)"
    assert finish(start(folder, "-c", code)).endswith("\nFalse\n")
