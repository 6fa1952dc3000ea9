"""`python -m site_builder translate`, and what a translated page shows, on a tiny whole site."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from site_builder.translate.catalogue import read

from .conftest import FIXTURES, REPOSITORY, Builder, site_builder


def translate(cwd: Path, *arguments: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    done = site_builder("translate", *arguments, cwd=cwd)
    assert done.returncode == status, done.stderr
    return done


def counts(cwd: Path) -> dict[str, list[int]]:
    """Done, drafts, stale, missing, per cent, words and words left by page, as `translate status` prints them."""
    rows = [line.split() for line in translate(cwd, "status").stdout.splitlines()]
    return {row[0]: [int(number) for number in row[1:]] for row in rows[1:]}


def fill(file: Path) -> None:
    """Translates whatever is missing: each text by itself, with a sign before it."""
    catalogue, _ = read(file.name, "ja", file.read_bytes())
    assert catalogue
    rows = file.read_text("utf-8").split("\n")
    for entry in reversed(catalogue.entries):
        if not entry.text:
            start = entry.line - 1
            at = next(number for number in range(start, len(rows)) if rows[number] == 'msgstr ""')
            first = rows[start].removeprefix("msgid ")
            more = rows[start + 1 : at]
            rows[at : at + 1] = [f"msgstr {first}", *more] if more else [f'msgstr "訳 {first[1:]}']
            if more:
                rows[at + 1] = f'"訳 {rows[at + 1][1:]}'
    file.write_text("\n".join(rows), "utf-8")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = Path(shutil.copytree(FIXTURES / "tiny", tmp_path_factory.mktemp("filled") / "tiny"))
    translate(folder, "update")
    for file in (folder / "translations" / "ja").rglob("*.po"):
        fill(file)
    return folder


@pytest.fixture
def full(filled: Path, tmp_path: Path) -> Path:
    """The tiny site, every block translated."""
    return Path(shutil.copytree(filled, tmp_path / "tiny"))


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text("utf-8")
    assert text.count(old) == 1
    file.write_text(text.replace(old, new), "utf-8")


def unnumbered(page: str) -> str:
    """The page without the lines of the catalogue at which its blocks stand."""
    return re.sub(r' data-line="\d+"', "", page)


def marked(page: str) -> list[str]:
    """What the page itself shows in the source language, and why."""
    main = page[page.index("<main") : page.index("</main>")]
    found = re.findall(
        r'lang="en" class="fallback" data-state="(\w+)"[^>]*>(.*?)</(?:p|li|h\d|td|th)>', main, re.S
    )
    return [f"{state}: {re.sub('<.*', '', text)}" for state, text in found]


def test_a_changed_sentence_makes_its_block_stale_until_it_is_restored(full: Path, build: Builder) -> None:
    source = full / "tiny" / "sums.py"
    assert marked(build(full).read("ja/sums.html")) == ["stale: Gives "]
    catalogue = full / "translations" / "ja" / "sums.po"
    edit(catalogue, "#, fuzzy\n", "")
    before = build(full).read("ja/sums.html")
    assert marked(before) == []

    edit(source, "Nothing is carried.", "Nothing is ever carried.")
    for update in (False, True):
        if update:
            translate(full, "update")
        page = build(full).read("ja/sums.html")
        assert marked(page) == ["stale: Nothing is ever carried."]
        assert counts(full)["sums"][2:4] == [1, 0]
    text = catalogue.read_text("utf-8")
    assert (
        '#, fuzzy\n#| msgid "Nothing is carried."\nmsgid "Nothing is ever carried."\nmsgstr "訳 Nothing'
        in text
    )

    edit(source, "Nothing is ever carried.", "Nothing is carried.")
    assert unnumbered(build(full).read("ja/sums.html")) == unnumbered(before)


def test_a_changed_sentence_is_stale_in_every_language_and_check_allows_only_so_many(full: Path) -> None:
    config = full / "pyproject.toml"
    edit(config, '["en", "ja"]', '["en", "ja", "zh", "pl"]')
    config.write_text(config.read_text("utf-8") + "stale_limit = 1\n", "utf-8")
    for lang in ("zh", "pl"):
        shutil.copytree(full / "translations" / "ja", full / "translations" / lang)
    edit(full / "tiny" / "essay.md", "| what |", "| which |")
    rows = [line.split() for line in translate(full, "status").stdout.splitlines()]
    assert [row[3] for row in rows if row[0] == "essay"] == ["1", "1", "1"]
    assert [row[3] for row in rows if row[0] == "all"] == ["2", "2", "2"]
    done = site_builder("check", "--no-exec", "--lang", "en", "--lang", "zh", cwd=full)
    assert [line.partition(" — ")[0] for line in done.stderr.splitlines() if "translation-stale" in line] == [
        "translations/zh/sums.po:1:1: translation-stale 2 blocks in zh translate an older text, 1 of them here; 1 may"
    ]
    edit(full / "tiny" / "essay.md", "| which |", "| what |")
    done = site_builder("check", "--no-exec", cwd=full)
    assert "translation-stale" not in done.stderr


def test_a_section_that_moves_keeps_its_translations(full: Path, build: Builder) -> None:
    source = full / "tiny" / "sums.py"
    text = source.read_text("utf-8")
    start = text.index("class Adder:")
    add = text.index("# A constant explains")
    source.write_text(text[:add] + text[start:] + "\n\n" + text[add:start].rstrip() + "\n", "utf-8")
    assert marked(build(full).read("ja/sums.html")) == ["stale: Gives "]


def test_an_update_keeps_what_people_wrote_and_a_second_one_writes_nothing(tiny: Path) -> None:
    file = tiny / "translations" / "ja" / "sums.po"
    edit(file, "#: sums.html#@intro:1\n", "# Not 「合計」, see the glossary.\n#: sums.html#@intro:1\n")
    edit(file, '"Language: ja\\n"', '"Language: ja\\n"\n"Last-Translator: A. Translator\\n"')
    done = translate(tiny, "update")
    assert done.stdout == ""
    assert [line for line in done.stderr.splitlines() if line.endswith(".po")] == [
        "translations/ja/_interface.po",
        "translations/ja/index.po",
        "translations/ja/sums.po",
        "translations/ja/essay.po",
    ]
    text = file.read_text("utf-8")
    assert "# Not 「合計」, see the glossary.\n#: sums.html#@intro:1\nmsgid" in text
    assert '"Last-Translator: A. Translator\\n"' in text
    files = {path: path.read_bytes() for path in (tiny / "translations").rglob("*") if path.is_file()}
    assert "0 catalogues written, 4 unchanged" in translate(tiny, "update", "--lang", "ja").stderr
    assert files == {path: path.read_bytes() for path in (tiny / "translations").rglob("*") if path.is_file()}


def test_beside_the_title_of_a_paper_stands_what_it_means(full: Path, build: Builder) -> None:
    catalogue = full / "translations" / "ja" / "sums.po"
    assert '#: sums.html#@papers:1\nmsgid "On Adding"\nmsgstr "訳 On Adding"\n' in catalogue.read_text(
        "utf-8"
    )
    edit(catalogue, "訳 On Adding", "足し算 <b>について</b>")
    original = '<cite lang="en"><a href="https://example.org/paper">On Adding</a></cite>'
    by = ' <span class="by">A. Author, 1999</span>'
    done = build(full)
    line = 1 + next(n for n, row in enumerate(catalogue.read_text("utf-8").split("\n")) if "<b>" in row)
    meaning = f'<span class="meaning" data-line="{line}">足し算 &lt;b&gt;について&lt;/b&gt;</span>'
    assert f"{original}{by} {meaning}</li>" in done.read("ja/sums.html")
    # It is compared like any other text, and the page of the source knows nothing of it.
    assert [line.split(" ")[1] for line in done.faults] == ["translation-mismatch"]
    assert 'class="meaning"' not in done.read("sums.html")

    # What nobody has translated, or from another title, is simply not there; a machine's work says what it is.
    edit(catalogue, "足し算 <b>について</b>", "足し算について")
    edit(full / "tiny" / "sums.py", "title: On Adding", "title: On Adding Again")
    page = build(full).read("ja/sums.html")
    assert f"On Adding Again</a></cite>{by}</li>" in page
    assert marked(page) == ["stale: Gives "]
    assert counts(full)["sums"][2:4] == [2, 0]
    edit(full / "tiny" / "sums.py", "title: On Adding Again", "title: On Adding")
    edit(catalogue, "#: sums.html#@papers:1\n", "#: sums.html#@papers:1\n#, machine\n")
    shown = '足し算について</span></li></ul>\n<p class="told" role="note" data-state="machine">'
    assert shown in build(full).read("ja/sums.html")


def test_the_status_counts_blocks_by_page(full: Path) -> None:
    assert counts(full) == {
        "_interface": [2, 0, 0, 0, 100, 10, 0],
        "index": [3, 0, 0, 0, 100, 15, 0],
        "sums": [13, 0, 1, 0, 92, 51, 1],
        "essay": [6, 0, 0, 0, 100, 16, 0],
        "all": [24, 0, 1, 0, 96, 92, 1],
    }
    (full / "translations" / "ja" / "essay.po").unlink()
    assert counts(full)["essay"] == [0, 0, 0, 6, 0, 16, 16]


def test_a_broken_catalogue_is_left_alone_by_an_update(tiny: Path) -> None:
    file = tiny / "translations" / "ja" / "sums.po"
    text = file.read_text("utf-8") + "<<<<<<< ours\n"
    file.write_text(text, "utf-8")
    done = translate(tiny, "update", status=1)
    assert f"translations/ja/sums.po:{text.count(chr(10))}:1: catalogue-syntax " in done.stderr
    assert file.read_text("utf-8") == text


def test_a_catalogue_without_a_page_stays_and_is_named(tiny: Path) -> None:
    old = tiny / "translations" / "ja" / "gone.po"
    shutil.copy(tiny / "translations" / "ja" / "sums.po", old)
    before = old.read_bytes()
    assert "translations/ja/gone.po belongs to no page" in translate(tiny, "update").stderr
    assert old.read_bytes() == before


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        (
            '"$a$ と $b$ の和は次のとおりです。"',
            '"和は次のとおりです。"',
            "lacks the formula $a$, lacks",
        ),
        ('"`a` を覚えます"', '"`a` と `b` を覚えます"', "has code `b` that is not in the source"),
        (
            '"足し算のしかた。"',
            '"[足し算](sums.html)のしかた。"',
            "has a link to sums.html that is not in the source",
        ),
        ('"足し算のしかた。"', '"<b>足し算</b>のしかた。"', "has a tag <b> that is not in the source"),
    ],
)
def test_a_translation_that_differs_from_its_source_is_a_diagnostic_and_is_shown(
    tiny: Path, build: Builder, old: str, new: str, what: str
) -> None:
    file = tiny / "translations" / "ja" / "sums.po"
    edit(file, f"msgstr {old}", f"msgstr {new}")
    line = file.read_text("utf-8").splitlines().index(f"msgstr {new}")
    done = build(tiny)
    assert len(done.faults) == 1
    assert done.faults[0].startswith(f"translations/ja/sums.po:{line}:1: translation-mismatch ")
    assert what in done.faults[0]
    assert "和は次のとおり" in done.read("ja/sums.html")


def test_a_fault_inside_a_translation_is_reported_at_the_line_and_column_of_the_catalogue(
    tiny: Path, build: Builder
) -> None:
    file = tiny / "translations" / "ja" / "sums.po"
    edit(file, 'msgstr "`a` を覚えます"', 'msgstr ""\n"`a` を覚え、\\n"\n"$x^$ を忘れます"')
    line = file.read_text("utf-8").splitlines().index('"$x^$ を忘れます"') + 1
    assert any(
        fault.startswith(f"translations/ja/sums.po:{line}:4: math-syntax") for fault in build(tiny).faults
    )


def test_a_docstring_in_another_style_is_translated_block_by_block(tiny: Path, build: Builder) -> None:
    (tiny / "tiny" / "more.py").write_text(
        'def double(a):\n    """Twice the number.\n\n    Args:\n        a: A number.\n    """\n    return 2 * a\n'
    )
    translate(tiny, "update")
    file = tiny / "translations" / "ja" / "more.po"
    fill(file)
    page = build(tiny).read("ja/more.html")
    assert marked(page) == []
    assert "訳 Twice the number." in page
    assert re.search(r"<(dt|li)\b[^>]*>.*<code>a</code>", page)
    assert "訳" not in build(tiny).read("more.html")


def test_what_was_drafted_stays_a_draft_on_another_page_and_a_reviewed_translation_comes_first(
    tiny: Path,
) -> None:
    file = tiny / "translations" / "ja" / "sums.po"
    edit(file, "#: sums.html#@intro:1\n", "#: sums.html#@intro:1\n#, machine\n")
    (tiny / "tiny" / "more.md").write_text("# More\n\nThe sum of $a$ and $b$ is\n", "utf-8")
    translate(tiny, "update")
    more = tiny / "translations" / "ja" / "more.po"
    wanted = '#, machine\nmsgid "The sum of $a$ and $b$ is"\nmsgstr "$a$ と $b$ の和は次のとおりです。"'
    assert wanted in more.read_text("utf-8")
    (tiny / "translations" / "ja" / "other.po").write_text(
        'msgid ""\nmsgstr ""\n\nmsgid "The sum of $a$ and $b$ is"\nmsgstr "$a + b$"\n', "utf-8"
    )
    more.unlink()
    translate(tiny, "update")
    assert '\nmsgid "The sum of $a$ and $b$ is"\nmsgstr "$a + b$"' in more.read_text("utf-8")


# --- the interface ---------------------------------------------------------------------------------------


def test_a_project_is_asked_only_for_words_that_the_builder_does_not_have(tiny: Path) -> None:
    (tiny / "theme" / "templates").mkdir(parents=True)
    (tiny / "theme" / "templates" / "404.html").write_text(
        "{{ _('Page not found') }} {{ _('Lost?') }} {{ ngettext('One way', '{n} ways', 3) }}", "utf-8"
    )
    edit(tiny / "pyproject.toml", 'output = "site"', 'output = "site"\ntheme = "theme"')
    translate(tiny, "update")
    text = (tiny / "translations" / "ja" / "_interface.po").read_text("utf-8")
    assert re.findall(r'^msgid(?:_plural)? "(.+)"', text, re.M) == [
        "Lost?",
        "One way",
        "{n} ways",
        "Tiny",
        "A site small enough to read in one breath.",
    ]
    assert '#: theme/templates/404.html\nmsgid "Lost?"\nmsgstr ""' in text
    assert "nplurals=1" in text
    assert counts(tiny)["_interface"] == [0, 0, 0, 4, 0, 13, 13]


def test_words_of_the_interface_bring_no_html_and_wrong_placeholders_are_not_used(
    tiny: Path, build: Builder
) -> None:
    head = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n\n'
    file = tiny / "translations" / "ja" / "_interface.po"
    file.write_text(
        head
        + 'msgid "All pages"\nmsgstr "\\"全\\" & ページ"\n\n'
        + 'msgid "{shown} of {all} sections"\nmsgstr "{all} 件 100 %"\n\n'
        + 'msgid "Search"\nmsgstr "<img src=x onerror=alert(1)>"\n',
        "utf-8",
    )
    done = build(tiny)
    page = done.read("ja/sums.html")
    assert "&#34;全&#34; &amp; ページ" in page or "&quot;全&quot; &amp; ページ" in page
    assert "onerror" not in page
    assert [re.sub(r" —.*", "", fault) for fault in done.faults] == [
        "translations/ja/_interface.po:7:1: translation-mismatch the translation lacks the placeholder {shown}, "
        "has a placeholder % that is not in the source",
        "translations/ja/_interface.po:10:1: translation-mismatch the translation "
        "has a tag <img src=x onerror=alert(1)> that is not in the source, "
        "has a link to x that is not in the source",
    ]


def test_every_word_of_the_templates_is_translated_into_japanese() -> None:
    from site_builder.config import load
    from site_builder.translate import files, interface

    config = load(REPOSITORY)
    catalogue, faults = files.load(config, "ja", "ja/_interface.po")
    assert faults == ()
    assert catalogue
    ready = {entry.source for entry in interface.usable(catalogue)[0]}
    assert [entry.source for entry in files.wanted_words(config, "ja") if entry.source not in ready] == []
