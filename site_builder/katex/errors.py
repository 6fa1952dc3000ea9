"""
---
title: What is wrong with an expression
summary: KaTeX's complaints, reworded for the person who wrote the page.
---
# What is wrong with an expression

KaTeX speaks of what its parser expected. An author wants to know what to change. The table below translates
the complaints that authors meet; any other is passed on as it is.
"""

from __future__ import annotations

import re

from site_builder.lazy import regex


class MathError(ValueError):
    """
    An expression that cannot be typeset.

    `position` and `length` say where, in characters of the expression as it was given. The code is
    `math-syntax` for what is wrongly written, `math-limit` for what takes too long or too much. The hint says
    what to do about it, where that is known.
    """

    def __init__(
        self, message: str, position: int = 0, length: int = 0, code: str = "math-syntax", hint: str = ""
    ):
        super().__init__(message)
        self.message = message
        self.position = position
        self.length = length
        self.code = code
        self.hint = hint

    # Exceptions are pickled by their message alone, which would lose the place on the way between processes.
    def __reduce__(self) -> tuple[type[MathError], tuple[str, int, int, str, str]]:
        return MathError, (self.message, self.position, self.length, self.code, self.hint)


# What KaTeX says, what we say, and what the author can do.
_WORDING = tuple(
    (regex(pattern, re.DOTALL), message, hint)
    for pattern, message, hint in (
        (r"Expected '\}', got 'EOF'", "An opening brace is never closed", "add the missing }"),
        (
            r"Unexpected end of input in a macro argument.*",
            "The last command lacks an argument, or the argument its closing brace",
            "",
        ),
        (r"Expected 'EOF', got '\}'|Extra \}", "A closing brace was never opened", r"remove it, or write \}"),
        (
            r"Expected 'EOF', got '&'",
            "An & stands outside of an environment",
            r"write \& for the sign itself",
        ),
        (r"Expected 'EOF', got '#'", "A # stands outside of a macro", r"write \# for the sign itself"),
        (r"Expected 'EOF', got '\\end'", r"An \\end has no \\begin", ""),
        (r"Expected 'EOF', got '\\right'", r"A \\right has no \\left", r"write \left. for an invisible one"),
        (r"Expected '\\right', got '.*'", r"A \\left has no \\right", r"write \right. for an invisible one"),
        (r"Expected (?:& or )?\\\\ or \\cr or \\end", r"A \\begin has no \\end", ""),
        (r"Mismatch: (.*) matched by (.*)", r"\1 ends with \2", ""),
        (
            r"Can't use function '\$' in math mode",
            "A dollar sign stands inside math",
            r"write \$ for the sign",
        ),
        (r".*\[commentAtEnd\]", "A % turns the rest into a comment", r"write \% for the sign itself"),
        (
            r"Undefined control sequence: (\\label|\\ref|\\eqref)",
            r"The command \1 is unknown",
            r"set a number with \tag and link to the section",
        ),
        (r"Undefined control sequence: (.*)", r"The command \1 is unknown", ""),
        (r"No such environment: (.*)", r"The environment \1 is unknown", ""),
        (
            r"Forbidden command: (.*)",
            r"The command \1 is not allowed in math",
            "use Markdown around the math",
        ),
        (
            r"\{(.*)\} can be used only in display mode\.",
            r"The environment \1 stands in the middle of a line",
            "put the expression between $$ signs",
        ),
        (
            r"\\tag works only in display equations",
            r"A \\tag stands in the middle of a line",
            "put the expression between $$ signs",
        ),
        (
            r"Got function '(.*)' with no arguments as .*",
            r"\1 cannot stand here by itself",
            "put it in braces, with what belongs to it",
        ),
        (r"Expected group (?:after|as argument to) '(.*)'", r"\1 lacks what it applies to", ""),
        (r"Expected 'EOF', got '(.*)'", r"\1 has no place here", ""),
        (r"Expected '(.*)', got 'EOF'", r"The expression ends where \1 is missing", ""),
        (r"Expected '(.*)', got '(.*)'", r"\2 stands where \1 is expected", ""),
        (r"Too many expansions: .*", "The macros expand without end", "look for one that uses itself"),
    )
)

LIMITS = {
    "length": ("The expression is longer than {limit} characters", "split it"),
    "depth": ("The expression is nested too deeply", "name a part of it and set that apart"),
    "time": ("The expression takes longer than {limit} seconds to typeset", "split it"),
    "memory": ("The expression takes more memory than allowed to typeset", "split it"),
}


def reworded(complaint: str) -> tuple[str, str, str]:
    """Code, message and hint for a complaint of KaTeX's."""
    code = "math-limit" if complaint.startswith("Too many expansions") else "math-syntax"
    for pattern, message, hint in _WORDING:
        if match := pattern.fullmatch(complaint):
            return code, printable(match.expand(message)), hint
    return code, printable(complaint[:1].upper() + complaint[1:].rstrip(".")), ""


def printable(text: str) -> str:
    r"""
    The same, with characters by number that would spoil a terminal or cannot be encoded.

    >>> printable("Unexpected character: '\x07'")
    "Unexpected character: 'U+0007'"
    """
    return "".join(sign if sign.isprintable() else f"U+{ord(sign):04X}" for sign in text)
