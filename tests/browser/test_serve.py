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
import textwrap
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from site_builder.serve import DEFAULT_PORT, TRIES

from .conftest import REPOSITORY, Tab, Visit, shown


@dataclass
class Served:
    process: subprocess.Popen[str]
    folder: Path
    address: str
    said: list[str]

    @property
    def sums(self) -> Path:
        return self.folder / "tiny" / "sums.py"

    @property
    def builds(self) -> int:
        return sum("built " in line for line in self.said)

    def get(self, path: str) -> str:
        with urllib.request.urlopen(self.address + path, timeout=30) as answer:
            return str(answer.read().decode())

    def shows(self, path: str, text: str) -> bool:
        """Whether the page comes to say it, within a time in which nothing that works needs to be waited for."""
        return until(lambda: text in self.get(path))

    def restore(self) -> None:
        """The project as it was."""
        tiny = REPOSITORY / "tests" / "fixtures" / "tiny"
        for file in self.folder.rglob("*"):
            name = file.relative_to(self.folder)
            if file.is_file() and not (tiny / name).exists() and name.parts[0][0] != ".":
                file.unlink()
        shutil.copytree(tiny, self.folder, dirs_exist_ok=True)
        # The last of all: once it has been shown, so has the rest.
        mark = self.folder / "tiny" / "zz.md"
        mark.write_text("# Mark\n", "utf-8")
        assert until(lambda: self.status("zz.html") == 200)
        built = self.builds
        mark.unlink()
        assert until(lambda: self.builds > built and self.status("zz.html") == 404)

    def status(self, path: str, host: str | None = None) -> int:
        request = urllib.request.Request(self.address + path, headers={"Host": host} if host else {})
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                assert answer.headers["Cache-Control"] == "no-cache"
                return int(answer.status)
        except urllib.error.HTTPError as error:
            error.close()
            return error.code


def until(done: Callable[[], bool]) -> bool:
    """Waits for it. A machine that runs all tests at once may take its time."""
    for _ in range(300):
        with suppress(urllib.error.HTTPError):
            if done():
                return True
        time.sleep(0.1)
    return False


@contextmanager
def serving(folder: Path, *arguments: str, end: int = signal.SIGINT, **environment: str) -> Iterator[Served]:
    """
    The command until it is interrupted, as a person ends it, and says that all is well; it is gone afterwards, come
    what may. Nothing is left of its copy of the site.
    """
    temporary = folder.parent / "temporary"
    temporary.mkdir(exist_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "site_builder", "serve", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "TMPDIR": str(temporary), **environment},
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
        process.send_signal(end)
        assert process.wait(timeout=20) == 0
        # Jinja keeps compiled templates for the user, not for us.
        assert [left for left in temporary.iterdir() if "jinja2" not in left.name] == []
    finally:
        process.kill()
        process.wait()
        listener.join(timeout=20)
        assert process.stderr
        process.stderr.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(REPOSITORY / "tests" / "fixtures" / "tiny", tmp_path / "tiny"))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One for all tests that can ask the same one."""
    folder = tmp_path_factory.mktemp("serve") / "tiny"
    shutil.copytree(REPOSITORY / "tests" / "fixtures" / "tiny", folder)
    with serving(folder, "-p", "0", "--no-exec") as running:
        yield running


@pytest.fixture
def served(server: Served) -> Served:
    server.restore()
    return server


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


def test_what_is_wrong_with_a_translation_is_shown_over_the_translated_page(
    served: Served, visit: Visit
) -> None:
    page = visit.open(served.address + "ja/sums.html")
    catalogue = served.folder / "translations" / "ja" / "sums.po"
    text = catalogue.read_text("utf-8")
    catalogue.write_text(text.replace("$a$ と $b$", "$a$ と $c$"), "utf-8")
    expect(page.get_by_role("alert")).to_contain_text("translations/ja/sums.po:")
    catalogue.write_text(text, "utf-8")
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_page_that_is_renamed_goes_and_comes_and_so_does_a_folder(served: Served, visit: Visit) -> None:
    page = visit.open(served.address + "all-pages.html")
    deep = served.folder / "tiny" / "deep" / "deeper"
    deep.mkdir(parents=True)
    (deep / "one.py").write_text('"""# A page far down"""\n', "utf-8")
    expect(page.locator("main")).to_contain_text("A page far down")
    assert served.status("deep/deeper/one.html") == 200
    (deep / "one.py").rename(deep / "two.py")
    assert until(lambda: served.status("deep/deeper/two.html") == 200)
    assert served.status("deep/deeper/one.html") == 404
    deep.rename(deep.with_name("elsewhere"))
    assert until(lambda: served.status("deep/elsewhere/two.html") == 200)
    shutil.rmtree(served.folder / "tiny" / "deep")
    expect(page.locator("main")).not_to_contain_text("A page far down")
    assert served.status("deep/elsewhere/two.html") == 404


def test_twenty_quick_saves_are_at_most_two_builds(served: Served) -> None:
    text, before = served.sums.read_text("utf-8"), served.builds
    # However busy the machine is: the server hears of none before the last has been made.
    served.process.send_signal(signal.SIGSTOP)
    for number in range(20):
        served.sums.write_text(text.replace("Nothing is carried.", f"Carried {number} times."), "utf-8")
    served.process.send_signal(signal.SIGCONT)
    assert served.shows("sums.html", "Carried 19 times.")
    time.sleep(0.5)
    assert 1 <= served.builds - before <= 2


def test_what_a_reader_has_chosen_and_opened_stays(served: Served, visit: Visit) -> None:
    page = visit.open(served.address + "sums.html#add")
    page.locator("#theme").click()
    theme = page.evaluate("document.documentElement.dataset.theme")
    assert theme
    page.keyboard.press("/")
    page.keyboard.type("adder")
    served.sums.write_text(
        served.sums.read_text("utf-8").replace("Nothing is carried.", "All of it is carried."), "utf-8"
    )
    expect(page.locator("main")).to_contain_text("All of it is carried.")
    expect(page.locator("#search")).to_be_visible()
    expect(page.locator("#search input")).to_have_value("adder")
    assert page.evaluate("[location.hash, document.documentElement.dataset.theme]") == ["#add", theme]


def test_an_edit_of_the_theme_and_of_the_settings_shows_too(served: Served, visit: Visit) -> None:
    page = visit.open(served.address)
    settings = served.folder / "pyproject.toml"
    settings.write_text(
        settings.read_text("utf-8").replace('"Tiny"', '"Smaller"') + 'theme = "theme"\n', "utf-8"
    )
    expect(page).to_have_title(re.compile("Smaller"))
    foot = served.folder / "theme" / "templates" / "partials" / "foot.html"
    foot.parent.mkdir(parents=True)
    foot.write_text('<p class="foot">The end.</p>', "utf-8")
    expect(page.locator(".foot")).to_have_text("The end.")


def test_settings_that_cannot_be_read_are_shown_until_they_can(served: Served, visit: Visit) -> None:
    page = visit.open(served.address)
    settings = served.folder / "pyproject.toml"
    text = settings.read_text("utf-8")
    settings.write_text(text + "titel = 'x'\n", "utf-8")
    expect(page.get_by_role("alert")).to_contain_text("unknown key 'titel'")
    assert served.status("sums.html") == 200
    settings.write_text(text, "utf-8")
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_new_module_has_a_page_and_a_deleted_one_has_none(served: Served, visit: Visit) -> None:
    (served.folder / "tiny" / "fresh.py").write_text('"""# Fresh"""\n', "utf-8")
    page = visit.open(served.address)
    expect(page.locator("main")).to_contain_text("Fresh")
    (served.folder / "tiny" / "fresh.py").unlink()
    expect(page.locator("main")).not_to_contain_text("Fresh")


def test_two_saves_at_once_reach_every_tab_that_shows_something_of_them(served: Served, tab: Tab) -> None:
    page, home, essay = (shown(tab(), served.address + url) for url in ("sums.html", "", "essay.html"))
    text = served.sums.read_text("utf-8")
    words = served.folder / "tiny" / "essay.md"
    served.sums.write_text(text.replace("title: Sums", "title: Totals"), "utf-8")
    words.write_text(words.read_text("utf-8") + "\nThe last word.\n", "utf-8")
    served.sums.write_text(text.replace("title: Sums", "title: Balances"), "utf-8")
    expect(page).to_have_title(re.compile("Balances"))
    expect(home.locator("main")).to_contain_text("Balances")
    expect(essay.locator("main")).to_contain_text("The last word.")
    expect(essay.locator("body")).to_contain_text("Balances")


def test_an_address_that_leads_nowhere_shows_the_sites_own_page_with_ways_that_lead_on(
    served: Served, tab: Tab
) -> None:
    page = tab()
    for path, lang, words, home, after in (
        ("ja/deep/down/nowhere.html", "ja", "ページが見つかりません", "ホーム", "ja/index.html"),
        ("deep/404.html", "en", "Page not found", "Home", "index.html"),
        ("ja/404", "ja", "ページが見つかりません", "ホーム", "ja/index.html"),
    ):
        answer = page.goto(served.address + path)
        assert answer
        assert answer.status == 404
        expect(page.locator("html")).to_have_attribute("lang", lang)
        expect(page.locator("h1")).to_have_text(words)
        assert page.evaluate("getComputedStyle(document.querySelector('.ways')).listStyleType") == "none"
        page.get_by_role("main").get_by_role("link", name=home).click()
        expect(page).to_have_url(served.address + after)
        expect(page.locator("h1")).not_to_have_text(words)
    # It may be written while it is looked for.
    page.goto(served.address + "soon.html")
    (served.folder / "tiny" / "soon.md").write_text("# At last\n", "utf-8")
    expect(page.locator("h1")).to_have_text("At last")


def test_foreign_hosts_are_refused(server: Served) -> None:
    assert server.status("sums.html") == 200
    assert server.status("") == 200
    assert server.status("nowhere.html") == 404
    for path in ("sums.html", "_live/events", "_live/live.js"):
        assert server.status(path, "evil.example") == 400


@pytest.mark.parametrize(
    "target",
    [
        *("/../pyproject.toml", "/%2e%2e/pyproject.toml", "/..%2fpyproject.toml", "/%2e%2e%2fpyproject.toml"),
        *("/static/../../pyproject.toml", "/static/..%2f..%2fpyproject.toml", "/..\\pyproject.toml"),
        *("/..%5cpyproject.toml", "/.site_builder.json", "//{root}/pyproject.toml", "/{root}/pyproject.toml"),
        *(
            "/%2f{root}/pyproject.toml",
            "http://localhost/../pyproject.toml",
            "/sums.html%00",
            "/sums.html/",
            "/static",
        ),
    ],
)
def test_no_path_leads_out_of_the_site(target: str, server: Served) -> None:
    """As bytes on the wire: a library would tidy them up."""
    host, port = urllib.parse.urlsplit(server.address).netloc.split(":")
    with socket.create_connection((host, int(port)), timeout=30) as line:
        request = target.replace("{root}", str(server.folder).lstrip("/"))
        line.sendall(f"GET {request} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: line.recv(65536), b""))
    assert re.match(rb"HTTP/1\.1 40[04] ", answer), answer[:100]
    assert b"site_builder]" not in answer
    assert b'"files"' not in answer


def test_a_host_that_means_every_address_refuses_foreign_names_too(folder: Path) -> None:
    with serving(folder, "-p", "0", "--host", "0.0.0.0") as running:
        request = urllib.request.Request(running.address, headers={"Host": "evil.example"})
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=10)
        assert refused.value.code == 400
        refused.value.close()


def test_head_requests_are_answered(server: Served) -> None:
    for path in ("sums.html", "", "_live/live.js", "_live/events"):
        request = urllib.request.Request(server.address + path, method="HEAD")
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
    visit.page.route("**/_live/events*", lambda route: held.append(route))
    page = visit.open(served.address + "sums.html")
    expect(page.locator("main")).to_contain_text("Nothing is carried.")
    text = served.sums.read_text("utf-8")
    built = served.builds
    served.sums.write_text(text.replace("Nothing is carried.", "All is carried."), "utf-8")
    for _ in range(200):
        if served.builds > built:
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


def test_a_tab_survives_a_restart_of_the_server(folder: Path, visit: Visit) -> None:
    with serving(folder, "-p", "0", "--no-exec") as first:
        page = visit.open(first.address + "sums.html#add")
        port = str(urllib.parse.urlsplit(first.address).port)
    text = first.sums.read_text("utf-8")
    first.sums.write_text(text.replace("Nothing is carried.", "Carried meanwhile."), "utf-8")
    with serving(folder, "-p", port, "--no-exec", end=signal.SIGTERM):
        expect(page.locator("main")).to_contain_text("Carried meanwhile.")
        assert page.url.endswith("sums.html#add")


def test_where_no_events_come_it_looks_and_the_browser_is_opened(folder: Path, tmp_path: Path) -> None:
    browser = tmp_path / "browser"
    script = """
        import sys, urllib.request
        open(__file__ + ".got", "wb").write(urllib.request.urlopen(sys.argv[1]).read())
    """
    browser.write_text(f"#!{sys.executable}\n{textwrap.dedent(script)}")
    browser.chmod(0o755)
    with serving(folder, "-p", "0", "--no-exec", "--poll", "--open", BROWSER=str(browser)) as running:
        got = tmp_path / "browser.got"
        assert until(lambda: got.is_file() and b"<title>Tiny" in got.read_bytes())
        text = running.sums.read_text("utf-8")
        running.sums.write_text(text.replace("Nothing is carried.", "Seen by looking."), "utf-8")
        assert running.shows("sums.html", "Seen by looking.")


def test_pages_are_served_before_their_examples_have_run_and_an_edit_does_not_wait_for_them(
    folder: Path,
) -> None:
    """The example would take longer than anybody here waits."""
    settings, slow = folder / "pyproject.toml", folder / "tiny" / "slow.py"
    settings.write_text(settings.read_text("utf-8") + "example_seconds = 600\n", "utf-8")
    started = folder / "started"
    example = f">>> import pathlib, time; _ = pathlib.Path({str(started)!r}).write_text('');"
    slow.write_text(f'"""# Slow\n\n{example} time.sleep(500)\n"""\n', "utf-8")
    with serving(folder, "-p", "0") as running:
        assert "Slow" in running.get("slow.html")
        assert until(started.exists)
        slow.write_text('"""# Quick\n\n>>> 20 + 3\n23\n"""\n', "utf-8")
        assert running.shows("slow.html", "Quick")
        slow.write_text(f'"""# Slow again\n\n{example} time.sleep(500)\n"""\n', "utf-8")
        assert running.shows("slow.html", "Slow again")


def test_a_page_of_which_the_next_build_lay_there_already_is_brought_up_to_date(
    served: Served, visit: Visit
) -> None:
    """The script asks once more for the page that it stands on, and may be given a newer one of the same build."""
    fresh: list[str] = []

    def newer(route: Route) -> None:
        answer = route.fetch()
        text = answer.text().replace("Nothing is carried.", "All is carried.")
        text = re.sub('data-page="[^"]*"', 'data-page="newer"', text) if not fresh else text
        fresh.append(text)
        route.fulfill(response=answer, body=text)

    page = visit.page
    page.route(
        "**/sums.html",
        lambda route: newer(route) if route.request.resource_type == "fetch" else route.continue_(),
    )
    page.goto(served.address + "sums.html")
    expect(page.locator("main")).to_contain_text("Nothing is carried.")
    served.sums.write_text(
        served.sums.read_text("utf-8").replace("Nothing is carried.", "All is carried."), "utf-8"
    )
    expect(page.locator("main")).to_contain_text("All is carried.")
    assert fresh
