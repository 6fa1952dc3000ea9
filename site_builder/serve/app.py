"""
---
title: The web application
summary: The files of one build, one stream of events, and a script that acts on them.
---
# The web application

Pages are served as they would be published, with one script more. Only names that the builder wrote are answered, so
no path leads out of the site, and requests under a foreign host name are refused: a page elsewhere cannot read an
author's drafts.
"""

from __future__ import annotations

import ipaddress
import mimetypes
import socket
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from site_builder.resources import resource_root
from site_builder.serve.live import Live
from site_builder.serve.state import SCRIPT, State, marked

HEADERS = {"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}
EVERYWHERE = ("", "0.0.0.0", "::")
NOWHERE = b"<!doctype html><title>Not found</title><body><main><h1>Not found</h1></main></body>"


def application(live: Live, host: str) -> Starlette:
    """Serves what `live` holds; `host` is the address that was asked for."""

    async def file(request: Request) -> Response:
        if not permitted(request.headers.get("host", ""), host):
            return PlainTextResponse("This host name is not served here.", 400)
        url, state = request.path_params["path"], live.state
        if url == SCRIPT:
            return _response(url, (resource_root("static") / "dev" / "live.js").read_bytes(), state)
        if (data := live.read(url)) is not None:
            return _response(url, data, state)
        index = f"{url}/index.html".lstrip("/") if url and not url.endswith("/") else f"{url}index.html"
        if (data := live.read(index)) is not None:
            if url and not url.endswith("/"):
                return RedirectResponse(request.url.replace(path=f"/{url}/"), headers=HEADERS)
            return _response(index, data, state)
        return _response(url, _nowhere(live, url), state, status=404, kind="text/html")

    async def events(request: Request) -> Response:
        if not permitted(request.headers.get("host", ""), host):
            return PlainTextResponse("This host name is not served here.", 400)
        kind = "text/event-stream"
        if request.method == "HEAD":
            return Response(None, 200, HEADERS, kind)
        return StreamingResponse(
            _stream(live, request.query_params.get("url", "")), media_type=kind, headers=HEADERS
        )

    return Starlette(routes=[Route("/_live/events", events), Route("/{path:path}", file)])


def _nowhere(live: Live, url: str) -> bytes:
    """The site's own page for an address that leads nowhere, in the language of the address."""
    folder = url.partition("/")[0]
    known = live.config.all_languages if live.config else ()
    return (live.read(f"{folder}/404.html") if folder in known else None) or live.read("404.html") or NOWHERE


def permitted(header: str, host: str) -> bool:
    """
    Whether a request under this `Host` header may be answered. A page elsewhere can make any name of its own mean
    our address, but it owns neither ours nor an address written in digits.
    """
    name = _without_port(header).lower()
    if name in {"localhost", "127.0.0.1", "::1", host.lower()} and name:
        return True
    if host not in EVERYWHERE:
        return False
    own = socket.gethostname().lower()
    return name in {own, f"{own}.local", socket.getfqdn().lower()} or _literal(name)


def _without_port(header: str) -> str:
    if header.startswith("["):
        name, _, rest = header[1:].partition("]")
        return name if not rest or rest.startswith(":") else ""
    return header.partition(":")[0]


def _literal(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


async def _stream(live: Live, url: str) -> AsyncIterator[str]:
    queue = live.subscribe(url)
    try:
        yield "retry: 500\n\n"
        while (message := await queue.get()) is not None:
            yield f"data: {message}\n\n"
    finally:
        live.leave(queue)


def _response(url: str, data: bytes, state: State, status: int = 200, kind: str = "") -> Response:
    kind = kind or mimetypes.guess_type(url)[0] or "application/octet-stream"
    if kind == "text/html":
        data = marked(url, data, state)
    charset = (
        "; charset=utf-8" if kind.startswith("text/") or kind.endswith(("javascript", "json", "xml")) else ""
    )
    return Response(data, status, HEADERS | {"Content-Type": kind + charset})
