r"""
---
title: Training
summary: The loop around every model here, short enough to be read, and safe to be killed.
symbols:
  t: step
---
# Training

A model guesses, the loss says how badly, the gradient says in which direction that would be
less, and the optimiser goes a step there. The whole of it fits on one screen, in
[`Run.step`](labml_nn.experiments.training.Run.step). The rest of this page is about beginning
and ending well.

**One principle** makes the rest easy. A step $t$ depends on the weights, on the optimiser's
averages, and on the number $t$. On nothing else: [the learning rate](schedule.html), the
[dice](randomness.html) and the batch are functions of $t$. So a run can be killed at any moment
and continued from its [checkpoint](checkpoint.html), and the steps that follow are those that
would have followed. On the same machine, with as many threads and processes, they are so to the
last bit, on a CPU. (Some operations on a GPU add up in whatever order the threads arrive.)

>>> import tempfile
>>> from pathlib import Path
>>> import torch
>>> from torch import nn
>>> from labml_nn.data.characters import CharacterDataset
>>> from labml_nn.experiments.configuration import Configuration
>>> class Small(Configuration):
...     def dataset(self):
...         return CharacterDataset.of("rose", "a rose is a rose is a rose. " * 20)
...     def model(self, n_tokens):
...         embedding, output = nn.Embedding(n_tokens, 5), nn.Linear(5, n_tokens)
...         return nn.Sequential(embedding, nn.Dropout(), output)
>>> settings = Small(steps=6, warmup_steps=2, seq_len=7, batch_size=3, checkpoint_every=2,
...                  prompt="a ", sample_len=4)

One run in one go. Another loses its newest checkpoint, the one of step 6, and with it all that
came after step 4; then it goes on:

>>> folder = tempfile.TemporaryDirectory()
>>> whole, broken = Path(folder.name) / "whole", Path(folder.name) / "broken"
>>> result = train(settings, whole)
>>> _ = train(settings, broken)
>>> (broken / "checkpoint.pt").unlink()
>>> _ = train(settings, broken, resume=True)

They end alike, in every weight and every line of the metrics:

>>> weights, others = checkpoint.load(whole)["model"], checkpoint.load(broken)["model"]
>>> all(torch.equal(weights[name], others[name]) for name in weights)
True
>>> metrics = (whole / "metrics.jsonl").read_bytes()
>>> metrics == (broken / "metrics.jsonl").read_bytes()
True

And nobody can do away with a run by mistake:

>>> try:
...     train(settings, whole)
... except ExperimentError as error:
...     print(str(error).replace(str(whole), "WHOLE"))
WHOLE holds a run already: add --resume to continue it, or choose another folder with --run-dir
>>> folder.cleanup()
"""

import contextlib
import json
import math
import os
import platform
import signal
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import torch
from rich.console import Console
from torch import Tensor, nn

from labml_nn.data.characters import CharacterDataset, Vocabulary
from labml_nn.data.trigram import TrigramModel
from labml_nn.experiments import ExperimentError, checkpoint, load, name_of
from labml_nn.experiments.configuration import Configuration
from labml_nn.experiments.evaluation import autocast, cross_entropy, validation_loss
from labml_nn.experiments.metrics import MetricsFile, TensorBoard, summary_writer
from labml_nn.experiments.optimizer import clip_gradient, make_optimizer
from labml_nn.experiments.processes import Processes, choose_device, processes
from labml_nn.experiments.progress import Reporter
from labml_nn.experiments.randomness import seed_everything
from labml_nn.experiments.sampling import sample
from labml_nn.experiments.schedule import learning_rate

# ## Where a run is kept
#
# A run is a folder, and these are its files.
CONFIG, METRICS, RESULT, SAMPLE = "config.json", "metrics.jsonl", "result.json", "sample.txt"
# What may differ from the run that is continued: it says where to compute and what to write,
# not what to compute. Another device, another number of threads, or compiling may still change
# the last bits.
FREE = ("device", "threads", "compile", "checkpoint_every", "tensorboard")


@dataclass(frozen=True)
class Result:
    r"""
    ## What came of it

    Losses are in nats per character of the validation text.
    """

    steps: int
    valid_loss: float
    trigram_loss: float
    # Numbers that were learned.
    parameters: int
    # Characters of training text that were read, most of them more than once.
    characters: int
    # Characters of validation text that were scored.
    valid_characters: int


def train(
    configuration: Configuration,
    run_dir: Path,
    *,
    resume: bool = False,
    from_previous: bool = False,
    console: Console | None = None,
) -> Result:
    r"""
    ## From beginning to end

    With `resume` a run goes on from its newest checkpoint, or from the one before it with
    `from_previous`. Killed before the first checkpoint, it begins again at step 0.
    """
    if configuration.threads is not None:
        torch.set_num_threads(configuration.threads)
    with contextlib.ExitStack() as stack:
        group = stack.enter_context(processes(configuration.device))
        group.check(configuration.batch_size)
        dataset = configuration.dataset()
        # A model that cannot be made leaves no folder behind.
        run = Run(configuration, dataset, group)
        state: dict[str, Any] | None = None
        if group.is_first:
            check_folder(run_dir)
            stack.enter_context(checkpoint.alone_in(run_dir))
            state = prepare(configuration, dataset, run_dir, resume, from_previous)
        run.go_on_from(group.from_first(state))
        if group.is_first and from_previous:
            checkpoint.forget_newest(run_dir)
        speaker = console if group.is_first else None
        with Reporter(speaker, configuration.steps, run.start) as reporter:
            reporter.say(run.about())
            run.go(run_dir, reporter)
        return run.finish(run_dir)


def prepare(
    configuration: Configuration,
    dataset: CharacterDataset,
    run_dir: Path,
    resume: bool,
    from_previous: bool,
) -> dict[str, Any] | None:
    r"""
    ## The folder, new or found

    The result is the checkpoint to go on from, if there is one.
    """
    checkpoints = [run_dir / checkpoint.CURRENT, run_dir / checkpoint.PREVIOUS]
    # Where not a line of metrics was written, nothing is lost.
    kept = [*checkpoints, run_dir / METRICS, run_dir / RESULT]
    holds_run = any(path.exists() and path.stat().st_size > 0 for path in kept)
    if holds_run and not resume:
        raise ExperimentError(
            f"{run_dir} holds a run already: add --resume to continue it, "
            "or choose another folder with --run-dir"
        )
    if configuration.tensorboard:
        summary_writer()
    config = {
        "experiment": name_of(type(configuration)),
        "settings": configuration.to_json(),
        "text_sha256": dataset.sha256,
        "python": platform.python_version(),
        "torch": torch.__version__,
    }
    is_there = any(path.exists() for path in checkpoints)
    # Looked at before anything is written.
    state = (
        checkpoint.load(run_dir, previous=from_previous) if is_there or from_previous else None
    )
    if resume and (run_dir / CONFIG).exists():
        check_same(run_dir, read_config(run_dir), config)
    elif holds_run:
        raise ExperimentError(
            f"{run_dir} cannot be continued: its {CONFIG} is gone, and with it the settings "
            "that it was begun with"
        )
    else:
        checkpoint.write_text(run_dir / CONFIG, json.dumps(config, indent=2) + "\n")
    return state


def check_folder(run_dir: Path) -> None:
    r"""
    ## A folder, or nothing yet
    """
    for path in (run_dir, *run_dir.parents):
        if path.exists() and not path.is_dir():
            raise ExperimentError(f"{path} is a file: choose a folder with --run-dir")


def check_same(run_dir: Path, old: dict[str, Any], new: dict[str, Any]) -> None:
    r"""
    ## The same run

    What goes on must be what was begun. With other settings, or another edition of the text,
    the end would be that of neither run.
    """
    pairs = {
        "experiment": (old["experiment"], new["experiment"]),
        "the text's SHA-256": (old["text_sha256"], new["text_sha256"]),
    }
    # A file has lists where the settings have tuples.
    settings = json.loads(json.dumps(new["settings"]))
    for name in sorted(old["settings"].keys() | settings.keys()):
        if name not in FREE:
            pairs[name] = (old["settings"].get(name), settings.get(name))
    for name, (before, now) in pairs.items():
        if before != now:
            raise ExperimentError(
                f"{run_dir} cannot be continued: there {name} is {before!r}, and here {now!r}"
            )


def read_json(path: Path) -> dict[str, Any]:
    r"""
    ## A file of the run
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ExperimentError(f"there is no file {path}: is {path.parent} a run?") from None
    except ValueError as error:
        raise ExperimentError(f"{path} is no JSON file: {error}") from None
    if not isinstance(found, dict):
        raise ExperimentError(f"{path} is damaged: it holds no JSON object")
    return found


def read_config(run_dir: Path) -> dict[str, Any]:
    r"""
    ### The one that says what the run is
    """
    config = read_json(run_dir / CONFIG)
    for name, kind in (("experiment", str), ("settings", dict), ("text_sha256", str)):
        if not isinstance(config.get(name), kind):
            raise ExperimentError(f"{run_dir / CONFIG} is damaged: it has no {name}")
    return config


def settings_of(run_dir: Path, kind: type[Configuration]) -> Configuration:
    r"""
    ### The settings that a run was begun with

    They are settings of the experiment that it is a run of, and of no other.
    """
    config = read_config(run_dir)
    if config["experiment"] != name_of(kind):
        raise ExperimentError(
            f"{run_dir} cannot be continued: there experiment is {config['experiment']!r}, "
            f"and here {name_of(kind)!r}"
        )
    return kind.from_json(config["settings"])


def fill(model: nn.Module, weights: dict[str, Tensor]) -> None:
    r"""
    ## Weights into the model

    They do not fit if the model has been changed since they were learned.

    >>> try:
    ...     fill(nn.Linear(3, 5), nn.Linear(3, 4).state_dict())
    ... except ExperimentError as error:
    ...     print(*str(error).split(": ")[:2], sep="\n")
    the checkpoint's weights do not fit the model, which must have changed since
    size mismatch for weight
    """
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        first = str(error).splitlines()[1].strip()
        raise ExperimentError(
            "the checkpoint's weights do not fit the model, which must have changed since: "
            + first
        ) from error


class Run:
    r"""
    ## A run
    """

    def __init__(
        self,
        configuration: Configuration,
        dataset: CharacterDataset,
        group: Processes,
    ):
        r"""
        ### Everything in place

        The first weights come from the dice of a step of their own, and are the same in each
        process.
        """
        c = configuration
        self.configuration, self.dataset, self.group = c, dataset, group
        seed_everything(c.seed, step=-1)
        self.model = c.model(len(dataset.vocabulary)).to(group.device)
        self.optimizer = make_optimizer(
            self.model, learning_rate=c.learning_rate, weight_decay=c.weight_decay
        )
        # The same model, wrapped: in one that exchanges gradients, then in one that is
        # compiled. Weights are saved and scored without the wrapping, so their names stay what
        # they are.
        self.wrapped: nn.Module = group.parallel(self.model)
        if c.compile:
            self.wrapped = cast(nn.Module, torch.compile(self.wrapped))
        self.start, self.metrics_size, self.characters = 0, 0, 0
        self.valid_loss = math.nan

    def go_on_from(self, state: dict[str, Any] | None) -> None:
        r"""
        ### From a checkpoint, if there is one
        """
        if state is None:
            return
        c = self.configuration
        fill(self.model, state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.start, self.metrics_size = state["step"], state["metrics_size"]
        # How much was read can be told from the number of the step, like all else.
        self.characters = c.batch_size * sum(c.seq_len_at(step) for step in range(self.start))

    def about(self) -> str:
        r"""
        ### The first line
        """
        numbers = sum(p.numel() for p in self.model.parameters())
        where = f" × {self.group.size}" if self.group.size > 1 else ""
        again = f", going on after step {self.start}" if self.start else ""
        return (
            f"{numbers:,} parameters on {self.group.device}{where}, "
            f"text {self.dataset.name}: {len(self.dataset.train):,} characters{again}"
        )

    def step(self, step: int) -> dict[str, Any]:
        r"""
        ### One step

        All that training is. Steps count from 0 here, and from 1 in the files: *after* so many
        steps.
        """
        c, group = self.configuration, self.group
        seed_everything(c.seed, step, group.rank)
        self.model.train()
        # `lr` is the size of this step.
        lr = learning_rate(
            step, steps=c.steps, peak=c.learning_rate, warmup_steps=c.warmup_steps
        )
        for parameters in self.optimizer.param_groups:
            parameters["lr"] = lr
        # The joint batch, and of it the slice that is ours.
        joint = self.dataset.batch(step, c.seq_len_at(step), c.batch_size, c.seed)
        # * `x: [seq_len, slice_size]`
        # * `y: [seq_len, slice_size]`
        x, y = (group.share(batch) for batch in joint)
        # Guess, and see how badly.
        with autocast(group.device, c.precision):
            # `loss: []`
            loss = cross_entropy(self.wrapped(x), y)
        # In which direction would it be less? With several processes this is also where they
        # average.
        loss.backward()
        norm = clip_gradient(self.model, c.clip_norm)
        values = {
            "step": step + 1,
            "loss": group.mean(loss).item(),
            "lr": lr,
            "grad_norm": norm.item(),
        }
        # Before the weights are spoilt.
        if not (math.isfinite(values["loss"]) and math.isfinite(values["grad_norm"])):
            raise ExperimentError(
                f"at step {step + 1} the loss is {values['loss']} and its gradient "
                f"{values['grad_norm']} long: try a learning rate below {c.learning_rate}"
            )
        # Go there. Gradients add up if nobody clears them.
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.characters += joint[0].numel()
        return {**values, "characters": self.characters}

    def go(self, run_dir: Path, reporter: Reporter) -> None:
        r"""
        ### All steps

        Now and then a look at the validation text, now and then a checkpoint, and both at the
        end. The first process does that alone; the others wait for it at the next exchange of
        gradients.

        Whoever presses Ctrl-C gets a checkpoint too, and loses not a step.
        """
        c = self.configuration
        if not self.group.is_first:
            for step in range(self.start, c.steps):
                self.step(step)
            return
        with contextlib.ExitStack() as stack:
            metrics = stack.enter_context(MetricsFile(run_dir / METRICS, self.metrics_size))
            board = TensorBoard(run_dir / "tensorboard", self.start) if c.tensorboard else None
            if board is not None:
                stack.callback(board.close)
            # With several processes the others could not be told in time.
            stopped = stack.enter_context(patient(self.group.size == 1))
            for step in range(self.start, c.steps):
                values = self.step(step)
                done, last = step + 1, step + 1 == c.steps
                if done % c.eval_every == 0 or last:
                    values["valid_loss"] = self.evaluate()
                    reporter.evaluation(done, values["loss"], values["valid_loss"])
                metrics.write(values)
                if board is not None:
                    board.write(values)
                reporter.step(done, values["loss"])
                if done % c.checkpoint_every == 0 or last or stopped.is_set():
                    # The metrics first: a checkpoint speaks of what is on the disk.
                    self.save(run_dir, done, metrics.commit())
                    if board is not None:
                        board.flush()
                if stopped.is_set():
                    raise KeyboardInterrupt

    def evaluate(self) -> float:
        r"""
        ### The loss on text that it has not seen
        """
        c = self.configuration
        windows = self.dataset.validation(c.seq_len, c.batch_size)
        self.valid_loss = validation_loss(self.model, windows, self.group.device, c.precision)
        return self.valid_loss

    def save(self, run_dir: Path, step: int, metrics_size: int) -> None:
        r"""
        ### A checkpoint

        There are no states of generators in it, and [Randomness](randomness.html) says why. The
        vocabulary is: a number means nothing without the character that it stands for.
        """
        state = {
            "step": step,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "metrics_size": metrics_size,
            "vocabulary": self.dataset.vocabulary.to_list(),
        }
        checkpoint.save(run_dir, state)

    def finish(self, run_dir: Path) -> Result:
        r"""
        ### The result

        Beside the loss stands that of the [trigram model](../data/trigram.html), which has
        counted the same training text. A network that does not beat it has learned less than a
        table of counts knows.
        """
        c, dataset = self.configuration, self.dataset
        # A run that was finished before has no step left, and has not looked yet.
        if math.isnan(self.valid_loss) and self.group.is_first:
            self.evaluate()
        self.valid_loss = self.group.from_first(self.valid_loss)
        trigram = TrigramModel.fit(dataset.train, len(dataset.vocabulary))
        result = Result(
            steps=c.steps,
            valid_loss=self.valid_loss,
            trigram_loss=trigram.loss(dataset.valid),
            parameters=sum(p.numel() for p in self.model.parameters()),
            characters=self.characters,
            valid_characters=len(dataset.valid) - 1,
        )
        if self.group.is_first:
            checkpoint.write_text(run_dir / RESULT, json.dumps(asdict(result), indent=2) + "\n")
            checkpoint.write_text(run_dir / SAMPLE, self.sample())
        return result

    def sample(self) -> str:
        r"""
        ### What it writes now
        """
        c, vocabulary = self.configuration, self.dataset.vocabulary
        # `ids: [sample_len]`
        ids = sample(
            self.model,
            vocabulary.encode(c.prompt),
            c.sample_len,
            seed=c.seed,
            temperature=c.temperature,
            max_len=c.seq_len,
        )
        return c.prompt + vocabulary.decode(ids)


@contextlib.contextmanager
def patient(is_wanted: bool = True) -> Iterator[threading.Event]:
    r"""
    ## Ctrl-C

    Usually it breaks in wherever the program is, and what a step has done so far is lost. Here
    it sets a sign, and the loop looks at it between two steps. A second Ctrl-C breaks in.

    >>> with patient() as stopped:
    ...     signal.raise_signal(signal.SIGINT)
    ...     stopped.is_set()
    True
    """
    stopped = threading.Event()

    def ask(number: int, frame: Any) -> None:
        if stopped.is_set():
            raise KeyboardInterrupt
        stopped.set()
        # Past all buffers: who knows what was being written.
        with contextlib.suppress(OSError):
            os.write(2, b"\nstopping after this step; once more stops at once\n")

    # Only the main thread may ask for signals, and whoever has wishes of his own keeps them.
    is_main = threading.current_thread() is threading.main_thread()
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not (is_wanted and is_main and usual):
        yield stopped
        return
    signal.signal(signal.SIGINT, ask)
    try:
        yield stopped
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@dataclass(frozen=True)
class Trained:
    r"""
    ## A model that is done

    With the numbers of its characters, and the settings that it was made from.
    """

    configuration: Configuration
    model: nn.Module
    vocabulary: Vocabulary
    step: int


def restore(run_dir: Path, *, previous: bool = False, device: str = "cpu") -> Trained:
    r"""
    ## Back from the disk

    The folder says which experiment it was, the experiment makes the model, and the checkpoint
    fills it. The text is not needed.
    """
    config = read_config(run_dir)
    configuration = load(config["experiment"]).from_json(config["settings"])
    state = checkpoint.load(run_dir, previous=previous)
    vocabulary = Vocabulary.from_list(state["vocabulary"])
    model = configuration.model(len(vocabulary))
    fill(model, state["model"])
    return Trained(
        configuration, model.to(choose_device(device)).eval(), vocabulary, state["step"]
    )
