"""`python -m site_builder new`: a project, made once, does all that its workflow does, and is asked many questions."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest
import yaml

from site_builder import new
from site_builder.cli import commands
from site_builder.config import SETTINGS, Config, load
from site_builder.discover import discover
from site_builder.errors import SiteError
from site_builder.new.names import Names, choose, objection

from .conftest import REPOSITORY, site_builder

BASE_URL = "https://example.org/field-notes"
REPOSITORY_URL = "https://example.org/me/field-notes"

Run = subprocess.CompletedProcess[str]


class Made(NamedTuple):
    """The project, what the command said, and the files as they were then."""

    folder: Path
    said: Run
    files: dict[str, bytes]


def contents(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    top = tmp_path_factory.mktemp("new")
    done = site_builder("new", "made/for it/Field-Notes", "--lang", "ja", cwd=top)
    assert done.returncode == 0, done.stderr
    folder = top / "made" / "for it" / "Field-Notes"
    return Made(folder, done, contents(folder))


@pytest.fixture(scope="module")
def workflow(made: Made) -> dict[str, Any]:
    loaded = yaml.safe_load(made.files[".github/workflows/pages.yml"])
    assert isinstance(loaded, dict)
    return loaded


@pytest.fixture(scope="module")
def steps(made: Made, workflow: dict[str, Any]) -> dict[str, Run]:
    """The commands of the workflow, one after another, as GitHub gives them to bash; only nothing is installed."""
    environ = {**os.environ, "BASE_URL": BASE_URL, "REPOSITORY_URL": REPOSITORY_URL}
    environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environ["PATH"]])
    environ["PYTHONPATH"] = str(REPOSITORY)
    found = {}
    for step in workflow["jobs"]["build"]["steps"]:
        script = step.get("run", "")
        if script and " install " not in script:
            found[script] = subprocess.run(
                ["bash", "-e", "-o", "pipefail", "-c", script],
                cwd=made.folder,
                env=environ,
                capture_output=True,
                text=True,
                check=False,
            )
    return found


def page(made: Made, url: str) -> str:
    return (made.folder / "docs" / url).read_text("utf-8")


def test_each_step_of_its_workflow_succeeds(steps: dict[str, Run]) -> None:
    assert len(steps) == 4
    failed = {script: done.stdout + done.stderr for script, done in steps.items() if done.returncode}
    assert not failed


def test_check_finds_no_fault_all_statements_run_and_all_claims_proven(steps: dict[str, Run]) -> None:
    done = steps["python -m site_builder check"]
    assert done.stderr == "2 pages checked; no faults\n"
    ran, all_, share, proven, unchecked, false = map(int, done.stdout.splitlines()[1].split()[1:])
    assert ran == all_ > 5
    assert share == 100
    assert proven > 5
    assert (unchecked, false) == (0, 0)


def test_its_tests_and_its_examples_pass(steps: dict[str, Run]) -> None:
    assert re.search(r"= 5 passed in ", steps["python -m pytest"].stdout)


def test_its_page_shows_formulas_symbols_examples_shapes_and_what_it_was_verified_against(
    made: Made, steps: dict[str, Run]
) -> None:
    shown = re.sub(r"<wbr>|</?i\b[^>]*>", "", page(made, "softmax.html"))
    assert shown.count("<math") > 10
    assert shown.count('<code class="claim proven">') > 5
    assert "logits: [batch_size, classes]" in shown
    assert "   nan,    nan" in shown
    assert re.search(r"torch\.softmax</th>.*<td>values</td><td>float32</td><td>1e-\d", shown, re.DOTALL)


def test_its_site_names_the_addresses_of_whoever_publishes_it(made: Made, steps: dict[str, Run]) -> None:
    assert f'rel="canonical" href="{BASE_URL}/softmax.html"' in page(made, "softmax.html")
    assert f"{REPOSITORY_URL}/blob/main/field_notes/softmax.py" in page(made, "softmax.html")


def test_what_it_was_verified_by_is_a_test_of_its_own(made: Made) -> None:
    findings = json.loads(made.files["tests/verified.json"])["field_notes.softmax"]["findings"]
    file, _, name = findings[0]["test"].partition("::")
    assert f"def {name}(verified):".encode() in made.files[file]


@pytest.mark.parametrize("command", [["check"], ["format", "--check"], ["check", "--select", "E,F,I,B,UP,W"]])
def test_ruff_finds_nothing_in_it(made: Made, command: list[str]) -> None:
    ruff = [sys.executable, "-m", "ruff", *command, "--no-cache"]
    done = subprocess.run(ruff, cwd=made.folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_it_can_be_installed(made: Made, tmp_path: Path) -> None:
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--no-build-isolation",
    ]
    subprocess.run([*pip, "--target", tmp_path, made.folder], capture_output=True, check=True)
    assert (tmp_path / "field_notes" / "softmax.py").is_file()
    assert next(tmp_path.glob("field_notes-*.dist-info"))


def test_it_depends_on_the_builder_that_made_it() -> None:
    assert new._requirement("0.1.0") == "annotated-nn>=0.1.0,<0.2"
    assert new._requirement("2.3.1") == "annotated-nn>=2.3.1,<3"


def test_the_workflow_may_do_what_it_must_and_one_runs_at_a_time(workflow: dict[str, Any]) -> None:
    build, deploy = workflow["jobs"]["build"], workflow["jobs"]["deploy"]
    assert workflow["permissions"] == {"contents": "read"}
    assert build["permissions"] == {"contents": "read", "pages": "read"}
    assert deploy["permissions"] == {"pages": "write", "id-token": "write"}
    assert deploy["needs"] == "build"
    assert workflow["concurrency"] == {"group": "pages", "cancel-in-progress": False}
    used = [step["uses"] for job in (build, deploy) for step in job["steps"] if "uses" in step]
    assert [name.partition("@")[0] for name in used] == [
        "actions/checkout",
        "actions/setup-python",
        "actions/configure-pages",
        "actions/upload-pages-artifact",
        "actions/deploy-pages",
    ]
    assert all(re.fullmatch(r"[a-z/-]+@v\d+", name) for name in used)
    uploaded = next(step["with"]["path"] for step in build["steps"] if "upload" in step.get("uses", ""))
    assert uploaded == Config.output


@pytest.mark.parametrize(
    "file", ["README.md", ".github/workflows/pages.yml", "field_notes/__init__.py", "said"]
)
def test_every_command_that_an_author_is_told_exists(made: Made, file: str) -> None:
    text = made.said.stderr if file == "said" else made.files[file].decode()
    told = re.findall(r"python -m site_builder (\w+)((?: --\w+)*)", text)
    assert told
    for name, options in told:
        command = commands.get_command(click.Context(commands), name)
        assert command, name
        known = {option for one in command.params for option in one.opts}
        assert set(options.split()) <= known, name


def test_every_setting_is_there_with_its_help_and_its_default(made: Made) -> None:
    text = made.files["pyproject.toml"].decode()
    for key, setting in SETTINGS.items():
        line = re.search(rf"^# {re.escape(setting.metadata['help'])}\n(# )?({key} = .*)$", text, re.MULTILINE)
        assert line, key
        if line[1]:
            value = tomllib.loads(line[2])[key]
            assert (tuple(value) if isinstance(value, list | dict) else value) == setting.default, key


def test_what_is_set_names_the_project(made: Made) -> None:
    config = load(made.folder)
    assert (config.packages, config.title, config.languages) == (
        ("field_notes",),
        "Field notes",
        ("en", "ja"),
    )
    project = tomllib.loads(made.files["pyproject.toml"].decode())["project"]
    assert project["name"] == "field-notes"
    assert project["description"] == config.description
    assert not re.search(rb"@\w+@", b"".join(made.files.values()))


def test_a_language_begins_with_catalogues_of_what_is_to_be_translated(made: Made) -> None:
    assert {"translations/ja/index.po", "translations/ja/softmax.po"} <= made.files.keys()
    assert b'msgid "As it is written"' in made.files["translations/ja/softmax.po"]


def test_it_ends_with_what_to_type_next(made: Made) -> None:
    typed = [line.strip() for line in made.said.stderr.partition("Next:")[2].splitlines() if line.strip()]
    assert shlex.split(typed[0]) == ["cd", "made/for it/Field-Notes"]
    assert "python -m site_builder serve --open" in typed


def test_a_second_time_it_refuses_and_changes_nothing(made: Made) -> None:
    before = contents(made.folder)
    done = site_builder("new", str(made.folder), cwd=made.folder.parent)
    assert done.returncode == 2
    assert "pyproject.toml" in done.stderr
    assert "Traceback" not in done.stderr
    assert contents(made.folder) == before


@pytest.mark.parametrize(
    "mine", ["README.md", ".gitignore", "tests/test_mine.py", ".github/FUNDING.yml", "notes/__init__.py"]
)
def test_what_a_person_wrote_is_named_and_nothing_is_written_beside_it(tmp_path: Path, mine: str) -> None:
    folder = tmp_path / "notes"
    (folder / mine).parent.mkdir(parents=True)
    (folder / mine).write_text("mine", "utf-8")
    with pytest.raises(SiteError, match=re.escape(mine.partition("/")[0])):
        new.create(folder)
    assert contents(folder) == {mine: b"mine"}


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine", "utf-8")
    with pytest.raises(SiteError, match="is a file"):
        new.create(tmp_path / "notes")
    assert contents(tmp_path) == {"notes": b"mine"}


def test_what_is_in_nobodys_way_stays_where_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n", "utf-8")
    (folder / "LICENSE").write_text("mine", "utf-8")
    before = contents(folder)
    made = new.create(folder)
    assert contents(folder).items() >= before.items()
    assert contents(folder).keys() == before.keys() | set(made.files)


def test_an_empty_folder_may_be_the_one_that_the_author_is_in(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    done = site_builder("new", ".", cwd=folder)
    assert done.returncode == 0
    assert "    cd " not in done.stderr
    assert (folder / "notes" / "softmax.py").is_file()


@pytest.mark.parametrize("exists", [False, True])
def test_a_failure_half_way_leaves_nothing_behind(tmp_path: Path, exists: bool) -> None:
    folder = tmp_path / "a" / "b"
    if exists:
        folder.mkdir(parents=True)
    before = sorted(tmp_path.rglob("*"))
    # Longer than any file system takes, which shows when the package is made, after other files.
    with pytest.raises(OSError, match="name too long"):
        new.create(folder, "a" * 300)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_file_that_appears_meanwhile_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "README.md").write_text("mine", "utf-8")
    monkeypatch.setattr(new, "_refuse", lambda folder, tops: None)
    with pytest.raises(FileExistsError):
        new.create(tmp_path, "notes")
    assert contents(tmp_path) == {"README.md": b"mine"}
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]


def test_what_cannot_be_taken_away_again_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def held(self: Path, missing_ok: bool = False) -> None:
        raise PermissionError(f"{self} is in use")

    monkeypatch.setattr(Path, "unlink", held)
    with pytest.raises(SiteError, match=r"left: .*pages\.yml"):
        new.create(tmp_path, "a" * 300)


@pytest.mark.parametrize(
    ("text", "package", "distribution", "title"),
    [
        ("notes", "notes", "notes", "Notes"),
        ("My-Notes", "my_notes", "my-notes", "My notes"),
        ("on.attention", "on_attention", "on-attention", "On attention"),
        ("Notes 2024", "notes_2024", "notes-2024", "Notes 2024"),
        ("MyNotes", "my_notes", "my-notes", "My notes"),
        ("Entrée", "entree", "entree", "Entree"),
    ],
)
def test_a_folders_name_becomes_those_of_package_distribution_and_title(
    text: str, package: str, distribution: str, title: str
) -> None:
    names = choose(text)
    assert (names.package, names.distribution, names.title) == (package, distribution, title)


@pytest.mark.parametrize(
    ("text", "why", "proposal"),
    [
        ("2024", "begins with a letter", "notes_2024"),
        ("3d-shapes", "begins with a letter", "d_shapes_3"),
        ("ノート", "begins with a letter", "my_notes"),
        ("lambda", "word of Python", "lambda_notes"),
        ("json", "module of Python", "json_notes"),
        ("tests", "tools", "tests_notes"),
        ("docs", "tools", "docs_notes"),
        ("torch", "imported from", "torch_notes"),
        ("site_builder", "imported from", "site_builder_notes"),
        ("pyyaml", "installed", "pyyaml_notes"),
    ],
)
def test_a_name_that_no_package_can_have_is_met_with_one_that_it_can(
    text: str, why: str, proposal: str
) -> None:
    with pytest.raises(SiteError, match=why) as error:
        choose(text)
    assert f"--name {proposal}," in str(error.value)
    assert objection(proposal) == ""


def test_such_a_folder_takes_another_name_and_until_then_is_not_made(tmp_path: Path) -> None:
    refused = site_builder("new", "json", cwd=tmp_path)
    assert refused.returncode == 2
    assert list(tmp_path.iterdir()) == []
    proposed = re.search(r"--name (\w+)", refused.stderr)
    assert proposed
    assert site_builder("new", "json", "--name", proposed[1], cwd=tmp_path).returncode == 0
    assert (tmp_path / "json" / proposed[1] / "softmax.py").is_file()


@pytest.mark.parametrize(("tag", "why"), [("japanese!", "no language tag"), ("en", "language of the pages")])
def test_a_language_that_is_none_or_the_pages_own_is_refused_first(
    tmp_path: Path, tag: str, why: str
) -> None:
    with pytest.raises(SiteError, match=why):
        new.create(tmp_path / "notes", languages=[tag])
    assert not (tmp_path / "notes").exists()


def test_the_title_is_a_text_to_yaml_whatever_it_says() -> None:
    for word in ("yes", "null", "on", "e3"):
        source = new.files(Names(word))[f"{word}/__init__.py"]
        front = yaml.safe_load(source.split("---")[1])
        assert front["title"] == word.capitalize()


def test_what_waits_to_be_a_project_is_no_page_and_no_module_of_the_builder() -> None:
    found = discover(Config(root=REPOSITORY, packages=("site_builder",)))
    waiting = [source.path for source in found.sources if "/new/" in source.path]
    assert waiting == ["site_builder/new/__init__.py", "site_builder/new/names.py"]
    assert not [file for file in new._TEMPLATES.rglob("*") if file.is_file() and file.suffix != ".in"]
