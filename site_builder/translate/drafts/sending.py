"""
---
title: Asking a service
summary: One request, made again while the service is busy, and given up with a sentence.
---
# Asking a service

Too many requests, a fault of the server, a connection that breaks or says nothing: all pass, so the request is made
again after a while, which is what the server asks for (`Retry-After`), else twice the last. Anything else will not get
better by waiting. No redirection is followed, since the key would go along.
"""

from __future__ import annotations

import email.utils
import http.client
import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from site_builder import __version__
from site_builder.errors import SiteError
from site_builder.translate.drafts.providers import BadAnswerError

LONGEST = 120.0
"""Seconds: nobody waits longer for one answer than this, whatever the server asks for."""
_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
_LARGEST = 16_000_000


class _NoRedirection(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def post(
    url: str,
    body: Any,
    headers: Mapping[str, str],
    *,
    timeout: float,
    tries: int,
    wait: Callable[[float], None] = time.sleep,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Any:
    """
    The answer to one request, read as JSON.

    Raises:
        BadAnswerError: it is no JSON.
        SiteError: the service does not answer, or refuses to.
    """
    data = json.dumps(body, ensure_ascii=False).encode()
    sent = {"Content-Type": "application/json", "User-Agent": f"site_builder/{__version__}", **headers}
    opener = urllib.request.build_opener(_NoRedirection)
    why = ""
    for number in range(tries):
        request = urllib.request.Request(url, data, sent, method="POST")
        pause = min(2.0**number, LONGEST)
        try:
            with opener.open(request, timeout=timeout) as answer:
                return _read(_whole(answer, timeout))
        except urllib.error.HTTPError as error:
            why = f"{error.code} {error.reason}".strip()
            asked = _after(error.headers.get("Retry-After", ""), clock)
            error.close()
            if error.code not in _BUSY:
                raise SiteError(f"{url} refuses: {why}", hint=_hint(error.code)) from None
            pause = pause if asked is None else min(asked, LONGEST)
        except (OSError, http.client.HTTPException) as error:
            why = str(getattr(error, "reason", "") or error) or type(error).__name__
        if number + 1 < tries:
            wait(pause)
    raise SiteError(
        f"{url} does not answer after {tries} tries: {why}", hint="what was drafted is kept: go on later"
    )


def _whole(answer: Any, timeout: float) -> bytes:
    """What comes within that time in all: a service that sends a byte now and then does not answer."""
    end, pieces, size = time.monotonic() + timeout, [], 0
    while size < _LARGEST and (piece := answer.read1(65536)):
        pieces.append(piece)
        size += len(piece)
        if time.monotonic() > end:
            raise TimeoutError("the answer takes too long")
    return b"".join(pieces)


def _read(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadAnswerError("the answer is not JSON") from error


def _after(value: str, clock: Callable[[], datetime]) -> float | None:
    """Seconds to wait, as a number or as a date."""
    if re.fullmatch(r"\s*\d+(\.\d+)?\s*", value):
        return float(value)
    try:
        return max((email.utils.parsedate_to_datetime(value) - clock()).total_seconds(), 0.0)
    except (ValueError, TypeError):
        return None


def _hint(code: int) -> str:
    if code in (401, 403):
        return "look at the key in the environment"
    if 300 <= code < 400:
        return "name the address that it leads to, since no redirection is followed"
    if code in (402, 456):
        return "the account is used up"
    return "look at draft_url and draft_model"
