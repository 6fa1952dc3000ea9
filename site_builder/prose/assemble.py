"""
---
title: From blocks to HTML
summary: Lists, tables, quotations and notes round the words that Python-Markdown has read.
---
# From blocks to HTML

Python-Markdown reads words only. Everything that has a shape is made here, by the kind of each block: `node` for
what holds other blocks, `block` for what does not. The result still has slots in it; formulas, code and links fill
them at the very end.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate

from site_builder import highlight
from site_builder.blocks import Block, BlockKind, Container, ContainerKind
from site_builder.blocks.model import TRANSLATABLE
from site_builder.lazy import regex
from site_builder.model import BlockMark, BlockState
from site_builder.prose import examples, labels, tags
from site_builder.prose.context import Context, Passage
from site_builder.prose.model import Heading
from site_builder.prose.notes import Notes
from site_builder.prose.slots import bare, plain_formula

# What stands behind the opening fence: `python`, `{.python}`, `python title="x"`.
_LANGUAGE = regex(r"[{. ]*([\w+#-]+)", re.ASCII)

_WORDS = TRANSLATABLE - {BlockKind.HEADING}
"""What is shown as a paragraph, or as bare words where the list or table around it is tight."""


@dataclass(eq=False, repr=False)
class Assembly:
    """
    One prose on its way to HTML. By the identity of a block, `words` has the HTML and plain text of those
    written for people, `states` says what a translated page tells of them, `ids` names the headings, and
    `single_tags` has the places in HTML where tags begin that have no partner. `source` is the language, and the
    direction where it must be said, of what is not translated.
    """

    context: Context
    words: Mapping[int, tuple[str, str]]
    states: Mapping[int, BlockMark]
    source: tuple[str, str]
    catalogue: str
    label: labels.Label | None
    ids: Mapping[int, str]
    notes: Notes
    example: examples.Told | None
    example_words: Mapping[str, str]
    signs: examples.Signs | None
    single_tags: Mapping[int, frozenset[int]]
    headings: list[Heading] = field(default_factory=list)
    plain: list[str] = field(default_factory=list)

    def document(self, root: Container) -> str:
        notes = [child for child in root.children if _is_note(child)]
        body = [child for child in root.children if not _is_note(child)]
        parts: list[str] = []
        for child, marks in zip(body, labels.after(body, self.states), strict=True):
            parts += (self.node(child, tight=False), *self.told(marks))
        parts.append(self.notes.section(self.flow))
        for marks in labels.after(notes, self.states):
            parts += self.told(marks)
        return "\n".join(filter(None, parts))

    def told(self, marks: Iterable[BlockMark]) -> Iterator[str]:
        return (self.slot(self.label(mark)) for mark in marks if self.label)

    def flow(self, container: Container, tight: bool = False) -> str:
        return "\n".join(filter(None, (self.node(child, tight) for child in container.children)))

    def node(self, node: Block | Container, tight: bool) -> str:
        if isinstance(node, Block):
            return self.block(node, tight)
        match node.kind:
            case ContainerKind.QUOTE:
                return f"<blockquote>\n{self.flow(node)}\n</blockquote>"
            case ContainerKind.LIST:
                return self.list(node)
            case ContainerKind.TABLE:
                return self.table(node)
            case ContainerKind.DEFINITIONS:
                return self.definitions(node)
            case ContainerKind.FOOTNOTE:
                return ""
            case _:
                return self.flow(node, tight)

    # --- containers --------------------------------------------------------------------------------

    def list(self, node: Container) -> str:
        name = "ul" if node.number is None else "ol"
        start = f' start="{node.number}"' if node.number not in (None, 1) else ""
        items = "\n".join(self.holder("li", item, not node.loose) for item in node.children)
        return f"<{name}{start}>\n{items}\n</{name}>"

    def holder(self, name: str, node: Block | Container, tight: bool) -> str:
        """An element whose only words, where it has no others, are marked on itself."""
        if isinstance(node, Container) and tight and len(node.children) == 1:
            only = node.children[0]
            if isinstance(only, Block) and only.translatable and only.kind is not BlockKind.HEADING:
                return f"<{name}{self.mark(only)}>{self.inner(only)}</{name}>"
        inner = self.flow(node, tight) if isinstance(node, Container) else self.block(node, tight)
        return f"<{name}>{inner}</{name}>"

    def definitions(self, node: Container) -> str:
        parts = [
            f"<dt{self.mark(child)}>{self.inner(child)}</dt>"
            if isinstance(child, Block)
            else self.holder("dd", child, not child.loose)
            for child in node.children
        ]
        return "\n".join(("<dl>", *parts, "</dl>"))

    def table(self, node: Container) -> str:
        rows = [child for child in node.children if isinstance(child, Container)]
        captions = [c for c in node.children if isinstance(c, Block) and c.kind is BlockKind.CAPTION]
        head = self.row(rows[0], "th", node.align)
        body = "\n".join(self.row(row, "td", node.align) for row in rows[1:])
        caption = "".join(f"<caption{self.mark(c)}>{self.inner(c)}</caption>\n" for c in captions)
        body = f"\n<tbody>\n{body}\n</tbody>" if body else ""
        return f'<div class="table"><table>\n{caption}<thead>\n{head}\n</thead>{body}\n</table></div>'

    def row(self, row: Container, name: str, align: tuple[str, ...]) -> str:
        made: list[str] = []
        scope = ' scope="col"' if name == "th" else ""
        for column, cell in enumerate(row.children):
            if isinstance(cell, Block):
                side = align[column] if column < len(align) else ""
                made.append(f"<{name}{scope}{self.mark(cell, side)}>{self.inner(cell)}</{name}>")
        made += [f"<{name}></{name}>"] * (len(align) - len(made))
        return f"<tr>{''.join(made)}</tr>"

    # --- blocks ------------------------------------------------------------------------------------

    def block(self, block: Block, tight: bool) -> str:
        if block.kind in _WORDS:
            mark = self.mark(block)
            if not tight:
                return f"<p{mark}>{self.inner(block)}</p>"
            return f"<span{mark}>{self.inner(block)}</span>" if mark else self.inner(block)
        match block.kind:
            case BlockKind.HEADING:
                return self.heading(block)
            case BlockKind.MATH:
                return self.formula(block, tight)
            case BlockKind.CODE:
                return self.code(block)
            case BlockKind.EXAMPLE:
                passage = self.passage(block)
                lines = passage.text.split("\n")
                self.plain += [
                    part for step in examples.steps(lines) for part in (step.source, step.want) if part
                ]
                starts = accumulate((len(line) + 1 for line in lines), initial=0)
                places = [self.context.prose.position(passage.offset(start)) for start in starts]
                return self.slot(examples.figure(lines, places, self.example, self.example_words, self.signs))
            case BlockKind.HTML:
                return self.html(block, tight)
            case BlockKind.RULE:
                return "<hr>"
        # The definition of a link's destination, or the line below a table's head.
        return ""

    def heading(self, block: Block) -> str:
        inner, plain = self.words[id(block)]
        plain = bare(plain)
        self.plain.append(plain)
        name = self.ids[id(block)]
        self.headings.append(
            Heading(block.level, self.abroad(block, self.context.filled(inner)), plain, name)
        )
        anchor = f' id="{html.escape(name)}"' if name else ""
        return f"<h{block.level}{anchor}{self.mark(block)}>{inner}</h{block.level}>"

    def formula(self, block: Block, tight: bool) -> str:
        passage = self.passage(block)
        made, tex = self.context.formulas.block(passage.text, passage.offset)
        self.plain.append(plain_formula(tex.strip()))
        return self.slot(made if tight else f"<p>{made}</p>")

    def code(self, block: Block) -> str:
        code = self.passage(block).text
        self.plain.append(code)
        language = _LANGUAGE.match(block.info.lower())
        name = language[1] if language else ""
        css = f' class="language-{name}"' if name else ""
        return self.slot(f"<pre><code{css}>{highlight.block(code, name)}</code></pre>")

    def html(self, block: Block, tight: bool) -> str:
        passage = self.passage(block)
        single = self.single_tags[id(block)]
        made = tags.settled(passage.text, passage.offset, self.context.settled, single)
        strange = self.context.is_strange(block.start)
        if not strange:
            self.context.harmless(passage.text, passage.offset)
        slot = self.context.slots.add(
            tags.anonymous(made, self.context.named) if strange else made, foreign=strange
        )
        return slot if "<" in made or tight else f"<p>{slot}</p>"

    def passage(self, block: Block) -> Passage:
        return Passage(block, self.context.prose.text)

    # --- words -------------------------------------------------------------------------------------

    def slot(self, made: str) -> str:
        return self.context.slots.add(made)

    def inner(self, block: Block) -> str:
        inner, plain = self.words[id(block)]
        self.plain.append(plain)
        return inner

    def mark(self, block: Block, css: str = "") -> str:
        """
        The attributes of the block's element; they tell a reader, and a browser, if it is not in the language of
        the page, and a reader, if no person put it into that language.
        """
        mark = self.states.get(id(block))
        line = self.line(block, mark)
        attributes = f' data-line="{line}"' if line else ""
        if not mark:
            return f'{attributes} class="{css}"' if css else attributes
        if mark.state is BlockState.MACHINE:
            return f'{attributes} class="{f"{css} drafted".strip()}" data-state="{mark.state}"'
        css = f"{css} fallback".strip()
        return f'{attributes}{self.language} class="{css}" data-state="{mark.state}"'

    def line(self, block: Block, mark: BlockMark | None) -> int:
        """The line of the catalogue that translates the block, or should."""
        if not self.catalogue:
            return 0
        if mark and mark.line:
            return mark.line
        place = self.context.prose.position(block.start)
        return place.line if place.path == self.catalogue else 0

    def abroad(self, block: Block, inner: str) -> str:
        """The words of a block as another place of the page may show them."""
        mark = self.states.get(id(block))
        if not mark or mark.state is BlockState.MACHINE:
            return inner
        return f"<span{self.language}>{inner}</span>"

    @property
    def language(self) -> str:
        lang, direction = map(html.escape, self.source)
        return f' lang="{lang}"' + (f' dir="{direction}"' if direction else "")


def _is_note(node: Block | Container) -> bool:
    return isinstance(node, Container) and node.kind is ContainerKind.FOOTNOTE
