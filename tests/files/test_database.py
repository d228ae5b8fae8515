"""Databases of other programs: nothing is written beside them, and all that is in them is read."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memfs.files import database


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database that writes ahead, which its owner closed."""
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as base:
        base.execute("PRAGMA journal_mode = WAL")
        base.execute("CREATE TABLE rows (key TEXT UNIQUE, value BLOB)")
        keys = ["a:1", "a:2", "a:世界", "a", "b:1", "A:1", 7, None]
        base.executemany("INSERT INTO rows VALUES (?, 'x')", [(key,) for key in keys])
        base.commit()
    return path


def list_keys(path: Path, prefix: str) -> list[str]:
    with database.open_database(str(path)) as base:
        return list(base.list_keys("rows", "key", prefix))


def test_keys_are_listed_by_their_beginning(path: Path) -> None:
    assert list_keys(path, "a:") == ["a:1", "a:2", "a:世界"]
    assert list_keys(path, "c") == []
    with database.open_database(str(path)) as base:
        assert list(base.list_keys("none", "key", "a")) == []
        assert list(base.list_keys("rows", "none", "a")) == []


def test_one_that_its_owner_closed_is_read_where_it_is(path: Path) -> None:
    assert list_keys(path, "b") == ["b:1"]
    assert [each.name for each in path.parent.glob("a.db*")] == ["a.db"]


def write_during_reading(path: Path) -> None:
    with database.open_database(str(path)) as base:
        assert list(base.list_keys("rows", "key", "b"))
        with closing(sqlite3.connect(path)) as other:
            other.execute("INSERT INTO rows VALUES ('c:1', 'x')")
            other.commit()


def test_a_change_during_the_reading_is_told(path: Path) -> None:
    with pytest.raises(OSError, match="try again"):
        write_during_reading(path)


def test_a_link_leads_to_what_was_written_last(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "elsewhere/link.db"
    link.parent.mkdir()
    link.symlink_to(path)
    with closing(sqlite3.connect(path)) as owner:
        owner.execute("PRAGMA wal_autocheckpoint = 0")
        owner.execute("INSERT INTO rows VALUES ('c:1', 'x')")
        owner.commit()
        assert list_keys(link, "c") == ["c:1"]
