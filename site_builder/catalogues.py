"""
---
title: Names of catalogues
summary: What the files of translators are called, for whoever reads them or only asks whether they have changed.
---
# Names of catalogues

A translator finds the catalogue of a page by the address of that page. What templates say has one of its own.
"""

from __future__ import annotations

INTERFACE = "_interface.po"
GLOSSARY = "glossary.toml"


def path_of(lang: str, page_url: str) -> str:
    """
    The catalogue of a page, relative to the folder of catalogues.

    >>> path_of("ja", "transformers/mha.html")
    'ja/transformers/mha.po'
    """
    return f"{lang}/{page_url.removesuffix('.html')}.po"
