"""
---
title: What Markdown must not touch
summary: Code, math, tags, links and notes leave a block's text before Python-Markdown reads it.
---
# What Markdown must not touch

Here also every link is settled and every formula typeset, because here it is still known which line
and column of the file each of them was typed in.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from site_builder.blocks import Atom, AtomKind, Block, BlockKind, atoms
from site_builder.blocks.atoms import MATHS
from site_builder.lazy import regex
from site_builder.prose import dollars, emphasis, glue, tags
from site_builder.prose.context import Context, Passage, Target, normalised, unescaped
from site_builder.prose.slots import plain_formula

_SPECIAL = regex(r"[\\`$<&\[\]\x00\x02\x03\ud800-\udfff\ue000\ue001]")
"""A text without any of these is as Markdown may read it."""
_BRACKET = regex(r"[\[\]]")
_TAIL = regex(
    r"\([ \t\n]*(<[^<>\n]*>|(?:\\[^\n]|[^\s()<>\\]|\((?:\\[^\n]|[^\s()\\])*\))+)"
    r"(?:[ \t\n]+(\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'))?[ \t\n]*\)"
)
_LABEL = regex(r"\[((?:\\.|[^\[\]\\])*)\]")
_NOTE = regex(r"\[\^([^\]\s\[]+)\]")
_NOTE_NAME = regex(r"\w{2,}(?:-\w{2,})*|\d+|\w")
_NESTED = 20
_DOLLARS = (
    "write a formula between two dollars, with no blank inside beside either of them and no digit after the last; "
    "a dollar sign is written \\$"
)
_EAST_BREAK = regex(
    "(?<=[\u3000-\u30ff\u3400-\u9fff\uff00-\uff60])\n(?=[\u3000-\u30ff\u3400-\u9fff\uff00-\uff60])"
)


class _Bracket:
    """An opening bracket that waits for its closing one; `part` is its place among the parts."""

    def __init__(self, part: int, start: int, image: bool) -> None:
        self.part, self.start, self.image = part, start, image
        self.active = True


def protect(block: Block, context: Context) -> str:
    """The block's text as Python-Markdown is to read it."""
    text = block.text(context.prose.text)
    if _SPECIAL.search(text):
        text = _Protector(Passage(block, context.prose.text), context).text()
    if "\n" in text and not text.isascii():
        text = _EAST_BREAK.sub("", text)
    return emphasis.settle(text)


class _Protector:
    def __init__(self, passage: Passage, context: Context):
        self.passage, self.context, self.source = passage, context, passage.text
        self.slots = context.slots
        self.parts: list[str] = []
        self.brackets: list[_Bracket] = []
        self.at = self.last_tag = 0

    def text(self) -> str:
        found = atoms(self.source)
        if "$" in self.source:
            self.left_over(found)
        outside = tags.unpaired(self.source, found) if "<" in self.source else ()
        for atom in found:
            if atom.start < self.at or atom.start in outside:
                continue
            self.words(atom.start)
            if atom.start < self.at:
                # The destination of a link reached over it.
                continue
            self.atom(atom)
        self.words(len(self.source))
        for bracket in self.brackets:
            self.literal(bracket)
        return "".join(self.parts)

    # --- text between atoms ------------------------------------------------------------------------

    def words(self, end: int) -> None:
        while self.at < end:
            mark = _BRACKET.search(self.source, self.at, end)
            if not mark:
                self.plain(end)
                return
            self.plain(mark.start())
            if mark[0] == "[":
                self.opening()
            else:
                self.closing()

    def plain(self, end: int) -> None:
        if end > self.at:
            self.parts.append(self.slots.text(self.source[self.at : end]))
            self.at = end

    def opening(self) -> None:
        if note := _NOTE.match(self.source, self.at):
            made = self.context.note(note[1])
            if made is not None:
                self.parts.append(self.slots.add(made))
                self.at = note.end()
                return
            if _looks_like_note(self.source, note):
                self.context.report(
                    self.passage.offset(self.at),
                    "footnote-undefined",
                    f"no footnote is called {note[1]!r}",
                    f"write it as a paragraph that begins with [^{note[1]}]:",
                )
        last = self.parts[-1] if self.parts else ""
        image = last.endswith("!") and last != "\\!"
        self.brackets.append(_Bracket(len(self.parts), self.at, image))
        self.parts.append("[")
        self.at += 1
        if len(self.brackets) > _NESTED:
            self.literal(self.brackets.pop(0))

    def literal(self, bracket: _Bracket) -> None:
        self.parts[bracket.part] = self.slots.add("[", "[")

    def closing(self) -> None:
        source, at = self.source, self.at
        bracket = self.brackets.pop() if self.brackets else None
        if bracket is None or not bracket.active:
            if bracket:
                self.literal(bracket)
            self.bar()
            return
        target, end = self.target(bracket)
        if target is None or (bracket.image and self.last_tag > bracket.part):
            # The words in place of an image are an attribute, which can hold no tags.
            self.literal(bracket)
            self.bar()
            return
        self.at = end
        href = self.context.settled(target.address, target.offset, bracket.image)
        if href is None:
            self.parts[bracket.part] = ""
            if bracket.image:
                self.parts[bracket.part - 1] = self.parts[bracket.part - 1][:-1]
            return
        title = ""
        if target.title:
            title = f' "{self.slots.add(html.escape(target.title), target.title, foreign=True)}"'
        slot = self.slots.add(html.escape(href), source[at + 1 : end], foreign=True)
        self.parts.append(f"]({slot}{title})")
        if not bracket.image:
            for outer in self.brackets:
                if not outer.image:
                    outer.active = False

    def bar(self) -> None:
        self.parts.append(self.slots.add("]", "]"))
        self.at += 1

    def target(self, bracket: _Bracket) -> tuple[Target | None, int]:
        """Where the link ends that the bracket opens, and where it leads."""
        source, after = self.source, self.at + 1
        if tail := _TAIL.match(source, after):
            address = unescaped(tail[1][1:-1] if tail[1].startswith("<") else tail[1])
            start = tail.start(1) + tail[1].startswith("<")
            if _is_subscript(source, bracket.start, address):
                return None, after
            title = unescaped(tail[2][1:-1]) if tail[2] else ""
            return Target(address, title, self.passage.offset(start)), tail.end()
        inner, end = source[bracket.start + 1 : self.at], after
        if label := _LABEL.match(source, after):
            inner, end = label[1] or inner, label.end()
        return self.context.references.get(normalised(inner)), end

    # --- atoms -------------------------------------------------------------------------------------

    def atom(self, atom: Atom) -> None:
        source, slots = self.source, self.slots
        typed, inner = source[atom.start : atom.end], source[slice(*atom.inner)]
        self.at = atom.end
        if atom.kind is AtomKind.CODE:
            self.code(inner)
        elif atom.kind in MATHS:
            self.formula(atom, typed, inner)
        elif atom.kind is AtomKind.ESCAPE:
            self.escape(inner)
        elif atom.kind is AtomKind.UNCLOSED:
            self.unclosed(atom, typed)
        elif atom.kind is AtomKind.ENTITY:
            character = html.unescape(typed)
            self.parts.append(slots.add(html.escape(character), character))
        elif atom.kind is AtomKind.TAG:
            self.tag(atom, typed)
        else:
            self.autolink(atom, inner)

    def escape(self, character: str) -> None:
        if character == "\n":
            self.parts.append("  \n")
        elif character in "$[]<&`":
            self.parts.append(self.slots.add(html.escape(character), character))
        else:
            self.parts.append(f"\\{character}")

    def code(self, inner: str) -> None:
        """CommonMark: line ends are blanks, and one blank on both sides is there for a backtick beside it."""
        code = inner.replace("\n", " ")
        if len(code) > 1 and code[0] == code[-1] == " " and code.strip(" "):
            code = code[1:-1]
        if self.passage.kind is BlockKind.CELL:
            # GitHub asks for the backslash, we do not.
            code = code.replace("\\|", "|")
        made = f"<code>{html.escape(code, quote=False)}</code>"
        self.glued(made, code, short=not any(map(str.isspace, code)))

    def unclosed(self, atom: Atom, typed: str) -> None:
        close = "$$" if typed == "$$" else typed.replace("begin", "end", 1)
        self.context.report(
            self.passage.offset(atom.start),
            "math-unclosed",
            f"{typed} is never closed",
            f"end the formula with {close} before the next blank line; a dollar sign is written \\$",
        )
        self.parts.append(self.slots.add(html.escape(typed), typed))

    def left_over(self, found: Sequence[Atom]) -> None:
        """Says which dollar should have been part of a formula. A translation is compared with its source anyway."""
        for at, begins in dollars.lone(self.source, found):
            place = self.passage.offset(at)
            if not self.context.is_strange(place):
                what = "this $ is never closed" if begins else "this $ closes a formula that nothing opens"
                self.context.report(place, "math-unclosed", what, _DOLLARS)

    def formula(self, atom: Atom, typed: str, inner: str) -> None:
        display = atom.kind is not AtomKind.MATH
        formulas, passage = self.context.formulas, self.passage
        offset = passage.offset
        made = formulas.typeset(typed, inner, display, lambda at: offset(atom.inner[0] + at))
        if display:
            self.parts.append(self.slots.add(made, plain_formula(inner)))
        else:
            self.glued(made, plain_formula(inner), glue.is_short(inner))

    def glued(self, made: str, plain: str, short: bool) -> None:
        """Add a formula or code; what touches a short one stays on its line."""
        self.at += glue.skipped(self.source, self.at)
        last = self.parts[-1] if self.parts else ""
        before = glue.before(last) if short and not last.startswith("\\") else ""
        after = glue.after(self.source, self.at) if short else ""
        if before or after:
            if before:
                self.parts[-1] = last.removesuffix(before)
            self.at += len(after)
            left, right = html.escape(before, quote=False), html.escape(after, quote=False)
            made, plain = f'<span class="nb">{left}{made}{right}</span>', before + plain + after
        self.parts.append(self.slots.add(made, plain))

    def tag(self, atom: Atom, typed: str) -> None:
        made = tags.settled(typed, lambda at: self.passage.offset(atom.start + at), self.context.settled)
        strange = self.context.is_strange(self.passage.offset(atom.start))
        if not strange:
            self.context.harmless(typed, lambda at: self.passage.offset(atom.start + at))
        self.last_tag = len(self.parts)
        self.parts.append(
            self.slots.add(tags.anonymous(made, self.context.named) if strange else made, foreign=strange)
        )

    def autolink(self, atom: Atom, address: str) -> None:
        target = address if re.match(r"[A-Za-z][\w+.-]*:", address) else f"mailto:{address}"
        href = self.context.settled(target, self.passage.offset(atom.inner[0]))
        shown = html.escape(address, quote=False)
        if href is not None:
            shown = f'<a href="{html.escape(href)}">{shown}</a>'
        self.parts.append(self.slots.add(shown, address, foreign=True))


def _is_subscript(source: str, at: int, address: str) -> bool:
    """`hooks[name](value)` is code that somebody forgot to mark as such."""
    before = source[at - 1] if at else " "
    called = before.isascii() and (before.isalnum() or before in "_)]")
    return called and not any(mark in address for mark in "/.#:")


def _looks_like_note(source: str, note: re.Match[str]) -> bool:
    """Rather than like a class of characters in a regular expression."""
    after = source[note.end() : note.end() + 1]
    return bool(_NOTE_NAME.fullmatch(note[1])) and after not in ("+", "*", "?", "{")
