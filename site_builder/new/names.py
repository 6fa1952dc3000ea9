"""
---
title: What a project is called
summary: A folder's name becomes a package, a distribution and a title, or an objection with a proposal.
---
# What a project is called

An author thinks of one name, that of the folder. The package, the distribution and the title follow from it:

    >>> names = choose("My-Notes")
    >>> names.package, names.distribution, names.title
    ('my_notes', 'my-notes', 'My notes')

The package must be importable, and must not stand where another is already imported from. So not every folder lends
its name; the message then says which name would do.
"""

from __future__ import annotations

import importlib.util
import keyword
import re
import sys
import unicodedata
from dataclasses import dataclass
from importlib import metadata

from site_builder.errors import SiteError

# What tools read and write beside the package, and what they take for no source.
_TAKEN = frozenset({"build", "dist", "docs", "node_modules", "tests", "translations", "venv"})


@dataclass(frozen=True, slots=True)
class Names:
    """All that follows from the package's name."""

    package: str

    @property
    def distribution(self) -> str:
        return self.package.replace("_", "-")

    @property
    def title(self) -> str:
        return self.package.replace("_", " ").capitalize()


def choose(text: str) -> Names:
    """The names that follow from a folder's; raises `SiteError` with another where there are none."""
    package = spelt(text)
    if found := objection(package):
        raise SiteError(
            f"{text!r} gives a package no name: {found}", hint=f"say --name {_proposal(package)}, for one"
        )
    return Names(package)


def spelt(text: str) -> str:
    """
    As packages are spelt: small letters without accents, digits, single underscores between words.

    >>> [spelt(text) for text in ("My-Notes", "MyNotes", "Résumé 2", "…")]
    ['my_notes', 'my_notes', 'resume_2', '']
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", plain)
    return "_".join(re.findall("[a-z0-9]+", apart.lower()))


def objection(package: str) -> str:
    """
    What speaks against the name, or nothing.

    >>> objection("3d")
    'a name begins with a letter'
    >>> objection("class")
    "'class' is a word of Python's own"
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", package):
        return "a name begins with a letter"
    if keyword.iskeyword(package):
        return f"{package!r} is a word of Python's own"
    if package in sys.stdlib_module_names:
        return f"{package!r} is a module of Python's own"
    if package in _TAKEN:
        return f"a folder {package!r} means something else to the tools"
    return _installed(package)


def _installed(package: str) -> str:
    spec = importlib.util.find_spec(package)
    # A folder that happens to have the name is a spec too, but one without a file.
    if spec and spec.origin:
        return f"{package!r} is already imported from {spec.origin}"
    try:
        found = metadata.distribution(package)
    except metadata.PackageNotFoundError:
        return ""
    return f"{package!r} is installed already, as {found.name} {found.version}"


def _proposal(package: str) -> str:
    """
    >>> [_proposal(name) for name in ("class", "2024_notes", "2024", "")]
    ['class_notes', 'notes_2024', 'notes_2024', 'my_notes']
    """
    turned = re.sub(r"^(\d+)_?(.*)$", r"\2_\1", package).strip("_")
    candidates = (turned, f"{turned}_notes", f"notes_{turned}")
    return next((name for name in candidates if not objection(name)), "my_notes")
