"""
---
title: Codes of examples
summary: What can be wrong with the examples of a page, and with running them.
---
# Codes of examples

Most of them stand at the prompt of an example. What went wrong before any example ran, such as the import, stands
at the statement that failed, or at the head of the file.
"""

from __future__ import annotations

from site_builder.codes.model import Code

TITLE = "Examples and evidence"

CODES = (
    Code(
        "example-failed",
        "An example does not give what the page says",
        """
It raised an exception, or its output is not what stands below it. The page shows what really came, so nobody is
misled, but the page and the code no longer agree.

Correct whichever of the two is wrong. For output that varies, allow `ELLIPSIS` under `example_options` and write
`...`.
""",
        wrong='''
"""
>>> 7 * 6
41
"""
''',
        right='''
"""
>>> 7 * 6
42
"""
''',
        form="python",
    ),
    Code(
        "example-syntax",
        "The examples of a docstring cannot be read",
        """
Doctest wants a space after each `>>>` and `...`, and all lines of an example indented alike. As long as one line
breaks this, none of the examples of the docstring run.
""",
        wrong='''
"""
>>>7 * 6
42
"""
''',
        right='''
"""
>>> 7 * 6
42
"""
''',
        form="python",
    ),
    Code(
        "example-output",
        "An example prints more than anybody would read",
        """
Its output was cut. Show the part that the reader should look at: a shape, the first values, a number.
""",
        wrong='''
"""
>>> list(range(100_000))  # doctest: +ELLIPSIS
[0, 1, ...]
"""
''',
        right='''
"""
>>> list(range(100_000))[:3]
[0, 1, 2]
"""
''',
        form="python",
    ),
    Code(
        "example-network",
        "An example asks the network",
        """
Examples run without one, so that the same source gives the same page on a train, behind a proxy and in ten years.
Let the example make its data itself, or read a small file that lies beside it.
""",
        wrong='''
"""
>>> from urllib.request import urlopen
>>> urlopen("https://example.org/").status
200
"""
''',
        right='''
"""
>>> text = "to be or not to be"
>>> len(text.split())
6
"""
''',
        form="python",
    ),
    Code(
        "example-exit",
        "An example ended its process",
        """
It called `os._exit`, or crashed in native code, so that no example after it could run, and what the ones before it
recorded may be lost. A signal in the message, such as 11, speaks of a crash.
""",
        wrong='''
"""
>>> import os
>>> os._exit(3)
"""
''',
        right='''
"""
>>> import sys
>>> sys.exit(3)
Traceback (most recent call last):
SystemExit: 3
"""
''',
        form="python",
    ),
    Code(
        "example-process",
        "An example leaves a process behind",
        """
What it started was still running when the examples had ended, and was ended. A server or a data loader that is not
closed does this; let the example close it, or wait for it.
""",
        wrong='''
"""
>>> import subprocess
>>> process = subprocess.Popen(["sleep", "60"])
"""
''',
        right='''
"""
>>> import subprocess
>>> process = subprocess.Popen(["sleep", "0"])
>>> process.wait()
0
"""
''',
        form="python",
    ),
    Code(
        "example-time",
        "The examples of a page take too long",
        """
All examples of a page together may run for `example_seconds` (60 unless the configuration says otherwise), import
included. The message names the one that was running. Make it smaller: a page shows how something works with few and
small numbers.
""",
    ),
    Code(
        "example-memory",
        "An example needs too much memory",
        """
The examples of a page, with all the processes they start, may hold `example_megabytes` (4,096 unless the
configuration says otherwise). Make the one that the message names smaller.
""",
    ),
    Code(
        "module-import",
        "A module cannot be imported",
        """
Examples need their module, so none of them ran and no claim of the page was checked. The message is what Python
said. Mostly something is not installed where the site is built, or the name of a module is mistyped.
""",
        wrong='''
"""
>>> area(2, 3)
6
"""

import maths


def area(width, height):
    return maths.prod((width, height))
''',
        right='''
"""
>>> area(2, 3)
6
"""

import math


def area(width, height):
    return math.prod((width, height))
''',
        form="python",
    ),
    Code(
        "module-changed",
        "A file was saved while the site was being built",
        """
The examples would have run other code than the page shows, so they did not run. Build once more.
""",
    ),
    Code(
        "record-failed",
        "The recorder itself failed",
        """
This is a fault of the builder, or of the machine it ran on, and not of the page, which is built without evidence.
Build once more; if it comes again, please report it with the message.
""",
    ),
    Code(
        "verified-file",
        "The file of comparisons with other implementations cannot be read",
        """
`pytest --verified-write` leaves in one file how near the code came to the work of others, and pages show it. The
file was edited by hand, or merged badly. Write it anew; nothing in it is made by people.
""",
    ),
)
