"""
---
title: Render
summary: Markdown that remembers its origin goes in; HTML and diagnostics come out.
---
# Render

The order matters. The text is cut into blocks. Code, formulas and links are taken out of those that hold words.
Python-Markdown reads what is left, all blocks in one go. Then the blocks become HTML, and what was taken out is
put back.

`formulas` stops after the second step: it tells in advance what will have to be typeset.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from site_builder import blocks
from site_builder.blocks import Block, BlockKind, Exchanged, starts
from site_builder.lazy import regex
from site_builder.model import BlockMark, Prose
from site_builder.prose import inline, tags
from site_builder.prose.assemble import Assembly
from site_builder.prose.context import Context, Passage, Target, normalised, unescaped
from site_builder.prose.examples import Signs, Told
from site_builder.prose.formulas import Formulas
from site_builder.prose.labels import Label
from site_builder.prose.model import Rendered
from site_builder.prose.notes import Notes
from site_builder.prose.protect import protect
from site_builder.prose.slots import Slots
from site_builder.prose.slugging import unique

_HEADING = regex("#|==|--")
"""Without any of these a text has no heading."""


def render(
    prose: Prose,
    *,
    typeset: Callable[[str, bool], str],
    link: Callable[[str], str],
    prefix: str,
    source_lang: str = "en",
    source_dir: str = "",
    catalogue: str = "",
    label: Label | None = None,
    heading_ids: Sequence[str] = (),
    example: Told | None = None,
    example_words: Mapping[str, str] = MappingProxyType({}),
    signs: Signs | None = None,
    trusted: str | None = None,
    named: frozenset[str] = frozenset(),
) -> Rendered:
    """
    The prose as HTML. Nothing in it is an error: what is malformed is shown as it was typed.

    `typeset` makes HTML of a formula, `link` the address to write of the one that was typed; either may
    refuse, by `MathError` or `LinkError`, which gives a diagnostic at the place in the file. `prefix`
    makes the ids of footnotes unique in the page. `heading_ids` are given to the headings in order (an
    empty one: no id); the rest get their own slugs. `example` gets the source of a doctest's step,
    without prompts, and where it begins, and tells what came of it; `example_words` say of a whole example how it went,
    `signs` which identifiers in a line of it are to be marked. `trusted` is the file whose author may write any
    HTML: of what was typed elsewhere, in a catalogue, only the harmless passes, and of its ids those that are `named`.
    Without it all is the author's.

    Of a translated page, `source_lang` is what a block is in that was not translated, `source_dir` the direction of
    that language where the page has the other; the elements tell their lines in the file `catalogue`, and `label`
    makes what a reader is told after a block.
    """
    text = prose.text
    root = blocks.outline(text)
    leaves = tuple(root.leaves())
    slots, notes = Slots(), Notes(root if "[^" in text else None, prefix)
    context = Context(prose, slots, link, _references(leaves, text), notes.reference, trusted, named)
    context.formulas = Formulas(prose, typeset, context.report)
    written = [block for block in leaves if block.translatable]
    read = inline.read([protect(block, context) for block in written], slots)
    headings = [block for block in written if block.kind is BlockKind.HEADING]
    names = (*heading_ids, *_slugs(headings, text)[len(heading_ids) :])
    assembly = Assembly(
        context=context,
        words={id(block): made for block, made in zip(written, read, strict=True)},
        states=_states(prose, written),
        source=(source_lang, source_dir),
        catalogue=catalogue,
        label=label,
        ids={id(block): name for block, name in zip(headings, names, strict=False)},
        notes=notes,
        example=example,
        example_words=example_words,
        signs=signs,
        single_tags=_single_tags(leaves, text),
    )
    html = context.filled(assembly.document(root))
    found = sorted(context.diagnostics)
    return Rendered(html, tuple(assembly.headings), tuple(found), "\n".join(assembly.plain))


def formulas(prose: Prose) -> tuple[tuple[str, bool], ...]:
    """What `render` will ask `typeset` for, in no particular order."""
    text = prose.text
    found: list[tuple[str, bool]] = []
    if "$" not in text and "\\begin" not in text:
        return ()

    def typeset(tex: str, display: bool) -> str:
        found.append((tex, display))
        return ""

    root = blocks.outline(text)
    leaves, notes = tuple(root.leaves()), Notes(root if "[^" in text else None, "")
    context = Context(prose, Slots(), lambda target: target, _references(leaves, text), notes.reference, None)
    context.formulas = Formulas(prose, typeset, context.report)
    for block in leaves:
        if block.translatable:
            typed = block.text(text)
            if "$" in typed or "\\begin" in typed:
                protect(block, context)
        elif block.kind is BlockKind.MATH:
            passage = Passage(block, text)
            context.formulas.block(passage.text, passage.offset)
    return tuple(found)


def slugs(prose: Prose) -> tuple[str, ...]:
    """One slug for each heading, from the text as typed."""
    if not _HEADING.search(prose.text):
        return ()
    headings = [block for block in blocks.split(prose.text) if block.kind is BlockKind.HEADING]
    return _slugs(headings, prose.text)


def _slugs(headings: Sequence[Block], text: str) -> tuple[str, ...]:
    return unique([heading.text(text) for heading in headings])


def _references(leaves: Sequence[Block], text: str) -> dict[str, Target]:
    """Where the links lead that name their destination elsewhere in the text. The first of a name counts."""
    found: dict[str, Target] = {}
    for block in leaves if "]:" in text else ():
        if block.kind is BlockKind.REFERENCE and (mark := starts.reference(text, block.spans[0])):
            address, start = mark[2], mark.start(2)
            if address.startswith("<"):
                address, start = address[1:-1], start + 1
            title = unescaped(mark[3][1:-1]) if mark[3] else ""
            found.setdefault(normalised(mark[1]), Target(unescaped(address), title, start))
    return found


def _single_tags(leaves: Sequence[Block], text: str) -> dict[int, frozenset[int]]:
    """Of each block of HTML, by identity, where tags without a partner begin."""
    if "<" not in text:
        return {}
    written = [block for block in leaves if block.kind is BlockKind.HTML]
    single = tags.unpaired_between([block.text(text) for block in written])
    return {id(block): places for block, places in zip(written, single, strict=True)}


def _states(prose: Prose, written: Sequence[Block]) -> dict[int, BlockMark]:
    """Of the blocks that a translation left in the source language, by identity, why it did; and of drafts."""
    if isinstance(prose, Exchanged):
        marks = dict(prose.marks)
        return {id(block): marks[block.start] for block in written if block.start in marks}
    if not prose.states:
        return {}
    lines = dict(prose.states)
    found = ((block, prose.line_at(block.start)) for block in written)
    return {id(block): BlockMark(lines[line]) for block, line in found if line in lines}
