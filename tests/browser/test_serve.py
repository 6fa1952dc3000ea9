"""`python -m site_builder serve`: save a file, and the page in the browser is the new one."""

from __future__ import annotations

import os
import queue
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from site_builder.serve import DEFAULT_PORT, TRIES

from .conftest import REPOSITORY, Visit


@dataclass
class Served:
    process: subprocess.Popen[str]
    folder: Path
    address: str
    said: list[str]

    @property
    def sums(self) -> Path:
        return self.folder / "tiny" / "sums.py"


@contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[Served]:
    """The command until it is interrupted, as a person ends it; it is gone afterwards, come what may."""
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "site_builder", "serve", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    said: list[str] = []
    address: queue.Queue[str] = queue.Queue()

    def listen() -> None:
        assert process.stderr
        for line in process.stderr:
            said.append(line)
            if found := re.search(r"serving (http://\S+)", line):
                address.put(found[1])
        address.put("")

    listener = threading.Thread(target=listen)
    listener.start()
    try:
        place = address.get(timeout=60)
        assert place, f"serve ended before it served: {''.join(said)}"
        yield Served(process, folder, place, said)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 0
    finally:
        process.kill()
        process.wait()
        listener.join(timeout=20)
        assert process.stderr
        process.stderr.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(REPOSITORY / "tests" / "fixtures" / "tiny", tmp_path / "tiny"))


@pytest.fixture
def served(folder: Path) -> Iterator[Served]:
    with serving(folder, "-p", "0") as running:
        yield running


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
    assert status("_live/events", "evil.example") == 400
    assert status("../pyproject.toml") == 404
    assert status("%2e%2e/pyproject.toml") == 404
    assert status("nowhere.html") == 404


def test_a_host_that_means_every_address_refuses_foreign_names_too(folder: Path) -> None:
    with serving(folder, "-p", "0", "--host", "0.0.0.0") as running:
        request = urllib.request.Request(running.address, headers={"Host": "evil.example"})
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=10)
        assert refused.value.code == 400
        refused.value.close()


def test_head_requests_are_answered(served: Served) -> None:
    for path in ("sums.html", "", "_live/live.js", "_live/events"):
        request = urllib.request.Request(served.address + path, method="HEAD")
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert answer.status == 200
            assert answer.read() == b""


def test_the_script_is_added_at_the_very_end_with_its_page_escaped(served: Served) -> None:
    (served.folder / "tiny" / 'a "b" & c.md').write_text("# Named oddly\n", "utf-8")
    address = served.address + "a%20%22b%22%20%26%20c.html"
    for _ in range(100):
        with suppress(urllib.error.HTTPError), urllib.request.urlopen(address, timeout=10) as answer:
            text = answer.read().decode()
            break
        time.sleep(0.1)
    _, _, tail = text.rpartition('<script src="/_live/live.js" ')
    assert tail.startswith('data-url="a &quot;b&quot; &amp; c.html" data-build="')
    assert text.rstrip().endswith("defer></script></body>\n</html>")


def test_a_build_between_a_page_and_its_stream_is_not_missed(served: Served, visit: Visit) -> None:
    held: list[Route] = []
    visit.page.route("**/_live/events", lambda route: held.append(route))
    page = visit.open(served.address + "sums.html")
    expect(page.locator("main")).to_contain_text("Nothing is carried.")
    text = served.sums.read_text("utf-8")
    built = sum("built " in line for line in served.said)
    served.sums.write_text(text.replace("Nothing is carried.", "All is carried."), "utf-8")
    for _ in range(200):
        if sum("built " in line for line in served.said) > built:
            break
        page.wait_for_timeout(50)
    assert "Nothing is carried." in page.locator("main").inner_text()
    for route in held:
        route.continue_()
    expect(page.locator("main")).to_contain_text("All is carried.")


def test_a_taken_port_that_was_asked_for_is_an_error(folder: Path) -> None:
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


def test_a_taken_default_port_moves_on_to_the_next(folder: Path) -> None:
    with socket.socket() as taken:
        # If somebody else has it already, so much the better.
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with suppress(OSError):
            taken.bind(("127.0.0.1", DEFAULT_PORT))
            taken.listen()
        with serving(folder) as running:
            port = urllib.parse.urlsplit(running.address).port
            assert port
            assert DEFAULT_PORT < port < DEFAULT_PORT + TRIES
