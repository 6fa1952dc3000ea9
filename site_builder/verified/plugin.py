"""
---
title: The pytest plugin
summary: A fixture that compares, and an option that keeps what it saw.
---
# The pytest plugin

A project that wants it says so once, in `pyproject.toml`; nothing is loaded into the tests of those who do not:

    [tool.pytest.ini_options]
    addopts = ["-p", "site_builder.verified.plugin"]

Then a test compares by the fixture `verified`, in place of any other assertion:

    def test_the_layer_is_torchs_own(verified):
        verified(ours, theirs, against="torch.nn.Linear", of=Layer)
        verified(our_slopes, their_slopes, against="torch.nn.Linear", of=Layer, what="gradients", rtol=0, atol=1e-6)

[`Verify`](verify.html) tells what may be compared. Without the option `--verified-write` that is all there is. With
it, only the tests that use the fixture run, and what those that passed saw is [merged](merge.html) into the file
that `verified` in `[tool.site_builder]` names, `tests/verified.json` by default. It works under pytest-xdist too:
a worker's comparisons travel with the reports of its tests, and whoever started the workers writes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from site_builder.verified.merge import Heard, Run, merged
from site_builder.verified.model import MalformedError, from_bytes, to_bytes
from site_builder.verified.verify import Comparison, Verify

NAME = "site_builder.verified"
"""Of the property of a report that holds a comparison, and of what a worker hands over at its end."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("verified").addoption(
        "--verified-write",
        action="store_true",
        help="run only the tests that use the fixture `verified`, and write down what they found",
    )


def pytest_configure(config: pytest.Config) -> None:
    if not config.option.verified_write or config.option.collectonly:
        return
    collected = Collected(config)
    config.pluginmanager.register(collected, f"{NAME}.collected")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Writer(config, collected), f"{NAME}.writer")


@pytest.fixture
def verified(request: pytest.FixtureRequest) -> Verify:
    """
    Asserts that something is close to what others' code gives, and reports how close: `verified(ours, expected,
    against="torch.nn.Linear", of=Layer)`.
    """
    if not request.config.pluginmanager.has_plugin(f"{NAME}.collected"):
        return Verify()
    properties = request.node.user_properties

    def listen(seen: Comparison) -> None:
        told = [seen.module, seen.against, seen.what, seen.dtype, seen.error]
        properties.append((NAME, [_code_of(seen.module), *told]))

    return Verify(listen)


@cache
def _code_of(module: str) -> str:
    from site_builder.verified import code_of

    file = getattr(sys.modules[module], "__file__", None)
    if not file:
        raise ValueError(f"of = {module!r} has no file, and so no page")
    return code_of(Path(file))


class Collected:
    """What there is to run, in the process that collects: all cases, and the files they were looked for in."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.cases: set[str] = set()
        self.files: set[str] = set()

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.passed and "::" not in report.nodeid:
            self.files.add(report.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self.cases.update(item.nodeid for item in items)
        others = [item for item in items if not _compares(item)]
        if others:
            self.config.hook.pytest_deselected(items=others)
            items[:] = [item for item in items if _compares(item)]

    def pytest_sessionfinish(self) -> None:
        output = getattr(self.config, "workeroutput", None)
        if output is not None:
            output[NAME] = [sorted(self.cases), sorted(self.files)]


class Writer:
    """Hears the reports of all tests, wherever they ran, and writes the file at the end."""

    def __init__(self, config: pytest.Config, collected: Collected) -> None:
        from site_builder.config import load
        from site_builder.errors import SiteError

        self.config, self.collected = config, collected
        self.passed: set[str] = set()
        self.failed: set[str] = set()
        self.heard: list[Heard] = []
        self.said = ""
        try:
            self.settings = load(config.rootpath)
            self.file = self.settings.folder(self.settings.verified)
            self.old = from_bytes(self.file.read_bytes()) if self.file.exists() else {}
        except SiteError as error:
            raise pytest.UsageError(str(error)) from error
        except MalformedError as error:
            hint = "delete it, and run all tests"
            raise pytest.UsageError(f"{self.file}:{error.line}:{error.column}: {error} — {hint}") from error

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        cases, files = getattr(node, "workeroutput", {}).get(NAME, ((), ()))
        self.collected.cases.update(cases)
        self.collected.files.update(files)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.add(_test(report.nodeid))
        elif report.when == "call" and report.passed and not hasattr(report, "wasxfail"):
            self.passed.add(report.nodeid)
            for name, told in report.user_properties:
                if name == NAME and isinstance(told, (list, tuple)):
                    code, *comparison = told
                    self.heard.append(Heard(_test(report.nodeid), code, Comparison(*comparison)))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, exitstatus: int) -> None:
        finished = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)
        if exitstatus not in finished:
            self.said = f"{self.settings.verified} is as it was: the tests did not come to their end"
            return
        modules = merged(self.old, self.run())
        if modules or self.file.exists():
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self.file.write_bytes(to_bytes(modules))
        count = sum(len(module.findings) for module in modules.values())
        self.said = f"{self.settings.verified}: {count} findings on {len(modules)} modules"

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.said:
            terminalreporter.write_line(self.said)

    def run(self) -> Run:
        """All that the reports gave."""
        narrowed = self.narrowed()
        cases: dict[str, set[str]] = {}
        for case in self.collected.cases:
            cases.setdefault(_test(case), set()).add(case)
        whole = {
            test
            for test, all_of_it in cases.items()
            if all_of_it <= self.passed and _file(test) not in narrowed
        }
        looked_through = self.collected.files - narrowed if not self.config.getoption("lf", False) else set()

        def is_gone(test: str) -> bool:
            missing = not (self.config.rootpath / _file(test)).is_file()
            return missing or (_file(test) in looked_through and test not in cases)

        return Run(tuple(self.heard), whole, self.failed, is_gone, self.is_page())

    def narrowed(self) -> set[str]:
        """The files of which only some tests or cases were asked for."""
        here, root = self.config.invocation_params.dir, self.config.rootpath.resolve()
        files = ((here / _file(arg)).resolve() for arg in self.config.args if "::" in arg)
        return {file.relative_to(root).as_posix() for file in files if file.is_relative_to(root)}

    def is_page(self) -> Callable[[str], bool]:
        """Whether a module is one of the project's; without packages in its configuration any may be."""
        from site_builder.discover import discover
        from site_builder.errors import SiteError

        if not self.settings.packages:
            return lambda module: True
        try:
            found = discover(self.settings)
        except SiteError:
            return lambda module: True
        return _members(source.module for source in found.sources)


def _compares(item: pytest.Item) -> bool:
    return "verified" in getattr(item, "fixturenames", ())


def _members(names: Iterable[str]) -> Callable[[str], bool]:
    return frozenset(names).__contains__


def _test(case: str) -> str:
    """A test without its case: `tests/test_a.py::test_b` of `tests/test_a.py::test_b[1-x]`."""
    file, separator, name = case.partition("::")
    return file + separator + name.partition("[")[0]


def _file(test: str) -> str:
    return test.partition("::")[0]
