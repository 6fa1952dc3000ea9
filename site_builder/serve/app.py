"""
---
title: The web application
summary: Files from memory, one stream of events, and a script that acts on them.
---
# The web application

Pages are served as they would be published, with one script more. Names are looked up in a dictionary, never on the
disk, and requests under a foreign host name are refused: a page elsewhere cannot read an author's drafts.
"""

from __future__ import annotations

import mimetypes
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from site_builder.resources import resource_root
from site_builder.serve.live import Live

SCRIPT = "_live/live.js"
HEADERS = {"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}


def application(live: Live, host: str) -> Starlette:
    """Serves what `live` holds; `host` is the address that was asked for."""

    async def file(request: Request) -> Response:
        url = request.path_params["path"]
        if url == SCRIPT:
            return _response(url, (resource_root("static") / "dev" / "live.js").read_bytes())
        if url in live.files:
            return _response(url, live.files[url])
        index = f"{url}/index.html".lstrip("/") if url and not url.endswith("/") else f"{url}index.html"
        if index in live.files:
            if url and not url.endswith("/"):
                return RedirectResponse(request.url.replace(path=f"/{url}/"), headers=HEADERS)
            return _response(index, live.files[index])
        return _response("404.html", live.files.get("404.html", b"not found"), status=404)

    async def events(request: Request) -> Response:
        return StreamingResponse(_stream(live), media_type="text/event-stream", headers=HEADERS)

    hosts = ["localhost", "127.0.0.1", "[::1]", host]
    return Starlette(
        routes=[Route("/_live/events", events), Route("/{path:path}", file)],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=["*"] if host == "0.0.0.0" else hosts)],
    )


async def _stream(live: Live) -> AsyncIterator[str]:
    queue = live.subscribe()
    try:
        yield "retry: 500\n\n"
        while (message := await queue.get()) is not None:
            yield f"data: {message}\n\n"
    finally:
        live.waiting.discard(queue)


def _response(url: str, data: bytes, status: int = 200) -> Response:
    kind = mimetypes.guess_type(url)[0] or "application/octet-stream"
    if kind == "text/html":
        root = "../" * url.count("/")
        script = f'<script src="{root}{SCRIPT}" data-url="{url}" defer></script></body>'
        data = data.replace(b"</body>", script.encode(), 1)
    charset = (
        "; charset=utf-8" if kind.startswith("text/") or kind.endswith(("javascript", "json", "xml")) else ""
    )
    return Response(data, status, HEADERS | {"Content-Type": kind + charset})
