r"""
---
title: Downloads
summary: A file from elsewhere is there whole and right, or not at all.
symbols:
  n: size
---
# Downloads

A download looks like one line: read from there, write to here. Then a train goes into a
tunnel. Half a file lies where a whole one should be, and every run from now on finds it, takes
it for the whole, and trains on half the text. Its loss looks fine. It is just the loss of
something else.

Three rules keep that from happening.

1. **Write beside, then rename.** What comes in goes to a file with another name. Only when it
   is complete does it get its own, and a rename happens at once or not at all.
2. **Know beforehand what should come.** The length $n$ in bytes and the SHA-256 of the file
   stand in our code. Nothing else tells a good file from an error page, a newer edition or a
   cut one.
3. **Trust no file because it is there.** It is checked at each use, before anybody reads it.

There is no resuming. It would have to trust the half that is there.
"""

import hashlib
import http.client
import os
import secrets
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import IO


class DownloadError(OSError):
    r"""
    ## When it does not work

    The message names the address, what was wrong with what came, and where to put the file by
    hand: a machine without a network is no reason not to train.
    """


def download(
    url: str, target: str | Path, sha256: str, size: int | None = None, timeout: float = 30.0
) -> Path:
    r"""
    ## Fetch a file, unless it is there

    `size` is the number of bytes, where it is known. `timeout` is in seconds, and is the
    longest silence that we put up with: a slow server may take its time, a dead one may not.

    An address may also be that of a file, which gives us a server for this page:

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> there = Path(folder.name, "there.txt")
    >>> there.write_bytes(b"to be, or not to be")
    19
    >>> sha256 = hashlib.sha256(b"to be, or not to be").hexdigest()
    >>> here = Path(folder.name, "here", "hamlet.txt")
    >>> download(there.as_uri(), here, sha256, size=19).read_text()
    'to be, or not to be'

    It is there now, so the server may go away:

    >>> there.unlink()
    >>> download(there.as_uri(), here, sha256, size=19) == here
    True

    **Half a file.** Here is the one-line way, with a connection that breaks off after six
    bytes. Nothing complains, today or later:

    >>> there.write_bytes(b"to be,")
    6
    >>> wrong = Path(folder.name, "wrong.txt")
    >>> with urllib.request.urlopen(there.as_uri()) as response:
    ...     wrong.write_bytes(response.read())
    6
    >>> wrong.exists()
    True

    And ours. It says what is wrong, and leaves nothing behind that could be taken for a text:

    >>> right = Path(folder.name, "right.txt")
    >>> try:
    ...     download(there.as_uri(), right, sha256, size=19)
    ... except DownloadError as error:
    ...     "6 bytes came, but it has 19" in str(error)
    True
    >>> right.exists()
    False

    **Damage on this side.** A file that was good once is looked at again each time:

    >>> here.write_text("to be, or not to bee")
    20
    >>> there.write_bytes(b"to be, or not to be")
    19
    >>> download(there.as_uri(), here, sha256, size=19).read_text()
    'to be, or not to be'
    >>> folder.cleanup()
    """
    target, sha256 = Path(target), sha256.lower()
    if is_good(target, sha256):
        return target

    # The name is drawn at random. Two processes that fetch the same file do not write into each
    # other's; the later one renames a good file over a good file, which nobody can notice.
    part = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with part.open("xb") as file:
                receive(url, file, sha256, size, timeout)
                # A rename may reach the disk before the bytes do, and the power fail between.
                file.flush()
                os.fsync(file.fileno())
            part.replace(target)
        finally:
            # Whatever happened, an interruption from the keyboard included. After the rename
            # there is nothing under this name. (A process that is killed outright cannot tidy
            # up. What it leaves ends in `.part`, and nobody reads it.)
            part.unlink(missing_ok=True)
    except (OSError, http.client.HTTPException) as error:
        kind = f"SHA-256 {sha256}" if size is None else f"{size} bytes, SHA-256 {sha256}"
        damaged = " What lies there now is damaged." if target.is_file() else ""
        raise DownloadError(
            f"{url} could not be downloaded: {reason(error)}. "
            f"Without a network, put the file by hand at {target} ({kind}).{damaged}"
        ) from error
    return target


def receive(url: str, file: IO[bytes], sha256: str, size: int | None, timeout: float) -> None:
    r"""
    ## Receive, count, compare
    """
    request = urllib.request.Request(url, headers={"User-Agent": "annotated-nn"})
    digest, n_bytes = hashlib.sha256(), 0
    with urllib.request.urlopen(request, timeout=timeout) as response:
        promised = response.headers.get("Content-Length", "")
        # To ask for what has already come in, rather than for a full block, is what lets a slow
        # server be told from a dead one: the clock starts anew with every piece.
        read = getattr(response, "read1", response.read)
        while block := read(1 << 16):
            n_bytes += len(block)
            # A server may send the wrong thing, and without an end.
            if size is not None and n_bytes > size:
                raise DownloadError(f"more came than its {size} bytes")
            digest.update(block)
            file.write(block)
    # When a connection is closed too early, reading in blocks ends as if all were well. So we
    # count.
    expected = size if size is not None else int(promised) if promised.isdigit() else n_bytes
    if n_bytes != expected:
        raise DownloadError(f"only {n_bytes} bytes came, but it has {expected}")
    if digest.hexdigest() != sha256:
        raise DownloadError(
            f"its SHA-256 is {digest.hexdigest()}, so it is not the file that we know"
        )


def reason(error: BaseException) -> str:
    r"""
    ## What went wrong, in words

    Some errors wrap another that knows better, and some say nothing but their name.
    """
    # An answer such as 404 is at once an error and an open connection.
    if isinstance(error, urllib.error.HTTPError):
        error.close()
        # Of several lines, as for a circle of redirections, the first one says it.
        answer, _, _ = str(error.reason).partition("\n")
        return f"the server answered {error.code} {answer}".rstrip()
    if isinstance(error, urllib.error.URLError) and isinstance(error.reason, BaseException):
        return reason(error.reason)
    if isinstance(error, TimeoutError):
        return "the server fell silent"
    if isinstance(error, http.client.IncompleteRead):
        return "the connection broke off"
    if isinstance(error, http.client.HTTPException):
        return f"the answer was not understood ({type(error).__name__})"
    return str(error) or type(error).__name__


def is_good(path: Path, sha256: str) -> bool:
    r"""
    ## Is this the file?

    Not there is not good either.
    """
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == sha256.lower()


def cache_folder() -> Path:
    r"""
    ## Where files are kept

    In `$ANNOTATED_NN_DATA` if that is set, else where this system keeps what can be had again.
    """
    if chosen := os.environ.get("ANNOTATED_NN_DATA"):
        return Path(chosen).expanduser()
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "annotated_nn"
