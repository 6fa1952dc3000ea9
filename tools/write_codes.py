"""
Write the manual's chapter about codes from the entries in `site_builder/codes/`.

    python tools/write_codes.py            rewrite it
    python tools/write_codes.py --check    exit with 1 if it is out of date
"""

from __future__ import annotations

import sys
from pathlib import Path

from site_builder import codes
from tools.keeping import keep

PAGE = Path(__file__).parent.parent / "site_builder" / "manual" / "codes.md"

OPENING = """\
---
title: Codes
summary: Every code that a diagnostic can have, what it means, and what to do.
---
# Codes

Each message about a page has a code, and a code never changes its meaning. The same is told in a terminal by

```console
$ python -m site_builder check --explain CODE
```

where `all` in the place of `CODE` lists all of them. In the examples, what is wrong comes first.
"""


def page() -> str:
    """The whole chapter."""
    return f"{OPENING}\n{codes.markdown()}\n"


if __name__ == "__main__":
    sys.exit(keep({PAGE: page()}, __doc__))
