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
import io
from typing import NamedTuple

from site_builder.errors import Diagnostic
from site_builder.lazy import regex

BOM = codecs.BOM_UTF8

_BYTES_LINE = regex(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
# Both from the language reference, "Encoding declarations".
_DECLARATION = regex(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_NO_CODE = regex(rb"[ \t\f]*(?:#|[\r\n]|$)")


class Decoded(NamedTuple):
    """`trusted` is false where the text is a guess, made so that something can be shown."""

    lines: tuple[str, ...]
    encoding: str
    trusted: bool = True
    diagnostics: tuple[Diagnostic, ...] = ()


def split_lines(text: str) -> tuple[str, ...]:
    """Every line with its terminator."""
    return tuple(io.StringIO(text, newline=""))


def decode(data: bytes, path: str, *, declared: bool = True) -> Decoded:
    """
    The lines of a file. `declared` says whether a coding line in its first two lines counts, as in Python.

    What cannot be decoded is read as Latin-1, which accepts and gives back any bytes, with an `encoding`
    diagnostic at the first byte that is wrong.
    """
    name, line, column = _declaration(data) if declared else ("", 1, 1)
    encoding = _normal(name or "utf-8")
    try:
        if data.startswith(BOM):
            if encoding != "utf-8":
                raise UnicodeError(f"the file begins with a UTF-8 byte order mark but declares `{name}`")
            encoding = "utf-8-sig"
        return Decoded(split_lines(_text(data, encoding)), encoding)
    except LookupError:
        message = f"`{name}` is not a text encoding that Python knows"
        hint = "correct the coding line, or save the file as UTF-8 and remove it"
    except UnicodeDecodeError as error:
        line, column = _place(data[: error.start], encoding)
        message = f"byte 0x{data[error.start : error.start + 1].hex()} is not valid in `{encoding}`"
        hint = "save the file as UTF-8, or declare its encoding in a coding line"
    except UnicodeError as error:
        message = str(error)
        hint = "save the file as UTF-8 and remove the coding line"
    fault = Diagnostic(path, line, column, "encoding", message, hint)
    return Decoded(split_lines(data.decode("latin-1")), "latin-1", False, (fault,))


def encode(lines: tuple[str, ...], encoding: str) -> bytes:
    """The bytes that `decode` was given."""
    return "".join(lines).encode(encoding)


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
    """`utf-8` for what Python itself takes for it, among others `utf-8-sig` without a byte order mark."""
    simple = name[:12].lower().replace("_", "-")
    return "utf-8" if simple == "utf-8" or simple.startswith("utf-8-") else name


def _text(data: bytes, encoding: str) -> str:
    """The text, if encoding it gives back the same bytes, and if it can be written into a page."""
    if encoding in ("utf-8", "utf-8-sig"):
        return data.decode(encoding)
    try:
        text = data.decode(encoding)
        # A coding line that is no longer one shows an encoding in which ASCII does not stand for itself.
        head = [line.encode("utf-8") for line in split_lines(text)[:2]]
        if any(map(_DECLARATION.match, head)) and text.encode("utf-8") and text.encode(encoding) == data:
            return text
    except (LookupError, UnicodeDecodeError):
        raise
    except Exception as error:  # A codec is anybody's code, and may fail in any way.
        raise UnicodeError(f"the file cannot be read as `{encoding}`") from error
    raise UnicodeError(f"the file read as `{encoding}` cannot be written back unchanged")


def _place(before: bytes, encoding: str) -> tuple[int, int]:
    """Line and column of the byte that follows `before`."""
    try:
        text = before.decode(encoding)
    except Exception:  # As above: what is wrong may show only further on.
        text = before.decode("latin-1")
    lines = split_lines(text + "?")
    return len(lines), len(lines[-1])
