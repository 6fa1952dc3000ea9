"""Whatever is edited, and whatever was built before: the site is that of a clean build, and so is what is said of it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from site_builder.errors import SiteError

from .editing import EDITS, Project, files

edits = st.tuples(st.sampled_from(EDITS), st.integers(0, 10_000), st.sampled_from([1, 1, 1, 2]))
sequences = st.lists(st.lists(edits, min_size=1, max_size=3), min_size=1, max_size=6)
within = settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=12)
long = settings(within, max_examples=400)


def follow(steps: list[list[tuple]], *, examples: bool = False, keep: bool = False) -> None:
    """Builds after each group of edits and compares with a clean build."""
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder), examples=examples, keep=keep)
        project.build()
        foreign = project.output / "static" / "foreign.txt"
        for step in steps:
            jobs = 1
            for edit, number, jobs in step:
                note(f"{edit.__name__} {number}")
                try:
                    edit(project, number)
                except SiteError as error:
                    note(str(error))
            try:
                made, clean = project.clean()
            except SiteError as error:
                with pytest.raises(SiteError) as raised:
                    project.build(jobs)
                assert str(raised.value) == str(error)
                continue
            foreign.parent.mkdir(parents=True, exist_ok=True)
            (project.output / ".site_builder.json").exists() and foreign.write_text("not of the site")
            report = project.build(jobs)
            there = files(project.output)
            assert there.pop("static/foreign.txt", b"not of the site") == b"not of the site"
            assert there == made
            assert report.diagnostics == clean.diagnostics
            assert (report.pages, dict(report.tallies)) == (clean.pages, dict(clean.tallies))


@within
@given(sequences)
def test_after_any_edits_a_build_gives_what_a_clean_one_would(steps: list) -> None:
    follow(steps)


@within
@given(sequences)
def test_so_does_a_process_that_builds_again_and_again(steps: list) -> None:
    follow(steps, keep=True)


@settings(within, max_examples=2)
@given(sequences)
def test_so_does_one_that_runs_examples(steps: list) -> None:
    follow(steps, examples=True, keep=True)


@pytest.mark.exhaustive
@pytest.mark.parametrize("keep", [False, True])
def test_after_very_many_edits_too(keep: bool) -> None:
    long(given(sequences)(lambda steps: follow(steps, keep=keep)))()


@pytest.mark.exhaustive
def test_after_very_many_edits_with_examples_too() -> None:
    settings(within, max_examples=40)(
        given(sequences)(lambda steps: follow(steps, examples=True, keep=True))
    )()
