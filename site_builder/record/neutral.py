"""
---
title: Text that is the same everywhere
summary: Without addresses in memory, and without folders of the machine.
---
# Text that is the same everywhere

One state of the sources must give the same record on every machine, byte for byte. So what an example prints loses
its addresses in memory, the folder of the project and that of the sandbox.
"""

from __future__ import annotations

import re

from site_builder.lazy import regex

_HIDDEN: list[tuple[re.Pattern[str], str]] = []
_ADDRESS = regex(r"\bat 0x[0-9a-fA-F]{6,}\b")


def hide(folder: str, shown: str = "~") -> None:
    """From here on, the folder is told so: it is another one every time, or on every machine."""
    _HIDDEN.append((re.compile(rf"(?<![\w./-]){re.escape(folder)}"), shown))


def neutral(text: str) -> str:
    """Without what is another every time: addresses in memory, and the folders that are hidden."""
    if "/" in text or "\\" in text:
        for folder, shown in _HIDDEN:
            text = folder.sub(lambda _, shown=shown: shown, text)  # type: ignore[misc]
    return _ADDRESS.sub("at 0x…", text) if "at 0x" in text else text
