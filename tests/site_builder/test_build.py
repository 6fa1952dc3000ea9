"""`python -m site_builder build` on tiny whole sites, as its users meet it."""

from __future__ import annotations

import ast
import filecmp
import html
import html.parser
import os
import re
import shutil
import subprocess
import sys
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

import pytest

from site_builder.config import load
from site_builder.serve.live import Live

from .conftest import FIXTURES, Builder, Ran, build_site, code_lines
from .starting import environment


class Reader(html.parser.HTMLParser):
    """What a page says to a program: its ids, its links, its lines of code."""

    def __init__(self, text: str):
        super().__init__(convert_charrefs=True)
        self.ids: list[str] = []
        self.links: list[str] = []
        self.lines: dict[int, list[str]] = {}
        self.resources: list[str] = []
        self.inline_scripts = 0
        self.attributes: list[str] = []
        self._line: int | None = None
        self._depth = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.attributes += values
        if "id" in values:
            self.ids.append(values["id"])
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in ("script", "img", "iframe") and "src" in values:
            self.resources.append(values["src"])
        if tag == "link" and values.get("rel") not in ("canonical", "alternate"):
            self.resources.append(values["href"])
        if tag == "script" and "src" not in values:
            self.inline_scripts += 1
        if tag == "span":
            classes = values.get("class", "").split()
            if "src" in classes:
                self._depth = 1
                number = int(self.ids[-1].removeprefix("L"))
                self._line = number
                self.lines.setdefault(number, []).append("")
            elif self._line is not None:
                self._depth += 1

    def handle_endtag(self, tag: str) -> None:
        if tag == "span" and self._line is not None:
            self._depth -= 1
            if self._depth == 0:
                self._line = None

    def handle_data(self, data: str) -> None:
        if self._line is not None:
            self.lines[self._line][-1] += data


def pages(folder: Path) -> dict[str, Reader]:
    return {
        file.relative_to(folder).as_posix(): Reader(file.read_text("utf-8"))
        for file in sorted(folder.rglob("*.html"))
    }


def defined(node: ast.AST, prefix: str = "") -> Iterator[str]:
    """The qualified names of all classes and functions below `node`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield prefix + child.name
            yield from defined(child, f"{prefix}{child.name}.")
        else:
            yield from defined(child, prefix)


def values(text: str, name: str) -> list[str]:
    """What an attribute is given in a page of ours, which always quotes: faster than a parser on 50 MB."""
    return [html.unescape(value) for value in re.findall(rf'<[^<>]* {name}="([^"]*)"', text)]


def dead_links(folder: Path) -> list[str]:
    """Links and images inside the site that lead to no file, or to no id in it."""
    texts = {file.resolve(): file.read_text("utf-8") for file in folder.rglob("*.html")}
    ids = {file: set(values(text, "id")) for file, text in texts.items()}
    dead = []
    for file, text in texts.items():
        for link in {*values(text, "href"), *values(text, "src")} if file.name != "404.html" else ():
            parts = urllib.parse.urlsplit(link)
            if parts.scheme:
                continue
            path = urllib.parse.unquote(parts.path)
            target = (file.parent / path).resolve() if path else file
            anchor = urllib.parse.unquote(parts.fragment)
            if not target.is_file() or (anchor and target in ids and anchor not in ids[target]):
                dead.append(f"{file.relative_to(folder.resolve())}: {link}")
    return dead


def test_a_build_says_what_it_did_in_its_last_line_and_nothing_on_standard_output(built: Ran) -> None:
    assert (built.status, built.out, built.faults) == (0, "", [])
    assert re.fullmatch(
        r"3 pages in .*site: \d+ files written, 0 unchanged, 0 removed; no faults; \d+\.\d s",
        built.err.strip(),
    )


def test_every_page_can_be_reached_by_links_from_the_home_page(built: Ran) -> None:
    assert dead_links(built.folder) == []
    read, seen, todo = pages(built.folder), set(), ["index.html"]
    while todo:
        url = todo.pop()
        seen.add(url)
        for link in read[url].links:
            path = urllib.parse.urlsplit(link)
            if not path.scheme and path.path:
                found = (built.folder / url).parent.joinpath(urllib.parse.unquote(path.path)).resolve()
                name = found.relative_to(built.folder.resolve()).as_posix()
                if name in read and name not in seen:
                    todo.append(name)
    assert {"sums.html", "essay.html", "all-pages.html", "ja/index.html", "ja/sums.html"} <= seen


def test_every_line_of_code_stands_once_beside_its_own_number_equal_to_the_source(built: Ran) -> None:
    source = built.folder.parent / "tiny" / "sums.py"
    lines = source.read_text("utf-8").splitlines(keepends=True)
    shown = Reader(built.read("sums.html")).lines
    assert all(len(texts) == 1 for texts in shown.values())
    assert {number: texts[0] for number, texts in shown.items()} == {n: lines[n - 1] for n in shown}
    assert {n for n in shown if lines[n - 1].strip()} == code_lines(source.read_bytes())


def test_equations_are_html_and_mathml(built: Ran) -> None:
    text = built.read("sums.html")
    assert text.count('class="katex-html"') == text.count("<math ") >= 5
    assert '<annotation encoding="application/x-tex">s = a + b</annotation>' in text


def test_pages_load_nothing_from_elsewhere_and_hold_no_inline_script(built: Ran) -> None:
    for url, page in pages(built.folder).items():
        assert page.inline_scripts == 0, url
        assert not [link for link in page.resources if re.match(r"(https?:)?//", link)], url
        assert not [name for name in page.attributes if name.startswith("on")], url


def test_a_name_links_to_its_definition_and_a_local_that_bears_it_does_not(built: Ran) -> None:
    text = built.read("sums.html")
    lines = dict(
        re.findall(r'<span class="line[^"]*" id="L(\d+)">(.*?)(?=<span class="line|</code>)', text, re.S)
    )
    source = (built.folder.parent / "tiny" / "sums.py").read_text("utf-8").splitlines()
    call = source.index("        return add(self.a, b) + OFFSET * 0") + 1
    local = source.index("        return add") + 1
    assert 'href="#add"' in lines[str(call)]
    assert 'href="#add"' not in lines[str(local)]
    assert 'href="sums.html#Adder"' in built.read("index.html")


def test_the_head_of_a_page_says_what_it_is_and_where(built: Ran) -> None:
    text = built.read("ja/sums.html")
    assert '<html lang="ja"' in text
    assert '<link rel="canonical" href="https://example.org/tiny/ja/sums.html">' in text
    for lang, url in (("en", "sums.html"), ("ja", "ja/sums.html"), ("x-default", "sums.html")):
        assert f'hreflang="{lang}" href="https://example.org/tiny/{url}"' in text
    assert "<title>和 · Tiny</title>" in text
    assert '<meta name="description" content="足し算のしかた。">' in text
    for name in ("og:title", "og:description", "og:url", "og:site_name", "twitter:card"):
        assert f'"{name}"' in text


def test_a_page_links_to_its_source_and_names_its_papers(built: Ran) -> None:
    text = built.read("sums.html")
    assert 'href="https://github.com/example/tiny/blob/main/tiny/sums.py"' in text
    assert 'href="https://example.org/paper"' in text
    assert "A. Author" in text


def test_an_old_url_leads_to_the_page(built: Ran) -> None:
    assert 'url=../sums.html"' in built.read("old/sums.html")


def test_translated_blocks_stand_in_their_language_and_the_others_say_why_not(built: Ran) -> None:
    text = built.read("ja/sums.html")
    assert "の和は次のとおりです" in text
    assert re.search(r"<li[^>]*><code>a</code> を覚えます", text)
    missing = re.findall(r'<(\w+)[^>]*data-state="missing"[^>]*>', text)
    stale = re.search(r'<p[^>]*data-state="stale"[^>]*>(.*?)</p>', text, re.S)
    assert "p" in missing
    assert stale
    assert stale[1].startswith("Gives")
    assert 'lang="en"' in stale[0]


def test_what_a_stranger_writes_into_a_catalogue_runs_on_no_page(tiny: Path, build: Builder) -> None:
    catalogue = tiny / "translations" / "ja" / "sums.po"
    evil = "<img src=x onerror=alert(1)>"
    text = catalogue.read_text("utf-8").replace('msgstr "和"', f'msgstr "和{evil}"')
    catalogue.write_text(text.replace("を覚えます", f"{evil}[を](javascript:alert(1))"), "utf-8")
    done = build(tiny)
    assert done.err.count(": translation-unsafe ") == 2
    for file in done.folder.rglob("*.html"):
        page = Reader(file.read_text("utf-8"))
        assert "onerror" not in page.attributes, file
        assert not [link for link in page.links if link.startswith("javascript")], file
    # The author's words stand where the stranger's are refused, and the rest stays translated.
    for url in ("ja/all-pages.html", "ja/sums.html"):
        assert "Sums" in done.read(url)
        assert "足し算のしかた。" in done.read(url)


def test_the_authors_own_html_and_images_are_the_same_in_every_language(tiny: Path, build: Builder) -> None:
    (tiny / "tiny" / "figure.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    (tiny / "tiny" / "page.py").write_text(
        '"""# Page\n\n<video controls style="width: 1em"></video>\n\nA <b style="color: red">word</b>.\n\n'
        '![A figure](figure.svg)\n"""\n'
    )
    done = build(tiny, "--strict")
    assert done.status == 0, done.err
    for url in ("page.html", "ja/page.html"):
        assert '<video controls style="width: 1em">' in done.read(url)
        assert '<b style="color: red">word</b>' in done.read(url)
    assert dead_links(done.folder) == []


def test_no_source_and_no_old_url_takes_the_place_of_another_page(tiny: Path, build: Builder) -> None:
    (tiny / "tiny" / "all-pages.md").write_text("# Mine\n")
    (tiny / "tiny" / "sums.md").write_text("# Also sums\n")
    for number, old in enumerate(
        ("ja/index.html", "sums.html", "sub", "all-pages.html", "../x.html", "sums.html/x.html")
    ):
        (tiny / "tiny" / f"m{number}.py").write_text(f'"""\n---\nredirect_from: [{old}]\n---\n# M\n"""\n')
    done = build(tiny)
    assert done.status == 0, done.err
    assert sorted(fault.split(" ")[1] for fault in done.faults) == ["front-value"] + ["url-conflict"] * 7
    assert "Also sums" not in done.read("sums.html")
    assert "Mine" not in done.read("all-pages.html")
    assert not (tiny / "x.html").exists()


def test_building_one_language_leaves_the_pages_of_the_others_in_place(tiny: Path, build: Builder) -> None:
    folder = build(tiny).folder
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    (tiny / "tiny" / "sums.py").write_text('"""# Other sums"""\n\n\nclass Adder: ...\n\n\ndef add(): ...\n')
    (tiny / "tiny" / "essay.md").write_text("# An essay\n")
    done = build(tiny, "--lang", "ja", "--strict")
    assert done.status == 0, done.err
    after = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    changed = {file.relative_to(folder).as_posix() for file in before if after.get(file) != before[file]}
    assert "ja/sums.html" in changed
    # What the pages of all languages say of each other is shared.
    assert {name for name in changed if not name.startswith((".", "ja/", "search/ja"))} <= {"languages.js"}
    assert 'hreflang="en"' in done.read("ja/sums.html")


def test_an_image_does_not_replace_a_file_of_the_sites_own(tiny: Path, build: Builder) -> None:
    (tiny / "tiny" / "static").mkdir()
    (tiny / "tiny" / "static" / "icon.png").write_bytes(b"mine")
    done = build(tiny)
    assert [fault.split(" ")[1] for fault in done.faults] == ["url-conflict"]
    assert (done.folder / "static" / "icon.png").read_bytes() != b"mine"


def test_what_is_no_readable_file_is_a_fault_of_its_own_and_stops_nothing(tiny: Path, build: Builder) -> None:
    os.mkfifo(tiny / "tiny" / "pipe.py")
    (tiny / "tiny" / "astray.py").symlink_to("nowhere.py")
    done = build(tiny, "--lang", "en")
    assert done.status == 0, done.err
    assert [fault.split(" ")[1] for fault in done.faults] == ["unreadable"] * 2
    assert (done.folder / "sums.html").is_file()


@pytest.mark.parametrize(
    ("file", "text", "fault"),
    [
        # Letters of two bytes each.
        (
            f"{'é' * 126}.py",
            "# A",
            "url-conflict the page é*.html has a name of 257 bytes, .*give the file a shorter",
        ),
        (
            "b.py",
            f"---\nredirect_from: [{'o' * 256}/x.html]\n---\n# B",
            "url-conflict the old URL o*/x.html has a name that is too long .*take it out of redirect_from",
        ),
    ],
    ids=["module", "redirect"],
)
def test_a_name_that_is_too_long_for_a_file_is_told_with_its_page_and_stops_nothing(
    tiny: Path, build: Builder, file: str, text: str, fault: str
) -> None:
    (tiny / "tiny" / file).write_text(f'"""\n{text}\n"""\n', "utf-8")
    done = build(tiny, "--lang", "en")
    assert done.status == 0, done.err
    assert (done.folder / "sums.html").is_file()
    (found,) = done.faults
    assert re.match(rf"tiny/{file}:\d:1: {fault}", found)
    live = Live(lambda: load(tiny), tiny / "copy", lambda line: None)
    live.rebuild(postpone=True)
    assert [found["text"] for found in live.state.message["diagnostics"]] == [found]


@pytest.mark.parametrize("elsewhere", ["2>/dev/full", "0<&- 1>&- 2>&-"])
def test_whoever_cannot_be_told_has_the_site_and_the_status_all_the_same(tiny: Path, elsewhere: str) -> None:
    (tiny / "tiny" / "m.py").write_text(FAULTS["a broken link"][0])

    def status(*arguments: str) -> int:
        words = [sys.executable, "-m", "site_builder", *arguments]
        shell = ["sh", "-c", f'exec "$@" {elsewhere}', "sh", *words]
        return subprocess.run(shell, cwd=tiny, env=environment(), check=False).returncode

    assert status("build", "--no-exec", "--lang", "en", "-o", "site", "-j2") == 0
    assert (tiny / "site" / "sums.html").is_file()
    assert status("build", "--no-exec", "--lang", "en", "-o", "site", "--strict") == 1
    assert status("build", "nowhere") == 2


def test_whoever_cannot_have_the_result_is_told(tiny: Path) -> None:
    words = [sys.executable, "-m", "site_builder", "check", "--explain", "all"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            words, cwd=tiny, env=environment(), stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert "No space left on device" in done.stderr


def test_an_output_folder_inside_the_package_is_no_source(tiny: Path, build: Builder) -> None:
    first = build(tiny, output="tiny/site")
    second = build(tiny, output="tiny/site")
    assert (first.status, second.status) == (0, 0)
    assert " 0 files written, " in second.err


def test_a_page_cannot_link_to_what_runs(tiny: Path, build: Builder) -> None:
    (tiny / "tiny" / "m.py").write_text('"""# M\n\n[a](javascript:alert(1)) [b](mailto:a@example.org)\n"""\n')
    done = build(tiny, "--lang", "en")
    assert [fault.split(" ")[1] for fault in done.faults] == ["link-scheme"]
    assert "javascript:" not in done.read("m.html")
    assert 'href="mailto:a@example.org"' in done.read("m.html")


def test_sections_have_the_same_anchors_in_every_language(built: Ran) -> None:
    english, japanese = (
        Reader((built.folder / "sums.html").read_text()),
        Reader((built.folder / "ja/sums.html").read_text()),
    )
    assert english.ids == japanese.ids
    for anchor in ("add", "add:return", "Adder", "Adder.__call__:return", "section-3"):
        assert anchor in english.ids
    assert len(english.ids) == len(set(english.ids))


def test_two_builds_are_equal_whatever_the_folder_jobs_hash_seed_and_locale(
    tiny: Path, build: Builder
) -> None:
    for number in range(12):
        (tiny / "tiny" / f"more{number}.py").write_text(
            f'"""# More {number}\n\n$x_{number}$"""\nimport tiny\n'
        )
    first = build(tiny, "-j1", env={"PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "Asia/Tokyo"})
    second = build(
        tiny, "-j2", "--clean", output="other", env={"PYTHONHASHSEED": "2", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    )
    names = [file.relative_to(first.folder).as_posix() for file in first.folder.rglob("*") if file.is_file()]
    same, different, missing = filecmp.cmpfiles(first.folder, second.folder, names, shallow=False)
    assert (different, missing) == ([], [])
    assert len(same) > 40
    assert len(list(second.folder.rglob("*"))) == len(list(first.folder.rglob("*")))


def test_a_second_build_writes_nothing_and_a_removed_module_takes_its_page_along(
    tiny: Path, build: Builder
) -> None:
    build(tiny)
    assert " 0 files written, " in build(tiny).err
    (tiny / "tiny" / "essay.md").unlink()
    (tiny / "tiny" / "__init__.py").write_text('"""# Tiny"""\n')
    done = build(tiny)
    assert not (done.folder / "essay.html").exists()
    assert not (done.folder / "ja" / "essay.html").exists()
    assert "; no faults; " in done.err


FAULTS = {
    "a picture from elsewhere": (
        '"""# T\n\n![it](https://example.org/x.png)\n"""\n',
        r"3:7: remote-load ",
    ),
    "a frame from elsewhere": (
        '"""\n---\ntitle: T\n---\n<iframe src="//example.org"></iframe>\n"""\n',
        r"5:\d+: remote-load ",
    ),
    "a script in the page": (
        '"""\n---\ntitle: T\n---\n<script>alert(1)</script>\n"""\n',
        r"5:1: inline-script ",
    ),
    "a handler in the page": ('"""# T\n\nA <b onclick="x()">word</b>.\n"""\n', r"3:3: inline-script "),
    "a bad equation": ('r"""# T\n\nSee $\\frac{a}$ here.\n"""\n', r"3:\d+: math-syntax "),
    "a broken link": ('"""# T\n\nSee [it](nowhere.html).\n"""\n', r"3:10: link-broken "),
    "a broken anchor": ('"""# T\n\nSee [it](sums.html#nothing).\n"""\n', r"3:10: link-broken "),
    "an unknown object": (
        '"""# T\n\nSee [it](tiny.sums.Nothing).\n"""\n',
        r"3:10: link-unknown-object ",
    ),
    "an unknown front-matter key": (
        '"""\n---\ntitel: T\n---\n# T\n"""\n',
        r"3:1: front-unknown-key .* — .*title",
    ),
    "an escape inside math": (
        '"""# T\n\nThe angle $\\theta$ grows.\n"""\n',
        r'3:\d+: math-escape .* — .*r"""',
    ),
    "a syntax error": ('"""# T"""\n\ndef broken(:\n    pass\n', r"3:\d+: python-syntax "),
    "bytes that are no text": ('"""# T"""\nx = "\udcff"\n', r"2:\d+: encoding "),
    "an unclosed formula": ('r"""# T\n\n$$a + b\n"""\n', r"3:1: math-unclosed "),
}


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """A site in which every fault has a page of its own."""
    cwd = Path(shutil.copytree(FIXTURES / "tiny", tmp_path_factory.mktemp("faulty") / "tiny"))
    for number, (source, _) in enumerate(FAULTS.values()):
        (cwd / "tiny" / f"fault{number}.py").write_bytes(source.encode("utf-8", "surrogateescape"))
    return build_site(cwd, "--lang", "en")


@pytest.mark.parametrize("name", FAULTS)
def test_one_fault_is_one_diagnostic_and_the_page_is_still_written(name: str, faulty: Ran) -> None:
    page = f"fault{list(FAULTS).index(name)}"
    found = [fault for fault in faulty.faults if fault.startswith(f"tiny/{page}.py:")]
    assert len(found) == 1, faulty.err
    assert re.match(rf"tiny/{page}\.py:{FAULTS[name][1]}", found[0])
    assert " — " in found[0]
    assert f"{page}.html" in [file.name for file in faulty.folder.iterdir()]


def test_faults_in_pages_fail_a_strict_build_and_no_other(faulty: Ran, tiny: Path, build: Builder) -> None:
    assert (faulty.status, len(faulty.faults)) == (0, len(FAULTS))
    assert f"{len(FAULTS)} faults;" in faulty.err
    (tiny / "tiny" / "m.py").write_text(FAULTS["a broken link"][0])
    done = build(tiny, "--lang", "en")
    assert (done.status, len(done.faults)) == (0, 1)
    assert "1 fault;" in done.err
    strict = build(tiny, "--strict", "--lang", "en")
    assert (strict.status, strict.faults) == (1, done.faults)


def test_a_shell_variable_is_text_and_no_fault(tiny: Path, build: Builder) -> None:
    (tiny / "tiny" / "m.py").write_text('"""# T\n\n$HOME and $PATH\n"""\n')
    done = build(tiny, "--strict")
    assert (done.status, done.faults) == (0, [])
    assert "$HOME and $PATH" in done.read("m.html")


def test_a_build_imports_nothing_and_runs_no_example(tiny: Path, build: Builder) -> None:
    (tiny / "tiny" / "m.py").write_text(
        '"""# T\n\n>>> open("example", "w").close()\n"""\nopen("imported", "w").close()\nimport no_such_module\n'
    )
    done = build(tiny, "--no-exec")
    assert (done.status, done.faults) == (0, [])
    assert '<figure class="example">' in done.read("m.html")
    assert not list(tiny.rglob("example"))
    assert not list(tiny.rglob("imported"))


def test_settings_say_nothing_of_packages_they_do_not_name(tiny: Path, build: Builder) -> None:
    (tiny / "other").mkdir()
    (tiny / "other" / "__init__.py").write_text('"""# Other"""\n')
    foreign = build(tiny, "other", output="out")
    assert foreign.status == 0, foreign.err
    assert "<title>other</title>" in foreign.read("index.html")
    assert "example.org" not in foreign.read("index.html")
    assert not (foreign.folder / "ja").exists()
    own = build(tiny, "tiny/sums.py", output="own")
    assert "<title>Sums · Tiny</title>" in own.read("index.html")


def test_a_file_that_cannot_be_parsed_says_so_to_its_reader(tiny: Path, build: Builder) -> None:
    (tiny / "tiny" / "m.py").write_text("def broken(:\n")
    done = build(tiny)
    assert "could not be read as Python" in done.read("m.html")
    assert "読み取れませんでした" in done.read("ja/m.html")
    assert "could not be read as Python" not in done.read("sums.html")


def test_wrong_usage_and_unusable_configuration_end_with_status_two_and_one_sentence(
    tiny: Path, tmp_path: Path, build: Builder
) -> None:
    assert build(tiny, "--no-such-flag").status == 2
    assert build(tiny, "no_such_package_anywhere").status == 2
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "mine.txt").write_text("mine")
    refused = build(tiny, output=str(tmp_path / "taken"))
    assert refused.status == 2
    assert "Traceback" not in refused.err
    assert refused.err.count("\n") == 1
    (tiny / "pyproject.toml").write_text('[tool.site_builder]\npackage = ["tiny"]\n')
    unknown = build(tiny)
    assert unknown.status == 2
    assert "pyproject.toml:2: unknown key 'package'" in unknown.err
    assert "'packages'" in unknown.err


def test_colour_is_a_matter_of_the_flag_and_the_environment(tiny: Path, build: Builder) -> None:
    (tiny / "tiny" / "m.py").write_text('"""# T\n\n[it](nowhere.html)"""\n')
    assert "\x1b[" not in build(tiny).err
    assert "\x1b[" in build(tiny, env={"FORCE_COLOR": "1"}).err
    assert "\x1b[" not in build(tiny, env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).err
    assert "\x1b[" in build(tiny, "--color", "always", env={"NO_COLOR": "1"}).err
    assert "\x1b[" not in build(tiny, "--color", "never", env={"FORCE_COLOR": "1"}).err


@pytest.mark.parametrize(
    "package",
    ["markdown", *(pytest.param(name, marks=pytest.mark.exhaustive) for name in ("jinja2", "pygments"))],
)
def test_an_installed_package_becomes_a_site_without_configuration(
    package: str, tmp_path: Path, build: Builder
) -> None:
    from importlib.util import find_spec

    spec = find_spec(package)
    assert spec
    assert spec.submodule_search_locations
    source = Path(spec.submodule_search_locations[0])
    done = build(tmp_path, package)
    assert done.status == 0, done.err
    modules = [file.relative_to(source) for file in source.rglob("*.py")]
    for module in modules:
        name = module.with_suffix(".html").as_posix().replace("__init__.html", "index.html")
        ids = values(done.read(name), "id")
        assert len(ids) == len(set(ids)), name
        missing = set(defined(ast.parse((source / module).read_bytes()))) - set(ids)
        assert not missing, f"{name}: {missing}"
    assert len(modules) >= 20
    assert dead_links(done.folder) == []
