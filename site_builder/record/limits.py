"""
---
title: What examples may use
summary: The limits of one page, from the configuration.
---
# What examples may use

Code on a page must not hang a build or fill a machine. Time and memory come from the configuration, as do the
options by which output is compared; how much output is kept is fixed. The options and that amount are part of a
record's key. Time and memory are not: a run that exceeded them is no record for the next process.
"""

from __future__ import annotations

import doctest
from dataclasses import dataclass

from site_builder.config import Config


@dataclass(frozen=True)
class Limits:
    """What the examples of one page may use, and how they are compared: the words of `doctest.OPTIONFLAGS_BY_NAME`."""

    seconds: int = 60
    megabytes: int = 4096
    output: int = 64_000
    options: tuple[str, ...] = ()

    @staticmethod
    def of(config: Config) -> Limits:
        return Limits(config.example_seconds, config.example_megabytes, options=config.example_options)

    @property
    def flags(self) -> int:
        return sum(doctest.OPTIONFLAGS_BY_NAME[name] for name in set(self.options))
