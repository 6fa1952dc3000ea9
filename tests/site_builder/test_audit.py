"""The walk through a finished site, and through what lies outside of it."""

from __future__ import annotations

import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from site_builder import audit
from site_builder.audit import Asked
from site_builder.audit.asking import Verdict, asker, find_out
from site_builder.model import Page, Position, SourceFile
from site_builder.parse import parse

# ---- inside


def source(path: str, text: str) -> Page:
    return parse(SourceFile(path, f"/{path}", "m", "m.html", False, is_markdown=True), text.encode())


def faults(
    files: Mapping[str, str], pages: Mapping[str, Page] | None = None, base_url: str = ""
) -> list[str]:
    """What is wrong with a site, each as its place, code and message."""
    data = {url: text.encode() for url, text in files.items()}
    found = audit.inside(data, (pages or {}).get, base_url=base_url).diagnostics
    return [f"{one.path}:{one.line}:{one.column} {one.code} {one.message}" for one in found]


def test_a_site_whose_links_all_lead_somewhere_is_sound() -> None:
    files = {
        "index.html": """
            <link rel="stylesheet" href="static/a.css"><link rel="canonical" href="https://example.org/">
            <script src="static/a.js?v=1"></script>
            <a href="sub/b.html#why">b</a> <a href="sub/">sub</a> <a href="#here">here</a> <a href="#top">up</a>
            <h2 id="here">Here</h2> <img src="data:image/png;base64,AA" alt=""> <a href="mailto:a@b.c">mail</a>
        """,
        "sub/b.html": '<h2 id="why">Why</h2><a href="../index.html">home</a>',
        "sub/index.html": '<img src="../a%20b.svg" srcset="../a%20b.svg 1x, ../a%20b.svg 2x" alt="">',
        "a b.svg": "<svg/>",
        "static/a.css": "/* url(nowhere.png) */ body { background: url('../a b.svg') }",
        "static/a.js": 'const link = "<a href=nowhere.html>"',
    }
    assert faults(files) == []


@pytest.mark.parametrize(
    ("body", "missing"),
    [
        ('<a href="b.html">b</a>', "b.html"),
        ('<a href="sub/">b</a>', "sub/index.html"),
        ('<img src="b.svg" alt="">', "b.svg"),
        ('<img src="a.svg" srcset="a.svg 1x, b.svg 2x" alt="">', "b.svg"),
        ('<script src="b.js"></script>', "b.js"),
        ('<link rel="stylesheet" href="b.css">', "b.css"),
        ('<video poster="b.png" src="a.svg"></video>', "b.png"),
        ('<object data="b.svg"></object>', "b.svg"),
        ('<svg><use href="b.svg#x"/></svg>', "b.svg"),
        ('<a title="a > b" href="b.html">b</a>', "b.html"),
        ("<a href=b.html>b</a>", "b.html"),
        ('<a href="../b.html">b</a>', "../b.html"),
    ],
)
def test_whatever_asks_for_a_file_that_is_not_there_is_told(body: str, missing: str) -> None:
    found = faults({"index.html": f"<main>\n{body}</main>", "a.svg": "<svg/>"})
    column = body.rindex("<", 0, body.index(missing.partition("/index")[0])) + 1
    assert found == [f"index.html:2:{column} link-broken the site has no file {missing}"]


@pytest.mark.parametrize(
    "body",
    [
        '<!-- <a href="b.html"> -->',
        "<script>const a = '<a href=\"b.html\">'</script>",
        '<code>&lt;a href="b.html"></code>',
        '<i data-href="b.html"></i>',
        '<a data="b.html"></a>',
        '<link rel="alternate" href="https://example.org/b.html">',
    ],
)
def test_what_only_looks_like_an_address_is_not_asked_for(body: str) -> None:
    assert faults({"index.html": body}) == []


def test_an_anchor_must_be_on_the_page_that_it_names() -> None:
    files = {
        "index.html": '<a href="b.html#one">1</a><a href="b.html#two">2</a><a href="#three">3</a>',
        "b.html": '<h2 id="one"></h2><a name="old"></a><a href="index.html">home</a><a href="#old">old</a>',
    }
    assert faults(files) == [
        "index.html:1:27 link-broken nothing on the page b.html has the id 'two'",
        "index.html:1:53 link-broken nothing on the page has the id 'three'",
    ]


def test_tags_and_attributes_in_capitals_are_those_in_small_letters() -> None:
    files = {
        "index.html": '<A HREF="b.html#One">1</A><A CLASS="x" HREF="b.html#one">2</A><a href="b.html#Old">3</a>',
        "b.html": '<H2 CLASS="x" ID="One"></H2><A NAME="Old"></A><IMG SRC="c.svg"><a href="index.html">home</a>',
    }
    assert faults(files) == [
        "b.html:1:47 link-broken the site has no file c.svg",
        "index.html:1:27 link-broken nothing on the page b.html has the id 'one'",
    ]


def test_a_fault_is_told_at_the_line_of_the_source_where_it_was_typed() -> None:
    page = source("m.md", "# M\n\nWords.\n\n<img srcset='wide.svg 2x' alt=''>\n")
    files = {"index.html": '<a href="m.html">m</a>', "m.html": '<img srcset="wide.svg 2x" alt="">'}
    assert faults(files, {"m.html": page}) == ["m.md:5:14 link-broken the site has no file wide.svg"]


def test_what_all_pages_have_from_a_template_is_told_once() -> None:
    head = '<link rel="stylesheet" href="{}own.css"><a href="{}index.html">home</a>'
    files = {"index.html": head.format("", "") + '<a href="a.html">a</a><a href="s/b.html">b</a>'}
    files |= {"a.html": head.format("", ""), "s/b.html": head.format("../", "../")}
    assert faults(files) == [
        "index.html:1:1 link-broken the site has no file own.css; 2 other pages ask for it too"
    ]


def test_addresses_below_the_base_are_those_of_the_site() -> None:
    files = {
        "index.html": '<a href="https://example.org/x/a.html">a</a><a href="/x/">b</a><a href="/y/">c</a>',
        "a.html": "<a href='https://example.org/x/b.html'>b</a>",
    }
    assert faults(files, base_url="https://example.org/x/") == [
        "a.html:1:1 link-broken the site has no file b.html",
        "index.html:1:64 link-broken the site has no file /y/",
    ]


def test_files_of_a_language_that_was_not_built_are_taken_to_be_there() -> None:
    files = {"index.html": b'<a href="ja/index.html">ja</a>'}
    found = audit.inside(files, lambda url: None, elsewhere=lambda url: url.startswith("ja/"))
    assert found.diagnostics == ()


def test_a_page_that_no_way_leads_to_is_told_whoever_it_leads_to_itself() -> None:
    files = {
        "index.html": '<a href="a.html">a</a>',
        "a.html": '<a href="b.html">b</a>',
        "b.html": "",
        "alone.html": '<a href="pair.html">pair</a><a href="index.html">home</a>',
        "pair.html": '<a href="alone.html">alone</a>',
        "framed.html": '<iframe src="index.html"></iframe>',
    }
    found = faults(files)
    assert [one.partition(":")[0] for one in found] == ["alone.html", "framed.html", "pair.html"]
    assert all("page-unreachable no links lead from the home page to " in one for one in found)


def test_an_old_address_and_the_page_for_no_page_need_no_way_but_must_lead_on() -> None:
    files = {
        "index.html": '<a href="new.html">new</a>',
        "new.html": "",
        "old.html": '<meta http-equiv="refresh" content="0; url=new.html">',
        "older.html": '<meta http-equiv="refresh" content="0; url=gone.html">',
        "404.html": '<a href="/index.html">home</a>',
    }
    found = [one for one in faults(files) if "unreachable" not in one]
    assert found == ["older.html:1:1 link-broken the site has no file gone.html"]
    assert [one for one in faults(files) if "old.html" in one] == []


def test_addresses_outside_come_with_the_places_where_they_were_typed() -> None:
    page = source("m.md", "# M\n\nSee https://a.example/x/y and\n[it](https://a.example/x#part).\n")
    text = '<a href="https://a.example/x#part">it</a><a href="https://foot.example/">foot</a>'
    made = '<a href="https://code.example/blob/main/m.md">source</a>'
    files = {"index.html": f'<a href="m.html">m</a>{text}'.encode(), "m.html": (text + made).encode()}
    found = audit.inside(files, {"m.html": page}.get, repository_url="https://code.example/")
    assert dict(found.outside) == {
        "https://a.example/x": (Position("index.html", 1, 23), Position("m.md", 4, 6)),
        "https://foot.example/": (Position("index.html", 1, 64),),
    }


# ---- outside


class Site(BaseHTTPRequestHandler):
    """A server with an answer for each address, which keeps count of what it was asked."""

    asked: ClassVar[Counter[str]] = Counter()
    inside = 0
    most = 0
    lock = threading.Lock()
    protocol_version = "HTTP/1.0"

    def do_HEAD(self) -> None:
        self.answer()

    def do_GET(self) -> None:
        self.answer()

    def answer(self) -> None:
        cls = type(self)
        with cls.lock:
            cls.asked[f"{self.command} {self.path}"] += 1
        getattr(self, self.path.strip("/").partition("/")[0], self.status)()

    def status(self) -> None:
        self.send(int(self.path.strip("/").partition("/")[0]))

    def send(self, status: int, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def moved(self) -> None:
        self.send(301, Location="/200")

    def moved_away(self) -> None:
        self.send(302, Location="/404")

    def round(self) -> None:
        self.send(302, Location="/round")

    def headless(self) -> None:
        self.send(405 if self.command == "HEAD" else 200)

    def headless_gone(self) -> None:
        self.send(404 if self.command == "HEAD" else 200)

    def busy(self) -> None:
        """Busy the first time only."""
        self.send(429 if type(self).asked[f"GET {self.path}"] == 0 else 200, Retry_After="0")

    def later(self) -> None:
        self.send(503, Retry_After="3600")

    def drops(self) -> None:
        self.connection.shutdown(socket.SHUT_RDWR)

    def slow(self) -> None:
        # Until the one who asked has gone.
        self.connection.settimeout(30)
        self.connection.recv(1)

    def crowd(self) -> None:
        cls = type(self)
        with cls.lock:
            cls.inside += 1
            cls.most = max(cls.most, cls.inside)
        time.sleep(0.02)
        # Whoever has the answer may ask the next thing before this thread comes to say that it is done.
        with cls.lock:
            cls.inside -= 1
        self.send(200)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def host() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def ask(address: str, timeout: float = 20) -> tuple[Verdict, str, list[float]]:
    """What is said of an address, and the pauses that were kept."""
    pauses: list[float] = []
    answer = find_out(address, asker(), timeout=timeout, patience=10, sleep=pauses.append)
    return answer.verdict, answer.said, pauses


@pytest.mark.parametrize("path", ["200", "moved", "headless", "headless_gone", "busy", "200/ä b?q=ö"])
def test_what_is_there_in_whatever_way_is_there(host: str, path: str) -> None:
    assert ask(f"{host}/{path}")[:2] == (Verdict.THERE, "")


@pytest.mark.parametrize(
    ("path", "said"),
    [("404", "answers 404 Not Found"), ("410", "answers 410 Gone"), ("moved_away", "answers 404 Not Found")],
)
def test_what_is_gone_is_broken(host: str, path: str, said: str) -> None:
    assert ask(f"{host}/{path}") == (Verdict.BROKEN, said, [])


@pytest.mark.parametrize(
    ("path", "said", "pauses"),
    [
        ("401", "answers 401 Unauthorized", []),
        ("403", "answers 403 Forbidden", []),
        ("429", "answers 429 Too Many Requests", [1.0]),
        ("500", "answers 500 Internal Server Error", [1.0]),
        ("later", "answers 503 Service Unavailable", []),
        ("drops", "breaks off the connection", [1.0]),
    ],
)
def test_what_may_be_another_answer_tomorrow_is_not_broken(
    host: str, path: str, said: str, pauses: list[float]
) -> None:
    assert ask(f"{host}/{path}") == (Verdict.UNCHECKED, said, pauses)


def test_a_slow_server_is_not_broken(host: str) -> None:
    assert ask(f"{host}/slow", timeout=0.2) == (
        Verdict.UNCHECKED,
        "does not answer within 0.2 seconds",
        [],
    )


def test_who_is_led_in_a_circle_says_so(host: str) -> None:
    verdict, said, _ = ask(f"{host}/round")
    assert verdict is Verdict.UNCHECKED
    assert said.startswith("answers 302")


def test_a_server_that_wants_a_pause_gets_it_and_is_asked_once_more_only(host: str) -> None:
    before = Site.asked["HEAD /busy/pause"]
    assert ask(f"{host}/busy/pause") == (Verdict.THERE, "", [0.0])
    assert (Site.asked["HEAD /busy/pause"] - before, Site.asked["GET /busy/pause"]) == (1, 1)
    ask(f"{host}/500/again")
    assert (Site.asked["HEAD /500/again"], Site.asked["GET /500/again"]) == (1, 2)


def test_nobody_at_the_port_is_broken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    verdict, said, _ = ask(f"http://127.0.0.1:{port}/")
    assert (verdict, said) == (Verdict.BROKEN, f"cannot be reached: nothing answers at 127.0.0.1:{port}")


@pytest.mark.parametrize(
    ("fault", "verdict"), [(socket.EAI_NONAME, Verdict.BROKEN), (socket.EAI_AGAIN, Verdict.UNCHECKED)]
)
def test_a_host_that_is_unknown_is_broken_unless_nobody_could_be_asked(
    monkeypatch: pytest.MonkeyPatch, fault: int, verdict: Verdict
) -> None:
    def lookup(*arguments: object, **options: object) -> None:
        raise socket.gaierror(fault, "no")

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    assert ask("http://nowhere.invalid/")[0] is verdict


@pytest.mark.parametrize(
    "address", ["http://[::1/", "http://a.example:port/", "http://a..example/ä", "http://ä..example/"]
)
def test_an_address_that_cannot_be_one_is_broken(address: str) -> None:
    assert ask(address)[:2] == (Verdict.BROKEN, "is no address that can be asked for")


PLACE, OTHER = Position("m.py", 3, 5), Position("n.py", 7, 1)


def test_each_place_of_a_broken_link_is_told_and_what_could_not_be_checked_is_no_fault(host: str) -> None:
    links = {f"{host}/404/all": (PLACE, OTHER), f"{host}/403/all": (PLACE,), f"{host}/200/all": (OTHER,)}
    found = audit.outside(links)
    assert [(one.path, one.line, one.code) for one in found.diagnostics] == [
        ("m.py", 3, "link-external"),
        ("n.py", 7, "link-external"),
    ]
    assert f"{host}/404/all answers 404 Not Found" in found.diagnostics[0].message
    assert [(one.address, one.reason, one.places) for one in found.unchecked] == [
        (f"{host}/403/all", "answers 403 Forbidden", (PLACE,))
    ]
    assert found.asked == 3


def test_a_host_is_never_asked_for_more_than_two_things_at_a_time(host: str) -> None:
    Site.most = 0
    done: list[tuple[int, int]] = []
    links = {f"{host}/crowd/{number}": (PLACE,) for number in range(12)}
    found = audit.outside(links, progress=lambda *counts: done.append(counts))
    assert found == Asked(asked=12)
    assert Site.most == 2
    assert all(Site.asked[f"HEAD /crowd/{number}"] == 1 for number in range(12))
    assert done[-1] == (12, 12)
