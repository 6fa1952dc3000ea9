"""`translate pseudo`: what was never translated stands out, and what should read from right to left does."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from babel.messages.plurals import get_plural

from site_builder.config import Config
from site_builder.translate import files, interface, speech
from site_builder.translate.catalogue import Catalogue, Entry
from site_builder.translate.escaped import escaped
from site_builder.translate.locales import ACCENTED, MIRRORED, plurals
from site_builder.translate.pseudo import said

from .conftest import FIXTURES, REPOSITORY, Ran, site_builder

MORE = '''"""
---
title: More
summary: All that a translator is given.
---
# More

A [link *to*](sums.html "a title") and ![a chart](chart.png), a note[^1] and <kbd>Ctrl</kbd>.

| head | cell |
|---|---|
| one | two `code` |

: A caption.

> A quotation.

1. An item &amp; more.

[^1]: The note.
"""
'''


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """The tiny site, with a theme that says two things of its own without asking for a translation."""
    folder = tmp_path_factory.mktemp("pseudo") / "tiny"
    shutil.copytree(FIXTURES / "tiny", folder)
    (folder / "tiny" / "more.py").write_text(MORE, "utf-8")
    (folder / "tiny" / "nameless.py").write_text("x = 1\n", "utf-8")
    (folder / "tiny" / "names.md").write_text("# What `add` is\n\n## `add_all`\n\nBoth of them.\n", "utf-8")
    shutil.copy(REPOSITORY / "static" / "icon.png", folder / "tiny" / "chart.png")
    theme = folder / "theme" / "templates" / "partials"
    theme.mkdir(parents=True)
    foot = (REPOSITORY / "templates" / "partials" / "foot.html").read_text("utf-8")
    counted = '{{ ngettext("%(num)s page", "%(num)s pages", 3) }}'
    more = f'<p>Made with care, {{{{ _("and patience") }}}}</p><p title="Not asked">{counted}</p>'
    (theme / "foot.html").write_text(foot + more, "utf-8")
    config = folder / "pyproject.toml"
    config.write_text(config.read_text("utf-8") + 'theme = "theme"\n', "utf-8")
    done = site_builder("translate", "pseudo", "-o", "out", "--exec", cwd=folder)
    return Ran(done.returncode, done.stdout, done.stderr, folder / "out")


def test_every_text_of_every_page_asks_for_its_translation_and_one_that_does_not_is_found(ran: Ran) -> None:
    # Once, however many pages show it; and names of modules, in whatever place, are no text.
    assert ran.out.splitlines() == [
        "en-XA/404.html: Made with care, ⟦áñđ þáţíéñçé⟧ (and on 7 other pages)",
        "en-XA/404.html: title: Not asked (and on 7 other pages)",
    ]
    assert ran.status == 1
    assert ran.err.splitlines()[-1].endswith("2 texts escaped translation")


def test_titles_notes_captions_cells_and_the_words_for_pictures_are_translated(ran: Ran) -> None:
    page = ran.read("en-XA/more.html")
    for text in (
        "<h1>⟦Ṁóŕé⟧</h1>",
        ">⟦Åłł ţĥáţ á ţŕáñšłáţóŕ íš ğíṽéñ.⟧</p>",
        ">⟦ĥéáđ⟧</th>",
        "⟦ţŵó <code>code</code>⟧",
        'alt="á çĥáŕţ"',
        'title="á ţíţłé"',
        "<kbd>Çţŕł</kbd>",
        "⟦Ţĥé ñóţé.⟧",
        "⟦Å ɋúóţáţíóñ.⟧",
        "⟦Åñ íţéɱ &amp; ɱóŕé.⟧",
        "⟦Å çáþţíóñ.⟧",
    ):
        assert text in page
    assert 'class="fallback"' not in page


def test_a_language_written_from_the_right_says_so_and_its_code_does_not(ran: Ran) -> None:
    page = ran.read("ar-XB/sums.html")
    assert '<html lang="ar-XB" dir="rtl"' in page
    assert "\u202eSums\u202c" in page
    assert re.search(r'<pre[^>]* dir="ltr"', page)


def test_no_catalogue_of_theirs_stays_in_the_project(ran: Ran) -> None:
    assert sorted(path.name for path in (ran.folder.parent / "translations").iterdir()) == ["ja"]


@pytest.mark.parametrize("lang", [ACCENTED, MIRRORED])
def test_what_may_not_be_translated_is_left_as_it_is(lang: str) -> None:
    text = "See [the `add` function](a.html), $x$ &nbsp; <b>bold</b> and {shown} of %(num)s[^1]."
    made = said(text, lang, placeholders=True)
    for kept in ("`add`", "](a.html)", "$x$", "&nbsp;", "<b>", "{shown}", "%(num)s", "[^1]"):
        assert kept in made
    assert (made[0], made[-1]) == ("⟦", "⟧")


def test_what_escaped_is_looked_for_where_a_reader_meets_it() -> None:
    page = """<html lang="en-XA"><head><title>Untold</title><meta name="description" content="A page"></head>
    <body data-close="Close it" data-index="search/en.js" data-state="missing">
    <p>⟦çóđé⟧ <code>code</code> <span lang="de">Wort</span> <cite>On Adding</cite> <i translate="no">add</i></p>
    <p class="fallback" lang="en">Forgotten</p><img alt="A chart"><input placeholder="Type here" value="x">
    <div data-count='{"one": "⟦á⟧", "other": "many things"}'></div></body></html>"""
    assert list(escaped(page)) == [
        "Untold",
        "content: A page",
        "data-close: Close it",
        "Forgotten",
        "alt: A chart",
        "placeholder: Type here",
        'data-count: {"one": "⟦á⟧", "other": "many things"}',
    ]


# --- words that count ------------------------------------------------------------------------------------


def test_a_catalogue_has_as_many_forms_as_its_language_and_says_by_which_rule(tiny: Path) -> None:
    folder = tiny / "theme" / "templates"
    folder.mkdir(parents=True)
    (folder / "404.html").write_text(
        "{{ ngettext('One way', '{n} ways', 3) }}{{ plural_forms('{n} hit', '{n} hits') }}"
    )
    config = tiny / "pyproject.toml"
    text = config.read_text("utf-8").replace('["en", "ja"]', '["en", "ja", "pl", "ar-XB"]')
    config.write_text(text + 'theme = "theme"\n', "utf-8")
    assert site_builder("translate", "update", cwd=tiny).returncode == 0
    for lang, count in (("ja", 1), ("pl", 3), ("ar-XB", 6)):
        made = (tiny / "translations" / lang / "_interface.po").read_text("utf-8")
        rule = get_plural(lang.partition("-")[0])
        assert f'"Plural-Forms: nplurals={rule[0]}; plural={rule[1]};\\n"' in made
        hits = made[made.index('msgid "{n} hit"') :].partition("\n\n")[0]
        assert hits.count("msgstr[") == count == plurals(lang)[0]


def test_a_header_that_says_nothing_of_plurals_is_told_once_there_are_some() -> None:
    old = Catalogue("pl/_interface.po", "pl", (), header='msgid ""\nmsgstr "Language: pl\\n"')
    wanted = [Entry("{n} hit", plural="{n} hits")]
    new = interface.merged(wanted, old)
    assert new.header.splitlines()[-1].startswith('"Plural-Forms: nplurals=3; plural=')
    assert interface.merged(wanted, new) == new
    assert interface.merged([Entry("plain")], old).header == old.header


def test_a_form_says_how_many_like_either_of_the_source() -> None:
    entry = Entry("One way", "{n} 通り", plural="{n} ways", forms=("{n} 通り",))
    assert interface.usable(Catalogue("ja/_interface.po", "ja", (entry,))) == ((entry,), ())
    wrong = Entry("One way", "{m} 通り", plural="{n} ways", forms=("{m} 通り",))
    assert [fault.code for fault in interface.usable(Catalogue("a", "ja", (wrong,)))[1]] == [
        "translation-mismatch"
    ]


def test_a_script_gets_every_form_by_the_category_that_its_browser_knows(tmp_path: Path) -> None:
    entry = Entry("{n} hit", "{n} raz", plural="{n} hits", forms=("{n} raz", "{n} razy", "{n} <razy>"))
    words = interface.translations("pl", [Catalogue("pl/_interface.po", "pl", (entry,))])
    assert speech.plural_forms(words, "pl", "{n} hit", "{n} hits") == {
        "one": "{n} raz",
        "few": "{n} razy",
        "many": "{n} <razy>",
        "other": "{n} <razy>",
    }
    none = files.interface(Config(tmp_path), "fr")
    assert speech.plural_forms(none, "fr", "{n} hit", "{n} hits")["one"] == "{n} hit"


def test_a_counted_word_with_too_few_forms_is_a_diagnostic_and_not_used() -> None:
    entry = Entry("{n} hit", "{n} raz", plural="{n} hits", forms=("{n} raz", "{n} razy"), line=7)
    good, faults = interface.usable(Catalogue("pl/_interface.po", "pl", (entry,)))
    assert good == ()
    assert [(fault.line, fault.code) for fault in faults] == [(7, "translation-plural")]
    assert "3 forms" in faults[0].message
