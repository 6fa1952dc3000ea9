"""
---
title: Codes of readability
summary: "What `check` asks of a page so that everybody can find and read it."
---
# Codes of readability

A build says nothing of these: a page without a summary is a good page still. Whoever runs `check` wants to know.
"""

from __future__ import annotations

from site_builder.codes.model import Code

TITLE = "Titles and accessibility"

CODES = (
    Code(
        "title-missing",
        "A page has no title",
        """
It is shown under the name of its file, in lists, in the browser's tab and in search results. Give it one: `title`
in the front matter, or a heading with one `#` at the beginning.
""",
        wrong='"""Every query looks at every key."""\n',
        right='"""\n# Attention\n\nEvery query looks at every key.\n"""\n',
        form="python",
    ),
    Code(
        "summary-missing",
        "A page has no summary",
        """
The summary stands below the title, beside the page's name in lists, and in the results of search engines. Without
one, the first sentence is taken if it is short, and it was seldom written for that. One sentence under `summary` in
the front matter says what a reader will find.
""",
        wrong="# Attention\n\nSuppose that we have a query.\n",
        right="---\nsummary: How a query finds what it looks for.\n---\n# Attention\n\nSuppose we have a query.\n",
    ),
    Code(
        "image-alt",
        "An image has no words",
        """
Who cannot see the image, or whose network is slow, gets the words in its place: what is to be seen, not that it is
an image. In HTML an image that only decorates has `alt=""`; in Markdown every image needs words.
""",
        wrong="![](layers.svg)\n",
        right="![Attention below, the feed-forward network above](layers.svg)\n",
    ),
    Code(
        "heading-skip",
        "A heading skips a level",
        """
Who listens to a page goes through it by its headings, and a jump from the first level to the third sounds as if a
part were missing. The page's title is the first level; what follows begins with `##`.
""",
        wrong="# Attention\n\n### Why it is scaled\n\nLarge scores have small gradients.\n",
        right="# Attention\n\n## Why it is scaled\n\nLarge scores have small gradients.\n",
    ),
    Code(
        "heading-empty",
        "A heading has no words",
        """
It leaves a gap in the page and an empty line in its contents. Write its words or remove the `#`. A separation
without words is a line of three hyphens.
""",
        wrong="# Attention\n\n##\n\nLarge scores have small gradients.\n",
        right="# Attention\n\n---\n\nLarge scores have small gradients.\n",
    ),
    Code(
        "link-empty",
        "A link has no words",
        """
There is nothing to click on, and who listens to the page hears only an address. Write where the link leads; an
image inside a link needs words of its own.
""",
        wrong="Scores come from [](attention.html).\n",
        right="Scores come from [attention](attention.html).\n",
    ),
)
