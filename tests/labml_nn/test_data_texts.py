"""The texts by their names. Nothing is downloaded: what would be, is asked for and checked."""

import hashlib
from pathlib import Path
from pydoc_data.topics import topics

import pytest

from labml_nn.data import load
from labml_nn.data import texts as page
from labml_nn.data.download import DownloadError


def test_the_default_text_comes_with_python() -> None:
    dataset = load("pydoc_topics")
    assert dataset.name == "pydoc_topics"
    text = dataset.train_text + dataset.valid_text
    assert dataset.sha256 == hashlib.sha256(text.encode()).hexdigest()
    assert len(dataset.valid) == len(text) // 10
    assert len(text) > 300_000


def test_it_holds_every_paragraph_of_the_topics_once_and_in_order() -> None:
    dataset = load("pydoc_topics")
    paragraphs = (dataset.train_text + dataset.valid_text).removesuffix("\n").split("\n\n")
    seen: list[str] = []
    known: set[str] = set()
    for name in sorted(topics):
        for paragraph in topics[name].strip("\n").split("\n\n"):
            if paragraph not in known:
                known.add(paragraph)
                seen.append(paragraph)
    assert paragraphs == seen


def test_no_paragraph_of_the_validation_part_stands_in_the_training_part() -> None:
    dataset = load("pydoc_topics")
    # The first one was cut through, so it is not a paragraph.
    known = set(dataset.train_text.split("\n\n"))
    assert not known & set(dataset.valid_text.split("\n\n")[1:])


def test_its_validation_part_needs_hardly_a_character_that_training_lacks() -> None:
    dataset = load("pydoc_topics")
    assert (dataset.valid == 0).double().mean() < 1e-3


def test_the_same_name_gives_the_same_text() -> None:
    assert load("pydoc_topics").sha256 == load("pydoc_topics").sha256


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("tiny_shakespear", "did you mean 'tiny_shakespeare'"),
        ("pydoc", "did you mean 'pydoc_topics'"),
        ("", "there are pydoc_topics, tiny_shakespeare"),
        ("wikipedia", "there are pydoc_topics, tiny_shakespeare"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_or_all(name: str, hint: str) -> None:
    with pytest.raises(ValueError, match=f"no text '{name}'; {hint}"):
        load(name)


def test_tiny_shakespeare_is_asked_for_at_its_address_with_size_and_checksum(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = []

    def download(url: str, target: Path, **expected: object) -> Path:
        asked.append((url, expected))
        # Line ends stay as they are, on any system.
        target.write_bytes(b"First Citizen:\r\nSpeak, speak.\n" * 20)
        return target

    monkeypatch.setattr(page, "download", download)
    dataset = load("tiny_shakespeare", cache_dir=tmp_path)
    assert asked == [
        (
            "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt",
            {
                "sha256": "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
                "size": 1_115_394,
            },
        )
    ]
    assert (tmp_path / "tiny_shakespeare.txt").exists()
    assert dataset.train_text.startswith("First Citizen:\r\nSpeak")


def test_offline_the_error_says_where_to_put_tiny_shakespeare(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def offline(*_: object, **__: object) -> None:
        raise OSError("Network is unreachable")

    monkeypatch.setattr("urllib.request.urlopen", offline)
    monkeypatch.setenv("ANNOTATED_NN_DATA", str(tmp_path))
    with pytest.raises(DownloadError) as caught:
        load("tiny_shakespeare")
    for part in ("unreachable", str(tmp_path / "tiny_shakespeare.txt"), "1115394 bytes", "86c4e6aa"):
        assert part in str(caught.value)
    assert list(tmp_path.iterdir()) == []
