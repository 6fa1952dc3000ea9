"""
---
title: Command line
summary: One file per command; what they share is the way they speak.
order: [build, serve, check, inspection, telling, new, translate, translating, draft, pseudo, console, streams]
---
# Command line

Diagnostics and progress go to standard error, so that standard output stays clean for other programs. The exit
status is 0 when the site was made, 1 when `--strict` or `check` found a fault in a page, 2 when the command itself
could not be carried out.

A command reads its options, makes a configuration of them and calls one function of the pipeline. A new command is
a new file here, and its name below.
"""

from __future__ import annotations

import sys
import traceback
from importlib import import_module

import click

from site_builder import __version__
from site_builder.cli.console import complain
from site_builder.errors import SiteError

NAMES = ("build", "check", "new", "serve", "translate")
"""The commands, each in the module of its name."""


class Commands(click.Group):
    """Imports a command when it is called, and all of them only for `--help`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(NAMES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in NAMES:
            return None
        found: click.Command = getattr(import_module(f"site_builder.cli.{cmd_name}"), cmd_name)
        return found


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="site_builder")
def commands() -> None:
    """Annotated source in, a website out."""


def main(arguments: list[str] | None = None) -> None:
    """Runs one command and exits with its status; no traceback unless `-v` was given."""
    arguments = sys.argv[1:] if arguments is None else arguments
    verbose = any(argument in ("-v", "--verbose") for argument in arguments)
    try:
        status = commands.main(arguments, prog_name="python -m site_builder", standalone_mode=False)
    except click.exceptions.Abort:
        status = 130
    except click.ClickException as error:
        error.show()
        status = 2
    except SiteError as error:
        complain(str(error))
        status = 2
    except OSError as error:
        if verbose:
            traceback.print_exc()
        complain(f"{error.filename or 'a file'}: {error.strerror or error}")
        status = 2
    except Exception as error:
        if verbose:
            traceback.print_exc()
        complain(f"a fault of the builder: {type(error).__name__}: {error} — run again with -v to see where")
        status = 2
    sys.exit(status if isinstance(status, int) else 0)
