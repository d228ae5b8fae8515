"""Block files that are too large, no files, or not to be read."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from memfs.core.body_edits import Append
from memfs.core.records import Origin
from memfs.ops import brief, edit, history, show
from memfs.store.blocks import Place
from tests.ops.test_doctor import HEAD, Write, mended, rejected, wrong


def test_a_file_that_is_too_large_is_shown_from_its_beginning(
    place: Place, home: Path, block_file: Write
) -> None:
    path = block_file("big", f"{HEAD}---\nthe beginning\n")
    with path.open("r+b") as handle:
        handle.truncate(3 << 30)
    session = Place(place.project, place.user, "s")
    shown = brief.start(session).context
    assert "(this is its beginning: its file has 3,221,225,472 bytes; run memfs doctor)" in shown
    assert "the beginning" in shown
    assert brief.prompt(session, "hello there").context == ""
    with path.open("r+b") as handle:
        handle.truncate(4 << 30)
    assert "4,294,967,296 bytes" in brief.prompt(session, "hello there").context
    refused = rejected(place, Append("big", "more"))
    assert (
        refused.message == f"{path} has 4,294,967,296 bytes; memfs edits blocks of at most 262,144"
    )
    assert refused.hint.startswith("shorten it in an editor")
    assert len(show.show_all(place)) == 4
    assert isinstance(edit.run(place, [Append("persona", "more")], Origin()), edit.Edited)
    assert [entry.label for entry in history.log(place)][:1] == ["persona"]
    [found] = wrong(place, home)
    assert found.text == f"{path}: 4,294,967,296 bytes, a block has at most 262,144"
    assert mended(place, home) == []
    assert path.stat().st_size == 4 << 30


def test_an_edit_does_not_make_a_block_too_large(place: Place, block_file: Write) -> None:
    block_file("big", f"---\nlimit: 1000000\n---\n{'é' * 131_000}\n")
    assert isinstance(edit.run(place, [Append("big", "x" * 50)], Origin()), edit.Edited)
    assert "a block has at most 262,144" in rejected(place, Append("big", "x" * 500)).message


def test_what_is_no_file_is_named_and_never_opened(
    place: Place, home: Path, block_file: Write, tmp_path: Path
) -> None:
    folder = block_file("odd", "x\n").parent
    (folder / "folder.md").mkdir()
    (folder / "folder.md/in_it.md").write_text("x\n")
    os.mkfifo(folder / "fifo.md")
    os.chdir(folder)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.md")
    (folder / "gone.md").symlink_to(folder / "not-there")
    (tmp_path / "outside.md").write_text("private")
    (folder / "out.md").symlink_to(tmp_path / "outside.md")
    (folder / "outside").symlink_to(tmp_path)
    (folder / "inside.md").symlink_to(folder / "odd.md")
    found = {each.text for each in wrong(place, home)}
    assert found == {
        f"{folder}/folder.md/in_it.md is no block: a file too deep",
        f"{folder}/fifo.md is no block: a FIFO",
        f"{folder}/socket.md is no block: a socket",
        f"{folder}/gone.md is no block: a link",
        f"{folder}/out.md is no block: a link",
        f"{folder}/outside is no block: a link",
        f"{folder}/inside.md is no block: a link",
    }
    assert "private" not in brief.start(Place(place.project, place.user, "s")).context
    assert mended(place, home) == []
    assert len(list(folder.iterdir())) == 10


@pytest.mark.usefixtures("bound")
def test_what_may_not_be_read_is_named(place: Place, home: Path, block_file: Write) -> None:
    path = block_file("odd", "x\n")
    inner = block_file("sub/inner", "y\n").parent
    path.chmod(0)
    inner.chmod(0)
    shown = brief.start(Place(place.project, place.user, "s")).context
    assert "(its file cannot be read; run memfs doctor)" in shown
    found = {each.text for each in wrong(place, home)}
    assert f"{path}: cannot be read: Permission denied" in found
    assert f"{inner}: cannot be read: Permission denied" in found
    assert mended(place, home) == []
    inner.chmod(0o755)
