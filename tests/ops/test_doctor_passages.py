"""What `memfs doctor` names of passages that people wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfs.core.records import Origin
from memfs.ops import archive, doctor
from memfs.store.blocks import Place


@pytest.mark.parametrize(
    ("data", "level", "said"),
    [
        (b"---\ntags: [red\n---\nbody\n", "error", ":3: front matter"),
        ("---\ntags: [red]\n---\nbody\n".encode("utf-16"), "error", ":1: it is UTF-16, not UTF-8"),
        (b"caf\xe9\n", "error", ":1: 1 bytes that are not UTF-8"),
        (b"---\ntags: [red]\nbody without an end\n", "warning", ":1: front matter begins here"),
        (b"---\nimportance: high\n---\nbody\n", "warning", ": importance is 'high', which is not"),
        (b"---\nimportance: 11\n---\nbody\n", "warning", ": importance is 11, which is not used"),
        (b"---\ntags: {a: b}\n---\nbody\n", "warning", ": tags is {'a': 'b'}, which is not used"),
        (b"---\ncreated_at: soon\n---\nbody\n", "warning", ": created_at is 'soon', which is not"),
    ],
)
def test_a_passage_that_is_broken_is_named(
    place: Place, home: Path, data: bytes, level: str, said: str
) -> None:
    path = Path(place.home.root, "archive/mine/odd.md")
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    [found] = [each for each in doctor.run(place, str(home)) if str(path) in each.text]
    assert (found.level, said in found.text) == (level, True), found.text
    assert found.hint
    assert "doctor --fix" not in found.hint
    assert path.read_bytes() == data


def test_nothing_is_said_of_whole_ones(place: Place, home: Path) -> None:
    archive.run(place, "We chose httpx.", importance=10, tags=("a", "b"), origin=Origin())
    path = Path(place.home.root, "archive/mine/plain.md")
    path.parent.mkdir(parents=True)
    path.write_text("---\ntags: red, blue\ncreated_at: 2026-05-03\n---\nWritten by hand.\n")
    assert not [each for each in doctor.run(place, str(home)) if "archive/" in each.text]
