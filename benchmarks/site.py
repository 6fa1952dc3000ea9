"""
The builder against Pycco 0.6, against its own cold build, and against its own growth.

    python benchmarks/site.py [pycco incremental repaint growth] [--quick]

*pycco*: a cold build (no caches) of `torch/nn` and of the standard library without its tests, two processes, examples
off, as wall time over that of Pycco on the same files, in turns, the best of three. Pycco highlights and renders
comments; it does no math, links, search or index of names. *incremental*: 200 made-up pages with the densities of
real ones; a build after nothing and after one edit, over the cold build. *repaint*: the same under `serve`, from the
save to the frame in headless Chromium that shows it, the median of many. *growth*: 250 to 2,000 pages, the exponent
of wall time and of peak memory (what all processes hold, shared pages counted once; Linux only).

What was built is looked at each time: every file has its page, and every page its
statements. Wall time is what is
promised, so the machine has to be quiet.
"""

from __future__ import annotations

import argparse
import ast
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import corpus

REPOSITORY = Path(__file__).resolve().parents[1]
PAGES = 200
EDITS, SAVES = 5, 21
SIZES = (250, 500, 1000, 2000)
GOALS = {"pycco": 0.8, "no-op": 0.03, "edit": 0.04, "repaint": 200.0, "exponent": 1.1, "memory": 600.0}
LEFT_OUT = {"test", "tests", "idle_test", "site-packages", "dist-packages", "__pycache__", "lib2to3"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.strip().partition("\n")[0])
    parts = {"pycco": pycco, "incremental": incremental, "repaint": repaint, "growth": growth}
    parser.add_argument("parts", nargs="*", choices=[*parts, []], help="all of them if none is named")
    parser.add_argument("--quick", action="store_true", help="one round, fewer pages")
    arguments = parser.parse_args()
    for name in arguments.parts or parts:
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            parts[name](Path(folder).resolve(), arguments.quick)


# --- a cold build, beside a peer ---


def pycco(folder: Path, quick: bool) -> None:
    peer = shutil.which(os.environ.get("PYCCO", "pycco"))
    if peer is None:
        print("Pycco is not there: `make bench` installs it, PYCCO=/path/to/pycco names another")
        return
    for name, make in (("torch/nn", _torch_nn), ("standard library", _standard_library)):
        place = folder / name.replace("/", "_").replace(" ", "_")
        package = make(place)
        files = sorted(str(file.relative_to(place)) for file in package.rglob("*.py"))
        lines = sum((place / file).read_bytes().count(b"\n") for file in files)
        ours, theirs = [], []
        for _ in range(1 if quick else 3):
            ours.append(wall(partial(cold, place, package.name)))
            theirs.append(wall(partial(_pycco, str(Path(peer).absolute()), place, files)))
        complete(place, place / "out", package.name)
        assert len(list((place / "pycco").rglob("*.html"))) == len(files)
        print(
            f"{name}: {len(files):,} files, {lines:,} lines; ours {min(ours):.1f} s, Pycco {min(theirs):.1f} s"
        )
        row(f"cold build of {name} / Pycco", min(ours) / min(theirs), GOALS["pycco"])


def _torch_nn(place: Path) -> Path:
    spec = find_spec("torch")
    assert spec
    assert spec.origin
    return _copied(Path(spec.origin).parent / "nn", place / "nn")


def _standard_library(place: Path) -> Path:
    return _copied(Path(sysconfig.get_path("stdlib")), place / "stdlib")


def _copied(source: Path, target: Path) -> Path:
    """The Python files of a tree, but for its tests and what no Python reads."""
    for file in source.rglob("*.py"):
        inner = file.relative_to(source)
        if not LEFT_OUT & {*inner.parts}:
            (target / inner).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target / inner)
    return target


def _pycco(peer: str, place: Path, files: list[str]) -> None:
    shutil.rmtree(place / "pycco", ignore_errors=True)
    command = [peer, "-p", "-s", "-d", "pycco", *files]
    subprocess.run(command, cwd=place, env=environment(), check=True, capture_output=True)


# --- a build after a build ---


def incremental(folder: Path, quick: bool) -> None:
    pages = 40 if quick else PAGES
    corpus.write(folder, pages)
    first = wall(lambda: cold(folder, "pkg"))
    complete(folder, folder / "out", "pkg")
    nothing = statistics.median(wall(lambda: build(folder, "pkg")) for _ in range(EDITS))
    edits = []
    edited = sorted((folder / "pkg").rglob("page_*.py"))[pages // 2]
    before = edited.read_text("utf-8")
    for number in range(EDITS):
        start, _, end = before.rpartition("is what")
        edited.write_text(f"{start}is number {number} of what{end}", "utf-8")
        edits.append(wall(lambda: build(folder, "pkg")))
        page = folder / "out" / edited.relative_to(folder / "pkg").with_suffix(".html")
        assert f"is number {number} of what" in page.read_text("utf-8")
    edit = statistics.median(edits)
    print(f"{pages} pages: cold {first:.1f} s, no-op {nothing:.2f} s, one-page edit {edit:.2f} s")
    row("no-op build / cold build", nothing / first, GOALS["no-op"])
    row("one-page edit / cold build", edit / first, GOALS["edit"])


# --- from the save to the screen ---

WATCHING = """
mark => new Promise(done => {
  const look = () => document.querySelector("main").textContent.includes(mark)
    ? requestAnimationFrame(() => setTimeout(() => done(performance.timeOrigin + performance.now())))
    : requestAnimationFrame(look);
  look();
})
"""
"""Resolves, with the time, when a frame that shows the mark has been painted."""


def repaint(folder: Path, quick: bool) -> None:
    from playwright.sync_api import sync_playwright

    corpus.write(folder, 40 if quick else PAGES)
    build(folder, "pkg")
    edited = sorted((folder / "pkg").rglob("page_*.py"))[20]
    before = edited.read_text("utf-8")
    url = edited.relative_to(folder / "pkg").with_suffix(".html").as_posix()
    took = []
    with serving(folder) as address, sync_playwright() as playwright:
        chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-background-networking"]
        )
        page = browser.new_page()
        page.goto(address + url)
        for number in range(SAVES):
            time.sleep(0.3)
            mark = f"is save {number} of what"
            # The page begins to look before the file is saved.
            page.evaluate(f"mark => {{ window.seen = ({WATCHING})(mark) }}", mark)
            start, _, end = before.rpartition("is what")
            text = start + mark + end
            started = time.time() * 1000
            edited.write_text(text, "utf-8")
            took.append(page.evaluate("() => window.seen") - started)
        browser.close()
    # The first saves also pay for what is imported when it is first needed.
    print(f"save to repaint: {min(took):.0f} to {max(took):.0f} ms")
    row("save to repaint, median, in ms", statistics.median(took), GOALS["repaint"], digits=0)


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    command = [sys.executable, "-u", "-m", "site_builder", "serve", "pkg", "--no-exec", "-p", "0"]
    with subprocess.Popen(
        command, cwd=folder, env=environment(), stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr
        for line in process.stderr:
            if found := re.search(r"serving (http://\S+)", line):
                break
        else:
            raise RuntimeError("serve ended before it served")
        # What it says from now on has to be read by somebody.
        threading.Thread(target=process.stderr.read, daemon=True).start()
        try:
            yield found[1]
        finally:
            process.terminate()


# --- more pages ---


def growth(folder: Path, quick: bool) -> None:
    times: dict[int, float] = {}
    peaks: dict[int, float] = {}
    for pages in SIZES[:2] if quick else SIZES:
        place = folder / str(pages)
        corpus.write(place, pages)
        with watching_memory() as peak:
            times[pages] = wall(partial(cold, place, "pkg"))
        peaks[pages] = peak[0] / 2**20
        complete(place, place / "out", "pkg")
        print(f"{pages:5} pages: {times[pages]:6.1f} s, {peaks[pages]:4.0f} MB")
        shutil.rmtree(place)
    row("exponent of wall time", exponent(times), GOALS["exponent"])
    row("exponent of peak memory", exponent(peaks), GOALS["exponent"])
    row(f"peak memory at {max(peaks):,} pages, in MB", peaks[max(peaks)], GOALS["memory"], digits=0)


def exponent(measured: dict[int, float]) -> float:
    """The slope of a line through the logarithms, by least squares."""
    points = [(math.log(size), math.log(value)) for size, value in measured.items()]
    return statistics.linear_regression(*zip(*points, strict=True)).slope


@contextmanager
def watching_memory() -> Iterator[list[int]]:
    """The most bytes that this process's children held together at any moment; the list is filled at the end."""
    peak, ended = [0], threading.Event()

    def watch() -> None:
        while not ended.wait(0.05):
            peak[0] = max(peak[0], sum(map(_held, _descendants(os.getpid()))))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield peak
    finally:
        ended.set()
        watcher.join()


def _descendants(process: int) -> Iterator[int]:
    try:
        children = Path(f"/proc/{process}/task").glob("*/children")
        found = [int(child) for file in children for child in file.read_text().split()]
    except OSError:
        return
    for child in found:
        yield child
        yield from _descendants(child)


def _held(process: int) -> int:
    """What of the memory is the process's own: of pages that several share, its share."""
    try:
        found = re.search(r"^Pss:\s+(\d+)", Path(f"/proc/{process}/smaps_rollup").read_text(), re.M)
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0


# --- the builder ---


def cold(place: Path, package: str) -> None:
    for left in ("out", ".site_builder_cache"):
        shutil.rmtree(place / left, ignore_errors=True)
    build(place, package)


def build(place: Path, package: str) -> None:
    command = [sys.executable, "-m", "site_builder", "build", package, "--no-exec", "-j2", "-q", "-o", "out"]
    subprocess.run(command, cwd=place, env=environment(), check=True, capture_output=True)


def environment() -> dict[str, str]:
    """As on a machine where somebody works: Python keeps what it has compiled."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPATH": str(REPOSITORY)}


def complete(place: Path, out: Path, package: str) -> None:
    """Every file has its page, every page all statements, and the search index knows all."""
    search = (out / "search" / "en.js").read_text("utf-8")
    for file in (place / package).rglob("*.py"):
        inner = file.relative_to(place / package)
        url = inner.with_name("index.html") if inner.name == "__init__.py" else inner.with_suffix(".html")
        html = (out / url).read_text("utf-8")
        assert f'["{url.as_posix()}"' in search, url
        shown = {int(number) for number in re.findall(r'<span class="line[^>]* id="L(\d+)"', html)}
        assert statements(file.read_bytes()) <= shown, url


def statements(data: bytes) -> set[int]:
    """The lines on which a statement begins; what is only a docstring is prose."""
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):
        return set()
    found = (node for node in ast.walk(tree) if isinstance(node, ast.stmt))
    return {
        node.lineno
        for node in found
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    }


# --- the table ---


def wall(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def row(name: str, value: float, goal: float, digits: int = 3) -> None:
    verdict = "ok" if value <= goal else "MISSED"
    print(f"  {name:48} {value:8.{digits}f}   goal ≤ {goal:g}   {verdict}", flush=True)


if __name__ == "__main__":
    main()
