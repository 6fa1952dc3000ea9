"""The manual is true: its examples build, its commands answer as it says, and its lists are those of the code."""

from __future__ import annotations

import ast
import io
import re
import shlex
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import click
import pytest

from site_builder.cli import commands, main
from site_builder.config import Config, load
from site_builder.discover import discover
from site_builder.parse import mapping
from site_builder.site import make
from tests.site_builder.conftest import REPOSITORY
from tools import write_reference

MANUAL = REPOSITORY / "site_builder" / "manual"
CHAPTERS = sorted(file.stem for file in MANUAL.glob("*.md") if file.stem != "codes")
"""The codes are explained with faults on purpose, and have tests of their own."""
FENCE = re.compile(r'^(`{3,})(\w+)(?: title="([^"]+)")?\n(.*?)^\1$', re.MULTILINE | re.DOTALL)
ELSEWHERE = (["cd"], ["pip"], ["python", "-m", "pytest"])
"""How commands begin that are not ours. A reader types them, a test need not."""


@dataclass(frozen=True)
class Fence:
    """A fenced block: what it is written in, the file that it is if it has a title, its text."""

    language: str
    title: str
    text: str


def fences(chapter: str) -> list[Fence]:
    text = (MANUAL / f"{chapter}.md").read_text("utf-8")
    return [Fence(language, title, text) for _, language, title, text in FENCE.findall(text)]


def typed(console: str) -> Iterator[tuple[list[str], list[str]]]:
    """Each command of a console with the lines that it is said to print."""
    for part in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
        command, *printed = part.splitlines()
        yield shlex.split(command), printed


def as_said(said: list[str], printed: list[str]) -> bool:
    """Whether these lines were printed in this order; `…` is anything."""
    lines = iter(printed)
    patterns = [re.escape(line.rstrip()).replace("…", ".*") for line in said]
    return all(any(re.fullmatch(pattern, line.rstrip()) for line in lines) for pattern in patterns)


def put(folder: Path, fence: Fence) -> None:
    """Writes the file that a block is, or changes in it the line that a block of `-` and `+` changes."""
    file = folder / fence.title
    text = fence.text
    if fence.language == "diff":
        old, new = (re.findall(rf"^[{sign}](.*)$", text, re.MULTILINE) for sign in "-+")
        before = file.read_text("utf-8")
        assert before.count("\n".join(old)) == 1, old
        text = before.replace("\n".join(old), "\n".join(new))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")


def run(words: list[str]) -> list[str]:
    """The lines that a command of ours prints, as a terminal would show them."""
    terminal = io.StringIO()
    with redirect_stdout(terminal), redirect_stderr(terminal), pytest.raises(SystemExit):
        main(words)
    return terminal.getvalue().splitlines()


def understood(words: list[str], group: click.Group = commands) -> bool:
    """Whether there is such a command with such options. It is not run."""
    name, *rest = words
    command = group.get_command(click.Context(group), name)
    assert command, name
    if isinstance(command, click.Group):
        return understood(rest, command)
    return command.make_context(name, rest) is not None


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_what_a_chapter_shows_is_so(chapter: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its files are written and its commands run, one after the other as they stand on the page."""
    monkeypatch.chdir(tmp_path)
    for fence in fences(chapter):
        if fence.title:
            put(tmp_path, fence)
        elif fence.language == "python":
            ast.parse(fence.text)
        elif fence.language == "toml":
            (tmp_path / "pyproject.toml").write_text(fence.text, "utf-8")
            assert load(tmp_path).packages
        elif fence.language == "console":
            for words, said in typed(fence.text):
                if words[:3] != ["python", "-m", "site_builder"]:
                    assert any(words[: len(one)] == one for one in ELSEWHERE), words
                elif said:
                    printed = run(words[3:])
                    assert as_said(said, printed), "\n".join((shlex.join(words), *printed))
                else:
                    assert understood(words[3:])


def test_the_page_format_is_as_it_is_told(tmp_path: Path) -> None:
    """Each file of its table has the address that the table says, and all its examples build without a fault."""
    text = (MANUAL / "page-format.md").read_text("utf-8")
    table = dict(re.findall(r"^\| `(shapes/[^`]+)` \| `([^`]+)` \|$", text, re.MULTILINE))
    assert len(table) == 5
    for path in table:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    found = discover(Config(root=tmp_path, packages=("shapes",))).sources
    assert {source.path: source.url for source in found} == table
    for fence in fences("page-format"):
        put(tmp_path, fence)
    made = make(Config(root=tmp_path, packages=("shapes",), cache=""))
    assert [str(found) for found in made.diagnostics] == []
    page = made.files["solid/sphere.html"].decode()
    assert all(f'id="{anchor}"' in page for anchor in ("volume", "volume:cylinder", "volume:return"))


def test_a_theme_does_what_its_chapter_says(tmp_path: Path) -> None:
    (tmp_path / "hello").mkdir()
    (tmp_path / "hello/__init__.py").write_text('"""# Hello"""\n', "utf-8")
    for fence in fences("themes"):
        put(tmp_path, fence)
    files = make(load(tmp_path)).files
    page = files["index.html"].decode()
    assert '<link rel="stylesheet" href="static/css/ours.css">' in page
    assert "Made with care" in page
    assert b"--accent" in files["static/css/ours.css"]


def test_a_theme_is_told_only_of_what_there_is() -> None:
    text = (MANUAL / "themes.md").read_text("utf-8")
    style = (REPOSITORY / "static/css/base.css").read_text("utf-8")
    properties = re.findall(r"`(--\w+)`", text)
    assert len(properties) > 10
    assert [name for name in properties if f"{name}: " not in style] == []
    names = re.findall(r"^\| `([\w/]+\.html)` \|", text, re.MULTILINE)
    assert len(names) > 8
    missing = [name for name in names if not (REPOSITORY / "templates" / name).is_file()]
    assert missing == ["partials/extra.html"], "this one is the project's own"


def test_every_key_of_front_matter_is_told() -> None:
    text = (MANUAL / "page-format.md").read_text("utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) == set(mapping._KEYS)


def test_settings_and_options_are_those_of_the_code() -> None:
    for name, lists in write_reference.pages().items():
        text = (MANUAL / name).read_text("utf-8")
        assert write_reference.rewritten(text, lists) == text, "run python tools/write_reference.py"


def test_a_list_is_replaced_and_what_is_written_by_hand_stays() -> None:
    text = "# Page\n\n## One\n\nProse.\n\n`--old`\n: gone\n\n## Two\n\nMore.\n"
    new = write_reference.rewritten(text, {"One": (("--new", "so  it\nis"),)})
    assert new == "# Page\n\n## One\n\nProse.\n\n`--new`\n: so it is\n\n## Two\n\nMore.\n"
    with pytest.raises(SystemExit, match="no heading 'Three'"):
        write_reference.rewritten(text, {"Three": ()})


def test_the_manual_has_no_fault_of_its_own() -> None:
    """Links out of its folder are for the build of the whole site: here nothing lies around it."""
    made = make(Config(root=REPOSITORY, packages=(str(MANUAL),), cache=""))
    within = [found for found in made.diagnostics if not re.search(r"'(\.\./|site_builder\.)", found.message)]
    assert [str(found) for found in within] == []
