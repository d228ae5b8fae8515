from __future__ import annotations

from pathlib import Path

import pytest

from memfs.core.edits import Create
from memfs.core.records import Origin
from memfs.ops import archive, edit, init
from memfs.store import blocks
from memfs.store.blocks import Place


@pytest.fixture
def there(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Another project, of another user, with something in it."""
    monkeypatch.setenv("HOME", str(tmp_path / "other"))
    init.run(str(tmp_path / "there"), str(tmp_path / "other"))
    place = blocks.here(str(tmp_path / "there"))
    monkeypatch.setenv("HOME", str(home))
    edit.run(place, [Create("api", "The API", "five seconds\nretry twice")], Origin("agent"))
    archive.run(place, "Green tea at 70 degrees.", importance=7, tags=("tea",), origin=Origin())
    return place
