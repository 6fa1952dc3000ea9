"""
---
title: Inside a paragraph
summary: Roles, links and stray stars of reStructuredText, as Markdown that means the same.
---
# Inside a paragraph

Foreign text is read once from left to right. Whatever Markdown would take for markup and the author did not mean as
markup gets a backslash (or an entity, for the signs that take no backslash); whatever the author did mean, a role such
as ``:class:`~a.B` `` for example, becomes its Markdown counterpart.

Every look ahead is bounded or remembered, so that a hostile docstring costs no more than its length.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from site_builder.lazy import regex
from site_builder.prose.docstyles.references import NOTHING, References, normal
from site_builder.prose.docstyles.roles import role
from site_builder.prose.docstyles.text import code, escape, guard, is_number, is_tex, literal_math

__all__ = ["inline"]


_SIGN = regex(r"[\\`*_<&$|\[\]!:]")
_STOP = regex(_SIGN.pattern + r"|(?<![A-Za-z])(?:https?|ftp)://", re.IGNORECASE)
_STOP_NAMES = regex(
    _STOP.pattern + r"|(?<!\w)[A-Za-z0-9](?:[\w.+-]{0,80}[A-Za-z0-9])?__?(?!\w)", re.IGNORECASE
)

_URL = regex(r"(?:https?|ftp)://[^\s<>`\"\\|$]+", re.IGNORECASE)
_AUTOLINK = regex(r"<((?:https?|ftp)://[^\s<>`\"\\|$]+)>", re.IGNORECASE)
_ROLE = regex(r":([A-Za-z][\w+.-]{0,40}(?::[A-Za-z][\w+.-]{0,40})?):`([^`]{1,2000})`")
_SUFFIX_ROLE = regex(r":([a-z]{1,20}):(?!`)")
_LINK = regex(r"([^`<>]{0,400}?)\s*<([^`<>]{1,1000})>\s*", re.DOTALL)
_OLD_QUOTE = regex(r"`([\w./+*-][\w./+* -]{0,60})'(?![\w`)\]])")
_MARKDOWN_LINK = regex(
    r"(!?)\[([^\[\]]{0,300})\]\(((?:https?://|mailto:)[^\s()<>]{1,1000})(?:\s+\"[^\"]{0,200}\")?\)"
)
_CROSS_REFERENCE = regex(r"\[`([^`\[\]]{1,200})`\]\[(?:[A-Za-z_][\w.]{0,200}|)\]")
_FOOTNOTE = regex(r"\[(\d{1,4}|[#*]|#?[A-Za-z][\w.:+-]{0,60})\]_(?!\w)")
_SUBSTITUTION = regex(r"\|([^|\s](?:[^|\n]{0,60}[^|\s])?)\|(?:__?(?!\w))?")
_ENTITY = regex(r"&(?:#\d{1,8}|#[xX][0-9A-Fa-f]{1,8}|\w{1,32});")
_MATH = regex(r"(?:\$\$([^$]{1,2000})\$\$|\$(?!\s)([^$]{1,500}?)(?<!\s)\$(?!\d))")
# Several words between underscores are stressed in any plain text; one word is a name.
_UNDERLINED = regex(r"_([A-Za-z][^_`*\n]{0,80} [^_`*\n]{0,80}[A-Za-z.!?])_(?!\w)")
_STARS = regex(r"\*+")
_UNDERSCORES = regex(r"_+")
_TICKS = regex(r"`+")
# reST lets emphasis end only before a space or one of these signs, and begin only after one of the others.
_MAY_FOLLOW = frozenset("'\")]}>-/:.,;!?\\’”»…—–")
_MAY_PRECEDE = frozenset("'\"([{<-/:‘“«—–¡¿")


_PAIR = regex(r"\$[^\s$](?:[^$]*[^\s$])?\$(?!\d)")


@dataclass
class _Reader:
    text: str
    references: References
    out: list[str] = field(default_factory=list)
    missing: set[str] = field(default_factory=set)
    """Closing signs that the rest of the text does not hold: asked for once."""

    @cached_property
    def paired(self) -> bool:
        """Whether each dollar of the text has a partner; a lone one is a price or a shell's."""
        return "$" not in _PAIR.sub("", self.text)

    def before(self, at: int) -> str:
        return self.text[at - 1] if at else " "

    def after(self, at: int) -> str:
        return self.text[at] if at < len(self.text) else " "

    def find(self, needle: str, start: int) -> int:
        if needle in self.missing:
            return -1
        found = self.text.find(needle, start)
        if found < 0:
            self.missing.add(needle)
        return found

    # --- one reader per sign: where it stands → what to write, and where to read on ---

    def backslash(self, at: int) -> tuple[str, int]:
        after = self.after(at + 1)
        # A docstring that is not raw holds reST's own backslashes twice.
        doubled = after == "\\" and self.after(at + 2) in "*_`|" and at + 2 < len(self.text)
        if doubled:
            after, at = self.after(at + 2), at + 1
        if after in "*_`|":
            return "\\" + after, at + 2
        if after in "<&'\"":
            return "", at + 1
        if after == "$":
            return "\\$", at + 2
        if self.before(at) == "`" and (after.isspace() or after.isalpha()):
            # ``:class:`X`\ s``: reST needs the sign to end its markup, the reader does not.
            return "", at + 1 + (after == " ")
        if after == " " and self.after(at + 2) in ":`*|" and not self.before(at).isspace():
            return "", at + 2
        if after == "\\":
            # `\\ ` after markup in a docstring that is not raw.
            if self.before(at) == "`" and self.after(at + 2) == " ":
                return "", at + 3
            return "\\\\", at + 2
        if after == "\n" or at + 1 >= len(self.text):
            # Python joins the lines of a docstring here.
            return "", at + 1
        return "\\\\", at + 1

    def ticks(self, at: int) -> tuple[str, int]:
        match = _TICKS.match(self.text, at)
        assert match
        run = match.group()
        start = match.end()
        if len(run) == 1:
            return self.interpreted(at)
        end = self.find(run, start)
        if end < 0 or "\n\n" in self.text[start:end]:
            return "\\`" * len(run), start
        while self.after(end + len(run)) == "`":
            end += 1
        content = self.text[start:end]
        if not content.strip():
            return "\\`" * len(run), start
        return run + content.replace("\n", " ") + run, end + len(run)

    def interpreted(self, at: int) -> tuple[str, int]:
        """One backtick: a hyperlink, a role written behind its text, an old-style quotation, or just code."""
        if quote := _OLD_QUOTE.match(self.text, at):
            return f"\\`{self.plain(quote.group(1))}'", quote.end()
        if self.before(at) == "`" or self.before(at).isalnum():
            return "\\`", at + 1
        end = self.find("`", at + 1)
        if end <= at + 1 or end - at > 2000 or self.text[at + 1 : end].isspace():
            return "\\`", at + 1
        content = self.text[at + 1 : end]
        tail = 0
        while tail < 2 and self.after(end + 1 + tail) == "_":
            tail += 1
        if tail and self.after(end + 1 + tail).isalnum():
            tail = 0
        if tail:
            return self.hyperlink(content), end + 1 + tail
        suffix = _SUFFIX_ROLE.match(self.text, end + 1)
        if suffix and (written := role(suffix.group(1), content)):
            return self.finish(written), suffix.end()
        return f"`{content}`".replace("\n", " "), end + 1

    def hyperlink(self, content: str) -> str:
        if match := _LINK.fullmatch(content):
            text, target = match.groups()
            target = target.strip()
            url = self.references.urls.get(normal(target.rstrip("_")), "") if target.endswith("_") else target
            shown = " ".join(text.split()) or target
            return self.link(shown, url, target)
        text = " ".join(content.split())
        return self.link(text, self.references.urls.get(normal(text), ""), text)

    def link(self, text: str, url: str, target: str) -> str:
        url = re.sub(r"\s+", "", url)
        if not re.match(r"(?:https?|ftp|mailto):", url, re.IGNORECASE):
            # A place in somebody else's documentation: the site cannot lead there, but it can say where.
            return (
                self.plain(text)
                if target in (text, "") or not url
                else f"{self.plain(text)} ({code(target)})"
            )
        url = url.replace("(", "%28").replace(")", "%29").replace(" ", "%20").replace("\\", "")
        return f"[{self.plain(text)}]({url})"

    def plain(self, text: str) -> str:
        return escape(text)

    def finish(self, written: tuple[str, str]) -> str:
        """A role's result: `written` is what it is (`code`, `math`, `text`, `raw`) and what it says."""
        kind, text = written
        if kind == "code":
            return code(text)
        if kind == "math":
            tex = " ".join(literal_math(text).split())
            return f"${tex}$" if tex and "$" not in tex else code(text)
        return text if kind == "raw" else self.plain(" ".join(text.split()))

    def colon(self, at: int) -> tuple[str, int]:
        match = _ROLE.match(self.text, at)
        if not match or self.before(at).isalnum():
            return ":", at + 1
        written = role(match.group(1), match.group(2))
        if written is None:
            return f"{self.plain(match.group(1))} {self.plain(match.group(2))}", match.end()
        text = self.finish(written)
        if text.startswith("$") and self.after(match.end()).isdigit():
            text += " "
        return text, match.end()

    def stars(self, at: int) -> tuple[str, int]:
        match = _STARS.match(self.text, at)
        assert match
        run, start = match.group(), match.end()
        before, after = self.before(at), self.after(start)
        if len(run) <= 2 and not after.isspace() and (before.isspace() or before in _MAY_PRECEDE):
            end = self.closing_stars(start, len(run))
            if end > start:
                inner = _read(self.text[start:end], self.references)
                return f"{run}{inner}{run}", end + len(run)
        if before.isspace() and after.isspace() and at and start < len(self.text):
            return run, start
        return "\\*" * len(run), start

    def closing_stars(self, start: int, count: int) -> int:
        end = self.text.find("*", start, start + 400)
        if end <= start or self.text[end - 1].isspace() or self.text[end - 1] == "\\":
            return -1
        run = _STARS.match(self.text, end)
        assert run
        after = self.after(run.end())
        if len(run.group()) != count or not (after.isspace() or after in _MAY_FOLLOW):
            return -1
        content = self.text[start:end]
        return end if "\n\n" not in content and content.count("`") % 2 == 0 else -1

    def underscores(self, at: int) -> tuple[str, int]:
        match = _UNDERSCORES.match(self.text, at)
        assert match
        if (emphasis := _UNDERLINED.match(self.text, at)) and not _wordy(self.before(at)):
            return f"_{_read(emphasis.group(1), self.references)}_", emphasis.end()
        inside = _wordy(self.before(at)) and _wordy(self.after(match.end()))
        return match.group() if inside else "\\_" * len(match.group()), match.end()

    def angle(self, at: int) -> tuple[str, int]:
        if match := _AUTOLINK.match(self.text, at):
            return match.group(), match.end()
        after = self.after(at + 1)
        return ("&lt;" if after.isalpha() or after in "/!?" else "<"), at + 1

    def ampersand(self, at: int) -> tuple[str, int]:
        return ("&amp;" if _ENTITY.match(self.text, at) else "&"), at + 1

    def dollar(self, at: int) -> tuple[str, int]:
        match = _MATH.match(self.text, at)
        if match:
            display, body = match.groups()
            if display is not None or is_tex(body) or (is_number(body) and self.paired):
                sign = "$$" if display is not None else "$"
                tex = " ".join(literal_math(display if display is not None else body).split())
                return (f"{sign}{tex}{sign}", match.end()) if tex else ("\\$", at + 1)
        return "\\$", at + 1

    def bar(self, at: int) -> tuple[str, int]:
        if self.references.substitutions and (match := _SUBSTITUTION.match(self.text, at)):
            text = self.references.substitutions.get(normal(match.group(1)))
            if text is not None:
                return _read(text, NOTHING), match.end()
        return "|", at + 1

    def bracket(self, at: int) -> tuple[str, int]:
        if match := _FOOTNOTE.match(self.text, at):
            return f"\\[{self.plain(match.group(1).lstrip('#'))}]" if match.group(1) else "", match.end()
        return (
            self.markdown_link(at)
            or self.cross_reference(at)
            or (("\\[", at + 1) if self.after(at + 1) == "^" else ("[", at + 1))
        )

    def bang(self, at: int) -> tuple[str, int]:
        return self.markdown_link(at) or ("!", at + 1)

    def markdown_link(self, at: int) -> tuple[str, int] | None:
        match = _MARKDOWN_LINK.match(self.text, at)
        if not match or self.before(at).isalnum() or self.before(at) in "_)]":
            return None
        _, text, url = match.groups()
        # A picture on another host would make the page ask that host: it becomes a link to the picture.
        shown = _read(text, NOTHING) if text.strip() else escape(url)
        return f"[{shown}]({url})", match.end()

    def cross_reference(self, at: int) -> tuple[str, int] | None:
        """`` [`load`][package.load] ``, as MkDocs has it: the object is named in brackets of its own."""
        match = _CROSS_REFERENCE.match(self.text, at)
        if not match or _wordy(self.before(at)):
            return None
        return code(match.group(1)), match.end()

    def closing_bracket(self, at: int) -> tuple[str, int]:
        return ("\\]" if self.after(at + 1) == "(" else "]"), at + 1

    def url(self, at: int) -> tuple[str, int]:
        match = _URL.match(self.text, at)
        if not match:
            return self.text[at], at + 1
        url = match.group().rstrip(".,;:!?*'_")
        while url.endswith((")", "]", "}")) and url.count(url[-1]) > url.count(
            {")": "(", "]": "[", "}": "{"}[url[-1]]
        ):
            url = url[:-1].rstrip(".,;:!?*'_")
        if "://" not in url or (url.endswith("/") and url.count("/") == 2):
            return match.group()[:4], at + 4
        return f"<{url}>", at + len(url)

    def named(self, at: int) -> tuple[str, int]:
        """`Name_`, a reference to a target of this docstring; any other word that ends so is an identifier."""
        match = _STOP_NAMES.match(self.text, at)
        assert match
        name = match.group().rstrip("_")
        url = self.references.urls.get(normal(name))
        return (self.link(name, url, name), match.end()) if url else (name, at + len(name))


def _wordy(character: str) -> bool:
    return character.isalnum() or character == "_"


_HANDLERS: dict[str, Callable[[_Reader, int], tuple[str, int]]] = {
    "\\": _Reader.backslash,
    "`": _Reader.ticks,
    "*": _Reader.stars,
    "_": _Reader.underscores,
    "<": _Reader.angle,
    "&": _Reader.ampersand,
    "$": _Reader.dollar,
    "|": _Reader.bar,
    "[": _Reader.bracket,
    "]": _Reader.closing_bracket,
    "!": _Reader.bang,
    ":": _Reader.colon,
}


def _read(text: str, references: References) -> str:
    stop = _STOP_NAMES if references.urls else _STOP if "://" in text else _SIGN
    match = stop.search(text)
    if not match:
        return text
    reader = _Reader(text, references)
    at = 0
    while match:
        start = match.start()
        if start > at:
            reader.out.append(text[at:start])
        handler = _HANDLERS.get(text[start])
        if handler is None:
            handler = _Reader.url if "://" in match.group() else _Reader.named
        written, at = handler(reader, start)
        if written.startswith("`") and reader.out and reader.out[-1].endswith("`"):
            # Two code spans that touch would share their backticks.
            reader.out.append(" ")
        if written:
            reader.out.append(written)
        match = stop.search(text, at)
    reader.out.append(text[at:])
    return "".join(reader.out)


def inline(text: str, references: References = NOTHING) -> str:
    """
    A paragraph of foreign text as a paragraph of Markdown. Line breaks stay; no line of the result begins a block.
    """
    lines = _read(text, references).split("\n")
    return "\n".join(guard(line.strip()) for line in lines if line.strip())
