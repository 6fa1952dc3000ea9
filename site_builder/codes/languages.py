"""
---
title: Codes of translations
summary: What can be wrong with catalogues.
---
# Codes of translations

They stand at a line of a PO file or of the glossary, never at the page, since whoever can mend them edits that
file.
"""

from __future__ import annotations

from site_builder.codes.model import Code

TITLE = "Translations"

CODES = (
    Code(
        "catalogue-syntax",
        "A catalogue cannot be read",
        """
The PO file breaks off somewhere: a quote is not closed, two entries have the same text, a merge left its marks.
Nothing in it is used until that is mended, and its page is shown in the language of the source. Tools that pass
over such a line lose translations silently, which is worse.
""",
        wrong='msgid "Every query looks at every key."\nmsgstr "Jede Anfrage sieht jeden Schlüssel.\n',
        right='msgid "Every query looks at every key."\nmsgstr "Jede Anfrage sieht jeden Schlüssel."\n',
        form="po",
    ),
    Code(
        "translation-mismatch",
        "A translation has other math, code, links or tags than its source",
        """
Words change from language to language; formulas, code, addresses of links, tags and placeholders do not. Each must
occur as often as in the source, in whatever order the sentence needs. The message says what is lacking or too much.
""",
        wrong='msgid "It is divided by $d$."\nmsgstr "Es wird durch $d_k$ geteilt."\n',
        right='msgid "It is divided by $d$."\nmsgstr "Es wird durch $d$ geteilt."\n',
        form="po",
    ),
    Code(
        "translation-emphasis",
        "A translation does not emphasise what its source does",
        """
What the author emphasises once is emphasised once in every language. Often the stars are there and do nothing: between
a full stop or a bracket and a letter they close nothing, and stand on the page as they are typed. Let the full stop
follow them, or write a blank behind them.
""",
        wrong='msgid "**Stop.** Then look."\nmsgstr "**Halt.**Dann schau."\n',
        right='msgid "**Stop.** Then look."\nmsgstr "**Halt.** Dann schau."\n',
        form="po",
    ),
    Code(
        "translation-stale",
        "A translation has fallen too far behind its source",
        """
A block whose source has changed is shown in the language of the source, with the old translation at hand. A few of
them are the way of things; past `stale_limit` blocks in one language, `check` says so. Bring them up to date, or
raise the limit in `[tool.site_builder]`.
""",
    ),
    Code(
        "translation-unsafe",
        "A translation brings something that must not reach a reader",
        """
Translations come from strangers, and the author of the page answers for it. This one has HTML that runs or loads
something, or a link to another site that the source does not link to. It is not shown; the block stands in the
language of the source until that is taken out.
""",
        wrong='msgid "Ask the author."\nmsgstr "Frag [uns](https://example.net/)."\n',
        right='msgid "Ask the author."\nmsgstr "Frag die Autorin."\n',
        form="po",
    ),
    Code(
        "translation-unseen",
        "A translation has characters that nobody sees",
        """
A control character, or one that turns the direction of what follows: pasted along with the text, or put there so that
a reader sees other words than a reviewer. The source does not have it, so the translation is not shown until it is
taken out; an editor that shows invisible characters finds it. Arabic, Hebrew and other languages that are written from
right to left may use the marks U+200E, U+200F and U+061C.
""",
        wrong='msgid "Every sum."\nmsgstr "Jede &#8238;Summe."\n',
        right='msgid "Every sum."\nmsgstr "Jede Summe."\n',
        form="po",
    ),
    Code(
        "translation-plural",
        "A counted word has not all the forms that its language needs",
        """
"3 pages" is another word than "1 page", and languages differ in how many such forms they have: Japanese has one,
German two, Polish three. The entry in `_interface.po` has fewer or more, so the words of the source are shown
instead. Write `msgstr[0]`, `msgstr[1]` and so on, as many as the message says.
""",
    ),
    Code(
        "glossary-breach",
        "A translation does not use the word that the glossary decided on",
        """
`translations/glossary.toml` fixes one word for each term of the field, so that ten translators write one language.
Here the source uses the term, and the translation another word for it, or one that is to be avoided. Use the
decided word. If it does not fit, change it in the glossary, for all pages.
""",
        wrong='msgid "Each key has a value."\nmsgstr "Jede Taste hat einen Wert."\n',
        right='msgid "Each key has a value."\nmsgstr "Jeder Schlüssel hat einen Wert."\n',
        form="po",
    ),
    Code(
        "glossary-syntax",
        "The glossary cannot be read",
        """
`translations/glossary.toml` is a list of tables, each headed by `[[term]]`: with the term as `source`, and for each
language the words that are right for it. Until it can be read, no translation is held to it.
""",
    ),
)
