"""
---
title: What need not be computed twice
summary: Keys made of everything that a result depends on, and a store that may be lost at any moment.
---
# What need not be computed twice

A typeset equation or a recorded run is kept under a digest of all that it depends on. So an entry is never
out of date: what changes has another key. It can only be superfluous, and what was not used for longest goes
when the store grows too large.

Nothing depends on the store. It may be missing, damaged, locked, on a full or read-only disk, written by
several processes at once, or left by one that was killed: then something is computed again, and that is all.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import TypeVar
from weakref import WeakSet

_T = TypeVar("_T")

MAX_BYTES = 1 << 30

_VERSION = 1
_BUSY_SECONDS = 20
_BATCH = 500
_DAY = 24 * 60 * 60

# A rollback journal, unlike a write-ahead log, works on network disks and leaves no files behind. Nothing
# waits for the disk: a killed process loses nothing by that; after a power cut checksums tell what is lost.
_OPENING = """
    PRAGMA journal_mode = DELETE;
    PRAGMA synchronous = OFF;
"""
_SCHEMA = f"""
    BEGIN IMMEDIATE;
    CREATE TABLE IF NOT EXISTS entry (
        kind TEXT, key BLOB, value BLOB, checksum INTEGER, used INTEGER, UNIQUE (kind, key)
    );
    CREATE INDEX IF NOT EXISTS entry_used ON entry (used);
    PRAGMA user_version = {_VERSION};
    COMMIT;
"""
# SQLite's code for what no other process and no patience will put right: the file itself is not one of ours.
_DAMAGE = frozenset(
    {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_FORMAT, sqlite3.SQLITE_NOTADB}
)


def digest(*parts: str | bytes) -> bytes:
    """
    A hash that differs wherever the parts differ: `("ab", "c")` from `("a", "bc")`, and text from bytes.

    >>> digest("ab", "c") == digest("a", "bc")
    False
    >>> len(digest("any number", b"of parts"))
    32
    """
    found: list[bytes] = []
    for part in parts:
        if isinstance(part, str):
            data = part.encode("utf-8", "surrogatepass")
            found += (b"s%d:" % len(data), data)
        else:
            found += (b"b%d:" % len(part), part)
    return hashlib.blake2b(b"".join(found), digest_size=32).digest()


class Store:
    """
    Values by kind and key: in a file on disk, or in memory alone where there is no path.

    Any number of processes and threads may use one file at once, and a process may go on using its `Store`
    after a fork. No method raises for what is wrong with the disk.

    >>> store = Store()
    >>> store.put("greeting", digest("en"), b"hello")
    >>> store.get("greeting", digest("en"))
    b'hello'
    """

    def __init__(self, path: Path | None = None, max_bytes: int = MAX_BYTES):
        self._path = path
        self._max_bytes = max_bytes
        self._memory: dict[tuple[str, bytes], bytes] = {}
        self._database: sqlite3.Connection | None = None
        self._touched: set[int] = set()
        _STORES.add(self)

    def get(self, kind: str, key: bytes) -> bytes | None:
        return self.get_many(kind, [key]).get(key)

    def put(self, kind: str, key: bytes, value: bytes) -> None:
        self.put_many(kind, {key: value})

    def get_many(self, kind: str, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """The values of those keys that are known."""
        wanted = list(dict.fromkeys(keys))
        with _LOCK:
            known = {key: self._memory[kind, key] for key in wanted if (kind, key) in self._memory}
            missing = [key for key in wanted if key not in known]
            if missing:
                known |= self._attempt(lambda database: self._read(database, kind, missing)) or {}
        return known

    def put_many(self, kind: str, values: Mapping[bytes, bytes]) -> None:
        """Keep the values: all of them or, should the process be killed meanwhile, none."""
        today = _today()
        rows = [(kind, key, value, _checksum(kind, key, value), today) for key, value in values.items()]

        def write(database: sqlite3.Connection) -> bool:
            with database:
                database.execute("BEGIN IMMEDIATE")
                database.executemany("INSERT OR REPLACE INTO entry VALUES (?, ?, ?, ?, ?)", rows)
            return True

        with _LOCK:
            if rows and not self._attempt(write):
                self._memory.update(((kind, key), value) for key, value in values.items())

    def close(self) -> None:
        """Note what was used, forget what is too much, let go of the file. Using the store opens it again."""
        with _LOCK:
            if self._database is not None:
                self._attempt(self._tidy)
            self._disconnect()

    def __del__(self) -> None:
        self._disconnect()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self, database: sqlite3.Connection, kind: str, keys: list[bytes]) -> dict[bytes, bytes]:
        known: dict[bytes, bytes] = {}
        today = _today()
        for start in range(0, len(keys), _BATCH):
            batch = keys[start : start + _BATCH]
            rows = database.execute(
                "SELECT rowid, key, value, checksum, used FROM entry"
                f" WHERE kind = ? AND key IN ({', '.join('?' * len(batch))})",
                [kind, *batch],
            )
            for row, key, value, checksum, used in rows:
                if isinstance(value, bytes) and checksum == _checksum(kind, key, value):
                    known[key] = value
                    if used != today:
                        self._touched.add(row)
        if len(self._touched) > _BATCH:
            self._note_use(database)
        return known

    def _note_use(self, database: sqlite3.Connection) -> None:
        rows = [(_today(), row) for row in sorted(self._touched)]
        self._touched.clear()
        with database:
            database.execute("BEGIN IMMEDIATE")
            database.executemany("UPDATE entry SET used = ? WHERE rowid = ?", rows)

    def _tidy(self, database: sqlite3.Connection) -> None:
        if self._touched:
            self._note_use(database)
        excess = _bytes_in_use(database) - self._max_bytes
        if excess > 0:
            # A quarter more than asked, so that not every build has to.
            _forget(database, excess + self._max_bytes // 4)

    def _attempt(self, action: Callable[[sqlite3.Connection], _T]) -> _T | None:
        """
        What the action gives; on a new file, should the present one prove damaged. With nothing to be had
        from the disk it gives `None`, and the store is in memory from there on: waiting once is enough.
        """
        for _ in range(2):
            if self._path is None:
                return None
            try:
                if self._database is None:
                    self._database = _open(self._path)
                return action(self._database)
            except sqlite3.Error as error:
                self._disconnect()
                # Extended codes carry the plain one in their low byte.
                if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_MISUSE) & 0xFF not in _DAMAGE:
                    break
                _set_aside(self._path)
            except UnicodeDecodeError:
                # The complaint quotes what is damaged, and no text can be made of it.
                self._disconnect()
                _set_aside(self._path)
            except OSError:
                break
        self._path = None
        return None

    def _disconnect(self) -> None:
        if self._database is not None:
            with suppress(sqlite3.Error):
                self._database.close()
        self._database = None
        # Rows of another file would be other rows.
        self._touched.clear()


class _ForeignError(sqlite3.DatabaseError):
    """A sound database, but of another version or of somebody else."""

    sqlite_errorcode = sqlite3.SQLITE_NOTADB


def home(folder: Path) -> Path:
    """The folder of a cache, made if it is not there, and kept out of the repository that it lies in."""
    if not folder.exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".gitignore").write_text("*\n", encoding="ascii")
    return folder


def _open(path: Path) -> sqlite3.Connection:
    home(path.parent)
    database = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        database.executescript(_OPENING)
        version = database.execute("PRAGMA user_version").fetchone()[0]
        if version != _VERSION:
            if version or database.execute("SELECT 1 FROM sqlite_master").fetchone():
                raise _ForeignError
            database.executescript(_SCHEMA)
    except BaseException:
        database.close()
        raise
    return database


def _set_aside(path: Path) -> None:
    """Make room for a new file, but keep the present one: it might be somebody's."""
    with suppress(OSError):
        path.replace(f"{path}.damaged")
    for left in ("-journal", "-wal", "-shm"):
        with suppress(OSError):
            Path(f"{path}{left}").unlink()


def _bytes_in_use(database: sqlite3.Connection) -> int:
    pages, free, size = (
        int(database.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


def _forget(database: sqlite3.Connection, size: int) -> None:
    """Delete what was not used for longest, until so many bytes are free."""
    with database:
        database.execute("BEGIN IMMEDIATE")
        entries = database.execute("SELECT rowid, length(value) FROM entry ORDER BY used, rowid")
        with closing(entries) as oldest:
            doomed: list[tuple[int]] = []
            for row, length in oldest:
                if size <= 0:
                    break
                doomed.append((row,))
                size -= length
        database.executemany("DELETE FROM entry WHERE rowid = ?", doomed)


def _checksum(kind: str, key: bytes, value: bytes) -> int:
    """Against what happens to disks, not against people."""
    return zlib.crc32(value, zlib.crc32(key, zlib.crc32(kind.encode())))


def _today() -> int:
    """Days since 1970: it orders entries by use and reaches nothing that is written to a site."""
    return int(time.time()) // _DAY


# One lock for all the stores of a process, and no connection open during a fork: SQLite's must not cross one,
# and the child must find the lock free.
_LOCK = threading.Lock()
_STORES: WeakSet[Store] = WeakSet()


def close_all() -> None:
    """Closes every store of this process."""
    for store in list(_STORES):
        store.close()


def _before_fork() -> None:
    _LOCK.acquire()
    for store in list(_STORES):
        store._disconnect()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_LOCK.release, after_in_child=_LOCK.release)
