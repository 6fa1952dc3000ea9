"""
Write the lists of the manual that the code knows better: settings from their types, options from the commands.

    python tools/write_reference.py            rewrite them
    python tools/write_reference.py --check    exit with 1 if one of them is out of date

On `configuration.md` and `commands.md` everything is written by hand but for these lists. A list belongs to the
heading above it and reaches to the next one.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import Field
from pathlib import Path
from typing import Any

import click

from site_builder.cli import commands
from site_builder.config import SETTINGS
from tools.keeping import keep

MANUAL = Path(__file__).parent.parent / "site_builder" / "manual"

Entries = tuple[tuple[str, str], ...]
"""What stands in code, and what is said of it."""


def settings() -> Entries:
    """Every key of `[tool.site_builder]` with its default, as TOML has it."""
    return tuple(
        (f"{name} = {_toml(setting)}", setting.metadata["help"]) for name, setting in SETTINGS.items()
    )


def options(command: click.Command, name: str) -> Entries:
    """What `--help` says of the options of a command. Those without a word of their own are told by hand."""
    context = click.Context(command, info_name=name)
    found = []
    for option in command.params:
        record = option.get_help_record(context)
        if isinstance(option, click.Option) and option.help and record:
            said = re.sub(r"\s*\[default: (.*)\]$", r" Default: \1.", option.help)
            if option.show_default:
                said = f"{said} Default: {option.default}."
            found.append((record[0].replace(" RANGE", ""), said))
    return tuple(found)


def runnable(group: click.Group, before: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command that does something, by the words that are typed for it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command
        if isinstance(command, click.Group):
            yield from runnable(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


def pages() -> Mapping[str, Mapping[str, Entries]]:
    """By file and heading, the lists that belong there."""
    return {
        "configuration.md": {"All settings": settings()},
        "commands.md": {name: options(command, name) for name, command in runnable(commands)},
    }


def rewritten(text: str, lists: Mapping[str, Entries]) -> str:
    """The page with these lists below these headings, in the place of those that are there."""
    for heading, entries in lists.items():
        section = re.search(rf"^(#+ {re.escape(heading)}\n)(.*?)(?=^#+ |\Z)", text, re.MULTILINE | re.DOTALL)
        if section is None:
            raise SystemExit(f"the manual has no heading {heading!r}; write a section about it")
        prose = re.split(r"^`[^`\n]+`\n: ", section[2], maxsplit=1, flags=re.MULTILINE)[0].strip("\n")
        made = "\n\n".join(f"`{code}`\n: {' '.join(said.split())}" for code, said in entries)
        body = "\n\n".join(part for part in (prose, made) if part)
        text = f"{text[: section.start()]}{section[1]}\n{body}\n\n{text[section.end() :]}"
    return text.rstrip("\n") + "\n"


def _toml(setting: Field[Any]) -> str:
    if setting.metadata.get("table"):
        return "{}"
    # What JSON writes of a string, a number or a list of strings, TOML reads.
    return json.dumps(list(setting.default) if isinstance(setting.default, tuple) else setting.default)


if __name__ == "__main__":
    texts = ((MANUAL / name, lists) for name, lists in pages().items())
    sys.exit(keep({file: rewritten(file.read_text("utf-8"), lists) for file, lists in texts}, __doc__))
