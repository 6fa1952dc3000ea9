"""What `[tool.site_builder]` may hold, and what it is told when it holds something else."""

from pathlib import Path

import pytest

from site_builder.config import SETTINGS, load
from site_builder.errors import SiteError


def project(folder: Path, table: str) -> Path:
    (folder / "pyproject.toml").write_text(
        f'[project]\nname = "x"\n\n[tool.site_builder]\n{table}\n', "utf-8"
    )
    return folder


def test_a_folder_without_a_table_is_a_project_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\n', "utf-8")
    config = load(tmp_path)
    assert config.root == tmp_path
    assert config.packages == ()
    assert config.output == "docs"


def test_the_table_is_found_from_a_folder_below_it(tmp_path: Path) -> None:
    project(tmp_path, 'packages = ["a", "b"]\ntitle = "Wörter"')
    (tmp_path / "a" / "deep").mkdir(parents=True)
    config = load(tmp_path / "a" / "deep")
    assert (config.root, config.packages, config.title) == (tmp_path, ("a", "b"), "Wörter")


@pytest.mark.parametrize(
    ("typed", "meant"), [("languges", "languages"), ("baseurl", "base_url"), ("out", "output")]
)
def test_an_unknown_key_is_told_its_nearest_neighbour_and_line(
    tmp_path: Path, typed: str, meant: str
) -> None:
    project(tmp_path, f'title = "t"\n{typed} = "x"')
    with pytest.raises(SiteError) as caught:
        load(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path / 'pyproject.toml'}:6: unknown key '{typed}'")
    assert meant in caught.value.hint


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ('packages = "labml_nn"', "a list of strings"),
        ("title = 3", "a string"),
        ("languages = [1]", "a list of"),
    ],
)
def test_a_value_of_the_wrong_type_is_named_with_what_it_should_be(
    tmp_path: Path, line: str, wanted: str
) -> None:
    project(tmp_path, line)
    with pytest.raises(SiteError, match=wanted) as caught:
        load(tmp_path)
    assert caught.value.line == 5


def test_a_file_that_is_not_toml_is_an_error_with_its_line(tmp_path: Path) -> None:
    project(tmp_path, 'title = "open')
    with pytest.raises(SiteError, match="not TOML") as caught:
        load(tmp_path)
    assert caught.value.line == 5


def test_an_address_without_scheme_and_a_language_without_tag_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SiteError, match="base_url"):
        load(project(tmp_path, 'base_url = "example.org"'))
    with pytest.raises(SiteError, match="language tag"):
        load(project(tmp_path, 'languages = ["jp/"]'))


def test_the_base_url_always_ends_in_a_slash(tmp_path: Path) -> None:
    assert load(project(tmp_path, 'base_url = "https://example.org/a"')).base_url == "https://example.org/a/"


def test_source_links_follow_the_host_or_the_pattern_that_was_set(tmp_path: Path) -> None:
    github = load(project(tmp_path, 'repository_url = "https://github.com/a/b/"'))
    assert github.source_link("p/m.py") == "https://github.com/a/b/blob/main/p/m.py"
    gitlab = load(project(tmp_path, 'repository_url = "https://gitlab.com/a/b"'))
    assert gitlab.source_link("p/m.py") == "https://gitlab.com/a/b/-/blob/main/p/m.py"
    own = load(project(tmp_path, 'source_url = "https://code.example/{path}?l={line}"'))
    assert own.source_link("p/m.py", 7) == "https://code.example/p/m.py?l=7"


def test_every_key_says_what_it_is_for() -> None:
    assert all(setting.metadata["help"].strip() for setting in SETTINGS.values())
    assert "languages" in SETTINGS
    assert "root" not in SETTINGS
