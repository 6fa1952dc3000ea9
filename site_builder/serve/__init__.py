"""
---
title: Serve
summary: Save a file, and the page in the browser is the new one.
order: [watch, live, state, app]
---
# Serve

Three parts that know little of each other: a [watcher](site_builder.serve.watch) that turns bursts of file events
into one call, a [keeper](site_builder.serve.live) of a copy of the site, and a small
[web application](site_builder.serve.app). What was published is never touched.
"""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import os
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

import uvicorn

from site_builder.config import Config
from site_builder.discover import locate
from site_builder.errors import SiteError
from site_builder.resources import resource_root
from site_builder.serve.app import EVERYWHERE, application
from site_builder.serve.live import Live
from site_builder.serve.watch import Watched, watching
from site_builder.site.ledger import Beside
from site_builder.site.places import place

DEFAULT_PORT = 8000
TRIES = 50
TURN = 0.0005
"""Seconds for which a thread may keep the others from running."""
_NOTHING = Beside()


def serve(
    reload: Callable[[], Config],
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    open_browser: bool = False,
    poll: bool = False,
    say: Callable[[str], None] = print,
    verbose: bool = False,
) -> None:
    """
    Builds, serves and rebuilds until interrupted. `reload` gives the configuration as it is now: it is asked again
    before every build, since the file that it comes from may be what has changed.

    Raises:
        SiteError: the first configuration is unusable, or the port that was asked for is taken.
    """
    config = reload()
    bound = listen(host, port)
    with ExitStack() as stack:
        stack.callback(bound.close)
        stack.callback(gc.unfreeze)
        live = Live(reload, stack.enter_context(place(config)), say, verbose=verbose)
        _serve(config, live, bound, host, open_browser, poll, say)


def _serve(
    config: Config,
    live: Live,
    bound: socket.socket,
    host: str,
    open_browser: bool,
    poll: bool,
    say: Callable[[str], None],
) -> None:
    address = f"http://{_shown(host)}:{bound.getsockname()[1]}/"
    server = uvicorn.Server(
        uvicorn.Config(
            application(live, host),
            log_level="warning",
            proxy_headers=False,
            timeout_graceful_shutdown=1,
            lifespan="off",
        )
    )

    def places() -> Watched:
        """As they are now; but the output is the one that a build would write, not our copy."""
        current = replace(live.config, output=live.output) if live.config else config
        return watched(current, live.beside)

    # What is saved during the first build is seen.
    with (
        suppress(KeyboardInterrupt),
        _ended_politely(),
        _taking_turns(),
        watching(places, live.rebuild, poll=poll) as burst,
    ):
        say("building the site …")
        live.rebuild(postpone=True)
        # What all builds have in common is no garbage.
        gc.freeze()
        say(f"serving {address} — Ctrl-C ends it")
        if open_browser:
            # Some browsers return only when they are closed, and none shows a page that is not yet served.
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        # Its examples are run while it is read.
        burst.touch()
        asyncio.run(_run(server, live, bound))


@contextmanager
def _ended_politely() -> Iterator[None]:
    """Who ends us otherwise than by Ctrl-C, or closes the terminal, leaves nothing behind either."""
    before = {}
    if threading.current_thread() is threading.main_thread():
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                before[number] = signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _taking_turns() -> Iterator[None]:
    """Whoever answers a browser waits no longer for a build than it takes to answer."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(TURN)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


async def _run(server: uvicorn.Server, live: Live, bound: socket.socket) -> None:
    live.attach(asyncio.get_running_loop())
    task = asyncio.create_task(server.serve(sockets=[bound]))
    while not server.should_exit and not task.done():
        await asyncio.sleep(0.05)
    live.close()
    await task


def listen(host: str, port: int | None) -> socket.socket:
    """
    A bound socket: at `port` if one was asked for, else at the first free port from 8000 up.

    Raises:
        SiteError: the port that was asked for is taken, or the host is not ours.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for candidate in [port] if port is not None else range(DEFAULT_PORT, DEFAULT_PORT + TRIES):
        bound = socket.socket(family, socket.SOCK_STREAM)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((host, candidate))
            bound.listen()
        except OSError as error:
            bound.close()
            if port is not None:
                raise SiteError(
                    f"port {port} of {host} cannot be used: {error.strerror or error}",
                    hint="name another with -p, or none to take the next free one",
                ) from error
            continue
        return bound
    raise SiteError(f"no free port from {DEFAULT_PORT} to {DEFAULT_PORT + TRIES - 1} on {host}")


def watched(config: Config, beside: Beside = _NOTHING) -> Watched:
    """
    Sources, catalogues, theme, configuration, what tests found, and the single files that pages import `beside` all
    that; but not what a build beside us writes.
    """
    folders: set[Path] = set()
    files = {config.root / "pyproject.toml"}
    if config.verified:
        files.add(config.folder(config.verified))
    for name in config.packages:
        try:
            target = locate(config.root, name)
        except SiteError:
            # It may come yet.
            target = config.root / name
        (files if target.is_file() else folders).add(target)
    folders.add(config.folder(config.translations))
    if config.theme:
        folders.add(config.folder(config.theme))
    # The builder's own templates are edited only where they lie in the project.
    own = (resource_root(name) for name in ("templates", "static"))
    folders |= {folder for folder in own if folder.is_relative_to(config.root)}
    files |= {path for path in _imported(beside) if not any(map(path.is_relative_to, folders))}
    written = (config.folder(name) for name in (config.output, config.cache) if name)
    return Watched(
        frozenset(map(_plain, folders)), frozenset(map(_plain, files)), frozenset(map(_plain, written))
    )


def _imported(beside: Beside) -> Iterator[Path]:
    """
    The modules that pages import and that are no pages, and those that they would import if they were there: a name
    that Python finds nowhere is what an author is about to write.
    """
    yield from map(Path, beside.files)
    for folder, (asked, found) in beside.folders.items():
        for name in {*asked} - {*found}:
            if not _installed(name.removesuffix(".py")):
                yield Path(folder, name)


@cache
def _installed(name: str) -> bool:
    try:
        return name in sys.stdlib_module_names or importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return True


def _plain(path: Path) -> Path:
    return Path(os.path.normpath(path.absolute()))


def _shown(host: str) -> str:
    return "localhost" if host in (*EVERYWHERE, "127.0.0.1") else f"[{host}]" if ":" in host else host
