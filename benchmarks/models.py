"""
The models against their plain definitions and torch's own layer: time, memory, and by how much the results differ.

    python benchmarks/models.py [attention aft relative fast_weights feedback] [--quick] [--no-decoding] [--no-memory]

Every number is a ratio, ours / theirs, of two things that were measured in the same process, one thread, in turns,
the best of several rounds each; below 1 is faster or smaller, and beside it stands the goal. Time is that of the
processor: what it spends on somebody else in the meantime does not count. *Plain* is the formula as one would first
write it down, from `benchmarks/plain`, with the same weights. *torch* is `torch.nn.MultiheadAttention` of the same
width, causal: not the same function, but a yardstick that everybody knows. Memory is what a fresh process needs on
top for one pass forward and back (Linux only).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

# Large blocks that go back to the system are fetched again page by page, and that takes longer than what is
# measured. The allocator reads this when the process starts, so the process starts again.
KEEP = {
    "MALLOC_MMAP_THRESHOLD_": "4294967296",
    "MALLOC_TRIM_THRESHOLD_": "4294967296",
    "OMP_NUM_THREADS": "1",
}

BATCH_SIZES = {128: 8, 512: 4, 2048: 1}
# A narrow model and a wide one, in which the linear maps, the same on both sides, are more of the work. The goals speak
# of the narrow one.
WIDTHS = (128, 256)
D_MODEL, HEADS, WINDOW = 256, 8, 32
MEMORY_LENGTH, DECODED = 4096, 128
# To begin anew at all of the 128 positions would take minutes. Every eighth is enough, and counts eight times.
ANEW_EVERY = 8
# Seconds that one row may take. What takes longer is measured well enough by two rounds.
ROW, QUICK_ROW = 6, 2


@dataclass(frozen=True)
class Pair:
    """Two functions of one sequence `[seq_len, batch_size, d_model]`, the same function if all is well."""

    ours: Callable[[Tensor], Tensor]
    plain: Callable[[Tensor], Tensor]
    our_parameters: list[Tensor]
    plain_parameters: list[Tensor]
    # One step with a state, where there is such a thing.
    step: Callable[..., tuple[Tensor, object]] | None = None


@dataclass(frozen=True)
class Case:
    """What is compared, and how good it has to be: time at each length, decoding, memory."""

    name: str
    make: Callable[[int, int], Pair]
    goals: tuple[float, ...]
    decoding: float | None = None
    memory: float | None = None
    lengths: tuple[int, ...] = (128, 512, 2048)
    # The longest sequence that is measured in the wide model too.
    wide_up_to: int = 2048
    # To begin anew takes long where a position waits for the one before it.
    decoded_up_to: int = 2048


def attention(seq_len: int, d_model: int) -> Pair:
    from plain.attention import MultiHeadAttention as Plain

    from labml_nn.transformers.mha import MultiHeadAttention

    ours = MultiHeadAttention(HEADS, d_model, dropout_prob=0.0)
    plain = Plain(HEADS, d_model)
    plain.load_state_dict(ours.state_dict())
    mask = torch.ones(seq_len, seq_len, dtype=torch.bool).tril().unsqueeze(-1)
    return Pair(
        lambda x: ours(query=x, key=x, value=x, is_causal=True),
        lambda x: plain(query=x, key=x, value=x, mask=mask[: len(x), : len(x)]),
        list(ours.parameters()),
        list(plain.parameters()),
        ours.step,
    )


def attention_with_a_mask(seq_len: int, d_model: int) -> Pair:
    from labml_nn.transformers.mha import MultiHeadAttention

    pair = attention(seq_len, d_model)
    ours = MultiHeadAttention(HEADS, d_model, dropout_prob=0.0)
    for mine, theirs in zip(ours.parameters(), pair.our_parameters, strict=True):
        mine.data = theirs.data
    mask = torch.ones(seq_len, seq_len, dtype=torch.bool).tril().unsqueeze(-1)
    return Pair(
        lambda x: ours(query=x, key=x, value=x, mask=mask),
        pair.plain,
        list(ours.parameters()),
        pair.plain_parameters,
    )


def aft_local(seq_len: int, d_model: int) -> Pair:
    from plain.aft import local_from

    from labml_nn.transformers.aft import AFTLocal

    ours = AFTLocal(d_model, seq_len, WINDOW)
    torch.nn.init.normal_(ours.pos_bias, std=0.1)
    plain = local_from(ours)
    mask = torch.ones(seq_len, seq_len, dtype=torch.bool).tril().unsqueeze(-1)
    return Pair(
        lambda x: ours(query=x, key=x, value=x, is_causal=True),
        lambda x: plain(query=x, key=x, value=x, mask=mask[: len(x), : len(x)]),
        list(ours.parameters()),
        list(plain.parameters()),
        ours.step,
    )


def relative(seq_len: int, d_model: int) -> Pair:
    from plain.relative import RelativeMultiHeadAttention as Plain

    from labml_nn.transformers.relative_mha import RelativeMultiHeadAttention

    ours = RelativeMultiHeadAttention(HEADS, d_model, dropout_prob=0.0, max_len=seq_len)
    plain = Plain(HEADS, d_model, dropout_prob=0.0, max_len=seq_len)
    plain.load_state_dict(ours.state_dict())
    mask = torch.ones(seq_len, seq_len, dtype=torch.bool).tril().unsqueeze(-1)
    return Pair(
        lambda x: ours(query=x, key=x, value=x, is_causal=True),
        lambda x: plain(query=x, key=x, value=x, mask=mask),
        list(ours.parameters()),
        list(plain.parameters()),
    )


def fast_weights(seq_len: int, d_model: int) -> Pair:
    from plain.fast_weights import FastWeightsAttention as Plain

    from labml_nn.transformers.fast_weights import DPFP, FastWeightsAttention

    ours = FastWeightsAttention(HEADS, d_model, 0.0, DPFP())
    plain = Plain(HEADS, d_model)
    plain.load_state_dict(ours.state_dict())
    return Pair(ours, plain, list(ours.parameters()), list(plain.parameters()), ours.step)


def feedback(seq_len: int, d_model: int) -> Pair:
    from plain.feedback import kv_from

    from labml_nn.transformers.feed_forward import FeedForward
    from labml_nn.transformers.feedback import (
        FeedbackAttention,
        FeedbackTransformerKV,
        FeedbackTransformerLayer,
    )

    layer = FeedbackTransformerLayer(
        d_model=d_model,
        attn=FeedbackAttention(HEADS, d_model, 0.0, is_kv_precomputed=True),
        feed_forward=FeedForward(d_model, 4 * d_model, 0.0),
        dropout_prob=0.0,
    )
    ours = FeedbackTransformerKV(layer, 2, d_model, HEADS)
    plain = kv_from(ours)
    return Pair(ours, plain, list(ours.parameters()), list(plain.parameters()), ours.step)


CASES = [
    Case("attention", attention, (0.50, 0.20, 0.15), decoding=0.20, memory=0.2),
    Case("attention, mask given", attention_with_a_mask, ()),
    Case("AFT-local", aft_local, (0.95, 0.60, 0.20), memory=0.5),
    Case("relative attention", relative, (0.45, 0.29), lengths=(128, 512)),
    Case("fast weights", fast_weights, (0.30, 0.17, 0.08), decoding=0.08, memory=0.5, decoded_up_to=512),
    Case(
        "feedback, 2 layers", feedback, (0.50, 0.55, 0.60), decoding=0.02, wide_up_to=512, decoded_up_to=128
    ),
]


# --- measuring ---


def best_of(seconds: float, *calls: Callable[[], list[Tensor]]) -> tuple[list[float], list[list[Tensor]]]:
    """The shortest time of each, in turns, so that a busy moment of the machine hits all alike; and the results."""
    best = [float("inf")] * len(calls)
    results: list[list[Tensor]] = [[]] * len(calls)
    began = time.perf_counter()
    rounds = 0
    while rounds < 2 or time.perf_counter() - began < seconds:
        for n, call in enumerate(calls):
            start = time.process_time()
            results[n] = call()
            best[n] = min(best[n], time.process_time() - start)
        rounds += 1
    return best, results


def forward_and_backward(
    call: Callable[[Tensor], Tensor], x: Tensor, slope: Tensor, parameters: list[Tensor]
) -> list[Tensor]:
    """The result, and what a slope of the result makes of the input and of each parameter."""
    y = call(x)
    slopes = torch.autograd.grad(y, [x, *parameters], slope, allow_unused=True)
    return [y.detach(), *(s for s in slopes if s is not None)]


def error(ours: list[Tensor], theirs: list[Tensor]) -> float:
    """The largest difference of result and of the slope of the input, in parts of the largest entry."""
    return max(
        ((a - b).abs().max() / b.abs().max()).item() for a, b in zip(ours[:2], theirs[:2], strict=True)
    )


def torchs_own(d_model: int) -> tuple[Callable[[Tensor], Tensor], list[Tensor]]:
    layer = torch.nn.MultiheadAttention(d_model, HEADS)

    def call(x: Tensor) -> Tensor:
        hidden = torch.nn.Transformer.generate_square_subsequent_mask(len(x))
        return layer(x, x, x, attn_mask=hidden, is_causal=True, need_weights=False)[0]

    return call, list(layer.parameters())


def decode(pair: Pair, x: Tensor, context: int) -> list[Tensor]:
    """The last positions one by one, after a context that is read at once."""
    assert pair.step is not None
    state, found = None, []
    if context:
        _, state = pair.step(x[:context], state)
    for t in range(context, len(x)):
        y, state = pair.step(x[t : t + 1], state)
        found.append(y)
    return found


def recompute(call: Callable[[Tensor], Tensor], x: Tensor, context: int) -> list[Tensor]:
    return [call(x[: t + 1])[-1:] for t in range(context + ANEW_EVERY // 2, len(x), ANEW_EVERY)]


def peak_megabytes(case: Case, plain: bool) -> float:
    """What one pass forward and back needs on top of what was there before it, in this process."""
    pair = case.make(MEMORY_LENGTH, D_MODEL)
    x = torch.randn(MEMORY_LENGTH, 1, D_MODEL, requires_grad=True)
    call, parameters = (pair.plain, pair.plain_parameters) if plain else (pair.ours, pair.our_parameters)
    slope = torch.linspace(-1, 1, x.numel()).view_as(x)
    # Libraries that load at the first call do not count.
    forward_and_backward(call, x[:64].detach().requires_grad_(), slope[:64], parameters)
    before = status("VmRSS")
    forward_and_backward(call, x, slope, parameters)
    return status("VmHWM") - before


def status(name: str) -> float:
    """What Linux knows of this process. (`ru_maxrss` would count what the process was before its `exec`.)"""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1]) / 2**10


def memory_ratio(case: Case) -> tuple[float, float]:
    found = []
    for side in ("ours", "plain"):
        command = [sys.executable, __file__, "--memory-of", case.name, side]
        environment = {k: v for k, v in os.environ.items() if k not in KEEP}
        run = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
        found.append(float(run.stdout))
    return found[0], found[1]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("only", nargs="*", help="cases whose name begins so; all if none is named")
    parser.add_argument("--quick", action="store_true", help="fewer rounds: for a first look")
    parser.add_argument("--no-memory", action="store_true")
    parser.add_argument("--no-decoding", action="store_true")
    parser.add_argument("--memory-of", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    if options.memory_of:
        name, side = options.memory_of
        print(peak_megabytes(next(c for c in CASES if c.name == name), side == "plain"))
        return

    chosen = [
        c
        for c in CASES
        if not options.only
        or any(c.name.lower().replace(" ", "_").startswith(o.lower()) for o in options.only)
    ]
    parts: list[tuple[str, Callable[[], list[Goal]]]] = [
        ("time", partial(passes, chosen, QUICK_ROW if options.quick else ROW))
    ]
    if not options.no_decoding:
        parts.append(("decoding", partial(decoding, [c for c in chosen if c.decoding])))
    if not options.no_memory:
        parts.append(("memory", partial(memory, [c for c in chosen if c.memory])))
    print(
        f"{len(chosen)} models: {', '.join(name for name, _ in parts)}. Each row is printed when it is known;"
    )
    print("the long sequences of models that go step by step take minutes.", flush=True)
    goals = [goal for _, part in parts for goal in part()]
    missed = [goal for goal in goals if not goal.met]
    print(f"\n{len(goals) - len(missed)} of {len(goals)} goals met.")
    for goal in missed:
        print(f"Missed: {goal.what}, {goal.ratio:.3f} where {goal.wanted:.2f} is wanted.")


@dataclass(frozen=True)
class Goal:
    """A ratio and what it should be."""

    what: str
    ratio: float
    wanted: float

    @property
    def met(self) -> bool:
        return self.ratio <= self.wanted

    @property
    def sign(self) -> str:
        return "met" if self.met else "MISSED"


def passes(chosen: list[Case], seconds: float) -> list[Goal]:
    """Forward and backward."""
    goals: list[Goal] = []
    heading("Forward and backward, ours / theirs", "T", "batch", "d", "plain", "goal", "", "torch", "error")
    for case in chosen:
        for n, seq_len in enumerate(case.lengths):
            for d_model in WIDTHS if seq_len <= case.wide_up_to else WIDTHS[:1]:
                batch_size, pair = BATCH_SIZES[seq_len], case.make(seq_len, d_model)
                x = torch.randn(seq_len, batch_size, d_model, requires_grad=True)
                slope = torch.linspace(-1, 1, x.numel()).view_as(x)
                other, other_parameters = torchs_own(d_model)
                times, results = best_of(
                    seconds,
                    partial(forward_and_backward, pair.ours, x, slope, pair.our_parameters),
                    partial(forward_and_backward, pair.plain, x, slope, pair.plain_parameters),
                    partial(forward_and_backward, other, x, slope, other_parameters),
                )
                ratio = times[0] / times[1]
                judges = n < len(case.goals) and d_model == WIDTHS[0]
                judged = judge(
                    goals, f"{case.name} at T = {seq_len:,}", ratio, case.goals[n] if judges else None
                )
                row(case.name, f"{seq_len:,}", batch_size, d_model, *judged, f"{times[0] / times[2]:.2f}",
                    f"{error(results[0], results[1]):.0e}")  # fmt: skip
    return goals


def decoding(chosen: list[Case]) -> list[Goal]:
    """A model with a state, against the plain form and against the same, each beginning anew at every position."""
    goals: list[Goal] = []
    title = f"The last {DECODED} of T positions one by one, with a state / anew"
    heading(title, "T", "batch", "plain", "goal", "", "ours", "error")
    for case in chosen:
        for seq_len in (length for length in case.lengths if length <= case.decoded_up_to):
            pair = case.make(seq_len, D_MODEL)
            context = seq_len - DECODED
            x = torch.randn(seq_len, BATCH_SIZES[seq_len], D_MODEL)
            with torch.no_grad():
                times, results = best_of(
                    0,
                    partial(decode, pair, x, context),
                    partial(recompute, pair.plain, x, context),
                    partial(recompute, pair.ours, x, context),
                )
            same = zip(results[0][ANEW_EVERY // 2 :: ANEW_EVERY], results[2], strict=True)
            difference = max((a - b).abs().max().item() for a, b in same)
            ratio = times[0] / (times[1] * ANEW_EVERY)
            judged = judge(goals, f"decoding, {case.name} at T = {seq_len:,}", ratio, case.decoding)
            row(case.name, f"{seq_len:,}", BATCH_SIZES[seq_len], *judged,
                f"{times[0] / (times[2] * ANEW_EVERY):.2f}", f"{difference:.0e}")  # fmt: skip
    return goals


def memory(chosen: list[Case]) -> list[Goal]:
    """Peak memory."""
    goals: list[Goal] = []
    title = f"Peak memory of a pass forward and back, T = {MEMORY_LENGTH:,}"
    heading(title, "ours", "plain", "ratio", "goal", "")
    for case in chosen:
        ours, plain = memory_ratio(case)
        judged = judge(goals, f"memory, {case.name}", ours / plain, case.memory)
        row(case.name, f"{ours:,.0f} MB", f"{plain:,.0f} MB", *judged)
    return goals


# --- printing ---


def judge(goals: list[Goal], what: str, ratio: float, wanted: float | None) -> tuple[str, str, str]:
    """Three cells, the ratio, its goal and whether it is met; a goal is put aside for the end."""
    if wanted is None:
        return f"{ratio:.3f}", "", ""
    goals.append(Goal(what, ratio, wanted))
    return f"{ratio:.3f}", f"{wanted:.2f}", goals[-1].sign


def heading(title: str, *columns: str) -> None:
    print(f"\n{title}")
    row("", *columns)


def row(name: str, *cells: object) -> None:
    """One line, at once. All tables have the same columns, so that they stand in line."""
    print(f"{name:24}" + "".join(f"{cell!s:>10}" for cell in cells).rstrip(), flush=True)


if __name__ == "__main__":
    measured = "--memory-of" in sys.argv
    if not measured and any(os.environ.get(name) != value for name, value in KEEP.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **KEEP})

import torch  # noqa: E402
from torch import Tensor  # noqa: E402

if __name__ == "__main__":
    main()
