r"""
---
title: Checkpoints
summary: How to write a file so that neither a crash nor a bad disk can cost the run.
---
# Checkpoints

A checkpoint is all that a run needs in order to go on: the weights, the optimiser's averages,
and the number of the step. It is written for the bad day. So it has to be right on that day,
and the short way is wrong on it.

`torch.save(state, "checkpoint.pt")` opens the file, which empties it, and then fills it. A
process that dies in between leaves half a file, where the last good state has just been:

>>> import os, tempfile, torch
>>> from pathlib import Path
>>> folder = tempfile.TemporaryDirectory()
>>> path = Path(folder.name) / "checkpoint.pt"
>>> torch.save({"step": 100, "weights": torch.ones(5)}, path)
>>> whole = path.stat().st_size
>>> os.truncate(path, whole // 2)  # what the second save had written when the power failed
>>> try:
...     torch.load(path)
... except Exception:
...     print("lost")
lost

Disks and networks fail too, and more quietly. Here a single bit of a weight turns over.
PyTorch's files hold checksums, but loading does not look at them:

>>> torch.save({"step": 100, "weights": torch.ones(5000)}, path)
>>> data = bytearray(path.read_bytes())
>>> data[len(data) // 2 + 3] ^= 0x40
>>> _ = path.write_bytes(data)
>>> weights = torch.load(path)["weights"]
>>> (weights == 1).all()
tensor(False)

No error, and a wrong weight. The run would go on with it. So we do more: a checkpoint

1. is written under another name, and renamed when it is whole;
2. ends with a checksum of all its bytes, which is looked at before anything is loaded;
3. leaves the one before it in place, as `checkpoint.previous.pt`.

>>> save(Path(folder.name), {"step": 100})
>>> save(Path(folder.name), {"step": 200})
>>> load(Path(folder.name))
{'step': 200}
>>> load(Path(folder.name), previous=True)
{'step': 100}
>>> folder.cleanup()
"""

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import torch

from labml_nn.experiments import ExperimentError

CURRENT, PREVIOUS = "checkpoint.pt", "checkpoint.previous.pt"


class CheckpointError(ExperimentError):
    r"""
    ## A checkpoint that cannot be used

    The message says which, why, and what is left.
    """


def save(folder: Path, state: dict[str, Any]) -> None:
    r"""
    ## Write beside, then rename

    Renaming is *atomic*: whoever looks sees the old file or the new one, never half of either.
    That holds inside one file system, so the temporary file is in the same folder. Its name is
    always the same: what a crash leaves behind, the next checkpoint overwrites.
    """
    partial = folder / f"{CURRENT}.partial"
    with partial.open("w+b") as file:
        try:
            torch.save(state, file)
        except RuntimeError as error:
            # PyTorch tells of a full disk as of a wrong position in the file.
            raise CheckpointError(
                f"{partial} could not be written: is the disk full? "
                "What was saved before is as it was"
            ) from error
        # The checksum goes to the end. A zip file, as this is, is read from its end, and some
        # bytes more behind it do no harm: `torch.load` alone can open it as well.
        digest = _digest(file)
        file.seek(0, os.SEEK_END)
        file.write(digest)
        # A written file may be in memory still, and the rename reach the disk before it. Then
        # after a power failure the good name stands on an empty file. `fsync` waits.
        file.flush()
        os.fsync(file.fileno())
    # Two renames. A crash between them leaves only the previous one, and
    # [`load`](labml_nn.experiments.checkpoint.load) knows that case.
    if (folder / CURRENT).exists():
        (folder / CURRENT).replace(folder / PREVIOUS)
    partial.replace(folder / CURRENT)
    sync_folder(folder)


def load(folder: Path, *, previous: bool = False) -> dict[str, Any]:
    r"""
    ## Look, then load

    The newest checkpoint is loaded, or the one before it if asked for. A damaged one is an
    error and not a reason to take the other in silence: someone should know that the disk is
    failing.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     folder = Path(name)
    ...     save(folder, {"step": 100})
    ...     save(folder, {"step": 200})
    ...     os.truncate(folder / CURRENT, 300)
    ...     try:
    ...         load(folder)
    ...     except CheckpointError as error:
    ...         print(*str(error).replace(name, "RUN").split(". "), sep="\n")
    ...     load(folder, previous=True)
    RUN/checkpoint.pt is damaged: its checksum does not match
    The one before it is there: add --from-previous to use it
    {'step': 100}
    """
    path = folder / (PREVIOUS if previous else CURRENT)
    if not previous and not path.exists() and (folder / PREVIOUS).exists():
        path = folder / PREVIOUS
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END) - hashlib.sha256().digest_size
            sound = size > 0 and _digest(file, size) == file.read()
    except FileNotFoundError:
        advice = (
            f": {_advice(folder, path)}" if previous and (folder / CURRENT).exists() else ""
        )
        raise CheckpointError(f"there is no checkpoint {path}{advice}") from None
    if not sound:
        raise CheckpointError(
            f"{path} is damaged: its checksum does not match. {_advice(folder, path)}"
        )
    # A file in Python's pickle format can run any code while it is loaded. `weights_only`
    # allows tensors and plain values, and nothing that could act.
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise CheckpointError(
            f"{path} holds no checkpoint ({type(error).__name__}). {_advice(folder, path)}"
        ) from error


def _advice(folder: Path, path: Path) -> str:
    if path.name == CURRENT and (folder / PREVIOUS).exists():
        return "The one before it is there: add --from-previous to use it"
    if path.name == PREVIOUS and (folder / CURRENT).exists():
        return "A newer one is there: leave out --from-previous to use it"
    return "There is none before it; the run has to begin anew in another folder"


def forget_newest(folder: Path) -> None:
    r"""
    ## Who goes on from the one before

    has no use for the newest any more. To leave it would be a trap. The next
    [`save`](labml_nn.experiments.checkpoint.save) would make it the one before: the damaged
    file would take the place of the only good one, and a crash at that moment would leave none.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     folder = Path(name)
    ...     save(folder, {"step": 100})
    ...     save(folder, {"step": 200})
    ...     forget_newest(folder)
    ...     save(folder, {"step": 300})
    ...     load(folder, previous=True)
    {'step': 100}
    """
    if (folder / PREVIOUS).exists():
        (folder / CURRENT).unlink(missing_ok=True)
        sync_folder(folder)


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    r"""
    ## One run in a folder

    Two that write into one folder cut each other's metrics and rename each other's checkpoints.
    So whoever writes holds a *lock* on the folder. The system takes it back when the process
    ends, however it ends: no file is left that says for ever that the folder is in use.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name, alone_in(Path(name)):
    ...     try:
    ...         with alone_in(Path(name)):
    ...             print("two at once")
    ...     except ExperimentError as error:
    ...         print(str(error).replace(name, "RUN"))
    RUN is in use: another training writes there
    """
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        # Windows can lock no folder. There, nobody is kept out.
        if os.name != "nt":
            import fcntl

            descriptor = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, descriptor)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ExperimentError(
                    f"{folder} is in use: another training writes there"
                ) from None
            except OSError:
                # Some network file systems know no locks.
                pass
        try:
            yield
        finally:
            # Where nothing was written, this does away with the folder; else it does nothing.
            if is_new:
                with contextlib.suppress(OSError):
                    folder.rmdir()


def _digest(file: BinaryIO, size: int | None = None) -> bytes:
    r"""
    ## SHA-256 of the beginning of a file

    Piece by piece, since a checkpoint may be larger than the memory that is left.
    """
    left = file.seek(0, os.SEEK_END) if size is None else size
    file.seek(0)
    checksum = hashlib.sha256()
    while left and (piece := file.read(min(left, 1 << 20))):
        checksum.update(piece)
        left -= len(piece)
    return checksum.digest()


def write_text(path: Path, text: str) -> None:
    r"""
    ## Small files the same way
    """
    partial = path.with_name(f"{path.name}.partial")
    with partial.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    r"""
    ## The names too

    The name of a file is in its folder, which is written to disk in its own time. On Windows a
    folder cannot be opened, and the system sees to it.
    """
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
