"""What strangers may write into a catalogue: every departure from the source is one diagnostic with its line."""

from __future__ import annotations

import re
import shutil

import pytest

from site_builder.prose.sanitise import refused, sanitised
from site_builder.translate import glossary
from site_builder.translate.catalogue import Entry
from site_builder.translate.comparing import dangers, differences, stresses
from site_builder.translate.glossary import Term
from site_builder.translate.unseen import unseen

from .conftest import FIXTURES, Ran, site_builder

PAGE = '''"""
---
title: Faults
summary: One of each kind.
---
# Faults

Half of $x$ is $y$.

See [the `add` function](sums.html) and the `shadow` method.

Every head counts, and so do heads.

A harmless sentence.

Another with a [link](https://a.example/).

A third one.

**Stop here.** Then look.

A last one, in *order*.
"""
'''

TRANSLATED = {
    "Half of $x$ is $y$.": "半分は $y$ です。",
    "See [the `add` function](sums.html) and the `shadow` method.": "[`shadow`](sums.html)と関数 `add` を参照。",
    "Every head counts, and so do heads.": "どの頭も大切です。",
    "A harmless sentence.": '無害な文です。<img src="x" onerror="alert(1)">',
    "Another with a [link](https://a.example/).": "もう一つの[リンク](https://evil.example/)です。",
    "A third one.": "三つ目は[ここ](javascript:alert(1))です。",
    "**Stop here.** Then look.": "**ここで止まります。**Dao は次に見ます。",
    "A last one, in *order*.": "最後は*順調*です。",
}


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Ran, dict[str, int]]:
    """The site built once with all faults in one catalogue, and the line of each text in that."""
    folder = tmp_path_factory.mktemp("safety") / "tiny"
    shutil.copytree(FIXTURES / "tiny", folder)
    (folder / "tiny" / "faults.py").write_text(PAGE, "utf-8")
    (folder / "translations" / "glossary.toml").write_text(
        '[[term]]\nsource = "head"\nja = ["ヘッド"]\n\n[[term]]\nsource = "function"\nja = ["関数"]\n',
        "utf-8",
    )
    rows = ['msgid ""', 'msgstr ""', r'"Language: ja\n"', r'"Content-Type: text/plain; charset=utf-8\n"']
    lines: dict[str, int] = {}
    for source, text in TRANSLATED.items():
        escaped = text.replace('"', r"\"")
        rows += ["", f'msgid "{source}"', f'msgstr "{escaped}"']
        lines[source] = len(rows) - 1
    (folder / "translations" / "ja" / "faults.po").write_text("\n".join(rows) + "\n", "utf-8")
    done = site_builder("build", "--strict", "--no-exec", "-o", "site", cwd=folder)
    return Ran(done.returncode, done.stdout, done.stderr, folder / "site"), lines


def test_each_fault_of_a_translation_is_one_diagnostic_with_the_line_of_the_catalogue(
    checked: tuple[Ran, dict[str, int]],
) -> None:
    ran, lines = checked
    wanted = {
        "Half of": ("translation-mismatch", "lacks the formula $x$"),
        "See": (
            "translation-mismatch",
            "lacks the code add inside the link to sums.html, has code shadow inside",
        ),
        "Every": ("glossary-breach", "'head' is ヘッド here, and this has none of it: block @intro:3"),
        "A harmless": ("translation-unsafe", "brings onerror in <img>"),
        "Another": ("translation-unsafe", "brings a link to https://evil.example/"),
        "A third": ("translation-unsafe", "brings the address javascript:alert(1)"),
        "**Stop": ("translation-emphasis", "lacks the emphasis **…**, has a star * (4 times) that is not"),
    }
    found = [line.split(": ", 2) for line in ran.faults]
    assert [place for place, _, _ in (part if len(part) == 3 else [*part, ""] for part in found)] == [
        f"translations/ja/faults.po:{line}:1"
        for source, line in lines.items()
        if any(source.startswith(start) for start in wanted)
    ]
    for fault, (code, what) in zip(ran.faults, wanted.values(), strict=True):
        assert f": {code} " in fault
        assert what in fault
    assert ran.status == 1


def test_what_could_harm_a_reader_reaches_no_page_and_the_source_is_shown_instead(
    checked: tuple[Ran, dict[str, int]],
) -> None:
    ran, _ = checked
    page = ran.read("ja/faults.html")
    assert "onerror" not in page
    assert "evil.example" not in page
    assert "javascript:" not in page
    shown = re.findall(r'<p[^>]*class="fallback"[^>]*data-state="missing"[^>]*>([^<]*)', page)
    assert [text for text in shown if text.startswith(("A ", "Another"))] == [
        "A harmless sentence.",
        "Another with a ",
        "A third one.",
    ]
    # What only differs is shown, and so is what is in order.
    assert "半分は" in page
    assert "最後は<em>順調</em>です。" in page


@pytest.mark.parametrize(
    ("source", "translation", "what"),
    [
        (
            "[`a`](a.html), [`b`](b.html)",
            "[`b`](a.html)、[`a`](b.html)",
            "the code a inside the link to a.html",
        ),
        ("[$x$](a.html) and $y$", "[$y$](a.html) と $x$", "the formula x inside the link to a.html"),
        (
            "[![one](1.png)](a.html) ![two](2.png)",
            "[![二](2.png)](a.html) ![一](1.png)",
            "the link to 1.png inside",
        ),
        ("<kbd>`a`</kbd> and `b`", "<kbd>`b`</kbd> と `a`", "the code a inside the tag <kbd>"),
        ("<b>[`a`](a.html)</b> <i>c</i>", "[<b>`a`</b>](a.html) <i>c</i>", "inside the tag <b>"),
        ("[one][ref] and `b`", "[`b`][ref] と一つ", "code b inside the link to ref"),
        ("[one][ref]", "[一つ][other]", "lacks the link to ref"),
        ("text[^1] and [^2]", "文[^1]と[^1]", "lacks the footnote '2'"),
    ],
)
def test_what_lies_inside_a_link_or_a_tag_stays_inside_it(source: str, translation: str, what: str) -> None:
    assert any(what in found for found in differences(source, translation)), differences(source, translation)


@pytest.mark.parametrize(
    ("source", "translation"),
    [
        ("`a` in [the `b` page](b.html), $x$.", "$x$、[`b` のページ](b.html)にある `a`。"),
        ("See [one][ref] and [two][ref].", "[二つ][ref]と[一つ][ref]。"),
        ("<kbd>Ctrl</kbd> and `a`", "`a` と <kbd>Ctrl</kbd>"),
    ],
)
def test_words_may_change_their_order(source: str, translation: str) -> None:
    assert differences(source, translation) == ()


@pytest.mark.parametrize(
    ("source", "translation", "what"),
    [
        ("*[`a`](a.html)* and **`b`**", "[`a`](a.html) と **`b`**", "lacks the emphasis *…*"),
        ("It is *this*.", "**これ**です。", "lacks the emphasis *…*, has an emphasis **…** that is not"),
        ("Only this.", "*これ*だけ。", "has an emphasis *…* that is not"),
        ("**One.** Dao", "**一つ。**Dao", "lacks the emphasis **…**, has a star * (4 times) that is not"),
        ("_This_ and *that*", "*これ*とそれ", "lacks the emphasis *…*"),
    ],
)
def test_what_is_emphasised_stays_so(source: str, translation: str, what: str) -> None:
    (fault,) = stresses("ja/page.po", Entry(source, translation, line=7), source)
    assert str(fault).startswith(f"ja/page.po:7:1: translation-emphasis the translation {what}")


@pytest.mark.parametrize(
    ("source", "translation"),
    [
        ("**One.** Two *and* three.", "*そして*三つ。**一つ。**二つ。"),
        ("_This_ one", "*これ*です"),
        ("`*args`, $a * b$ and `__init__`", "`__init__` と `*args`、$a * b$"),
        (r"2 \* 3, a * b and a_b_c", r"a_b_c と a * b と 2 \* 3"),
    ],
)
def test_emphasis_is_counted_and_a_star_in_code_or_math_is_none(source: str, translation: str) -> None:
    assert list(stresses("ja/page.po", Entry(source, translation), source)) == []


HOSTILE = [
    "<script>alert(1)</script>",
    "<ScRiPt src=//evil.example/x.js></sCrIpT>",
    "<img src=x onerror=alert(1)>",
    "<b ONCLICK='alert(1)'>x</b>",
    "<a href='java&#115;cript:alert(1)'>x</a>",
    "<a href=' \tjava\nscript:alert(1)'>x</a>",
    "[x](JavaScript:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "<vbscript:x@y.z> [x](vbscript:x)",
    "![x](https://evil.example/x.png)",
    "![x](//evil.example/x.png)",
    "<img src='/\\evil.example/x.png'>",
    "<iframe src='a.html'></iframe>",
    "<svg onload=alert(1)></svg>",
    "<b style='background:url(//evil.example)'>x</b>",
    "<form action='https://evil.example'><input name=a></form>",
    "[x](https://evil.example)",
    "<https://evil.example>",
    "[x](//evil.example/)",
]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_every_way_to_run_or_to_fetch_something_is_found(hostile: str) -> None:
    assert dangers("A sentence.", f"文です。{hostile}")
    # What the author wrote is no stranger's doing.
    assert dangers(f"A sentence. {hostile}", f"文です。{hostile}") == ()


def test_what_is_said_to_be_refused_is_what_is_taken_out() -> None:
    for kind in ("<b>x</b>", '<a href="a.html">x</a>', '<img src="a.png" alt="x">', '<td colspan="2">x</td>'):
        assert refused(kind) == ()
    hostile = (
        '<a href="javascript:x">x</a>',
        '<img src="//a.example/b.png">',
        "<video></video>",
        '<b id="a" on="">x</b>',
    )
    for kind in hostile:
        assert refused(kind)
        assert "javascript" not in sanitised(kind)
        assert "a.example" not in sanitised(kind)
        assert "video" not in sanitised(kind)
        assert "on=" not in sanitised(kind)


# --- the glossary ----------------------------------------------------------------------------------------

TERMS = (
    Term("multi-head attention", ("マルチヘッド注意機構",)),
    Term("head", ("ヘッド",), avoid=("頭",)),
    Term("feed-forward network", ("フィードフォワード層",)),
    Term("query", ("クエリ",)),
)


@pytest.mark.parametrize(
    ("source", "translation", "terms"),
    [
        ("Heads and a *query*.", "首と問い。", ["head", "query"]),
        ("Two queries.", "二つのクエリ。", []),
        ("Multi-head attention.", "マルチヘッド注意機構。", []),
        ("The overhead of `head` and $head$ at [here](head.html).", "手間。", []),
        ("A [feed-forward](a.html)\nnetwork.", "[層](a.html)。", ["feed-forward network"]),
        ("A head.", "頭というヘッド。", ["head"]),
    ],
)
def test_a_term_is_looked_for_among_the_words_only(source: str, translation: str, terms: list[str]) -> None:
    found = glossary.breaches(source, translation, TERMS)
    assert [re.findall(r"'(.*?)' is", breach)[0] for breach in found] == terms


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ('[[term]]\nsource = "a"\nja = ["b"\n', 3, "not TOML"),
        ('[[term]]\nsource = "a"\n\n[[term]]\nja = ["b"]\n', 4, "needs its source"),
        ('[[term]]\nsource = "a"\nja = "b"\n', 1, "ja of 'a' must be a list of words"),
        ('[term]\nsource = "a"\n', 1, "a table of its own"),
    ],
)
def test_a_broken_glossary_is_a_diagnostic_with_its_line(text: str, line: int, what: str) -> None:
    _, faults = glossary.parse("translations/glossary.toml", text, "ja")
    assert [(fault.path, fault.code) for fault in faults] == [
        ("translations/glossary.toml", "glossary-syntax")
    ]
    assert abs(faults[0].line - line) <= 1
    assert what in faults[0].message


def test_words_to_be_avoided_may_be_told_by_language() -> None:
    text = '[[term]]\nsource = "key"\nja = ["キー"]\nzh = ["键"]\navoid.ja = ["鍵"]\n'
    assert glossary.parse("g", text, "ja")[0] == (Term("key", ("キー",), ("鍵",)),)
    assert glossary.parse("g", text, "zh")[0] == (Term("key", ("键",)),)
    assert glossary.parse("g", text, "pl")[0] == ()


# --- what nobody sees ---------------------------------------------------------------------------------------

TURNED = '''"""
---
title: Turned
summary: What nobody sees.
papers:
  - title: On Turning
---
# Turned

A turned sentence.

A ruled sentence.

A mark\u200e of its own.

The new text.
"""
'''

UNSEEN = {
    "Turned": "逆\u202eの",
    "On Turning": "回\u2067転",
    "A turned sentence.": "逆の&#x202e;文。",
    "A ruled sentence.": "制御\x0cの文。",
    "A mark\u200e of its own.": "自分の\u200e印。",
}
STALE = """
#: turned.html#@intro:4
#, fuzzy
#| msgid "The old text."
msgid "The new text."
msgstr "古い\u202e文。"
"""
WORDS = """
msgid "All pages"
msgstr "すべての\u2066ページ"

msgid "{shown} of {all} section"
msgid_plural "{shown} of {all} sections"
msgstr[0] "{all} 件\u200f中 {shown} 件"
"""


@pytest.fixture(scope="module")
def turned(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """A site with such characters in translations of every kind."""
    folder = tmp_path_factory.mktemp("unseen") / "tiny"
    shutil.copytree(FIXTURES / "tiny", folder)
    (folder / "tiny" / "turned.py").write_text(TURNED, "utf-8")
    head = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n'
    pairs = "".join(f'\nmsgid "{source}"\nmsgstr "{text}"\n' for source, text in UNSEEN.items())
    (folder / "translations" / "ja" / "turned.po").write_text(head + pairs + STALE, "utf-8")
    (folder / "translations" / "ja" / "_interface.po").write_text(head + WORDS, "utf-8")
    done = site_builder("build", "--strict", "--no-exec", "-o", "site", cwd=folder)
    return Ran(done.returncode, done.stdout, done.stderr, folder / "site")


def test_characters_that_nobody_sees_are_told_with_the_line_of_the_catalogue(turned: Ran) -> None:
    found = [re.match(r"(\S+): (\S+) the translation has (U\+\w+)", line) for line in turned.faults]
    assert [one.groups() for one in found if one] == [
        ("translations/ja/_interface.po:4:1", "translation-unseen", "U+2066"),
        ("translations/ja/_interface.po:7:1", "translation-unseen", "U+200F"),
        ("translations/ja/turned.po:4:1", "translation-unseen", "U+202E"),
        ("translations/ja/turned.po:7:1", "translation-unseen", "U+2067"),
        ("translations/ja/turned.po:10:1", "translation-unseen", "U+202E"),
        ("translations/ja/turned.po:13:1", "translation-unseen", "U+000C"),
        ("translations/ja/turned.po:22:1", "translation-unseen", "U+202E"),
    ]
    assert turned.status == 1


def test_they_reach_no_page_but_those_that_the_source_has(turned: Ran) -> None:
    pages = {file: file.read_text("utf-8") for file in turned.folder.rglob("*.html")}
    assert {
        char for text in pages.values() for char in text if char in "\x0c\u200f\u202e\u2066\u2067"
    } == set()
    page = turned.read("ja/turned.html")
    assert "自分の\u200e印。" in page
    assert re.search(r"<h1><span[^>]*>Turned</span></h1>", page)
    for text in ("A turned sentence.", "A ruled sentence.", "The new text."):
        assert re.search(rf'<p[^>]*class="fallback"[^>]*>{text}', page)


def test_marks_of_direction_are_for_languages_that_are_written_from_right_to_left() -> None:
    for lang, found in (("he", 0), ("fa-IR", 0), ("ja", 1)):
        assert len(unseen("A full stop.", "C++\u200f.", lang)) == found
        assert len(unseen("A full stop.", "\u202eC++", lang)) == 1


def test_flags_made_of_tags_may_stand_whole_and_hidden_texts_may_not() -> None:
    def tagged(name: str) -> str:
        return "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in name)

    end = "\U000e007f"
    for name in ("gbeng", "gbsct", "gbwls"):
        assert unseen("A flag.", f"旗{tagged(name)}{end}。", "ja") == ()
        assert len(unseen("A flag.", f"旗{tagged(name)}。", "ja")) == len(set(name))
    for text in (
        tagged("ignore all of it") + end,
        tagged("gbsct")[1:] + end,
        tagged("gb") + end,
        tagged("") + end,
    ):
        assert unseen("A flag.", f"旗{text}。", "ja")


def test_a_page_of_which_most_is_missing_says_so_once(turned: Ran) -> None:
    page = turned.read("ja/turned.html")
    notes = re.findall(r'<(?:p|details) class="told[^>]*data-state="missing">(.*?)</p>', page)
    assert len(notes) == 1
    assert notes[0].startswith("このページは ")
    assert page.count('class="fallback" data-state="missing"') > 2
