"""The package as others get it: the archives, and an environment that holds nothing else of ours."""

from __future__ import annotations

import email.message
import email.parser
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

import site_builder

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ("templates", "static")
VENDORED = sorted(folder.name for folder in (ROOT / "static/vendor").iterdir() if folder.is_dir())


class Environment(NamedTuple):
    python: Path
    script: Path
    packages: Path


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs it as a stranger would: outside the checkout, with no path that leads into it."""
    environ = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "COV_"))}
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command} exited with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The sdist, and the wheel that is built from it: what a package index would hold."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    return next(folder.glob("*.tar.gz")), next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def wheel(archives: tuple[Path, Path]) -> dict[str, bytes]:
    with zipfile.ZipFile(archives[1]) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def metadata(wheel: dict[str, bytes]) -> email.message.Message:
    name = next(name for name in wheel if name.endswith(".dist-info/METADATA"))
    return email.parser.BytesParser().parsebytes(wheel[name])


@pytest.fixture(scope="module", params=["wheel", "editable"])
def environment(
    request: pytest.FixtureRequest, archives: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> Environment:
    """
    A new environment with the distribution in it. What we depend on is lent by the running one: a path line
    in a `.pth` file makes its packages visible, but not what its own `.pth` files name: no editable install.
    """
    folder = tmp_path_factory.mktemp(request.param)
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    places = sysconfig.get_paths("venv", vars={"base": str(folder), "platbase": str(folder)})
    python, packages = Path(places["scripts"], "python"), Path(places["purelib"])
    lent = dict.fromkeys([sysconfig.get_path("purelib"), sysconfig.get_path("platlib")])
    (packages / "lent.pth").write_text("\n".join(lent), encoding="utf-8")

    what = ["--editable", ROOT] if request.param == "editable" else [archives[1]]
    pip = (sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check", "install")
    run(*pip, "--no-deps", "--no-index", "--no-build-isolation", "--ignore-installed", *what, cwd=folder)
    return Environment(python, Path(places["scripts"], "site-builder"), packages)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Somebody else's package, of one module, in a folder without configuration."""
    package = tmp_path / "shapes"
    package.mkdir()
    (package / "__init__.py").write_text(
        'r"""\n# Shapes\n\nA circle covers $\\pi r^2$.\n"""\n', encoding="utf-8"
    )
    (package / "circle.py").write_text('"""# Circle"""\n\n# Twice the radius\nd = 2\n', encoding="utf-8")
    return tmp_path


def test_the_wheel_holds_the_two_packages_and_nothing_else(wheel: dict[str, bytes]) -> None:
    assert {name.partition("/")[0] for name in wheel} == {
        "labml_nn",
        "site_builder",
        f"annotated_nn-{site_builder.__version__}.dist-info",
    }
    assert {"labml_nn/py.typed", "site_builder/py.typed"} <= wheel.keys()
    # What `new` writes has tests of its own.
    ours = [name for name in wheel if not name.startswith("site_builder/new/project/")]
    assert not [name for name in ours if "__pycache__" in name or "/tests/" in name or "/docs/" in name]


def test_every_module_of_the_checkout_is_in_the_wheel(wheel: dict[str, bytes]) -> None:
    modules = {
        file.relative_to(ROOT).as_posix()
        for package in ("labml_nn", "site_builder")
        for file in ROOT.glob(f"{package}/**/*.py")
    }
    assert modules == {name for name in wheel if name.endswith(".py")}


@pytest.mark.parametrize("folder", SHIPPED)
def test_templates_and_static_files_ship_inside_the_builder(wheel: dict[str, bytes], folder: str) -> None:
    files = {
        f"site_builder/{file.relative_to(ROOT).as_posix()}": file.read_bytes()
        for file in (ROOT / folder).rglob("*")
        if file.is_file()
    }
    assert files
    assert files == {name: data for name, data in wheel.items() if name.startswith(f"site_builder/{folder}/")}


def test_the_files_of_a_new_project_ship_beside_what_writes_them(wheel: dict[str, bytes]) -> None:
    folder = "site_builder/new/project/"
    files = {
        file.relative_to(ROOT).as_posix(): file.read_bytes()
        for file in (ROOT / folder).rglob("*")
        if file.is_file()
    }
    assert f"{folder}.github/workflows/pages.yml.in" in files
    assert files == {name: data for name, data in wheel.items() if name.startswith(folder)}


@pytest.mark.parametrize("name", VENDORED)
def test_each_vendored_library_ships_with_its_licence(
    wheel: dict[str, bytes], metadata: email.message.Message, name: str
) -> None:
    licence = f"static/vendor/{name}/LICENSE"
    assert len(wheel[f"site_builder/{licence}"]) > 200
    assert licence in (metadata.get_all("License-File") or [])


def test_the_interface_is_translated_in_the_wheel_but_our_own_pages_stay_out(wheel: dict[str, bytes]) -> None:
    catalogues = {
        f"site_builder/{file.relative_to(ROOT).as_posix()}"
        for file in ROOT.glob("translations/*/_interface.po")
    }
    assert catalogues == {name for name in wheel if name.startswith("site_builder/translations/")}


def test_the_metadata_says_who_we_are_and_what_we_need(metadata: email.message.Message) -> None:
    assert metadata["Name"] == "annotated-nn"
    assert metadata["Version"] == site_builder.__version__
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "MIT"
    needed = [line for line in metadata.get_all("Requires-Dist") or [] if "extra ==" not in line]
    assert "torch<2.14,>=2.6" in needed
    unbounded = [line for line in needed if "<" not in line or ">=" not in line]
    assert not unbounded, "each dependency has a range that was tested"


def test_the_source_archive_can_be_tested_by_whoever_unpacks_it(archives: tuple[Path, Path]) -> None:
    with tarfile.open(archives[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "Makefile", "README.md", "LICENSE", "PKG-INFO"} <= names
    assert f"tests/site_builder/{Path(__file__).name}" in names
    assert not [name for name in names if name.startswith(("docs/", ".venv/", ".git/", "dist/"))]


def test_the_builder_comes_from_the_environment_that_it_was_installed_in(
    environment: Environment, request: pytest.FixtureRequest, project: Path
) -> None:
    show = "import labml_nn, site_builder; print(site_builder.__file__); print(labml_nn.__file__)"
    origins = run(environment.python, "-c", show, cwd=project).stdout.split()
    editable = "editable" in request.node.callspec.id
    home = ROOT if editable else environment.packages
    assert [Path(origin).parent.parent for origin in origins] == [home, home]


@pytest.mark.parametrize("folder", SHIPPED)
def test_its_own_files_are_found_inside_the_package_or_beside_it(
    environment: Environment, request: pytest.FixtureRequest, project: Path, folder: str
) -> None:
    show = f"from site_builder.resources import resource_root; print(resource_root({folder!r}))"
    found = Path(run(environment.python, "-c", show, cwd=project).stdout.strip())
    editable = "editable" in request.node.callspec.id
    assert found == (ROOT / folder if editable else environment.packages / "site_builder" / folder)
    assert any(found.iterdir())


def test_it_starts_a_project_from_where_it_is_installed(environment: Environment, tmp_path: Path) -> None:
    run(environment.script, "new", "notes", cwd=tmp_path)
    assert (tmp_path / "notes/notes/softmax.py").is_file()
    assert (tmp_path / "notes/.github/workflows/pages.yml").is_file()


@pytest.mark.parametrize("command", ["module", "script"])
def test_it_builds_a_whole_site_in_another_folder(
    environment: Environment, project: Path, command: str
) -> None:
    start = [environment.python, "-m", "site_builder"] if command == "module" else [environment.script]
    run(*start, "build", "shapes", "-o", "out", cwd=project)
    page = (project / "out/index.html").read_text(encoding="utf-8")
    assert "<math" in page
    assert 'class="katex' in page
    assert (project / "out/circle.html").is_file()

    styles = re.findall(r'<link[^>]*rel="stylesheet"[^>]*href="([^"?]+)', page)
    assert styles
    for href in [*styles, *re.findall(r'<script[^>]*src="([^"?]+)', page)]:
        assert (project / "out" / href).is_file(), f"{href} is linked, and not there"
    assert list((project / "out").rglob("KaTeX_Main-Regular*.woff2"))
