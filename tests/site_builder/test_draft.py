"""`translate draft`: a service on the loopback that answers well, badly, slowly or not at all."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from site_builder.config import Config, load
from site_builder.errors import SiteError
from site_builder.site import read
from site_builder.translate import drafts
from site_builder.translate.catalogue import Catalogue, Entry, Place
from site_builder.translate.catalogue import read as read_catalogue
from site_builder.translate.drafts.protecting import protect
from site_builder.translate.drafts.sending import post
from site_builder.translate.drafts.work import jobs
from site_builder.translate.glossary import Term

from .conftest import REPOSITORY, Builder, site_builder

KEY = "secret-of-one-person"


@dataclass
class Answer:
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


def chat(texts: dict[int, str]) -> Answer:
    said = json.dumps({"blocks": [{"id": number, "text": text} for number, text in texts.items()]})
    return Answer(body=json.dumps({"choices": [{"message": {"content": said}}]}).encode())


def blocks(body: Any) -> list[dict[str, Any]]:
    """What a request asks for."""
    return json.loads(body["messages"][1]["content"])["blocks"]


def well(body: Any) -> Answer:
    return chat({block["id"]: f"和訳 {block['text']}" for block in blocks(body)})


@dataclass
class Service:
    """Answers each request by the next of `script`, and well when that is at its end."""

    url: str = ""
    script: list[Callable[[Any], Answer]] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def asked(self) -> list[str]:
        return [block["text"] for body in self.bodies for block in blocks(body)]


@pytest.fixture
def service() -> Iterator[Service]:
    made = Service()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            made.bodies.append(body)
            made.headers.append(dict(self.headers))
            answer = (made.script.pop(0) if made.script else well)(body)
            try:
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body)
            except OSError:
                pass  # whoever asked has gone

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    made.url = f"http://127.0.0.1:{server.server_port}/v1/chat/completions"
    yield made
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def asking(tiny: Path, service: Service) -> Path:
    """The tiny site, which names the service."""
    file = tiny / "pyproject.toml"
    more = f'draft_provider = "openai"\ndraft_url = "{service.url}"\ndraft_model = "small"\n'
    file.write_text(file.read_text("utf-8") + more, "utf-8")
    (tiny / "translations" / "glossary.toml").write_text(
        '[[term]]\nsource = "sum"\nja = ["和"]\nnote = "As in mathematics."\n', "utf-8"
    )
    return tiny


def run(folder: Path, **more: Any) -> tuple[drafts.Drafted, list[drafts.Batch], list[float]]:
    """One run within this process: what it did, what it told, and how long it would have waited."""
    config = load(folder)
    told: list[drafts.Batch] = []
    waits: list[float] = []
    settings = replace(drafts.settings(config, {}), **more)
    done = drafts.draft(config, "ja", pages(config), settings, report=told.append, wait=waits.append)
    return done, told, waits


def pages(config: Config) -> list[Any]:
    return list(read(config).pages.values())


def catalogue(folder: Path, name: str = "sums") -> Catalogue:
    found, faults = read_catalogue(name, "ja", (folder / "translations" / "ja" / f"{name}.po").read_bytes())
    assert faults == ()
    assert found
    return found


def entry(folder: Path, source: str) -> Entry:
    return next(one for one in catalogue(folder).entries if one.source == source)


# --- the command -----------------------------------------------------------------------------------------


def test_what_is_missing_is_drafted_marked_and_counted_apart(
    asking: Path, service: Service, build: Builder
) -> None:
    edit = asking / "translations" / "ja" / "sums.po"
    edit.write_text(edit.read_text("utf-8").replace('msgstr "和"', 'msgstr "合計"'), "utf-8")
    done = site_builder("translate", "draft", "--lang", "ja", cwd=asking, env={"SITE_BUILDER_DRAFT_KEY": KEY})
    assert done.returncode == 0, done.stderr
    drafted = entry(asking, "Nothing is carried.")
    assert (drafted.text, drafted.flags, drafted.stale) == ("和訳 Nothing is carried.", ("machine",), False)
    assert entry(asking, "Sums").text == "合計"
    # Stale, and written by a person: for people.
    assert entry(asking, "Gives $a + b$.").stale

    table = site_builder("translate", "status", cwd=asking).stdout.splitlines()
    row = next(line.split() for line in table if line.startswith("sums"))
    assert row == ["sums", "4", "9", "1", "0", "28", "51", "1"]
    page = build(asking).read("ja/sums.html")
    assert re.search(r'<p[^>]*data-state="machine"[^>]*>和訳 Nothing is carried\.</p>', page)
    assert "lang" not in re.findall(r'<p([^>]*)data-state="machine"', page)[0]

    assert {one["Authorization"] for one in service.headers} == {f"Bearer {KEY}"}
    written = [path.read_text("utf-8") for path in (asking / "translations").rglob("*.po")]
    assert KEY not in "".join((done.stdout, done.stderr, *written))


def test_a_service_sees_no_formula_code_or_address_but_the_terms_that_a_batch_uses(
    asking: Path, service: Service
) -> None:
    done, _, _ = run(asking, batch=1)
    assert (done.refused, done.diagnostics) == (0, ())
    sent = " ".join(service.asked())
    assert not re.search(r"[`\[]|\$[a-z]|\.html", sent)
    assert entry(asking, "adds $b$ later").text == "和訳 adds $b$ later"
    essay = next(e for e in catalogue(asking, "essay").entries if e.source.startswith("See [the adder]"))
    assert essay.text == "和訳 See [the adder](tiny.sums.Adder) and [its call](sums.html#Adder.__call__)."
    terms = {body["messages"][1]["content"].partition('"glossary"')[2] for body in service.bodies}
    assert len(terms) == 2
    assert any("和" in one and "As in mathematics." in one for one in terms)


def test_a_dry_run_says_what_would_be_sent_and_sends_and_writes_nothing(
    asking: Path, service: Service
) -> None:
    files = {path: path.read_bytes() for path in (asking / "translations").rglob("*.po")}
    done = site_builder("translate", "draft", "--lang", "ja", "--dry-run", "--limit", "10", cwd=asking)
    assert done.returncode == 0, done.stderr
    assert "Nothing is carried." in done.stdout.splitlines()
    assert "10 blocks to draft; " in done.stderr
    assert f"characters would be sent to {service.url}; more is missing" in done.stderr
    assert service.bodies == []
    assert files == {path: path.read_bytes() for path in (asking / "translations").rglob("*.po")}


def test_an_interrupted_run_keeps_what_it_has_and_the_next_goes_on_from_there(
    asking: Path, service: Service
) -> None:
    reached, release = threading.Event(), threading.Event()

    def stuck(body: Any) -> Answer:
        reached.set()
        release.wait(60)
        return well(body)

    service.script = [well, well, stuck]
    process = subprocess.Popen(
        [sys.executable, "-m", "site_builder", "translate", "draft", "--lang", "ja", "--batch", "2"],
        cwd=asking,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    assert reached.wait(60)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    release.set()
    assert process.returncode == 130
    assert "4 blocks drafted; " in told
    before = service.asked()
    kept = before[:4]
    assert not list((asking / "translations").rglob("*.new"))

    done, _, _ = run(asking)
    later = service.asked()[len(before) :]
    assert not set(kept) & set(later)
    assert done.blocks == len(later)
    assert not any(
        e.text == "" for name in ("index", "sums", "essay") for e in catalogue(asking, name).entries
    )


# --- answers ---------------------------------------------------------------------------------------------


def test_a_bad_answer_is_asked_for_again_with_what_was_wrong(asking: Path, service: Service) -> None:
    def careless(body: Any) -> Answer:
        return chat(
            {block["id"]: re.sub(r"<[xg][^>]*>|</g>", "", block["text"]) + "和訳" for block in blocks(body)}
        )

    service.script = [well, careless]
    done, _, _ = run(asking, batch=3)
    assert done.refused == 0
    again = [block for body in service.bodies for block in blocks(body) if "fault" in block]
    assert {(block["last"], block["fault"]) for block in again} == {
        ("Begin with sums, or go straight to the function.和訳", '<g id="1"> is missing')
    }
    first = next(e for e in catalogue(asking, "index").entries if e.source.startswith("Begin"))
    assert first.text == "和訳 Begin with [sums](sums.html), or go straight to [the function](tiny.sums.add)."


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ('和は <x id="2"/>', '<x id="1"/> is missing'),
        ('<x id="1"/> 和 <x id="2"/> <x id="2"/>', '<x id="2"/> is there 2 times, not once'),
        ('<x id="1"/> 和 <x id="7"/>', '<x id="7"/> is not in the text'),
        ('<g id="1">和</g> <x id="2"/>', '<g id="1"> is not in the text'),
        ('<x id="1"/> 和 <x id="2"/></g>', "</g> stands without its beginning"),
        ('<x id="1"/> 和 <x id="2"/> $z$', "has a formula $z$ that is not in the source"),
        ('<x id="1"/> 和 <x id="2"/> <b onclick="x()">!</b>', "the translation brings onclick in <b>"),
        ('<x id="1"/> 合計 <x id="2"/>', "'sum' is 和 here, and this has none of it"),
        ('The sum of <x id="1"/> and <x id="2"/> is', "it is not translated"),
        (" ", "it is empty"),
    ],
)
def test_every_answer_is_held_to_the_rules_of_translations(answer: str, why: str) -> None:
    source = "The sum of $a$ and $b$ is"
    terms = (Term("sum", ("和",)),)
    (job,) = jobs(
        Catalogue("sums.po", "ja", (Entry(source, places=(Place("add", 0),)),)), terms, interface=False
    )
    with pytest.raises(ValueError, match=re.escape(why)):
        job.checked(answer)
    assert job.checked('<x id="2"/> と <x id="1"/> の和は') == "$b$ と $a$ の和は"


def test_what_is_answered_badly_twice_is_left_missing_with_a_note(asking: Path, service: Service) -> None:
    def answer(body: Any) -> Answer:
        return chat({b["id"]: re.sub(r"<x[^>]*>", "", f"和訳 {b['text']}") for b in blocks(body)})

    service.script = [answer] * 20
    done, told, _ = run(asking)
    assert done.refused == 1
    refused = entry(asking, "adds $b$ later")
    assert (refused.text, refused.flags) == ("", ())
    assert refused.comments == ('#. draft refused: <x id="1"/> is missing',)
    assert [line for batch in told for line in batch.refused] == ['adds $b$ later: <x id="1"/> is missing']

    # Asked again later and answered well, the note goes.
    service.script = []
    assert run(asking)[0].blocks == 1
    assert entry(asking, "adds $b$ later").comments == ()


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Answer(body=b"<html>busy</html>"), "the answer is not JSON"),
        (Answer(body=b'{"choices": []}'), "the answer is not the JSON that was asked for"),
        (Answer(body=b'{"choices": [{"message": {"content": "Here you are: ..."}}]}'), "not the JSON"),
        (chat({1: "一"}), "texts were asked for, and 1 came back"),
    ],
)
def test_an_answer_of_the_wrong_form_is_asked_for_once_more_and_spoils_only_its_batch(
    asking: Path, service: Service, answer: Answer, why: str
) -> None:
    service.script = [well, lambda body: answer, lambda body: answer]
    done, told, waits = run(asking)
    assert waits == []
    spoilt = [batch for batch in told if batch.refused]
    assert len(spoilt) == 1
    assert all(why in line for line in spoilt[0].refused)
    assert done.refused == len(spoilt[0].refused)
    assert done.blocks > 0


# --- a service that is busy, slow, or refuses -------------------------------------------------------------


def test_a_busy_service_is_asked_again_after_as_long_as_it_says(asking: Path, service: Service) -> None:
    date = "Fri, 31 Dec 9999 23:59:59 GMT"
    service.script = [
        lambda _: Answer(429, headers={"Retry-After": "7"}),
        lambda _: Answer(500),
        lambda _: Answer(503, headers={"Retry-After": date}),
        lambda _: Answer(529),
    ]
    done, _, waits = run(asking)
    assert waits == [7.0, 2.0, 120.0, 8.0]
    assert done.refused == 0


def test_a_service_that_says_nothing_is_asked_again(asking: Path, service: Service) -> None:
    given_up = threading.Event()

    def silent(body: Any) -> Answer:
        given_up.wait(60)
        return well(body)

    service.script = [silent]
    config = load(asking)
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        given_up.set()

    settings = replace(drafts.settings(config, {}), timeout=1.0)
    done = drafts.draft(config, "ja", pages(config), settings, report=lambda _: None, wait=wait)
    assert waits[0] == 1.0
    assert done.refused == 0
    assert done.blocks > 0


def test_a_service_that_stays_busy_ends_the_run_with_a_sentence_and_what_was_drafted_stays(
    asking: Path, service: Service
) -> None:
    service.script = [well, *([lambda _: Answer(503)] * 3)]
    with pytest.raises(SiteError, match="does not answer after 3 tries: 503"):
        run(asking, tries=3, batch=2)
    assert len([e for e in catalogue(asking, "_interface").entries if e.drafted]) == 2


@pytest.mark.parametrize(
    ("status", "headers", "hint"),
    [
        (401, {}, "look at the key"),
        (307, {"Location": "http://127.0.0.1:9/elsewhere"}, "no redirection is followed"),
        (404, {}, "draft_url"),
    ],
)
def test_a_refusal_is_final_and_never_repeats_the_key(
    service: Service, status: int, headers: dict[str, str], hint: str
) -> None:
    service.script = [lambda _: Answer(status, f"wrong key {KEY}".encode(), headers)]
    with pytest.raises(SiteError) as caught:
        post(service.url, {}, {"Authorization": f"Bearer {KEY}"}, timeout=5, tries=3)
    assert hint in str(caught.value)
    assert KEY not in str(caught.value)
    assert len(service.bodies) == 1


def test_settings_that_could_not_work_or_would_show_the_key_are_refused(tmp_path: Path) -> None:
    config = Config(tmp_path, draft_provider="openai", draft_model="small")
    with pytest.raises(SiteError, match="no service is named"):
        drafts.settings(Config(tmp_path), {})
    with pytest.raises(SiteError, match="asks for a key"):
        drafts.settings(config, {})
    with pytest.raises(SiteError, match="no model is named"):
        drafts.settings(replace(config, draft_model=""), {})
    with pytest.raises(SiteError, match="readable on its way"):
        drafts.settings(replace(config, draft_url="http://example.org/v1"), {"SITE_BUILDER_DRAFT_KEY": KEY})
    made = drafts.settings(config, {"SITE_BUILDER_DRAFT_KEY": KEY})
    assert made.url.startswith("https://api.openai.com/")
    assert KEY not in repr(made)


# --- limits ----------------------------------------------------------------------------------------------


def test_a_budget_is_kept_and_the_next_run_goes_on(asking: Path, service: Service) -> None:
    done, _, _ = run(asking, budget=2000, batch=4)
    sent = sum(len(json.dumps(body, ensure_ascii=False)) for body in service.bodies)
    assert done.spent
    assert 0 < sent == done.characters <= 2000
    first = service.asked()
    assert done.blocks == len(first)
    assert run(asking)[0].blocks == len(service.asked()) - len(first) > 0


def test_a_limit_counts_blocks(asking: Path, service: Service) -> None:
    done, _, _ = run(asking, limit=5, batch=2)
    assert (done.blocks, done.spent, len(service.asked())) == (5, True, 5)


def test_what_a_person_writes_while_the_run_goes_on_stays(asking: Path, service: Service) -> None:
    run(asking, limit=2)
    file = asking / "translations" / "ja" / "index.po"

    def meanwhile(body: Any) -> Answer:
        text = file.read_text("utf-8")
        file.write_text(
            text.replace('msgid "Tiny"\nmsgstr ""', '# By hand.\nmsgid "Tiny"\nmsgstr "小さい"'), "utf-8"
        )
        return well(body)

    service.script = [meanwhile]
    run(asking)
    found = next(e for e in catalogue(asking, "index").entries if e.source == "Tiny")
    assert (found.text, found.flags, found.comments) == ("小さい", (), ("# By hand.",))


def test_a_draft_of_an_older_text_is_drafted_anew_until_a_person_has_reviewed_it(
    asking: Path, service: Service
) -> None:
    run(asking)
    file, source = asking / "translations" / "ja" / "sums.po", asking / "tiny" / "sums.py"
    text = file.read_text("utf-8")
    reviewed = re.sub(r"#, machine\n(msgid \"An adder\")", r"\1", text)
    assert reviewed != text
    file.write_text(reviewed, "utf-8")
    source.write_text(
        source.read_text("utf-8")
        .replace("## An adder", "## An added adder")
        .replace("Nothing is", "Not one is"),
        "utf-8",
    )
    before = len(service.asked())
    run(asking)
    assert service.asked()[before:] == ["Not one is carried."]
    assert entry(asking, "An added adder").stale


# --- another way to ask ----------------------------------------------------------------------------------


def test_deepl_is_asked_in_its_own_words(asking: Path, service: Service) -> None:
    def deepl(body: Any) -> Answer:
        texts = [{"text": f"和訳 {text}"} for text in body["text"]]
        return Answer(body=json.dumps({"translations": texts}).encode())

    (asking / "tiny" / "more.py").write_text('"""\n# More\n\nCheap & good: $a < b$, a -> b.\n"""\n', "utf-8")
    service.script = [deepl] * 20
    config = load(asking)
    settings = drafts.settings(replace(config, draft_provider="deepl"), {"SITE_BUILDER_DRAFT_KEY": KEY})
    done = drafts.draft(config, "ja", pages(config), settings, report=lambda _: None)
    assert done.refused == 0
    assert service.headers[0]["Authorization"] == f"DeepL-Auth-Key {KEY}"
    body = next(body for body in service.bodies if any("Cheap" in text for text in body["text"]))
    assert (body["source_lang"], body["target_lang"], body["tag_handling"]) == ("EN", "JA", "xml")
    assert 'Cheap &amp; good: <x id="1"/>, a -&gt; b.' in body["text"]
    more = next(e for e in catalogue(asking, "more").entries if e.source.startswith("Cheap"))
    assert more.text == "和訳 Cheap & good: $a < b$, a -> b."


@pytest.mark.parametrize(
    "text",
    [
        "Plain.",
        r"Two\[not a link\] and a[0](x) \$5",
        "![a *picture*](x.png) beside [`code`](a.html#(x)) and <kbd>Ctrl</kbd> <https://a.example>",
        "[ref][name], a note[^1] and $\\frac{a}{b}$ in **bold `x`**",
        "unclosed [bracket and ] another",
        "a [titled](a.html \"title, too\") link and ![one](b.png  'title')",
        "two ``a ` b`` spans, one\\\nbreak",
    ],
)
def test_what_is_protected_comes_back_as_it_was(text: str) -> None:
    protected = protect(text)
    assert protected.restored(protected.shown) == text
    assert not re.search(r"[`$]|\]\(", re.sub(r"\\.", "", protected.shown).replace("a[0](x)", ""))
