"""
---
title: What is told of blocks
summary: After which blocks a translated page says that it is not quite one.
---
# What is told of blocks

A reader is told once of a run of blocks: after the last of them, so that the first line of a note stays level with
the code beside it. A list or a table counts as one. Of a stale block a reader is always told, because each has a
former translation of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from site_builder.blocks import Block, Container
from site_builder.model import BlockMark, BlockState

Label = Callable[[BlockMark], str]
"""What is told of a block, or of the first of a run, as HTML."""

_RUNNING = (BlockState.MISSING, BlockState.MACHINE)


def after(
    nodes: Sequence[Block | Container], states: Mapping[int, BlockMark]
) -> tuple[tuple[BlockMark, ...], ...]:
    """What is to be told after each of the nodes. Those without words neither end a run nor belong to one."""
    if not states:
        return ((),) * len(nodes)
    found: list[list[BlockMark]] = [[] for _ in nodes]
    runs: dict[BlockState, tuple[int, BlockMark]] = {}
    for number, node in enumerate(nodes):
        written = [block for block in _leaves(node) if block.translatable]
        if not written:
            continue
        marks = [states[id(block)] for block in written if id(block) in states]
        for state in _RUNNING:
            here = next((mark for mark in marks if mark.state is state), None)
            if here:
                runs[state] = (number, runs[state][1] if state in runs else here)
            elif state in runs:
                last, first = runs.pop(state)
                found[last].append(first)
        found[number] += [mark for mark in marks if mark.state is BlockState.STALE]
    for last, first in runs.values():
        found[last].append(first)
    return tuple(map(tuple, found))


def _leaves(node: Block | Container) -> Iterator[Block]:
    if isinstance(node, Block):
        yield node
    else:
        yield from node.leaves()
