"""
---
title: Which statement an instruction belongs to
summary: The positions of a code object's instructions, found once.
---
# Which statement an instruction belongs to

The tracer is told of lines and instructions; a record speaks of statements of the source. Which instruction
belongs to which statement is worked out once for each code object, from the positions that the compiler left in
it, and only looked up afterwards. Opcodes differ between versions of Python, so each is looked up by its name and
may be absent.
"""

from __future__ import annotations

import ast
import dis
from types import CodeType

from site_builder.record.model import MODULE
from site_builder.record.outline import Outline

ITERATION = frozenset(dis.opmap[name] for name in ("FOR_ITER", "SEND", "END_ASYNC_FOR") if name in dis.opmap)
"""Instructions at which an exception is the end of a loop, and nobody's failure."""
SUSPENSION = frozenset(dis.opmap[name] for name in ("YIELD_VALUE",) if name in dis.opmap)
"""Instructions at which a generator stops for a while."""
RETURN = frozenset(dis.opmap[name] for name in ("RETURN_VALUE", "RETURN_CONST") if name in dis.opmap)
"""Instructions at which a frame ends as it should."""

_FUNCTION, _REST, _KEYWORDS = 0x0002, 0x0004, 0x0008


class Code:
    """
    What is known of one code object of the page. `places` are the statements of its instructions, `firsts` the
    instructions with which statements begin; `crowded`: statements share a line, so that only single instructions
    tell when one ends; `owned` is the parameter that a method is called on; `local` the names that are no globals.
    """

    __slots__ = (
        "crowded",
        "firsts",
        "initial",
        "local",
        "operations",
        "ordinal",
        "owned",
        "parameters",
        "places",
        "traced",
    )

    def __init__(self, code: CodeType, ordinal: int, outline: Outline) -> None:
        self.ordinal = ordinal
        self.places: list[int] = []
        first: dict[int, int] = {}
        found: dict[tuple[int, int], int] = {}
        for index, (line, _, column, _) in enumerate(code.co_positions()):
            place = MODULE
            if line is not None and column is not None:
                known = found.get((line, column))
                if known is None:
                    known = outline.locate(line, column)
                    # What belongs to the definition itself, such as the beginning of its frame, is no statement of it.
                    if known != MODULE and outline.lines[known].scope != ordinal:
                        known = MODULE
                    found[line, column] = known
                place = known
            self.places.append(place)
            if place != MODULE:
                first.setdefault(place, index)
        self.firsts = frozenset(first.values())
        self.operations = code.co_code[::2]
        lines = [outline.lines[place].start[0] for place in first]
        self.crowded = len(set(lines)) < len(lines)
        self.traced = bool(code.co_flags & _FUNCTION)
        parameters = code.co_argcount + code.co_kwonlyargcount
        parameters += bool(code.co_flags & _REST) + bool(code.co_flags & _KEYWORDS)
        self.parameters = code.co_varnames[:parameters] if self.traced else ()
        method = self.parameters and outline.is_method(ordinal) and not _is_static(outline, ordinal)
        self.owned = self.parameters[0] if method else ""
        self.initial = code.co_name == "__init__" and bool(self.owned)
        self.local = (
            frozenset((*code.co_varnames, *code.co_cellvars, *code.co_freevars))
            if self.traced
            else frozenset()
        )


def _is_static(outline: Outline, ordinal: int) -> bool:
    node = outline.lines[ordinal].node
    return any(
        isinstance(decorator, ast.Name) and decorator.id == "staticmethod"
        for decorator in getattr(node, "decorator_list", ())
    )
