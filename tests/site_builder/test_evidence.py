"""What a page shows of its examples, through the real command on tiny packages."""

from __future__ import annotations

import html
import re
from pathlib import Path
from textwrap import dedent

import pytest

from .conftest import Builder, Ran, site_builder

SHAPES = '''
    """
    # Scores

    >>> import numpy as np
    >>> scores(np.zeros((7, 3)), np.ones((5, 3))).shape
    (7, 5)
    """
    import numpy as np


    def scores(query, key):
        """
        `query: [seq_len_q, d_k]` and `key: [seq_len_k, d_k]`, then `return: [seq_len_q, seq_len_k]`.
        """
        if query.shape[1] != key.shape[1]:
            raise ValueError(
                "these do not fit"
            )
        # `product: [seq_len_q, seq_len_k]`
        product = query @ key.T
        scale, count = query.shape[0] / 2, len(key)
        visible = product > 0
        return product * scale
'''


ALONE = '''

    def alone(x):
        """`x: [n, m]`"""
        return x
'''


def package(folder: Path, **modules: str) -> Path:
    inner = folder / "pkg"
    inner.mkdir()
    (inner / "__init__.py").touch()
    for name, text in modules.items():
        (inner / f"{name}.py").write_text(dedent(text).lstrip("\n"), "utf-8")
    (folder / "pyproject.toml").write_text('[tool.site_builder]\npackages = ["pkg"]\n', "utf-8")
    return folder


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of `SHAPES` and a function that no example calls."""
    folder = package(tmp_path_factory.mktemp("scores"), scores=SHAPES + ALONE)
    assert site_builder("build", "-o", "site", cwd=folder).returncode == 0
    return (folder / "site" / "scores.html").read_text("utf-8")


@pytest.fixture
def build() -> Builder:
    """The command as it is: nobody has told it whether to run examples."""

    def run(cwd: Path, *arguments: str, output: str = "site", env: dict[str, str] | None = None) -> Ran:
        done = site_builder("build", "-o", output, *arguments, cwd=cwd, env=env)
        return Ran(done.returncode, done.stdout, done.stderr, cwd / output)

    return run


def margin(page: str) -> dict[str, str]:
    """What stands at the end of each line, by the text of the line, without what only pointing shows."""
    found: dict[str, str] = {}
    for line in re.findall(r'<span class="line.*?(?=<span class="line|</code></pre>)', page, re.DOTALL):
        source, _, tail = line.partition('<span class="rec')
        tail = re.sub(r'<span class="sizes">.*?</span>', "", tail)
        found[plain(source)] = plain("<" + tail) if tail else ""
    return found


def plain(markup: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>?", "", markup)).split())


def cold(page: str) -> list[str]:
    lines = re.findall(r'<span class="line cold".*?(?=<span class="line|</code></pre>)', page, re.DOTALL)
    return [plain(line.partition('<span class="rec')[0]) for line in lines]


def test_shapes_stand_at_the_line_that_made_them_with_the_names_that_claims_give(scores: str) -> None:
    shown = margin(scores)
    assert "[seq_len_q, seq_len_k]" in shown["product = query @ key.T"]
    assert "[seq_len_q, seq_len_k] bool" in shown["visible = product > 0"]
    assert "[seq_len_q, seq_len_k]" in shown["return product * scale"]
    assert "[7, 5]" in scores


def test_a_number_that_was_worked_out_stands_at_its_line(scores: str) -> None:
    shown = margin(scores)
    assert shown["scale, count = query.shape[0] / 2, len(key)"] == "3.5, 5"


def test_a_ring_marks_each_statement_that_no_example_ran(scores: str) -> None:
    assert cold(scores) == ["raise ValueError(", "return x"]
    assert "no example runs this" in scores


def test_the_page_tells_how_far_its_evidence_reaches(scores: str) -> None:
    told = plain(re.search(r'aria-labelledby="side-evidence".*?</section>', scores, re.DOTALL)[0])  # type: ignore[index]
    assert "2 steps of the examples ran; output as shown" in told
    assert "the examples ran 71 % of the statements" in told
    assert "4 of 5 shape claims hold" in told
    assert "1 shape claim is unchecked" in told


def test_a_proven_claim_is_marked_and_one_that_nothing_ran_is_marked_otherwise(scores: str) -> None:
    assert '<code class="claim proven">query: [seq_len_q, d_k]</code>' in scores
    assert '<code class="claim unchecked">x: [n, m]</code>' in scores


def test_an_example_shows_what_it_really_printed(tmp_path: Path, build: Builder) -> None:
    text = '''
        """
        # Printing

        >>> print("the", "whole", "truth")  # doctest: +ELLIPSIS
        the ... truth
        """
    '''
    page = build(package(tmp_path, printing=text), "--strict").read("printing.html")
    assert "the whole truth\n" in page
    assert "the ... truth" not in page


MATCHED = '''
    """
    # Which example is which

    ```
    >>> count()
    1
    ```

    >>> count()
    2

    >>> count()  # doctest: +SKIP
    3
    >>> print("a" + chr(13) + "b")  # doctest: +ELLIPSIS
    a...b
    """
    made = []


    def count():
        made.append(None)
        return len(made)


    # Before the change:
    #
    # >>> twice(1)
    # 99
    def twice(x):
        """
        >>> twice(1)
        2
        """
        one = 1; two = x + 1
        return 2 * x


    def declared(x: int) -> int: ...
'''


@pytest.fixture(scope="module")
def matched(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = package(tmp_path_factory.mktemp("matched"), matched=MATCHED)
    done = site_builder("build", "-o", "site", cwd=folder)
    assert "1 page" not in done.stdout, done.stderr
    return (folder / "site" / "matched.html").read_text("utf-8")


def figures(page: str) -> list[tuple[str, str]]:
    """The text of each example and what is said beneath."""
    found = re.findall(
        r'<figure class="example">(.*?)(?:<figcaption[^>]*>(.*?)</figcaption>)?</figure>', page, re.DOTALL
    )
    return [(plain(body), plain(caption)) for body, caption in found]


def test_each_example_has_the_output_of_the_run_of_its_own_line(matched: str) -> None:
    told = dict(figures(matched))
    assert told[">>> count() 2"] == "ran; output as shown"
    assert told[">>> twice(1) 2"] == "ran; output as shown"


def test_an_example_in_a_comment_is_not_said_to_have_run(matched: str) -> None:
    assert dict(figures(matched))[">>> twice(1) 99"].startswith("not run")


def test_of_an_example_that_was_run_in_part_no_more_is_said(matched: str) -> None:
    assert [caption for body, caption in figures(matched) if "a" in body and "b" in body] == [
        "ran in part; the rest is the author’s"
    ]


def test_a_carriage_return_in_an_output_is_seen(matched: str) -> None:
    assert "a\u240db" in matched
    assert "\r" not in matched


def test_a_number_is_not_told_where_it_could_be_that_of_another_statement(matched: str) -> None:
    assert margin(matched)["one = 1; two = x + 1"] == ""


def test_a_declaration_without_code_is_not_blamed_for_not_running(matched: str) -> None:
    assert not any("declared" in line for line in cold(matched))


def test_a_false_claim_shows_what_was_seen_instead(tmp_path: Path, build: Builder) -> None:
    wrong = SHAPES.replace("# `product: [seq_len_q, seq_len_k]`", "# `product: [seq_len_k, seq_len_q]`")
    page = build(package(tmp_path, scores=wrong)).read("scores.html")
    assert re.search(
        r'<code class="claim false">product: \[seq_len_k, seq_len_q\]</code>.*?<code class="recorded">\[7, 5\]</code>',
        page,
    )


def test_a_translation_cannot_say_that_something_was_proven(tmp_path: Path, build: Builder) -> None:
    folder = package(tmp_path, scores=SHAPES)
    with (folder / "pyproject.toml").open("a") as file:
        file.write('languages = ["en", "ja"]\n')
    assert site_builder("translate", "update", "--lang", "ja", cwd=folder).returncode == 0
    catalogue = folder / "translations" / "ja" / "scores.po"
    text = catalogue.read_text("utf-8")
    forged = '<b class=\\"claim proven mine\\">嘘</b>'
    catalogue.write_text(
        text.replace('msgid "Scores"\nmsgstr ""', f'msgid "Scores"\nmsgstr "{forged}"'), "utf-8"
    )
    page = build(folder).read("ja/scores.html")
    assert "嘘" not in page or '<b class="mine">' in page
    assert "proven mine" not in page


def test_a_failing_example_shows_what_happened_where_it_happened(tmp_path: Path, build: Builder) -> None:
    text = '''
        """
        # Division

        >>> half(0)
        0.5
        """


        def half(x):
            return 1 / x
    '''
    folder = package(tmp_path, division=text)
    done = build(folder)
    assert done.status == 0
    page = done.read("division.html")
    assert re.search(r'class="out fault"[^>]*>ZeroDivisionError: ', page)
    assert (
        '<span class="verdict" dir="auto">ran; the author expected:\n</span><span class="want">0.5\n</span>'
        in page
    )
    assert "ZeroDivisionError" in margin(page)["return 1 / x"]
    assert [fault for fault in done.faults if fault.startswith("pkg/division.py:4:")]
    assert build(folder, "--strict").status == 1


def test_a_class_shows_its_parameters_and_operations_for_the_sizes_of_the_examples(
    tmp_path: Path, build: Builder
) -> None:
    text = '''
        """
        # A layer

        >>> import torch
        >>> layer = Layer(3, 5)
        >>> layer(torch.zeros(7, 3)).shape
        torch.Size([7, 5])
        """
        from torch import nn


        class Layer(nn.Module):
            """One map."""

            def __init__(self, d_in, d_out):
                super().__init__()
                self.inner = nn.Linear(d_in, d_out)

            def forward(self, x):
                return self.inner(x)
    '''
    page = build(package(tmp_path, layer=text)).read("layer.html")
    told = plain(re.search(r'<ul class="costs".*?</ul>', page, re.DOTALL)[0])  # type: ignore[index]
    # 3 × 5 weights and 5 biases; 7 rows of 3 × 5 products, each with its addition.
    assert "d_in=3, d_out=5 20 parameters" in told
    assert "x: [7, 3] 210 FLOPs forward" in told


@pytest.mark.parametrize(("how", "runs"), [((), False), (("--exec",), True)])
def test_a_bare_path_runs_nothing_unless_told_to(
    tmp_path: Path, build: Builder, how: tuple[str, ...], runs: bool
) -> None:
    folder = package(tmp_path, scores=SHAPES)
    (folder / "pyproject.toml").unlink()
    page = build(folder, "pkg", *how).read("scores.html")
    assert any(margin(page).values()) is runs


def test_a_configured_package_runs_nothing_under_no_exec(tmp_path: Path, build: Builder) -> None:
    page = build(package(tmp_path, scores=SHAPES), "--no-exec").read("scores.html")
    assert not any(margin(page).values())
    assert "output as shown" not in page


def test_the_same_sources_give_the_same_site_in_one_process_and_in_two(
    tmp_path: Path, build: Builder
) -> None:
    folder = package(tmp_path, scores=SHAPES)

    def contents(done: Ran) -> dict[str, bytes]:
        files = (file for file in sorted(done.folder.rglob("*")) if file.suffix in (".html", ".js"))
        return {file.relative_to(done.folder).as_posix(): file.read_bytes() for file in files}

    assert contents(build(folder, "--clean", "-j1")) == contents(
        build(folder, "--clean", "-j2", output="two")
    )


ENDING = '''
    """
    # Ending

    >>> 1
    1
    >>> import os; os._exit(0)

    >>> 2
    2
    """


    def f():
        """
        >>> 3
        3
        """
'''


def test_examples_behind_one_that_ends_the_run_say_which_it_was(tmp_path: Path, build: Builder) -> None:
    done = build(package(tmp_path, ending=ENDING))
    behind = "not run, since the example in line 6 did not come to its end"
    assert figures(done.read("ending.html")) == [
        (">>> 1 1 >>> import os; os._exit(0) did not come to its end", ""),
        (">>> 2 2", behind),
        (">>> 3 3", behind),
    ]
    (fault,) = done.faults
    assert "pkg/ending.py:6:" in fault
