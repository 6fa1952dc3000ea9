"""PO files as people leave them: what is kept, and what cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from site_builder.translate.catalogue import Catalogue, Entry, Place, read, write

from .conftest import Builder

FULL = r"""# Translated by A. Translator.
#
#  Two   blanks, and a very long line that a machine would like to fold at seventy-six columns, but must not fold.
msgid ""
msgstr ""
"Language: ja\n"
"Last-Translator: A. Translator\n"
"Content-Type: text/plain; charset=utf-8\n"

# Chosen with care.
# Chosen with care.
#. from another tool
#: page.html#add:1
#: page.html#add:sum:2
#, fuzzy, no-wrap
#| msgid ""
#| "The old text,  with two blanks and $\\theta$,\n"
#| "on two lines."
msgid "The new \"text\"."
msgstr ""
"一行目\n"
"二行目"

#: page.html#add:3
msgctxt "apart"
msgid "Sum"
msgstr "和"

#: page.html#add:4
msgid "Sum"
msgstr "合計"

# Still good.
#~ msgid "100 % of it is gone"
#~ msgstr "なくなりました"

# The last word.
"""


def catalogue(text: str | bytes) -> Catalogue:
    found, faults = read("ja/page.po", "ja", text if isinstance(text, bytes) else text.encode())
    assert faults == ()
    assert found
    return found


def test_what_is_read_and_written_again_is_the_same_file() -> None:
    assert write(catalogue(FULL), "page.html").decode() == FULL


def test_an_entry_knows_what_it_translates_and_where_each_line_of_it_was_typed() -> None:
    stale, apart, plain, gone = catalogue(FULL).entries
    assert stale.stale
    assert stale.translates == "The old text,  with two blanks and $\\theta$,\non two lines."
    assert stale.text == "一行目\n二行目"
    lines = FULL.splitlines()
    assert lines[stale.line - 1].startswith("msgid")
    assert [lines[piece.line - 1][piece.column - 1 :] for piece in stale.pieces] == ['一行目\\n"', '二行目"']
    assert stale.places == (Place("add", 0), Place("add:sum", 1))
    assert (apart.context, apart.text, plain.context, plain.text) == ("apart", "和", "", "合計")
    assert (gone.obsolete, gone.translates) == (True, "100 % of it is gone")


def test_a_byte_order_mark_and_line_ends_of_another_system_change_nothing() -> None:
    assert catalogue(b"\xef\xbb\xbf" + FULL.encode()) == catalogue(FULL)
    assert catalogue(FULL.replace("\n", "\r\n").encode()) == catalogue(FULL)


def test_the_previous_text_of_an_obsolete_entry_as_gettext_writes_it_is_passed_over() -> None:
    text = FULL.replace("#~ msgid", '#~| msgid "older"\n#~ msgid')
    assert catalogue(text).entries[:-1] == catalogue(FULL).entries[:-1]
    assert catalogue(text).entries[-1].source == "100 % of it is gone"


def test_texts_with_quotes_backslashes_tabs_and_line_ends_come_back_as_they_were() -> None:
    source = 'a "quoted" \\theta\\n\tand\nmore\\'
    entry = Entry(source, source * 2, places=(Place("with space", 4),))
    again = catalogue(write(Catalogue("ja/page.po", "ja", (entry,)), "page.html")).entries[0]
    assert (again.source, again.text, again.places) == (entry.source, entry.text, entry.places)


BROKEN = {
    "not closed": ('msgid "a"\nmsgstr "b\n', 2, "not closed"),
    "a quote inside": ('msgid "a"\nmsgstr "b "c" d"\n', 2, "is written"),
    "conflict": (
        'msgid "a"\n<<<<<<< ours\nmsgstr "b"\n=======\nmsgstr "c"\n>>>>>>> theirs\n',
        2,
        "merge conflict",
    ),
    "twice": ('msgid "a"\nmsgstr "b"\n\nmsgid "b"\nmsgstr ""\n\nmsgid "a"\nmsgstr "c"\n', 7, "second time"),
    "no translation": ('msgid "a"\n\nmsgid "b"\nmsgstr "c"\n', 3, "msgstr is expected"),
    "ends too soon": ('msgid "a"\nmsgstr "b"\n\nmsgid "c"', 4, "without msgstr"),
    "no keyword": ('msgid "a"\nmsgstr "b"\n\nnonsense "c"\n', 4, "'nonsense'"),
    "no quotes": ('msgid "a"\nmsgstr b\n', 2, "not closed"),
    "text alone": ('# a comment\n"a"\n', 2, "without msgid"),
    "single backslash": ('msgid "a"\nmsgstr "$\\alpha$ and $\\frac12$"\n', 2, "written twice"),
}


@pytest.mark.parametrize(("text", "line", "what"), BROKEN.values(), ids=BROKEN)
def test_a_broken_catalogue_is_one_diagnostic_with_its_line(text: str, line: int, what: str) -> None:
    start = 'msgid ""\nmsgstr ""\n"Language: ja\\n"\n\n'
    found, faults = read("ja/page.po", "ja", (start + text).encode())
    assert found is None
    assert [(fault.path, fault.line, fault.code) for fault in faults] == [
        ("ja/page.po", line + start.count("\n"), "catalogue-syntax")
    ]
    assert what in faults[0].message


def test_a_catalogue_in_another_encoding_is_a_diagnostic_at_the_character() -> None:
    _, faults = read(
        "ja/page.po", "ja", 'msgid "a"\nmsgstr "é和"\n'.encode().replace("和".encode(), b"\x98\x61")
    )
    assert [(fault.line, fault.column) for fault in faults] == [(2, 10)]
    assert "UTF-8" in faults[0].message


def test_a_header_that_babel_cannot_read_is_a_diagnostic_too() -> None:
    text = 'msgid ""\nmsgstr "PO-Revision-Date: yesterday\\n"\n\nmsgid "a"\nmsgstr "b"\n'
    assert [fault.code for fault in read("ja/page.po", "ja", text.encode())[1]] == ["catalogue-syntax"]


def test_a_page_whose_catalogue_is_broken_is_built_in_its_source_language(tiny: Path, build: Builder) -> None:
    file = tiny / "translations" / "ja" / "sums.po"
    text = file.read_text("utf-8").replace('msgstr "和"', 'msgstr "和')
    file.write_text(text, "utf-8")
    line = text.splitlines().index('msgstr "和') + 1
    done = build(tiny)
    assert done.status == 0
    assert len(done.faults) == 1
    assert done.faults[0].startswith(f"translations/ja/sums.po:{line}:8: catalogue-syntax ")
    page = done.read("ja/sums.html")
    assert 'data-state="missing">The sum of' in page
    assert "和" not in page
    assert build(tiny, "--strict").status == 1
