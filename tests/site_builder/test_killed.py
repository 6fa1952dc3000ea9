"""A build may be killed at any moment: the next one makes good for it, and nothing of the killed one is left."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

from site_builder.config import MANIFEST

from .conftest import REPOSITORY, Builder
from .editing import Project, files

pytestmark = pytest.mark.skipif(
    not hasattr(os, "fork"), reason="a build in a process of its own, with its workers"
)

# What Python tells of its steps to the disk. A file is opened, then its descriptor is, before anything is in it.
STEPS = """
import os, signal, sys
place = int(sys.argv.pop(1))
taken = 0
def hook(event, arguments):
    global taken
    if event in ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "sqlite3.connect") or (
        event == "open" and (isinstance(arguments[0], int) or MARK in os.fsdecode(arguments[0]))
    ):
        taken += 1
        if taken == place:
            os.killpg(0, signal.SIGKILL)
sys.addaudithook(hook)
"""
FOREIGN = "sub/foreign.txt"


class Killed:
    """A project before and after an edit, and builds of it that end too early."""

    def __init__(self, folder: Path) -> None:
        self.project = Project(folder)
        self.project.write("pkg/old.py", '"""---\nredirect_from: [gone/there.html]\n---\n# Old"""\n')
        self.project.write("pkg/was/deep.py", '"""# Was deep"""\n')
        self.project.build()
        (self.project.output / FOREIGN).write_text("not of the site")
        self.before, _ = self.project.clean()
        self.edit()
        self.after, _ = self.project.clean()
        self.unedit()

    def edit(self) -> None:
        """Pages come and go, and every other one is another."""
        write = self.project.write
        write("theme/templates/partials/foot.html", "<p>The end.</p>")
        write("theme/static/fresh.css", "p {}")
        write("pkg/fresh/deep/one.py", '"""# One\n\n[It](pkg.fresh.deep.one.add)."""\n\n\ndef add(): ...\n')
        write("pkg/fresh/deep/two.py", '"""# Two"""\nfrom pkg.fresh.deep.one import add\n\nadd()\n')
        (self.project.folder / "pkg/old.py").unlink(missing_ok=True)
        shutil.rmtree(self.project.folder / "pkg/was", ignore_errors=True)

    def unedit(self) -> None:
        shutil.rmtree(self.project.folder / "theme")
        shutil.rmtree(self.project.folder / "pkg/fresh")
        self.project.write("pkg/old.py", '"""---\nredirect_from: [gone/there.html]\n---\n# Old"""\n')
        self.project.write("pkg/was/deep.py", '"""# Was deep"""\n')

    def build(self, place: int, jobs: int) -> tuple[bool, int]:
        """In a process of its own, killed with all its workers at that step. Whether it was, and how many it took."""
        reading, writing = os.pipe()
        with warnings.catch_warnings():
            # Newer Pythons warn of threads; the typesetter's has nothing to do in the child.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            try:
                os.setpgid(0, 0)
                sys.argv[1:] = [str(place)]
                table = {"MARK": str(self.project.output)}
                exec(STEPS, table)
                self.project.build(jobs)
                os.write(writing, str(table["taken"]).encode())
            finally:
                os._exit(0)
        os.close(writing)
        _, status = os.waitpid(child, 0)
        told = os.read(reading, 20)
        os.close(reading)
        return os.WIFSIGNALED(status), int(told or 0)

    def steps(self) -> int:
        """How many a whole build takes after the edit."""
        self.edit()
        _, steps = self.build(0, 1)
        self.unedit()
        self.project.build()
        return steps

    def repaired(self, place: int, jobs: int, *, put_back: bool) -> bool:
        """Whether all is well after a build that was killed there and another, the edit perhaps put back between."""
        self.edit()
        killed, _ = self.build(place, jobs)
        if put_back:
            self.unedit()
        self.project.build(jobs)
        there = files(self.project.output)
        assert there.pop(FOREIGN) == b"not of the site"
        assert there == (self.before if put_back else self.after), (place, jobs, put_back)
        empty = [path for path in self.project.output.rglob("*") if path.is_dir() and not any(path.iterdir())]
        assert empty == [], (place, jobs, put_back)
        if not put_back:
            self.unedit()
            self.project.build()
        return killed


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Killed:
    return Killed(tmp_path_factory.mktemp("killed"))


def test_a_build_that_was_killed_at_any_step_is_made_good_by_the_next(killed: Killed) -> None:
    steps = killed.steps()
    assert steps > 100
    # Among the first stand the manifest and the ghosts, among the last the manifest again.
    places = [1, 4, 7, 8, 12, *range(30, steps - 12, 40), *range(steps - 11, steps, 5)]
    ended = [killed.repaired(place, 1, put_back=number % 2 == 0) for number, place in enumerate(places)]
    assert all(ended)


def test_so_is_one_of_several_processes(killed: Killed) -> None:
    assert killed.repaired(25, 2, put_back=True)
    assert killed.repaired(40, 2, put_back=False)


@pytest.mark.exhaustive
@pytest.mark.parametrize("put_back", [False, True])
def test_so_is_one_that_was_killed_at_each_of_its_steps(killed: Killed, put_back: bool) -> None:
    assert all(killed.repaired(place, 1, put_back=put_back) for place in range(1, killed.steps()))


def test_the_command_is_made_good_by_the_command(tiny: Path, build: Builder) -> None:
    folder = build(tiny).folder
    (folder / "foreign.txt").write_text("not of the site")
    (tiny / "tiny" / "fresh.py").write_text('"""# Fresh"""\n')
    (tiny / "tiny" / "essay.md").unlink()
    script = (
        STEPS.replace("MARK", repr(str(folder)))
        + "import runpy\nrunpy.run_module('site_builder', alter_sys=True)"
    )
    script = script.replace("alter_sys", "run_name='__main__', alter_sys")
    done = subprocess.run(
        [sys.executable, "-c", script, "40", "build", "--no-exec", "-j1", "-o", "site"],
        cwd=tiny,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        start_new_session=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == -signal.SIGKILL
    is_clean(tiny, build)


@pytest.mark.exhaustive
def test_the_command_is_made_good_whenever_it_is_killed(tiny: Path, build: Builder) -> None:
    dice = random.Random(0)
    folder = build(tiny).folder
    (folder / "foreign.txt").write_text("not of the site")
    for number in range(20):
        (tiny / "tiny" / f"fresh{number}.py").write_text(f'"""# Fresh {number}"""\n')
        (tiny / "tiny" / f"fresh{number - 2}.py").unlink(missing_ok=True)
        process = subprocess.Popen(
            [sys.executable, "-m", "site_builder", "build", "--no-exec", "-j2", "-o", "site"],
            cwd=tiny,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
            start_new_session=True,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(dice.uniform(0.3, 2.5))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        is_clean(tiny, build)


def is_clean(tiny: Path, build: Builder) -> None:
    """The next build gives what a clean one gives, and leaves alone what is not its own."""
    done = build(tiny)
    assert done.status == 0, done.err
    there = files(done.folder)
    assert there.pop("foreign.txt") == b"not of the site"
    shutil.rmtree(tiny / "clean", ignore_errors=True)
    assert there == files(build(tiny, "--clean", output="clean").folder)
    assert MANIFEST in there
