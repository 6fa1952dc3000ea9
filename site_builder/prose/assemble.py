"""
---
title: From blocks to HTML
summary: Lists, tables, quotations and notes round the words that Python-Markdown has read.
---
# From blocks to HTML
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate

from site_builder import highlight
from site_builder.blocks import Block, BlockKind, Container, ContainerKind
from site_builder.model import BlockState
from site_builder.prose import examples, tags
from site_builder.prose.context import Context, Passage
from site_builder.prose.model import Heading
from site_builder.prose.notes import Notes

# What stands behind the opening fence: `python`, `{.python}`, `python title="x"`.
_LANGUAGE = re.compile(r"[{. ]*([\w+#-]+)", re.ASCII)


@dataclass
class Assembly:
    """
    One prose on its way to HTML. By the identity of a block, `words` has the HTML and plain text of those
    written for people, `states` says which are not translated, `ids` names the headings, and `single_tags`
    has the places in HTML where tags begin that have no partner.
    """

    context: Context
    words: Mapping[int, tuple[str, str]]
    states: Mapping[int, BlockState]
    source_lang: str
    ids: Mapping[int, str]
    notes: Notes
    example: examples.Told | None
    example_words: Mapping[str, str]
    signs: examples.Signs | None
    single_tags: Mapping[int, frozenset[int]]
    headings: list[Heading] = field(default_factory=list)
    plain: list[str] = field(default_factory=list)

    def document(self, root: Container) -> str:
        body = self.flow(root)
        notes = self.notes.section(self.flow)
        return "\n".join(part for part in (body, notes) if part)

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
                self.plain.append("\n".join(lines))
                starts = accumulate((len(line) + 1 for line in lines), initial=0)
                places = [self.context.prose.position(passage.offset(start)) for start in starts]
                return self.slot(examples.figure(lines, places, self.example, self.example_words, self.signs))
            case BlockKind.HTML:
                return self.html(block, tight)
            case BlockKind.RULE:
                return "<hr>"
            case BlockKind.REFERENCE | BlockKind.TABLE_RULE:
                return ""
        mark = self.mark(block)
        if not tight:
            return f"<p{mark}>{self.inner(block)}</p>"
        return f"<span{mark}>{self.inner(block)}</span>" if mark else self.inner(block)

    def heading(self, block: Block) -> str:
        inner, plain = self.words[id(block)]
        self.plain.append(plain)
        name = self.ids[id(block)]
        self.headings.append(Heading(block.level, self.context.filled(inner), plain, name))
        anchor = f' id="{html.escape(name)}"' if name else ""
        return f"<h{block.level}{anchor}{self.mark(block)}>{inner}</h{block.level}>"

    def formula(self, block: Block, tight: bool) -> str:
        passage = self.passage(block)
        made, tex = self.context.formulas.block(passage.text, passage.offset)
        self.plain.append(tex.strip())
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
        slot = self.context.slots.add(tags.anonymous(made) if strange else made, foreign=strange)
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
        the page.
        """
        state = self.states.get(id(block))
        if not state:
            return f' class="{css}"' if css else ""
        css = f"{css} fallback".strip()
        return f' lang="{html.escape(self.source_lang)}" class="{css}" data-state="{state}"'
