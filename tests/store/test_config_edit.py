"""A setting is written into a configuration, and nothing else in it changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfs.core.errors import StoreError
from memfs.files.signatures import sign_file
from memfs.store import config, config_edit
from memfs.store.blocks import Place


def changed(place: Place, text: str, value: str = "none") -> str:
    assert place.user
    path = Path(place.user.root, "config.yaml")
    path.write_bytes(text.encode())
    assert config_edit.write(place.user, "embedding", value) == str(path)
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
    config_edit.write(place.user, "embedding", "none")
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
        config_edit.write(place.user, "embedding", "none")
    assert raised.value.hint == "write the line into it yourself: embedding: none"
    assert path.read_text() == text
