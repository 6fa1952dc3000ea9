r"""
---
title: Plot
summary: The loss curve as a drawing that reads on a light page and on a dark one.
---
# Plot

    python -m labml_nn plot runs/basic

The training loss of single steps is a cloud: each batch is easier or harder than the last. It
is drawn faintly, smoothed. The validation loss always asks about the same characters, so it
needs no smoothing, and it is the line to look at. The [trigram model](../data/trigram.html) is
a level to get below.

Each curve has its name at its end. A legend in a box would send the eye back and forth.

The drawing is an SVG file with text as text, to be searched and copied. It has no ground of its
own: so it takes that of the page, and its colours are of a middle lightness which stands out on
white and on black alike. The same metrics give the same bytes.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labml_nn.experiments import ExperimentError, metrics
from labml_nn.experiments.checkpoint import sync_folder

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Text and axes, validation, training. Between paper and near-black no colour has more than 4.2
# times the contrast to both; each of these comes close to it.
GREY, STRONG, FAINT = "#7d7871", "#bd5f26", "#6a7c96"
# No font is put into the file. The reader's own is used, the first of these that is there.
FONTS = "Charter, 'Bitstream Charter', Cambria, Georgia, serif"


def smooth(values: list[float], share: float = 0.9) -> list[float]:
    r"""
    ## A running average

    Each value is averaged with those before it, whose weights fall by `share` from one to the
    next. Begun at 0, such an average would be too small at first; begun at the first value, it
    would cling to that one. So the weights are added up as well, and divided by:

    >>> [round(value, 2) for value in smooth([4.0, 2.0, 2.0, 2.0], share=0.5)]
    [4.0, 2.67, 2.29, 2.13]
    """
    total, weight, averages = 0.0, 0.0, []
    for value in values:
        total, weight = share * total + value, share * weight + 1
        averages.append(total / weight)
    return averages


def plot(run_dir: Path, target: Path | None = None) -> Path:
    r"""
    ## Draw it

    >>> import json, tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     lines = [{"step": n, "loss": 4 / n, "valid_loss": 4.2 / n} for n in range(1, 5)]
    ...     text = "".join(json.dumps(line) + "\n" for line in lines)
    ...     _ = (Path(name) / "metrics.jsonl").write_text(text)
    ...     svg = plot(Path(name)).read_text()
    >>> "validation 1.05" in svg
    True
    """
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        raise ExperimentError(
            "matplotlib is not installed: pip install 'annotated-nn[plots]'"
        ) from None
    lines = metrics.read(run_dir / "metrics.jsonl")
    if not lines:
        raise ExperimentError(f"{run_dir / 'metrics.jsonl'} has no line yet")
    for number, line in enumerate(lines, 1):
        drawn = line.get("step"), line.get("loss"), line.get("valid_loss", 0.0)
        if not all(isinstance(value, int | float) for value in drawn):
            raise ExperimentError(
                f"{run_dir / 'metrics.jsonl'} is damaged: line {number} has no step and loss"
            )
    target = run_dir / "loss.svg" if target is None else target
    settings: dict[Any, Any] = {
        "svg.fonttype": "none",
        # Names inside the file are made from this, and not from chance.
        "svg.hashsalt": "loss",
        "font.size": 11,
        "text.color": GREY,
        "xtick.color": GREY,
        "ytick.color": GREY,
        "axes.labelcolor": GREY,
        "axes.edgecolor": GREY,
    }
    # Whatever the reader's own settings are, they stay out of it.
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(settings)
        # 72 points an inch: 480 by 320, about as wide as the notes of a page. A larger drawing would
        # be made smaller there, and its letters with it.
        figure = Figure(figsize=(480 / 72, 320 / 72), dpi=72)
        _draw(figure.add_axes((0.075, 0.135, 0.69, 0.79)), lines, _trigram_loss(run_dir))
        partial = target.with_name(f"{target.name}.partial")
        figure.savefig(
            partial, format="svg", transparent=True, metadata={"Date": None, "Creator": None}
        )
    # Matplotlib names the fonts of this machine, and counts in points. A page counts in pixels.
    text = partial.read_text(encoding="utf-8")
    text = re.sub(r'font-family: [^;"]*', f"font-family: {FONTS}", text)
    text = text.replace('width="480pt" height="320pt"', 'width="480" height="320"')
    partial.write_text(text, encoding="utf-8", newline="\n")
    partial.replace(target)
    sync_folder(target.parent)
    return target


def _draw(axes: "Axes", lines: list[dict[str, Any]], trigram_loss: float | None) -> None:
    r"""
    ## Three curves and two axes
    """
    steps = [line["step"] for line in lines]
    training = smooth([line["loss"] for line in lines])
    seen = [(line["step"], line["valid_loss"]) for line in lines if "valid_loss" in line]
    axes.plot(steps, training, color=FAINT, linewidth=0.9)
    ends = [(training[-1], f"training {training[-1]:.2f}", FAINT)]
    if seen:
        axes.plot(*zip(*seen, strict=True), color=STRONG, linewidth=1.8)
        ends.append((seen[-1][1], f"validation {seen[-1][1]:.2f}", STRONG))
    if trigram_loss is not None:
        axes.axhline(trigram_loss, color=GREY, linewidth=0.8, dashes=(5, 4))
        ends.append((trigram_loss, f"trigram {trigram_loss:.2f}", GREY))
    # The first steps are far above all others, and would press the rest flat. What matters is
    # from a little above where an untrained model's first tenth of the way has brought it.
    top = max([*training[len(training) // 10 :], *(end[0] for end in ends)])
    bottom = min([*training, *(value for _, value in seen), *(end[0] for end in ends)])
    room = max(top - bottom, 0.01)
    axes.set_ylim(bottom - 0.06 * room, top + 0.06 * room)
    axes.set_xlim(0, steps[-1])
    # Labels beside the ends, moved apart where they would overlap.
    least, place = 0.07 * 1.12 * room, -float("inf")
    for value, label, colour in sorted(ends):
        place = max(value, place + least)
        axes.text(
            1.015,
            place,
            label,
            color=colour,
            va="center",
            transform=axes.get_yaxis_transform(),
            clip_on=False,
        )
    axes.set_xlabel("step")
    axes.set_title("nats per character", loc="left", fontsize=11, color=GREY)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_linewidth(0.6)
    axes.tick_params(width=0.6, length=3)


def _trigram_loss(run_dir: Path) -> float | None:
    r"""
    ## The level to get below

    A run that is still going on has no result yet, and is drawn without.
    """
    from labml_nn.experiments.training import RESULT, read_json

    path = run_dir / RESULT
    if not path.exists():
        return None
    loss = read_json(path).get("trigram_loss")
    if not isinstance(loss, float):
        raise ExperimentError(f"{path} is damaged: it has no trigram_loss")
    return loss
