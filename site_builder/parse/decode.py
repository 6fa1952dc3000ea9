r"""
---
title: From bytes to lines, and back
summary: The file as text, in a way that gives back every byte.
---
# From bytes to lines, and back

A page must be able to give back its file, so decoding is only accepted when encoding undoes it. Lines end
where Python ends them, at `\n`, `\r\n` and `\r`; a form feed or a Unicode line separator is text like any
other, and `str.splitlines` would get that wrong.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from site_builder.errors import Diagnostic

BOM = codecs.BOM_UTF8

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_BYTES_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
# Both from the language reference, "Encoding declarations".
_DECLARATION = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_NO_CODE = re.compile(rb"[ \t\f]*(?:#|[\r\n]|$)")


@dataclass(frozen=True, slots=True)
class Decoded:
    """`trusted` is false where the text is a guess, made so that something can be shown."""

    lines: tuple[str, ...]
    encoding: str
    trusted: bool = True
    diagnostics: tuple[Diagnostic, ...] = ()


def split_lines(text: str) -> tuple[str, ...]:
    """Every line with its terminator."""
    return tuple(_LINE.findall(text))


def decode(data: bytes, path: str, *, declared: bool = True) -> Decoded:
    """
    The lines of a file. `declared` says whether a coding line in its first two lines counts, as in Python.

    What cannot be decoded is read as Latin-1, which accepts and gives back any bytes, with an `encoding`
    diagnostic at the first byte that is wrong.
    """
    name, line, column = _declaration(data) if declared else ("", 1, 1)
    if data.startswith(BOM):
        if name and _normal(name) != "utf-8":
            fault = Diagnostic(
                path, line, column, "encoding",
                f"the file begins with a UTF-8 byte order mark but declares `{name}`",
                "remove one of the two; Python refuses the file as it is",
            )  # fmt: skip
            return _guess(data, fault)
        encoding = "utf-8-sig"
    else:
        encoding = _normal(name or "utf-8")
    try:
        text = data.decode(encoding)
    except LookupError:
        fault = Diagnostic(
            path, line, column, "encoding", f"`{name}` is not a text encoding that Python knows",
            "correct the coding line, or save the file as UTF-8 and remove it",
        )  # fmt: skip
        return _guess(data, fault)
    except UnicodeDecodeError as error:
        line, column = _place(data[: error.start], encoding)
        fault = Diagnostic(
            path, line, column, "encoding", f"byte 0x{data[error.start]:02x} is not valid in `{encoding}`",
            "save the file as UTF-8, or declare its encoding in a coding line",
        )  # fmt: skip
        return _guess(data, fault)
    except Exception:  # A codec is anybody's code, and may fail in any way.
        text = None
    if text is None or not _gives_back(text, encoding, data):
        fault = Diagnostic(
            path, line, column, "encoding", f"the file read as `{encoding}` cannot be written back unchanged",
            "save the file as UTF-8",
        )  # fmt: skip
        return _guess(data, fault)
    return Decoded(split_lines(text), encoding)


def encode(lines: tuple[str, ...], encoding: str) -> bytes:
    """The bytes that `decode` was given."""
    return "".join(lines).encode(encoding)


def _guess(data: bytes, fault: Diagnostic) -> Decoded:
    return Decoded(split_lines(data.decode("latin-1")), "latin-1", False, (fault,))


def _declaration(data: bytes) -> tuple[str, int, int]:
    """The encoding that the first two lines declare, and where its name stands."""
    position = len(BOM) if data.startswith(BOM) else 0
    for number in (1, 2):
        line = _BYTES_LINE.match(data, position)
        if line is None:
            break
        found = _DECLARATION.match(line[0])
        if found:
            return found[1].decode("ascii", "replace"), number, found.start(1) + 1
        if not _NO_CODE.match(line[0]):
            break
        position = line.end()
    return "", 1, 1


def _normal(name: str) -> str:
    """Any spelling of UTF-8 as Python reads it: without a byte order mark."""
    simple = name[:12].lower().replace("_", "-")
    if simple in ("utf-8", "utf8") or simple.startswith("utf-8-"):
        return "utf-8"
    return name


def _gives_back(text: str, encoding: str, data: bytes) -> bool:
    """Whether encoding undoes the decoding, and the text is one that can be written into a page."""
    if encoding in ("utf-8", "utf-8-sig"):
        return True
    try:
        text.encode("utf-8")
        # A coding line that is no longer one shows an encoding in which ASCII does not stand for itself.
        lines = [line.encode("utf-8") for line in split_lines(text)[:2]]
        return any(map(_DECLARATION.match, lines)) and text.encode(encoding) == data
    except Exception:  # As above.
        return False


def _place(before: bytes, encoding: str) -> tuple[int, int]:
    """Line and column of the byte that follows `before`."""
    lines = split_lines(before.decode(encoding, "replace") + "?")
    return len(lines), len(lines[-1])
