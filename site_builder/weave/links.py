"""
---
title: Links
summary: A link names a page, an object or another site; the first two are checked.
---
# Links

An author may write a link as the reader's browser would (`../mha.html#MultiHeadAttention`), as the file that the page
is made from (`mha.py`), or as the object that is meant (`labml_nn.transformers.mha.MultiHeadAttention`).
"""

from __future__ import annotations

import posixpath
from urllib.parse import unquote, urlsplit

from site_builder.discover import ASSET_SUFFIXES
from site_builder.index import href
from site_builder.lazy import regex
from site_builder.model import Page
from site_builder.prose import LinkError
from site_builder.weave.site import Site

SCHEMES = ("https", "http", "mailto", "tel", "ftp")

_DOTTED = regex(r"[^\W\d]\w*(\.[^\W\d]\w*)+")
_PAGES = (".html", ".py", ".md")


class Links:
    """Settles the links of one page."""

    def __init__(self, page: Page, lang: str, site: Site):
        self.page, self.lang, self.site = page, lang, site

    def settle(self, target: str) -> str:
        """
        The address to write for a link as the author wrote it.

        Raises:
            LinkError: nothing of the site answers to it.
        """
        try:
            parts = urlsplit(target)
        except ValueError as error:
            raise LinkError(
                "link-broken", f"{target!r} is no address", "brackets belong around an IPv6 address alone"
            ) from error
        if parts.scheme and parts.scheme not in SCHEMES and not target.startswith("data:image/"):
            raise LinkError(
                "link-scheme",
                f"a page cannot link to {parts.scheme}: addresses",
                f"{', '.join(SCHEMES)} are what a reader can follow",
            )
        if parts.scheme or parts.netloc or target.startswith("//"):
            return target
        path, anchor = unquote(parts.path), unquote(parts.fragment)
        if not path:
            return self._anchor(self.page.url, anchor, target)
        if _DOTTED.fullmatch(path) and not path.endswith(_PAGES) and self.site.knows(path.partition(".")[0]):
            return self._object(path)
        folder = posixpath.dirname(self.page.url)
        url = posixpath.normpath(posixpath.join(folder, path)) if not path.startswith("/") else path
        if self.site.has_image(url):
            # Pages stand once for each language, an image only once.
            return href(self.site.url(self.page.url, self.lang), url)
        for candidate in _candidates(url, path.endswith("/")):
            if self.site.has_page(candidate):
                return self._anchor(candidate, anchor, target)
        what = "image" if posixpath.splitext(url)[1].lower() in ASSET_SUFFIXES else "page"
        raise LinkError("link-broken", f"no {what} at {target!r}", self._hint(url))

    def _object(self, dotted: str) -> str:
        found = self.site.resolve(dotted)
        if found is None:
            raise LinkError(
                "link-unknown-object",
                f"nothing in the site is called {dotted!r}",
                "name a module, class, function or method by its full dotted name",
            )
        return self._relative(found.url, found.anchor)

    def _anchor(self, url: str, anchor: str, written: str) -> str:
        # Browsers take `#top` for the beginning of any page.
        if anchor.lower() in ("", "top"):
            return self._relative(url, anchor)
        place = self.site.place(url, anchor)
        if not place:
            near = self.site.nearest_anchor(url, anchor)
            hint = f"did you mean #{near}?" if near else "take the anchor from the section's own ¶ link"
            raise LinkError("link-broken", f"no section for {written!r}", hint)
        return self._relative(url, place)

    def _relative(self, url: str, anchor: str) -> str:
        return self.site.href(self.page.url, url, self.lang, anchor)

    def _hint(self, url: str) -> str:
        if near := self.site.nearest_page(url):
            return f"did you mean {href(self.page.url, near)!r}?"
        return "links are relative to the page's own folder"


def _candidates(url: str, is_folder: bool) -> list[str]:
    stem, dot, ending = url.rpartition(".")
    if url == ".":
        return ["index.html"]
    if is_folder or not dot or "/" in ending:
        return [f"{url}/index.html", f"{url}.html"]
    if ending == "py" and (stem == "__init__" or stem.endswith("/__init__")):
        return [f"{stem.removesuffix('__init__')}index.html"]
    return [f"{stem}.html"] if ending in ("py", "md", "html") else []
