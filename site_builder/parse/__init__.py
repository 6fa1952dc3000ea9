r"""
---
title: Python source to sections
summary: Reads one file and cuts it into notes and code, losing no byte of it.
order:
  [decode, text, sections, starts, structure, comments, docstrings, front, mapping, values, opening, anchors, names,
  survey, scopes, identifiers, nodes]
---
# Python source to sections

A page comes from one file. Its docstrings and comments are the notes, everything else is code, and each piece
remembers its lines: joined again, they are the file. Nothing that a file can hold makes this fail. What
Python cannot read becomes a page of code, with a diagnostic that says why.

The way of a file is [bytes to lines](decode.html), [lines to sections](sections.html), and the module's docstring
to [front matter](front.html) and [opening](opening.html). Beside it, [names](names.html) finds out what each
identifier means, so that code can link to definitions.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence

from site_builder.errors import Diagnostic
from site_builder.model import Kind, Page, Prose, ProseLine, Section, SourceFile
from site_builder.parse import decode as codec
from site_builder.parse import front as matter
from site_builder.parse import names, opening, sections
from site_builder.parse.text import indentation, is_blank, unterminated

__all__ = ["encode", "parse"]


def parse(source: SourceFile, data: bytes) -> Page:
    """The page that a file becomes. Pure, and never raises: faults are the page's `diagnostics`."""
    decoded = codec.decode(data, source.path, declared=not source.is_markdown)
    tree: ast.Module | None = None
    diagnostics = list(decoded.diagnostics)
    if source.is_markdown:
        cut = _markdown(decoded.lines, source.path)
    else:
        if decoded.trusted:
            tree, faults = _tree(decoded.lines, source.path)
            diagnostics += faults
        cut = sections.cut(tree, decoded.lines, source.path) if tree else sections.plain(decoded.lines)
    front, rest, faults = matter.read(cut.docstring)
    diagnostics += faults
    heading, place, intro = opening.title_heading(rest, markdown=source.is_markdown)
    if front.title:
        place = front.position("title")
    meanings = names.analyse(tree or ast.Module([], []), decoded.lines, source.module, source.is_package)
    return Page(
        source=source,
        lines=decoded.lines,
        encoding=decoded.encoding,
        front=front,
        title=front.title or heading or source.module.rpartition(".")[2],
        title_position=place,
        summary=front.summary or opening.first_sentence(intro),
        intro=intro,
        sections=cut.sections,
        definitions=cut.definitions,
        references=meanings.references,
        exports=meanings.exports,
        imports=meanings.imports,
        bases=meanings.bases,
        diagnostics=tuple(diagnostics),
    )


def encode(page: Page) -> bytes:
    """The file that the page was made from, byte for byte."""
    return codec.encode(page.lines, page.encoding)


def _markdown(lines: Sequence[str], path: str) -> sections.Cut:
    """A Markdown file: prose from the first line to the last."""
    prose = tuple(
        ProseLine("" if is_blank(line) else unterminated(line), path, number, 1)
        for number, line in enumerate(lines, 1)
    )
    whole = (Section(Kind.MODULE, 1, len(lines) + 1, Prose(), (), "", ""),) if lines else ()
    return sections.Cut(whole, (), prose)


def _tree(lines: Sequence[str], path: str) -> tuple[ast.Module | None, tuple[Diagnostic, ...]]:
    """The syntax tree, or what Python says against the file."""
    line = column = 1
    # Python's parser knows every line end that we know; its columns are right only with this one.
    text = "".join(lines).replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        line, row = next((number, row) for number, row in enumerate(lines, 1) if "\0" in row)
        column, problem = row.index("\0") + 1, "it contains a null byte"
    else:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ast.parse(text), ()
        except SyntaxError as error:
            line = min(max(error.lineno or 1, 1), len(lines))
            column = max(error.offset or 1, 1)
            if isinstance(error, IndentationError):
                column = indentation(lines[line - 1]) + 1
            problem = error.msg
        except (RecursionError, MemoryError):
            problem = "it nests too deeply"
        except ValueError as error:
            problem = str(error)
    message = f"Python cannot read this file: {problem}"
    hint = "correct it; until then the page shows the file as plain code"
    return None, (Diagnostic(path, line, column, "python-syntax", message, hint),)
