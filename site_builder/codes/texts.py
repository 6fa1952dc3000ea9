"""
---
title: Codes of prose
summary: What can be wrong with links, notes and HTML in the text of a page.
---
# Codes of prose

They are found while a page is rendered, and stand at the character that the author typed.
"""

from __future__ import annotations

from site_builder.codes.model import Code

TITLE = "Prose"

CODES = (
    Code(
        "link-broken",
        "A link leads to nothing in the site",
        """
There is no page, no image or no section at the address, so the page is built without the link. `check` finds the
same in the finished pages, where a template or a piece of HTML asks for a script, a style or an image that the site
lacks.

An address is relative to the folder of the page that it stands on. What follows the `#` is best taken from the `¶`
beside the section: anchors come from the names in the code, so renaming a function changes them.
""",
        wrong="The scores come from [attention](atention.html).\n",
        right="The scores come from [attention](attention.html).\n",
    ),
    Code(
        "link-unknown-object",
        "A link names a module, class or function that the site does not show",
        """
A link may name what it means instead of where it stands, and then it survives when a file is moved. Its first part
is a package of this site; the rest was looked up as Python would do it, through imports and base classes, in vain.

Write the full dotted name as the code has it now. What the site does not show is linked by its address.
""",
        wrong="The scores come from [attend](example.attention.attends).\n",
        right="The scores come from [attend](example.attention.attend).\n",
    ),
    Code(
        "link-scheme",
        "A link of a kind that readers cannot follow",
        """
An address may begin with `https:`, `http:`, `mailto:`, `tel:` or `ftp:`. Others mean something on one machine only,
such as `file:`, or make the browser run something, such as `javascript:`.
""",
        wrong="The data is in [a file](file:///home/me/data.txt).\n",
        right="The data is in [a file](https://example.org/data.txt).\n",
    ),
    Code(
        "footnote-undefined",
        "A note is referred to and written nowhere",
        """
`[^why]` is the sign of a note whose text stands in a paragraph that begins with `[^why]:`. The prose of one
docstring or comment is one text: a note cannot stand in another.
""",
        wrong="The scores are scaled.[^why]\n",
        right="The scores are scaled.[^why]\n\n[^why]: Large ones leave the softmax without a gradient.\n",
    ),
    Code(
        "remote-load",
        "The page makes the reader's browser ask another site",
        """
An image or a script from elsewhere tells a stranger who reads which page, is missing where there is no network, and
is gone when the other site is. Pages load only what belongs to the site; a link, which the reader follows or not,
is fine.

Put a copy of the file beside the page, as far as its licence allows.
""",
        wrong="![The layers of the model](https://example.org/layers.svg)\n",
        right="![The layers of the model](layers.svg)\n",
    ),
    Code(
        "inline-script",
        "HTML in the prose would run a script that stands in the page",
        """
The site's security policy forbids scripts in the page itself, be they between `<script>` tags or in an attribute
such as `onclick`. So this one would never run.

HTML does much by itself: `<details>` opens and closes without a script. What needs one belongs to the theme, under
`static/`.
""",
        wrong='<button onclick="show()">Show the proof</button>\n',
        right="<details><summary>The proof</summary>It is short.</details>\n",
    ),
)
