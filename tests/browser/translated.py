"""A small site in four languages: one that lacks some blocks, one written from right to left, one with little."""

from __future__ import annotations

from pathlib import Path

CONFIG = """
[tool.site_builder]
packages = ["tongues"]
output = "site"
title = "Tongues"
base_url = "https://example.org/tongues/"
repository_url = "https://github.com/example/tongues"
languages = ["en", "ja", "ar", "zh-Hans"]
"""

HOME = '"""\n# Tongues\n\nOne page, [the sum](sums.html), in *several* languages.\n"""\n'

ALONE = "# Alone\n\nNobody has translated this.\n\nNor this.\n"

SUMS = '''"""
---
title: Sums
summary: How to add.
symbols:
  s: total
papers:
  - title: On Adding
---
# Sums

The <q>sum <q>$s$</q></q> is *what* it is.

A sentence that changed.

{filler}
"""


# Begin with nothing.
total = 0


class Adder:
    """
    ## An adder

    Words of a machine.

    * a translated item
    * an item that is new

    A paragraph that is new.
    """

{methods}

# The sum $s$ comes last.
print(total)
'''

SEVERAL = range(12)
FILLER = "Paragraph {} tells again at some length what everybody knows, so that there is something to scroll."
METHOD = """    def step{0}(self, total):
        # Comment {0} stands beside its lines.
        total = total + {0}
        total = total - {0}
        return total
"""
PAGE = SUMS.format(
    filler="\n\n".join(map(FILLER.format, SEVERAL)), methods="\n".join(map(METHOD.format, SEVERAL))
)

HEADER = 'msgid ""\nmsgstr ""\n"Language: {}\\n"\n"Content-Type: text/plain; charset=utf-8\\n"\n'

JAPANESE = {
    "Sums": "総和",
    "How to add.": "足し算のしかたです。",
    "On Adding": "足し算について",
    "The <q>sum <q>$s$</q></q> is *what* it is.": "<q>和 <q>$s$</q></q> は *そのまま* の値です。",
    "Begin with nothing.": "何もないところから始めます。",
    "An adder": "フィードバックトランスフォーマー",
    "a translated item": "訳された項目",
    "The sum $s$ comes last.": "和 $s$ は最後に来ます。",
} | {
    FILLER.format(
        n
    ): f"段落 {n} は、スクロールするだけの長さになるように、誰もが知っていることをもう一度述べます。"
    for n in SEVERAL
}
ARABIC = {
    "Sums": "المجاميع",
    "The <q>sum <q>$s$</q></q> is *what* it is.": "<q>المجموع <q>$s$</q></q> هو *ما* هو عليه.",
    "Begin with nothing.": "ابدأ من لا شيء.",
    "The sum $s$ comes last.": "يأتي المجموع $s$ أخيرًا.",
}
CHINESE = {"The <q>sum <q>$s$</q></q> is *what* it is.": "<q>和 <q>$s$</q></q> 就是 *它* 本身。"}

MARKED = """
#: sums.html#@intro:2
#, fuzzy
#| msgid "A sentence that was."
msgid "A sentence that changed."
msgstr "以前の *文* です。"

#, machine
msgid "Words of a machine."
msgstr "機械の言葉です。"

msgid "an item that is new"
msgstr ""
"""


def write(folder: Path) -> None:
    """The site's sources and catalogues."""
    package, catalogues = folder / "tongues", folder / "translations"
    package.mkdir(parents=True)
    (folder / "pyproject.toml").write_text(CONFIG, "utf-8")
    (package / "__init__.py").write_text(HOME, "utf-8")
    (package / "sums.py").write_text(PAGE, "utf-8")
    (package / "alone.md").write_text(ALONE, "utf-8")
    for lang, texts, more in (("ja", JAPANESE, MARKED), ("ar", ARABIC, ""), ("zh-Hans", CHINESE, "")):
        entries = "".join(f'\nmsgid "{source}"\nmsgstr "{text}"\n' for source, text in texts.items())
        (catalogues / lang).mkdir(parents=True)
        (catalogues / lang / "sums.po").write_text(HEADER.format(lang) + entries + more, "utf-8")
