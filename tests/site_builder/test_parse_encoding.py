"""Bytes in, the same bytes out; and what is wrong with them is said at the byte that is wrong."""

from __future__ import annotations

import encodings
import pkgutil

import pytest

from site_builder.model import Kind, Page, SourceFile
from site_builder.parse import encode, parse


def page_of(data: bytes, name: str = "module.py") -> Page:
    return parse(SourceFile(name, name, "package.module", "module.html", False, name.endswith(".md")), data)


def faults(page: Page) -> list[tuple[int, int, str]]:
    return [(fault.line, fault.column, fault.code) for fault in page.diagnostics]


@pytest.mark.parametrize(
    ("data", "encoding", "note"),
    [
        pytest.param("# é\nx = 1\n".encode(), "utf-8", "é", id="utf-8"),
        pytest.param("# é\nx = 1\n".encode("utf-8-sig"), "utf-8-sig", "é", id="byte order mark"),
        pytest.param(
            "# coding: utf-8\n# é\nx = 1\n".encode("utf-8-sig"), "utf-8-sig", "é", id="mark and line"
        ),
        pytest.param(
            "# coding: utf-8-sig\n# é\nx = 1\n".encode(), "utf-8", "é", id="utf-8-sig without a mark"
        ),
        pytest.param("# coding: utf8\n# é\nx = 1\n".encode(), "utf8", "é", id="utf8 without a dash"),
        pytest.param("# coding: latin-1\n# é\nx = 1\n".encode("latin-1"), "latin-1", "é", id="latin-1"),
        pytest.param("# coding: cp1252\n# “\nx = 1\n".encode("cp1252"), "cp1252", "“", id="cp1252"),
        pytest.param(
            "\n# vim: fileencoding=cp1252\n# “\nx=1".encode("cp1252"), "cp1252", "“", id="second line"
        ),
        pytest.param(
            "# coding: shift_jis\n# あ\nx = 1\n".encode("shift_jis"), "shift_jis", "あ", id="shift_jis"
        ),
        pytest.param("# coding: gb18030\n# 中\nx = 1\n".encode("gb18030"), "gb18030", "中", id="gb18030"),
        pytest.param("# coding: utf-8\r# é\rx = 1".encode(), "utf-8", "é", id="carriage returns"),
    ],
)
def test_a_file_is_read_as_it_declares_and_comes_back(data: bytes, encoding: str, note: str) -> None:
    page = page_of(data)
    assert page.encoding == encoding
    assert [section.prose.text for section in page.sections if section.prose] == [note]
    assert page.diagnostics == ()
    assert encode(page) == data


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        pytest.param(b"x = 1\ny = '\xe9'\n", (2, 6, "encoding"), id="cp1252 without a coding line"),
        pytest.param("x = 'é".encode() + b"\x93'\n", (1, 7, "encoding"), id="in the middle of a line"),
        pytest.param(b"# coding: nonsense\nx = 1\n", (1, 11, "encoding"), id="unknown"),
        pytest.param(b"\n# coding: hex\nx = 1\n", (2, 11, "encoding"), id="not for text"),
        pytest.param(b"# coding: undefined\n", (1, 11, "encoding"), id="a codec that always fails"),
        pytest.param(b"# coding: ascii\nx = '\xe9'\n", (2, 6, "encoding"), id="not in the declared encoding"),
        pytest.param(b"# coding: utf-16-le\nx = 1\n", (1, 11, "encoding"), id="not even ASCII"),
        pytest.param(b"# coding: utf-7\nx = '+AGE-'\n", (1, 11, "encoding"), id="does not come back"),
        pytest.param(b"\xef\xbb\xbf# coding: latin-1\nx = 1\n", (1, 11, "encoding"), id="against its mark"),
        pytest.param(b"\xef\xbb\xbf# coding: utf8\nx = 1\n", (1, 11, "encoding"), id="no dash with a mark"),
        pytest.param(
            b"# coding: raw_unicode_escape\n'\\ud800'\n", (1, 11, "encoding"), id="half a character"
        ),
    ],
)
def test_a_file_that_cannot_be_decoded_is_a_page_of_code(data: bytes, fault: tuple[int, int, str]) -> None:
    page = page_of(data)
    assert faults(page) == [fault]
    assert [section.kind for section in page.sections] == [Kind.CODE]
    assert encode(page) == data


def test_a_byte_order_mark_alone_is_an_empty_page() -> None:
    page = page_of(b"\xef\xbb\xbf")
    assert (page.lines, page.sections, page.diagnostics) == ((), (), ())
    assert encode(page) == b"\xef\xbb\xbf"


def test_a_null_byte_is_reported_where_it_stands() -> None:
    page = page_of(b"x = 1\ny = '\0'\n")
    assert faults(page) == [(2, 6, "python-syntax")]
    assert page.sections[0].code == (1, 2)


def test_only_line_feeds_and_carriage_returns_end_lines() -> None:
    data = "x = '''\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029'''\r\ny = 1\rz = 2\n# end".encode()
    page = page_of(data)
    assert [line[-3:] for line in page.lines] == ["'\r\n", " 1\r", " 2\n", "end"]
    assert [section.code for section in page.sections] == [(1, 2, 3), ()]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_do_not_get_into_prose(end: str) -> None:
    source = end.join(
        ['"""Intro', "", '  more."""', "# one", "# two", "def f():", "    '''Doc", "    more'''", ""]
    )
    page = page_of(source.encode())
    assert page.intro.text == "Intro\n\nmore."
    (prose,) = [section.prose for section in page.sections if section.prose]
    assert [(line.text, line.line, line.column) for line in prose.lines if line.text] == [
        ("one", 4, 3),
        ("two", 5, 3),
        ("Doc", 7, 8),
        ("more", 8, 5),
    ]


def test_form_feeds_and_tabs_leave_columns_right() -> None:
    page = page_of(b'\x0c# one\n\x0cclass A:\n\t\x0c# two\n\tdef f(self):\n\t\t"""doc\n\t\tmore"""\n')
    rows = [
        (row.text, row.line, row.column)
        for section in page.sections
        for row in section.prose.lines
        if row.text
    ]
    assert rows == [("one", 1, 4), ("two", 3, 5), ("doc", 5, 6), ("more", 6, 3)]
    assert [section.anchor for section in page.sections] == ["A", "A.f"]


def test_columns_count_characters_not_bytes() -> None:
    page = page_of('ä = "ö"; f("é")\ndef é(): "ü – doc"\n'.encode())
    row = page.sections[1].prose.lines[0]
    assert (row.text, row.line, row.column) == ("ü – doc", 2, 11)
    assert [(d.name, d.line, d.column) for d in page.definitions] == [("ä", 1, 1), ("é", 2, 5)]


def test_markdown_needs_no_coding_line_and_gets_none() -> None:
    data = "<!-- coding: latin-1 -->\n# Tïtle\n\nText.\n".encode()
    page = page_of(data, "page.md")
    assert (page.title, page.encoding, page.diagnostics) == ("Tïtle", "utf-8", ())
    assert encode(page) == data


@pytest.mark.parametrize("body", [b"x = 1\n", b"\xe9\xff\n", b"+AGE-\x1b$B\n", b"--x-\n\\N{x}\\ud800"])
def test_no_codec_of_python_loses_a_byte(body: bytes) -> None:
    for module in pkgutil.iter_modules(encodings.__path__):
        data = b"# coding: " + module.name.encode() + b"\n" + body
        page = page_of(data)
        assert encode(page) == data, module.name
        "".join(page.lines).encode("utf-8")
