"""Foreign docstrings: nothing is lost, nothing raises, nothing takes long."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from site_builder.prose.docstyles import to_markdown

# --- the docstrings of installed packages ---------------------------------------------------------------------------

STANDARD = Path(sysconfig.get_paths()["stdlib"])


def files(name: str) -> list[Path]:
    if name == "the standard library":
        found = (path for path in STANDARD.rglob("*.py") if "site-packages" not in path.parts)
    else:
        spec = find_spec(name)
        assert spec
        assert spec.origin
        found = Path(spec.origin).parent.rglob("*.py")
    return sorted(found)


def docstrings(path: Path) -> Iterator[tuple[str, str]]:
    """Where each docstring stands, and its text as typed, without its indentation."""
    source = path.read_bytes().decode("utf-8", "replace")
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return
    lines = re.split(r"(?<=\n)", source.replace("\r\n", "\n"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            literal = node.body[0].value if node.body and isinstance(node.body[0], ast.Expr) else None
            if isinstance(literal, ast.Constant) and isinstance(literal.value, str) and literal.end_lineno:
                typed = [line.encode() for line in lines[literal.lineno - 1 : literal.end_lineno]]
                typed[-1] = typed[-1][: literal.end_col_offset]
                typed[0] = typed[0][literal.col_offset :]
                text = b"".join(typed).decode().lstrip("rRuU")
                quotes = 3 if text.startswith(('"""', "'''")) else 1
                yield f"{path}:{literal.lineno}", inspect.cleandoc(text[quotes:-quotes])


# --- what of a docstring is for readers -----------------------------------------------------------------------------

WORD = re.compile(r"[A-Za-z]{4,}")
FIELD_NAMES = re.compile(
    r"^[ \t]*[:@](?:param|parameter|arg|argument|key|keyword|type|raises?|except|exception|[ic]?var|vartype|returns?|"
    r"rtype|meta private)\b",
    re.MULTILINE,
)
UNSEEN = re.compile(
    r"\.\. (?!\[)(?!\|?[A-Za-z][\w.+: |-]*::)|\.\. \||"
    r"\.\. (?:index|highlight|default-role|contents|role|currentmodule|meta)::"
)
DIRECTIVE = re.compile(r"(\s*)\.\. ([\w:+.-]+?) ?::(.*)")


def for_readers(text: str) -> str:
    """The text without markup: comments, names and options of directives, roles, and the targets of both."""
    kept: list[str] = []
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        depth = len(line) - len(line.lstrip())
        if UNSEEN.match(line.lstrip()) or line.strip() == "..":
            while at < len(lines) and (
                not lines[at].strip() or len(lines[at]) - len(lines[at].lstrip()) > depth
            ):
                at += 1
            continue
        if match := DIRECTIVE.fullmatch(line):
            is_code = match.group(2) in ("code", "code-block", "sourcecode", "raw")
            line = "" if is_code else match.group(1) + match.group(3)
            while at < len(lines) and re.match(r"\s+:[\w -]+:(\s|$)", lines[at]):
                at += 1
        kept.append(line)
    text = FIELD_NAMES.sub("", "\n".join(kept)).replace("\\mbox", "")
    text = re.sub(r":[\w:+.-]+:`[^`<]*?([^`<>]*?)\s*<[^`<>]*>`", r" \1 ", text)  # role with a title
    text = re.sub(r":[\w:+.-]+:`~[\w.:\[\]\s]*?(\w+(?:\(\))?)`", r" \1 ", text)  # role cut to its last name
    text = re.sub(r":[\w:+.-]+:(?=`)|(?<=`):[a-z]+:", " ", text)  # role
    text = re.sub(r"`([^`<>]*?)\s*<[^`<>]*_>`__?", r" \1 ", text)  # link to a target
    return re.sub(r"\[(`[^`]+`)\]\[[\w.]*\]", r" \1 ", text)  # reference of MkDocs


def lost(text: str) -> set[str]:
    """Words for readers that the Markdown does not hold."""
    words = set(WORD.findall(for_readers(text)))
    missing = words - set(WORD.findall(to_markdown(text) or text))
    return missing | (words - set(WORD.findall(to_markdown(text, "rest") or text)))


SMALL = ["jinja2", "markdown", "click", "pygments", "starlette", "griffe", "rich"]
LARGE = ["numpy", "torch", "the standard library"]
# Every so many files: enough of each style for each run, all of them in the exhaustive one.
STRIDES = {**dict.fromkeys(SMALL, 4), "numpy": 60, "torch": 200, "the standard library": 120}


@pytest.mark.parametrize(("package", "stride"), STRIDES.items())
def test_every_word_of_the_docstrings_of_real_packages_is_kept(package: str, stride: int) -> None:
    found = [doc for path in files(package)[::stride] for doc in docstrings(path)]
    print(f"{package}: {len(found)} docstrings")
    assert len(found) > 10
    assert {place: words for place, text in found if (words := lost(text))} == {}


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "package", ["numpy", "torch", "sympy", "networkx", "hypothesis", "the standard library"]
)
def test_every_word_of_all_docstrings_of_large_packages_is_kept(package: str) -> None:
    found = [doc for path in files(package) for doc in docstrings(path)]
    print(f"{package}: {len(found)} docstrings")
    assert {place: words for place, text in found if (words := lost(text))} == {}


# --- any text -------------------------------------------------------------------------------------------------------

words = st.sampled_from("quartz vellum zephyr knotty fjords bawdry glyphs jumble wizard sphynx".split())
forms = st.sampled_from(
    """
    %|%.|%:|%::|:param %: %|:param int %: %|:returns: %|:rtype: %|:% %: %|@param %: %|.. note:: %|.. note::|.. math:: %
    .. code-block:: %|.. %:: %|.. versionadded:: %|.. [1] %|.. image:: %.png|Args:|Returns:|Raises:|Example::|Note:
    Parameters|----------|==========|~~~~|Notes|% : %|% (%): %|%: %|- %|* %|*|1. %|#. %|(a) %|\\| % \\| % \\|
    \\| % |+----+----+|+====+====+|====  ====|%    %|>>> %|... %|```|```%|~~~|$$|$% %$|# %|> %|`%`|``%``|`%|:func:`%`
    :ref:`% <x>`|:unknown:`%`|`% <https://x.org/%>`_|%_|`%`_|[%](https://x.org)|[%][%.%]|<%>|*%|**%**|*%* %|_%_|__%__
    \\\\begin{align} %|\\\\%|&%;|\\|%\\||--% %|-% %|def %():|% = %(%)|import %|class %:|% -- %|@%|.. _%: https://x.org/%
    """.replace("\\|", "\0")
    .replace("\n", "|")
    .split("|")
)


@st.composite
def docstring(draw: st.DrawFn) -> str:
    """Lines of markup of every style, at any indentation, with words in them that no markup holds."""
    lines = []
    for form in draw(st.lists(forms, max_size=14)):
        line = form.strip().replace("\0", "|")
        while "%" in line:
            line = line.replace("%", draw(words), 1)
        lines.append(" " * draw(st.sampled_from([0, 0, 0, 2, 3, 4, 4, 8])) + line)
        lines.extend([""] * draw(st.sampled_from([0, 0, 1, 2])))
    return "\n".join(lines)


@given(docstring())
def test_no_mixture_of_styles_loses_a_word(text: str) -> None:
    # The names of directives and languages are markup, and so are the targets of references.
    text_for_readers = re.sub(r"\.\. _.*|\.\. (?:code-block:: )?\w+|```\w*|\[\w+\.\w+\]", "", text)
    for style in ("auto", "rest", "markdown"):
        assert set(WORD.findall(text_for_readers)) - MARKUP_WORDS <= set(
            WORD.findall(to_markdown(text, style) or text)
        )


MARKUP_WORDS = set(
    "param returns rtype note math code block versionadded image func unknown begin align https".split()
)


@given(st.text(max_size=400))
def test_no_text_at_all_raises(text: str) -> None:
    for style in ("auto", "rest", "markdown"):
        assert to_markdown(text, style) == to_markdown(text, style)


@given(st.text(alphabet="` \n:*_|.\\<>$[](){}-=+~#>0aA\"'\t&%@!", max_size=300))
def test_no_mixture_of_signs_raises(text: str) -> None:
    for style in ("auto", "rest", "markdown"):
        to_markdown(text, style)


# Pieces apart by spaces; `~` stands for a space, `\\n` for a line break.
HOSTILE = [
    piece.replace("~", " ").replace("\\n", "\n")
    for piece in r"""
    ` `` * **a _ _a~ [ [a]( ![ < <a <!-- $ $$ $a | |a : :a:` \ `a~< a_~ https:// & { ( ~ \n a~ a~~b\n
    -~ *~a\n 1.~ ::\n ::\n\n ..~ ..~a::\n ..~|a|~replace::\n ..~_a:\n ```\n ```a\n $$\n \begin{a}\n #~a\n
    Args:\n Args:\n~~a\n Args:\n~~~~a:~b\n :param~a:~b\n :a :a\n @param~a a\n-\n ---\n ===\n Parameters\n---\n
    +-+\n +--+--+\n ==~==\n ==~==\n\n |~a\n |a|\n|-|\n >>>~a\n >>>~a\n\n a\n~b\n a\n~~b\nc\n a:\n~~~~b\n
    a~--~b\n a:~b\n a:~b\n\n import~a\n
    """.split()
] + ["~~~\n", "\t"]


def seconds(piece: str, size: int, style: str) -> float:
    text = piece * (size // len(piece))
    start = time.process_time()
    to_markdown(text, style)
    return time.process_time() - start


@pytest.mark.exhaustive
@pytest.mark.parametrize("piece", HOSTILE, ids=repr)
def test_no_repetition_takes_long(piece: str) -> None:
    assert seconds(piece, 20_000, "auto") < 3


@pytest.mark.exhaustive
@pytest.mark.parametrize("style", ["auto", "rest"])
@pytest.mark.parametrize("piece", HOSTILE, ids=repr)
def test_no_long_repetition_takes_long(piece: str, style: str) -> None:
    assert seconds(piece, 200_000, style) < 20


def test_deep_indentation_ends_as_typed() -> None:
    text = "\n".join(" " * depth + f"word{depth}" for depth in range(600))
    assert "word599" in (to_markdown(text, "rest") or "")


# --- how it is used -------------------------------------------------------------------------------------------------


def test_plain_markdown_costs_no_parser() -> None:
    program = (
        "import sys; from site_builder.prose.docstyles import to_markdown;"
        "assert to_markdown('# A\\n\\nText with `code`, $x$ and\\n\\n* a list') is None;"
        "assert to_markdown(':param x: y'); print('griffe' in sys.modules);"
        "sys.modules.pop('griffe'); to_markdown('.. note:: No section.'); print('griffe' in sys.modules);"
        "assert to_markdown('Args:\\n    x (int): y'); print('griffe' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["True", "False", "False"]


def test_a_role_shows_the_object_that_it_names() -> None:
    text = ":class:`~pkg.mod.Class`, :func:`.helper` and :class:`other.Thing`; [`x`][pkg.mod.Class]"
    assert to_markdown(text) == "`Class`, `helper()` and `other.Thing`; `x`"


def test_a_style_can_be_forced_or_forbidden() -> None:
    assert to_markdown("Any *args", "markdown") is None
    assert to_markdown("A <file> of *args", "markdown") == "A &lt;file> of *args"
    assert to_markdown("$x$ and *args", "plain") == "$x$ and \\*args"
    with pytest.raises(ValueError, match="'markdwon' is none of auto, markdown"):
        to_markdown("", "markdwon")


def test_line_ends_and_tabs_of_any_kind_are_read() -> None:
    assert (
        to_markdown("Do.\r\n\r\n:param x: y\r\n\tmore\r\n")
        == "Do.\n\n**Parameters**\n\n* **`x`**: y\n    more"
    )
