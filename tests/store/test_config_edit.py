"""A setting is written into a configuration, and nothing else in it changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfs.core.errors import StoreError
from memfs.files.signatures import sign_file
from memfs.store import config, config_file
from memfs.store.blocks import Place


def changed(place: Place, text: str, value: str = "none") -> str:
    assert place.user
    path = Path(place.user.root, "config.yaml")
    path.write_bytes(text.encode())
    assert config_file.write(place.user, "embedding", value) == str(path)
    assert config.model(Place(None, place.user)).name == value
    return path.read_bytes().decode()


@pytest.mark.parametrize("value", ["none", "a/b", "/a folder/with: odd #names'\"", "~/ünï", "~"])
def test_what_is_written_is_read_again(place: Place, value: str) -> None:
    changed(place, "memfs: 1\n", value)


def test_comments_order_and_line_ends_stay(place: Place) -> None:
    text = "# mine\nmemfs: 1  # the version\n\nhooks:\n  recall: 2  # few\nembedding: a/b  # why\n# end\n"
    assert changed(place, text) == text.replace("a/b", "none")
    assert changed(place, text.replace("\n", "\r\n")) == text.replace("a/b", "none").replace(
        "\n", "\r\n"
    )
    assert changed(place, "memfs: 1\n# end\n") == "memfs: 1\n# end\nembedding: none\n"
    assert changed(place, "memfs: 1") == "memfs: 1\nembedding: none\n"


def test_what_is_there_already_is_not_written(place: Place) -> None:
    assert place.user
    path = Path(place.user.root, "config.yaml")
    path.write_text("memfs: 1\nembedding: none\n")
    before = sign_file(str(path))
    config_file.write(place.user, "embedding", "none")
    assert sign_file(str(path)) == before


@pytest.mark.parametrize(
    "text",
    ["memfs: 1\nhooks: [unclosed\n", "memfs: 1\na: 1\na: 2\n", "\ufeffmemfs: 1\n---\nx: 1\n"],
)
def test_a_file_that_cannot_be_read_is_left_alone(place: Place, text: str) -> None:
    assert place.user
    path = Path(place.user.root, "config.yaml")
    path.write_text(text)
    with pytest.raises(StoreError) as raised:
        config_file.write(place.user, "embedding", "none")
    assert raised.value.hint == "write the line into it yourself: embedding: none"
    assert path.read_text() == text


ENTRY: dict[str, object] = {"paths": ["docs"], "glob": ["*.md"], "chunk_size": 900}
WRITTEN = '  docs:\n    paths: ["docs"]\n    glob: ["*.md"]\n    chunk_size: 900\n'


def with_entry(place: Place, text: str, value: dict[str, object] | None = ENTRY) -> str:
    assert place.user
    path = Path(place.user.root, "config.yaml")
    path.write_bytes(text.encode())
    config_file.write_entry(place.user, "sources", "docs", value)
    return path.read_bytes().decode()


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("memfs: 1\n", f"memfs: 1\nsources:\n{WRITTEN}"),
        ("memfs: 1", f"memfs: 1\nsources:\n{WRITTEN}"),
        (
            "memfs: 1\nsources:\n# of whom?\nhooks: {recall: 2}\n",
            f"memfs: 1\nsources:\n{WRITTEN}# of whom?\nhooks: {{recall: 2}}\n",
        ),
        (
            "memfs: 1\nsources: {}  # none\nmax_blocks: 9\n",
            f"memfs: 1\nsources:  # none\n{WRITTEN}max_blocks: 9\n",
        ),
        (
            "memfs: 1\nsources:\n  a:  # mine\n    paths: [x]  # y\n# end\n",
            f"memfs: 1\nsources:\n  a:  # mine\n    paths: [x]  # y\n{WRITTEN}# end\n",
        ),
    ],
)
def test_an_entry_is_added_and_removed_and_all_else_stays(
    place: Place, text: str, after: str
) -> None:
    assert with_entry(place, text) == after
    assert config.parse(after)[0]["sources"]["docs"] == ENTRY  # type: ignore[index]
    ended = f"{text.rstrip()}\n".replace("\n", "\r\n")
    assert with_entry(place, ended) == after.replace("\n", "\r\n")
    gone = config.parse(with_entry(place, after, None))[0]
    before = config.parse(text)[0]
    assert gone == {key: each for key, each in before.items() if each}
    assert "# end" not in text or with_entry(place, after, None) == text


@pytest.mark.parametrize(
    "text", ["memfs: 1\nsources: {a: {paths: [x]}}\n", "memfs: 1\nsources: 5\n", "memfs: [\n"]
)
def test_an_entry_that_cannot_be_added_is_told(place: Place, text: str) -> None:
    with pytest.raises(StoreError) as raised:
        with_entry(place, text)
    assert 'sources: {"docs": {"paths": ["docs"]' in raised.value.hint
