"""Whatever is edited, and whatever was built before: a build gives and says what one from nothing does."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

from site_builder.cache import Store
from site_builder.config import MANIFEST, Config
from site_builder.errors import SiteError
from site_builder.site import Shelf, build

from .editing import EDITS, Project, files

Edit = tuple[Callable[[Project, int], None], int]
Step = tuple[list[Edit], int]

edits = st.tuples(st.sampled_from(EDITS), st.integers(0, 10_000))
steps = st.tuples(st.lists(edits, min_size=1, max_size=3), st.sampled_from([1, 1, 1, 2]))
sequences = st.lists(steps, min_size=2, max_size=5)
some = settings(
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    max_examples=3,
    phases=[Phase.generate],
)
many = settings(some, max_examples=40, phases=[Phase.generate, Phase.shrink])
FOREIGN = "static/foreign.txt"


def follow(sequence: list[Step], *, examples: bool = False, keep: bool = False) -> None:
    """Builds after each step and compares with a clean build."""
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder), examples=examples, keep=keep)
        project.build()
        for step, jobs in sequence:
            for edit, number in step:
                note(f"{edit.__name__} {number}")
                # Another build may be refused too, as long as nothing of the package is there.
                with suppress(SiteError):
                    edit(project, number)
            note(f"build -j{jobs}")
            compare(project, jobs)


def compare(project: Project, jobs: int) -> None:
    """Whether upon what is there, files of others among it, a build gives what it gives from nothing."""
    refused = ""
    try:
        made, clean = project.clean()
    except SiteError as error:
        refused = str(error)
    if refused:
        with pytest.raises(SiteError) as raised:
            project.build(jobs)
        assert str(raised.value) == refused
        return
    foreign = project.output / FOREIGN
    if (project.output / MANIFEST).exists():
        foreign.parent.mkdir(exist_ok=True)
        foreign.write_text("not of the site")
    report = project.build(jobs)
    there = files(project.output)
    assert there.pop(FOREIGN, b"not of the site") == b"not of the site"
    assert there.keys() == made.keys()
    assert [name for name in made if there[name] != made[name]] == []
    assert report.diagnostics == clean.diagnostics
    assert (report.pages, dict(report.tallies)) == (clean.pages, dict(clean.tallies))


@some
@given(sequences)
def test_after_any_edits_a_build_gives_what_a_clean_one_would(sequence: list[Step]) -> None:
    follow(sequence)


@some
@given(sequences)
def test_so_does_a_process_that_builds_again_and_again(sequence: list[Step]) -> None:
    follow(sequence, keep=True)


@settings(some, max_examples=1)
@given(sequences)
def test_so_does_one_that_runs_examples(sequence: list[Step]) -> None:
    follow(sequence, examples=True, keep=True)


@pytest.mark.exhaustive
@pytest.mark.parametrize("keep", [False, True])
def test_so_does_every_build_after_very_many_edits(keep: bool) -> None:
    many(given(sequences)(lambda sequence: follow(sequence, keep=keep)))()


@pytest.mark.exhaustive
@pytest.mark.parametrize("keep", [False, True])
def test_so_does_every_build_that_runs_examples(keep: bool) -> None:
    settings(many, max_examples=6)(given(sequences)(lambda found: follow(found, examples=True, keep=keep)))()


def test_a_build_elsewhere_leaves_no_old_word_in_what_is_said(tmp_path: Path) -> None:
    """Two folders share one store, in which each page is known as it was woven last."""
    project = Project(tmp_path)
    project.write("pkg/far/__init__.py", "")
    project.write("pkg/far/a.py", '"""# A\n\nSee [it](../nearby.html)."""\n')
    project.write("pkg/far/b.py", '"""# B"""\n')
    project.write("pkg/nearly.py", '"""# Nearly"""\n# Here.\nx = 1\n')
    compare(project, 1)
    project.write("pkg/nearbys.py", '"""# Nearer"""\n')
    project.build(output="elsewhere")
    (tmp_path / "pkg/nearbys.py").unlink()
    project.write("pkg/nearly.py", '"""# Nearly"""\n# There.\nx = 1\n')
    compare(project, 1)


def test_a_process_that_builds_again_and_again_shows_a_title_again_that_was_undone(tmp_path: Path) -> None:
    """The page beside it is the same three times, and asks three times for the title."""
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text('"""\n# Home\n"""\n')
    (package / "b.py").write_text('"""\n# Beside\n\nSee [](a.html).\n"""\n')
    config, shelf = Config(root=tmp_path, packages=("pkg",), execute=False), Shelf(Store(), keep=True)
    for title in ("First", "Second", "First"):
        (package / "a.py").write_text(f'"""\n# {title}\n"""\n')
        build(config, shelf=shelf)
        assert f">{title}</a>" in (tmp_path / config.output / "b.html").read_text()


def test_a_language_in_place_of_another_is_offered_though_it_has_no_words_of_its_own(tmp_path: Path) -> None:
    project = Project(tmp_path)
    for file in (tmp_path / "pkg").rglob("*.py"):
        file.write_text("x = 1\n")
    for lang in ("de", "fr"):
        project.configure_languages("en", lang)
        compare(project, 1)
