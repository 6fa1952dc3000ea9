"""Which files become pages, what they are called, and where they stand."""

from pathlib import Path

import pytest

from site_builder.config import Config
from site_builder.discover import discover, locate, package_name
from site_builder.errors import SiteError


def lay(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("", "utf-8")


def pages(root: Path, *packages: str, exclude: tuple[str, ...] = ()) -> dict[str, str]:
    found = discover(Config(root=root, packages=packages, exclude=exclude))
    return {source.url: source.module for source in found.sources}


def test_a_package_is_an_index_page_and_a_module_is_a_page_in_its_folder(tmp_path: Path) -> None:
    lay(tmp_path, "pkg/__init__.py", "pkg/a.py", "pkg/sub/__init__.py", "pkg/sub/b.py")
    assert pages(tmp_path, "pkg") == {
        "index.html": "pkg",
        "a.html": "pkg.a",
        "sub/index.html": "pkg.sub",
        "sub/b.html": "pkg.sub.b",
    }


def test_markdown_beside_modules_is_a_page_too(tmp_path: Path) -> None:
    lay(tmp_path, "pkg/__init__.py", "pkg/guide.md", "pkg/docs/index.md")
    assert pages(tmp_path, "pkg") == {
        "index.html": "pkg",
        "guide.html": "pkg.guide",
        "docs/index.html": "pkg.docs",
    }


def test_the_first_package_is_the_root_and_others_have_folders_of_their_own(tmp_path: Path) -> None:
    lay(tmp_path, "one/__init__.py", "two/__init__.py", "two/m.py")
    assert list(pages(tmp_path, "one", "two")) == ["index.html", "two/index.html", "two/m.html"]


def test_a_package_inside_a_package_keeps_its_full_name(tmp_path: Path) -> None:
    lay(tmp_path, "pkg/__init__.py", "pkg/sub/__init__.py", "pkg/sub/m.py")
    assert pages(tmp_path, "pkg/sub") == {"index.html": "pkg.sub", "m.html": "pkg.sub.m"}
    assert package_name(tmp_path / "pkg" / "sub") == "pkg.sub"


def test_a_single_module_is_the_home_page(tmp_path: Path) -> None:
    lay(tmp_path, "tool.py", "pkg/__init__.py", "pkg/m.py")
    assert pages(tmp_path, "tool.py") == {"index.html": "tool"}
    assert pages(tmp_path, "pkg/m.py", "tool.py") == {"index.html": "pkg.m", "tool/index.html": "tool"}


def test_a_folder_that_is_no_package_is_given_a_home_page(tmp_path: Path) -> None:
    lay(tmp_path, "scripts/one.py", "scripts/two.py")
    assert pages(tmp_path, "scripts") == {"index.html": "scripts", "one.html": "one", "two.html": "two"}


def test_caches_hidden_files_and_what_is_excluded_are_no_pages(tmp_path: Path) -> None:
    lay(
        tmp_path,
        "pkg/__init__.py",
        "pkg/.hidden.py",
        "pkg/.git/x.py",
        "pkg/__pycache__/y.py",
        "pkg/tests/test_a.py",
    )
    assert list(pages(tmp_path, "pkg", exclude=("pkg/tests/**",))) == ["index.html"]


def test_images_go_with_the_pages(tmp_path: Path) -> None:
    lay(tmp_path, "pkg/__init__.py", "pkg/figures/loss.svg", "pkg/data.csv")
    found = discover(Config(root=tmp_path, packages=("pkg",)))
    assert [asset.url for asset in found.assets] == ["figures/loss.svg"]


def test_an_installed_package_is_found_by_name_without_being_imported() -> None:
    import sys

    sys.modules.pop("this", None)
    assert locate(Path.cwd(), "this").name == "this.py"
    assert "this" not in sys.modules
    assert locate(Path.cwd(), "json.decoder").name == "decoder.py"


@pytest.mark.parametrize("name", ["no_such_package_at_all", "json.no_such_module", "no/such/folder", "sys"])
def test_what_is_nowhere_is_an_error_that_names_it(tmp_path: Path, name: str) -> None:
    with pytest.raises(SiteError, match=name):
        discover(Config(root=tmp_path, packages=(name,)))


def test_nothing_to_build_says_what_to_name(tmp_path: Path) -> None:
    with pytest.raises(SiteError, match="nothing to build") as caught:
        discover(Config(root=tmp_path))
    assert "pyproject.toml" in caught.value.hint


def test_the_order_does_not_depend_on_the_disk(tmp_path: Path) -> None:
    for folder, order in (("x", "cab"), ("y", "bca")):
        lay(tmp_path / folder, "pkg/__init__.py", *(f"pkg/{name}.py" for name in order))
    assert list(pages(tmp_path / "x", "pkg")) == list(pages(tmp_path / "y", "pkg"))


def test_a_linked_file_is_shown_as_what_it_is_and_a_linked_folder_is_left_alone(tmp_path: Path) -> None:
    lay(tmp_path, "pkg/__init__.py", "shared/real.py", "shared/more.py")
    (tmp_path / "pkg" / "here.py").symlink_to(tmp_path / "shared" / "real.py")
    (tmp_path / "pkg" / "sub").symlink_to(tmp_path / "shared")
    found = discover(Config(root=tmp_path, packages=("pkg",)))
    assert {source.url: source.path for source in found.sources} == {
        "index.html": "pkg/__init__.py",
        "here.html": "shared/real.py",
    }


def test_folders_come_in_the_order_of_their_names_each_after_its_own_files(tmp_path: Path) -> None:
    lay(tmp_path, *(f"pkg/{name}/__init__.py" for name in ("a", "a-b", "a.b")), "pkg/z.py", "pkg/a/b/c.py")
    urls = [source.url for source in discover(Config(root=tmp_path, packages=("pkg",))).sources]
    assert urls == ["index.html", "z.html", "a/index.html", "a/b/c.html", "a-b/index.html", "a.b/index.html"]
