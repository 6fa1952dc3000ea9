"""
Write the manual's chapter about codes from the entries in `site_builder/codes/`.

    python tools/write_codes.py            rewrite it
    python tools/write_codes.py --check    exit with 1 if it is out of date
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from site_builder import codes

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


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    stale = not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != page()
    if stale and not check:
        PAGE.write_text(page(), encoding="utf-8")
    print(
        f"{PAGE.name} {'is out of date' if check else 'rewritten'}" if stale else f"{PAGE.name} is up to date"
    )
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
