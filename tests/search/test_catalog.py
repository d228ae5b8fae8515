"""The catalog: what is indexed, published in one transaction, made anew when damaged."""

import functools
import os
import sqlite3
from pathlib import Path

import pytest

from memfs.search import catalog
from memfs.search.catalog import Catalog, KnownSource


def test_what_was_published_is_known_again(tmp_path: Path) -> None:
    first = Catalog(str(tmp_path / "index"))
    assert (first.list_sources(), first.get("next")) == ({}, "")
    first.put("dirty", "1")
    odd = os.fsdecode(b"/w/\xff\xc3\xa9 'x'.md")
    first.publish(7, {"/a": KnownSource("1:2:3", 9, "m"), odd: KnownSource("", 0), "/never": None})
    first.close()
    again = Catalog(str(tmp_path / "index"))
    assert again.list_sources() == {"/a": KnownSource("1:2:3", 9, "m"), odd: KnownSource("", 0, "")}
    assert (again.get("next"), again.get("dirty")) == ("7", "")
    again.publish(8, {"/a": None, odd: KnownSource("4:5:6", 1)})
    assert again.list_sources() == {odd: KnownSource("4:5:6", 1, "")}
    again.clear()
    assert (again.list_sources(), again.get("next")) == ({}, "")
    again.close()


def test_nothing_is_published_by_halves(tmp_path: Path) -> None:
    one = Catalog(str(tmp_path))
    one.publish(1, {"/a": KnownSource("1:1:1", 1)})
    with pytest.raises(sqlite3.IntegrityError):
        one.publish(2, {"/a": None, "/b": KnownSource(None, 1)})  # type: ignore[arg-type]
    one.close()
    again = Catalog(str(tmp_path))
    assert again.list_sources() == {"/a": KnownSource("1:1:1", 1)}
    assert again.get("next") == "1"
    again.close()


@pytest.mark.parametrize("damage", [b"not a database" * 100, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_damaged_catalog_is_made_anew(tmp_path: Path, damage: bytes) -> None:
    folder = tmp_path / "index"
    folder.mkdir()
    (folder / "catalog.sqlite").write_bytes(damage)
    made = Catalog(str(folder))
    assert made.list_sources() == {}
    made.publish(3, {})
    made.close()
    assert os.listdir(folder) == ["catalog.sqlite"]


def test_a_catalog_of_another_shape_is_made_anew(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "catalog.sqlite")
    other.execute("CREATE TABLE sources (path TEXT PRIMARY KEY, signature TEXT)")
    other.close()
    made = Catalog(str(tmp_path))
    made.publish(3, {"/a": KnownSource("1:1:1", 1, "x")})
    assert made.list_sources() == {"/a": KnownSource("1:1:1", 1, "x")}
    made.close()


def test_a_catalog_that_is_only_in_use_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite3, "connect", functools.partial(sqlite3.connect, timeout=0.05))
    first = Catalog(str(tmp_path))
    first.publish(5, {})
    first._db.execute("BEGIN EXCLUSIVE")
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        Catalog(str(tmp_path))
    first._db.execute("COMMIT")
    assert first.get("next") == "5"
    first.close()


def test_a_mark_knows_the_indexed_part_only(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"a" * 9000)
    before = catalog.hash_ends(str(path), 9000)
    path.write_bytes(b"a" * 9000 + b"more")
    assert catalog.hash_ends(str(path), 9000) == before
    for other in (b"b" + b"a" * 8999, b"a" * 8999 + b"b"):
        path.write_bytes(other)
        assert catalog.hash_ends(str(path), 9000) != before
    assert catalog.hash_ends(str(tmp_path / "gone"), 5) == ""
