"""The store: it may lose anything, but never gives what was not put, and never stands in anybody's way."""

from __future__ import annotations

import hashlib
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from site_builder import cache
from site_builder.cache import Store, digest

KEY = digest("key")
parts = st.lists(st.text(max_size=3) | st.binary(max_size=3), max_size=4)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "store.sqlite"


def kept(path: Path, key: bytes = KEY, kind: str = "kind") -> bytes | None:
    """What a new store finds in the file."""
    with Store(path) as store:
        return store.get(kind, key)


def filled(path: Path, count: int = 200) -> dict[bytes, bytes]:
    values = {digest(str(number)): b"%d " % number * 50 for number in range(count)}
    with Store(path) as store:
        store.put_many("kind", values)
    return values


@given(parts, parts)
def test_digests_differ_where_the_parts_do(one: list[str | bytes], other: list[str | bytes]) -> None:
    assert (digest(*one) == digest(*other)) == (one == other)


def test_a_digest_depends_on_nothing_but_the_parts() -> None:
    assert digest("a", b"b") == hashlib.blake2b(b"s1:ab1:b", digest_size=32).digest()


def test_a_value_is_there_for_the_next_process(path: Path) -> None:
    with Store(path) as store:
        store.put("kind", KEY, b"value")
    assert kept(path) == b"value"


@pytest.mark.parametrize("value", [b"", b"\0\xff", bytes(3_000_000)], ids=["empty", "binary", "large"])
def test_any_bytes_come_back_as_they_went(path: Path, value: bytes) -> None:
    with Store(path) as store:
        store.put("kind", KEY, value)
    assert kept(path) == value


def test_what_was_never_put_is_nothing(path: Path) -> None:
    with Store(path) as store:
        store.put("kind", KEY, b"value")
        assert store.get("kind", digest("other")) is None
        assert store.get("other", KEY) is None


def test_a_later_value_takes_the_place_of_an_earlier_one(path: Path) -> None:
    with Store(path) as store:
        store.put("kind", KEY, b"earlier")
        store.put("kind", KEY, b"later")
    assert kept(path) == b"later"


def test_many_are_got_at_once(path: Path) -> None:
    values = filled(path, count=1200)
    with Store(path) as store:
        assert store.get_many("kind", [digest("unknown"), *values]) == values


def test_without_a_path_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Store() as store:
        store.put("kind", KEY, b"value")
        assert store.get("kind", KEY) == b"value"
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_is_never_used_makes_no_folder(path: Path) -> None:
    with Store(path):
        pass
    assert not path.parent.exists()


def test_a_folder_of_our_own_is_kept_out_of_git(path: Path) -> None:
    filled(path)
    assert (path.parent / ".gitignore").read_text() == "*\n"


def test_a_folder_that_was_there_is_left_to_git(path: Path) -> None:
    path.parent.mkdir()
    filled(path)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize(
    "harm",
    [
        lambda content: b"not a database at all, but somebody's notes\n" * 100,
        lambda content: content[:1000],
        lambda content: b"",
        lambda content: content[:100] + bytes(len(content) - 100),
    ],
    ids=["other file", "cut short", "emptied", "zeroed"],
)
def test_a_damaged_file_is_replaced(path: Path, harm: Callable[[bytes], bytes]) -> None:
    filled(path)
    path.write_bytes(harm(path.read_bytes()))
    with Store(path) as store:
        assert store.get("kind", digest("1")) is None
        store.put("kind", KEY, b"value")
    assert kept(path) == b"value"


def test_a_file_that_is_not_ours_is_moved_not_deleted(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"somebody's notes")
    assert kept(path) is None
    assert path.with_name("store.sqlite.damaged").read_bytes() == b"somebody's notes"


@pytest.mark.parametrize("script", ["CREATE TABLE entry (name)", "PRAGMA user_version = 99"])
def test_the_database_of_another_program_or_version_makes_room(path: Path, script: str) -> None:
    path.parent.mkdir()
    database = sqlite3.connect(path)
    database.executescript(script)
    database.close()
    filled(path)
    assert kept(path, digest("1")) == b"1 " * 50
    assert path.with_name("store.sqlite.damaged").exists()


def test_a_file_damaged_while_in_use_is_replaced(path: Path) -> None:
    values = filled(path)
    with Store(path) as store:
        assert store.get("kind", digest("1"))
        path.write_bytes(b"\xff" * path.stat().st_size)
        # Whatever of it is still known is right.
        assert store.get_many("kind", values).items() <= values.items()
        store.put("kind", KEY, b"value")
        assert store.get("kind", KEY) == b"value"
    assert kept(path) == b"value"


def test_a_flipped_bit_is_noticed(path: Path) -> None:
    with Store(path) as store:
        store.put("kind", KEY, b"the value that was put")
    path.write_bytes(path.read_bytes().replace(b"value that was put", b"value that was not"))
    assert kept(path) is None


def test_bytes_flipped_anywhere_never_give_a_wrong_value(path: Path) -> None:
    values = filled(path, count=60)
    content = path.read_bytes()
    for start in range(0, len(content), 997):
        path.write_bytes(
            content[:start]
            + bytes(byte ^ 0xA5 for byte in content[start : start + 40])
            + content[start + 40 :]
        )
        with Store(path) as store:
            assert store.get_many("kind", values).items() <= values.items()


def test_where_no_folder_can_be_the_store_is_in_memory(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with Store(tmp_path / "file" / "below" / "store.sqlite") as store:
        store.put("kind", KEY, b"value")
        assert store.get("kind", KEY) == b"value"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_in_a_folder_that_is_read_only_the_store_is_in_memory(path: Path) -> None:
    path.parent.mkdir()
    path.parent.chmod(0o500)
    with Store(path) as store:
        store.put("kind", KEY, b"value")
        assert store.get("kind", KEY) == b"value"
    path.parent.chmod(0o700)
    assert not path.exists()


@pytest.mark.exhaustive
def test_a_locked_file_is_waited_for_only_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_BUSY_SECONDS", 0.2)
    filled(path)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    before = time.monotonic()
    with Store(path) as store:
        for number in range(100):
            store.put("kind", digest("new", str(number)), b"value")
            assert store.get("kind", digest("new", str(number))) == b"value"
    assert time.monotonic() - before < 5
    holder.close()


def test_what_was_not_used_for_longest_goes_first(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    day = iter(range(100, 1000))
    now = 0

    def on_another_day() -> Store:
        nonlocal now
        now = next(day) * 24 * 60 * 60
        return Store(path, max_bytes=100_000)

    monkeypatch.setattr(time, "time", lambda: now)
    value = bytes(20_000)
    for name in ("one", "two", "three", "four"):
        with on_another_day() as store:
            store.put("kind", digest(name), value)
    with on_another_day() as store:
        assert store.get("kind", digest("one")) == value
    with on_another_day() as store:
        store.put("kind", digest("five"), value)
    with on_another_day() as store:
        names = ("one", "two", "three", "four", "five")
        present = [name for name in names if store.get("kind", digest(name))]
    assert present == ["one", "five"]


def test_a_full_store_stops_growing(path: Path) -> None:
    for number in range(30):
        with Store(path, max_bytes=100_000) as store:
            store.put("kind", digest(str(number)), bytes(20_000))
    assert path.stat().st_size < 200_000


def test_threads_share_a_store(path: Path) -> None:
    wrong: list[int] = []

    def use(number: int) -> None:
        for step in range(30):
            key = digest(str(number), str(step))
            store.put("kind", key, key)
            if store.get("kind", key) != key:
                wrong.append(number)

    with Store(path) as store:
        threads = [threading.Thread(target=use, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system knows no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_store_may_be_used_on_both_sides_of_a_fork(path: Path) -> None:
    with Store(path) as store:
        store.put("kind", digest("before"), b"before")
        child = os.fork()
        if child == 0:
            found = store.get("kind", digest("before")) == b"before"
            store.put("kind", digest("child"), b"child")
            store.close()
            os._exit(0 if found else 1)
        store.put("kind", digest("parent"), b"parent")
        assert os.waitpid(child, 0)[1] == 0
        assert store.get("kind", digest("child")) == b"child"
    assert kept(path, digest("parent")) == b"parent"


WRITER = """
import itertools, sys
from pathlib import Path
from site_builder.cache import Store, digest

me = sys.argv[2]
store = Store(Path(sys.argv[1]))
for step in itertools.count():
    pair = {digest(me, str(step), half): f"{me} {step} {half} ".encode() * 200 for half in ("left", "right")}
    store.put_many("kind", pair)
    assert store.get_many("kind", pair) == pair
    print(step, flush=True)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system knows no such signal")
def test_processes_that_are_killed_while_they_write_lose_nothing_they_had_written(path: Path) -> None:
    promised: dict[bytes, bytes] = {}
    for turn in range(3):
        names = [f"{turn}.{number}" for number in range(3)]
        writers = [
            subprocess.Popen([sys.executable, "-c", WRITER, str(path), name], stdout=subprocess.PIPE)
            for name in names
        ]
        for writer in writers:
            assert writer.stdout is not None
            writer.stdout.readline()
        time.sleep(0.2)
        for name, writer in zip(names, writers, strict=True):
            writer.send_signal(signal.SIGKILL)
            written, _ = writer.communicate()
            assert writer.returncode == -signal.SIGKILL
            last = int(written.split()[-1]) if written.split() else 0
            for step in range(last + 1):
                for half in ("left", "right"):
                    promised[digest(name, str(step), half)] = f"{name} {step} {half} ".encode() * 200
    with Store(path) as store:
        assert store.get_many("kind", promised) == promised
        # The journal of one that was killed before it had begun goes with the next transaction.
        store.put("kind", KEY, b"value")
    database = sqlite3.connect(path)
    assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()
    assert sorted(file.name for file in path.parent.iterdir()) == [".gitignore", path.name]


@pytest.mark.parametrize("place", [5, 7, 20])
def test_a_file_whose_schema_is_damaged_is_set_aside(place: int, tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with Store(path) as store:
        store.put("kind", digest("key"), b"value")
    data = bytearray(path.read_bytes())
    # In a text that SQLite quotes when it complains.
    data[data.find(b"tableentryentry") + place] = 0x8A
    path.write_bytes(data)
    with Store(path) as store:
        assert store.get("kind", digest("key")) is None
        store.put("kind", digest("key"), b"new")
        assert store.get("kind", digest("key")) == b"new"
    assert path.with_name("store.sqlite.damaged").exists()
