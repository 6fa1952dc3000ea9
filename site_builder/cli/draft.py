"""
---
title: translate draft
summary: The command that lets a machine fill what is missing, for people to review.
---
# `translate draft`

What would be sent can be seen before anything is (`--dry-run`), and how much may be sent is up to whoever pays for it.
The work itself is done in [drafts](site_builder.translate.drafts).
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console

from site_builder.cli.console import COLOURS, console, count, show
from site_builder.cli.translating import chosen, pages_of
from site_builder.config import DRAFT_PROVIDERS, Config, validate

if TYPE_CHECKING:
    from site_builder.translate.drafts import Batch, Drafted, Settings


@click.command()
@click.option("--lang", required=True, help="The language to translate into.")
@click.option(
    "--provider", type=click.Choice(DRAFT_PROVIDERS), help="Whom to ask.  [default: draft_provider]"
)
@click.option("--url", help="The address to ask.  [default: draft_url, else the provider's own]")
@click.option("--model", help="The model to ask.  [default: draft_model]")
@click.option("--limit", type=click.IntRange(min=1), help="Draft so many blocks at most.")
@click.option("--budget", type=click.IntRange(min=1), help="Send so many characters at most.")
@click.option("--batch", type=click.IntRange(1, 100), default=20, show_default=True, help="Blocks a request.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.1),
    default=120,
    show_default=True,
    help="Seconds to wait for one answer.",
)
@click.option("-n", "--dry-run", is_flag=True, help="Only show what would be sent.")
@click.option("-v", "--verbose", is_flag=True, help="Show tracebacks.")
@click.option("--color", type=click.Choice(COLOURS), default="auto", show_default=True)
def draft(
    lang: str,
    provider: str | None,
    url: str | None,
    model: str | None,
    limit: int | None,
    budget: int | None,
    batch: int,
    timeout: float,
    dry_run: bool,
    verbose: bool,
    color: str,
) -> int:
    """Let a machine translate the blocks that have no translation yet.

    The service gets the text of each block with math, code and links taken out, and the terms of the glossary. Its key
    is read from SITE_BUILDER_DRAFT_KEY. A draft is marked as one until somebody has reviewed it and has taken the flag
    `machine` out of the PO file. Each batch is written at once: interrupted, the command goes on where it stopped.
    """
    from site_builder.translate import drafts

    out = console(color)
    config, languages = chosen((lang,))
    config = replace(
        config,
        draft_provider=provider or config.draft_provider,
        draft_url=url or ("" if provider else config.draft_url),
        draft_model=model or config.draft_model,
    )
    validate(config)
    asked = drafts.settings(config, os.environ, dry=dry_run)
    asked = replace(asked, limit=limit or 0, budget=budget or 0, batch=batch, timeout=timeout)
    done = drafts.Drafted()
    for code in (code for code in languages if code == lang):
        try:
            drafts.draft(
                config,
                code,
                pages_of(config),
                asked,
                report=lambda one: _tell(out, config, one, color),
                done=done,
                dry=dry_run,
            )
        finally:
            show(out, done.diagnostics, as_errors=True)
            out.print(_summary(done, asked, dry_run))
    return 1 if done.refused or done.diagnostics else 0


def _tell(out: Console, config: Config, batch: Batch, color: str) -> None:
    name = (Path(config.translations) / batch.name).as_posix()
    if batch.texts:
        terms = f"; terms: {', '.join(batch.terms)}" if batch.terms else ""
        out.print(f"{name}: {count(batch.drafted, 'block')}{terms}")
        for text in batch.texts:
            console(color, stderr=False).print(text)
        return
    out.print(f"{name}: {count(batch.drafted, 'block')} drafted")
    for refused in batch.refused:
        out.print(f"{name}: left missing: {refused}")


def _summary(done: Drafted, asked: Settings, dry: bool) -> str:
    sent = f"{count(done.characters, 'character')} {'would be sent' if dry else 'sent'} to {asked.url}"
    blocks = f"{count(done.blocks, 'block')} {'to draft' if dry else 'drafted'}"
    refused = f", {done.refused:,} refused" if done.refused else ""
    rest = "; more is missing: the limit or the budget is reached" if done.spent else ""
    counted = f"; {count(done.counted, 'text')} with plural forms left to people" if done.counted else ""
    return f"{blocks}{refused}; {sent}{counted}{rest}"
