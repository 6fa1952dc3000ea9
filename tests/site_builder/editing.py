"""A small project that is edited at random, and built both ways: upon what is there, and from nothing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from site_builder.cache import Store
from site_builder.config import MANIFEST, Config
from site_builder.site import Report, Shelf, build, pages, stores, workers

T = TypeVar("T")

SOURCES = (
    *("pkg/__init__.py", "pkg/a.py", "pkg/b.py", "pkg/sub/__init__.py", "pkg/sub/c.py", "pkg/loose/d.py"),
    *(
        "pkg/text.md",
        "pkg/sub/index.md",
        "pkg/sub/text.md",
        "pkg/ja/e.py",
        "pkg/index.py",
        "other/__init__.py",
    ),
)
FOLDERS = ("pkg/sub", "pkg/loose", "pkg/ja", "pkg/more", "pkg/sub/more")
IMAGES = ("pkg/dot.svg", "pkg/sub/dot.svg", "pkg/static/icon.png", "pkg/loose/dot.svg")
TITLES = ("Alpha", "Beta", "Gamma and $g$")
SUMMARIES = ("One to begin with.", "Two of them.", "")
SENTENCES = ("It adds.", "It scales by $s$.", "Nothing else is said.")
NAMES = ("add", "Adder", "Base", "scale")
LINKS = (
    *("pkg.a.add", "pkg.b.Base", "pkg.sub.c", "pkg.sub.Adder", "pkg.scale", "pkg.a.Adder.run", "other.add"),
    *(
        "a.html",
        "sub/c.html#add",
        "b.py",
        "text.md",
        "dot.svg",
        "sub/dot.svg",
        "nowhere.html",
        "a.html#nothing",
    ),
)
IMPORTS = (
    *("from pkg.a import add, Base", "from pkg.b import *", "import pkg.sub.c", "from pkg.sub import Adder"),
    *("from pkg import scale", "from .a import add", "from pkg.loose.d import scale as resize"),
)


def module(number: int, examples: bool = False) -> str:
    """The text of a module: everything that others can show of it, link to or import is one of a few things."""
    dice = Random(number)
    front = [f"title: {dice.choice(TITLES)}"] * dice.randint(0, 1)
    front += [f"summary: {dice.choice(SUMMARIES)}"] * dice.randint(0, 1)
    front += [f"order: [{dice.choice(['a, b', 'b, a', 'text', 'sub, nobody'])}]"] * dice.randint(0, 1)
    front += [f"redirect_from: [{dice.choice(['old/x.html', 'y.html', 'a.html'])}]"] * (dice.random() < 0.3)
    lines = [
        'r"""',
        *(["---", *front, "---"] if front else []),
        f"# {dice.choice(TITLES)}",
        "",
        f"{dice.choice(SENTENCES)} See [this]({dice.choice(LINKS)}) and [that]({dice.choice(LINKS)}).",
        *(f"![a dot]({dice.choice(['dot.svg', '../dot.svg'])})" for _ in range(dice.randint(0, 1))),
        '"""',
        *dice.sample(IMPORTS, dice.randint(0, 1 if examples else 2)),
        *(['__all__ = ["add", "Adder"]'] if dice.random() < 0.3 else []),
    ]
    for name in dice.sample(NAMES, dice.randint(0, 3)):
        lines += ["", f"# {dice.choice(SENTENCES)}"]
        if name[0].isupper():
            base = "" if name == "Base" else dice.choice(["", "(Base)", "(pkg.sub.c.Base)"])
            lines += [f"class {name}{base}:", f'    """It is [one]({dice.choice(LINKS)})."""']
            lines += ["    def run(self, a):", f"        return {dice.choice(NAMES)}(a)"]
        else:
            lines += [f"def {name}(a):"]
            if examples:
                lines += ['    """', f"    >>> {name}(2)", f"    {dice.choice([2, 4])}", '    """']
            lines += [f"    return a * {dice.choice([1, 2])}"]
    if dice.random() < 0.1:
        lines.append("def broken(:")
    return "\n".join(lines) + "\n"


def text(number: int) -> str:
    """The same of a page that is no module."""
    dice = Random(number)
    front = f"---\nsummary: {dice.choice(SUMMARIES)}\n---\n" if dice.random() < 0.5 else ""
    links = " ".join(f"[to]({link})" for link in dice.sample(LINKS, 3))
    return f"{front}# {dice.choice(TITLES)}\n\n{dice.choice(SENTENCES)} {links}\n"


def catalogue(number: int, lang: str, page: str) -> str:
    dice = Random(number)
    entries = [f'msgid ""\nmsgstr "Language: {lang}\\nContent-Type: text/plain; charset=utf-8\\n"\n']
    for place, sources in (("@title:1", TITLES), ("@summary:1", SUMMARIES), ("@intro:1", SENTENCES)):
        source = dice.choice(sources)
        if source:
            math = "$g$" if "$g$" in source else "$s$" if "$s$" in source else ""
            entries.append(
                f'#: {page}.html#{place}\nmsgid "{source}"\nmsgstr "{dice.choice(["訳", "別の訳"])}{math}"\n'
            )
    return "\n".join(entries) if dice.random() < 0.9 else 'msgid "broken\n'


CONFIGURATIONS: tuple[dict[str, Any], ...] = (
    {"title": "A site"},
    {"title": ""},
    {"description": "What it is about."},
    {"base_url": "https://example.org/site/"},
    {"base_url": ""},
    {"languages": ("en",)},
    {"languages": ("en", "ja")},
    {"languages": ("en", "de", "ja")},
    {"languages": ("en", "ja"), "translated": (("ja", ("pkg/sub/*", "pkg/a.py")),)},
    {"translated": ()},
    {"exclude": ("pkg/sub/*",)},
    {"exclude": ()},
    {"repository_url": "https://github.com/example/site"},
    {"source_url": "https://example.org/{path}#{line}"},
    {"theme": ""},
    {"theme": "theme"},
    {"packages": ("pkg", "other")},
    {"packages": ("other", "pkg")},
    {"packages": ("pkg",)},
    {"packages": ("pkg/a.py",)},
    {"example_options": ("ELLIPSIS",)},
    {"stale_limit": 3},
)


class Project:
    """Its files, its configuration, and the two ways to build it."""

    def __init__(self, folder: Path, *, examples: bool = False, keep: bool = False) -> None:
        self.folder, self.examples = folder, examples
        self.config = Config(
            root=folder,
            packages=("pkg",),
            output="site",
            languages=("en", "ja"),
            theme="theme",
            base_url="https://example.org/",
            execute=examples,
        )
        self.shelf = Shelf(stores.opened(self.config), keep=True) if keep else None
        for number, name in enumerate(SOURCES[:5]):
            self.write(name, module(number, examples))

    @property
    def output(self) -> Path:
        return self.folder / self.config.output

    def write(self, name: str, content: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")

    def build(self, jobs: int = 1, **changes: Any) -> Report:
        config = replace(self.config, **{key: value for key, value in changes.items() if key == "only"})
        config = replace(config, output=changes.get("output", config.output))
        with _few(jobs):
            if self.shelf and not changes:
                # As `serve` does: first what is known, then the rest.
                build(config, jobs=jobs, shelf=self.shelf, postpone=True)
            return build(config, jobs=jobs, shelf=self.shelf)

    def clean(self) -> tuple[dict[str, bytes], Report]:
        """What a process that knows of nothing makes in a folder that is not there."""
        shutil.rmtree(self.folder / "clean", ignore_errors=True)
        config = replace(self.config, output="clean", cache="")
        # Another process would read its own templates.
        before, pages._current = pages._current, {}
        report = build(config, shelf=Shelf(Store()), clean=True)
        pages._current = before
        return files(self.folder / "clean"), report

    # ---- what an author does

    def change(self, number: int) -> None:
        """A source is new or another."""
        name = pick(SOURCES, number)
        self.write(name, module(number, self.examples) if name.endswith(".py") else text(number))

    def improve(self, number: int) -> None:
        """One line of a source is another."""
        for path in self._some("pkg", (".py", ".md"), number):
            lines = path.read_text("utf-8").splitlines(keepends=True)
            spot = number % (len(lines) + 1)
            fresh = pick(["\n", "# More of it.\n", f"x = {number}\n", '"""\n', ""], number // 7)
            path.write_text("".join([*lines[:spot], fresh, *lines[spot + 1 :]]), "utf-8")

    def remove(self, number: int) -> None:
        for path in self._some("pkg", (".py", ".md", ".svg", ".png"), number):
            path.unlink()

    def rename(self, number: int) -> None:
        for path in self._some("pkg", (".py",), number):
            target = self.folder / pick([name for name in SOURCES if name.endswith(".py")], number // 3)
            target.parent.mkdir(parents=True, exist_ok=True)
            path.replace(target)

    def rename_folder(self, number: int) -> None:
        source, target = self.folder / pick(FOLDERS, number), self.folder / pick(FOLDERS, number // 5)
        if source.is_dir() and not target.exists() and source not in target.parents:
            target.parent.mkdir(parents=True, exist_ok=True)
            source.rename(target)

    def remove_folder(self, number: int) -> None:
        shutil.rmtree(self.folder / pick(FOLDERS, number), ignore_errors=True)

    def picture(self, number: int) -> None:
        self.write(pick(IMAGES, number), f"<svg xmlns='http://www.w3.org/2000/svg' id='i{number % 3}'/>")

    def configure(self, number: int) -> None:
        self.config = replace(self.config, **pick(CONFIGURATIONS, number))

    def configure_languages(self, *languages: str) -> None:
        self.config = replace(self.config, languages=languages)

    def translate(self, number: int) -> None:
        lang = pick(["ja", "ja", "de"], number // 5)
        page = pick(["index", "a", "b", "sub/index", "sub/c", "text"], number)
        self.write(f"translations/{lang}/{page}.po", catalogue(number, lang, page))

    def words(self, number: int) -> None:
        head = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n\n'
        entry = f'msgid "All pages"\nmsgstr "全{number % 3}"\n'
        name = pick(["ja", "de"], number)
        self.write(f"translations/{name}/_interface.po", head + pick([entry, "", 'msgid "x\n'], number // 2))

    def terms(self, number: int) -> None:
        good = '[[term]]\nsource = "adds"\nja = ["足"]\n' if number % 3 else ""
        self.write("translations/glossary.toml", pick([good, "[ja\n", "x = 1\n"], number))

    def dress(self, number: int) -> None:
        """A template or a static file of the theme."""
        name, content = pick(
            [
                ("templates/partials/foot.html", f"<p>Foot {number % 4}</p>\n"),
                ("templates/partials/foot.html", '{% include "note.txt" ignore missing %}\n'),
                ("templates/note.txt", f"Note {number % 4}"),
                ("templates/redirect.html", f"<p>{number % 4} {{{{ target }}}}</p>"),
                ("static/css/page.css", f"p {{ margin: {number % 4}px }}"),
                ("static/mine.txt", f"{number % 4}"),
            ],
            number,
        )
        self.write(f"theme/{name}", content)

    def undress(self, number: int) -> None:
        for path in self._some("theme", ("",), number):
            path.unlink()

    def find(self, number: int) -> None:
        """What tests found."""
        self.write(
            "tests/verified.json", pick(["{}", "{", '{"pkg.a": {"code": "0", "findings": []}}'], number)
        )

    # ---- what befalls the folders that a build writes

    def tamper(self, number: int) -> None:
        for path in self._some("site", ("",), number):
            if path.name != MANIFEST:
                pick(HARM, number // 11)(path)

    def lose(self, number: int) -> None:
        """The output or the cache is gone or damaged."""
        store = self.folder / self.config.cache / "store.sqlite"
        if number % 4 == 0:
            shutil.rmtree(self.output, ignore_errors=True)
        elif number % 4 == 1:
            shutil.rmtree(store.parent, ignore_errors=True)
        elif number % 4 == 2 and store.is_file():
            store.write_bytes(b"no database")
        elif store.is_file():
            data = bytearray(store.read_bytes())
            dice = Random(number)
            for _ in range(40):
                data[dice.randrange(len(data))] ^= 0xFF
            store.write_bytes(data)

    def other_build(self, number: int) -> None:
        """Somebody builds one language, or into another folder, or with another configuration."""
        changes: dict[str, Any] = pick(
            [
                {"only": ("ja",)},
                {"only": ("en",)},
                {"output": "elsewhere"},
                {"output": "elsewhere", "only": ("en",)},
            ],
            number,
        )
        if not set(changes.get("only", ())) - set(self.config.all_languages):
            self.build(**changes)

    def _some(self, folder: str, suffixes: tuple[str, ...], number: int) -> Iterator[Path]:
        """One of the files, if there is any."""
        found = sorted(
            path
            for path in (self.folder / folder).rglob("*")
            if path.is_file() and path.name.endswith(suffixes)
        )
        if found:
            yield pick(found, number)


def _copied(path: Path) -> None:
    """The same again, but another file to the system."""
    copy = path.with_name("copy")
    shutil.copy(path, copy)
    copy.replace(path)


HARM: tuple[Callable[[Path], object], ...] = (
    lambda path: path.write_bytes(path.read_bytes() + b"!"),
    lambda path: path.write_bytes(b""),
    lambda path: path.unlink(),
    lambda path: os.utime(path),
    _copied,
    lambda path: shutil.rmtree(path.parent) if path.parent.name != "site" else None,
)

EDITS: tuple[Callable[[Project, int], None], ...] = (
    *(Project.change, Project.change, Project.improve, Project.remove, Project.rename, Project.rename_folder),
    *(Project.remove_folder, Project.picture, Project.configure, Project.configure, Project.translate),
    *(Project.translate, Project.words, Project.terms, Project.dress, Project.undress, Project.find),
    *(Project.tamper, Project.tamper, Project.lose, Project.other_build),
)


def pick(choices: Sequence[T], number: int) -> T:
    return choices[number % len(choices)]


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@contextmanager
def _few(jobs: int) -> Iterator[None]:
    """More than one process even for so few pages."""
    before = workers.FEW
    workers.FEW = 2 if jobs > 1 else before
    try:
        yield
    finally:
        workers.FEW = before
