"""What is kept of recorded sessions is what an independent count finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfs.store.blocks import Place
from tests.hosts import counting
from tests.hosts.test_counts import RECORDED, SHAPES, Kept
from tests.hosts.test_counts import kept as kept  # noqa: PLC0414 - a fixture
from tests.hosts.test_opencode import MESSAGES, Base


@pytest.mark.parametrize("path", RECORDED, ids=[f"{p.parent.name}-{p.stem}" for p in RECORDED])
def test_what_is_kept_of_a_recording_is_what_is_counted(path: Path, kept: Kept) -> None:
    found, _ = kept(path)
    assert found == counting.COUNT[path.parent.name](path)
    assert found["user"] or found["side user"]


def test_what_is_kept_of_a_database_is_what_its_export_counts(
    place: Place, tmp_path: Path, kept: Kept
) -> None:
    base = Base(tmp_path / "opencode.db")
    base.session("s", place.home.top)
    for message in MESSAGES:
        base.say("s", *message)
    base.base.close()
    exported = tmp_path / "s.json"
    exported.write_bytes(SHAPES[-1][2])
    assert kept(base.path)[0] == counting.opencode(exported)
