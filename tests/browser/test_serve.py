"""`python -m site_builder serve`: save a file, and the page in the browser is the new one."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import expect

from .conftest import REPOSITORY, Visit


@dataclass
class Served:
    process: subprocess.Popen[str]
    folder: Path
    address: str

    @property
    def sums(self) -> Path:
        return self.folder / "tiny" / "sums.py"


def start(folder: Path, *arguments: str) -> Served:
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "site_builder", "serve", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    assert process.stderr
    said = ""
    for line in process.stderr:
        said += line
        if found := re.search(r"serving (http://\S+)", line):
            return Served(process, folder, found[1])
    raise AssertionError(f"serve ended before it served: {said}")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    folder = Path(shutil.copytree(REPOSITORY / "tests" / "fixtures" / "tiny", tmp_path / "tiny"))
    running = start(folder, "-p", "0")
    yield running
    running.process.send_signal(signal.SIGINT)
    assert running.process.wait(timeout=20) == 0
    assert running.process.stderr
    running.process.stderr.close()


def test_a_save_in_place_and_one_by_replacement_both_show_without_losing_the_place(
    served: Served, visit: Visit, tmp_path: Path
) -> None:
    page = visit.open(served.address + "sums.html")
    page.set_viewport_size({"width": 900, "height": 300})
    page.evaluate("window.kept = 1; scrollTo(0, 250)")
    text = served.sums.read_text("utf-8")
    served.sums.write_text(text.replace("Nothing is carried.", "Nothing at all is carried."), "utf-8")
    expect(page.locator("main")).to_contain_text("Nothing at all is carried.")
    (tmp_path / "new.py").write_text(
        text.replace("Nothing is carried.", "Almost nothing is carried."), "utf-8"
    )
    (tmp_path / "new.py").replace(served.sums)
    expect(page.locator("main")).to_contain_text("Almost nothing is carried.")
    assert page.evaluate("[window.kept, scrollY]") == [1, 250]


def test_a_syntax_error_is_shown_with_its_place_until_it_is_mended(served: Served, visit: Visit) -> None:
    page = visit.open(served.address + "sums.html")
    text = served.sums.read_text("utf-8")
    served.sums.write_text(text + "\ndef broken(:\n", "utf-8")
    expect(page.get_by_role("alert")).to_contain_text(f"tiny/sums.py:{text.count(chr(10)) + 2}:")
    served.sums.write_text(text, "utf-8")
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_new_module_has_a_page_and_a_deleted_one_has_none(served: Served, visit: Visit) -> None:
    (served.folder / "tiny" / "fresh.py").write_text('"""# Fresh"""\n', "utf-8")
    page = visit.open(served.address)
    expect(page.locator("main")).to_contain_text("Fresh")
    (served.folder / "tiny" / "fresh.py").unlink()
    expect(page.locator("main")).not_to_contain_text("Fresh")


def test_foreign_hosts_and_paths_outside_the_site_are_refused(served: Served) -> None:
    def status(path: str, host: str | None = None) -> int:
        request = urllib.request.Request(served.address + path, headers={"Host": host} if host else {})
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                assert answer.headers["Cache-Control"] == "no-cache"
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code

    assert status("sums.html") == 200
    assert status("") == 200
    assert status("sums.html", "evil.example") == 400
    assert status("../pyproject.toml") == 404
    assert status("%2e%2e/pyproject.toml") == 404
    assert status("nowhere.html") == 404


def test_a_taken_port_that_was_asked_for_is_an_error_and_the_default_moves_on(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(REPOSITORY / "tests" / "fixtures" / "tiny", tmp_path / "tiny"))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-m", "site_builder", "serve", "-p", str(port)],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 2
    assert str(port) in done.stderr
    assert "Traceback" not in done.stderr
