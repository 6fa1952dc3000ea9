"""
Bring the third-party files of `vendor.toml` into `static/vendor/`, or check that they are there unchanged.

    python tools/vendor.py            fetch with npm, verify, write
    python tools/vendor.py --check    compare what is there with the recorded digests; needs no network

For a new version, put its number and npm's `dist.integrity` into the data file and run this. It tells which
digests are new; nothing is written before they are in the data file too.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).with_name("vendor.toml")
TARGET = Path(__file__).parent.parent / "static" / "vendor"


class VendorError(Exception):
    """A sentence for whoever runs this."""


@dataclass(frozen=True)
class File:
    """A file below `static/vendor/`: its origin, what it must be, and whether only the build needs it."""

    path: str
    source: str
    sha256: str
    build_only: bool


@dataclass(frozen=True)
class Package:
    name: str
    version: str
    licence: str
    integrity: str
    about: str
    files: tuple[File, ...]


def read(data: Path) -> tuple[Package, ...]:
    tables = tomllib.loads(data.read_text(encoding="utf-8"))["package"]
    return tuple(
        Package(
            table["name"],
            table["version"],
            table["licence"],
            table["integrity"],
            table["about"],
            tuple(
                File(f"{table['folder']}/{to}", it["from"], it["sha256"], it.get("build_only", False))
                for to, it in table["files"].items()
            ),
        )
        for table in tables
    )


def fetched(package: Package, folder: Path) -> bytes:
    """The package's archive, once it has proved to be the recorded one."""
    npm = shutil.which("npm")
    if npm is None:
        raise VendorError("npm is needed to fetch the packages, and is not installed")
    request = f"{package.name}@{package.version}"
    result = subprocess.run(
        [npm, "pack", request, "--json", "--ignore-scripts"], cwd=folder, capture_output=True, text=True
    )
    archives = list(folder.glob("*.tgz"))
    if result.returncode or len(archives) != 1:
        reason = result.stderr.strip().partition("\n")[0]
        raise VendorError(f"npm could not fetch {request}; is there a network? ({reason})")
    archive = archives[0].read_bytes()
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(archive).digest()).decode()
    if integrity != package.integrity:
        raise VendorError(f"{request} is not what was recorded: it is {integrity}, not {package.integrity}")
    return archive


def extracted(package: Package, archive: Path) -> Iterator[tuple[File, bytes]]:
    """Each listed file with its content."""
    with tarfile.open(archive) as tar:
        for file in package.files:
            try:
                member = tar.extractfile(f"package/{file.source}")
            except KeyError:
                member = None
            if member is None:
                raise VendorError(f"{package.name} {package.version} has no file {file.source}")
            content = member.read()
            yield file, only_woff2(content) if file.path.endswith(".css") else content


def only_woff2(css: bytes) -> bytes:
    """The style sheet without the formats that no browser of this decade asks for."""
    return re.sub(rb',url\([^)]*\.(?:woff|ttf)\) format\("(?:woff|truetype)"\)', b"", css)


def described(packages: tuple[Package, ...]) -> bytes:
    """What to tell those who find the folder."""
    build_only = [f"`{file.path}`" for p in packages for file in p.files if file.build_only]
    lines = [
        "# Files written by others",
        "",
        "Written by `tools/vendor.py` from `tools/vendor.toml`. Change those, not these. Each licence is in",
        f"its folder. Only the build needs {', '.join(build_only)}; all else goes with the site.",
        "",
        "| npm package | version | licence | what for |",
        "|---|---|---|---|",
        *(f"| {p.name} | {p.version} | {p.licence} | {p.about} |" for p in packages),
        "",
    ]
    return "\n".join(lines).encode()


def faults(packages: tuple[Package, ...], target: Path) -> list[str]:
    """What differs between the folder and the data file, a sentence each."""
    expected = {file.path: file.sha256 for p in packages for file in p.files}
    expected["README.md"] = sha256(described(packages))
    present = {file.relative_to(target).as_posix(): file for file in target.rglob("*") if file.is_file()}
    return [
        *(f"{path} is missing" for path in sorted(expected.keys() - present.keys())),
        *(f"{path} is not in the data file" for path in sorted(present.keys() - expected.keys())),
        *(
            f"{path} is not what was recorded"
            for path in sorted(expected.keys() & present.keys())
            if sha256(present[path].read_bytes()) != expected[path]
        ),
    ]


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def update(packages: tuple[Package, ...], target: Path) -> int:
    """Write everything, or nothing; return the number of files that changed."""
    contents = {"README.md": described(packages)}
    unknown: list[str] = []
    for package in packages:
        with tempfile.TemporaryDirectory() as folder:
            archive = Path(folder) / "verified"
            archive.write_bytes(fetched(package, Path(folder)))
            for file, content in extracted(package, archive):
                contents[file.path] = content
                if sha256(content) != file.sha256:
                    unknown.append(f'{file.path}: sha256 = "{sha256(content)}"')
    if unknown:
        raise VendorError("These digests are not the recorded ones:\n" + "\n".join(unknown))
    changed = 0
    for path, content in sorted(contents.items()):
        file_path = target / path
        if not file_path.is_file() or file_path.read_bytes() != content:
            file_path.parent.mkdir(parents=True, exist_ok=True)
            file_path.write_bytes(content)
            changed += 1
    for old in sorted(target.rglob("*")):
        if old.is_file() and old.relative_to(target).as_posix() not in contents:
            old.unlink()
            changed += 1
    return changed


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--check", action="store_true", help="compare only")
    parser.add_argument("--data", type=Path, default=DATA, help=argparse.SUPPRESS)
    parser.add_argument("--target", type=Path, default=TARGET, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    packages = read(options.data)
    try:
        if options.check:
            wrong = faults(packages, options.target)
            if wrong:
                raise VendorError("\n".join(wrong))
            print(f"{sum(len(p.files) for p in packages)} files are as recorded")
        else:
            print(f"{update(packages, options.target)} files changed")
    except VendorError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
