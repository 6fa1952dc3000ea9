"""
---
title: The process that runs a page
summary: Imports one module, runs its examples, and writes down what it saw.
---
# The process that runs a page

What it has to say goes line by line into a file of its own, so that nothing is lost that was said before an
example ended the process, and nothing that an example prints is mistaken for it.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import os
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from site_builder.record import faults, processes, sandbox
from site_builder.record.examples import Runner, raised_at, unrun
from site_builder.record.model import MODULE, Class, Example, Fault, Flops, Record
from site_builder.record.modules import Counter, Kinds, Modules
from site_builder.record.neutral import hide
from site_builder.record.outline import Outline
from site_builder.record.sources import Read, Sources
from site_builder.record.tracer import Tracer


@dataclass(frozen=True)
class Job:
    """One page to run. `root` is the folder that its package is imported from, empty if it is in none."""

    module: str
    file: str
    root: str
    seconds: int
    megabytes: int
    output: int
    options: int
    read: Read
    """What the builder has read: its own file, and those that it imports."""
    traced: bool = True
    counting: bool = False
    """Count operations in place of recording."""


class Answer:
    """
    The file in which the worker answers. A forked child of an example has no say in it, and an example that closes
    what it did not open, or opens something else in its place, closes it for nobody.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._process = os.getpid()
        self._open()

    def _open(self) -> None:
        self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        status = os.fstat(self._file)
        self._identity = (status.st_dev, status.st_ino)

    def say(self, **what: Any) -> None:
        if os.getpid() != self._process:
            os._exit(0)
        try:
            status = os.fstat(self._file)
            ours = (status.st_dev, status.st_ino) == self._identity
        except OSError:
            ours = False
        if not ours:
            self._open()
        data = json.dumps(what).encode() + b"\n"
        while data:
            data = data[os.write(self._file, data) :]


def run(job: Job, home: str, answer: str) -> None:
    """Do the job. The process is of no use for anything else afterwards."""
    told = Answer(answer)
    sources = Sources(job.read, lambda name: told.say(changed=name))
    sys.meta_path.insert(0, sources)
    attempts = sandbox.enter(home, job.megabytes, job.seconds)
    hide(home)
    if len(Path(job.root).parts) > 1:
        hide(job.root + os.sep, "")
    data = Path(job.file).read_bytes()
    if not sources.same(job.module, data):
        return
    outline = Outline.of(data)
    if job.counting:
        _count(job, outline, sources, attempts, told)
    else:
        _record(job, outline, data, sources, attempts, told)


def _record(
    job: Job, outline: Outline, data: bytes, sources: Sources, attempts: list[str], told: Answer
) -> None:
    kinds = Kinds(job.module, outline.names)
    heirs = any(getattr(line.node, "bases", ()) for line in outline.lines)
    tracer = Tracer(outline, job.file, strangers=heirs)
    modules = Modules(kinds, tracer.notes.values)
    tracer.shared.constructed = modules.constructed
    # What the compiler refuses though it can be parsed, the import will say.
    with contextlib.suppress(SyntaxError, ValueError):
        tracer.survey(compile(data, job.file, "exec", dont_inherit=True))
    if job.traced:
        sandbox.unseen(tracer.trace, job.module)
    examples: list[Example] = []
    found: list[Fault] = []
    left = False

    def tell(fault: Fault) -> None:
        found.append(fault)
        told.say(fault=asdict(fault))

    def each(index: int, example: Example | None) -> None:
        nonlocal left
        if example is None:
            tracer.shared.example = index
            told.say(at=index)
            return
        modules.settle()
        examples.append(example)
        told.say(example=asdict(example))
        if example.ran and not left and _orphans():
            left = True
            tell(faults.process(index))

    start, stop = (tracer.start, tracer.stop) if job.traced else (_nothing, _nothing)
    module, fault = _imported(job, outline, sources, told, start, stop)
    if fault:
        tell(fault)
    seconds = 0.0
    for docstring in outline.docstrings:
        if docstring.fault:
            tell(faults.syntax(docstring.fault, docstring.owner))
        elif module is None:
            examples.extend(unrun(docstring))
        elif _exists(module, docstring.scope):
            runner = _runner(job, module, outline, attempts, tell, start, stop)
            told.say(first=len(examples), owner=docstring.owner)
            began = time.process_time()
            runner.run(docstring, len(examples), each)
            seconds += time.process_time() - began
    record = Record(
        job.module,
        tuple(examples),
        tracer.notes.statements(),
        tracer.notes.functions(),
        modules.classes(),
        tuple(found),
    )
    told.say(record=record.to_bytes().decode("ascii"), count=bool(record.classes), seconds=seconds)


def _count(job: Job, outline: Outline, sources: Sources, attempts: list[str], told: Answer) -> None:
    counter = Counter(Kinds(job.module, outline.names))
    module, _ = _imported(job, outline, sources, told, _nothing, _nothing)
    if module is None:
        return
    counter.install()
    for docstring in outline.docstrings:
        if docstring.examples and _exists(module, docstring.scope):
            runner = _runner(job, module, outline, attempts, lambda fault: None, _nothing, _nothing)
            runner.run(docstring, 0, lambda index, example: None)
            told.say(flops=[[ordinal, _flat(flops)] for ordinal, flops in sorted(counter.found.items())])


def _runner(
    job: Job,
    module: ModuleType,
    outline: Outline,
    attempts: list[str],
    tell: Callable[[Fault], None],
    start: Callable[[], None],
    stop: Callable[[], None],
) -> Runner:
    """What runs one docstring, within the limits of the job."""
    return Runner(
        module,
        outline,
        job.file,
        options=job.options,
        output=job.output,
        megabytes=job.megabytes,
        seed=sandbox.seed,
        start=start,
        stop=stop,
        attempts=attempts,
        tell=tell,
    )


def _orphans() -> bool:
    """Whether a process has left its parent: then its parent is ours."""
    others = (child for child in processes.children(os.getppid()) if child != os.getpid())
    return any(processes.parent(child) is not None and processes.is_authors(child) for child in others)


def _flat(flops: Flops) -> str:
    """As part of a record, which knows how to be written."""
    return Record("", classes=(Class(MODULE, "", (), flops),)).to_bytes().decode("ascii")


def _nothing() -> None: ...


def _imported(
    job: Job,
    outline: Outline,
    sources: Sources,
    told: Answer,
    start: Callable[[], None],
    stop: Callable[[], None],
) -> tuple[ModuleType | None, Fault | None]:
    told.say(at=MODULE)
    sandbox.seed()
    if job.root:
        sys.path.insert(0, job.root)
    try:
        try:
            start()
            return _module(job, sources), None
        finally:
            stop()
    except BaseException as error:
        message = traceback.format_exception_only(error)[-1]
        return None, faults.imported(message, raised_at(error.__traceback__, outline, job.file))


def _module(job: Job, sources: Sources) -> ModuleType:
    file = Path(job.file)
    top = job.module.partition(".")[0]
    if job.root and top not in sys.stdlib_module_names:
        # What is loaded of the same package is forgotten: its statements shall run where they are seen.
        for name in [name for name in sys.modules if name == top or name.startswith(f"{top}.")]:
            del sys.modules[name]
        module = importlib.import_module(job.module)
        if getattr(module, "__file__", None) and Path(module.__file__ or "").resolve() == file.resolve():
            return module
    spec = importlib.util.spec_from_file_location(job.module, job.file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file.name} is no module")
    module = importlib.util.module_from_spec(sources.compared(spec))
    sys.modules[job.module] = module
    spec.loader.exec_module(module)
    return module


def _exists(module: ModuleType, scope: str) -> bool:
    """A definition in an arm of an `if` that was not taken has no examples to run."""
    thing: Any = module
    for name in scope.split(".") if scope else ():
        owner = getattr(thing, "__name__", "") if isinstance(thing, type) else ""
        for candidate in (name, f"_{owner.lstrip('_')}{name}"):
            found = vars(thing).get(candidate) if hasattr(thing, "__dict__") else None
            if found is not None:
                break
        if found is None:
            return False
        thing = found
    return True


def with_flops(record: Record, found: list[list[Any]]) -> Record:
    """The record and what the other run counted."""
    counts = {ordinal: Record.from_bytes(flat.encode()).classes[0].flops for ordinal, flat in found}
    return replace(
        record, classes=tuple(replace(one, flops=counts.get(one.ordinal)) for one in record.classes)
    )
