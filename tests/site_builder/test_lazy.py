"""Expressions and names that wait until they are needed."""

from __future__ import annotations

import copy
import importlib
import pickle
import pkgutil
import re

import pytest

import site_builder
from site_builder.lazy import Regex, later, regex

MODULES = [
    name
    for _, name, _ in pkgutil.walk_packages(site_builder.__path__, "site_builder.")
    if "__main__" not in name
]


def test_every_expression_of_the_builder_can_be_compiled() -> None:
    found = [
        value
        for name in MODULES
        for value in vars(importlib.import_module(name)).values()
        if isinstance(value, Regex)
    ]
    assert len(found) > 150
    for each in found:
        assert re.compile(each.pattern, each._flags).pattern == each.pattern


def test_a_lazy_expression_does_what_a_compiled_one_does() -> None:
    lazy, compiled = regex(r"(?P<word>[a-z]+)", re.IGNORECASE), re.compile(r"(?P<word>[a-z]+)", re.IGNORECASE)
    assert lazy.findall("One 2") == compiled.findall("One 2")
    assert lazy.sub("-", "One 2") == compiled.sub("-", "One 2")
    assert (lazy.groupindex, lazy.flags, lazy.pattern) == (
        compiled.groupindex,
        compiled.flags,
        compiled.pattern,
    )
    with pytest.raises(AttributeError):
        lazy.nothing  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_a_lazy_expression_can_be_copied(copied: type) -> None:
    assert copied(regex("a+", re.IGNORECASE)).fullmatch("AA")


def test_a_package_offers_only_the_names_that_it_has_homes_for() -> None:
    offered = later("site_builder.record", {"Record": "model"})
    assert offered("Record").__module__ == "site_builder.record.model"
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        offered("Nothing")
