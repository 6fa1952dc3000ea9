"""
---
title: python -m site_builder
summary: The command line under the name of the package.
---
# python -m site_builder

All that it can do is told by [the command line](site_builder.cli). The installed command `site-builder` is the same.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from site_builder import garbage
from site_builder.cli import main, streams


def run() -> None:
    """
    The whole life of the process. When the command has ended there is nothing left to be done, and the system takes
    back a process at once that Python would first take apart, module by module.
    """
    garbage.seldom()
    streams.prepare()
    status = 1
    try:
        main()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    finally:
        for stream in (sys.stdout, sys.stderr):
            # Nobody may be listening any more, or there never was anyone.
            with suppress(AttributeError, OSError, ValueError):
                stream.flush()
    os._exit(status)


if __name__ == "__main__":
    run()
