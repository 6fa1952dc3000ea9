"""
---
title: Audit
summary: A walk through the finished site, from its home page on, as a browser would see it.
order: [addresses, inside, places, outside, asking]
---
# Audit

Links that an author wrote are settled while a page is woven. What is made of all that, with templates, styles and a
theme, can still be wrong in other ways: an image that is not there, a page to which nothing leads. So the finished
files are read again, one at a time, [inside](inside.html) the site; and [outside](outside.html) of it, only when
asked to, each address once.
"""

from __future__ import annotations

from site_builder.audit.inside import Audited, inside
from site_builder.audit.outside import Asked, Unchecked, outside

__all__ = ["Asked", "Audited", "Unchecked", "inside", "outside"]
