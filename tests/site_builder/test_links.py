"""Where links lead; and that `build` says of them what `check` finds on the finished pages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from site_builder import weave
from site_builder.audit.addresses import ids
from site_builder.config import load
from site_builder.site import make, read

from .test_check import OPENING, Told, project, run

OTHER = f'''"""
{OPENING}
A place <a id="here"></a> and `<a id="shown">`.
"""
# Before the code.
x = 1


def f():
    """Prose <b id='inner'>of it</b>."""
    return x


# The end.
'''
LINKS: Mapping[str, str] = {
    "other.html#here": "other.html#here",
    "other.py#inner": "other.html#inner",
    "other.html#L10": "other.html#L10",
    "other.html#L9": "other.html#section-1",
    "other.html#L14": "other.html#section-2",
    "other.html#L18": "other.html#section-4",
    "other.html#L7": "other.html#top",
    "other.html#f": "other.html#f",
    "#own": "#own",
}
BROKEN = {
    "other.html#shown": "no section for 'other.html#shown'",
    "other.html#here%00inner": "no section for 'other.html#here%00inner'",
    "other.html#L19": "no section for 'other.html#L19'",
    "#L1": "no section for '#L1'",
    "text.html#L1": "no section for 'text.html#L1'",
    "other.html#section-0": "no section for 'other.html#section-0'",
    "gone.html": "no page at 'gone.html'",
    "gone.svg": "no image at 'gone.svg'",
}
HTML = """
<a id="own" href="other.html#L9">html</a>
<picture><source srcset="lost.png 2x, a.svg 1x"><img src="a.svg" alt="words"></picture>
![words](dead.png)
"""
JAPANESE = """
msgid ""
msgstr "Content-Type: text/plain; charset=utf-8\\n"

#: other.html#@intro-0
msgid "A place <a id=\\"here\\"></a> and `<a id=\\"shown\\">`."
msgstr "場所 <a id=\\"here\\"></a> と `<a id=\\"shown\\">`。"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    links = "\n".join(f"* [{text}]({text})" for text in (*LINKS, *BROKEN))
    made = project(
        tmp_path_factory.mktemp("links"),
        table='languages = ["en", "ja"]\n',
        other=OTHER,
        links=f'"""\n{OPENING}\n{links}\n{HTML}"""\n',
    )
    (made / "pkg" / "text.md").write_text(f"{OPENING}\n# Text\n\nWords.\n", "utf-8")
    (made / "pkg" / "a.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>", "utf-8")
    (made / "pkg" / "dead.png").symlink_to("nowhere.png")
    (made / "translations" / "ja").mkdir(parents=True)
    (made / "translations" / "ja" / "other.po").write_text(JAPANESE, "utf-8")
    return made


@pytest.fixture(scope="module")
def built(folder: Path) -> Told:
    return run(folder, "build", "--no-exec")


def test_what_check_finds_on_the_pages_build_has_said_at_the_source(folder: Path, built: Told) -> None:
    checked = [fault for fault in run(folder, "check", "--no-exec").faults if "translation-" not in fault]
    assert checked == built.faults
    said = {fault.split(" ", 2)[2].partition(" — ")[0] for fault in checked}
    assert said == {
        *BROKEN.values(),
        "no image at 'lost.png'",
        "this file cannot be read: the link dead.png leads to no file",
    }
    assert len(checked) == len(said)
    lines = (folder / "pkg" / "links.py").read_text("utf-8").splitlines()
    for fault in checked[1:]:
        _, line, column, rest = fault.split(":", 3)
        wrong = re.findall(r"'(.*?)'", rest)[0]
        assert lines[int(line) - 1][int(column) - 1 :].startswith(wrong)


@pytest.mark.parametrize("lang", ["", "ja/"])
def test_a_link_leads_to_what_it_names_and_a_line_of_prose_to_where_it_is_shown(
    folder: Path, built: Told, lang: str
) -> None:
    page = (folder / "docs" / lang / "links.html").read_text("utf-8")
    found = dict(re.findall(r'<li[^>]*><a href="([^"]*)">([^<]*)</a></li>', page))
    assert {text: address for address, text in found.items() if text in LINKS} == LINKS
    assert 'href="other.html#section-1">html</a>' in page
    assert f'srcset="{"../" if lang else ""}a.svg 1x"' in page


@pytest.mark.parametrize("lang", ["", "ja/"])
def test_a_translated_page_keeps_the_ids_that_its_author_gave(folder: Path, built: Told, lang: str) -> None:
    page = (folder / "docs" / lang / "other.html").read_text("utf-8")
    assert ("場所" in page) == bool(lang)
    assert {"here", "inner", "L10", "section-1"} <= ids(page)


def test_whatever_a_link_may_name_is_on_the_page(folder: Path) -> None:
    config = load(folder)
    files = make(config).files
    for url, page in read(config).pages.items():
        lines = weave.lines(page).code
        runs = zip(lines[::2], lines[1::2], strict=True)
        numbers = {f"L{number}" for first, last in runs for number in range(first, last + 1)}
        found = ids(files[url].decode())
        assert weave.anchors(page) | numbers <= found
        assert {name for name in found if re.fullmatch(r"L\d+", name)} == numbers
