"""What the tools of this folder do alike: keep a file as they would write it, or say that it is not so."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path


def keep(wanted: Mapping[Path, str], description: str | None) -> int:
    """
    Makes the files hold those texts; with `--check` on the command line only tells of those that do not, and gives 1
    if there is one.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    stale = 0
    for file, text in wanted.items():
        if file.is_file() and file.read_text(encoding="utf-8") == text:
            print(f"{file.name} is up to date")
            continue
        stale += 1
        if not check:
            file.write_text(text, encoding="utf-8")
        print(f"{file.name} {'is out of date' if check else 'rewritten'}")
    return 1 if check and stale else 0
