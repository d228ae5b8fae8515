"""What a fingerprint of a transcript tells."""

from __future__ import annotations

from pathlib import Path

from memfs.store import message_records


def test_a_fingerprint_knows_only_what_was_read(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_bytes(b"a" * 10_000)
    before = message_records.fingerprint(str(path), 9000)
    empty = tmp_path / "empty"
    empty.touch()
    path.write_bytes(b"a" * 9000 + b"b" * 5000)
    assert message_records.fingerprint(str(path), 9000) == before
    path.write_bytes(b"b" + b"a" * 9999)
    assert message_records.fingerprint(str(path), 9000) != before
    path.write_bytes(b"a" * 8999 + b"b" * 1001)
    assert message_records.fingerprint(str(path), 9000) != before
    assert message_records.fingerprint(str(path), 0) == message_records.fingerprint(str(empty), 0)
