"""Where the builder finds its own templates and assets."""

from __future__ import annotations

from pathlib import Path

import pytest

from site_builder import resources
from site_builder.errors import SiteError
from site_builder.resources import resource_root

ROOT = Path(__file__).resolve().parents[2]


def test_in_a_checkout_the_folders_stand_beside_the_package() -> None:
    assert resource_root("templates") == ROOT / "templates"


def test_in_a_wheel_the_folders_inside_of_the_package_come_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site_builder"
    (package / "static").mkdir(parents=True)
    (tmp_path / "static").mkdir()
    monkeypatch.setattr(resources, "_PACKAGE", package)
    assert resource_root("static") == package / "static"


def test_an_incomplete_installation_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "_PACKAGE", tmp_path / "site_builder")
    with pytest.raises(SiteError, match="folder 'templates' is missing — install annotated-nn again"):
        resource_root("templates")
