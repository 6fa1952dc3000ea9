"""Downloads against a server on this machine that behaves in all the ways that servers behave."""

import hashlib
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from labml_nn.data import download as download_page
from labml_nn.data.download import DownloadError, cache_folder, download

BODY = bytes(range(256)) * 1500
SHA256 = hashlib.sha256(BODY).hexdigest()
SIZE = len(BODY)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[str] = []
        self.half_sent = threading.Event()
        self.closing = threading.Event()
        self.both_here = threading.Barrier(2, timeout=30)

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}/{path}"

    def handle_error(self, *_: object) -> None:
        """A client that goes away in the middle is what some tests are about."""


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        path = self.path.strip("/")
        self.server.requests.append(path)
        getattr(self, path)()

    def start(self, length: int | None = SIZE, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        if length is not None:
            self.send_header("Content-Length", str(length))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def good(self) -> None:
        self.start()
        self.wfile.write(BODY)

    def good_without_length(self) -> None:
        self.start(length=None)
        self.wfile.write(BODY)

    def truncated(self) -> None:
        self.start()
        self.wfile.write(BODY[:100_000])

    def truncated_without_length(self) -> None:
        self.start(length=None)
        self.wfile.write(BODY[:100_000])

    def truncated_chunk(self) -> None:
        self.protocol_version = "HTTP/1.1"
        self.start(length=None, Transfer_Encoding="chunked", Connection="close")
        self.wfile.write(b"ffff\r\n" + BODY[:1000])

    def empty(self) -> None:
        self.start(length=0)

    def other(self) -> None:
        self.start()
        self.wfile.write(BODY[::-1])

    def too_long(self) -> None:
        self.start(length=None)
        self.wfile.write(BODY + b"!")

    def endless(self) -> None:
        self.start(length=None)
        while True:
            self.wfile.write(BODY)

    def interrupted(self) -> None:
        self.start()
        self.wfile.write(BODY[:200_000])
        self.wfile.flush()
        # To close without lingering is to hang up.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def stalled(self) -> None:
        self.start()
        self.wfile.write(BODY[: SIZE // 2])
        self.wfile.flush()
        self.server.half_sent.set()
        self.server.closing.wait(30)

    def silent(self) -> None:
        self.server.closing.wait(30)

    def slow(self) -> None:
        self.start()
        piece = SIZE // 14
        for start in range(0, SIZE, piece):
            self.wfile.write(BODY[start : start + piece])
            self.wfile.flush()
            time.sleep(0.1)

    def together(self) -> None:
        self.start()
        self.wfile.write(BODY[: SIZE // 2])
        self.wfile.flush()
        self.server.both_here.wait()
        self.wfile.write(BODY[SIZE // 2 :])

    def moved(self) -> None:
        self.start(length=0, status=302, Location="/good")

    def circle(self) -> None:
        self.start(length=0, status=302, Location="/circle")

    def missing(self) -> None:
        self.send_error(404)

    def broken(self) -> None:
        self.send_error(500)

    def laconic(self) -> None:
        self.wfile.write(b"HTTP/1.0 503\r\n\r\n")

    def nonsense(self) -> None:
        self.wfile.write(b"what?\r\n\r\n")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    # No proxy may come in between.
    monkeypatch.setenv("no_proxy", "*")
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.closing.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "file.bin"


def left_behind(target: Path) -> list[str]:
    return sorted(path.name for path in target.parent.iterdir())


@pytest.mark.parametrize("path", ["good", "good_without_length", "moved"])
@pytest.mark.parametrize("size", [SIZE, None], ids=["size known", "size unknown"])
def test_a_good_file_arrives_whole_and_alone(
    server: Server, target: Path, path: str, size: int | None
) -> None:
    assert download(server.url(path), target, SHA256, size) == target
    assert target.read_bytes() == BODY
    assert left_behind(target) == ["file.bin"]


def test_a_checksum_may_be_written_in_capitals(server: Server, target: Path) -> None:
    download(server.url("good"), target, SHA256.upper())
    download(server.url("good"), target, SHA256.upper())
    assert server.requests == ["good"]


def test_the_file_may_be_read_by_whom_the_system_says(server: Server, target: Path) -> None:
    download(server.url("good"), target, SHA256)
    other = target.with_name("other.bin")
    other.write_bytes(b"")
    assert target.stat().st_mode == other.stat().st_mode


FAILURES = {
    "truncated": f"only 100000 bytes came, but it has {SIZE}",
    "truncated_chunk": "the connection broke off",
    "empty": f"only 0 bytes came, but it has {SIZE}",
    "other": f"its SHA-256 is {hashlib.sha256(BODY[::-1]).hexdigest()}",
    "too_long": f"more came than its {SIZE} bytes",
    "endless": f"more came than its {SIZE} bytes",
    "interrupted": "reset",
    "stalled": "the server fell silent",
    "silent": "the server fell silent",
    "missing": "the server answered 404 Not Found",
    "broken": "the server answered 500",
    "laconic": "the server answered 503",
    "circle": "the server answered 302",
    "nonsense": "not understood",
    "truncated_without_length": f"only 100000 bytes came, but it has {SIZE}",
}


@pytest.mark.parametrize(("path", "message"), FAILURES.items(), ids=FAILURES)
def test_a_failure_says_what_was_wrong_and_leaves_nothing_behind(
    server: Server, target: Path, path: str, message: str
) -> None:
    url = server.url(path)
    timeout = 0.3 if "silent" in message else 30.0
    with pytest.raises(DownloadError) as caught:
        download(url, target, SHA256, SIZE, timeout)
    assert left_behind(target) == []
    # The address, the fault, and what to do by hand, all in one sentence.
    for part in (url, message, str(target), SHA256, f"{SIZE} bytes"):
        assert part in str(caught.value)
    assert "\n" not in str(caught.value)
    # And the next try, with a server that has recovered, is none the worse for it.
    assert download(server.url("good"), target, SHA256, SIZE).read_bytes() == BODY


@pytest.mark.parametrize("path", ["truncated", "truncated_without_length", "other", "interrupted"])
def test_a_failure_is_noticed_without_knowing_the_size_too(server: Server, target: Path, path: str) -> None:
    with pytest.raises(DownloadError, match=r"by hand at .* \(SHA-256"):
        download(server.url(path), target, SHA256)
    assert left_behind(target) == []


def test_without_a_network_the_error_says_where_to_put_the_file(target: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/file"
    with pytest.raises(DownloadError, match="by hand") as caught:
        download(url, target, SHA256, SIZE)
    assert isinstance(caught.value, OSError)
    assert str(target) in str(caught.value)
    assert "refused" in str(caught.value)
    # Whoever does so is heard.
    target.write_bytes(BODY)
    assert download(url, target, SHA256, SIZE) == target


def test_a_slow_server_may_take_longer_than_the_longest_silence(server: Server, target: Path) -> None:
    assert download(server.url("slow"), target, SHA256, SIZE, timeout=1.2).read_bytes() == BODY


def test_a_good_file_that_is_there_is_used_without_a_request(server: Server, target: Path) -> None:
    target.parent.mkdir()
    target.write_bytes(BODY)
    before = target.stat()
    assert download(server.url("good"), target, SHA256, SIZE) == target
    assert server.requests == []
    assert target.stat().st_mtime_ns == before.st_mtime_ns


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda body: body[:-1],
    "empty": lambda body: b"",
    "one bit": lambda body: bytes([body[0] ^ 1]) + body[1:],
    "longer": lambda body: body + b"\n",
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_noticed_and_fetched_again(
    server: Server, target: Path, damage: Callable[[bytes], bytes]
) -> None:
    target.parent.mkdir()
    target.write_bytes(damage(BODY))
    assert download(server.url("good"), target, SHA256, SIZE).read_bytes() == BODY
    assert server.requests == ["good"]


def test_a_damaged_file_that_cannot_be_fetched_again_is_never_handed_out(
    server: Server, target: Path
) -> None:
    target.parent.mkdir()
    target.write_bytes(BODY[:-1])
    for _ in range(2):
        with pytest.raises(DownloadError, match=r"404.*What lies there now is damaged"):
            download(server.url("missing"), target, SHA256, SIZE)
    assert left_behind(target) == ["file.bin"]


def test_a_target_that_is_a_folder_is_an_error_and_the_folder_stays(server: Server, target: Path) -> None:
    target.mkdir(parents=True)
    with pytest.raises(DownloadError, match=r"file\.bin"):
        download(server.url("good"), target, SHA256, SIZE)
    assert left_behind(target) == ["file.bin"]


def test_a_cache_that_is_no_folder_is_an_error_that_names_it(server: Server, target: Path) -> None:
    target.parent.write_bytes(b"mine")
    with pytest.raises(DownloadError, match="cache"):
        download(server.url("good"), target, SHA256, SIZE)
    assert target.parent.read_bytes() == b"mine"
    assert server.requests == []


def fetching(url: str, target: Path) -> subprocess.Popen[bytes]:
    """Another process at work, which loads that one page and not all of torch."""
    program = (
        "import importlib.util, sys\n"
        "spec = importlib.util.spec_from_file_location('page', sys.argv[1])\n"
        "page = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(page)\n"
        "page.download(sys.argv[2], sys.argv[3], sys.argv[4])\n"
    )
    arguments = [str(download_page.__file__), url, str(target), SHA256]
    environment = {**os.environ, "no_proxy": "*"}
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments], env=environment, stderr=subprocess.PIPE
    )


def test_two_processes_that_fetch_the_same_file_at_once_do_no_harm(server: Server, target: Path) -> None:
    # The server sends the second half only when both have got the first.
    with fetching(server.url("together"), target) as one, fetching(server.url("together"), target) as two:
        for process in (one, two):
            _, errors = process.communicate(timeout=30)
            assert errors == b""
            assert process.returncode == 0
    assert server.requests == ["together", "together"]
    assert target.read_bytes() == BODY
    assert left_behind(target) == ["file.bin"]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
def test_an_interruption_from_the_keyboard_leaves_nothing_behind(server: Server, target: Path) -> None:
    with fetching(server.url("stalled"), target) as process:
        assert server.half_sent.wait(30)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert b"KeyboardInterrupt" in errors
    assert left_behind(target) == []


# --- where --------------------------------------------------------------------------------------------------------


def test_the_folder_is_the_one_that_the_environment_names(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ANNOTATED_NN_DATA", str(tmp_path))
    assert cache_folder() == tmp_path


@pytest.mark.skipif(sys.platform != "linux", reason="each system has its own place")
def test_else_it_is_the_cache_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("ANNOTATED_NN_DATA", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "annotated_nn"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "annotated_nn"
