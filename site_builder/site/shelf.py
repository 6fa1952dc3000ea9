"""
---
title: What earlier builds left
summary: Values under digests of all that they were made from, for this process or the next.
---
# What earlier builds left

The [store](site_builder.cache) keeps bytes; here they are values again. A process that builds again and again, as
`serve` does, keeps the values themselves too.

What comes from the disk is unpickled only if this user has pickled it: a cache lies in a project, which may be a
stranger's, and a pickle can do anything. Each is sealed with a key that lies elsewhere, in the user's own cache. And of
what is sealed, nothing but plain values of the pipeline is made.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import os
import pickle
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from site_builder.atomic import put
from site_builder.cache import Store

T = TypeVar("T")

SEAL = 16
"""Bytes of a seal."""

_PLAIN = {"builtins": {"frozenset", "set", "bytearray"}, "markupsafe": {"Markup"}}
_OURS = frozenset(
    f"site_builder.{name}"
    for name in (
        "model",
        "errors",
        "index.card",
        "index.lookup",
        "translate.speech",
        "weave.site",
        "site.pages",
        "site.ledger",
        "write",
    )
)


class Shelf:
    """
    Values by kind and key. With `keep` they stay in memory too, as long as each build asks for them again.

    >>> shelf = Shelf(Store())
    >>> shelf.put("number", {b"key": (1, "two")})
    >>> shelf.get("number", [b"key", b"other"])
    {b'key': (1, 'two')}
    """

    def __init__(self, store: Store, *, keep: bool = False) -> None:
        self.store, self.keep = store, keep
        self.session = Store() if keep else None
        """What no other process should know of."""
        self._kept: dict[str, dict[bytes, Any]] = {}
        self._asked: dict[str, dict[bytes, Any]] = {}
        """What of that this build has asked for."""

    def get(self, kind: str, keys: Iterable[bytes]) -> dict[bytes, Any]:
        """Those of the values that are known."""
        wanted = dict.fromkeys(keys)
        kept = self._kept.get(kind, {})
        found = {key: kept[key] for key in wanted if key in kept}
        lacking = [key for key in wanted if key not in found]
        if lacking:
            for key, data in self.store.get_many(kind, lacking).items():
                value = unpickled(data)
                if value is not None:
                    found[key] = value
        self._remember(kind, found)
        return found

    def put(self, kind: str, values: Mapping[bytes, Any]) -> None:
        if values:
            self.store.put_many(kind, {key: pickled(value) for key, value in values.items()})
            self._remember(kind, values)

    def made(self, kind: str, key: bytes, make: Callable[[], T]) -> T:
        """A value that is made faster than it is read: who keeps values makes it once, all others each time."""
        kept = self._kept.get(kind, {})
        value: T = kept[key] if key in kept else make()
        self._remember(kind, {key: value})
        return value

    def forget(self) -> None:
        """Lets go of what nobody has asked for since the last time; the store has it still."""
        self._kept, self._asked = self._asked, {}

    def _remember(self, kind: str, values: Mapping[bytes, Any]) -> None:
        if self.keep:
            self._kept.setdefault(kind, {}).update(values)
            self._asked.setdefault(kind, {}).update(values)


def pickled(value: object) -> bytes:
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    return _seal(data) + data


def unpickled(data: bytes) -> Any:
    """The value, or `None` for what no build of this user's can have written."""
    seal, data = data[:SEAL], data[SEAL:]
    if not hmac.compare_digest(seal, _seal(data)):
        return None
    try:
        return _Careful(io.BytesIO(data)).load()
    except Exception:
        return None


def _seal(data: bytes) -> bytes:
    return hashlib.blake2b(data, key=_key(), digest_size=SEAL).digest()


@cache
def _key() -> bytes:
    """Of this user; of this process alone where there is no place to keep it."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    file = Path(home) / "site_builder" / "key"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            # Of two processes that make one at once the later wins; what the earlier has sealed is made anew.
            put(file, os.urandom(32), mode=0o600)
        key = file.read_bytes()
    except OSError:
        key = b""
    return key if len(key) == 32 else os.urandom(32)


class _Careful(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        return _harmless(module, name)


@cache
def _harmless(module: str, name: str) -> type:
    """
    Raises:
        UnpicklingError: it is no plain value of the pipeline.
    """
    if name in _PLAIN.get(module, ()) or (module in _OURS and "." not in name):
        found = getattr(import_module(module), name, None)
        # Not what the module has imported from elsewhere.
        if isinstance(found, type) and found.__module__ == module:
            return found
    raise pickle.UnpicklingError(f"{module}.{name}")
