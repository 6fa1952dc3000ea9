"""
---
title: Asking one address
summary: Whether anything is there, told from whether anything can be said.
---
# Asking one address

A server is asked for the head of the answer only, and for the whole where it will not give a head; no body is read.
What may be different tomorrow is *passing* and asked once more, after as long as the server wants, if that is not
long.
"""

from __future__ import annotations

import http.client
import http.cookiejar
import socket
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import quote, urlsplit, urlunsplit

from site_builder import __version__

GONE = (404, 410)
TOO_MANY = 429
UNKNOWN = (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME))
PAUSE = 1.0
"""Seconds before an address is asked again, unless its server says how many."""

# Some servers answer nobody who does not look like a browser.
HEADERS = {
    "User-Agent": f"Mozilla/5.0 (compatible; site_builder/{__version__}; link check)",
    "Accept": "text/html,*/*;q=0.8",
}


class Verdict(StrEnum):
    THERE = "there"
    BROKEN = "broken"
    UNCHECKED = "unchecked"


@dataclass(frozen=True, slots=True)
class Answer:
    """
    `said` is the end of a sentence that begins with the address. `again`: after how many seconds it may be worth while
    to ask once more. `whole`: the head was refused, so the whole should be asked for.
    """

    verdict: Verdict
    said: str = ""
    again: float | None = None
    whole: bool = False


def asker() -> urllib.request.OpenerDirector:
    """One for a few addresses in a row; some sites lead in a circle whoever does not keep their cookies."""
    cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
    return urllib.request.build_opener(cookies)


def find_out(
    address: str,
    opener: urllib.request.OpenerDirector,
    *,
    timeout: float,
    patience: float,
    sleep: Callable[[float], object] = time.sleep,
) -> Answer:
    """What becomes of somebody who follows the link. `patience` is the longest pause that is kept, in seconds."""
    answer = _ask("HEAD", address, opener, timeout)
    if answer.whole:
        answer = _ask("GET", address, opener, timeout)
    if answer.again is not None and answer.again <= patience:
        sleep(answer.again)
        answer = _ask("GET", address, opener, timeout)
    return answer


def _ask(method: str, address: str, opener: urllib.request.OpenerDirector, timeout: float) -> Answer:
    try:
        request = urllib.request.Request(_ascii(address), headers=HEADERS, method=method)
        with opener.open(request, timeout=timeout):
            return Answer(Verdict.THERE)
    except urllib.error.HTTPError as error:
        with error:
            return _status(error, method)
    except urllib.error.URLError as error:
        return _failure(error.reason, address, timeout, method)
    except (OSError, http.client.HTTPException, ValueError) as error:
        return _failure(error, address, timeout, method)


def _status(error: urllib.error.HTTPError, method: str) -> Answer:
    said = f"answers {error.code} {http.client.responses.get(error.code, '')}".rstrip()
    verdict = Verdict.BROKEN if error.code in GONE else Verdict.UNCHECKED
    again = None
    if error.code == TOO_MANY or error.code >= 500:
        wanted = error.headers.get("Retry-After", "")
        again = float(wanted) if wanted.isdecimal() else float("inf") if wanted else PAUSE
    return Answer(verdict, said, again, whole=method == "HEAD" and error.code != TOO_MANY)


def _failure(reason: object, address: str, timeout: float, method: str) -> Answer:
    """No answer at all, and why."""
    host = host_of(address)
    match reason:
        case TimeoutError():
            return Answer(Verdict.UNCHECKED, f"does not answer within {timeout:g} seconds")
        case ssl.SSLError():
            return Answer(Verdict.UNCHECKED, f"cannot be trusted: {reason.reason or reason}")
        case ValueError() | http.client.InvalidURL():
            return Answer(Verdict.BROKEN, "is no address that can be asked for")
        case socket.gaierror() if reason.errno in UNKNOWN:
            return Answer(Verdict.BROKEN, f"cannot be reached: there is no host {host}")
        case socket.gaierror():
            return Answer(Verdict.UNCHECKED, f"cannot be reached: the host {host} cannot be looked up now")
        case ConnectionRefusedError():
            return Answer(Verdict.BROKEN, f"cannot be reached: nothing answers at {host}")
        case ConnectionError() | http.client.HTTPException():
            return Answer(Verdict.UNCHECKED, "breaks off the connection", PAUSE, whole=method == "HEAD")
    return Answer(Verdict.UNCHECKED, f"cannot be reached: {reason}")


def host_of(address: str) -> str:
    """Whom to ask, even where the address is none."""
    return address.partition("://")[2].partition("/")[0].lower()


def _ascii(address: str) -> str:
    """The address as it goes over the wire."""
    parts = urlsplit(address)
    host = parts.netloc if parts.netloc.isascii() else parts.netloc.encode("idna").decode()
    path, query = (quote(part, safe="/%:@!$&'()*+,;=~?") for part in (parts.path, parts.query))
    return urlunsplit((parts.scheme, host, path or "/", query, ""))
