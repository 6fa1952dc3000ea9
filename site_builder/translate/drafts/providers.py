"""
---
title: Two ways to ask
summary: OpenAI's chat completions, which many services and local servers speak, and DeepL.
---
# Two ways to ask

A provider makes the body of a request from texts and terms, and texts from the body of an answer. It knows nothing of
networks, so either can be tried with plain values.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from site_builder.translate.drafts.settings import Settings
from site_builder.translate.glossary import Term


@dataclass(frozen=True, slots=True)
class Question:
    """A protected text, and what was wrong with the last answer to it."""

    text: str
    last: str = ""
    fault: str = ""


class BadAnswerError(ValueError):
    """An answer that cannot be used; the message says why."""


class Provider(Protocol):
    """One way to ask."""

    def headers(self) -> Mapping[str, str]: ...

    def body(self, questions: Sequence[Question], terms: Sequence[Term]) -> Any: ...

    def answers(self, body: Any, count: int) -> Sequence[str]:
        """
        Raises:
            BadAnswerError: it is not what was asked for.
        """
        ...


def provider(settings: Settings, source_lang: str, lang: str) -> Provider:
    made = Chat if settings.provider == "openai" else DeepL
    return made(settings, source_lang, lang)


_INSTRUCTIONS = """\
You translate documentation of deep-learning code from {source} to {target} (BCP 47 tags), as a native speaker \
who knows the field would write it: natural word order, polite written style, no explanations of your own.
You get JSON: "blocks" of Markdown text with an "id" each, and the "glossary", which is binding: where a block uses a \
term, use one of its words.
<x id="…"/> stands for a formula, code or a tag: keep each exactly once, wherever your sentence needs it. \
<g id="…">…</g> is a link: keep it and translate the words inside. Keep emphasis marks.
A block with "fault" was answered with "last" before, and that was wrong for the reason given: answer it anew.
Answer with nothing but JSON: {{"blocks": [{{"id": 1, "text": "…"}}, …]}}, every id once."""


@dataclass(frozen=True)
class Chat:
    settings: Settings
    source_lang: str
    lang: str

    def headers(self) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {self.settings.key}"} if self.settings.key else {}

    def body(self, questions: Sequence[Question], terms: Sequence[Term]) -> Any:
        blocks = [
            {"id": number, "text": one.text} | ({"last": one.last, "fault": one.fault} if one.fault else {})
            for number, one in enumerate(questions, 1)
        ]
        asked = {"blocks": blocks, "glossary": {term.source: _decided(term) for term in terms}}
        return {
            "model": self.settings.model,
            "messages": [
                {
                    "role": "system",
                    "content": _INSTRUCTIONS.format(source=self.source_lang, target=self.lang),
                },
                {"role": "user", "content": json.dumps(asked, ensure_ascii=False)},
            ],
        }

    def answers(self, body: Any, count: int) -> Sequence[str]:
        try:
            said = body["choices"][0]["message"]["content"]
            fenced = re.fullmatch(r"\s*```\w*\n(.*?)\n?```\s*", said, re.DOTALL)
            blocks = json.loads(fenced[1] if fenced else said)["blocks"]
            found = {int(block["id"]): block["text"] for block in blocks}
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise BadAnswerError("the answer is not the JSON that was asked for") from error
        return _all([found.get(number) for number in range(1, count + 1)], count, len(found))


@dataclass(frozen=True)
class DeepL:
    settings: Settings
    source_lang: str
    lang: str

    def headers(self) -> Mapping[str, str]:
        return {"Authorization": f"DeepL-Auth-Key {self.settings.key}"} if self.settings.key else {}

    def body(self, questions: Sequence[Question], terms: Sequence[Term]) -> Any:
        body = {
            "text": [_as_xml(one.text) for one in questions],
            "source_lang": self.source_lang.partition("-")[0].upper(),
            "target_lang": self.lang.upper(),
            "tag_handling": "xml",
            "preserve_formatting": True,
        }
        notes = [f"{term.source} = {' / '.join(term.words)}" for term in terms if term.words]
        notes += [one.fault for one in questions if one.fault]
        return body | ({"context": "; ".join(notes)} if notes else {})

    def answers(self, body: Any, count: int) -> Sequence[str]:
        try:
            found = [html.unescape(one["text"]) for one in body["translations"]]
        except (LookupError, TypeError, AttributeError) as error:
            raise BadAnswerError("the answer has no list of translations") from error
        return _all(found, count, len(found))


def _all(texts: Sequence[object], count: int, given: int) -> Sequence[str]:
    """As many texts as were asked for, and nothing else."""
    good = [text for text in texts if isinstance(text, str)]
    if len(good) != count or given != count:
        raise BadAnswerError(f"{count} texts were asked for, and {given} came back")
    return good


def _decided(term: Term) -> dict[str, Any]:
    """What is decided of a term, for a model that can read why."""
    known = {"words": list(term.words), "avoid": list(term.avoid), "note": term.note}
    return {name: value for name, value in known.items() if value}


def _as_xml(text: str) -> str:
    """The text with only the placeholders as elements."""
    parts = re.split(r'(<x id="\d+"/>|<g id="\d+">|</g>)', text)
    return "".join(
        part if number % 2 else html.escape(part, quote=False) for number, part in enumerate(parts)
    )
