"""Who may import whom: each promise is shown to be held by breaking it. No import without a dependency."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("labml_nn", "site_builder")
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONTRACTS = {contract["name"] for contract in SETTINGS["tool"]["importlinter"]["contracts"]}
# Asked for because of what others do without it; see pyproject.toml.
NEVER_IMPORTED = {"numpy"}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The two packages as they are, to be spoiled."""
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def broken_contracts(checkout: Path) -> set[str]:
    """The names of the contracts that import-linter finds broken there."""
    script = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run(
        [sys.executable, "-c", script, "--no-logo", "--no-cache"],
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
    )
    states = dict(re.findall(r"^(.+) (KEPT|BROKEN)\b", done.stdout, re.MULTILINE))
    assert states.keys() == CONTRACTS, done.stdout + done.stderr
    return {name for name, state in states.items() if state == "BROKEN"}


def test_the_packages_keep_every_contract(checkout: Path) -> None:
    assert broken_contracts(checkout) == set()


@pytest.mark.parametrize(
    ("additions", "contract"),
    [
        pytest.param(
            {"site_builder/model.py": "import site_builder.config"},
            "A module imports only from rows below its own, or within its row",
            id="upwards",
        ),
        pytest.param(
            {"site_builder/newcomer.py": ""},
            "A module imports only from rows below its own, or within its row",
            id="a module in no row",
        ),
        pytest.param(
            {
                "site_builder/model.py": "import site_builder.errors",
                "site_builder/errors.py": "import site_builder.model",
            },
            "No circle within a row, nor inside a package of the builder",
            id="a circle within a row",
        ),
        pytest.param(
            {"labml_nn/__init__.py": "import site_builder.errors"},
            "The models and the builder do not know of each other",
            id="models to builder",
        ),
        pytest.param(
            {"site_builder/config.py": "import labml_nn"},
            "The models and the builder do not know of each other",
            id="builder to models",
        ),
        pytest.param(
            {"site_builder/config.py": "import torch"},
            "The builder never imports torch",
            id="torch",
        ),
    ],
)
def test_an_import_against_the_design_breaks_its_contract(
    checkout: Path, additions: dict[str, str], contract: str
) -> None:
    for file, line in additions.items():
        with (checkout / file).open("a", encoding="utf-8") as target:
            target.write(f"\n{line}\n")
    assert contract in broken_contracts(checkout)


def imported() -> dict[str, str]:
    """The top-level name of everything that our modules import, wherever in the module, and one that does."""
    found: dict[str, str] = {}
    for package in PACKAGES:
        for file in sorted(ROOT.glob(f"{package}/**/*.py")):
            for node in ast.walk(ast.parse(file.read_bytes())):
                names: list[str] = []
                if isinstance(node, ast.Import):
                    names = [alias.name for alias in node.names]
                elif isinstance(node, ast.ImportFrom):
                    names = [node.module or ""]
                for name in names:
                    found.setdefault(name.partition(".")[0], file.relative_to(ROOT).as_posix())
    return {name: file for name, file in found.items() if name not in {*sys.stdlib_module_names, *PACKAGES}}


def declared(*extras: str) -> set[str]:
    """The distributions that our metadata asks for, with these extras."""
    needed = list(SETTINGS["project"]["dependencies"])
    for extra in extras:
        needed += SETTINGS["project"]["optional-dependencies"][extra]
    return {re.split(r"[<>=~!\[; ]", line, maxsplit=1)[0].lower() for line in needed}


def test_what_is_imported_is_a_declared_dependency_and_the_other_way_round() -> None:
    providers = metadata.packages_distributions()
    used = {name: {provider.lower() for provider in providers.get(name, [])} for name in imported()}
    # What a run may do without is an extra of its own: plots, a second place for metrics.
    # And our plugin is loaded by pytest itself.
    known = declared("plots", "tensorboard") | {"pytest"}
    undeclared = {name: imported()[name] for name, providing in used.items() if not providing & known}
    assert not undeclared, "imported, but pyproject.toml asks for no distribution that provides it"
    unused = declared() - NEVER_IMPORTED - set().union(*used.values())
    assert not unused, "asked for in pyproject.toml, and imported nowhere"
