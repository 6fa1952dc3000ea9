r"""
---
title: The command line
summary: List the experiments, train one, let it write, draw its loss.
---
# The command line

    python -m labml_nn                              lists the experiments
    python -m labml_nn train basic --steps 300      trains one
    python -m labml_nn train basic --resume         goes on with it
    python -m labml_nn sample runs/basic --prompt "The list "
    python -m labml_nn plot runs/basic

What goes wrong is told in a sentence, and the exit code is 1; for a wrong option it is 2.
Whoever wants to see where in the code it happened puts `-v` before the command.

>>> main(["sample", "runs/nowhere"])
Traceback (most recent call last):
SystemExit: 1

Only what a command needs is imported. The list needs no PyTorch, and is there at once.
"""

import contextlib
import difflib
import io
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NoReturn, TypeVar

import tyro
from rich.console import Console

from labml_nn.experiments import EXPERIMENTS, ExperimentError, find, load
from labml_nn.experiments.configuration import Configuration

C = TypeVar("C", bound=Configuration)
RUNS = Path("runs")
OPTIONS = (tyro.conf.OmitArgPrefixes, tyro.conf.FlagCreatePairsOff)
COMMANDS = ("train", "sample", "plot")


@dataclass(frozen=True)
class Where:
    r"""
    ## Which run

    What belongs to no experiment, but to how it is started.
    """

    # Continue the run in the folder from its newest checkpoint.
    resume: bool = False

    # Continue from the checkpoint before the newest.
    from_previous: bool = False

    # The folder of the run; runs/NAME if not given.
    run_dir: Path | None = None


@dataclass(frozen=True)
class Train(Generic[C]):
    r"""
    ## Train

    The settings of an experiment, and which run.
    """

    # The experiment's settings.
    settings: C

    # Which run.
    run: Where = Where()


@dataclass(frozen=True)
class Sample:
    r"""
    ## Sample

    What is not given is as it was at the end of the training.
    """

    # The folder of the run.
    run: tyro.conf.Positional[Path]

    # What the text begins with.
    prompt: str | None = None

    # Characters to write.
    length: int | None = None

    # Above 1 more daring, below 1 more careful; 0 takes the likeliest each time.
    temperature: float | None = None

    # Another seed, another text.
    seed: int | None = None

    # Take the checkpoint before the newest.
    from_previous: bool = False

    # Where to compute.
    device: str = "auto"


@dataclass(frozen=True)
class Plot:
    r"""
    ## Plot
    """

    # The folder of the run.
    run: tyro.conf.Positional[Path]


def list_experiments(console: Console) -> None:
    r"""
    ## The list

    >>> import io
    >>> console = Console(file=io.StringIO(), record=True, width=80)
    >>> list_experiments(console)
    >>> print(*console.export_text().splitlines()[:2], sep="\n")
    basic         The Transformer of Vaswani et al. 2017, its decoder alone
                  transformers/basic/autoregressive_experiment.html
    """
    for entry in EXPERIMENTS:
        console.print(
            f"[bold]{entry.name:<14}[/bold]{entry.about}\n{'':14}[dim]{entry.page}[/dim]",
            highlight=False,
            soft_wrap=True,
        )
    console.print(
        "\nTrain one:  python -m labml_nn train NAME --steps 200\n"
        "Settings:   python -m labml_nn train NAME --help\n"
        "Then:       python -m labml_nn sample RUN, python -m labml_nn plot RUN",
        highlight=False,
    )


def folder_of(name: str) -> Path:
    r"""
    ## Where a run goes

    >>> folder_of("mine:Bigram").as_posix()
    'runs/mine.Bigram'
    """
    return RUNS / name.replace(":", ".")


def find_run(path: Path) -> Path:
    r"""
    ## Which run is meant

    `basic` will do for `runs/basic`.
    """
    for candidate in (path, RUNS / path):
        if candidate.is_dir():
            return candidate
    there = [str(run) for run in sorted(RUNS.glob("*")) if run.is_dir()]
    near = nearest(str(path), there) or nearest(str(RUNS / path), there)
    advice = f"did you mean {near}?" if near else f"there are {', '.join(there) or 'none yet'}"
    raise ExperimentError(f"there is no run {path}: {advice}")


def train_command(arguments: Sequence[str], console: Console) -> None:
    r"""
    ## `train NAME`

    A run that is continued keeps its settings: they need not be typed again, and if they are,
    they must agree. So they are read first, and take the place of the defaults.
    """
    if arguments and arguments[0] in ("-h", "--help"):
        list_experiments(console)
        return
    if not arguments or arguments[0].startswith("-"):
        names = ", ".join(entry.name for entry in EXPERIMENTS)
        wrong_usage(f"train needs the name of an experiment: {names}, or module:Class")
    name, *options = arguments
    find(name)
    where, _ = tyro.cli(
        Where, args=options, config=OPTIONS, return_unknown_args=True, add_help=False
    )
    run_dir = where.run_dir if where.run_dir is not None else folder_of(name)
    experiment = load(name)
    resume = where.resume or where.from_previous

    from labml_nn.experiments import training

    default: Any = tyro.MISSING_NONPROP
    if resume and (run_dir / training.CONFIG).exists():
        default = Train(training.settings_of(run_dir, experiment))
    settings = tyro.cli(
        Train[experiment],  # type: ignore[valid-type]
        args=options,
        default=default,
        config=OPTIONS,
        prog=f"python -m labml_nn train {name}",
        description=find(name).about,
    ).settings
    result = training.train(
        settings, run_dir, resume=resume, from_previous=where.from_previous, console=console
    )
    # Of several processes one speaks.
    if os.environ.get("RANK", "0") == "0":
        report(result, run_dir, console)


def report(result: Any, run_dir: Path, console: Console) -> None:
    r"""
    ### At the end

    The loss, and beside it the one to beat.
    """
    from labml_nn.experiments.checkpoint import CURRENT
    from labml_nn.experiments.progress import in_both_units
    from labml_nn.experiments.training import SAMPLE

    def say(text: str) -> None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)

    beaten = result.valid_loss < result.trigram_loss
    say("")
    say(f"validation  {in_both_units(result.valid_loss)} a character")
    say(f"trigram     {in_both_units(result.trigram_loss)} a character")
    say("The model beats the trigram." if beaten else "The trigram is better so far.")
    say(f"\n{(run_dir / SAMPLE).read_text(encoding='utf-8')}\n")
    say(f"checkpoint  {run_dir / CURRENT}")


def sample_command(arguments: Sequence[str], console: Console) -> None:
    r"""
    ## `sample RUN`
    """
    c = tyro.cli(
        Sample,
        args=arguments,
        prog="python -m labml_nn sample",
        config=OPTIONS,
        description="Let a trained model write.",
    )
    run_dir = find_run(c.run)

    from labml_nn.experiments import training
    from labml_nn.experiments.sampling import sample

    trained = training.restore(run_dir, previous=c.from_previous, device=c.device)
    settings, vocabulary = trained.configuration, trained.vocabulary
    prompt = settings.prompt if c.prompt is None else c.prompt
    if not prompt:
        raise ExperimentError("prompt is empty, and the model needs a character to begin with")
    if unknown := vocabulary.unknown(prompt):
        print(f"note: the training text has no {unknown!r}", file=sys.stderr)
    ids = sample(
        trained.model,
        vocabulary.encode(prompt),
        settings.sample_len if c.length is None else c.length,
        seed=settings.seed if c.seed is None else c.seed,
        temperature=settings.temperature if c.temperature is None else c.temperature,
        max_len=settings.seq_len,
    )
    # Plain, so that it can be sent into a file.
    console.file.write(prompt + vocabulary.decode(ids) + "\n")


def plot_command(arguments: Sequence[str], console: Console) -> None:
    r"""
    ## `plot RUN`
    """
    c = tyro.cli(
        Plot,
        args=arguments,
        prog="python -m labml_nn plot",
        config=OPTIONS,
        description="Draw the loss of a run.",
    )

    from labml_nn.experiments.plot import plot

    console.file.write(f"{plot(find_run(c.run))}\n")


def nearest(word: str, words: Sequence[str]) -> str | None:
    r"""
    ## Did you mean

    >>> nearest("trian", COMMANDS)
    'train'
    """
    return next(iter(difflib.get_close_matches(word, words, n=1, cutoff=0.5)), None)


def wrong_usage(sentence: str) -> NoReturn:
    r"""
    ## Wrong usage
    """
    print(f"error: {sentence}", file=sys.stderr)
    raise SystemExit(2)


def in_a_sentence(error: Exception) -> str:
    r"""
    ## What went wrong

    Ours are sentences already. Of all others the first line is shown, and how to see the rest.

    >>> in_a_sentence(ValueError("steps = 0 must be at least 1"))
    'steps = 0 must be at least 1'
    >>> in_a_sentence(IndexError("Target 65 is out of bounds."))
    'IndexError: Target 65 is out of bounds. (with -v before the command you see where)'
    >>> in_a_sentence(FileNotFoundError(2, "No such file or directory", "a/b"))
    'a/b: No such file or directory'
    """
    lines = str(error).splitlines()
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, (ExperimentError, ValueError, OSError)) and lines:
        return " ".join(line.strip() for line in lines)
    name = type(error).__name__
    first = f"{name}: {lines[0]}" if lines else name
    return f"{first} (with -v before the command you see where)"


def silence(stream: Any) -> None:
    r"""
    ## Nobody listens any more

    As after `| head`, or on a full disk. What is still to be written to `stream` would be an
    error once more, when Python ends.
    """
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def main(arguments: Sequence[str] | None = None) -> None:
    r"""
    ## The way in
    """
    rest = list(sys.argv[1:] if arguments is None else arguments)
    verbose = rest[:1] == ["-v"]
    rest = rest[verbose:]
    # A terminal that lacks a character gets a question mark for it.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    console = Console()
    commands = {
        "list": lambda _, console: list_experiments(console),
        "train": train_command,
        "sample": sample_command,
        "plot": plot_command,
    }
    if not rest or rest[0] in ("-h", "--help"):
        rest = ["list"]
    if rest[0] not in commands:
        near = nearest(rest[0], COMMANDS)
        wrong_usage(
            f"there is no command {rest[0]!r}: "
            + (f"did you mean {near}?" if near else f"there are {', '.join(COMMANDS)}")
        )
    try:
        commands[rest[0]](rest[1:], console)
        console.file.flush()
    except KeyboardInterrupt:
        advice = ": add --resume to go on" if rest[0] == "train" else ""
        print(f"stopped{advice}", file=sys.stderr)
        raise SystemExit(130) from None
    except BrokenPipeError:
        silence(sys.stdout)
        raise SystemExit(1) from None
    except Exception as error:
        if verbose:
            raise
        print(f"error: {in_a_sentence(error)}", file=sys.stderr)
        try:
            console.file.flush()
        except OSError:
            silence(sys.stdout)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
