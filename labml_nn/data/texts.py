r"""
---
title: Texts
summary: One text that every machine has, and one that is worth a download.
---
# Texts

A page that begins with a download ends, for some readers, right there. So the text that the
experiments use by default comes with Python itself: what `help()` tells about the language,
from `pydoc_data.topics`. It is English prose, grammar rules, tables and interactive sessions,
a few hundred thousand characters of them.

>>> dataset = load("pydoc_topics")
>>> dataset.train_text[:25]
'The "assert" statement\n**'

Each version of Python has its own edition. A loss can be compared with another only if both
were measured on the same text, and that is what the dataset's `sha256` is for.

[Tiny Shakespeare](https://github.com/karpathy/char-rnn) is the other one: 1,115,394 characters
from the plays, which Andrej Karpathy put together in 2015. On this one a loss can be compared
with the world outside: [nanoGPT](https://github.com/karpathy/nanoGPT) cuts it at the same
tenth (to a character), and its README names 1.47. The file is fetched once, and
[checked](download.html) at each use.
"""

import difflib
from collections.abc import Callable
from pathlib import Path

from labml_nn.data.characters import CharacterDataset
from labml_nn.data.download import cache_folder, download


def load(name: str, cache_dir: str | Path | None = None) -> CharacterDataset:
    r"""
    ## A text by its name

    The last tenth is [kept apart](labml_nn.data.characters.CharacterDataset). `cache_dir` is
    where downloads are kept, if not in [the usual place](labml_nn.data.download.cache_folder).

    >>> load("pydoc_topic")
    Traceback (most recent call last):
        ...
    ValueError: there is no text 'pydoc_topic'; did you mean 'pydoc_topics'?
    """
    if name not in TEXTS:
        near = difflib.get_close_matches(name, TEXTS, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(TEXTS)}"
        raise ValueError(f"there is no text {name!r}; {hint}")
    text = TEXTS[name](cache_folder() if cache_dir is None else Path(cache_dir))
    return CharacterDataset.of(name, text)


def pydoc_topics(_: Path) -> str:
    r"""
    ## What Python says about itself

    The topics in the order of their names, and each paragraph only the first time.

    **Why only the first time?** Many topics are parts of others. All that the one on mutable
    sequence types says stands in the one on sequence types as well. Here is a paragraph of it:

    >>> from pydoc_data.topics import topics
    >>> topics["typesseq-mutable"].split("\n\n")[2] in topics["typesseq"]
    True

    Such repetitions make up about a fifth of the text. Cut it in two, and the validation
    part holds passages that the model has learned by heart. Some of its loss would then be a
    test of memory, and the larger the model, the more it would seem to have understood.

    Here is the text with its repetitions. Of the paragraphs in its last tenth, some stand in
    the first nine tenths as well (very short ones left aside). Without the repetitions there
    are none:

    >>> def known(text):
    ...     cut = len(text) * 9 // 10
    ...     before = set(text[:cut].split("\n\n"))
    ...     after = text[cut:].split("\n\n")
    ...     return sum(len(p) for p in after if len(p) > 40 and p in before)
    >>> known("\n\n".join(topics[name] for name in sorted(topics))) > 1000
    True
    >>> known(pydoc_topics(Path()))
    0

    What is left over for validation begins with the types of the standard library:
    dictionaries, methods, sequences. The last topics are `while`, `with` and `yield`.
    """
    from pydoc_data.topics import topics

    text = "\n\n".join(topics[name].strip("\n") for name in sorted(topics))
    # A dictionary keeps the order in which its keys first came.
    return "\n\n".join(dict.fromkeys(text.split("\n\n"))) + "\n"


def tiny_shakespeare(cache_dir: Path) -> str:
    r"""
    ## A part of Shakespeare

    Speeches, each under the name of who speaks it.
    """
    path = download(
        "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/"
        "tinyshakespeare/input.txt",
        cache_dir / "tiny_shakespeare.txt",
        sha256="86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
        size=1_115_394,
    )
    return path.read_bytes().decode("utf-8")


TEXTS: dict[str, Callable[[Path], str]] = {
    "pydoc_topics": pydoc_topics,
    "tiny_shakespeare": tiny_shakespeare,
}
