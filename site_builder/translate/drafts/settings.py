"""
---
title: How drafts are asked for
summary: Which service, and how much of it; the key stands in the environment and nowhere else.
---
# How drafts are asked for

The service is named in `[tool.site_builder]`, so that everybody who works on a project asks the same one. Its key is a
secret of one person: it is read from `SITE_BUILDER_DRAFT_KEY` and neither printed nor written. It travels over
`https` only, but for a service on the same machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from site_builder.config import DRAFT_PROVIDERS, Config
from site_builder.errors import SiteError

KEY = "SITE_BUILDER_DRAFT_KEY"
_HERE = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Settings:
    """One service, and how far to go with it. `limit` counts blocks, `budget` characters sent; zero is no end."""

    provider: str
    url: str
    model: str = ""
    key: str = field(default="", repr=False)
    limit: int = 0
    budget: int = 0
    batch: int = 20
    """Blocks in one request."""
    timeout: float = 120.0
    tries: int = 6
    """How often a request is made that the service is too busy for."""


def settings(config: Config, environment: Mapping[str, str], *, dry: bool = False) -> Settings:
    """
    What the configuration and the environment say.

    Raises:
        SiteError: no service is named, or it cannot be asked like this.
    """
    provider, key = config.draft_provider, environment.get(KEY, "").strip()
    if not provider:
        raise SiteError(
            "no service is named that could draft translations",
            hint=f"set draft_provider in [tool.site_builder]: {' or '.join(DRAFT_PROVIDERS)}",
        )
    url = config.draft_url or _address(provider, key)
    if provider == "openai" and not config.draft_model:
        raise SiteError("no model is named", hint="set draft_model in [tool.site_builder], or --model")
    here = urlsplit(url).hostname in _HERE
    if not key and not here and not dry:
        raise SiteError(f"{url} asks for a key", hint=f"set {KEY} in the environment")
    if key and not here and urlsplit(url).scheme != "https":
        raise SiteError(f"the key would be readable on its way to {url}", hint="use an address with https://")
    return Settings(provider, url, config.draft_model, key)


def _address(provider: str, key: str) -> str:
    """DeepL tells the keys of its free service by their ending."""
    if provider == "deepl":
        return f"https://{'api-free' if key.endswith(':fx') else 'api'}.deepl.com/v2/translate"
    return "https://api.openai.com/v1/chat/completions"
