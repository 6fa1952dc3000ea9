"""A language that has some of the pages: its own lead on in it, the others to the language of the source."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from .conftest import FIXTURES, Ran, site_builder
from .test_build import Reader, dead_links


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("partial") / "tiny"
    shutil.copytree(FIXTURES / "tiny", folder)
    config = folder / "pyproject.toml"
    patterns = 'translated = { ja = ["tiny/__init__.py", "tiny/sums.py"] }\n'
    config.write_text(config.read_text("utf-8") + patterns, "utf-8")
    done = site_builder("build", "--strict", "--no-exec", "-o", "site", cwd=folder)
    assert done.returncode == 0, done.stderr
    return Ran(done.returncode, done.stdout, done.stderr, folder / "site")


@pytest.fixture(scope="module")
def links(ran: Ran) -> Mapping[str, list[str]]:
    """Where the links of each page lead."""
    return {
        file.relative_to(ran.folder).as_posix(): Reader(file.read_text("utf-8")).links
        for file in ran.folder.rglob("*.html")
    }


def test_it_has_the_pages_that_the_configuration_names_and_a_list_of_all(ran: Ran) -> None:
    folder = ran.folder / "ja"
    found = {file.relative_to(folder).as_posix() for file in folder.rglob("*.html")}
    assert found - {"old/sums.html"} == {"index.html", "sums.html", "all-pages.html", "404.html"}
    assert "ja/sums.html" in ran.read("sitemap.xml")
    assert "ja/essay" not in ran.read("sitemap.xml")


def test_its_pages_lead_on_in_it_and_to_others_in_the_language_of_the_source(
    ran: Ran, links: Mapping[str, list[str]]
) -> None:
    assert dead_links(ran.folder) == []
    for url in ("ja/index.html", "ja/all-pages.html"):
        assert {"sums.html", "../essay.html"} <= {*links[url]}
        assert "essay.html" not in links[url]
    assert "essay.html" not in links["ja/sums.html"]


def test_a_link_that_leaves_the_language_says_so(ran: Ran) -> None:
    mark = '<span class="abroad" lang="en" title="English"><span aria-hidden="true">EN</span>'
    mark += '<span class="hidden">English</span></span>'
    # In lists of what lies below a page, beside it, and anywhere; then at the foot of a page.
    for url, address in (("index", "../essay"), ("sums", "../essay"), ("all-pages", "../essay")):
        found = re.findall(rf'<a [^>]*href="{address}.html"[^>]*>.*?</a>', ran.read(f"ja/{url}.html"))
        assert found
        assert all('hreflang="en"' in link and mark in link for link in found)
    turn = ran.read("ja/sums.html").partition('class="turn"')[2]
    assert re.search(
        rf'<a class="next" rel="next" href="../essay.html" hreflang="en">.*An essay.* {mark}</a>', turn
    )
    for url in ("ja/index.html", "ja/sums.html"):
        assert not re.search(r'href="(sums|index)\.html" hreflang="en"', ran.read(url))
    assert "abroad" not in ran.read("index.html")


def test_a_page_offers_only_the_languages_that_it_has(ran: Ran, links: Mapping[str, list[str]]) -> None:
    assert "ja/sums.html" in links["sums.html"]
    assert 'hreflang="ja"' in ran.read("sums.html")
    assert 'hreflang="ja"' not in ran.read("essay.html")
    assert not [link for link in links["essay.html"] if link.startswith("ja/")]
    assert "essay.html" not in ran.read("languages.js")


def test_its_search_goes_on_in_the_index_of_the_source(ran: Ran) -> None:
    assert 'data-rest="../search/en.js" data-root="../" data-lang="en"' in ran.read("ja/sums.html")
    assert "essay.html" not in ran.read("search/ja.js")
    assert "essay.html" in ran.read("search/en.js")
    assert "data-rest" not in ran.read("sums.html")


def test_what_it_does_not_have_is_nothing_to_translate(ran: Ran) -> None:
    project: Path = ran.folder.parent
    site_builder("translate", "update", cwd=project)
    assert not (project / "translations" / "ja" / "essay.po").exists()
    table = site_builder("translate", "status", cwd=project).stdout
    assert "essay" not in table
    assert "sums" in table
