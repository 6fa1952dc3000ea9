"""
Write down what Pygments has for the words that it knows, into `site_builder/highlight/words.py`.

    python tools/write_words.py            rewrite it
    python tools/write_words.py --check    exit with 1 if it is out of date
"""

from __future__ import annotations

import builtins
import keyword
import sys
import textwrap
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pygments.lexer import words
from pygments.lexers.python import PythonLexer
from pygments.token import Name

from tools.keeping import keep

PAGE = Path(__file__).parent.parent / "site_builder" / "highlight" / "words.py"

OPENING = '''"""
---
title: Words
summary: What Pygments has for the words of Python that it knows; every other word is a name.
---
# Words

Asking Pygments means compiling all of its rules first. So its answers for single words are written down here, by
`tools/write_words.py`, and a test asks it again.
"""

from __future__ import annotations

from pygments.token import string_to_tokentype

_KNOWN = {
'''

CLOSING = """}

KINDS = {word: string_to_tokentype(kind) for kind, words in _KNOWN.items() for word in words.split()}
\"\"\"The type of token that each word is between a `;` and a space.\"\"\"
"""


def candidates() -> set[str]:
    """The words in Pygments' own lists, whatever this Python knows, and what methods call their first argument."""
    own = {word for each in _lists(PythonLexer.tokens) for word in each.words if word.isidentifier()}
    return own | {*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "self", "cls"}


def _lists(rules: Any) -> Iterator[words]:
    if isinstance(rules, words):
        yield rules
    elif isinstance(rules, dict):
        yield from _lists(list(rules.values()))
    elif isinstance(rules, (tuple, list)):
        for rule in rules:
            yield from _lists(rule)


def kinds() -> dict[str, list[str]]:
    """The words by what Pygments calls them, but for plain names."""
    lexer = PythonLexer(stripnl=False, ensurenl=False)
    found: dict[str, list[str]] = defaultdict(list)
    for word in sorted(candidates()):
        _, (_, kind, _), *_ = lexer.get_tokens_unprocessed(f";{word} ")
        if kind is not Name:
            found[str(kind).removeprefix("Token.")].append(word)
    return dict(sorted(found.items()))


def page() -> str:
    rows = []
    for kind, found in kinds().items():
        lines = textwrap.wrap(" ".join(found), 100)
        if len(lines) == 1:
            rows.append(f'    "{kind}": "{lines[0]}",')
        else:
            rows += [f'    "{kind}": (', *(f'        "{line} "' for line in lines), "    ),"]
    return f"{OPENING}{chr(10).join(rows)}\n{CLOSING}"


if __name__ == "__main__":
    sys.exit(keep({PAGE: page()}, __doc__))
