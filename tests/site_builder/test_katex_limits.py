r"""Math under load: nothing hangs, threads and forks may use it, and the cache tells the truth."""

from __future__ import annotations

import multiprocessing
import os
import threading
from pathlib import Path

import pytest

from site_builder import katex
from site_builder.cache import Store
from site_builder.katex import MathError, Renderer, engine, render

SAMPLE = (Path(__file__).parent / "expressions.txt").read_text(encoding="utf-8").splitlines()


def fault(tex: str, display: bool = False, macros: dict[str, str] | None = None) -> MathError:
    with pytest.raises(MathError) as caught:
        render(tex, display, macros)
    return caught.value


@pytest.mark.parametrize(
    "tex",
    [
        r"\def\a{\a}\a",
        r"\def\a#1{#1#1}" + r"\a{" * 40 + "x" + "}" * 40,
        r"\edef\b{xxxxxxxxxx}" + r"\edef\b{\b\b}" * 40 + r"\b",
        "{" * 10_000,
        "{" * 5_000 + "}" * 5_000,
        r"\frac{" * 300 + "1" + "}{2}" * 300,
        r"\left(" * 700 + r"\right)" * 700,
        "+".join("x" * 100_000),
        "x" * 10_001,
    ],
    ids=["loop", "doubling", "growth", "open", "braces", "fractions", "brackets", "sum", "long"],
)
def test_a_bomb_is_an_error_and_not_the_end(tex: str) -> None:
    assert fault(tex, display=True).code == "math-limit"
    assert "mord" in render("x")


def test_macros_of_the_page_may_be_a_bomb() -> None:
    assert fault(r"\a", macros={"a": r"\a\a"}).code == "math-limit"


def test_the_longest_expression_that_is_allowed_renders() -> None:
    assert len("{}" * 5_000) == katex.MAX_LENGTH
    assert "math" in render("{}" * 5_000)


def test_a_hundred_fractions_may_be_nested() -> None:
    assert "mfrac" in (render(r"\frac{" * 100 + "1" + "}{2}" * 100))


def test_what_takes_too_long_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "CPU_SECONDS", 0.1)
    slow = engine.Engine()
    with pytest.raises(engine.LimitError, match="time"):
        slow.call("typeset", request("'" * 9_000))
    assert "html" in slow.call("typeset", request("x"))
    slow.pause()


def test_what_takes_too_much_memory_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "MEMORY", 8 << 20)
    small = engine.Engine()
    with pytest.raises(engine.LimitError, match="memory"):
        small.call("typeset", request("x+" * 5_000))
    assert "html" in small.call("typeset", request("x"))
    small.pause()


def request(tex: str) -> dict[str, object]:
    return {
        "tex": tex,
        "source": tex,
        "display": False,
        "macros": {},
        "maxExpand": 9,
        "maxSize": 9,
        "refuse": [],
    }


def test_a_size_is_bounded() -> None:
    assert "height:9999" not in render(r"\rule{1em}{99999em}")


def test_threads_typeset_at_once() -> None:
    wanted = {tex: render(tex, display=True) for tex in SAMPLE[:12]}
    wrong: list[str] = []

    def typeset() -> None:
        wrong.extend(tex for tex, html in wanted.items() if render(tex, display=True) != html)
        wrong.extend(tex for tex in (r"\undefined", "{" * 3_000) if not fault(tex).message)

    threads = [threading.Thread(target=typeset) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="the system knows no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_fork_after_use_typesets_in_parent_and_children() -> None:
    wanted = [render(tex, display=True) for tex in SAMPLE[:10]]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.starmap(render, [(tex, True) for tex in SAMPLE[:10]])
    assert found == wanted
    assert render(SAMPLE[0], display=True) == wanted[0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system knows no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_fork_while_another_thread_typesets_leaves_both_sides_working() -> None:
    stop = threading.Event()
    busy = threading.Thread(target=lambda: [render(r"\frac{a}{b}") for _ in iter(stop.is_set, True)])
    busy.start()
    try:
        for _ in range(5):
            child = os.fork()
            if child == 0:
                os._exit(0 if "mord" in render("x") else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        busy.join()


def test_a_second_build_typesets_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(tmp_path / "store") as store:
        first = Renderer(store).render(r"\R + x", True, {"R": "r"})
        with pytest.raises(MathError) as caught:
            Renderer(store).render(r"x + \aplha")
    forbid_typesetting(monkeypatch)
    with Store(tmp_path / "store") as store:
        assert Renderer(store).render(r"\R + x", True, {"R": "r"}) == first
        assert Renderer(store).render("  \\R + x\n", True, {r"\R": "r"}) == first
        with pytest.raises(MathError) as again:
            Renderer(store).render(r"   x + \aplha")
    assert vars(again.value) == vars(caught.value) | {"position": 7}


def forbid_typesetting(monkeypatch: pytest.MonkeyPatch) -> None:
    def call(*_: object) -> None:
        raise AssertionError("this should have come from the store")

    monkeypatch.setattr(engine.ENGINE, "call", call)


@pytest.mark.parametrize(
    "other",
    [
        ("x+y", True, {"R": "r"}),
        (r"\R", False, {"R": "r"}),
        (r"\R", True, {"R": "s"}),
        (r"\R", True, {"R": "r", "S": "s"}),
    ],
)
def test_whatever_matters_is_part_of_the_key(
    monkeypatch: pytest.MonkeyPatch, other: tuple[str, bool, dict[str, str]]
) -> None:
    renderer = Renderer(Store())
    renderer.render(r"\R", True, {"R": "r"})
    forbid_typesetting(monkeypatch)
    with pytest.raises(AssertionError):
        renderer.render(*other)


def test_the_cache_gives_what_typesetting_gives(tmp_path: Path) -> None:
    with Store(tmp_path / "store") as store:
        renderer = Renderer(store)
        for tex in SAMPLE[:20]:
            assert renderer.render(tex, True) == renderer.render(tex, True) == render(tex, True)
