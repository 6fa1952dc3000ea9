"""
---
title: Codes of files
summary: What can be wrong with a file before anything in it is read as a page.
---
# Codes of files

With any of these the page is built from what could be read, or left out, and the others are built as if nothing
had happened.
"""

from __future__ import annotations

from site_builder.codes.model import Code

TITLE = "Files and addresses"

CODES = (
    Code(
        "theme-missing",
        "The folder of the theme is not there",
        """
`theme` in `[tool.site_builder]` names a folder, relative to `pyproject.toml`, whose `templates/` and `static/` replace
files of the same name. Without it the site has the builder's own look.

Correct the name, make the folder, or take the line out.
""",
    ),
    Code(
        "unreadable",
        "A file cannot be read",
        """
The file was found but not opened: it may not be read by this user, it is a symbolic link to nothing, or its name is
not UTF-8, so that no address can be made of it. The page is built empty, the image left out; of a catalogue the page
keeps the language of its source.

Make the file readable or rename it. One that is no page at all belongs under `exclude` in `[tool.site_builder]`.
""",
    ),
    Code(
        "encoding",
        "The bytes of a file are not the text that it says it is",
        """
A file is UTF-8 unless a coding line in its first two lines says otherwise. Here that line names no encoding, or
some byte is not valid in it. The page shows the file as plain code, with every byte read as a Latin-1 character,
because nothing better can be known.

Save the file as UTF-8, and remove the coding line.
""",
        wrong="# coding: utf-9\nheads = 8\n",
        right="heads = 8\n",
        form="python",
    ),
    Code(
        "python-syntax",
        "Python cannot read this file",
        """
Without a syntax tree there are no sections, no definitions and no links to them, so the page shows the whole file
as code. The place is the one that Python's parser gives; the cause may stand a line or two before it.

Correct the code. If it is right for a newer Python, build with that one.
""",
        wrong="def attend(query, key:\n    return query @ key\n",
        right="def attend(query, key):\n    return query @ key\n",
        form="text",
    ),
    Code(
        "front-syntax",
        "The front matter is not YAML",
        """
What stands between the two `---` lines could not be read, so the page is built as if it had none of it: without its
title, summary and symbols. Most often a value holds a colon and a space and needs quotes, or the second `---` line
is missing.
""",
        wrong="---\ntitle: Attention: a sketch\n---\nEvery query looks at every key.\n",
        right='---\ntitle: "Attention: a sketch"\n---\nEvery query looks at every key.\n',
    ),
    Code(
        "front-unknown-key",
        "The front matter has a key that means nothing",
        """
Front matter knows `title`, `summary`, `papers`, `symbols`, `macros`, `order` and `redirect_from`, and a paper
`title`, `authors`, `year` and `url`. Any other key would be passed over in silence, and nobody would learn that it
was only mistyped.

Correct the key or remove it.
""",
        wrong="---\ntitel: Attention\n---\nEvery query looks at every key.\n",
        right="---\ntitle: Attention\n---\nEvery query looks at every key.\n",
    ),
    Code(
        "front-value",
        "A value in the front matter cannot be taken",
        """
The key is known, but not with such a value: a list where text belongs, a year that is no number, a page in `order`
that does not lie below, a key that is given twice. Only this value is left out; the rest of the front matter
counts.
""",
        wrong="---\npapers:\n- title: Attention Is All You Need\n  year: recent\n---\nHeads work side by side.\n",
        right="---\npapers:\n- title: Attention Is All You Need\n  year: 2017\n---\nHeads work side by side.\n",
    ),
    Code(
        "url-conflict",
        "Nothing can stand at this address",
        """
A page has one address and an address one page. Two sources claim this one: a module and a Markdown file of the same
name, a folder named like a language, an image where the site has a file of its own, or an old address in
`redirect_from` at which a page still stands. The first to claim it keeps it, and the other is not shown. Nor is a page
whose file would have too long a name: most file systems end at 255 bytes.

Rename one of the two, or take the address out of `redirect_from`.
""",
        wrong="---\nredirect_from: [attention.html]\n---\nThis page was once another.\n",
        right="---\nredirect_from: [focus.html]\n---\nThis page was once another.\n",
    ),
)
