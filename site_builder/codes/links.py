"""
---
title: Codes of the finished site
summary: "What `check` finds when it walks through the pages that were made."
---
# Codes of the finished site

They come from the [audit](../audit/index.html), which reads the files as they were made. A build does not ask for
them.
"""

from __future__ import annotations

from site_builder.codes.model import Code

TITLE = "The finished site"

CODES = (
    Code(
        "page-unreachable",
        "No way leads to a page",
        """
Whoever begins at the home page and follows links never comes here; only a search or a known address does. Templates
of the builder list every page, so mostly a template of the theme leaves out the list, the contents or the links to
neighbours.
""",
    ),
    Code(
        "link-external",
        "A link to another site leads nowhere",
        """
Only `check --external` asks. The other side answered that there is no such page (404) or no longer one (410), or
there is no such host, or nothing listens there. An answer that may be another one tomorrow, such as 429, 503 or
none in time, is told as *could not be checked* and is no fault.

Look for the page's new address, or link to an archived copy.
""",
    ),
)
