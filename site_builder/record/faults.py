"""
---
title: What can go wrong
summary: Every sentence about an example, an import or a run that failed.
---
# What can go wrong

Whoever finds a fault says what it knows, and what is said of it stands here. `example` is a place in the record, and
without one the fault is that of the import. A fault that is not lasting, such as one of time, may be gone when the
same sources are run again.
"""

from __future__ import annotations

import re
from dataclasses import replace

from site_builder.errors import count
from site_builder.record.model import Fault

QUOTED_AT_MOST = 60
_SMALLER = "make it smaller"


# ---- of the process that runs a page


def changed(module: str, own: bool) -> Fault:
    """A file is no longer what the page was made from, or what its key speaks of."""
    what = "this file" if own else module
    message = f"{what} has changed since it was read for this build, so that the examples here did not run"
    return Fault("module-changed", message, "build once more", lasting=False)


def recorder(reason: str) -> Fault:
    return Fault("record-failed", f"the recorder failed: {reason}", lasting=False)


def time(example: int | None, seconds: int) -> Fault:
    message = f"{_what(example)} had not ended when the page's {seconds} seconds were over"
    return Fault("example-time", message, _SMALLER, example, lasting=False, ends=True)


def memory(example: int | None, megabytes: int, *, ends: bool = False) -> Fault:
    message = f"{_what(example)} needs more memory than the {megabytes} MB that examples may have"
    return Fault("example-memory", message, _SMALLER, example, lasting=False, ends=ends)


def signal(example: int | None, number: int) -> Fault:
    message = f"{_what(example)} ended its process by signal {number}"
    return Fault("example-exit", message, "correct it", example, lasting=False, ends=True)


def status(example: int | None, number: int) -> Fault:
    message = f"{_what(example)} ended its process, with status {number}"
    return Fault("example-exit", message, "let examples end by themselves", example, ends=True)


def before(fault: Fault, lost: int) -> Fault:
    """The same, with the number of examples that would have come after it."""
    if not lost or not fault.ends or fault.example is None:
        return fault
    return replace(fault, message=f"{fault.message}; {count(lost, 'example')} after it did not run")


def process(example: int | None) -> Fault:
    """A process is left. Which example has left it is not always known."""
    message = f"{'an' if example is None else 'this'} example leaves a process behind, which was ended"
    return Fault("example-process", message, "let the example wait for what it starts", example)


def _what(example: int | None) -> str:
    return "importing this module" if example is None else "this example"


# ---- of the module


def imported(message: str, statement: int | None) -> Fault:
    """
    Without a statement it went wrong before the module's first line was run: in what a package around it imports, which
    is not in the key of the module's record.
    """
    return Fault(
        "module-import",
        f"this module cannot be imported, so that its examples did not run: {' '.join(message.split())}",
        "correct it, or install what it needs",
        statement=statement,
        lasting=statement is not None,
    )


def syntax(reason: str, owner: int) -> Fault:
    """What doctest says, without where: lines of a docstring change with its prose."""
    said = re.sub(r"^line \d+ of the docstring for .*? (has|lacks)\b", r"it \1", reason)
    message = f"doctest cannot read the examples of this docstring: {said}"
    return Fault("example-syntax", message, "put a space after each prompt", statement=owner)


# ---- of single examples


def network(example: int, attempt: str) -> Fault:
    message = f"examples run without a network, and this one {attempt}"
    return Fault("example-network", message, "let the example make its data itself", example)


def output(example: int, characters: int) -> Fault:
    message = f"this example prints more than {characters} characters"
    return Fault("example-output", message, "show the part that matters", example)


def raised(example: int, error: str, wanted: str) -> Fault:
    """An exception, where none or another was `wanted`."""
    expected = f", not {_short(wanted)}" if wanted else ""
    return _failed(example, f"raises {_short(error)}{expected}")


def differs(example: int, got: str, wanted: str) -> Fault:
    given = _short(got) if got.strip() else "nothing"
    said = f"not {_short(wanted)}" if wanted.strip() else "and says that it gives nothing"
    return _failed(example, f"gives {given}, {said}")


def _failed(example: int, what: str) -> Fault:
    return Fault("example-failed", f"this example {what}", "correct it, or the code", example)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= QUOTED_AT_MOST else text[: QUOTED_AT_MOST - 1] + "…"
