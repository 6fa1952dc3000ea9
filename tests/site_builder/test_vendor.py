"""The files of others: what is there is what was recorded, and what is recorded can be written again."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import io
import os
import re
import shutil
import stat
import sys
import tarfile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
VENDORED = ROOT / "static/vendor"


@pytest.fixture(scope="module")
def vendor() -> ModuleType:
    spec = importlib.util.spec_from_file_location("vendor", ROOT / "tools/vendor.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["vendor"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An `npm` on the path that packs whatever lies in a folder, in the place of one with a network."""
    folder = tmp_path / "bin"
    folder.mkdir()
    npm = folder / "npm"
    npm.write_text(
        f'#!/bin/sh\n[ -f "{tmp_path}/archive.tgz" ] || {{ echo no route >&2; exit 1; }}\n'
        f'cp "{tmp_path}/archive.tgz" .\n'
    )
    npm.chmod(npm.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


LICENCE = b"be kind\n"
CSS = (
    b'a{src:url(f/A.woff2) format("woff2"),url(f/A.woff) format("woff"),url(f/A.ttf) format("truetype")}'
    b"b{color:red}"
)


def publish(registry: Path, *, css_digest: str = "") -> list[str]:
    """Publishes a package and records it in a data file; returns the script's arguments."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        for name, content in {"LICENSE": LICENCE, "dist/a.css": CSS, "dist/unlisted.js": b"1"}.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    (registry / "archive.tgz").write_bytes(archive.getvalue())
    integrity = base64.b64encode(hashlib.sha512(archive.getvalue()).digest()).decode()
    licence = hashlib.sha256(LICENCE).hexdigest()
    reduced = b'a{src:url(f/A.woff2) format("woff2")}b{color:red}'
    (registry / "vendor.toml").write_text(
        f"""
        [[package]]
        name = "tiny"
        version = "1.2.3"
        licence = "MIT"
        integrity = "sha512-{integrity}"
        folder = "tiny"
        about = "serves as an example"
        [package.files]
        "LICENSE" = {{ from = "LICENSE", sha256 = "{licence}" }}
        "a.css" = {{ from = "dist/a.css", sha256 = "{css_digest or hashlib.sha256(reduced).hexdigest()}" }}
    """.replace("\n        ", "\n")
    )
    return ["--data", str(registry / "vendor.toml"), "--target", str(registry / "vendor")]


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_the_vendored_files_are_the_recorded_ones(vendor: ModuleType) -> None:
    assert vendor.faults(vendor.read(vendor.DATA), VENDORED) == []


def test_the_style_sheet_and_the_script_of_katex_are_of_one_version() -> None:
    script = (VENDORED / "katex/katex.min.js").read_text(encoding="utf-8")
    style = (VENDORED / "katex/katex.min.css").read_text(encoding="utf-8")
    (version,) = re.findall(r'\.katex-version:after\{content:("[^"]+")\}', style)
    assert version in script


def test_each_style_sheet_asks_only_for_files_that_are_there() -> None:
    for sheet in VENDORED.rglob("*.css"):
        urls = re.findall(r"url\(([^)]+)\)", sheet.read_text(encoding="utf-8"))
        assert urls
        assert [url for url in urls if not (sheet.parent / url).is_file()] == []


def test_no_font_lies_about_that_no_style_sheet_of_its_package_asks_for() -> None:
    sheet = (VENDORED / "katex/katex.min.css").read_text(encoding="utf-8")
    assert [font.name for font in (VENDORED / "katex/fonts").iterdir() if font.name not in sheet] == []


def test_listed_files_are_written_and_no_others(
    vendor: ModuleType, registry: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = publish(registry)
    assert vendor.main(arguments) == 0
    assert sorted(contents(registry / "vendor")) == ["README.md", "tiny/LICENSE", "tiny/a.css"]
    assert capsys.readouterr().out == "3 files changed\n"


def test_a_second_run_changes_nothing(
    vendor: ModuleType, registry: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = publish(registry)
    vendor.main(arguments)
    before = contents(registry / "vendor")
    capsys.readouterr()
    assert vendor.main(arguments) == 0
    assert contents(registry / "vendor") == before
    assert capsys.readouterr().out == "0 files changed\n"


def test_old_font_formats_are_dropped_from_style_sheets(vendor: ModuleType, registry: Path) -> None:
    vendor.main(publish(registry))
    assert (
        registry / "vendor/tiny/a.css"
    ).read_bytes() == b'a{src:url(f/A.woff2) format("woff2")}b{color:red}'


def test_another_archive_than_the_recorded_one_is_refused(
    vendor: ModuleType, registry: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = publish(registry)
    archive = registry / "archive.tgz"
    archive.write_bytes(archive.read_bytes() + b"\0")
    assert vendor.main(arguments) == 1
    assert "tiny@1.2.3 is not what was recorded" in capsys.readouterr().err
    assert not (registry / "vendor").exists()


def test_an_unrecorded_digest_is_told_and_nothing_is_written(
    vendor: ModuleType, registry: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert vendor.main(publish(registry, css_digest="0" * 64)) == 1
    assert 'tiny/a.css: sha256 = "' in capsys.readouterr().err
    assert not (registry / "vendor").exists()


def test_without_a_network_the_script_says_so(
    vendor: ModuleType, registry: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = publish(registry)
    (registry / "archive.tgz").unlink()
    assert vendor.main(arguments) == 1
    assert capsys.readouterr().err == "npm could not fetch tiny@1.2.3; is there a network? (no route)\n"


@pytest.mark.parametrize(
    ("harm", "complaint"),
    [
        (lambda folder: (folder / "tiny/a.css").write_text("a{}"), "tiny/a.css is not what was recorded"),
        (lambda folder: (folder / "tiny/LICENSE").unlink(), "tiny/LICENSE is missing"),
        (lambda folder: shutil.copy(folder / "README.md", folder / "more"), "more is not in the data file"),
    ],
)
def test_the_check_names_the_file_that_differs(
    vendor: ModuleType, registry: Path, capsys: pytest.CaptureFixture[str], harm, complaint: str
) -> None:
    arguments = publish(registry)
    vendor.main(arguments)
    assert vendor.main([*arguments, "--check"]) == 0
    harm(registry / "vendor")
    assert vendor.main([*arguments, "--check"]) == 1
    assert capsys.readouterr().err == complaint + "\n"
